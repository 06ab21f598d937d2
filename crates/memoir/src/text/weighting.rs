//! Counts become weights: logarithm of the count, inverse document frequency, unit length.

use serde::{Deserialize, Serialize};

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
        // In double precision, or large and small values would have squares beyond single precision.
        let norm = values
            .iter()
            .map(|&v| f64::from(v) * f64::from(v))
            .sum::<f64>()
            .sqrt();
        if norm > 0.0 {
            for value in values {
                *value = (f64::from(*value) / norm) as f32;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    fn rows(of: &[&[(u32, f32)]]) -> Rows {
        let mut rows = Rows::new();
        for row in of {
            rows.push_unsorted(&mut row.to_vec());
        }
        rows
    }

    fn close(a: &[f32], b: &[f32]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
    }

    #[test]
    fn log_tf_idf_by_hand() {
        // Three rows; feature 0 is in all, 1 in one, 2 in none.
        let mut rows = rows(&[&[(0, 1.0), (1, 2.0)], &[(0, 5.0)], &[(0, 1.0)]]);
        rows.set_width(3);
        let weighting = Weighting::fit(WeightingScheme::LogTfIdf, false, &rows);
        assert_eq!(&weighting.document_frequency[..], [3, 1, 0]);
        // ln(4/4)+1, ln(4/2)+1, ln(4/1)+1
        assert!(close(
            &weighting.inverse_frequency,
            &[1.0, 1.693_147_2, 2.386_294_4]
        ));
        let mut values = [1.0, 2.0];
        weighting.apply(&[0, 1], &mut values);
        // (1, (1 + ln 2) * 1.6931472) = (1, 2.8667474), norm 3.0361572
        assert!(close(&values, &[0.329_364, 0.944_202_8]), "{values:?}");
        let mut values = [5.0];
        weighting.apply(&[0], &mut values);
        assert_eq!(values, [1.0]);
    }

    #[test]
    fn counts_that_are_no_counts_do_no_harm() {
        let rows = rows(&[&[(0, 1.0), (1, 1.0), (2, 1.0)]]);
        let weighting = Weighting::fit(WeightingScheme::LogTfIdf, false, &rows);
        let mut values = [0.0, -3.0, 0.1, 1.0];
        weighting.apply(&[0, 1, 2, 3], &mut values);
        assert_eq!(values, [0.0; 4]);
    }

    #[test]
    fn unit_length_at_any_scale() {
        for scale in [1e-30f32, 1.0, 1e37] {
            let rows = rows(&[&[(0, 3.0 * scale), (1, -4.0 * scale)]]);
            let weighting = Weighting::fit(WeightingScheme::Unit, false, &rows);
            let mut values = [3.0 * scale, -4.0 * scale];
            weighting.apply(&[0, 1], &mut values);
            assert!(close(&values, &[0.6, -0.8]), "{values:?}");
        }
    }

    #[test]
    fn raw_values_stay() {
        let rows = rows(&[&[(0, 7.5)]]);
        let weighting = Weighting::fit(WeightingScheme::Raw, false, &rows);
        let mut values = [7.5];
        weighting.apply(&[0], &mut values);
        assert_eq!(values, [7.5]);
    }

    #[test]
    fn detection() {
        assert_eq!(
            Weighting::detect(&rows(&[&[(0, 7.0), (3, 0.0)]])),
            WeightingScheme::LogTfIdf
        );
        assert_eq!(
            Weighting::detect(&rows(&[&[(0, 7.0), (3, 0.5)]])),
            WeightingScheme::Unit
        );
        assert_eq!(Weighting::detect(&rows(&[&[(0, -7.0)]])), WeightingScheme::Unit);
    }

    #[test]
    fn all_rows_at_any_number_of_threads() {
        let mut plain = Rows::new();
        for row in 0..5000u32 {
            plain.push_unsorted(&mut (0..row % 7).map(|i| (row % 13 + i * i, (i + 1) as f32)).collect());
        }
        let weighting = Weighting::fit(WeightingScheme::LogTfIdf, false, &plain);
        let mut one_by_one = plain.clone();
        for row in 0..plain.len() {
            let (indices, values) = one_by_one.row_mut(row);
            weighting.apply(indices, values);
        }
        for threads in [1, 2, 4] {
            let session = Session::new(NonZeroUsize::new(threads).unwrap()).unwrap();
            let mut all = plain.clone();
            weighting.apply_all(&mut all, &session).unwrap();
            assert_eq!(all, one_by_one);
        }
    }

    #[test]
    fn a_raised_flag_stops_it() {
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        session.cancel().raise();
        let mut rows = rows(&[&[(0, 1.0)]]);
        let weighting = Weighting::fit(WeightingScheme::Unit, false, &rows);
        assert!(matches!(
            weighting.apply_all(&mut rows, &session),
            Err(crate::Error::Cancelled)
        ));
    }
}
