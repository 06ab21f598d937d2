//! Automatic choices: what the user did not set, from the shape of the data.

use super::centroids::Start;
use super::gradient::LeftOut;
use super::params::{Rescan, Search, SoftmaxParams};
use super::rivals::Precision;
use crate::dataset::Dataset;
use crate::params::{ParameterType, Value};
use crate::sparse::fixed::{Narrow, Posting, WEIGHT_UNITS, quantize_weight};

/// Rows with more features than this are long: one pass with few rivals teaches them enough.
const LONG: f32 = 40.0;

/// Rows with fewer features than this are short: many classes come near the strongest.
const SHORT: f32 = 12.0;

/// With fewer rows per class than this, each row says much that no other one says.
const FEW_ROWS: f32 = 10.0;

/// With more rows per class than this, further passes still teach something new, and small classes can be favoured.
const MANY_ROWS: f32 = 30.0;

/// Up to so many classes, looking for rivals anew takes hardly longer than scoring remembered ones.
const FEW_CLASSES: usize = 4096;

/// Data with more labels a row than this has several labels.
const SEVERAL: f32 = 1.1;

/// How many times as large batches are after the first pass.
const LATER_BATCH: usize = 4;

/// What the choices depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Of now and of earlier.
    pub(super) rows: usize,
    /// Whether there were earlier ones.
    pub(super) continued: bool,
    pub(super) classes: usize,
    /// Mean number of features of a row.
    pub(super) row_length: f32,
    /// Mean number of labels of a row.
    pub(super) labels: f32,
}

impl Shape {
    /// The shape of `data`; `rows_before` rows were learned from earlier.
    pub(super) fn of(data: &Dataset, rows_before: u64) -> Self {
        let rows = data.len().max(1);
        Self {
            rows: data.len() + rows_before as usize,
            continued: rows_before > 0,
            classes: data.classes.len(),
            row_length: data.rows.entries() as f32 / rows as f32,
            labels: data.labels.total() as f32 / rows as f32,
        }
    }
}

/// Every number that training needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choices {
    /// Whether rows are short and have one label each.
    plain_rows: bool,
    pub(super) passes: usize,
    /// Whether later passes look for rivals anew.
    pub(super) rescan: bool,
    pub(super) rivals: usize,
    pub(super) precision: Precision,
    pub(super) step_size: f32,
    pub(super) last_step_size: f32,
    pub(super) start: Start,
    /// Pairs whose first weight is smaller, in fixed-point units, get no weight.
    pub(super) least_start: i16,
    pub(super) batch: usize,
    /// The same for passes after the first.
    pub(super) later_batch: usize,
    pub(super) class_balance: f32,
    pub(super) trim: f32,
    /// The share left out of the rows that the finished model answers.
    pub(super) answer_trim: f32,
    pub(super) left_out: LeftOut,
    /// Features move by this power of how rare they are.
    pub(super) rare_power: f32,
    pub(super) least_weight: f32,
    /// Whether the memory of rivals is compared with a scan at the end.
    pub(super) report_rivals: bool,
}

impl Choices {
    pub(super) fn new(params: &SoftmaxParams, shape: &Shape) -> Self {
        let number = |given: Option<f64>, automatic| given.map_or(automatic, |given| given as f32);
        let long = shape.row_length > LONG;
        let several = shape.labels > SEVERAL;
        let rows_per_class = shape.rows as f32 / shape.classes as f32;
        // Scanning so few classes again costs little, and many rows still teach something new by it.
        let thorough =
            !long && !shape.continued && rows_per_class > MANY_ROWS && shape.classes <= FEW_CLASSES;
        let passes = match rows_per_class {
            _ if long => 1,
            _ if thorough => 4,
            many if many > MANY_ROWS => 3,
            _ => 2,
        };
        let trim = match (long, several) {
            (false, _) => 0.0,
            (true, false) => 0.05,
            (true, true) => 0.1,
        };
        // The fewer rows a centroid is made of, the less it is worth, if rows do not tell better: see `start`.
        let shortest = if long && !several { 6.0 } else { 4.0 };
        let start_scale = number(params.start_scale, (0.6 * rows_per_class).clamp(shortest, 8.0));
        // What few rows say by chance moves weights that many rows made before: the more of them are heard together, the less.
        let rows_together = if shape.continued { 20.0 } else { 10.0 };
        let rivals = match (long, shape.continued) {
            (true, _) => 7,
            // Labels that are among the rivals when weights are still few leave room for others later.
            (false, false) if several => 32,
            (false, false) => 14,
            // Weights of old classes are to stay: each is told what it did wrong, and none only that the label should rise.
            (false, true) => 45,
        };
        let rivals = params.rivals.unwrap_or(rivals).min(shape.classes.max(2) - 1);
        let step_size = number(params.step_size, Self::first_step(start_scale, long, several));
        let rows_at_once = (rows_together * (shape.classes as f32).sqrt()) as usize;
        let batch = params.batch.unwrap_or(rows_at_once).max(1);
        Self {
            plain_rows: !long && !several,
            passes: params.passes.unwrap_or(passes),
            // Going on takes little time anyway, and what remembering costs with several labels would add up.
            rescan: params
                .rescan
                .map_or(thorough || several && shape.continued, |rescan| {
                    rescan == Rescan::Yes
                }),
            rivals,
            precision: match params.search {
                Search::Exact => Precision::Exact,
                Search::Rough => Precision::Rough,
            },
            step_size,
            last_step_size: number(
                params.last_step_size,
                match shape.continued {
                    true => 0.6,
                    false if long => 0.5,
                    false => 0.3,
                },
            ),
            start: Start {
                scale: start_scale,
                size_power: number(params.size_power, if several || long { 0.1 } else { 0.0 }),
            },
            // Of the many small weights that long rows give to each of their labels, few will ever matter.
            least_start: quantize_weight(number(
                params.least_start,
                if long && several { 0.04 } else { 0.0 },
            ))
            .max(1),
            batch,
            // Steps are short by then, and what happens once for each feature of a batch, or for each batch, happens less often.
            later_batch: params.batch.unwrap_or(if shape.continued {
                batch
            } else {
                batch * LATER_BATCH
            }),
            // Where every class is told enough, small ones gain more by this than large ones lose.
            class_balance: number(
                params.class_balance,
                match rows_per_class {
                    many if many > MANY_ROWS => 0.15,
                    _ if long && !shape.continued => 0.15,
                    _ => 0.0,
                },
            ),
            trim: number(params.trim, trim),
            // With several labels the small values of long rows decide little: left out, answers take half the time.
            answer_trim: number(params.answer_trim, if several { trim } else { 0.0 }),
            left_out: LeftOut {
                least: params.least_slope as f32,
                tail: number(
                    params.tail,
                    if shape.continued {
                        0.0
                    } else {
                        Self::tail(shape, rivals, several)
                    },
                ),
                settled: number(
                    params.settled,
                    match rows_per_class {
                        // Rows that come later have to hold what they say against all that was said before.
                        _ if shape.continued => 1.0,
                        few if several || few < FEW_ROWS => 0.8,
                        _ => 0.95,
                    },
                ),
                // Few rows that cannot be right only disturb; many show what the usual mistakes are.
                hopeless: number(
                    params.hopeless,
                    match rows_per_class {
                        many if many > MANY_ROWS => 0.0,
                        _ if shape.continued => 0.01,
                        few if several || few < FEW_ROWS => 0.02,
                        _ => 0.01,
                    },
                ),
            },
            // What is rare in these rows may have been frequent in earlier ones.
            rare_power: number(
                params.rare_power,
                match shape.continued {
                    true => 0.0,
                    false if long => 0.12,
                    false => 0.07,
                },
            ),
            least_weight: number(params.least_weight, 0.1),
            report_rivals: params.report_rivals,
        }
    }

