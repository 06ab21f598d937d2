//! What training may take of memory, and what is given up to stay inside.

use super::auto_params::AutoParams;
use super::base_weights::BaseWeights;
use super::calibration_split::{AsideRows, ROWS_PER_BLOCK};
use super::centroids::Centroids;
use super::class_slice::ClassSlice;
use super::rival_cache::RivalCache;
use super::rows::QuantizedRows;
use super::weights::{Layout, LearnedWeights};
use crate::dataset::Dataset;
use crate::model::calibration::{HeldOutScores, SET_CANDIDATES};
use crate::sparse::SLACK_SHARE;
use crate::sparse::fixed_point::{Posting, padded};
use crate::train::TrainRequest;
use crate::{Error, Result, Session};

/// How training is laid out in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plan {
    pub(super) layout: Layout,
    /// Whether rivals are remembered for later passes (which otherwise scan again).
    pub(super) cache_rivals: bool,
}

/// What training holds beside its own rows and weights.
pub(super) struct Around {
    classes: usize,
    /// What the caller holds, and held-out rows.
    held: u64,
    /// What is looked at again while the file of the model is checked.
    in_file: u64,
    /// What the caller took at most before.
    before: u64,
    /// Labels, weights of rows, and the rows as they came.
    data: u64,
    /// The same before rows became whole numbers.
    at_start: u64,
    /// Rows that are scored for the calibration.
    scored: usize,
    /// Whether the weights of the best pass are remembered.
    keeps_best: bool,
}

impl Around {
    /// Around `data` and the rest of `request`.
    pub(super) fn of(data: &Dataset, request: &TrainRequest<'_>) -> Self {
        // As they came, for the caller's use and for training, and as whole numbers.
        let held_out = request.held_out.map_or(0, |rows| 3 * data_bytes(rows));
        Self {
            classes: data.classes.len(),
            held: request.held_bytes + held_out,
            in_file: request.file_bytes,
            before: request.bytes_before,
            data: data_bytes(data),
            at_start: data_bytes(data),
            scored: 0,
            keeps_best: request.held_out.is_some(),
        }
    }

    /// When `data` has been reduced to this, and rows were set aside.
    pub(super) fn after_start(&mut self, data: &Dataset, aside: &AsideRows) {
        self.data = data_bytes(data) + aside.bytes() as u64;
        self.scored = aside.len();
    }

    /// What is there at most until rows are whole numbers: those that are made, and what they are made of,
    /// which is freed at the same pace, together take little more than the larger of both.
    fn until_quantized(&self, rows: &QuantizedRows) -> u64 {
        let larger = self.at_start.max(rows.bytes());
        let both = larger + larger / SLACK_SHARE as u64 + 16 * rows.len() as u64;
        PROGRAM + self.before.max(self.held + both)
    }

    /// What scores for the calibration take: all that are kept, and a block as they are found.
    fn scores(&self) -> u64 {
        let kept = self.scored * HeldOutScores::BYTES_PER_ROW;
        (kept + self.scored.min(ROWS_PER_BLOCK) * (SET_CANDIDATES * 16 + 64)) as u64
    }
}

/// The program itself, its threads' stacks, and what the allocator keeps back.
pub(super) const PROGRAM: u64 = 14 << 20;

/// Where the weights of a feature begin in a model file.
const OFFSET_BYTES: u64 = 8;

