//! How rows are prepared for training.

use crate::choices;
use crate::sparse::Rows;
use crate::text::{RowNeeds, TextParams, Weighting, WeightingScheme};

choices! {
    /// What the values of training vectors are.
    #[derive(Default)]
    pub enum WeightingChoice {
        /// Counts if all values are whole and none negative, else weights.
        #[default]
        Auto = "auto",
        /// Counts: they get a logarithm and an inverse document frequency, and rows are scaled.
        Counts = "counts",
        /// Weights: rows are scaled.
        Unit = "unit",
        /// They are used as they are.
        Raw = "raw",
    }
}

impl WeightingChoice {
    /// The scheme for `rows`.
    pub(super) fn scheme(self, rows: &Rows) -> WeightingScheme {
        match self {
            Self::Auto => Weighting::detect(rows),
            Self::Counts => WeightingScheme::LogTfIdf,
            Self::Unit => WeightingScheme::Unit,
            Self::Raw => WeightingScheme::Raw,
        }
    }
}

/// How training rows are prepared for training.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrepOptions {
    /// How text becomes features, where the data is text.
    pub text: TextParams,
    /// What to do with the values.
    pub weighting: WeightingChoice,
    /// What the algorithm wants of its rows.
    pub needs: RowNeeds,
    /// Whether several views of a text may be chosen, to be learned from apart.
    pub views: bool,
    /// Share of the rows that will be held out by the session's seed. Nothing is chosen by them.
    pub held_out_share: Option<f64>,
}
