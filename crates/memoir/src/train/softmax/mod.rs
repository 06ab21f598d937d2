//! `softmax`: the flagship. A softmax over each row's labels and their strongest rivals, learned by gradient steps on
//! fixed-point weights that start at the class centroids.
//!
//! Rows are taken in batches. All rows of a batch are scored against the same weights, in parallel; then the weights
//! move, each feature's by one owner and in the order of the rows. The first pass finds each row's rivals by a scan
//! over all classes with short sums. Later passes score the rivals found then once more, which costs a fraction of a scan: that is
//! the inexact margin of the paper, with rounded scores and the memory of an earlier pass as the oracle.

mod aside;
mod budget;
mod centroids;
mod choices;
mod chosen;
mod earlier;
mod emphasis;
mod finish;
mod gradient;
mod learner;
mod memory;
mod params;
mod recall;
mod rehearse;
mod resume;
mod rivals;
mod rows;
mod start;
#[cfg(test)]
mod tests;
mod update;
mod weights;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::model::Replay;
use crate::sparse::fixed::{Narrow, Posting, Wide};
use crate::text::RowNeeds;
use crate::train::fit::sum_of_weights;
use crate::train::{Support, TrainRequest, Trained, Trainer};
use crate::{Error, Result, Session};

use aside::Aside;
use centroids::Centroids;
use choices::{Choices, Shape};
use earlier::Earlier;
use emphasis::Emphasis;
use finish::Stored;
use learner::Learner;
use memory::RivalMemory;
pub use params::{Rescan, Search, SoftmaxParams};
use resume::{Keeper, Learned, Place};
use rivals::{RivalSearch, Source};
use rows::QuantizedRows;
use update::Step;
use weights::Weights;

/// Batches are learned from without a word to anybody else until they have this many rows.
const BATCH_ROWS: usize = 4096;

/// The trainer.
#[derive(Debug, Default)]
pub struct Softmax {
    params: SoftmaxParams,
}

impl Softmax {
    /// With these parameters.
    pub fn new(params: SoftmaxParams) -> Self {
        Self { params }
    }
}

impl Trainer for Softmax {
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        // All of it among the session's own threads: where one hands over to another, both may wait for the same processor.
        session.run(|| {
            if request.data.classes.len() <= Narrow::CLASSES {
                train::<Narrow>(&self.params, &request, session)
            } else {
                train::<Wide>(&self.params, &request, session)
            }
        })
    }

    fn support(&self) -> Support {
        Support {
            checkpoints: true,
            continuing: true,
        }
    }

    fn row_needs(&self) -> RowNeeds {
        RowNeeds {
            length_power: 0.6,
            concentration: 0.5,
            ..RowNeeds::default()
        }
    }
}

