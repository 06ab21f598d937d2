//! What training leaves behind: a scorer, the classes, and how raw rows become the scorer's rows.
//! Prediction is exact: nothing here knows oracles or trainers.

mod answers;
mod averaged;
mod builder;
mod calibrate;
pub mod calibration;
mod class_arrays;
mod class_profile;
mod container;
mod crosswalk;
mod described;
mod explain;
mod explain_runs;
mod file;
mod fixed;
mod inspect;
mod linear;
mod merged;
mod mixed;
mod name_matches;
mod new_numbers;
mod opened;
mod output;
mod overrides;
mod packed;
mod predict;
mod preprocessing;
mod reclassify;
mod reduced;
mod replay;
mod scan;
mod shrink;
mod stored_scorer;
mod tensors;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::class_vocabulary::ClassVocabulary;
use crate::data::{ReadOptions, Remembered};
use crate::dataset::ClassNames;
use crate::params::Value;
use crate::sparse::{RowView, Scored};
use crate::text::Preprocessing;
use crate::{Error, Result};

pub use crate::sparse::fixed_point::{Narrow, Posting, Wide};
pub use crate::sparse::{Reduction, Storage, TopK};
pub use answers::{Answer, SHARING, score_shares};
pub(crate) use averaged::averaged;
pub use builder::LinearBuilder;
pub use calibration::Calibration;
pub use crosswalk::Crosswalk;
pub use explain::{Candidate, Explanation, FeatureShare, FeatureWeight, Mark, Others};
pub use fixed::{FIXED, FixedScorer};
pub use inspect::{CalibrationSummary, ClassSize, Summary, TensorSummary, VocabularySummary};
pub use linear::{LINEAR, Linear};
pub use merged::{Merged, Rule};
pub use mixed::{Level, Mixed};
pub(crate) use name_matches::Found;
pub use name_matches::{NameFeatures, NameMatches, NameWeights};
pub use new_numbers::NewNumbers;
pub(crate) use opened::OpenedFile;
pub use output::write_beside;
pub use overrides::Overrides;
pub use packed::{PACKED, PackedScorer};
pub use predict::{Predictions, Predictor, PredictorScratch};
pub use reduced::{REDUCED, Reduced};
pub use replay::Replay;
pub use tensors::{LoadScorer, ScorerKind, Tensor, TensorSource};

/// A trained classifier: raw row or text in, best classes out.
pub struct Model {
    /// What the classes are called.
    pub(crate) classes: ClassNames,
    /// How raw input becomes the scorer's rows.
    pub(crate) preprocessing: Preprocessing,
    /// Scores classes for a row.
    pub(crate) scorer: Box<dyn Scorer>,
    /// Turns scores into probabilities, if that was fitted.
    pub(crate) calibration: Option<Calibration>,
    /// Some of the rows it learned from, to be replayed when training continues from it.
    pub(crate) replay: Option<Replay>,
    /// Names and relations of the classes, if a vocabulary was given.
    pub(crate) vocabulary: Option<ClassVocabulary>,
    /// Texts that always get a given class.
    pub(crate) overrides: Option<Overrides>,
    /// Where the model comes from.
    pub(crate) origin: Origin,
    /// The file that it is mapped from, if it is.
    pub(crate) file: Option<Arc<OpenedFile>>,
}

/// What it is, not its millions of weights.
impl std::fmt::Debug for Model {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Model")
            .field("algorithm", &self.origin.algorithm)
            .field("classes", &self.classes.len())
            .field("rows", &self.origin.rows)
            .finish_non_exhaustive()
    }
}

/// What a model is made of, for programs that put one together themselves.
pub struct ModelParts {
    /// What the classes are called.
    pub classes: ClassNames,
    /// How raw input becomes the scorer's rows.
    pub preprocessing: Preprocessing,
    /// Scores classes for a row.
    pub scorer: Box<dyn Scorer>,
    /// Turns scores into probabilities, if that was fitted.
    pub calibration: Option<Calibration>,
    /// Some of the rows it learned from, to be replayed when training continues from it.
    pub replay: Option<Replay>,
    /// Names and relations of the classes, if a vocabulary was given.
    pub vocabulary: Option<ClassVocabulary>,
    /// Texts that always get a given class.
    pub overrides: Option<Overrides>,
    /// Where the model comes from.
    pub origin: Origin,
}

