//! Ctrl-C, SIGTERM and SIGHUP: the first raises the flag that every computation looks at, a later one
//! ends the program at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use memoir::Cancel;

use crate::failure::{self, INTERRUPTED};

/// How long a computation may take to notice the flag. A read that waits for input (a terminal, a silent
/// pipe) never notices: after this time the program ends anyway, unless a file is being written.
const PATIENCE: Duration = Duration::from_millis(800);

/// Output files being written right now.
static FILES_AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// Installs the handler and returns the flag it raises.
pub(crate) fn install() -> Cancel {
    let cancel = Cancel::default();
    let raised = cancel.clone();
    let mut first: Option<Instant> = None;
    let handler = move || {
        // `timeout` and closing terminals send their signal twice: only one that comes later insists.
        if first.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            std::process::exit(i32::from(INTERRUPTED));
        }
        if raised.is_raised() {
            return;
        }
        raised.raise();
        let insisting = std::thread::Builder::new().spawn(|| {
            loop {
                std::thread::sleep(PATIENCE);
                if FILES_AT_WORK.load(Ordering::Acquire) == 0 {
                    failure::stopped();
                    std::process::exit(i32::from(INTERRUPTED));
                }
            }
        });
        // Without memory for it, loops still see the flag, and the next signal ends the program.
        drop(insisting);
    };
    // Without a handler signals still stop the program, only less gracefully.
    keeping_nohup(|| ctrlc::set_handler(handler).is_ok());
    cancel
}

/// Runs `install`, which sets a handler for SIGHUP too, unless it fails. `nohup` has that signal
/// ignored, and so it stays.
#[cfg(unix)]
#[allow(unsafe_code)]
fn keeping_nohup(install: impl FnOnce() -> bool) {
    // SAFETY: nothing of ours runs in a signal handler: what is set is to ignore the signal, or what was
    // set before.
    let on_hangup = |action| unsafe { libc::signal(libc::SIGHUP, action) };
    let before = on_hangup(libc::SIG_IGN);
    let is_installed = install();
    if before == libc::SIG_IGN || !is_installed {
        on_hangup(before);
    }
}

#[cfg(not(unix))]
fn keeping_nohup(install: impl FnOnce() -> bool) {
    install();
}

/// Runs `write`, which makes an output file, so that a signal waits until it has cleaned up after itself.
pub(crate) fn while_writing<T>(write: impl FnOnce() -> T) -> T {
    FILES_AT_WORK.fetch_add(1, Ordering::AcqRel);
    let outcome = write();
    FILES_AT_WORK.fetch_sub(1, Ordering::AcqRel);
    outcome
}
