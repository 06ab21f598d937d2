//! Counts become weights: logarithm of the count, inverse document frequency, unit length.

use serde::{Deserialize, Serialize};

use crate::sparse::{Rows, Storage};

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

/// A fitted weighting.
#[derive(Debug)]
pub struct Weighting {
    /// What is done.
    pub scheme: WeightingScheme,
    /// Inverse document frequency of each feature (empty unless the scheme is [`WeightingScheme::LogTfIdf`]).
    pub inverse_frequency: Storage<f32>,
    /// Number of rows that hold each feature (kept so that training can go on later; may be empty).
    pub document_frequency: Storage<u32>,
    /// Whether a constant feature of value 1 is appended after the others (number: the width of the input).
    pub constant: bool,
}

impl Weighting {
    /// Learns from the counts in `rows` what the scheme needs.
    pub fn fit(scheme: WeightingScheme, constant: bool, rows: &Rows) -> Self {
        let mut frequency = vec![0u32; rows.width()];
        for &index in rows.indices() {
            frequency[index as usize] += 1;
        }
        let inverse = match scheme {
            WeightingScheme::LogTfIdf => {
                let numerator = 1.0 + rows.len() as f64;
                frequency
                    .iter()
                    .map(|&df| ((numerator / (1.0 + f64::from(df))).ln() + 1.0) as f32)
                    .collect()
            }
            WeightingScheme::Unit | WeightingScheme::Raw => Vec::new(),
        };
        Self {
            scheme,
            inverse_frequency: inverse.into(),
            document_frequency: frequency.into(),
            constant,
        }
    }

    /// The scheme that fits the values: counts (whole numbers, none negative) get tf-idf, anything else is scaled.
    pub fn detect(rows: &Rows) -> WeightingScheme {
        if rows.values().iter().all(|&v| v >= 0.0 && v.fract() == 0.0) {
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
        if self.scheme == WeightingScheme::LogTfIdf {
            let inverse: &[f32] = &self.inverse_frequency;
            for (value, &index) in values.iter_mut().zip(indices) {
                let term_frequency = if *value > 0.0 { 1.0 + value.ln() } else { 0.0 };
                *value = term_frequency.max(0.0) * inverse.get(index as usize).copied().unwrap_or(0.0);
            }
        }
        let norm = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        if norm > 0.0 {
            for value in values {
                *value /= norm;
            }
        }
    }
}
