//! Which runs of words may be in as many texts as a feature must be. Most runs are met once, and a table of
//! all of them would be the largest thing in memory. So runs are first counted roughly, in counts of two
//! bits that several may share: they are never too low, and only what passes them gets into the table.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::sparse::prefetch;

/// The highest count, and the counts of a byte.
const MOST: u8 = 3;
const IN_A_BYTE: usize = 4;

/// Bytes that a processor fetches together. A run has two counts in one such line.
const LINE: usize = 64;

#[derive(Debug)]
#[repr(align(64))]
struct Line([AtomicU8; LINE]);

/// Rough counts of runs.
#[derive(Debug)]
pub(super) struct RunFilter {
    lines: Vec<Line>,
    /// A run that is counted less often does not pass.
    fewest: u8,
}

/// What tells runs apart; that of a longer one follows from that of the shorter one and the unit behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunHash(u64);

impl RunHash {
    /// The run of one unit.
    pub(super) fn of(unit: u32) -> Self {
        Self(0x6a09_e667_f3bc_c909).with(unit)
    }

    /// The run with one more unit.
    pub(super) fn with(self, unit: u32) -> Self {
        let mixed = (self.0 ^ u64::from(unit)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Self(mixed ^ mixed >> 32)
    }
}

impl RunFilter {
    /// In about so many bytes, for features that must be in `fewest` texts.
    pub(super) fn new(bytes: usize, fewest: u32) -> Self {
        let mut lines = Vec::new();
        lines.resize_with(bytes.div_ceil(LINE).max(1), || {
            Line([const { AtomicU8::new(0) }; LINE])
        });
        Self {
            lines,
            fewest: fewest.min(u32::from(MOST)) as u8,
        }
    }

    /// Memory that it takes.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.lines[..])
    }

    fn line(&self, run: RunHash) -> usize {
        ((u128::from(run.0) * self.lines.len() as u128) >> 64) as usize
    }

    /// The bytes that hold the counts of a run, and where in them.
    fn places(&self, run: RunHash) -> [(&AtomicU8, usize); 2] {
        let Line(line) = &self.lines[self.line(run)];
        let first = run.0 as usize % (LINE * IN_A_BYTE);
        // Never the same.
        let second = first ^ (1 + (run.0 >> 8) as usize % (LINE * IN_A_BYTE - 1));
        [first, second].map(|place| (&line[place / IN_A_BYTE], 2 * (place % IN_A_BYTE)))
    }

    /// Asks for the counts of a run that are needed soon.
    pub(super) fn prefetch(&self, run: RunHash) {
        prefetch(&self.lines, self.line(run));
    }

    /// Counts a run. Counts end at the highest that matters, so their order makes no difference.
    pub(super) fn count(&self, run: RunHash) {
        for (byte, shift) in self.places(run) {
            let mut before = byte.load(Ordering::Relaxed);
            while before >> shift & MOST < self.fewest {
                let after = before + (1 << shift);
                match byte.compare_exchange_weak(before, after, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(now) => before = now,
                }
            }
        }
    }

    /// Whether a run may be in as many texts as a feature must be.
    pub(super) fn passes(&self, run: RunHash) -> bool {
        let places = self.places(run).into_iter();
        let mut counts = places.map(|(byte, shift)| byte.load(Ordering::Relaxed) >> shift & MOST);
        counts.all(|count| count >= self.fewest)
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    fn runs(count: u32) -> impl Iterator<Item = RunHash> {
        (0..count).map(|number| RunHash::of(number % 971).with(number))
    }

    #[test]
    fn what_is_frequent_always_passes_and_most_else_does_not() {
        for (fewest, times) in [(2, 2), (3, 3), (7, 3)] {
            // Two bytes for each run.
            let filter = RunFilter::new(100_000, fewest);
            // The first runs often enough, the others once less.
            runs(50_000).for_each(|run| (1..times).for_each(|_| filter.count(run)));
            runs(5000).for_each(|run| filter.count(run));
            assert!(runs(5000).all(|run| filter.passes(run)));
            let others = runs(50_000).skip(5000).filter(|&run| filter.passes(run)).count();
            assert!(others < 4000, "{fewest}: {others}");
        }
    }

    #[test]
    fn threads_make_no_difference() {
        let counted = |threads: usize| {
            let filter = RunFilter::new(2000, 3);
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let all: Vec<RunHash> = runs(9000).collect();
            pool.install(|| all.par_iter().for_each(|&run| filter.count(run)));
            runs(9000).map(|run| filter.passes(run)).collect::<Vec<_>>()
        };
        let alone = counted(1);
        assert!(alone.iter().any(|passes| *passes) && !alone.iter().all(|passes| *passes));
        assert_eq!(counted(4), alone);
    }

    #[test]
    fn the_order_of_units_counts() {
        assert_ne!(RunHash::of(1).with(2), RunHash::of(2).with(1));
        assert_ne!(RunHash::of(0), RunHash::of(0).with(0));
    }
}
