//! What is in a model: sizes, parameters, classes. Made to be shown or written as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Model;
use super::calibration::Basis;
use super::class_arrays::ClassArrays;
use super::file::file_size;
use crate::params::Value;
use crate::text::{TextParams, WeightingScheme};
use crate::{Error, Result};

/// How many of the largest and smallest classes a summary names.
const EXTREMES: usize = 5;

/// A model at a glance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Algorithm that made it.
    pub algorithm: String,
    /// Parameters of the algorithm.
    pub params: BTreeMap<String, Value>,
    /// What it chose for those that were left to it.
    pub chosen: BTreeMap<String, Value>,
    /// Seed of the algorithm's random choices.
    pub seed: u64,
    /// Number of training rows.
    pub rows: u64,
    /// Sum of the weights of these rows, if such were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_weights: Option<f64>,
    /// How many of these rows are kept, to be repeated when training goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_rows: Option<usize>,
    /// Kind of scorer.
    pub scorer: &'static str,
    /// Number of classes.
    pub classes: usize,
    /// Number of features of the scorer.
    pub features: usize,
    /// Number of stored weights, if the scorer has such.
    pub weights: Option<usize>,
    /// How weights are stored (`f32`), if the scorer has such.
    pub precision: Option<&'static str>,
    /// How scores become probabilities, if they do.
    pub calibration: Option<CalibrationSummary>,
    /// Names and relations of the classes, if there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<VocabularySummary>,
    /// What the input is: `text` or `vectors`.
    pub input: &'static str,
    /// How text becomes features, if the input is text.
    pub text: Option<TextParams>,
    /// What is done to the values of a row.
    pub weighting: WeightingScheme,
    /// Whether rows get a constant feature.
    pub constant: bool,
    /// Size of the model file.
    pub file_bytes: u64,
    /// The arrays in the file, in the file's order.
    pub tensors: Vec<TensorSummary>,
    /// The classes with the most training rows, largest first.
    pub largest_classes: Vec<ClassSize>,
    /// The classes with the fewest training rows, smallest first.
    pub smallest_classes: Vec<ClassSize>,
}

/// What a calibration was fitted on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationSummary {
    /// Which rows.
    pub basis: Basis,
    /// How many.
    pub rows: u64,
}

/// What a vocabulary holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VocabularySummary {
    /// Number of concepts.
    pub concepts: usize,
    /// Number of names, definitions and other texts about them.
    pub terms: usize,
    /// Number of relations to broader concepts.
    pub relations: usize,
    /// Languages of the texts, the preferred one first.
    pub languages: Vec<String>,
    /// Number of the model's classes that are concepts of it.
    pub known_classes: usize,
}

/// An array of a model file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TensorSummary {
    /// Name.
    pub name: String,
    /// Type of its elements (`F32`).
    pub element: &'static str,
    /// Number of elements.
    pub length: usize,
    /// Size.
    pub bytes: usize,
}

/// A class with its number of training rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassSize {
    /// Name.
    #[serde(rename = "class")]
    pub name: String,
    /// What the vocabulary calls it, if there is one.
    #[serde(rename = "name", skip_serializing_if = "Option::is_none")]
    pub vocabulary_name: Option<String>,
    /// Training rows.
    pub rows: u32,
}

impl Model {
    /// What is in the model.
    pub fn summary(&self) -> Result<Summary> {
        let class_arrays = ClassArrays::new(&self.classes);
        let tensors = self.all_tensors(&class_arrays);
        let stored = self.scorer.weight_storage();
        let weighting = &self.preprocessing.weighting;
        let text = self.preprocessing.text();
        let (largest_classes, smallest_classes) = self.extreme_classes();
        Ok(Summary {
            algorithm: self.origin.algorithm.clone(),
            params: self.origin.params.clone(),
            chosen: self.origin.chosen.clone(),
            seed: self.origin.seed,
            rows: self.origin.rows,
            row_weights: self.origin.row_weights,
            kept_rows: self.kept_rows()?,
            scorer: self.scorer.kind(),
            classes: self.classes.len(),
            features: self.scorer.features(),
            weights: stored.map(|(count, _)| count),
            precision: stored.map(|(_, element)| element),
            calibration: self.calibration.as_ref().map(|calibration| CalibrationSummary {
                basis: calibration.basis,
                rows: calibration.rows,
            }),
            vocabulary: self.vocabulary.as_ref().map(|vocabulary| VocabularySummary {
                concepts: vocabulary.len(),
                terms: vocabulary.term_count(),
                relations: vocabulary.relation_count(),
                languages: vocabulary.languages().to_vec(),
                known_classes: (0..self.classes.len() as u32)
                    .filter(|&class| vocabulary.concept_of_class(class).is_some())
                    .count(),
            }),
            input: if text.is_some() { "text" } else { "vectors" },
            text: text.map(|text| text.params.clone()),
            weighting: weighting.scheme,
            constant: weighting.constant,
            file_bytes: file_size(&self.header(&tensors)?, &tensors),
            tensors: tensors
                .iter()
                .map(|(name, tensor)| TensorSummary {
                    name: name.clone(),
                    element: tensor.element(),
                    length: tensor.len(),
                    bytes: tensor.bytes().len(),
                })
                .collect(),
            largest_classes,
            smallest_classes,
        })
    }

    /// How many training rows are kept, if any are.
    fn kept_rows(&self) -> Result<Option<usize>> {
        let Some(kept) = &self.replay else {
            return Ok(None);
        };
        let rows = kept.unpack(self.scorer.features(), self.classes.len());
        rows.map(|rows| Some(rows.len())).map_err(Error::Mismatch)
    }

    /// Largest and smallest classes; of equal ones, the lower number first.
    fn extreme_classes(&self) -> (Vec<ClassSize>, Vec<ClassSize>) {
        let mut sizes: Vec<(u32, u32)> = (0..).zip(self.origin.class_counts.iter().copied()).collect();
        let take = |sizes: &[(u32, u32)]| {
            let first = sizes.iter().take(EXTREMES);
            first
                .map(|&(class, rows)| ClassSize {
                    name: self.classes.name(class).to_owned(),
                    vocabulary_name: self.name_of_class(class, &[]).map(str::to_owned),
                    rows,
                })
                .collect()
        };
        sizes.sort_by_key(|&(_, rows)| rows);
        let smallest = take(&sizes);
        sizes.sort_by_key(|&(class, rows)| (std::cmp::Reverse(rows), class));
        (take(&sizes), smallest)
    }
}
