//! What users may set.

use super::Softmax;
use crate::catalogue::AlgorithmParams;
use crate::params::{Kind, own_parameters};
use crate::train::Trainer;
use crate::{Result, choices};

own_parameters! {
    /// Parameters of `softmax`: a softmax over each row's labels and their strongest rivals.
    pub struct SoftmaxParams {
        /// Passes over the rows: the first finds each row's rivals by a scan, the others use these again
        passes: Option<usize> = "auto" in Kind::Integer(1, 1000);
        /// Whether later passes look for each row's rivals anew instead of scoring those of the first pass
        /// again
        rescan: Option<Rescan> = "auto";
        /// Strongest wrong classes that each row is told apart from
        rivals: Option<usize> = "auto" in Kind::Integer(1, 10_000);
        /// How scores are added up to find rivals: rough, in 16 bits where these are precise enough, which
        /// is faster, or exact, in 32 bits; answers are always exact
        search: Search = "rough";
        /// Probability mass of all classes that are no rivals, in masses of the weakest rival
        tail: Option<f64> = "auto" in Kind::Number(0.0, 1000.0);
        /// Length of the first step along the gradient
        step_size: Option<f64> = "auto" in Kind::Number(0.0, 1000.0);
        /// Length of the last step; steps shrink evenly from the first to the last
        last_step_size: Option<f64> = "auto" in Kind::Number(0.0, 1000.0);
        /// Power of a feature's rareness with which its steps grow: 0 for steps alike, 0.5 for much longer
        /// ones of rare features
        rare_power: Option<f64> = "auto" in Kind::Number(0.0, 1.0);
        /// Length of each class's weight vector before the first step (a class centroid)
        initial_scale: Option<f64> = "auto" in Kind::Number(0.01, 30.0);
        /// Power of the class size with which initial weights grow
        size_power: Option<f64> = "auto" in Kind::Number(-1.0, 1.0);
        /// Pairs of feature and class whose initial weight is smaller than this never get a weight
        least_initial_weight: Option<f64> = "auto" in Kind::Number(0.0, 30.0);
        /// Rows scored against the same weights before these move (auto: more after the first pass)
        batch: Option<usize> = "auto" in Kind::Integer(1, 100_000_000);
        /// From rows as they come (0) to every class alike (1): how much more rows of small classes count
        class_balance: Option<f64> = "auto" in Kind::Number(0.0, 1.0);
        /// Share of a training row's squared length that may be left out, smallest values first
        trim: Option<f64> = "auto" in Kind::Number(0.0, 0.9);
        /// The same share for the rows that the finished model answers
        answer_trim: Option<f64> = "auto" in Kind::Number(0.0, 0.9);
        /// Weights smaller than this are dropped at the end
        least_weight: Option<f64> = "auto" in Kind::Number(0.0, 30.0);
        /// Time spent on accuracy: parameters that are left on auto follow it. High searches more rivals, in
        /// every pass; low does with fewer
        effort: Effort = "default";
        /// Power of a row's length that it is divided by: 1 makes all rows equally long, 0 leaves lengths as
        /// they are
        length_power: Option<f64> = "auto" in Kind::Number(0.0, 1.0);
        /// How much less a feature counts that is spread over many classes: 0 not at all, 1 nothing if it is
        /// spread evenly
        entropy_weighting: Option<f64> = "auto" in Kind::Number(0.0, 1.0);
        /// Training rows kept in the model file, to be repeated by `--from`, which then forgets less (auto:
        /// none, or as many as the base model)
        keep_rows: Option<usize> = "auto" in Kind::Integer(0, 1_000_000_000);
        /// Say at the end how many of the strongest rivals, by an exact scan, a rough one finds and the
        /// memory of the first pass holds
        report_rivals: bool = "off";
    }
}

choices! {
    /// Time spent on accuracy.
    pub enum Effort {
        /// Fewer rivals and passes.
        Low = "low",
        /// A balance.
        Default = "default",
        /// More rivals, which every pass searches again.
        High = "high",
    }
}

choices! {
    /// Whether later passes look for each row's rivals anew.
    pub enum Rescan {
        /// The rivals of the first pass are scored again.
        No = "no",
        /// Every pass scans all classes.
        Yes = "yes",
    }
}

choices! {
    /// How scores are added up to find rivals.
    pub enum Search {
        /// In 16 bits.
        Rough = "rough",
        /// In 32 bits.
        Exact = "exact",
    }
}

impl AlgorithmParams for SoftmaxParams {
    const NAME: &'static str = "softmax";
    const SUMMARY: &'static str =
        "softmax over each row's labels and their strongest rivals; the default, and the best in most cases";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(Softmax::new(self.clone())))
    }
}
