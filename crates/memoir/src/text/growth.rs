//! A fitted preprocessing that takes more rows into account, without the rows it was fitted on.
//!
//! Document frequencies and numbers of rows add up exactly. How concentrated a feature is on few classes
//! cannot be added up without keeping every pair of feature and class: it is averaged, each part counting by
//! the feature's occurrences in it.

use super::features::TextFeatures;
use super::preprocessing::{Input, Preprocessing};
use super::weighting::{RowNeeds, Weighting, WeightingScheme, inverse_frequency};
use crate::dataset::LabelSets;
use crate::sparse::Rows;
use crate::{Error, Result};

impl Preprocessing {
    /// The preprocessing of a model that goes on learning: fitted on `rows_before` rows, now on the raw
    /// `rows` with `labels` in addition. Features keep their numbers. `rows` may be wider than before, and
    /// with text `features` has the names of all features, old and new, and their blocks.
    ///
    /// `needs` must be what the algorithm wanted before.
    pub fn grown(
        &self,
        needs: RowNeeds,
        rows_before: u64,
        rows: &Rows,
        labels: &LabelSets,
        mut features: Option<TextFeatures>,
    ) -> Result<Self> {
        let layout = features
            .as_mut()
            .map(TextFeatures::take_layout)
            .unwrap_or_default();
        let input = match (&self.input, features) {
            (Input::Vectors { features, first }, None) => Input::Vectors {
                features: rows.width().max(*features),
                first: *first,
            },
            (Input::Text(_), Some(features)) => Input::Text(Box::new(features.pipeline()?)),
            (Input::Vectors { .. }, Some(_)) => {
                return Err(Error::Mismatch(
                    "the model was trained on vectors, so it cannot be continued with text".to_owned(),
                ));
            }
            (Input::Text(_), None) => {
                return Err(Error::Mismatch(
                    "the model was trained on text, so it cannot be continued with vectors".to_owned(),
                ));
            }
        };
        let width = match &input {
            Input::Vectors { features, .. } => *features,
            Input::Text(text) => text.vocabulary.len(),
        };
        let more = NewRows {
            needs,
            rows_before,
            rows,
            labels,
        };
        let weighting = self
            .weighting
            .grown(&more, self.input_features(), width, layout.of_feature)?;
        Ok(Self { input, weighting })
    }
}

/// What a weighting is to take into account in addition.
struct NewRows<'a> {
    needs: RowNeeds,
    rows_before: u64,
    rows: &'a Rows,
    labels: &'a LabelSets,
}

impl Weighting {
    fn grown(
        &self,
        more: &NewRows<'_>,
        known: usize,
        width: usize,
        block_of_feature: Vec<u8>,
    ) -> Result<Self> {
        let NewRows {
            needs,
            rows_before,
            rows,
            labels,
        } = *more;
        if self.document_frequency.len() != known {
            return Err(Error::Mismatch(
                "the model cannot be continued: what is needed for that was stripped from its file"
                    .to_owned(),
            ));
        }
        // Fitted on the new rows alone: their document frequencies and concentrations.
        let of_part = Self::fit(self.scheme, needs, rows, labels);
        let in_part = |feature: usize| of_part.document_frequency.get(feature).copied().unwrap_or(0);
        let frequency: Vec<u32> = (0..width)
            .map(|feature| {
                let before = self.document_frequency.get(feature).copied().unwrap_or(0);
                before.saturating_add(in_part(feature))
            })
            .collect();
        let rows_after = rows_before + rows.len() as u64;
        let weighs = !(self.feature_weights.is_empty() && of_part.feature_weights.is_empty());
        let feature_weights: Vec<f32> = (0..if weighs { width } else { 0 })
            .map(|feature| {
                let before = self.document_frequency.get(feature).copied().unwrap_or(0);
                let part = in_part(feature);
                let concentration = |weight: Option<&f32>, frequency: u32, rows: u64| match weight {
                    Some(weight) if frequency > 0 => {
                        f64::from(frequency) * f64::from(*weight) / self.inverse_frequency(rows, frequency)
                    }
                    _ => 0.0,
                };
                let mean = if frequency[feature] == 0 {
                    1.0
                } else {
                    let sum = concentration(self.feature_weights.get(feature), before, rows_before)
                        + concentration(of_part.feature_weights.get(feature), part, rows.len() as u64);
                    sum / f64::from(frequency[feature])
                };
                (self.inverse_frequency(rows_after, frequency[feature]) * mean) as f32
            })
            .collect();
        let mut grown = Self {
            feature_weights: feature_weights.into(),
            document_frequency: frequency.into(),
            block_of_feature: block_of_feature.into(),
            blocks: self.blocks.clone(),
            ..*self
        };
        grown.set_mean_lengths(|_| 1.0);
        if self.length_power != 1.0 && rows_after > 0 {
            let of_new = grown.sum_of_lengths(rows);
            let before = |block: usize| self.blocks.get(block).map_or(self.mean_length, |b| b.mean_length);
            grown.set_mean_lengths(|block| {
                let sum = f64::from(before(block)) * rows_before as f64 + of_new[block];
                sum / rows_after as f64
            });
        }
        Ok(grown)
    }

    /// What the scheme alone multiplies a feature by.
    fn inverse_frequency(&self, rows: u64, frequency: u32) -> f64 {
        match self.scheme {
            WeightingScheme::LogTfIdf => inverse_frequency(rows, frequency),
            WeightingScheme::Unit | WeightingScheme::Raw => 1.0,
        }
    }
}
