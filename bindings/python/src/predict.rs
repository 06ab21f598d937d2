//! Predicting many rows without a copy of them: each worker prepares its rows itself, a few at a time.

use memoir::model::calibration::CANDIDATES;
use memoir::model::{SHARING, Scratch, score_shares};
use memoir::{Cancel, Model, Result, Rows, Scored, Session};
use rayon::prelude::*;

use crate::rows::{RowScratch, Shared};

/// Rows that a worker predicts between two looks at the cancel flag.
const STRIDE: usize = 64;

/// What to give with each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Its score.
    Score,
    /// Its score, and nothing that overrides say.
    OwnScore,
    /// Its probability: by the model's calibration or, without one, its share in the exponentials of the
    /// best scores.
    Probability,
}

/// Class numbers and scores or probabilities, `k` for each row, best first.
type Flat = (Vec<u32>, Vec<f32>);

/// Reusable memory of one predicting thread.
#[derive(Default)]
struct Worker {
    row: RowScratch,
    rows: Rows,
    scratch: Scratch,
    best: Vec<Scored>,
    probabilities: Vec<f32>,
}

impl Worker {
    fn stopped_by(cancel: &Cancel) -> Self {
        Self {
            row: RowScratch::stopped_by(cancel),
            ..Self::default()
        }
    }

    fn predict(
        &mut self,
        model: &Model,
        source: &Shared<'_>,
        index: usize,
        measure: Measure,
        (classes, scores): (&mut [u32], &mut [f32]),
    ) -> Result<()> {
        self.rows.clear();
        source.prepare(index, model.preprocessing(), &mut self.row, &mut self.rows)?;
        let row = self.rows.row(0);
        let overriding = source
            .override_of(index, model)
            .filter(|_| measure != Measure::OwnScore);
        if source.is_text() && model.known_features(row) == 0 && overriding.is_none() {
            // No class has a say: the slots keep minus infinity.
            fill(classes, 0);
            return Ok(());
        }
        let asked = match (measure, model.calibration()) {
            (Measure::Score | Measure::OwnScore, _) => classes.len(),
            (Measure::Probability, Some(_)) => classes.len().max(CANDIDATES),
            (Measure::Probability, None) => classes.len().max(SHARING),
        };
        model
            .scorer()
            .top_k(row, asked, &mut self.scratch, &mut self.best);
        match (measure, model.calibration()) {
            (Measure::Score | Measure::OwnScore, _) => {}
            (Measure::Probability, Some(_)) => {
                model.probabilities(row, &self.best, &mut self.probabilities);
                for (scored, &probability) in self.best.iter_mut().zip(&self.probabilities) {
                    scored.score = probability;
                }
            }
            (Measure::Probability, None) => score_shares(&mut self.best),
        }
        if let Some(class) = overriding {
            let highest = self.best.first().map_or(1.0, |best| best.score.max(1.0));
            Model::put_first(class, classes.len(), &mut self.best);
            if measure == Measure::Score && !self.best.is_empty() {
                // Scores have no upper end: it stays the highest.
                self.best[0].score = highest;
            }
        }
        for ((class, score), best) in classes.iter_mut().zip(scores.iter_mut()).zip(&self.best) {
            (*class, *score) = (best.class, best.score);
        }
        let scored = self.best.len().min(classes.len());
        fill(classes, scored);
        if measure == Measure::Probability {
            scores[scored..].fill(0.0);
        }
        Ok(())
    }
}

/// Gives the slots from `scored` on to the classes that are not there yet, lowest number first.
fn fill(classes: &mut [u32], scored: usize) {
    let (there, rest) = classes.split_at_mut(scored);
    let others = (0..).filter(|class| !there.contains(class));
    rest.iter_mut()
        .zip(others)
        .for_each(|(slot, class)| *slot = class);
}

/// Predicts in the calling thread.
pub(crate) fn few(model: &Model, source: &Shared<'_>, k: usize, measure: Measure) -> Result<Flat> {
    let mut worker = Worker::default();
    let (mut classes, mut scores) = room(source.len() * k);
    if k > 0 {
        let slots = classes.chunks_mut(k).zip(scores.chunks_mut(k));
        for (index, slots) in slots.enumerate() {
            worker.predict(model, source, index, measure, slots)?;
        }
    }
    Ok((classes, scores))
}

/// Predicts in the session's pool. The answers do not depend on its size.
pub(crate) fn many(
    model: &Model,
    source: &Shared<'_>,
    k: usize,
    measure: Measure,
    session: &Session<'_>,
) -> Result<Flat> {
    let (mut classes, mut scores) = room(source.len() * k);
    if k > 0 {
        session.run(|| {
            classes
                .par_chunks_mut(STRIDE * k)
                .zip(scores.par_chunks_mut(STRIDE * k))
                .enumerate()
                .try_for_each_init(
                    || Worker::stopped_by(session.cancel()),
                    |worker, (stride, (classes, scores))| {
                        let slots = classes.chunks_mut(k).zip(scores.chunks_mut(k));
                        for (index, slots) in slots.enumerate() {
                            worker.predict(model, source, stride * STRIDE + index, measure, slots)?;
                            session.check()?;
                        }
                        Ok(())
                    },
                )
        })?;
    }
    Ok((classes, scores))
}

fn room(slots: usize) -> Flat {
    (vec![0; slots], vec![f32::NEG_INFINITY; slots])
}