    /// The shorter the start, the longer the steps. Long rows say more each, and one pass must do.
    fn first_step(start_scale: f32, long: bool, several: bool) -> f32 {
        if several {
            return 2.0;
        }
        let reach = if long { 20.0 } else { 16.0 };
        (reach / start_scale).clamp(2.5, 4.0)
    }

    /// The more classes, the more stand behind the rivals; with several labels some of these are labels. The longer the rows, the
    /// fewer come near the strongest.
    fn tail(shape: &Shape, rivals: usize, several: bool) -> f32 {
        let others = shape.classes.saturating_sub(rivals + 1) as f32;
        let share = if several { 0.35 } else { 0.7 };
        let near = match shape.row_length {
            length if length > LONG => 0.0,
            length => (SHORT / length).powi(2).min(1.0),
        };
        (share * near * (shape.classes as f32).cbrt()).min(others)
    }

    /// Whether rows are to say how long the start should be. What suits the centroids of long rows is too long for the one pass
    /// behind them, and several labels share what a row says: these start shorter.
    pub(super) fn asks_for_start_scale(&self, params: &SoftmaxParams) -> bool {
        params.start_scale.is_none() && self.plain_rows
    }

    /// The same with this start, which rows asked for, and steps that suit it.
    pub(super) fn with_start_scale(mut self, scale: f32, params: &SoftmaxParams) -> Self {
        self.start.scale = scale;
        if params.step_size.is_none() {
            self.step_size = Self::first_step(scale, false, false);
        }
        self
    }

    /// The choices under the names of their parameters.
    pub(super) fn named(&self, keep_rows: usize) -> Vec<(&'static str, Value)> {
        let integer = |value: usize| Value::Integer(value as u64);
        // By way of text, or 0.1 would become 0.10000000149.
        let number = |value: f32| Value::Number(value.to_string().parse().unwrap_or(f64::from(value)));
        let rescan = if self.rescan { Rescan::Yes } else { Rescan::No };
        vec![
            ("passes", integer(self.passes)),
            ("rescan", rescan.to_value()),
            ("rivals", integer(self.rivals)),
            ("step-size", number(self.step_size)),
            ("last-step-size", number(self.last_step_size)),
            ("start-scale", number(self.start.scale)),
            ("size-power", number(self.start.size_power)),
            ("least-start", number(f32::from(self.least_start) / WEIGHT_UNITS)),
            ("batch", integer(self.batch)),
            ("class-balance", number(self.class_balance)),
            ("trim", number(self.trim)),
            ("answer-trim", number(self.answer_trim)),
            ("tail", number(self.left_out.tail)),
            ("hopeless", number(self.left_out.hopeless)),
            ("settled", number(self.left_out.settled)),
            ("rare-power", number(self.rare_power)),
            ("least-weight", number(self.least_weight)),
            ("keep-rows", integer(keep_rows)),
        ]
    }

    /// From this many classes on, a feature's weights are a dense row: about where adding it takes as long as adding
    /// postings, which take longer where classes need more than 16 bits.
    pub(super) fn dense_from(classes: usize) -> u32 {
        let share = if classes > Narrow::CLASSES { 0.04 } else { 0.06 };
        ((classes as f32 * share) as u32).max(64)
    }

    /// Rows that are scored against the same weights in this pass.
    pub(super) fn batch(&self, pass: usize) -> usize {
        if pass > 0 { self.later_batch } else { self.batch }
    }

    /// The step size when this share of the way is done.
    pub(super) fn step_size_at(&self, done: f32) -> f32 {
        self.step_size + (self.last_step_size - self.step_size) * done
    }
}
