//! `pd-sparse`: a margin for each row with few weights and few dual variables, both found while training.
//!
//! ```text
//! minimise over W:   ½ |W|² + l1 |W|_1 + C Σ_i max(0, 1 + max_{n not in Y_i} w_n·x_i - min_{p in Y_i} w_p·x_i)
//! ```
//!
//! Yen, Huang, Zhong, Ravikumar, Dhillon, "PD-Sparse: A Primal and Dual Sparse Approach to Extreme Multiclass and
//! Multilabel Classification" (ICML 2016): fully-corrective block-coordinate Frank-Wolfe in the dual. Each step looks
//! for the wrong class with the steepest gradient of one row, adds it to the row's active set and solves for all of
//! that set. The elastic net keeps the weights sparse, the hinge keeps the active sets small. Several labels per row
//! are learned as they are.
//!
//! The paper estimates the steepest class by sampling features; here weights are kept by feature, a scan over the
//! row's features touches only classes with a weight for one of them, and the search is exact.

use memoir::catalogue::Algorithm;
use memoir::model::{Linear, Scorer};
use memoir::params::{Kind, Spec, Values};
use memoir::train::Trainer;
use memoir::{Dataset, Result, Session};

use crate::margin::{Settings, Solver};
use crate::objective::Objective;

/// The algorithm, for a catalogue.
pub const PD_SPARSE: Algorithm = Algorithm {
    name: "pd-sparse",
    summary: "PD-Sparse: margins with an elastic net, sparse in weights and in dual variables.",
    params: PARAMS,
    build: |values| Ok(Box::new(PdSparse::new(values))),
};

const PARAMS: &[Spec] = &[
    Spec {
        name: "cost",
        kind: Kind::Number(1e-6, 1e6),
        default: "1",
        help: "Weight of the loss against the size of the weights (C)",
    },
    Spec {
        name: "l1",
        kind: Kind::Number(0.0, 1e3),
        default: "0.1",
        help: "Weight of the absolute size of the weights (lambda); more makes them sparser",
    },
    Spec {
        name: "rivals",
        kind: Kind::Integer(1, 10_000),
        default: "1",
        help: "Wrong classes that may join a row's active set in one step",
    },
    Spec {
        name: "tolerance",
        kind: Kind::Number(1e-9, 10.0),
        default: "0.1",
        help: "Stop when a pass over all rows moves no dual variable by more",
    },
    Spec {
        name: "max-passes",
        kind: Kind::Integer(1, 1_000_000),
        default: "20",
        help: "Passes over all rows after which training ends anyway",
    },
];

/// The PD-Sparse classifier.
#[derive(Debug, Clone)]
pub struct PdSparse {
    settings: Settings,
}

impl PdSparse {
    /// With the parameters of [`PD_SPARSE`].
    pub fn new(values: &Values) -> Self {
        Self {
            settings: Settings {
                cost: values.number("cost").unwrap_or(1.0),
                l1: values.number("l1").unwrap_or(0.1),
                rivals: values.integer("rivals").unwrap_or(1) as usize,
                tolerance: values.number("tolerance").unwrap_or(0.1),
                max_passes: values.integer("max-passes").unwrap_or(20) as usize,
            },
        }
    }

    /// The classifier.
    pub fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Linear> {
        let mut solver = Solver::new(data, &self.settings)?;
        solver.run(session)?;
        Ok(solver.into_linear(0.0))
    }

    /// The objective at the solution that [`PdSparse::fit`] finds.
    pub fn objective(&self, data: &Dataset, session: &Session<'_>) -> Result<Objective> {
        let mut solver = Solver::new(data, &self.settings)?;
        solver.run(session)?;
        Ok(solver.objective())
    }
}

impl Trainer for PdSparse {
    fn train(
        &self,
        data: &Dataset,
        _valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>> {
        Ok(Box::new(self.fit(data, session)?))
    }
}
