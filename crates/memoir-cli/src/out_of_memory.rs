//! Memory that cannot be had ends the program with an error, not with a crash.
//!
//! Rust prints a message and aborts, and offers no stable way to change that. So the allocator takes down
//! that a request failed, and the handler of the signal that `abort` sends ends the program with the code of
//! an error. Every other abort stays one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, which tells when it has no memory left.
struct Telling;

#[global_allocator]
static ALLOCATOR: Telling = Telling;

/// Whether a request failed.
static FAILED: AtomicBool = AtomicBool::new(false);

#[inline]
fn told(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        FAILED.store(true, Ordering::Relaxed);
    }
    memory
}

// SAFETY: all requests go to the system's allocator as they are, and so do its answers.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Telling {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `GlobalAlloc`, which are the same here.
        told(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        told(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        told(unsafe { System.realloc(memory, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// From now on, memory that cannot be had is an error.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(crate) fn is_an_error() {
    extern "C" fn ended(_signal: libc::c_int) {
        const MESSAGE: &[u8] =
            b"error: there is not enough memory; `--memory-budget` limits what training takes\n";
        if FAILED.load(Ordering::Relaxed) {
            // SAFETY: both calls are allowed in a signal handler, and the message is a constant.
            unsafe {
                libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
                libc::_exit(libc::c_int::from(crate::failure::USER_ERROR));
            }
        }
    }
    let handler: extern "C" fn(libc::c_int) = ended;
    // SAFETY: the handler calls nothing that a signal handler must not call.
    unsafe {
        libc::signal(libc::SIGABRT, handler as libc::sighandler_t);
    }
}

/// Elsewhere the system's own message has to do.
#[cfg(not(unix))]
pub(crate) fn is_an_error() {}

/// From now on, large blocks of memory that are freed go back to the system at once. The allocator would
/// otherwise keep up to 32 MB of each kind, and a budget counts what the system sees.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(crate) fn is_given_back() {
    const LARGE: libc::c_int = 1 << 18;
    // SAFETY: it sets numbers of the allocator, before other threads are started.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE);
    }
}

/// Elsewhere the allocator decides.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn is_given_back() {}
