//! The scores that rows got from weights that were not trained on them.

use super::CANDIDATES;
use crate::sparse::Scored;

/// The best scores of rows that were kept out of training, and which of these classes are right.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeldOutScores {
    known: Vec<u32>,
    ends: Vec<usize>,
    best: Vec<Scored>,
    hits: Vec<bool>,
    several_labels: bool,
}

/// One row of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredRow<'a> {
    pub(super) known: usize,
    pub(super) best: &'a [Scored],
    pub(super) hits: &'a [bool],
}

impl HeldOutScores {
    /// Adds a row: the number of its features that the model knows, its classes, best first (of which
    /// [`CANDIDATES`] are kept), and its labels.
    pub fn push(&mut self, known: usize, best: &[Scored], labels: &[u32]) {
        let candidates = best
            .iter()
            .take(CANDIDATES)
            .filter(|scored| scored.score.is_finite());
        for candidate in candidates {
            self.best.push(*candidate);
            self.hits.push(labels.contains(&candidate.class));
        }
        self.several_labels |= labels.len() > 1;
        self.known.push(u32::try_from(known).unwrap_or(u32::MAX));
        self.ends.push(self.best.len());
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether some row has several labels.
    pub(super) fn has_several_labels(&self) -> bool {
        self.several_labels
    }

    /// The rows of which something is known.
    pub(super) fn iter(&self) -> impl Iterator<Item = ScoredRow<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, &end)| start..end);
        let rows = self.known.iter().zip(ranges).map(|(&known, range)| ScoredRow {
            known: known as usize,
            best: &self.best[range.clone()],
            hits: &self.hits[range],
        });
        rows.filter(|row| row.known > 0 && !row.best.is_empty())
    }
}