/// The plan for `auto`; under a memory budget the best one that fits, with a note of what it costs.
pub(super) fn plan<P: Posting>(
    base: &BaseWeights<P>,
    around: &Around,
    rows: &QuantizedRows,
    centroids: &Centroids<'_>,
    auto: &AutoParams,
    slice: &ClassSlice<'_>,
    session: &Session<'_>,
) -> Result<Plan> {
    let classes = around.classes;
    let free = Plan {
        layout: Layout {
            least: auto.least_initial_weight,
            dense_from: AutoParams::dense_from(classes),
        },
        cache_rivals: auto.passes > 1 && !auto.rescan,
    };
    let Some(budget) = session.memory_budget() else {
        return Ok(free);
    };
    let mut support = Support::count(base, centroids, auto.least_initial_weight, session)?;
    // The plan is the one for all classes in one process: the same weights are learned.
    slice.combine(&mut support.by_feature, u32::saturating_add, session)?;
    slice.combine(&mut support.by_size, u64::saturating_add, session)?;
    let mut threads = [session.threads() as u64];
    slice.combine(&mut threads, u64::max, session)?;
    let working = working_bytes(classes, rows, auto, threads[0]);
    let stages = Stages {
        at_start: around.until_quantized(rows),
        learning: PROGRAM + around.held + around.data + rows.bytes() + working,
        window: rows.window_bytes(),
        scores: around.scores(),
        at_end: PROGRAM + around.held + around.data,
        in_file: around.in_file + OFFSET_BYTES * rows.width() as u64,
        keeps_best: around.keeps_best,
    };
    let memory = RivalCache::bytes(rows.rows_at_a_time(), auto.rivals) as u64;
    let fits = |plan: &Plan| {
        let cache = if plan.cache_rivals { memory } else { 0 };
        let weights = support.bytes::<P>(classes, plan.layout);
        let larger = weights.max(support.total() * size_of::<P>() as u64);
        stages.peak(weights, support.places(classes, plan.layout), cache, larger) <= budget
    };
    if fits(&free) {
        return Ok(free);
    }
    // A row is dense only where that is no larger than its postings.
    let compact = classes.div_ceil(size_of::<P>() / 2).max(1) as u32;
    for cache_rivals in [free.cache_rivals, false] {
        let with = |dense_from| Plan {
            layout: Layout {
                dense_from,
                ..free.layout
            },
            cache_rivals,
        };
        let lean = free.layout.dense_from.max(compact);
        if fits(&with(lean)) {
            // Dense rows are scanned faster, so there are as many as there is room for.
            return Ok(with(least_that(free.layout.dense_from, lean, |from| {
                fits(&with(from))
            })));
        }
    }
    let overhead = LearnedWeights::<P>::overhead(rows.width()) as u64;
    let most = stages.most_weights(budget, overhead, size_of::<P>() as u64);
    let total = support.total();
    // Fewer than one weight per class would be no model at all.
    let least = support
        .least_for(most)
        .filter(|_| most >= classes as u64)
        .ok_or_else(|| {
            let smallest = (classes * size_of::<P>()) as u64;
            let needed = stages.peak(overhead + smallest, classes as u64, 0, overhead + smallest);
            Error::Parameter(format!(
                "the memory budget of {} MB is too small: the data and the smallest model take {} MB",
                budget.div_ceil(1_000_000),
                needed.div_ceil(1_000_000)
            ))
        })?;
    let kept = support.at_least(least);
    session.note(format!(
        "to stay within the memory budget, {kept} of {total} weights are learned (those that start at {:.3} or more)",
        f32::from(least) / crate::sparse::fixed_point::WEIGHT_UNITS
    ));
    Ok(Plan {
        layout: Layout {
            least,
            dense_from: free.layout.dense_from.max(compact),
        },
        cache_rivals: false,
    })
}

/// What is held beside the weights, stage by stage.
struct Stages {
    /// Until rows are whole numbers. Weights are not there yet.
    at_start: u64,
    /// While weights are learned, and while rows are scored for the calibration.
    learning: u64,
    /// Of this, rows that are read from disk for a while, and are not there any more when rows are scored.
    window: u64,
    /// What scores take.
    scores: u64,
    /// While the model is made of the weights. Rows are gone then.
    at_end: u64,
    /// What is added to that while the written file is checked; the weights in it are not looked at.
    in_file: u64,
    /// Whether the weights of the best pass are there, too.
    keeps_best: bool,
}

impl Stages {
    /// The most that is held at a time, with weights of so many bytes, which are so many numbers, and with
    /// this for remembered rivals. The model takes `model` bytes.
    fn peak(&self, weights: u64, numbers: u64, rivals: u64, model: u64) -> u64 {
        let best = if self.keeps_best { weights } else { 0 };
        // Small weights are put aside while rows are scored, a byte each.
        let scoring = (self.scores + numbers).saturating_sub(self.window);
        let training = self.learning + weights + best + rivals.max(scoring);
        // The weights are freed at the pace at which the model is made of them.
        let made = self.at_end + model + self.in_file.max(model / SLACK_SHARE as u64);
        self.at_start.max(training).max(made)
    }

