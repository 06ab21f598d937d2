//! Counts become weights: logarithm of the count, inverse document frequency, unit length.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset::{CalibrationSplit, LabelSets, RowsByClass};
use crate::sparse::{Rows, Storage};
use crate::{Result, Session};

/// What is done to the values of a row. Fitted on training rows, saved in the model, applied to every later row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightingScheme {
    /// Values are term counts: `(1 + ln count) * (ln((1 + n) / (1 + df)) + 1)`, then unit length.
    LogTfIdf,
    /// Values are weights already: scaled to unit length.
    Unit,
    /// Values are used as they are.
    Raw,
}

/// What an algorithm wants of its rows, beyond the scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowNeeds {
    /// A constant feature of value 1 behind the others.
    pub constant: bool,
    /// Rows are divided by `norm^p * mean_norm^(1-p)`: 1 gives unit length, less lets rich rows count for more.
    pub length_power: f32,
    /// From 0 to 1: how much less a feature weighs that is spread over many classes. Its weight is multiplied by
    /// `1 - concentration * H / ln n`, with H the entropy of the classes over the feature's n occurrences.
    pub concentration: f32,
}

impl Default for RowNeeds {
    fn default() -> Self {
        Self {
            constant: false,
            length_power: 1.0,
            concentration: 0.0,
        }
    }
}

/// A fitted weighting.
#[derive(Debug)]
pub struct Weighting {
    /// What is done.
    pub scheme: WeightingScheme,
    /// What the values of each feature are multiplied by: inverse document frequency, concentration on few classes, or
    /// both. Empty if neither is asked for.
    pub feature_weights: Storage<f32>,
    /// Number of rows that hold each feature (kept so that training can go on later; may be empty).
    pub document_frequency: Storage<u32>,
    /// Whether a constant feature of value 1 is appended after the others (number: the width of the input).
    pub constant: bool,
    /// See [`RowNeeds::length_power`].
    pub length_power: f32,
    /// Mean length of the training rows before they were scaled.
    pub mean_length: f32,
}

impl Weighting {
    /// Learns from the values in `rows`, and from the rows' `labels`, what the scheme and the algorithm need; in parallel,
    /// with the same result on any number of threads.
    pub fn fit(scheme: WeightingScheme, needs: RowNeeds, rows: &Rows, labels: &LabelSets) -> Self {
        let mut frequency = vec![0u32; rows.width()];
        for &index in rows.indices() {
            frequency[index as usize] += 1;
        }
        let mut weights: Vec<f32> = match scheme {
            WeightingScheme::LogTfIdf => {
                let inverse = |&df: &u32| inverse_frequency(rows.len() as u64, df) as f32;
                frequency.iter().map(inverse).collect()
            }
            WeightingScheme::Unit | WeightingScheme::Raw => Vec::new(),
        };
        if needs.concentration > 0.0 && scheme != WeightingScheme::Raw {
            weights.resize(rows.width(), 1.0);
            for (weight, spread) in weights.iter_mut().zip(class_spread(rows, labels, &frequency)) {
                *weight *= 1.0 - needs.concentration * spread;
            }
        }
        let mut weighting = Self {
            scheme,
            feature_weights: weights.into(),
            document_frequency: frequency.into(),
            constant: needs.constant,
            length_power: needs.length_power,
            mean_length: 1.0,
        };
        if needs.length_power != 1.0 && !rows.is_empty() {
            let mean = weighting.sum_of_lengths(rows) / rows.len() as f64;
            weighting.mean_length = (mean as f32).max(f32::MIN_POSITIVE);
        }
        weighting
    }

    /// Sum of the lengths of `rows` before they are scaled.
    pub(super) fn sum_of_lengths(&self, rows: &Rows) -> f64 {
        let of_block = |block: usize| -> f64 {
            let mut scaled = Vec::new();
            let lengths = (block * ROWS_PER_BLOCK..rows.len().min((block + 1) * ROWS_PER_BLOCK)).map(|row| {
                let row = rows.row(row);
                scaled.clear();
                scaled.extend_from_slice(row.values);
                self.multiply(row.indices, &mut scaled);
                length(&scaled)
            });
            lengths.sum()
        };
        let blocks = (0..rows.len().div_ceil(ROWS_PER_BLOCK)).into_par_iter();
        // Added in order, because sums of floating-point numbers depend on it.
        blocks.map(of_block).collect::<Vec<f64>>().into_iter().sum()
    }

    /// The scheme that fits the values: counts (whole numbers, none negative) get tf-idf, anything else is scaled.
    pub fn detect(rows: &Rows) -> WeightingScheme {
        if rows.values().par_iter().all(|&v| v >= 0.0 && v.fract() == 0.0) {
            WeightingScheme::LogTfIdf
        } else {
            WeightingScheme::Unit
        }
    }

    /// Weighs one row in place. Features beyond those seen in training must have been removed before.
    pub fn apply(&self, indices: &[u32], values: &mut [f32]) {
        if self.scheme == WeightingScheme::Raw {
            return;
        }
        self.multiply(indices, values);
        let norm = length(values);
        if norm > 0.0 {
            let power = f64::from(self.length_power);
            let divisor = if power == 1.0 {
                norm
            } else {
                norm.powf(power) * f64::from(self.mean_length).powf(1.0 - power)
            };
            for value in values {
                *value = (f64::from(*value) / divisor) as f32;
            }
        }
    }

