//! Auto parameters: what the user did not set, from the shape of the data.
//!
//! Four numbers describe the data: rows per class, effective row length, labels per row, and *sharpness*,
//! which held-out rows measure ([`super::sharpness`]). Every rule is a smooth function of them, so that two
//! data sets that hardly differ are learned from alike. The rules and what each is worth stand in
//! `docs/design/softmax.md`.

use super::centroids::InitialScale;
use super::params::{Effort, Rescan, Search, SoftmaxParams};
use super::rivals::Precision;
use crate::dataset::Dataset;
use crate::maths;
use crate::params::{ParameterType, Value};
use crate::sparse::RowView;
use crate::sparse::fixed_point::{Narrow, Posting, WEIGHT_UNITS, quantize_weight};

/// Effective row length of a short text; the rules for longer rows are relative to it.
const SHORT_ROW: f32 = 6.0;

/// Up to this many classes a scan takes hardly longer than scoring cached rivals.
const FEW_CLASSES: usize = 4096;

/// With this many labels per class, half as much of a long row is left out as with one.
const MANY_LABELS_PER_CLASS: f32 = 60.0;

/// Sharpness of data without held-out rows to measure it on.
const USUAL_SHARPNESS: f32 = 7.0;

/// How many times as large batches are after the first pass.
const LATER_BATCH: usize = 4;

/// What auto parameters depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Of the data and of the base model.
    pub(super) rows: usize,
    /// Whether there is a base model.
    pub(super) continued: bool,
    pub(super) classes: usize,
    /// Mean effective number of features of a row.
    pub(super) row_length: f32,
    /// Mean number of labels of a row.
    pub(super) labels: f32,
}

impl Shape {
    /// The shape of `data`; `base_rows` rows were learned from by the base model.
    pub(super) fn of(data: &Dataset, base_rows: u64) -> Self {
        let mut length = EffectiveLength::default();
        data.rows.iter().for_each(|row| length.add(row));
        Self::with_length(length, data, base_rows)
    }

    /// As above, with the length of the rows.
    pub(super) fn with_length(length: EffectiveLength, data: &Dataset, base_rows: u64) -> Self {
        let rows = data.len().max(1);
        Self {
            rows: data.len() + base_rows as usize,
            continued: base_rows > 0,
            classes: data.classes.len().max(1),
            row_length: length.mean(data.len()),
            labels: (data.labels.total() as f32 / rows as f32).max(1.0),
        }
    }

    fn rows_per_class(&self) -> f32 {
        (self.rows as f32 / self.classes as f32).max(1.0)
    }

    /// From 1 where classes have few rows each to 0 where they have very many. What is noise in a few rows
    /// is evidence in hundreds: frequent words then tell which classes are frequent, and nothing else does,
    /// because there is no intercept.
    fn small_classes(&self) -> f32 {
        1.0 / (1.0 + maths::square(self.rows_per_class() * self.labels / MANY_LABELS_PER_CLASS))
    }

    /// From 0 for short rows to 1 for very long ones.
    fn longest(&self) -> f32 {
        (1.0 - SHORT_ROW / self.row_length).max(0.0)
    }
}

/// The mean participation ratio of the rows, (Σv²)² / Σv⁴: the number of features that hold a row's length.
/// A few large values among many small ones make a short row.
#[derive(Debug, Default)]
pub(super) struct EffectiveLength {
    sum: f64,
}

impl EffectiveLength {
    pub(super) fn add(&mut self, row: RowView<'_>) {
        let (mut squares, mut fourth_powers) = (0f64, 0f64);
        for &value in row.values {
            let square = f64::from(value) * f64::from(value);
            squares += square;
            fourth_powers += square * square;
        }
        if fourth_powers > 0.0 {
            self.sum += squares * squares / fourth_powers;
        }
    }

    fn mean(self, rows: usize) -> f32 {
        (self.sum / rows.max(1) as f64).max(1.0) as f32
    }
}

/// Rows of many words count for more than short ones, but not in proportion to their length.
pub(super) const LENGTH_POWER: f64 = 0.6;

/// A feature that is spread evenly over all classes keeps half of its weight.
pub(super) const ENTROPY_WEIGHTING: f64 = 0.5;

/// Every number that training needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct AutoParams {
    shape: Shape,
    pub(super) passes: usize,
    /// Whether later passes scan for rivals again.
    pub(super) rescan: bool,
    pub(super) rivals: usize,
    /// Mass of all classes that are no rivals, in masses of the weakest rival.
    pub(super) tail: f32,
    pub(super) precision: Precision,
    pub(super) step_size: f32,
    pub(super) last_step_size: f32,
    pub(super) initial_scale: InitialScale,
    /// Pairs whose initial weight is smaller, in fixed-point units, get no weight.
    pub(super) least_initial_weight: i16,
    pub(super) batch: usize,
    /// The same for passes after the first.
    pub(super) later_batch: usize,
    pub(super) class_balance: f32,
    /// Share of a training row's squared length that is left out.
    pub(super) trim: f32,
    /// The same share for rows that the finished model answers.
    pub(super) answer_trim: f32,
    /// Learning rates of features grow with this power of their rareness.
    pub(super) rare_power: f32,
    pub(super) least_weight: f32,
    /// Whether inexact searches are compared with an exact scan at the end.
    pub(super) report_rivals: bool,
}

