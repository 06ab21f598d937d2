//! Runs the library's work while Python stays responsive: the interpreter is released, Ctrl-C is looked for,
//! progress is handed on.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memoir::checkpoint::Checkpoints;
use memoir::{Cancel, Event, Observer, Result, Session};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::{exception, value_error};

/// How often a running computation is interrupted to look for Ctrl-C and to hand on progress.
const INTERVAL: Duration = Duration::from_millis(50);

/// What a run may use and whom it tells.
#[derive(FromPyObject)]
pub(crate) struct Running<'py> {
    #[pyo3(item)]
    threads: usize,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    memory_budget: Option<u64>,
    /// Called with a tuple for each event, in the thread that asked for the work.
    #[pyo3(item)]
    on_event: Option<Bound<'py, PyAny>>,
}

/// What happened, for Python.
enum Notice {
    HeldOut(usize, f64, f64),
    Note(String),
}

/// Collects events until Python takes them. Of progress only the newest is of interest.
#[derive(Default)]
struct Mailbox {
    progress: Mutex<Option<(String, u64, u64, &'static str)>>,
    notices: Mutex<Vec<Notice>>,
}

/// What a lock guards; a panic of another thread changes nothing about it.
pub(crate) fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Mailbox {
    fn notice(&self, event: Event<'_>) {
        match event {
            Event::Progress {
                stage,
                done,
                total,
                unit,
            } => *open(&self.progress) = Some((stage.to_owned(), done, total, unit)),
            Event::HeldOut {
                pass,
                accuracy,
                macro_f1,
            } => open(&self.notices).push(Notice::HeldOut(pass, accuracy, macro_f1)),
            Event::Note(text) => open(&self.notices).push(Notice::Note(text.to_owned())),
            _ => {}
        }
    }
}

impl Mailbox {
    fn deliver(&self, to: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let notices = std::mem::take(&mut *open(&self.notices));
        let progress = open(&self.progress).take();
        let Some(to) = to else { return Ok(()) };
        if let Some(progress) = progress {
            to.call1(("progress", progress.0, progress.1, progress.2, progress.3))?;
        }
        for notice in notices {
            match notice {
                Notice::HeldOut(pass, accuracy, macro_f1) => {
                    to.call1(("held_out", pass, accuracy, macro_f1))?
                }
                Notice::Note(text) => to.call1(("note", text))?,
            };
        }
        Ok(())
    }
}

impl Running<'_> {
    /// Runs `work` in a thread of its own, with a session of as many threads as asked for. Ctrl-C, and an
    /// exception in the receiver of events, stop it; the exception is raised once it has stopped.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Session<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        self.run_keeping(py, None, work)
    }

    /// As [`Running::run`], with checkpoints.
    pub(crate) fn run_keeping<T: Send>(
        &self,
        py: Python<'_>,
        checkpoints: Option<Checkpoints>,
        work: impl FnOnce(&Session<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let threads = NonZeroUsize::new(self.threads).ok_or_else(|| value_error("there must be a thread"))?;
        let mailbox = Mailbox::default();
        let cancel = Cancel::default();
        let session = Session::new(threads)
            .map_err(exception)?
            .with_seed(self.seed)
            .with_memory_budget(self.memory_budget)
            .with_cancel(cancel.clone())
            .with_checkpoints(checkpoints)
            .with_observer(&mailbox);
        let receiver = self.on_event.as_ref();
        std::thread::scope(|scope| {
            let (sender, done) = sync_channel(1);
            let done = Mutex::new(done);
            std::thread::Builder::new()
                .name("memoir".to_owned())
                .spawn_scoped(scope, move || {
                    let outcome = catch_unwind(AssertUnwindSafe(|| work(&session)));
                    // Nobody can have stopped waiting.
                    drop(sender.send(outcome));
                })?;
            let mut stopped_by = None;
            loop {
                let outcome = py.detach(|| open(&done).recv_timeout(INTERVAL));
                let finished = !matches!(outcome, Err(RecvTimeoutError::Timeout));
                if stopped_by.is_none() {
                    let asked = py.check_signals().and_then(|()| mailbox.deliver(receiver));
                    if let Err(reason) = asked {
                        cancel.raise();
                        stopped_by = Some(reason);
                    }
                }
                if !finished {
                    continue;
                }
                return match (stopped_by, outcome) {
                    (Some(reason), _) => Err(reason),
                    (None, Ok(Ok(result))) => result.map_err(exception),
                    (None, _) => Err(PyRuntimeError::new_err(
                        "an internal error of memoir: please report it, with the message above",
                    )),
                };
            }
        })
    }
}