impl From<ModelParts> for Model {
    fn from(parts: ModelParts) -> Self {
        Self {
            classes: parts.classes,
            preprocessing: parts.preprocessing,
            scorer: parts.scorer,
            calibration: parts.calibration,
            replay: parts.replay,
            vocabulary: parts.vocabulary,
            overrides: parts.overrides,
            origin: parts.origin,
            file: None,
        }
    }
}

impl Model {
    /// What it is made of.
    pub fn into_parts(self) -> ModelParts {
        ModelParts {
            classes: self.classes,
            preprocessing: self.preprocessing,
            scorer: self.scorer,
            calibration: self.calibration,
            replay: self.replay,
            vocabulary: self.vocabulary,
            overrides: self.overrides,
            origin: self.origin,
        }
    }

    /// What the classes are called.
    pub fn classes(&self) -> &ClassNames {
        &self.classes
    }

    /// How raw input becomes the scorer's rows.
    pub fn preprocessing(&self) -> &Preprocessing {
        &self.preprocessing
    }

    /// Names and relations of the classes, if a vocabulary was given.
    pub fn vocabulary(&self) -> Option<&ClassVocabulary> {
        self.vocabulary.as_ref()
    }

    /// What scores classes for a row.
    pub fn scorer(&self) -> &dyn Scorer {
        &*self.scorer
    }

    /// What turns scores into probabilities, if that was fitted.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// Some of the rows it learned from, if it keeps any.
    pub fn replay(&self) -> Option<&Replay> {
        self.replay.as_ref()
    }

    /// Where the model comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Keeps how its training data was read, so that later rows can be read alike.
    pub fn remember(&mut self, options: &ReadOptions) {
        self.origin.reading = options.to_remember();
    }

    /// Keeps what labels are in the calling program: see [`Origin::label_kind`].
    pub fn remember_label_kind(&mut self, kind: Option<String>) {
        self.origin.label_kind = kind;
    }

    /// `options`, and where they leave something open, how the training data was read.
    pub fn reading(&self, options: ReadOptions) -> ReadOptions {
        ReadOptions {
            remembered: self.origin.reading.clone().unwrap_or_default(),
            ..options
        }
    }

    /// The same model with weights of this precision.
    pub fn with_precision(mut self, precision: Precision) -> Result<Self> {
        self.scorer = self.scorer.with_precision(precision)?;
        Ok(self)
    }
}

/// How a model was made; shown by `inspect`.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Origin {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Parameters it was given, and defaults for the rest.
    pub params: BTreeMap<String, Value>,
    /// What the algorithm chose for those of them that were left to it, as far as it tells.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub chosen: BTreeMap<String, Value>,
    /// Seed of its random choices.
    pub seed: u64,
    /// Number of training rows.
    pub rows: u64,
    /// Sum of the weights of the training rows, if such were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_weights: Option<f64>,
    /// What labels are in the program that trained it (`text`, `whole`, `real`, `truth`), where their names
    /// alone do not tell. Any other word is allowed, and means nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_kind: Option<String>,
    /// How its training data was read, as far as options said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Remembered>,
    /// Training rows of each class.
    #[serde(skip)]
    pub class_counts: Vec<u32>,
}

/// How a scorer's weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floating point.
    #[default]
    F32,
    /// 16 bits: half the size, three decimal digits or more.
    F16,
    /// 8 bits, in units of 1/127 of each feature's largest weight.
    Int8,
}

/// Reusable memory of one predicting thread. Each scorer keeps what it needs in here, so that a row costs no
/// allocation after the first.
#[derive(Default)]
pub struct Scratch(Option<Box<dyn std::any::Any + Send>>);

