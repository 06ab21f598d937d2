//! What one version of a model was seen doing: how many rows, how sure, how many words it did not know, and
//! whether that has changed since it started.

use std::sync::{Mutex, PoisonError};

use memoir::maths;
use serde::Serialize;
use utoipa::ToSchema;

/// Ranges of equal width that probabilities are counted in.
const BINS: usize = 10;

/// Rows of the reference, which are the first ones, and of each later window that is compared with them.
const WINDOW: u64 = 1_000;

/// Words are looked at in one of this many rows: looking costs about as much as answering.
pub(crate) const SAMPLED: u64 = 16;

#[derive(Debug, Default)]
pub(crate) struct Watching(Mutex<Counts>);

#[derive(Debug, Clone, Default)]
struct Counts {
    rows: u64,
    abstained: u64,
    features: u64,
    unknown_features: u64,
    bins: [u64; BINS],
    reference: [u64; BINS],
    window: [u64; BINS],
    drift: Option<f64>,
}

/// What was seen of one version.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Seen {
    /// Rows that were answered.
    pub(crate) rows: u64,
    /// Rows whose best class was less probable than the request wanted.
    pub(crate) abstained: u64,
    /// Share of words that the model did not know, in a sample of the rows.
    pub(crate) unknown_words: Option<f64>,
    /// Rows by the probability of their best class, in ten ranges of equal width from 0 to 1.
    #[schema(value_type = Vec<u64>)]
    pub(crate) confidence: [u64; BINS],
    /// How far the last 1,000 rows are from the first 1,000 in these ranges (population stability index):
    /// below 0.1 little has changed, above 0.25 much has.
    pub(crate) drift: Option<f64>,
}

impl Watching {
    /// Counts answered rows: the probability of each one's best class, if probabilities are known, and
    /// whether the answer was held back.
    pub(crate) fn count(&self, rows: impl Iterator<Item = (Option<f32>, bool)>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (probability, abstained) in rows {
            counts.add(probability, abstained);
        }
    }

    /// Counts the words of a sampled row.
    pub(crate) fn count_features(&self, all: u64, known: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.features += all;
        counts.unknown_features += all - known;
    }

    pub(crate) fn seen(&self) -> Seen {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Seen {
            rows: counts.rows,
            abstained: counts.abstained,
            unknown_words: (counts.features > 0)
                .then(|| counts.unknown_features as f64 / counts.features as f64),
            confidence: counts.bins,
            drift: counts.drift,
        }
    }
}

impl Counts {
    fn add(&mut self, probability: Option<f32>, abstained: bool) {
        self.rows += 1;
        self.abstained += u64::from(abstained);
        let Some(probability) = probability else { return };
        let bin = ((probability * BINS as f32) as usize).min(BINS - 1);
        self.bins[bin] += 1;
        if self.reference.iter().sum::<u64>() < WINDOW {
            self.reference[bin] += 1;
            return;
        }
        self.window[bin] += 1;
        if self.window.iter().sum::<u64>() == WINDOW {
            self.drift = Some(stability_index(&self.reference, &self.window));
            self.window = [0; BINS];
        }
    }
}

/// The population stability index of two sets of counts. Half a row is added everywhere, so that no share is
/// 0.
fn stability_index(before: &[u64; BINS], after: &[u64; BINS]) -> f64 {
    let share = |counts: &[u64; BINS], bin: usize| {
        (counts[bin] as f64 + 0.5) / (counts.iter().sum::<u64>() as f64 + 0.5 * BINS as f64)
    };
    (0..BINS)
        .map(|bin| {
            let (before, after) = (share(before, bin), share(after, bin));
            (after - before) * maths::ln(after / before)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_seen_when_answers_become_less_sure() {
        let watching = Watching::default();
        let sure = |_| (Some(0.95), false);
        watching.count((0..1_000).map(sure));
        assert_eq!(watching.seen().drift, None);
        watching.count((0..1_000).map(sure));
        assert!(watching.seen().drift.unwrap() < 0.01);
        watching.count((0..1_000).map(|row| (Some(if row % 2 == 0 { 0.95 } else { 0.25 }), true)));
        let seen = watching.seen();
        assert!(seen.drift.unwrap() > 0.25, "{seen:?}");
        assert_eq!((seen.rows, seen.abstained), (3_000, 1_000));
        assert_eq!((seen.confidence[9], seen.confidence[2]), (2_500, 500));
    }

    #[test]
    fn unknown_words_are_a_share() {
        let watching = Watching::default();
        assert_eq!(watching.seen().unknown_words, None);
        watching.count_features(3, 1);
        watching.count_features(1, 1);
        assert_eq!(watching.seen().unknown_words, Some(0.5));
    }
}
