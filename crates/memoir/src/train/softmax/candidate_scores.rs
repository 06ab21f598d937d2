//! Scores of chosen classes for some rows, without a scan over all.
//!
//! Rows that share a feature look the same weights up, and the more of them do, the longer the list of these
//! is. So what all rows look for is found feature by feature: a list is spread out once, to a index for each
//! class, for all rows that need it.

use std::ops::Range;

use super::weights::LearnedWeights;
use crate::sparse::fixed_point::{FeatureRow, FeatureRows, Posting, QuantizedRow, for_each_common};

/// Rows that can be scored together.
pub(super) const MOST_ROWS: usize = 1 << 10;

/// Weights that are spread out in about the time that it takes to look one row's classes up among them.
const SPREAD_PER_ROW: usize = 150;

/// Rows, the classes chosen for each, and the scores of these. The memory is used again and again.
#[derive(Default)]
pub(super) struct CandidateScores {
    rows: CandidateClasses,
    /// What each row has of a feature.
    tokens: Vec<Token>,
    /// A weight for each class, all zero between features.
    spread: Vec<i16>,
}

#[derive(Default)]
struct CandidateClasses {
    /// Row `n` has the classes `ends[n - 1]..ends[n]`, rising.
    ends: Vec<usize>,
    classes: Vec<u32>,
    scores: Vec<i32>,
}

impl CandidateClasses {
    fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[index]
    }

    /// The classes of a row, and their scores to be added to.
    fn row_mut(&mut self, index: usize) -> (&[u32], &mut [i32]) {
        let range = self.range(index);
        (&self.classes[range.clone()], &mut self.scores[range])
    }

    /// Adds what a feature gives, which has a weight for each class, to the rows that have it.
    fn add(&mut self, tokens: &[Token], weights: &[i16]) {
        for token in tokens {
            let (classes, scores) = self.row_mut(token.index());
            for (score, &class) in scores.iter_mut().zip(classes) {
                *score += i32::from(weights[class as usize]) * token.value();
            }
        }
    }
}

/// A feature, the index of a row that has it, and its value there, from the highest bits to the lowest: so
/// numbers are in the order of their features.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Token(u64);

impl Token {
    fn new(feature: u32, index: usize, value: i16) -> Self {
        Self(u64::from(feature) << 32 | (index as u64) << 16 | u64::from(value as u16))
    }

    fn feature(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn index(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }

    fn value(self) -> i32 {
        i32::from(self.0 as i16)
    }
}

impl CandidateScores {
    /// Without rows.
    pub(super) fn clear(&mut self) {
        self.rows.ends.clear();
        self.rows.classes.clear();
        self.tokens.clear();
    }

    /// Appends a row and its classes: those of both, which rise and have none in common. There are at most
    /// [`MOST_ROWS`] rows.
    pub(super) fn push(&mut self, row: QuantizedRow<'_>, some: &[u32], others: impl Iterator<Item = u32>) {
        let CandidateClasses { ends, classes, .. } = &mut self.rows;
        let index = ends.len();
        assert!(index < MOST_ROWS, "a index has 16 bits");
        let tokens = row.indices.iter().zip(row.values);
        // Values of 0, of which trimmed rows have many, change no score.
        let tokens = tokens.filter(|token| *token.1 != 0);
        self.tokens
            .extend(tokens.map(|(&feature, &value)| Token::new(feature, index, value)));
        let mut rest = some;
        for other in others {
            let (before, after) = rest.split_at(rest.partition_point(|&class| class < other));
            classes.extend_from_slice(before);
            classes.push(other);
            rest = after;
        }
        classes.extend_from_slice(rest);
        ends.push(classes.len());
    }

