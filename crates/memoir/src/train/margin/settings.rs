//! Parameters of the paper's algorithms, with the defaults of its appendix.

use super::Sampling;
use crate::choices;
use crate::oracle::OracleParams;
use crate::params::{Kind, own_parameters};

/// What is added to the loss: the two algorithms differ in this alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Penalty {
    /// Half the squared Frobenius norm: shrink, update, project (Algorithm 1).
    SquaredL2,
    /// Sum of absolute values: update, Truncate (Algorithm 2).
    L1,
}

choices! {
    /// How a finished model compares a row with a class.
    pub enum Prediction {
        /// By the angle: class vectors are scaled to unit length, as in the authors' code.
        Cosine = "cosine",
        /// By the inner product, as in the paper's text.
        Dot = "dot",
    }
}

choices! {
    /// What a step of size `eta_t` is taken for.
    pub enum StepPer {
        /// For the mean over the batch's examples, as in the authors' code.
        Batch = "batch",
        /// For each example, as in the paper's text.
        Example = "example",
    }
}

/// Everything about a run but the oracle.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What is added to the loss.
    pub penalty: Penalty,
    /// Weight of the penalty: the paper's lambda.
    pub lambda: f64,
    /// Number of batches: T. Without it, by the number of classes as in the paper's appendix.
    pub iterations: Option<u64>,
    /// Examples of a batch: |b|. Without it, 100 times the square root of the number of classes.
    pub batch_size: Option<u64>,
    /// Size of the first step: `eta_0`.
    pub step_size: f64,
    /// How fast steps become smaller: `eta_step` in `eta_t = eta_0 / (1 + eta_step t)`.
    pub step_decay: f64,
    /// t of the first batch: 0 or 1.
    pub first_iteration: u64,
    /// Whether a batch's steps add up or are averaged.
    pub step_per: StepPer,
    /// Largest share of a vector's length that Truncate may take; it leaves other vectors alone.
    pub truncation_limit: f64,
    /// How examples are drawn.
    pub sampling: Sampling,
    /// Whether only examples with `1 + x^T (w_r - w_y) > 0` change the weights.
    pub margin_test: bool,
    /// Whether the result is the mean of all iterations' weights (the theorems' W-bar) rather than the last.
    pub average: bool,
    /// Which of the classes that the oracle finds is pushed: 1 for the strongest.
    pub rival_rank: usize,
    /// How a finished model compares.
    pub prediction: Prediction,
    /// With held-out rows: stop after so many iterations without a better macro-F1.
    pub patience: u64,
    /// Whether the terms of Theorem 2 or 3 are told at the end.
    pub report_theory: bool,
    /// Examples of each batch on which the oracle is measured; 0 for none.
    pub measure_oracle: usize,
}

