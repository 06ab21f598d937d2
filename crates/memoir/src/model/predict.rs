//! Predicting: raw input one by one, or many weighted rows at once.

use rayon::prelude::*;

use super::{Model, Scratch};
use crate::sparse::{RowView, Rows, Scored};
use crate::text::TextScratch;
use crate::{Result, Session};

/// Rows that one worker predicts between two looks at the cancel flag.
const STRIDE: usize = 64;

/// The best classes of many rows, in flat buffers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predictions {
    per_row: usize,
    rows: usize,
    scored: Vec<Scored>,
}

impl Predictions {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The best classes of a row, best first: as many as asked for, or as there are.
    pub fn row(&self, index: usize) -> &[Scored] {
        &self.scored[index * self.per_row..(index + 1) * self.per_row]
    }

    /// The best classes of each row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Scored]> {
        (0..self.rows).map(|index| self.row(index))
    }
}

/// Predicts raw input one by one. Each thread has its own; after the first row no memory is allocated.
pub struct Predictor<'m> {
    model: &'m Model,
    scratch: Scratch,
    text: TextScratch,
    row: Rows,
    best: Vec<Scored>,
}

impl Predictor<'_> {
    /// The `k` best classes of a text, best first.
    pub fn text(&mut self, text: &str, k: usize) -> Result<&[Scored]> {
        self.row.clear();
        self.model
            .preprocessing
            .text_row(text, &mut self.text, &mut self.row)?;
        Ok(self.best(k))
    }

    /// The `k` best classes of a vector as the user has it, best first. Empties `entries`.
    pub fn vector(&mut self, entries: &mut Vec<(u32, f32)>, k: usize) -> Result<&[Scored]> {
        self.row.clear();
        self.model.preprocessing.vector_row(entries, &mut self.row)?;
        Ok(self.best(k))
    }

    /// The weighted row of the last input, for instance to explain the answer.
    pub fn row(&self) -> RowView<'_> {
        if self.row.is_empty() {
            RowView {
                indices: &[],
                values: &[],
            }
        } else {
            self.row.row(0)
        }
    }

    fn best(&mut self, k: usize) -> &[Scored] {
        let row = self.row.row(0);
        self.model.scorer.top_k(row, k, &mut self.scratch, &mut self.best);
        &self.best
    }
}

impl Model {
    /// Predicts raw input one by one.
    pub fn predictor(&self) -> Predictor<'_> {
        Predictor {
            model: self,
            scratch: Scratch::default(),
            text: TextScratch::default(),
            row: Rows::new(),
            best: Vec::new(),
        }
    }

    /// The `k` best classes of each of `rows`, which are weighted already (see [`crate::text::Preprocessing`]).
    ///
    /// Works in the session's pool; the answer does not depend on its size.
    pub fn predict_rows(&self, rows: &Rows, k: usize, session: &Session<'_>) -> Result<Predictions> {
        let per_row = k.min(self.scorer.classes());
        let nothing = Scored {
            class: 0,
            score: f32::NEG_INFINITY,
        };
        let mut scored = vec![nothing; rows.len() * per_row];
        if per_row > 0 {
            session.run(|| {
                scored
                    .par_chunks_mut(STRIDE * per_row)
                    .enumerate()
                    .try_for_each_init(Scratch::default, |scratch, (stride, answers)| {
                        session.check()?;
                        let first = stride * STRIDE;
                        let numbers = first..first + answers.len() / per_row;
                        let views: Vec<_> = numbers.map(|number| rows.row(number)).collect();
                        self.scorer
                            .top_k_rows(&views, per_row, scratch, &mut |number, best| {
                                // A scorer that knows fewer classes leaves the rest at minus infinity.
                                let answer = &mut answers[number * per_row..][..best.len()];
                                answer.copy_from_slice(best);
                            });
                        Ok(())
                    })
            })?;
        }
        Ok(Predictions {
            per_row,
            rows: rows.len(),
            scored,
        })
    }
}