fn train<P: Posting + Stored>(
    params: &SoftmaxParams,
    request: &TrainRequest<'_>,
    session: &Session<'_>,
) -> Result<Trained> {
    let (data, valid) = (&request.data, request.held_out);
    if data.labels.total() == 0 {
        return Err(Error::Unlearnable(
            "no row has a label, so there is nothing to learn".to_owned(),
        ));
    }
    let earlier = &match &request.base_model {
        Some(base) => Earlier::<P>::new(base, data.len(), session)?,
        None => Earlier::nothing(),
    };
    let mut choices = Choices::new(params, &Shape::of(data, earlier.rows));
    let with_repeated = (!earlier.rehearsal.is_empty())
        .then(|| rehearse::joined(data, &earlier.rehearsal, earlier.mean_weight));
    let all = with_repeated.as_ref().unwrap_or(data);
    let rows = QuantizedRows::new(&all.rows, choices.trim);
    let choose_aside = || match valid {
        None => Aside::choose(data, &earlier.class_counts),
        // Held-out rows are as good.
        Some(_) => Aside::nobody(),
    };
    let (aside, paces) = rayon::join(choose_aside, || update::paces(&rows, choices.rare_power));
    let row_weights = aside.row_weights(data);
    let centroids = Centroids::new(data, &rows, &earlier.class_counts, choices.start)
        .with_row_weights(row_weights.as_deref());
    let plan = budget::plan(earlier, all, &rows, &centroids, &choices, session)?;
    let mut weights = Weights::starting(earlier, &centroids, data.classes.len(), plan.layout, session)?;
    drop(centroids);
    drop(row_weights);
    if choices.asks_for_start_scale(params) && earlier.rows == 0 {
        let length = choices.start.scale;
        let best = if let Some(valid) = valid {
            let rows = QuantizedRows::new(&valid.rows, choices.trim);
            let all: Vec<u32> = (0..valid.len() as u32).collect();
            start::best_length(&weights, &rows, &valid.labels, &all, length, session)?
        } else {
            let waiting = aside.rows(data.len(), true);
            start::best_length(&weights, &rows, &data.labels, &waiting, length, session)?
        };
        weights.lengthen(best / length);
        choices = choices.with_start_scale(best, params);
    }
    let emphasis = Emphasis::new(&data.labels, data.classes.len(), earlier, choices.class_balance);
    let search = RivalSearch::new(all, &rows, choices.rivals, choices.left_out, session)
        .with_emphasis(emphasis, data.len())
        .with_precision(choices.precision)
        .with_usual_weight(usual_weight(data, earlier));
    let mut learner = Learner::new(search, paces, session);
    let mut memory = plan.remember.then(|| RivalMemory::new(all.len(), choices.rivals));
    let mut order = aside.rows(all.len(), false);
    let mut random = session.random("softmax: order of rows");

    let batches_per_pass = order.len().div_ceil(choices.batch);
    let rounds = batches_per_pass * choices.passes;
    let mut best = finish::Best::new(valid, session);
    let mut keeper = Keeper::new(params, earlier, data, valid, session);
    let learned = Learned {
        weights: &mut weights,
        memory: &mut memory,
        best: &mut best,
    };
    let first = keeper.resume(learned, session)?;
    for pass in 0..choices.passes {
        // Also in passes that a checkpoint has behind it: each order follows from the one before.
        order.shuffle(&mut random);
        if pass < first.pass {
            continue;
        }
        let stage = format!("training, pass {} of {}", pass + 1, choices.passes);
        let done_before = if pass == first.pass { first.batch } else { 0 };
        // Rows of which nothing is remembered teach nothing more.
        let taught: Vec<u32> = match &memory {
            Some(memory) if pass > 0 => order
                .par_iter()
                .copied()
                .filter(|&row| memory.has(row as usize))
                .collect(),
            _ => order.clone(),
        };
        let batch_rows = choices.batch(pass);
        let batches = taught.len().div_ceil(batch_rows);
        let mut number = done_before;
        let rest = &taught[(done_before * batch_rows).min(taught.len())..];
        for together in rest.chunks(batch_rows * BATCH_ROWS.div_ceil(batch_rows)) {
            session.progress(&stage, (number * batch_rows) as u64, taught.len() as u64, "rows");
            for batch in together.chunks(batch_rows) {
                let done = (pass as f32 + number as f32 / batches as f32) / choices.passes as f32;
                let source = match &memory {
                    Some(memory) if pass > 0 => Source::Memory(memory),
                    Some(memory) => Source::Scan(Some(memory)),
                    None => Source::Scan(None),
                };
                let step = Step {
                    size: choices.step_size_at(done),
                    round: (pass * batches_per_pass + number) as u64,
                };
                learner.learn(&mut weights, batch, source, step, session)?;
                number += 1;
            }
            let learned = Learned {
                weights: &mut weights,
                memory: &mut memory,
                best: &mut best,
            };
            keeper.done(together.len(), Place { pass, batch: number }, learned)?;
        }
        session.progress(&stage, taught.len() as u64, taught.len() as u64, "rows");
        if best.judge(&weights, pass + 1, session)? {
            break;
        }
    }
    if choices.report_rivals {
        learner.report_recall(memory.as_ref(), &weights, &mut order, session)?;
    }
    best.restore(&mut weights);
    let mut scores = None;
    let mut waiting = aside.rows(data.len(), true);
    if !waiting.is_empty() {
        let before = finish::scorer(&weights, &choices);
        scores = Some(aside::scores(&aside, &*before, data, session)?);
        drop(before);
        waiting.shuffle(&mut random);
        for (number, batch) in waiting.chunks(choices.batch).enumerate() {
            let step = Step {
                size: aside::STEP_SHARE * choices.step_size,
                round: (rounds + number) as u64,
            };
            learner.learn(&mut weights, batch, Source::Scan(None), step, session)?;
        }
    }
    drop((learner, memory, order));
    let replay = Kept::of(params, request);
    Ok(Trained {
        scorer: finish::scorer(&weights, &choices),
        calibration_scores: scores,
        resolved: choices.named(replay.limit),
        replay: replay.rows,
    })
}

/// The rows that the model keeps for replay.
struct Kept {
    limit: usize,
    rows: Option<Replay>,
}

impl Kept {
    /// As many as asked for; unless told otherwise, a model goes on keeping as many as the one it continues.
    fn of(params: &SoftmaxParams, request: &TrainRequest<'_>) -> Self {
        let (data, base) = (&request.data, request.base_model.as_ref());
        let limit = params
            .keep_rows
            .unwrap_or_else(|| base.map_or(0, |base| base.replay_limit));
        let mut class_counts = data.labels.class_counts(data.classes.len());
        let mut sets = vec![data];
        if let Some(base) = base {
            sets.push(&base.replay);
            for (count, before) in class_counts.iter_mut().zip(base.class_counts) {
                *count = count.saturating_add(*before);
            }
        }
        Self {
            limit,
            rows: Replay::choose(&sets, &class_counts, limit),
        }
    }
}

/// The weight of a row that counts as one: the mean, so that weights say how rows compare and not how long steps are. Rows that come
/// later are compared with those before.
fn usual_weight<P>(data: &Dataset, earlier: &Earlier<P>) -> f32 {
    if earlier.rows > 0 {
        return earlier.mean_weight;
    }
    sum_of_weights(data).map_or(1.0, |sum| (sum / data.len() as f64) as f32)
}
