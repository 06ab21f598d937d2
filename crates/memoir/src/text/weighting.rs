//! Counts become weights: logarithm of the count, inverse document frequency, rows scaled by their length.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::class_spread::class_spread;
use crate::dataset::LabelSets;
use crate::sparse::{Rows, Storage};
use crate::{Result, Session, maths};

/// What is done to the values of a row. Fitted on training rows, saved in the model, applied to every later
/// row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightingScheme {
    /// Values are term counts: `(1 + ln count) * (ln((1 + n) / (1 + df)) + 1)`, then rows are scaled.
    LogTfIdf,
    /// Values are weights already: rows are scaled.
    Unit,
    /// Values are used as they are.
    Raw,
}

/// What an algorithm wants of its rows, beyond the scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowNeeds {
    /// A constant feature of value 1 behind the others.
    pub constant: bool,
    /// Rows are divided by `norm^p * mean_norm^(1-p)`: 1 gives unit length, less lets rich rows count for
    /// more.
    pub length_power: f32,
    /// From 0 to 1: how much less a feature weighs that is spread over many classes. Its weight is
    /// multiplied by `1 - e H / ln n`, with e this number and H the entropy of the classes over the
    /// feature's n occurrences.
    pub entropy_weighting: f32,
}

impl Default for RowNeeds {
    fn default() -> Self {
        Self {
            constant: false,
            length_power: 1.0,
            entropy_weighting: 0.0,
        }
    }
}

impl RowNeeds {
    /// Whether weights depend on how far features are spread over classes.
    pub(crate) fn wants_spread(&self, scheme: WeightingScheme) -> bool {
        self.entropy_weighting > 0.0 && scheme != WeightingScheme::Raw
    }
}

/// The most blocks a row can have.
pub const MOST_BLOCKS: usize = 64;

/// Which features belong together and how much each group counts; by default all features are one block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockLayout {
    /// The block of each feature; empty if there is one block.
    pub of_feature: Vec<u8>,
    /// The weight of each block; empty if there is one.
    pub weights: Vec<f32>,
}

/// How the features of one block are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockScale {
    /// How much the block counts beside the others.
    pub weight: f32,
    /// Mean length of the training rows' parts in this block, before they were scaled.
    pub mean_length: f32,
}

/// A fitted weighting.
#[derive(Debug)]
pub struct Weighting {
    /// What is done.
    pub scheme: WeightingScheme,
    /// What the values of each feature are multiplied by: inverse document frequency, entropy on few
    /// classes, or both. Empty if neither is asked for.
    pub feature_weights: Storage<f32>,
    /// Number of rows that hold each feature (kept so that training can go on later; may be empty).
    pub document_frequency: Storage<u32>,
    /// Whether a constant feature of value 1 is appended after the others (number: the width of the input).
    pub constant: bool,
    /// See [`RowNeeds::length_power`].
    pub length_power: f32,
    /// Mean length of the training rows before they were scaled, if there is one block.
    pub mean_length: f32,
    /// The block of each feature; empty if there is one block.
    pub block_of_feature: Storage<u8>,
    /// How each block is scaled; empty if there is one.
    pub blocks: Vec<BlockScale>,
}

impl Weighting {
    /// Learns from the values in `rows`, and from the rows' `labels`, what the scheme and the algorithm
    /// need; in parallel, with the same result on any number of threads.
    pub fn fit(scheme: WeightingScheme, needs: RowNeeds, rows: &Rows, labels: &LabelSets) -> Self {
        Self::fit_blocks(scheme, needs, rows, labels, BlockLayout::default())
    }

    /// As [`Weighting::fit`], with features in blocks: the part of a row in each block is scaled to a length
    /// by itself, then multiplied by the block's weight. Weights are taken relative to each other: rows get
    /// the length they had with one block.
    pub fn fit_blocks(
        scheme: WeightingScheme,
        needs: RowNeeds,
        rows: &Rows,
        labels: &LabelSets,
        layout: BlockLayout,
    ) -> Self {
        let mut frequency = vec![0u32; rows.width()];
        for &index in rows.indices() {
            frequency[index as usize] += 1;
        }
        let spread = needs
            .wants_spread(scheme)
            .then(|| class_spread(rows, labels, &frequency));
        let mut weighting = Self::of_counts(scheme, needs, rows.len() as u64, frequency, spread, layout);
        if needs.length_power != 1.0 && !rows.is_empty() {
            let sums = weighting.sum_of_lengths(rows);
            weighting.set_mean_lengths(|block| sums[block] / rows.len() as f64);
        }
        weighting
    }

    /// From the number of `rows`, of rows that hold each feature, and from how far features are spread over
    /// classes, where that is wanted. Mean lengths are yet to be set.
    pub(crate) fn of_counts(
        scheme: WeightingScheme,
        needs: RowNeeds,
        rows: u64,
        frequency: Vec<u32>,
        spread: Option<Vec<f32>>,
        layout: BlockLayout,
    ) -> Self {
        let mut weights: Vec<f32> = match scheme {
            WeightingScheme::LogTfIdf => {
                let inverse = |&df: &u32| inverse_frequency(rows, df) as f32;
                frequency.iter().map(inverse).collect()
            }
            WeightingScheme::Unit | WeightingScheme::Raw => Vec::new(),
        };
        if let Some(spread) = spread {
            weights.resize(frequency.len(), 1.0);
            for (weight, spread) in weights.iter_mut().zip(spread) {
                *weight *= 1.0 - needs.entropy_weighting * spread;
            }
        }
        Self {
            scheme,
            feature_weights: weights.into(),
            document_frequency: frequency.into(),
            constant: needs.constant,
            length_power: needs.length_power,
            mean_length: 1.0,
            block_of_feature: layout.of_feature.into(),
            blocks: layout.weights.into_iter().map(BlockScale::new).collect(),
        }
    }