    /// Scores all classes of all rows.
    pub(super) fn score<P: Posting>(&mut self, weights: &LearnedWeights<P>) {
        let Self { rows, tokens, spread } = self;
        rows.scores.clear();
        rows.scores.resize(rows.classes.len(), 0);
        spread.resize(weights.classes(), 0);
        tokens.sort_unstable();
        for tokens in tokens.chunk_by(|a, b| a.feature() == b.feature()) {
            match weights.feature(tokens[0].feature()) {
                FeatureRow::Dense(weights) => rows.add(tokens, weights),
                // Weights that are learned are never packed.
                FeatureRow::Packed(_) => {}
                FeatureRow::Sparse(postings) if postings.len() <= SPREAD_PER_ROW * tokens.len() => {
                    for posting in postings {
                        spread[posting.class() as usize] = posting.weight();
                    }
                    rows.add(tokens, spread);
                    for posting in postings {
                        spread[posting.class() as usize] = 0;
                    }
                }
                FeatureRow::Sparse(postings) => {
                    for token in tokens {
                        let (classes, scores) = rows.row_mut(token.index());
                        for_each_common(postings, classes, |index, posting| {
                            scores[index] += i32::from(postings[posting].weight()) * token.value();
                        });
                    }
                }
            }
        }
    }

    /// The classes of a row, rising, and their scores.
    pub(super) fn row(&self, index: usize) -> (&[u32], &[i32]) {
        let range = self.rows.range(index);
        (&self.rows.classes[range.clone()], &self.rows.scores[range])
    }
}

#[cfg(test)]
mod tests {
    use super::super::Softmax;
    use super::super::auto_params::{AutoParams, Shape};
    use super::super::base_weights::BaseWeights;
    use super::super::centroids::Centroids;
    use super::super::class_slice::ClassSlice;
    use super::super::rows::QuantizedRows;
    use super::super::tests::{data, session};
    use super::super::weights::Layout;
    use super::*;
    use crate::sparse::fixed_point::{Narrow, SearchScratch, search};

    #[test]
    fn tokens_hold_what_they_were_made_of() {
        for (feature, index, value) in [(0, 0, 1), (u32::MAX, MOST_ROWS - 1, i16::MIN), (7, 3, -1)] {
            let token = Token::new(feature, index, value);
            assert_eq!(
                (token.feature(), token.index(), token.value()),
                (feature, index, i32::from(value))
            );
        }
        assert!(Token::new(3, 900, -5) < Token::new(4, 0, 0));
    }

    /// Few classes and many, for one row and for many together: some lists are spread out and others are
    /// looked through.
    #[test]
    fn chosen_classes_are_scored_as_in_a_scan() {
        let data = data(900, 400, 30, 1, 2);
        let session = session(1);
        let auto = AutoParams::new(&Softmax::default().params, &Shape::of(&data, 0));
        let rows = QuantizedRows::new(&data.rows, 0.0);
        let base = BaseWeights::<Narrow>::none();
        let centroids = Centroids::new(&data, &rows, &base.class_counts, auto.initial_scale);
        let mut chosen = CandidateScores::default();
        let slice = ClassSlice::whole(400);
        for dense_from in [10, 1000] {
            let layout = Layout { least: 1, dense_from };
            let weights = LearnedWeights::starting(&base, &centroids, &slice, layout, &session).unwrap();
            for (number, together) in [(1, 900), (12, 1), (12, 90), (254, 7), (400, 1)] {
                // Those that some and others have are to be put in order.
                let some: Vec<u32> = (0..number).filter(|class| class % 3 == 0).collect();
                let others = || (0..number).filter(|class| class % 3 != 0);
                let all: Vec<u32> = (0..number).collect();
                chosen.clear();
                for row in 0..together {
                    chosen.push(rows.row(row), &some, others());
                }
                chosen.score(&weights);
                for row in 0..together {
                    let (mut found, mut scanned) = (vec![], vec![]);
                    let mut scratch = SearchScratch::default();
                    search(
                        &weights,
                        rows.row(row),
                        1,
                        &mut scratch,
                        &mut found,
                        &all,
                        &mut scanned,
                    );
                    assert_eq!(
                        chosen.row(row),
                        (&all[..], &scanned[..]),
                        "{together} rows, dense from {dense_from}"
                    );
                }
                assert!(chosen.spread.iter().all(|&weight| weight == 0));
            }
        }
    }
}
