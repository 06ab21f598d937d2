//! `softmax`, the default algorithm: a softmax over each row's labels and their strongest rivals.
//!
//! The loss of a row with labels Y is
//! `|Y|^(-1/2) Σ_{y in Y} -ln( e^{s_y} / (e^{s_y} + Σ_{r in R} e^{s_r}) )`, where `s_c = <w_c, x>` is the
//! score of class c and R are the row's rivals, the strongest classes outside Y (the paper's inexact oracle
//! finds one of them; `gradient.rs` has the details). The weights `w_c` are 16-bit fixed-point numbers and
//! start at the class centroids.
//!
//! Rows are taken in batches. All rows of a batch are scored against the same weights, in parallel. Then the
//! weights move, each feature's by one thread and in the order of the rows. The first pass finds each row's
//! rivals by a scan over all classes. Later passes scan again, or score the cached rivals of the first pass,
//! which costs a fraction of a scan.

mod auto_params;
mod base_weights;
mod budget;
mod calibration_split;
mod candidate_scores;
mod centroids;
mod class_reweighting;
mod class_slice;
mod disk_rows;
mod finish;
mod gradient;
mod learner;
mod params;
mod recall;
mod replay;
mod resume;
mod rival_cache;
mod rivals;
mod rows;
mod shard_rivals;
mod shard_weights;
mod sharpness;
#[cfg(test)]
mod tests;
mod update;
mod weights;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::model::Replay;
use crate::prepare::DiskRows;
use crate::sparse::Rows;
use crate::sparse::fixed_point::{Narrow, Posting, Wide};
use crate::text::RowNeeds;
use crate::train::{BaseModel, Support, TrainRequest, Trained, Trainer};
use crate::{Error, Result, Session};

use auto_params::{AutoParams, ENTROPY_WEIGHTING, EffectiveLength, LENGTH_POWER, Shape};
use base_weights::BaseWeights;
use budget::Around;
use calibration_split::{AsideRows, CalibrationRows};
use centroids::Centroids;
use class_reweighting::ClassReweighting;
use class_slice::ClassSlice;
use disk_rows::DiskStore;
use finish::Stored;
use learner::Learner;
pub use params::{Effort, Rescan, Search, SoftmaxParams};
use resume::{Keeper, Learned, Progress};
use rival_cache::RivalCache;
use rivals::{RivalSearch, RivalSource};
use rows::{QuantizedRows, RowsHandle};
use update::Step;
use weights::LearnedWeights;

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
        // All of it among the session's own threads: where one hands over to another, both may wait for the
        // same processor.
        session.run(|| {
            if request.data.classes.len() <= Narrow::CLASSES {
                train::<Narrow>(&self.params, request, session)
            } else {
                train::<Wide>(&self.params, request, session)
            }
        })
    }

    fn support(&self) -> Support {
        Support {
            checkpoints: true,
            continuing: true,
            // What is kept for later, or told of rivals, is looked up row by row.
            rows_on_disk: self.params.keep_rows.unwrap_or(0) == 0 && !self.params.report_rivals,
            shards: true,
            upper_levels: true,
            // Rows that are kept are whole ones, and views take about twice the time.
            views: self.params.keep_rows.unwrap_or(0) == 0 && self.params.effort != Effort::Low,
        }
    }

    fn row_needs(&self) -> RowNeeds {
        RowNeeds {
            length_power: self.params.length_power.unwrap_or(LENGTH_POWER) as f32,
            entropy_weighting: self.params.entropy_weighting.unwrap_or(ENTROPY_WEIGHTING) as f32,
            ..RowNeeds::default()
        }
    }
}

