//! How the system's allocator treats large blocks.

/// Size from which a block is taken from the system and given back to it. Smaller ones come and go too often: each time their pages would be
/// handed out anew.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 384 << 10;

/// Makes freed large blocks memory of the system again at once. Left to itself, glibc takes the first large block that is freed for a
/// sign that more will come, and from then on keeps such blocks for itself, where they lie between smaller ones.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(crate) fn give_back_early() {
    // SAFETY: mallopt takes two integers and may be called at any time; it fails without an effect.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

/// Makes all freed memory that of the system again: for when something has ended that took memory in many places.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(crate) fn give_back_all() {
    // SAFETY: malloc_trim takes an integer, the bytes to keep, and may be called at any time.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators do so by themselves, or cannot be told.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back_early() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back_all() {}