impl AutoParams {
    pub(super) fn new(params: &SoftmaxParams, shape: &Shape) -> Self {
        let number = |given: Option<f64>, auto| given.map_or(auto, |given| given as f32);
        let (effort, continued) = (params.effort, shape.continued);
        let longest = shape.longest();
        // Fewer classes come near the strongest one where rows are long, and more where rows have several
        // labels.
        let near = maths::powf(SHORT_ROW / shape.row_length * shape.labels, 0.25);
        let rivals = match (effort, continued) {
            // Weights of old classes are to stay: each is told what it did wrong, and not only that the
            // label should rise.
            (_, true) => 45.0,
            (Effort::Low, _) => 8.0 * near,
            (Effort::Default, _) => 12.0 * near,
            (Effort::High, _) => 16.0 * near,
        };
        let rivals = params
            .rivals
            .unwrap_or(rivals.round() as usize)
            .clamp(1, shape.classes.max(2) - 1);
        // What few rows say by chance moves weights that many rows of the base model made: larger batches
        // average it out.
        let batch_factor = if continued { 20.0 } else { 10.0 };
        let batch = (batch_factor * (shape.classes as f32).sqrt()) as usize;
        let batch = params.batch.unwrap_or(batch).max(1);
        // Small values of long rows are more noise than help, and most of the time goes into them.
        let small_classes = shape.small_classes();
        let trim = number(params.trim, 0.06 * longest * shape.labels.sqrt() * small_classes);
        // A cache of rivals is out of date sooner where rows have several labels, and a scan of few classes
        // costs little.
        let rescan = match effort {
            Effort::Low => shape.classes <= FEW_CLASSES,
            Effort::Default => shape.classes <= FEW_CLASSES || shape.labels > 1.5,
            Effort::High => true,
        };
        let auto = Self {
            shape: *shape,
            passes: params.passes.unwrap_or(Self::passes(shape, effort)),
            rescan: params.rescan.map_or(rescan, |rescan| rescan == Rescan::Yes),
            rivals,
            tail: 0.0,
            precision: match params.search {
                Search::Exact => Precision::Exact,
                Search::Rough => Precision::Rough,
            },
            step_size: number(
                params.step_size,
                (2.5 + 0.8 * longest) / maths::powf(shape.labels, 0.3),
            ),
            // Long rows get few passes, so their steps stay longer.
            last_step_size: number(
                params.last_step_size,
                if continued { 0.6 } else { 0.3 + 0.25 * longest },
            ),
            initial_scale: InitialScale {
                length: 1.0,
                size_power: number(params.size_power, 0.05 + 0.04 * longest),
            },
            // Long rows give many small weights to each of their labels. Few will ever matter.
            least_initial_weight: quantize_weight(number(
                params.least_initial_weight,
                0.04 * (shape.labels - 1.0).min(1.0) * longest * small_classes,
            ))
            .max(1),
            batch,
            // Steps are short by then, and what is done once per batch is done less often.
            later_batch: params
                .batch
                .unwrap_or(if continued { batch } else { batch * LATER_BATCH }),
            class_balance: 0.0,
            trim,
            // With one label a row, an answer hangs on all of its values.
            answer_trim: number(params.answer_trim, trim * (shape.labels - 1.0).min(1.0)),
            // Features that are rare in these rows may have been frequent in those of the base model.
            rare_power: number(
                params.rare_power,
                if continued { 0.0 } else { 0.07 + 0.05 * longest },
            ),
            least_weight: number(params.least_weight, 0.1),
            report_rivals: params.report_rivals,
        };
        auto.with_sharpness(USUAL_SHARPNESS, params)
    }

    /// Many rows per class teach something new in every pass. Long rows overlap in many features, so each
    /// teaches more at once, and further passes learn them by heart.
    fn passes(shape: &Shape, effort: Effort) -> usize {
        let passes = 1.7 * maths::cbrt(shape.rows_per_class() / shape.row_length);
        let passes = match effort {
            Effort::Low => 0.8 * passes,
            Effort::Default | Effort::High => passes,
        };
        passes.round().clamp(1.0, 4.0) as usize
    }

