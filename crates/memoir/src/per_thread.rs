//! Memory that each thread of a session has for itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Session;

/// One value for each thread.
pub(crate) struct PerThread<T>(Vec<Apart<T>>);

/// A value with cache lines of its own, which processors fetch in pairs. Values side by side in one line
/// slow each other down: whenever one thread writes to its own, the others wait for theirs.
#[repr(align(128))]
struct Apart<T>(Mutex<T>);

impl<T> PerThread<T> {
    pub(crate) fn new(session: &Session<'_>, make: impl Fn() -> T) -> Self {
        let threads = 0..session.threads();
        Self(threads.map(|_| Apart(Mutex::new(make()))).collect())
    }

    /// The value of the thread of the session's pool that asks.
    pub(crate) fn of_this_thread(&self) -> MutexGuard<'_, T> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        self.0[thread].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn every_thread_has_its_own() {
        let session = Session::new(NonZeroUsize::new(4).unwrap()).unwrap();
        let seen = PerThread::new(&session, Vec::new);
        session.run(|| {
            (0..1000).into_par_iter().for_each(|number| {
                let thread = rayon::current_thread_index();
                seen.of_this_thread().push((thread, number));
            });
        });
        let seen: Vec<Vec<_>> = seen
            .0
            .into_iter()
            .map(|apart| apart.0.into_inner().unwrap())
            .collect();
        assert_eq!(seen.len(), 4);
        assert_eq!(seen.iter().map(Vec::len).sum::<usize>(), 1000);
        for (thread, numbers) in seen.iter().enumerate() {
            assert!(numbers.iter().all(|number| number.0 == Some(thread)));
        }
    }
}
