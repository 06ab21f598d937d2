//! The descent itself: Algorithms 1 and 2, line by line.

use rayon::prelude::*;

use super::average::Average;
use super::finish;
use super::measure::Measure;
use super::sampling::{Example, Sampler};
use super::settings::{Penalty, Settings};
use super::theory_note;
use super::weights::{DescentWeights, RowBuffer};
use crate::dataset::Dataset;
use crate::model::{Scorer, Scratch};
use crate::oracle::{Oracle, Query, rivals};
use crate::sparse::{Addend, Truncation};
use crate::{Event, Result, Session};

/// Examples that one worker finds rivals for between two looks at the cancel flag.
const STRIDE: usize = 16;

/// Trains on `data` from `weights`, which are zero, asking `oracle`, and returns the finished scorer.
pub(super) fn descend<W: DescentWeights>(
    settings: &Settings,
    mut weights: W,
    oracle: &mut dyn Oracle<W>,
    data: &Dataset,
    valid: Option<&Dataset>,
    session: &Session<'_>,
) -> Result<W::Scorer> {
    let classes = data.classes.len();
    let iterations = settings.iterations_for(classes, valid.is_some());
    let batch_size = settings.batch_size_for(classes);
    let mut sampler = Sampler::new(settings.sampling, &data.labels, session.random("margin batches"))?;
    // W^0 := 0: so the weights come.
    let mut average = settings.average.then(|| Average::new(&weights));
    let mut best: Option<Held<W::Scorer>> = None;
    let measure = (settings.measure_oracle > 0).then(|| Measure::new(data));

    // for t = 1 … T
    for iteration in 1..=iterations {
        session.progress("training", iteration - 1, iterations, "batches");
        // Get batch b_t = {(x_j, y_j)}, j = 1 … |b_t|; eta_t = eta_0 / (1 + eta_step t)
        let batch = sampler.batch(batch_size);
        let step = settings.step(iteration);
        if settings.penalty == Penalty::SquaredL2 {
            // W^t := (1 - lambda eta_t) W^(t-1)
            scale(
                &mut weights,
                1.0 - settings.lambda * step,
                oracle,
                average.as_mut(),
                session,
            )?;
        }
        if let Some(measure) = &measure {
            measure.tell(iteration, settings, oracle, &weights, data, &batch, session)?;
        }
        let mut addends = steps(settings, oracle, &weights, data, &batch, step, session)?;
        if let Some(average) = &mut average {
            average.settle(&weights, addends.iter().map(|addend| addend.class));
        }
        // Algorithm 2: for i in R_t: w_i^(t+1) := Truncate(w_i^t, xi), xi = |R_t|, by (C / xi) lambda eta_t.
        // The classes of the addends are R_t.
        let threshold = match settings.penalty {
            Penalty::SquaredL2 => 0.0,
            Penalty::L1 => {
                let touched = count_distinct(&mut addends);
                classes as f64 / touched.max(1) as f64 * settings.lambda * step
            }
        };
        let truncation = Truncation {
            threshold: threshold as f32,
            limit: settings.truncation_limit as f32,
        };
        let changed = weights.add(&mut addends, &data.rows, truncation, session)?;
        oracle.update(&weights, &changed, session)?;
        if settings.penalty == Penalty::SquaredL2 {
            // phi_t := min(1, 1 / (sqrt(lambda) ||W^t||)); W^(t+1) := phi_t W^t
            let phi = (1.0 / (settings.lambda.sqrt() * weights.norm())).min(1.0);
            scale(&mut weights, phi, oracle, average.as_mut(), session)?;
        }
        if let Some(average) = &mut average {
            average.count(&weights);
        }
        if let Some(valid) = valid
            && !valid.is_empty()
        {
            let scorer = weights.scorer(settings.prediction);
            if Held::is_over(&mut best, scorer, iteration, settings, valid, session)? {
                break;
            }
        }
    }
    session.progress("training", iterations, iterations, "batches");
    if settings.report_theory {
        theory_note::tell(settings, oracle, &weights, data, iterations, session)?;
    }
    let averaged = average.map(|average| average.finish(&weights));
    match (averaged, best) {
        // The mean is of all iterations: held-out rows have only decided when to stop.
        (Some(mean), _) => Ok(mean.into_scorer(settings.prediction)),
        (None, Some(best)) => Ok(best.scorer),
        (None, None) => Ok(weights.into_scorer(settings.prediction)),
    }
}

/// Multiplies all weights; where that changes unscaled values, tells the oracle.
fn scale<W: DescentWeights>(
    weights: &mut W,
    factor: f64,
    oracle: &mut dyn Oracle<W>,
    average: Option<&mut Average<W>>,
    session: &Session<'_>,
) -> Result<()> {
    if !weights.is_folded_by(factor) {
        weights.scale(factor);
        return Ok(());
    }
    let all: Vec<u32> = (0..weights.classes() as u32).collect();
    if let Some(average) = average {
        average.settle(weights, all.iter().copied());
    }
    weights.scale(factor);
    oracle.update(weights, &all, session)
}