    /// Everything but the scaling to a length.
    fn multiply(&self, indices: &[u32], values: &mut [f32]) {
        if self.scheme == WeightingScheme::LogTfIdf {
            for value in values.iter_mut() {
                *value = if *value > 0.0 {
                    (1.0 + value.ln()).max(0.0)
                } else {
                    0.0
                };
            }
        }
        let weights: &[f32] = &self.feature_weights;
        if !weights.is_empty() {
            for (value, &index) in values.iter_mut().zip(indices) {
                *value *= weights.get(index as usize).copied().unwrap_or(0.0);
            }
        }
    }

    /// Weighs all rows in place, in parallel.
    pub fn apply_all(&self, rows: &mut Rows, session: &Session<'_>) -> Result<()> {
        let cancel = session.cancel();
        session.run(|| {
            rows.par_for_each_mut(|indices, values| {
                if !cancel.is_raised() {
                    self.apply(indices, values);
                }
            });
        });
        session.check()
    }
}

/// Rows whose lengths are added up at a time.
const ROWS_PER_BLOCK: usize = 1024;

/// `ln((1 + n) / (1 + df)) + 1`.
pub(super) fn inverse_frequency(rows: u64, frequency: u32) -> f64 {
    ((1.0 + rows as f64) / (1.0 + f64::from(frequency))).ln() + 1.0
}

/// In double precision, or large and small values would have squares beyond single precision.
fn length(values: &[f32]) -> f64 {
    values
        .iter()
        .map(|&v| f64::from(v) * f64::from(v))
        .sum::<f64>()
        .sqrt()
}

/// For each feature `H / ln n`: 0 if all its occurrences are with one class, 1 if each is with another. `frequency` is
/// the number of rows that hold each feature.
///
/// Rows that are set aside do not count: their labels must not be known when scores are calibrated by them.
fn class_spread(rows: &Rows, labels: &LabelSets, frequency: &[u32]) -> Vec<f32> {
    let (by_class, counted) = rayon::join(
        || RowsByClass::new(labels),
        || {
            let aside = CalibrationSplit::of(labels);
            let hashes = CalibrationSplit::hashes(rows).into_iter();
            hashes.map(|hash| !aside.has(hash)).collect::<Vec<bool>>()
        },
    );
    let ranges = even_ranges(frequency, rayon::current_num_threads());
    let of_range = |range: Range<usize>| spread_of_range(rows, &by_class, &counted, range);
    ranges.into_par_iter().map(of_range).collect::<Vec<_>>().concat()
}

/// Cuts the features into at most `parts` ranges that occur about equally often.
fn even_ranges(frequency: &[u32], parts: usize) -> Vec<Range<usize>> {
    let total: u64 = frequency.iter().map(|&count| u64::from(count)).sum();
    let share = total / parts as u64 + 1;
    let mut ranges = Vec::with_capacity(parts);
    let (mut first, mut sum) = (0, 0);
    for (feature, &count) in frequency.iter().enumerate() {
        sum += u64::from(count);
        if sum >= share {
            ranges.push(first..feature + 1);
            (first, sum) = (feature + 1, 0);
        }
    }
    ranges.push(first..frequency.len());
    ranges
}

/// As [`class_spread`], for the features in `range` and the rows of which `counted` is true.
fn spread_of_range(rows: &Rows, by_class: &RowsByClass, counted: &[bool], range: Range<usize>) -> Vec<f32> {
    let (first, end) = (range.start as u32, range.end as u32);
    let mut occurrences = vec![0f64; range.len()];
    // Σ m ln m over the classes, with m the feature's occurrences with a class.
    let mut gathered = vec![0f64; range.len()];
    let mut counts = vec![0u32; range.len()];
    let mut touched = Vec::new();
    for class in 0..by_class.classes() {
        if class + 1 < by_class.classes() {
            for &row in by_class.rows(class + 1) {
                rows.ask_for(row as usize);
            }
        }
        for &row in by_class.rows(class).iter().filter(|&&row| counted[row as usize]) {
            let indices = rows.row(row as usize).indices;
            let start = indices.partition_point(|&feature| feature < first);
            for &feature in indices[start..].iter().take_while(|&&feature| feature < end) {
                let count = &mut counts[(feature - first) as usize];
                if *count == 0 {
                    touched.push(feature - first);
                }
                *count += 1;
            }
        }
        for feature in touched.drain(..) {
            let count = f64::from(std::mem::take(&mut counts[feature as usize]));
            occurrences[feature as usize] += count;
            // Most features occur once with a class, and the logarithm of 1 is 0.
            if count > 1.0 {
                gathered[feature as usize] += count * count.ln();
            }
        }
    }
    let spread = |(&n, &sum): (&f64, &f64)| {
        if n > 1.0 {
            (1.0 - sum / n / n.ln()) as f32
        } else {
            0.0
        }
    };
    occurrences.iter().zip(&gathered).map(spread).collect()
}

#[cfg(test)]
mod tests;