/// Defines the parameters of one of the algorithms. They differ in a few defaults, and `memoir-lsh` has two
/// more.
macro_rules! margin_parameters {
    (
        $(#[$attribute:meta])*
        $name:ident, lambda = $lambda:literal, margin_test = $margin_test:literal, oracle = $oracle:literal;
        $($more:tt)*
    ) => {
        own_parameters! {
            $(#[$attribute])*
            pub struct $name {
                /// Weight of the regulariser (the paper's lambda)
                lambda: f64 = $lambda in Kind::Number(1e-12, 1e9);
                /// Whether only examples that violate the margin change the weights
                margin_test: bool = $margin_test;
                $($more)*
                /// Number of batches (the paper's T); auto: 50 up to 11 thousand classes, growing with their
                /// square root; with held-out rows at most four times that
                iterations: Option<u64> = "auto" in Kind::Integer(1, 10_000_000);
                /// Examples in a batch (the paper's |b|); auto: 100 times the square root of the number of
                /// classes
                batch_size: Option<u64> = "auto" in Kind::Integer(1, 100_000_000);
                /// Size of the first step (the paper's eta_0)
                step_size: f64 = "0.1" in Kind::Number(0.0, 1e9);
                /// How fast steps become smaller (the paper's eta_step): eta_t = eta_0 / (1 + eta_step t)
                step_decay: f64 = "0.02" in Kind::Number(0.0, 1e9);
                /// t of the first batch: 1 as in Algorithms 1 and 2, or 0, so that the first step is eta_0
                first_iteration: u64 = "1" in Kind::Integer(0, 1);
                /// Whether a batch makes one step, the mean over its examples, as in the authors' code, or
                /// every example a whole one, as in the paper's text
                step_per: StepPer = "batch";
                /// Whether every class (balanced) or every row (uniform) is equally likely to be drawn
                sampling: Sampling = "balanced";
                /// Return the mean of all iterations' weights, which the theorems speak of, instead of the
                /// last
                average: bool = "off";
                /// Push the class of this rank among those found instead of the strongest; to see how much
                /// nearness matters
                rival_rank: usize = "1" in Kind::Integer(1, 1_000_000);
                /// Whether the finished model compares by angle (class vectors of unit length) or by inner
                /// product
                prediction: Prediction = "cosine";
                /// With held-out rows: stop after so many iterations without a better macro-F1 there
                patience: u64 = "5" in Kind::Integer(1, 1_000_000);
                /// Measure how inexact the oracle was and tell the terms of the convergence theorem
                report_theory: bool = "off";
                /// Measure the oracle on so many examples of every batch, with the weights of that moment,
                /// and tell recall, epsilon and which classes it pushes; the model stays the same
                measure_oracle: usize = "0" in Kind::Integer(0, 1_000_000);
                ..search: OracleParams, with "oracle" = $oracle;
            }
        }

        impl $name {
            /// What the descent needs of them.
            pub(super) fn settings(&self, penalty: Penalty) -> Settings {
                Settings {
                    penalty,
                    lambda: self.lambda,
                    iterations: self.iterations,
                    batch_size: self.batch_size,
                    step_size: self.step_size,
                    step_decay: self.step_decay,
                    first_iteration: self.first_iteration,
                    step_per: self.step_per,
                    truncation_limit: 1.0,
                    sampling: self.sampling,
                    margin_test: self.margin_test,
                    average: self.average,
                    rival_rank: self.rival_rank,
                    prediction: self.prediction,
                    patience: self.patience,
                    report_theory: self.report_theory,
                    measure_oracle: self.measure_oracle,
                }
            }
        }
    };
}

margin_parameters! {
    /// Parameters of `memoir-l2`. The authors' code updates on every example, so the margin test is off.
    MemoirL2Params, lambda = "1", margin_test = "off", oracle = "exact";
}

margin_parameters! {
    /// Parameters of `memoir-l1`.
    MemoirL1Params, lambda = "0.000001", margin_test = "on", oracle = "exact";
    /// Truncate a class's vector only where that takes at most this share of its length (the paper's text);
    /// 1 is always
    truncation_limit: f64 = "1" in Kind::Number(0.0, 1.0);
}

margin_parameters! {
    /// Parameters of `memoir-lsh`.
    MemoirLshParams, lambda = "1", margin_test = "on", oracle = "simple-lsh";
    /// Dimensions that rows are reduced to by a truncated singular value decomposition
    dimensions: usize = "2048" in Kind::Integer(1, 16_384);
    /// Multiplications that turn random directions towards the strongest ones; more are more exact
    svd_multiplications: usize = "3" in Kind::Integer(1, 100);
    /// Append the constant feature to reduced rows, as the authors do, rather than reduce it with the others
    constant_after_svd: bool = "off";
}

impl Settings {
    /// `eta_t` of the first, second … batch: t = 1, 2, … or 0, 1, …
    pub fn step(&self, batch: u64) -> f64 {
        let iteration = (batch - 1 + self.first_iteration) as f64;
        self.step_size / (1.0 + self.step_decay * iteration)
    }

    /// What an example's row is multiplied by in a batch of so many.
    pub(super) fn example_step(&self, step: f64, batch_size: usize) -> f32 {
        match self.step_per {
            StepPer::Batch => (step / batch_size as f64) as f32,
            StepPer::Example => step as f32,
        }
    }

    /// T for so many classes. The paper's appendix has 25, 40, 48, 60 and 80 for 12, 28, 36, 50 and 100
    /// thousand classes: close to the square root of their number divided by 4.2. Held-out rows of our own
    /// data sets still gain a point from twice as many, so that is the automatic choice.
    pub fn iterations_for(&self, classes: usize, has_valid: bool) -> u64 {
        let by_classes = ((classes as f64).sqrt() / 2.1).round().max(50.0) as u64;
        let automatic = if has_valid { 4 * by_classes } else { by_classes };
        self.iterations.unwrap_or(automatic)
    }

    /// |b| for so many classes.
    pub fn batch_size_for(&self, classes: usize) -> usize {
        let automatic = (100.0 * (classes as f64).sqrt()).round() as u64;
        self.batch_size.unwrap_or(automatic).max(1) as usize
    }
}