/// The sub-gradient steps of a batch, against frozen weights: for each example its true class and its rival.
///
/// The sub-gradient of a batch is the mean over its examples, or their sum (`--step-per example`). Examples
/// that do not violate the margin give steps of size 0 (if the margin is tested), so that their classes
/// still belong to `R_t`.
fn steps<W: DescentWeights>(
    settings: &Settings,
    oracle: &dyn Oracle<W>,
    weights: &W,
    data: &Dataset,
    batch: &[Example],
    step: f64,
    session: &Session<'_>,
) -> Result<Vec<Addend>> {
    let found = find_rivals(settings, oracle, weights, data, batch, session)?;
    // R_t := {}
    let mut addends = Vec::with_capacity(2 * batch.len());
    for (example, rival) in batch.iter().zip(found) {
        let Some(rival) = rival else {
            continue;
        };
        let row_weight = data
            .weights
            .as_ref()
            .map_or(1.0, |weights| weights[example.row as usize]);
        let coefficient = if rival.updates {
            settings.example_step(step, batch.len()) * row_weight
        } else {
            0.0
        };
        // w_(r_j) := w_(r_j) - eta_t x_j;  w_(y_j) := w_(y_j) + eta_t x_j;  R_t := R_t + {y_j, r_j}
        for (class, coefficient) in [(rival.class, -coefficient), (example.label, coefficient)] {
            addends.push(Addend {
                class,
                row: example.row,
                coefficient,
            });
        }
    }
    Ok(addends)
}

/// What was found out about an example.
#[derive(Clone, Copy)]
struct Rival {
    class: u32,
    /// Whether the example changes weights: if margins are tested, when its own is violated.
    updates: bool,
}

/// Computes approximately, for each example, `r_j := argmax_{r != y_j} x_j^T w_r`; none if there is no other
/// class.
fn find_rivals<W: DescentWeights>(
    settings: &Settings,
    oracle: &dyn Oracle<W>,
    weights: &W,
    data: &Dataset,
    batch: &[Example],
    session: &Session<'_>,
) -> Result<Vec<Option<Rival>>> {
    let mut found = vec![None; batch.len()];
    session.run(|| {
        found
            .par_chunks_mut(STRIDE)
            .zip(batch.par_chunks(STRIDE))
            .try_for_each_init(
                || (Scratch::default(), Vec::new(), RowBuffer::default()),
                |(scratch, best, buffer), (answers, examples)| {
                    session.check()?;
                    for (answer, example) in answers.iter_mut().zip(examples) {
                        let row = weights.row(data.rows.row(example.row as usize), buffer);
                        let query = Query {
                            row,
                            labels: data.labels.row(example.row as usize),
                            k: settings.rival_rank,
                            draw: example.draw,
                        };
                        rivals(oracle, weights, &query, scratch, best);
                        // 1 + x_j^T (w_(r_j) - w_(y_j)) > 0
                        let is_violated = |rival: f32| {
                            let beyond = rival - weights.dot(example.label, row);
                            1.0 + weights.multiplier() * f64::from(beyond) > 0.0
                        };
                        *answer = best.last().map(|rival| Rival {
                            class: rival.class,
                            updates: !settings.margin_test || is_violated(rival.score),
                        });
                    }
                    Ok(())
                },
            )
    })?;
    Ok(found)
}

/// `|R_t|`: how many classes a batch touches.
fn count_distinct(addends: &mut [Addend]) -> usize {
    addends.sort_by_key(|addend| addend.class);
    addends.chunk_by(|a, b| a.class == b.class).count()
}

/// The best scorer so far on held-out rows.
struct Held<S> {
    scorer: S,
    macro_f1: f64,
    iteration: u64,
}

impl<S: Scorer> Held<S> {
    /// Measures `scorer`, keeps it if it is the best, and says whether none has been better for too long.
    fn is_over(
        best: &mut Option<Self>,
        scorer: S,
        iteration: u64,
        settings: &Settings,
        valid: &Dataset,
        session: &Session<'_>,
    ) -> Result<bool> {
        let evaluation = finish::evaluate(&scorer, valid, session)?;
        let macro_f1 = evaluation.macro_f1();
        session.tell(Event::HeldOut {
            pass: iteration as usize,
            accuracy: evaluation.accuracy(),
            macro_f1,
        });
        if best.as_ref().is_none_or(|best| macro_f1 > best.macro_f1) {
            *best = Some(Self {
                scorer,
                macro_f1,
                iteration,
            });
        }
        Ok(best
            .as_ref()
            .is_some_and(|best| iteration - best.iteration >= settings.patience))
    }
}
