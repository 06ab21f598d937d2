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
pub(super) const PROGRAM: u64 = 13 << 20;

/// The part of the memory of postings that small ones take when they are put aside.
const HIDDEN_SHARE: u64 = 4;

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
    let at_start = around.until_quantized(rows);
    let fixed = PROGRAM + around.held + around.data + rows.bytes() + working;
    let memory = RivalCache::bytes(rows.rows_at_a_time(), auto.rivals) as u64;
    let cost = |plan: &Plan| {
        let weights = support.bytes::<P>(classes, plan.layout);
        let best = if around.keeps_best { weights } else { 0 };
        let training = best + if plan.cache_rivals { memory } else { 0 };
        // Small weights are put aside while rows are scored, a byte each.
        let scoring = best + around.scores() + support.places(classes, plan.layout);
        // Rows are gone when the model is made of the weights, each part of which is freed then.
        let larger = weights.max(support.total() * size_of::<P>() as u64);
        let made = PROGRAM + around.held + around.data + larger + larger / SLACK_SHARE as u64;
        at_start.max(fixed + weights + training.max(scoring)).max(made)
    };
    // A row is dense only where that is no larger than its postings.
    let compact = classes.div_ceil(size_of::<P>() / 2).max(1) as u32;
    let lean = Layout {
        dense_from: free.layout.dense_from.max(compact),
        ..free.layout
    };
    for plan in [
        free,
        Plan { layout: lean, ..free },
        Plan {
            layout: lean,
            cache_rivals: false,
        },
    ] {
        if cost(&plan) <= budget {
            return Ok(plan);
        }
    }
    let overhead = LearnedWeights::<P>::overhead(rows.width()) as u64;
    let room = budget.saturating_sub(fixed + overhead + around.scores());
    let room = if at_start > budget { 0 } else { room };
    let most = (room - room / (HIDDEN_SHARE + 1)) / size_of::<P>() as u64;
    let total = support.total();
    // Fewer than one weight per class would be no model at all.
    let least = support
        .least_for(most)
        .filter(|_| most >= classes as u64)
        .ok_or_else(|| {
            let smallest = (classes * size_of::<P>()) as u64;
            let needed = fixed + overhead + around.scores() + smallest + smallest / HIDDEN_SHARE;
            let needed = needed.max(at_start);
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
        layout: Layout { least, ..lean },
        cache_rivals: false,
    })
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