    /// Number of blocks that are scaled by themselves.
    pub(crate) fn scaled_blocks(&self) -> usize {
        self.blocks.len().max(1)
    }

    /// The lengths of each of `rows` in each block before they are scaled, row after row.
    pub(crate) fn lengths_of(&self, rows: &Rows) -> Vec<f64> {
        let blocks = self.scaled_blocks();
        let (mut scaled, mut lengths) = (Vec::new(), Vec::with_capacity(blocks * rows.len()));
        for row in rows.iter() {
            scaled.clear();
            scaled.extend_from_slice(row.values);
            self.multiply(row.indices, &mut scaled);
            lengths.extend_from_slice(&self.lengths(row.indices, &scaled)[..blocks]);
        }
        lengths
    }

    /// Sets the mean length of each block, or of the only one.
    pub(crate) fn set_mean_lengths(&mut self, mean: impl Fn(usize) -> f64) {
        let mean = |block| (mean(block) as f32).max(f32::MIN_POSITIVE);
        if self.blocks.is_empty() {
            self.mean_length = mean(0);
        }
        for (number, block) in self.blocks.iter_mut().enumerate() {
            block.mean_length = mean(number);
        }
    }

    /// Sum of the lengths of `rows` before they are scaled, for each block.
    pub(super) fn sum_of_lengths(&self, rows: &Rows) -> Lengths {
        let of_task = |task: usize| -> Lengths {
            let mut scaled = Vec::new();
            let mut sums = [0.0; MOST_BLOCKS];
            for row in task * ROWS_PER_TASK..rows.len().min((task + 1) * ROWS_PER_TASK) {
                let row = rows.row(row);
                scaled.clear();
                scaled.extend_from_slice(row.values);
                self.multiply(row.indices, &mut scaled);
                add(&mut sums, &self.lengths(row.indices, &scaled));
            }
            sums
        };
        let tasks = (0..rows.len().div_ceil(ROWS_PER_TASK)).into_par_iter();
        let mut sums = [0.0; MOST_BLOCKS];
        // Added in order, because sums of floating-point numbers depend on it.
        for part in tasks.map(of_task).collect::<Vec<Lengths>>() {
            add(&mut sums, &part);
        }
        sums
    }

    /// Length of a row's part in each block. In double precision, or large and small values would have
    /// squares beyond single precision.
    fn lengths(&self, indices: &[u32], values: &[f32]) -> Lengths {
        let mut squares = [0.0; MOST_BLOCKS];
        if self.blocks.is_empty() {
            squares[0] = values.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
        } else {
            for (&index, &value) in indices.iter().zip(values) {
                squares[self.block(index)] += f64::from(value) * f64::from(value);
            }
        }
        squares.map(f64::sqrt)
    }

    /// The block of a feature; 0 for one that the file does not tell.
    fn block(&self, feature: u32) -> usize {
        let block = self.block_of_feature.get(feature as usize).copied().unwrap_or(0);
        usize::from(block) % MOST_BLOCKS
    }

    /// The scheme that fits the values: counts (whole numbers, none negative) get tf-idf, anything else is
    /// scaled.
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
        let lengths = self.lengths(indices, values);
        if self.blocks.is_empty() {
            if lengths[0] > 0.0 {
                let divisor = self.divisor(lengths[0], self.mean_length);
                for value in values {
                    *value = (f64::from(*value) / divisor) as f32;
                }
            }
            return;
        }
        let together = self
            .blocks
            .iter()
            .map(|block| maths::square(f64::from(block.weight)))
            .sum::<f64>()
            .sqrt();
        let mut factors = [0.0; MOST_BLOCKS];
        for ((factor, block), &length) in factors.iter_mut().zip(&self.blocks).zip(&lengths) {
            if length > 0.0 {
                *factor = f64::from(block.weight) / together / self.divisor(length, block.mean_length);
            }
        }
        for (value, &index) in values.iter_mut().zip(indices) {
            *value = (f64::from(*value) * factors[self.block(index)]) as f32;
        }
    }

    /// What scales values of this length.
    fn divisor(&self, length: f64, mean_length: f32) -> f64 {
        match f64::from(self.length_power) {
            1.0 => length,
            power => maths::powf(length, power) * maths::powf(f64::from(mean_length), 1.0 - power),
        }
    }

    /// Everything but the scaling to a length.
    fn multiply(&self, indices: &[u32], values: &mut [f32]) {
        if self.scheme == WeightingScheme::LogTfIdf {
            for value in values.iter_mut() {
                *value = if *value > 0.0 {
                    (1.0 + maths::ln(*value)).max(0.0)
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
pub(crate) const ROWS_PER_TASK: usize = 1024;

/// A length for each block; the first one if there is one block only.
type Lengths = [f64; MOST_BLOCKS];

fn add(sums: &mut Lengths, more: &Lengths) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

impl BlockScale {
    fn new(weight: f32) -> Self {
        Self {
            weight,
            mean_length: 1.0,
        }
    }
}

/// `ln((1 + n) / (1 + df)) + 1`.
pub(super) fn inverse_frequency(rows: u64, frequency: u32) -> f64 {
    maths::ln((1.0 + rows as f64) / (1.0 + f64::from(frequency))) + 1.0
}

#[cfg(test)]
mod tests;
