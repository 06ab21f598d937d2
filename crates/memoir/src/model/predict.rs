//! Predicting: raw input one by one, or many weighted rows at once.

use rayon::prelude::*;

use super::calibration::CANDIDATES;
use super::merged::SEARCHED;
use super::{Model, Scratch};
use crate::sparse::{RowView, Rows, Scored};
use crate::text::TextScratch;
use crate::{Error, Result, Session};

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

    /// The best classes of a row, best first: as many as asked for, or as there are. None, if the model
    /// knows nothing of what is in the row.
    pub fn row(&self, index: usize) -> &[Scored] {
        let slots = &self.scored[index * self.per_row..(index + 1) * self.per_row];
        let filled = slots.partition_point(|scored| scored.score > f32::NEG_INFINITY);
        &slots[..filled]
    }

    /// The best classes of each row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Scored]> {
        (0..self.rows).map(|index| self.row(index))
    }
}

/// Memory of a [`Predictor`]. Kept between predictors of the same model, it spares their allocations.
#[derive(Default)]
pub struct PredictorScratch {
    scorer: Scratch,
    text: TextScratch,
    row: Rows,
    best: Vec<Scored>,
    /// All classes that probabilities are made from.
    all: Vec<Scored>,
    probabilities: Vec<f32>,
}

/// Predicts raw input one by one. Each thread has its own; after the first row no memory is allocated.
pub struct Predictor<'m> {
    model: &'m Model,
    /// Whether probabilities are given instead of scores.
    as_probabilities: bool,
    scratch: PredictorScratch,
}

impl Predictor<'_> {
    /// From now on the scores of answers are probabilities. Fails if the model is not calibrated.
    pub fn with_probabilities(mut self) -> Result<Self> {
        self.model.calibrated()?;
        self.as_probabilities = true;
        Ok(self)
    }

    /// The `k` best classes of a text, best first; none if it has no known word. A class that the text
    /// always gets ([`Model::override_of`]) comes first with the score 1.
    pub fn text(&mut self, text: &str, k: usize) -> Result<&[Scored]> {
        let PredictorScratch {
            text: scratch, row, ..
        } = &mut self.scratch;
        row.clear();
        self.model.preprocessing.text_row(text, scratch, row)?;
        self.find_best(k);
        if let Some(class) = self.model.override_of(text) {
            Model::put_first(class, k, &mut self.scratch.best);
        }
        Ok(&self.scratch.best)
    }

    /// The `k` best classes of a vector as the user has it, best first. Empties `entries`.
    pub fn vector(&mut self, entries: &mut Vec<(u32, f32)>, k: usize) -> Result<&[Scored]> {
        let row = &mut self.scratch.row;
        row.clear();
        self.model.preprocessing.vector_row(entries, row)?;
        self.find_best(k);
        Ok(&self.scratch.best)
    }

    /// The weighted row of the last input, for instance to explain the answer.
    pub fn row(&self) -> RowView<'_> {
        if self.scratch.row.is_empty() {
            RowView {
                indices: &[],
                values: &[],
            }
        } else {
            self.scratch.row.row(0)
        }
    }

    /// The memory, for the next predictor of the model ([`Model::predictor_with`]).
    pub fn into_scratch(self) -> PredictorScratch {
        self.scratch
    }

    fn find_best(&mut self, k: usize) {
        let scratch = &mut self.scratch;
        let row = scratch.row.row(0);
        if self.model.known_features(row) == 0 {
            scratch.best.clear();
            return;
        }
        let asked = if self.as_probabilities {
            k.max(CANDIDATES)
        } else {
            k
        };
        self.model
            .scorer
            .top_k(row, asked, &mut scratch.scorer, &mut scratch.best);
        if self.as_probabilities {
            scratch.all.clone_from(&scratch.best);
            scratch.best.truncate(k);
            let (all, best) = (&scratch.all, &mut scratch.best);
            self.model
                .give_probabilities(row, all, &mut scratch.probabilities, best);
        }
    }
}