    /// How many weights of `size` bytes fit into `budget`, without remembered rivals.
    fn most_weights(&self, budget: u64, overhead: u64, size: u64) -> u64 {
        if self.at_start > budget {
            return 0;
        }
        let copies = 1 + u64::from(self.keeps_best);
        let room = budget.saturating_sub(self.learning + copies * overhead);
        let learned = room / (copies * size);
        let scored = (room + self.window).saturating_sub(self.scores) / (copies * size + 1);
        let slack = SLACK_SHARE as u64;
        let for_model = budget.saturating_sub(self.at_end + overhead);
        let made = for_model / (slack + 1) * slack / size;
        let checked = for_model.saturating_sub(self.in_file) / size;
        learned.min(scored).min(made).min(checked)
    }
}

/// The least number from `first` to `last` that `is_enough`, of which `last` is and all beyond the first
/// that is are.
fn least_that(first: u32, last: u32, is_enough: impl Fn(u32) -> bool) -> u32 {
    let (mut below, mut enough) = (first, last);
    while below < enough {
        let middle = below.midpoint(enough);
        if is_enough(middle) {
            enough = middle;
        } else {
            below = middle + 1;
        }
    }
    enough
}

/// What the caller's data takes.
fn data_bytes(data: &Dataset) -> u64 {
    let rows = data.rows.entries() * 8 + data.rows.offsets().len() * 8;
    let labels = data.labels.total() * 4 + data.labels.len() * 8;
    (rows + labels + data.weights.as_ref().map_or(0, |weights| weights.len() * 4)) as u64
}

/// Sums of a search and of an update for each thread, tokens and gradients of a batch, orders of rows, what
/// an update knows of each feature.
fn working_bytes(classes: usize, rows: &QuantizedRows, auto: &AutoParams, threads: u64) -> u64 {
    let batch = auto.batch.max(auto.later_batch).min(rows.len().max(1));
    let tokens = batch * (rows.entries() / rows.len().max(1) + 1) * 10;
    let gradients = batch * (auto.rivals + 2) * 16;
    let of_thread = (padded(classes) * 12) as u64;
    threads * of_thread + (tokens + gradients + rows.len() * 12 + rows.width() * 12) as u64
}

/// How many pairs of feature and class there are, by feature and by size of their first weight.
struct Support {
    by_feature: Vec<u32>,
    by_size: Vec<u64>,
}

impl Support {
    fn count<P: Posting>(
        base: &BaseWeights<P>,
        centroids: &Centroids<'_>,
        least: i16,
        session: &Session<'_>,
    ) -> Result<Self> {
        let mut support = Self {
            by_feature: vec![0; centroids.width()],
            by_size: vec![0; i16::MAX as usize + 1],
        };
        let mut add = |feature: usize, weight: i16| {
            support.by_feature[feature] += 1;
            support.by_size[weight.unsigned_abs().min(i16::MAX as u16) as usize] += 1;
        };
        for feature in 0..centroids.width() {
            for _ in base.feature(feature) {
                // What was learned is never given up, so it counts among the largest.
                add(feature, i16::MAX);
            }
        }
        centroids.for_each(least, session, |class, centroid| {
            for &(feature, weight) in centroid {
                if base.find(feature, class).is_none() {
                    add(feature as usize, weight);
                }
            }
        })?;
        Ok(support)
    }

    /// Bytes of the weights under `layout`, which keeps every pair that was counted.
    fn bytes<P: Posting>(&self, classes: usize, layout: Layout) -> u64 {
        let row = |&count: &u32| {
            if count >= layout.dense_from {
                padded(classes) * 2
            } else {
                count as usize * size_of::<P>()
            }
        };
        (LearnedWeights::<P>::overhead(self.by_feature.len())
            + self.by_feature.iter().map(row).sum::<usize>()) as u64
    }

    /// How many numbers are stored under `layout`: those of the pairs, and the zeroes of dense rows.
    fn places(&self, classes: usize, layout: Layout) -> u64 {
        let row = |&count: &u32| {
            if count >= layout.dense_from {
                padded(classes)
            } else {
                count as usize
            }
        };
        self.by_feature.iter().map(row).sum::<usize>() as u64
    }

    fn total(&self) -> u64 {
        self.by_size.iter().sum()
    }

    fn at_least(&self, least: i16) -> u64 {
        self.by_size[least as usize..].iter().sum()
    }

    /// The smallest size from which on there are at most `most` pairs.
    fn least_for(&self, most: u64) -> Option<i16> {
        let mut count = 0;
        let mut least = None;
        for (size, pairs) in self.by_size.iter().enumerate().skip(1).rev() {
            count += pairs;
            if count > most {
                break;
            }
            least = Some(size as i16);
        }
        least
    }
}
