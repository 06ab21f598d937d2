//! Ctrl-C: the first raises the flag that every computation looks at, the second ends the program at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memoir::Cancel;

use crate::failure::{self, INTERRUPTED};

/// How long a computation may take to notice the flag. A read that waits for input (a terminal, a silent pipe) never
/// notices: after this time the program ends anyway, unless a file is being written.
const PATIENCE: Duration = Duration::from_millis(800);

/// Output files being written right now.
static FILES_AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// Installs the handler and returns the flag it raises.
pub(crate) fn install() -> Cancel {
    let cancel = Cancel::default();
    let raised = cancel.clone();
    let handler = move || {
        if raised.is_raised() {
            std::process::exit(i32::from(INTERRUPTED));
        }
        raised.raise();
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(PATIENCE);
                if FILES_AT_WORK.load(Ordering::Acquire) == 0 {
                    failure::stopped();
                    std::process::exit(i32::from(INTERRUPTED));
                }
            }
        });
    };
    // Without a handler Ctrl-C still stops the program, only less gracefully.
    let _ = ctrlc::set_handler(handler);
    cancel
}

/// Runs `write`, which makes an output file, so that Ctrl-C waits until it has cleaned up after itself.
pub(crate) fn while_writing<T>(write: impl FnOnce() -> T) -> T {
    FILES_AT_WORK.fetch_add(1, Ordering::AcqRel);
    let outcome = write();
    FILES_AT_WORK.fetch_sub(1, Ordering::AcqRel);
    outcome
}