impl Model {
    /// Predicts raw input one by one.
    pub fn predictor(&self) -> Predictor<'_> {
        self.predictor_with(PredictorScratch::default())
    }

    /// As [`Model::predictor`], with the memory of an earlier predictor of this model.
    pub fn predictor_with(&self, scratch: PredictorScratch) -> Predictor<'_> {
        Predictor {
            model: self,
            as_probabilities: false,
            scratch,
        }
    }

    /// Number of entries of a weighted row that stand for something the model has seen.
    pub fn known_features(&self, row: RowView<'_>) -> usize {
        // The constant feature is in every row and says nothing.
        row.len() - usize::from(self.preprocessing.weighting.constant && !row.is_empty())
    }

    /// Fails if the model cannot give probabilities.
    fn calibrated(&self) -> Result<()> {
        match self.calibration {
            Some(_) => Ok(()),
            None => Err(Error::Mismatch(
                "the model is not calibrated, so it cannot give probabilities: train it with the parameter `valid` or \
                 with the parameter `valid-fraction`"
                    .to_owned(),
            )),
        }
    }

    /// Writes the probability of each of a row's `best` classes to `out`, none if the model is not
    /// calibrated. These are at least [`CANDIDATES`] classes, if there are so many.
    pub fn probabilities(&self, row: RowView<'_>, best: &[Scored], out: &mut Vec<f32>) {
        out.clear();
        let Some(calibration) = &self.calibration else {
            return;
        };
        let known = self.known_features(row);
        let Some(merged) = self.scorer.as_merged() else {
            calibration.probabilities(known, best, out);
            return;
        };
        // The calibration was fitted to the scores of the members, whose probabilities add up.
        let mut members = Vec::new();
        let inner = merged.inner();
        inner.top_k(row, SEARCHED, &mut Scratch::default(), &mut members);
        let mut of_members = Vec::new();
        calibration.probabilities(known, &members, &mut of_members);
        let mut before = 1.0f32;
        for scored in best {
            let mine = members.iter().zip(&of_members);
            let mine = mine.filter(|(member, _)| merged.class_of()[member.class as usize] == scored.class);
            before = mine.map(|(_, probability)| probability).sum::<f32>().min(before);
            out.push(before);
        }
    }

    /// Replaces the scores of `answers`, the first of a row's `best` classes, by probabilities.
    fn give_probabilities(
        &self,
        row: RowView<'_>,
        best: &[Scored],
        probabilities: &mut Vec<f32>,
        answers: &mut [Scored],
    ) {
        self.probabilities(row, best, probabilities);
        for (scored, &probability) in answers.iter_mut().zip(probabilities.iter()) {
            // Places that no class filled stay recognizable.
            if scored.score > f32::NEG_INFINITY {
                scored.score = probability;
            }
        }
    }

    /// As [`Model::predict_rows`], with probabilities in place of scores. Fails if the model is not
    /// calibrated.
    pub fn predict_probabilities(&self, rows: &Rows, k: usize, session: &Session<'_>) -> Result<Predictions> {
        self.calibrated()?;
        self.predict_all(rows, k, true, session)
    }

    /// The `k` best classes of each of `rows`, which are weighted already (see
    /// [`crate::text::Preprocessing`]).
    ///
    /// Works in the session's pool; the answer does not depend on its size.
    pub fn predict_rows(&self, rows: &Rows, k: usize, session: &Session<'_>) -> Result<Predictions> {
        self.predict_all(rows, k, false, session)
    }

    fn predict_all(
        &self,
        rows: &Rows,
        k: usize,
        as_probabilities: bool,
        session: &Session<'_>,
    ) -> Result<Predictions> {
        self.check_unchanged()?;
        let per_row = k.min(self.scorer.classes());
        // Probabilities need more scores than are asked for.
        let asked = if as_probabilities {
            per_row.max(CANDIDATES)
        } else {
            per_row
        };
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
                    .try_for_each_init(
                        || (Scratch::default(), Vec::new()),
                        |(scratch, probabilities), (stride, answers)| {
                            session.check()?;
                            let first = stride * STRIDE;
                            let numbers = first..first + answers.len() / per_row;
                            let views: Vec<_> = numbers.map(|number| rows.row(number)).collect();
                            self.scorer
                                .top_k_rows(&views, asked, scratch, &mut |number, best| {
                                    // The best class of a row without a known feature would be the first.
                                    if self.known_features(views[number]) == 0 {
                                        return;
                                    }
                                    // A scorer that knows fewer classes leaves the rest at minus infinity.
                                    let count = best.len().min(per_row);
                                    let answers = &mut answers[number * per_row..][..count];
                                    answers.copy_from_slice(&best[..count]);
                                    if as_probabilities {
                                        self.give_probabilities(views[number], best, probabilities, answers);
                                    }
                                });
                            Ok(())
                        },
                    )
            })?;
        }
        Ok(Predictions {
            per_row,
            rows: rows.len(),
            scored,
        })
    }
}