impl Scratch {
    /// The scratch of type `T`, made by default when there is none yet (or one of another scorer).
    pub fn get<T: Default + Send + 'static>(&mut self) -> &mut T {
        if !self.0.as_ref().is_some_and(|held| held.is::<T>()) {
            self.0 = Some(Box::new(T::default()));
        }
        match self.0.as_mut().and_then(|held| held.downcast_mut()) {
            Some(scratch) => scratch,
            None => unreachable!("just made"),
        }
    }
}

/// Scores classes for a weighted row. What an algorithm's [`crate::train::Trainer`] makes and a model file
/// holds.
pub trait Scorer: Send + Sync {
    /// Name of the kind of scorer, as in the model file (`linear`).
    fn kind(&self) -> &'static str;

    /// What makes this kind of scorer from a model file's arrays.
    fn loader(&self) -> LoadScorer;

    /// Number of classes it knows.
    fn classes(&self) -> usize;

    /// Number of features it knows; entries of a row beyond them are ignored.
    fn features(&self) -> usize;

    /// Writes the `k` best classes for `row` to `out`, best first (ties: lower class number first).
    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>);

    /// As [`Scorer::top_k`] for each of `rows`, whose number and answer are handed to `each`. A scorer that
    /// must read many weights for a row does so for several rows at once; the answers are the same.
    fn top_k_rows(
        &self,
        rows: &[RowView<'_>],
        k: usize,
        scratch: &mut Scratch,
        each: &mut dyn FnMut(usize, &[Scored]),
    ) {
        let mut best = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            self.top_k(*row, k, scratch, &mut best);
            each(number, &best);
        }
    }

    /// The arrays that a model file must hold to make this scorer again, by name.
    fn tensors(&self) -> Vec<(String, Tensor<'_>)>;

    /// The same scorer with its weights stored in another precision.
    fn with_precision(self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>>;

    /// The same scorer with its largest weights only, at most `most` of them, where the scorer has such.
    fn with_largest_weights(self: Box<Self>, _most: usize) -> Result<Box<dyn Scorer>> {
        Err(Error::Parameter(format!(
            "a model of kind `{}` cannot be made smaller by dropping weights",
            self.kind()
        )))
    }

    /// The same scorer with its classes renumbered, or gone, where each has a weight vector of its own.
    fn with_classes(self: Box<Self>, _new_numbers: &NewNumbers) -> Result<Box<dyn Scorer>> {
        Err(reclassify::fixed_classes(self.kind()))
    }

    /// Makes one class of those that get the same number, if this scorer has merged classes already.
    fn merge(&mut self, _new_numbers: &NewNumbers) -> bool {
        false
    }

    /// This scorer, if it has merged classes.
    fn as_merged(&self) -> Option<&Merged> {
        None
    }

    /// This scorer, if models of upper levels are mixed in.
    fn as_mixed(&self) -> Option<&Mixed> {
        None
    }

    /// Number of stored weights and the type they are stored in (`f32`), where the scorer has such.
    fn weight_storage(&self) -> Option<(usize, &'static str)> {
        None
    }

    /// Looks at everything stored: an error in words if a class does not exist. Opening a model does not
    /// look that far.
    fn check_content(&self) -> std::result::Result<(), String> {
        Ok(())
    }

    /// What the score of `class` is before any feature is looked at.
    fn bias(&self, _class: u32) -> f32 {
        0.0
    }

    /// Contribution of each feature of `row` to the score of `class`, where scores are sums over features.
    fn contributions(&self, _row: RowView<'_>, _class: u32) -> Option<Vec<(u32, f32)>> {
        None
    }

    /// The classes with a weight for `feature`, rising, where the scorer has such.
    fn feature_weights(&self, _feature: u32) -> Option<Vec<(u32, f32)>> {
        None
    }

    /// The features with a weight for `class`, rising, where the scorer has such.
    fn class_weights(&self, class: u32) -> Option<Vec<(u32, f32)>> {
        self.class_weights_among(class, 0..self.features() as u32)
    }

    /// As [`Scorer::class_weights`], of these features only, so that threads can share the work.
    fn class_weights_among(&self, _class: u32, _features: Range<u32>) -> Option<Vec<(u32, f32)>> {
        None
    }
}
