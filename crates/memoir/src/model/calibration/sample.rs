//! The scores that rows got from weights that were not trained on them.

use super::{CANDIDATES, SET_CANDIDATES};
use crate::dataset::LabelSets;
use crate::sparse::Scored;

/// The best scores of rows that were kept out of training, and the labels of these rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeldOutScores {
    known: Vec<u32>,
    ends: Vec<usize>,
    best: Vec<Scored>,
    hits: Vec<bool>,
    labels: LabelSets,
    several_labels: bool,
}

/// One row of them with all that is known of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelledRow<'a> {
    pub(crate) known: usize,
    pub(crate) best: &'a [Scored],
    pub(crate) labels: &'a [u32],
}

/// One row of them with the candidates that probabilities are fitted to.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredRow<'a> {
    pub(super) known: usize,
    pub(super) best: &'a [Scored],
    pub(super) hits: &'a [bool],
}

impl HeldOutScores {
    /// Memory that a row takes, about: its candidates, whether each is a label, and its ends.
    pub(crate) const BYTES_PER_ROW: usize = SET_CANDIDATES * (size_of::<Scored>() + 1) + 24;

    /// Makes room for so many rows, so that no more is taken than they need.
    pub(crate) fn make_room(&mut self, rows: usize) {
        self.known.reserve_exact(rows);
        self.ends.reserve_exact(rows);
        self.best.reserve_exact(rows * SET_CANDIDATES);
        self.hits.reserve_exact(rows * SET_CANDIDATES);
    }

    /// Adds a row: the number of its features that the model knows, its classes, best first (of which
    /// [`SET_CANDIDATES`] are kept), and its labels.
    pub fn push(&mut self, known: usize, best: &[Scored], labels: &[u32]) {
        let candidates = best
            .iter()
            .take(SET_CANDIDATES)
            .filter(|scored| scored.score.is_finite());
        for candidate in candidates {
            self.best.push(*candidate);
            self.hits.push(labels.contains(&candidate.class));
        }
        self.several_labels |= labels.len() > 1;
        self.labels.push(labels.iter().copied());
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

    fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// All rows.
    pub(crate) fn all_rows(&self) -> impl Iterator<Item = LabelledRow<'_>> {
        let rows = self.known.iter().zip(self.ranges()).zip(self.labels.iter());
        rows.map(|((&known, range), labels)| LabelledRow {
            known: known as usize,
            best: &self.best[range],
            labels,
        })
    }

    /// The rows of which something is known.
    pub(super) fn iter(&self) -> impl Iterator<Item = ScoredRow<'_>> {
        let rows = self.known.iter().zip(self.ranges()).map(|(&known, range)| {
            let candidates = range.start..range.end.min(range.start + CANDIDATES);
            ScoredRow {
                known: known as usize,
                best: &self.best[candidates.clone()],
                hits: &self.hits[candidates],
            }
        });
        rows.filter(|row| row.known > 0 && !row.best.is_empty())
    }
}
