//! What a run may use (threads, memory, seed) and whom it tells about its progress.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::checkpoint::Checkpoints;
use crate::shards::Shard;
use crate::{Error, Result};

/// A flag that asks a running computation to stop; clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Raises the flag: work in progress ends with [`Error::Cancelled`] at its next check.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a computation tells its [`Observer`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A stage goes on: `done` of `total` units (rows, bytes; `total` is 0 when unknown).
    Progress {
        /// Name of the stage, fit for a progress bar ("reading", "training, pass 1 of 2").
        stage: &'a str,
        /// Units done so far.
        done: u64,
        /// Units in all, or 0 if that is not known.
        total: u64,
        /// What the units are ("rows", "bytes").
        unit: &'static str,
    },
    /// Quality on held-out rows after a pass.
    HeldOut {
        /// 1-based number of the pass.
        pass: usize,
        /// Share of held-out rows whose best class is right.
        accuracy: f64,
        /// Mean of the per-class F1 on the held-out rows.
        macro_f1: f64,
    },
    /// Something the user should know: what a budget cost, how many rows were skipped, what was chosen
    /// automatically.
    Note(&'a str),
}

/// Receives [`Event`]s; called from the thread that drives the computation, never from workers.
pub trait Observer: Sync {
    /// Takes note of `event`. Must return quickly.
    fn notice(&self, event: Event<'_>);
}

/// The observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn notice(&self, _event: Event<'_>) {}
}

/// What one run may use and whom it tells.
pub struct Session<'a> {
    seed: u64,
    pool: Arc<rayon::ThreadPool>,
    memory_budget: Option<u64>,
    observer: &'a dyn Observer,
    cancel: Cancel,
    checkpoints: Option<Checkpoints>,
    shard: Option<&'a Shard>,
}

/// More threads than any machine has processors for; starting very many would take minutes.
const MOST_THREADS: usize = 1024;

impl Session<'static> {
    /// A silent session with a pool of `threads` workers of its own, at most 1024.
    pub fn new(threads: NonZeroUsize) -> Result<Self> {
        if threads.get() > MOST_THREADS {
            return Err(Error::Parameter(format!(
                "expected at most {MOST_THREADS} threads, found {threads}"
            )));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .thread_name(|index| format!("memoir-{index}"))
            .build()
            .map_err(|reason| Error::Parameter(format!("cannot start {threads} threads: {reason}")))?;
        Ok(Session {
            seed: 0,
            pool: Arc::new(pool),
            memory_budget: None,
            observer: &Silent,
            cancel: Cancel::default(),
            checkpoints: None,
            shard: None,
        })
    }
}

impl Session<'_> {
    /// Sets the seed of every random choice (default 0).
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the memory, in bytes, that training should stay within.
    pub fn with_memory_budget(mut self, bytes: Option<u64>) -> Self {
        self.memory_budget = bytes;
        self
    }

    /// Sets where training keeps checkpoints, for algorithms that do.
    pub fn with_checkpoints(mut self, checkpoints: Option<Checkpoints>) -> Self {
        self.checkpoints = checkpoints;
        self
    }

    /// Sets the flag that stops the run.
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets who is told about progress.
    pub fn with_observer(self, observer: &dyn Observer) -> Session<'_> {
        Session {
            seed: self.seed,
            pool: self.pool,
            memory_budget: self.memory_budget,
            observer,
            cancel: self.cancel,
            checkpoints: self.checkpoints,
            shard: None,
        }
    }

    /// A session like this one of a process that shares its work out with others. All do the same work in
    /// the same order.
    pub(crate) fn as_shard<'s>(&'s self, shard: &'s Shard) -> Session<'s> {
        Session {
            seed: self.seed,
            pool: Arc::clone(&self.pool),
            memory_budget: self.memory_budget,
            observer: self.observer,
            cancel: self.cancel.clone(),
            checkpoints: self.checkpoints.clone(),
            shard: Some(shard),
        }
    }

    /// A session like this one for work on the side: it tells nothing and keeps no checkpoints.
    pub(crate) fn quiet(&self) -> Result<Session<'static>> {
        let threads = NonZeroUsize::new(self.threads()).unwrap_or(NonZeroUsize::MIN);
        Ok(Session::new(threads)?
            .with_seed(self.seed)
            .with_cancel(self.cancel.clone())
            .with_memory_budget(self.memory_budget))
    }

    /// A session like this one that keeps no checkpoints.
    pub(crate) fn without_checkpoints(&self) -> Result<Session<'_>> {
        Ok(self.quiet()?.with_observer(self.observer))
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A generator for one named use of randomness, so that adding a use never changes the others.
    pub fn random(&self, purpose: &str) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(xxhash_rust::xxh3::xxh3_64_with_seed(
            purpose.as_bytes(),
            self.seed,
        ))
    }

    /// Number of worker threads. Results never depend on it.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `work` inside the session's own pool, so that rayon's parallel iterators in it use these workers
    /// only.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Does `pieces` in the session's pool while `meanwhile` runs in this thread; with one thread, after it.
    pub fn run_beside<'scope, R>(
        &self,
        pieces: impl Iterator<Item = impl FnOnce() + Send + 'scope>,
        meanwhile: impl FnOnce() -> R,
    ) -> R {
        self.pool.in_place_scope(|scope| {
            let start = || pieces.for_each(|piece| scope.spawn(move |_| piece()));
            if self.threads() == 1 {
                let result = meanwhile();
                start();
                result
            } else {
                start();
                meanwhile()
            }
        })
    }

    /// The memory budget in bytes, if there is one.
    pub fn memory_budget(&self) -> Option<u64> {
        self.memory_budget
    }

    /// This process as one of several, if work is shared out.
    pub(crate) fn shard(&self) -> Option<&Shard> {
        self.shard
    }

    /// Where training keeps checkpoints.
    pub fn checkpoints(&self) -> Option<&Checkpoints> {
        self.checkpoints.as_ref()
    }

    /// Tells the observer.
    pub fn tell(&self, event: Event<'_>) {
        self.observer.notice(event);
    }

    /// Tells the observer something the user should know.
    pub fn note(&self, text: impl AsRef<str>) {
        self.observer.notice(Event::Note(text.as_ref()));
    }

    /// Tells the observer that a stage goes on.
    pub fn progress(&self, stage: &str, done: u64, total: u64, unit: &'static str) {
        self.observer.notice(Event::Progress {
            stage,
            done,
            total,
            unit,
        });
    }

    /// Fails with [`Error::Cancelled`] once the flag is raised. Call it at least ten times a second.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_raised() {
            Err(Error::Cancelled)
        } else {
            Ok(())
        }
    }

    /// The flag, for work that is not driven by this thread.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}
