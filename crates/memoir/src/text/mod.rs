//! From raw text, or from vectors as the user has them, to the weighted rows that training and prediction see.

mod weighting;

pub use weighting::{Weighting, WeightingScheme};

/// How raw input becomes weighted rows. Fitted in training, saved in the model.
#[derive(Debug)]
pub struct Preprocessing {
    /// What the input is.
    pub input: Input,
    /// What is done to the values.
    pub weighting: Weighting,
}

/// What a model's input is.
#[derive(Debug)]
pub enum Input {
    /// Sparse vectors with this many features.
    Vectors {
        /// Number of features seen in training.
        features: usize,
    },
}
