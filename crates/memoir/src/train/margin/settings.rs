//! Parameters of the paper's algorithms, with the defaults of its appendix.

use super::Sampling;
use crate::oracle::ORACLE_PARAMS;
use crate::params::{Kind, Spec, Values};
use crate::{Error, Result};

/// What is added to the loss: the two algorithms differ in this alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Penalty {
    /// Half the squared Frobenius norm: shrink, update, project (Algorithm 1).
    SquaredL2,
    /// Sum of absolute values: update, Truncate (Algorithm 2).
    L1,
}

/// How a finished model compares a row with a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prediction {
    /// By the angle: class vectors are scaled to unit length, as in the authors' code.
    Cosine,
    /// By the inner product, as in the paper's text.
    Dot,
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
    /// How examples are drawn.
    pub sampling: Sampling,
    /// Whether only examples with `1 + x^T (w_r - w_y) > 0` change the weights.
    pub margin_test: bool,
    /// Whether the result is the mean of all iterations' weights (the theorems' W-bar) rather than the last.
    pub average: bool,
    /// How a finished model compares.
    pub prediction: Prediction,
    /// With held-out rows: stop after so many iterations without a better macro-F1.
    pub patience: u64,
    /// Whether the terms of Theorem 2 or 3 are told at the end.
    pub report_theory: bool,
}

const SWITCH: Kind = Kind::Choice(&["on", "off"]);

/// Parameters that all of the paper's algorithms have.
pub(super) const COMMON: [Spec; 9] = [
    Spec {
        name: "iterations",
        kind: Kind::Integer(1, 10_000_000),
        default: "auto",
        help: "Number of batches (the paper's T); auto: 50 up to 11 thousand classes, growing with their square root; \
               with held-out rows at most four times that",
    },
    Spec {
        name: "batch-size",
        kind: Kind::Integer(1, 100_000_000),
        default: "auto",
        help: "Examples in a batch (the paper's |b|); auto: 100 times the square root of the number of classes",
    },
    Spec {
        name: "step-size",
        kind: Kind::Number(0.0, 1e9),
        default: "0.1",
        help: "Size of the first step (the paper's eta_0)",
    },
    Spec {
        name: "step-decay",
        kind: Kind::Number(0.0, 1e9),
        default: "0.02",
        help: "How fast steps become smaller (the paper's eta_step): eta_t = eta_0 / (1 + eta_step t)",
    },
    Spec {
        name: "sampling",
        kind: Kind::Choice(&["balanced", "uniform"]),
        default: "balanced",
        help: "Whether every class (balanced) or every row (uniform) is equally likely to be drawn",
    },
    Spec {
        name: "average",
        kind: SWITCH,
        default: "off",
        help: "Return the mean of all iterations' weights, which the theorems speak of, instead of the last",
    },
    Spec {
        name: "prediction",
        kind: Kind::Choice(&["cosine", "dot"]),
        default: "cosine",
        help: "Whether the finished model compares by angle (class vectors of unit length) or by inner product",
    },
    Spec {
        name: "patience",
        kind: Kind::Integer(1, 1_000_000),
        default: "5",
        help: "With held-out rows: stop after so many iterations without a better macro-F1 there",
    },
    Spec {
        name: "report-theory",
        kind: SWITCH,
        default: "off",
        help: "Measure how inexact the oracle was and tell the terms of the convergence theorem",
    },
];

const fn lambda(default: &'static str) -> Spec {
    Spec {
        name: "lambda",
        kind: Kind::Number(1e-12, 1e9),
        default,
        help: "Weight of the regulariser (the paper's lambda)",
    }
}

const fn margin_test(default: &'static str) -> Spec {
    Spec {
        name: "margin-test",
        kind: SWITCH,
        default,
        help: "Whether only examples that violate the margin change the weights",
    }
}

/// The concatenation of three tables; `N` is its length.
pub(super) const fn join<const N: usize>(first: &[Spec], second: &[Spec], third: &[Spec]) -> [Spec; N] {
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() {
            first[at]
        } else if at < first.len() + second.len() {
            second[at - first.len()]
        } else {
            third[at - first.len() - second.len()]
        };
        at += 1;
    }
    all
}

const SIZE: usize = COMMON.len() + ORACLE_PARAMS.len() + 2;

/// Parameters of `memoir-l2`. The authors' code updates on every example, so the margin test is off.
pub(super) const L2_PARAMS: [Spec; SIZE] = join(&[lambda("1"), margin_test("off")], &COMMON, ORACLE_PARAMS);

/// Parameters of `memoir-l1`.
pub(super) const L1_PARAMS: [Spec; SIZE] =
    join(&[lambda("0.000001"), margin_test("on")], &COMMON, ORACLE_PARAMS);

/// Parameters of `memoir-lsh`. Its authors' code starts with steps of a tenth of the appendix's.
pub(super) const LSH_PARAMS: [Spec; SIZE + 2] = join(
    &[
        lambda("1"),
        margin_test("on"),
        Spec {
            name: "dimensions",
            kind: Kind::Integer(1, 16_384),
            default: "2048",
            help: "Dimensions that rows are reduced to by a truncated singular value decomposition",
        },
        Spec {
            name: "svd-multiplications",
            kind: Kind::Integer(1, 100),
            default: "3",
            help: "Multiplications that turn random directions towards the strongest ones; more are more exact",
        },
    ],
    &COMMON,
    &HASHING_FIRST,
);

/// The oracles' parameters, with `simple-lsh` when none is named.
const HASHING_FIRST: [Spec; ORACLE_PARAMS.len()] = {
    let mut all: [Spec; ORACLE_PARAMS.len()] = join(ORACLE_PARAMS, &[], &[]);
    all[0].default = "simple-lsh";
    all
};

impl Settings {
    /// From the checked values of one of the tables above.
    pub fn new(values: &Values, penalty: Penalty) -> Result<Self> {
        let number = |name: &str| {
            let missing = || Error::Parameter(format!("`{name}` must be given"));
            values.number(name).ok_or_else(missing)
        };
        let is_on = |name: &str| values.word(name) == Some("on");
        Ok(Self {
            penalty,
            lambda: number("lambda")?,
            iterations: values.integer("iterations"),
            batch_size: values.integer("batch-size"),
            step_size: number("step-size")?,
            step_decay: number("step-decay")?,
            sampling: match values.word("sampling") {
                Some("uniform") => Sampling::Uniform,
                _ => Sampling::Balanced,
            },
            margin_test: is_on("margin-test"),
            average: is_on("average"),
            prediction: match values.word("prediction") {
                Some("dot") => Prediction::Dot,
                _ => Prediction::Cosine,
            },
            patience: values.integer("patience").unwrap_or(5),
            report_theory: is_on("report-theory"),
        })
    }

    /// `eta_t`, for t = 1, 2, …
    pub fn step(&self, iteration: u64) -> f64 {
        self.step_size / (1.0 + self.step_decay * iteration as f64)
    }

    /// T for so many classes. The paper's appendix has 25, 40, 48, 60 and 80 for 12, 28, 36, 50 and 100 thousand
    /// classes: close to the square root of their number divided by 4.2. Held-out rows of our own data sets still gain
    /// a point from twice as many, so that is the automatic choice.
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