    /// The rules that depend on how sharply centroids tell classes apart.
    ///
    /// * Initial weights: as long as the sharpness, or longer where many rows make a centroid reliable.
    ///   Updates of long rows move more scores each, so their weights start shorter.
    /// * Tail: where classes are hard to tell apart, the wrong classes hold much mass together, and rivals
    ///   are often right answers that the row does not name. A tail lets labels rise more than rivals fall.
    /// * Class balance: where rows are ambiguous, weighting rows of small classes higher only adds noise.
    pub(super) fn with_sharpness(mut self, sharpness: f32, params: &SoftmaxParams) -> Self {
        let number = |given: Option<f64>, auto| given.map_or(auto, |given| given as f32);
        let shape = &self.shape;
        let reliable = 1.25 * maths::ln(shape.rows_per_class());
        // Labels of one row share its features.
        let shorter = maths::powf(SHORT_ROW * shape.labels / shape.row_length, 0.33);
        let length = if shape.continued {
            // Beside weights that were learned, centroids of new classes start short.
            (0.6 * shape.rows_per_class()).clamp(4.0, 8.0)
        } else {
            ((sharpness + reliable) * shorter).clamp(3.0, 14.0)
        };
        self.initial_scale.length = number(params.initial_scale, length);
        let others = shape.classes.saturating_sub(self.rivals + 1) as f32;
        let tail = if shape.continued {
            0.0
        } else {
            (2.5 * (10.0 - sharpness) * (1.0 - shape.longest())).clamp(0.0, others)
        };
        self.tail = number(params.tail, tail);
        let balance = if shape.continued {
            0.0
        } else {
            (0.015 * sharpness).clamp(0.0, 0.15)
        };
        self.class_balance = number(params.class_balance, balance);
        self
    }

    /// The values under the names of their parameters.
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
            ("initial-scale", number(self.initial_scale.length)),
            ("size-power", number(self.initial_scale.size_power)),
            (
                "least-initial-weight",
                number(f32::from(self.least_initial_weight) / WEIGHT_UNITS),
            ),
            ("batch", integer(self.batch)),
            ("class-balance", number(self.class_balance)),
            ("trim", number(self.trim)),
            ("answer-trim", number(self.answer_trim)),
            ("tail", number(self.tail)),
            ("rare-power", number(self.rare_power)),
            ("least-weight", number(self.least_weight)),
            ("length-power", Value::Number(LENGTH_POWER)),
            ("entropy-weighting", Value::Number(ENTROPY_WEIGHTING)),
            ("keep-rows", integer(keep_rows)),
        ]
    }

    /// From this many classes on, a feature's weights are a dense row: about where adding it takes as long
    /// as adding postings, which take longer where classes need more than 16 bits.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rows_per_class: f32, row_length: f32, labels: f32) -> Shape {
        Shape {
            rows: (10_000.0 * rows_per_class) as usize,
            continued: false,
            classes: 10_000,
            row_length,
            labels,
        }
    }

    /// A small change of the data changes no parameter by much.
    #[test]
    fn there_are_no_cliffs() {
        let params = SoftmaxParams::default();
        let auto =
            |shape: &Shape, sharpness| AutoParams::new(&params, shape).with_sharpness(sharpness, &params);
        for step in 0..200 {
            let x = step as f32 / 200.0;
            let at = |x: f32| {
                let shape = shape(1.5 * 40f32.powf(x), 3.0 * 300f32.powf(x), 1.0 + 0.4 * x);
                auto(&shape, 12.0 * x)
            };
            let (before, after) = (at(x), at(x + 0.005));
            assert!(before.passes.abs_diff(after.passes) <= 1 && before.rivals.abs_diff(after.rivals) <= 1);
            for (before, after, most) in [
                // Its range is 0 to 25, and row length grows by 3% a step.
                (before.tail, after.tail, 1.0),
                (before.initial_scale.length, after.initial_scale.length, 0.3),
                (before.class_balance, after.class_balance, 0.01),
                (before.trim, after.trim, 0.005),
            ] {
                assert!((before - after).abs() <= most, "{before} {after} at {x}");
            }
        }
    }

    #[test]
    fn effort_buys_rivals_and_scans() {
        let of = |effort| {
            let params = SoftmaxParams {
                effort,
                ..SoftmaxParams::default()
            };
            AutoParams::new(&params, &shape(20.0, 40.0, 1.0))
        };
        let (low, usual, high) = (of(Effort::Low), of(Effort::Default), of(Effort::High));
        assert!(low.rivals < usual.rivals && usual.rivals < high.rivals);
        assert!(low.passes <= usual.passes && usual.passes <= high.passes);
        assert!(!low.rescan && !usual.rescan && high.rescan);
        assert!(usual.trim > 0.0 && (high.trim - usual.trim).abs() < 1e-6);
    }

    /// Frequent words tell which classes are frequent: where there are many rows per class, they stay.
    #[test]
    fn rows_of_large_classes_are_hardly_trimmed() {
        let params = SoftmaxParams::default();
        let trim = |rows_per_class| AutoParams::new(&params, &shape(rows_per_class, 40.0, 4.0)).trim;
        assert!(trim(2.0) > 0.1, "{}", trim(2.0));
        assert!(trim(100.0) < 0.03 * trim(2.0), "{}", trim(100.0));
    }

    #[test]
    fn many_small_values_do_not_make_a_long_row() {
        let mut data = Dataset::default();
        let mut entries: Vec<(u32, f32)> = (0..200).map(|feature| (feature, 0.01)).collect();
        entries.extend([(200, 1.0), (201, 1.0)]);
        data.rows.push_unsorted(&mut entries);
        data.labels.push([0]);
        let length = Shape::of(&data, 0).row_length;
        assert!((2.0..2.2).contains(&length), "{length}");
    }
}