fn train<P: Posting + Stored>(
    params: &SoftmaxParams,
    mut request: TrainRequest<'_>,
    session: &Session<'_>,
) -> Result<Trained> {
    let (mut data, held_out) = (std::mem::take(&mut request.data), request.held_out);
    if data.labels.total() == 0 {
        return Err(Error::Unlearnable(
            "no row has a label, so there is nothing to learn".to_owned(),
        ));
    }
    if params.report_rivals && request.shard.is_some() {
        return Err(Error::Parameter(
            "`report-rivals` compares with a scan over all classes, of which each shard has a part"
                .to_owned(),
        ));
    }
    let slice = &ClassSlice::of(request.shard, &data.labels.class_counts(data.classes.len()))?;
    let base = &match &request.base_model {
        Some(base) => BaseWeights::<P>::new(base, data.len(), slice, session)?,
        None => BaseWeights::none(),
    };
    let shape = match request.on_disk {
        None => Shape::of(&data, base.rows),
        Some(on_disk) => shape_on_disk(on_disk, &data, session)?,
    };
    let mut auto = AutoParams::new(params, &shape);
    let mut with_replay = (!base.replay.is_empty()).then(|| replay::joined(&data, &base.replay));
    let choose_split = || match (held_out, request.on_disk) {
        (None, None) => CalibrationRows::choose(&data, request.split_hashes, &base.class_counts),
        (None, Some(on_disk)) => {
            let taken = || on_disk.disk.take_hashes();
            let hashes = || request.split_hashes.map_or_else(taken, <[u64]>::to_vec);
            CalibrationRows::choose_by(hashes, &data, &[])
        }
        // Held-out rows are as good.
        (Some(_), _) => CalibrationRows::empty(),
    };
    let split = choose_split();
    let fingerprint = match (session.checkpoints(), request.on_disk) {
        (None, _) => 0,
        (Some(_), None) => data.fingerprint(),
        (Some(_), Some(on_disk)) => data.fingerprint() ^ on_disk.disk.set.fingerprint(),
    };
    let replay = Kept::of(params, &data, request.base_model.as_ref());
    let aside = AsideRows::of(&split, &data.rows);
    let mut around = Around::of(with_replay.as_ref().unwrap_or(&data), &request);
    // From now on rows are whole numbers: what they were made of would be more than half of the memory.
    let own = std::mem::take(&mut data.rows);
    let given = with_replay
        .as_mut()
        .map_or(own, |joined| std::mem::take(&mut joined.rows));
    let (rows, store, learning_rates);
    if let Some(on_disk) = request.on_disk {
        let made = DiskStore::new(on_disk, &split, auto.trim, session)?;
        rows = made.aside(auto.trim, auto.batch.max(auto.later_batch));
        let (counts, entries) = made.feature_counts();
        learning_rates = update::rates(counts, entries, auto.rare_power);
        store = Some(made);
    } else {
        rows = QuantizedRows::taking(given, auto.trim);
        learning_rates = update::learning_rates(&rows, auto.rare_power);
        store = None;
    }
    let (data, all) = (&data, with_replay.as_ref().unwrap_or(&data));
    around.after_start(all, &aside);
    let row_weights = split.row_weights(data);
    let by_class = match &store {
        Some(store) => Some(store.by_class(data, session)?),
        None => None,
    };
    let centroids = match &by_class {
        Some(by_class) => Centroids::on_disk(data, by_class, auto.initial_scale),
        None => Centroids::new(data, &rows, &base.class_counts, auto.initial_scale),
    }
    .with_row_weights(row_weights.as_deref())
    .with_slice(slice);
    let plan = budget::plan(base, &around, &rows, &centroids, &auto, slice, session)?;
    let mut weights = LearnedWeights::starting(base, &centroids, slice, plan.layout, session)?;
    drop(centroids);
    drop((row_weights, by_class));
    if base.rows == 0 {
        let length = auto.initial_scale.length;
        let sharpness = if let Some(held_out) = held_out {
            let rows = QuantizedRows::new(&held_out.rows, auto.trim);
            let all: Vec<u32> = (0..held_out.len() as u32).collect();
            sharpness::measure(&weights, length, &rows, &held_out.labels, &all, slice, session)?
        } else {
            let waiting = split.rows(data.len(), true);
            sharpness::measure(&weights, length, &rows, &data.labels, &waiting, slice, session)?
        };
        if let Some(sharpness) = sharpness {
            auto = auto.with_sharpness(sharpness, params);
            weights.lengthen(auto.initial_scale.length / length);
        }
    }
    let reweighting = ClassReweighting::new(&data.labels, data.classes.len(), base, auto.class_balance);
    let search = RivalSearch::new(all, &rows, auto.rivals, auto.tail, session)
        .with_reweighting(reweighting, data.len())
        .with_precision(auto.precision)
        .with_slice(slice);
    let mut learner = Learner::new(search, learning_rates, session);
    let in_memory = plan.cache_rivals && store.is_none();
    let mut cache = in_memory.then(|| RivalCache::new(all.len(), auto.rivals));
    let mut disk_cache = match &store {
        Some(_) if plan.cache_rivals && session.checkpoints().is_some() => {
            session.note("rows are on disk, so with checkpoints every pass searches for rivals anew");
            None
        }
        Some(store) if plan.cache_rivals => Some(store.cache(auto.rivals)?),
        _ => None,
    };
    let mut order = split.rows(all.len(), false);
    let mut random = session.random("softmax: order of rows");

    let batches_per_pass = order.len().div_ceil(auto.batch);
    let rounds = batches_per_pass * auto.passes;
    let mut best = finish::Best::new(held_out, session);
    let mut keeper = Keeper::new(params, base, fingerprint, held_out, slice, session);
    let learned = Learned {
        weights: &mut weights,
        cache: &mut cache,
        best: &mut best,
    };
    let first = keeper.resume(learned, slice, session)?;
    for pass in 0..auto.passes {
        // Also in passes that a checkpoint has behind it: each order follows from the one before.
        order.shuffle(&mut random);
        if pass < first.pass {
            continue;
        }
        let stage = format!("training, pass {} of {}", pass + 1, auto.passes);
        let done_before = if pass == first.pass { first.batch } else { 0 };
        // Rows without rivals teach nothing.
        let is_taught = |&row: &u32| match (&disk_cache, &cache) {
            _ if pass == 0 => true,
            (Some(cache), _) => cache.has(row as usize),
            (None, Some(cache)) => cache.has(row as usize),
            (None, None) => true,
        };
        let taught: Vec<u32> = order.par_iter().copied().filter(is_taught).collect();
        let batch_rows = auto.batch(pass);
        let batches = taught.len().div_ceil(batch_rows);
        let mut number = done_before;
        let rest = &taught[(done_before * batch_rows).min(taught.len())..];
        let at_once = store.as_ref().map_or(BATCH_ROWS, DiskStore::rows_at_once);
        let together_rows = at_once.next_multiple_of(batch_rows);
        let mut windows = match &store {
            Some(store) => Some(store.shuffled(rest, together_rows, disk_cache.as_ref(), session)?),
            None => None,
        };
        for together in rest.chunks(together_rows) {
            if let Some(windows) = &mut windows
                && let Some(mut window) = windows.take(together.len())?
            {
                if let Some(disk_cache) = &mut disk_cache {
                    cache.iter().try_for_each(|before| disk_cache.keep(before))?;
                    cache = Some(disk_cache.window(&mut window));
                }
                learner.set_window(RowsHandle::Window(window.rows));
            }
            session.progress(&stage, (number * batch_rows) as u64, taught.len() as u64, "rows");
            for batch in together.chunks(batch_rows) {
                let done = (pass as f32 + number as f32 / batches as f32) / auto.passes as f32;
                let source = match &cache {
                    Some(cache) if pass > 0 => RivalSource::Cache(cache),
                    Some(cache) => RivalSource::Scan(Some(cache)),
                    None => RivalSource::Scan(None),
                };
                let step = Step {
                    size: auto.step_size_at(done),
                    round: (pass * batches_per_pass + number) as u64,
                };
                learner.learn(&mut weights, batch, source, step, session)?;
                number += 1;
            }
            let learned = Learned {
                weights: &mut weights,
                cache: &mut cache,
                best: &mut best,
            };
            keeper.done(together.len(), Progress { pass, batch: number }, learned)?;
        }
        if let Some(disk_cache) = &mut disk_cache {
            cache.iter().try_for_each(|before| disk_cache.keep(before))?;
            disk_cache.finish()?;
            cache = None;
        }
        session.progress(&stage, taught.len() as u64, taught.len() as u64, "rows");
        if best.judge(&weights, pass + 1, slice, session)? {
            break;
        }
    }
    if auto.report_rivals {
        learner.report_recall(cache.as_ref(), &weights, &mut order, session)?;
    }
    best.restore(&mut weights);
    let (mut scores, mut scored_rows) = (None, Vec::new());
    let mut waiting = split.rows(data.len(), true);
    drop(cache);
    if !waiting.is_empty() {
        // No window of rows is needed any more.
        learner.set_window(RowsHandle::All(&rows));
        let hidden = weights.hide(finish::least_weight(&auto));
        let row_of = |row: usize| match &store {
            Some(store) => store.aside_row(row),
            None => aside.row(row),
        };
        let weights_before = (&weights, auto.answer_trim);
        let of_split = calibration_split::scores(&split, weights_before, data, row_of, slice, session)?;
        scores = Some(of_split.0);
        scored_rows = of_split.1;
        weights.unhide(hidden);
        waiting.shuffle(&mut random);
        for (number, batch) in waiting.chunks(auto.batch).enumerate() {
            let step = Step {
                size: calibration_split::STEP_SHARE * auto.step_size,
                round: (rounds + number) as u64,
            };
            learner.learn(&mut weights, batch, RivalSource::Scan(None), step, session)?;
        }
    }
    drop((learner, order));
    drop(rows);
    Ok(Trained {
        scorer: finish::scorer(weights, &auto, slice, session)?,
        calibration_scores: scores,
        calibration_rows: scored_rows,
        resolved: auto.named(replay.limit),
        replay: replay.rows,
    })
}

/// The shape of data whose rows are on disk.
fn shape_on_disk(rows: DiskRows<'_>, data: &Dataset, session: &Session<'_>) -> Result<Shape> {
    let mut length = EffectiveLength::default();
    let add = |rows: &Rows, ()| {
        rows.iter().for_each(|row| length.add(row));
        Ok(())
    };
    rows.for_each(|_| (), add, session)?;
    Ok(Shape::with_length(length, data, 0))
}

/// The rows that the model keeps for replay.
struct Kept {
    limit: usize,
    rows: Option<Replay>,
}

impl Kept {
    /// As many as asked for; unless told otherwise, a model goes on keeping as many as the one it continues.
    fn of(params: &SoftmaxParams, data: &Dataset, base: Option<&BaseModel<'_>>) -> Self {
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
