//! Gathers counts row by row: memory grows with the number of classes, not with the number of rows.

use std::collections::BTreeMap;

use crate::dataset::ClassNames;
use crate::eval::report::{self, Report};
use crate::eval::{Band, Confusions};
use crate::sparse::Scored;

/// The `k` of precision@k and recall@k.
pub const CUTOFFS: [usize; 3] = [1, 3, 5];

/// Counts of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClassTally {
    /// Rows that have the class among their labels.
    pub(crate) truth: u64,
    /// Rows for which the class was the best one.
    pub(crate) predicted: u64,
    /// Rows that have the class among their labels and among their `k` best, for each cut-off.
    pub(crate) hits: [u64; CUTOFFS.len()],
}

impl ClassTally {
    pub(crate) fn occurs(&self) -> bool {
        self.truth > 0 || self.predicted > 0
    }
}

/// Counts from which every measure follows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evaluation {
    pub(crate) classes: Vec<ClassTally>,
    pub(crate) rows: u64,
    pub(crate) unlabelled: u64,
    pub(crate) correct: u64,
    /// Hits at each cut-off, by number of labels of the row: recall divides by that number, and sums of
    /// whole numbers come out the same in any order.
    pub(crate) hits_by_label_count: BTreeMap<usize, [u64; CUTOFFS.len()]>,
    pub(crate) confusions: Confusions,
}

impl Evaluation {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many classes to ask a predictor for, so that every measure can be computed.
    pub const DEPTH: usize = CUTOFFS[CUTOFFS.len() - 1];

    /// Counts one row: its labels (sorted or not, without repeats) and the predicted classes, best first.
    ///
    /// Labels may be numbers that the model does not know (names first met in the test data): those are
    /// never hit.
    pub fn add(&mut self, labels: &[u32], ranked: &[Scored]) {
        if labels.is_empty() {
            self.unlabelled += 1;
            return;
        }
        self.rows += 1;
        let best = ranked.first().map(|scored| scored.class);
        let largest = labels.iter().copied().chain(best).max().unwrap_or(0) as usize;
        if largest >= self.classes.len() {
            self.classes.resize(largest + 1, ClassTally::default());
        }
        if let Some(best) = best {
            self.classes[best as usize].predicted += 1;
        }
        let by_count = self.hits_by_label_count.entry(labels.len()).or_default();
        for &label in labels {
            let tally = &mut self.classes[label as usize];
            tally.truth += 1;
            if let Some(rank) = ranked
                .iter()
                .take(Self::DEPTH)
                .position(|scored| scored.class == label)
            {
                for (slot, cutoff) in CUTOFFS.iter().enumerate() {
                    if rank < *cutoff {
                        tally.hits[slot] += 1;
                        by_count[slot] += 1;
                    }
                }
            }
        }
        match best {
            Some(best) if labels.contains(&best) => self.correct += 1,
            Some(best) => {
                for &label in labels {
                    self.confusions.add(label, best);
                }
            }
            None => {}
        }
    }

    /// Adds the counts of `other`, as if its rows had been added here.
    pub fn merge(&mut self, other: &Self) {
        if other.classes.len() > self.classes.len() {
            self.classes.resize(other.classes.len(), ClassTally::default());
        }
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.truth += theirs.truth;
            mine.predicted += theirs.predicted;
            for (a, b) in mine.hits.iter_mut().zip(theirs.hits) {
                *a += b;
            }
        }
        self.rows += other.rows;
        self.unlabelled += other.unlabelled;
        self.correct += other.correct;
        for (&count, theirs) in &other.hits_by_label_count {
            let mine = self.hits_by_label_count.entry(count).or_default();
            for (a, b) in mine.iter_mut().zip(theirs) {
                *a += b;
            }
        }
        self.confusions.merge(&other.confusions);
    }

    /// Number of rows with labels counted so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Share of rows whose best class is one of their labels; 0 if there are no rows.
    pub fn accuracy(&self) -> f64 {
        report::share(self.correct, self.rows)
    }

    /// Mean of the per-class F1, over the classes that occur in labels or among the best classes.
    pub fn macro_f1(&self) -> f64 {
        report::macro_f1(self.classes.iter())
    }

    /// All measures, with classes by name; `training_counts` are the training rows of each class.
    pub fn report(&self, names: &ClassNames, training_counts: &[u32]) -> Report {
        Report::new(self, names, &Band::assign(training_counts))
    }
}
