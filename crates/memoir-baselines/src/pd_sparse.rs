//! `pd-sparse`: a margin for each row with few weights and few dual variables, both found while training.
//!
//! ```text
//! minimise over W:
//!     ½ |W|² + l1 |W|_1 + C Σ_i max(0, 1 + max_{n not in Y_i} w_n·x_i - min_{p in Y_i} w_p·x_i)
//! ```
//!
//! Yen, Huang, Zhong, Ravikumar, Dhillon, "PD-Sparse: A Primal and Dual Sparse Approach to Extreme
//! Multiclass and Multilabel Classification" (ICML 2016): fully-corrective block-coordinate Frank-Wolfe in
//! the dual. Each step looks for the wrong class with the steepest gradient of one row, adds it to the row's
//! active set and solves for all of that set. The elastic net keeps the weights sparse, the hinge keeps the
//! active sets small. Several labels per row are learned as they are.
//!
//! An elastic net shrinks the weights it keeps. The authors' post-solve takes that back: the problem is
//! solved again without `l1`, over the weights and the classes of each row that were not zero
//! ([`PdSparseParams::post_passes`]).
//!
//! The paper estimates the steepest class by sampling features; here weights are kept by feature, a scan
//! over the row's features touches only classes with a weight for one of them, and the search is exact.

use memoir::catalogue::AlgorithmParams;
use memoir::model::Linear;
use memoir::params::Kind;
use memoir::train::{TrainRequest, Trained, Trainer};
use memoir::{Dataset, Result, Session, parameters};

use crate::margin::{Settings, Solution, Solver};
use crate::objective::Objective;

parameters! {
    /// Parameters of `pd-sparse`.
    pub struct PdSparseParams {
        /// Weight of the loss against the size of the weights (C)
        cost: f64 = "1" in Kind::Number(1e-6, 1e6);
        /// Weight of the absolute size of the weights (lambda); more makes them sparser
        l1: f64 = "0.1" in Kind::Number(0.0, 1e3);
        /// Wrong classes that may join a row's active set in one step
        rivals: usize = "1" in Kind::Integer(1, 10_000);
        /// Stop when a pass over all rows moves no dual variable by more
        tolerance: f64 = "0.1" in Kind::Number(1e-9, 10.0);
        /// Passes over all rows after which training ends anyway
        max_passes: usize = "20" in Kind::Integer(1, 1_000_000);
        /// Passes of a second solution without l1, in which only the weights and the wrong classes of each
        /// row that are left may change (the authors' post-solve); 0 for none
        post_passes: usize = "0" in Kind::Integer(0, 1_000_000);
    }
}

impl AlgorithmParams for PdSparseParams {
    const NAME: &'static str = "pd-sparse";
    const SUMMARY: &'static str =
        "PD-Sparse: margins with an elastic net, sparse in weights and in dual variables.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(PdSparse::new(self)))
    }
}

/// The PD-Sparse classifier.
#[derive(Debug, Clone)]
pub struct PdSparse {
    settings: Settings,
    post_passes: usize,
}

impl PdSparse {
    /// With these parameters.
    pub fn new(params: &PdSparseParams) -> Self {
        Self {
            settings: Settings {
                cost: params.cost,
                l1: params.l1,
                rivals: params.rivals,
                tolerance: params.tolerance,
                max_passes: params.max_passes,
            },
            post_passes: params.post_passes,
        }
    }

    /// The classifier.
    pub fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Linear> {
        Ok(self.solve(data, session)?.into_linear(0.0))
    }

    fn solve(&self, data: &Dataset, session: &Session<'_>) -> Result<Solution> {
        let mut solver = Solver::new(data, &self.settings)?;
        solver.run(session)?;
        if self.post_passes > 0 {
            solver.solve_again(self.post_passes, session)?;
        }
        Ok(solver.into_solution())
    }

    /// The objective at the solution that [`PdSparse::fit`] finds, before it is solved again.
    pub fn objective(&self, data: &Dataset, session: &Session<'_>) -> Result<Objective> {
        let mut solver = Solver::new(data, &self.settings)?;
        solver.run(session)?;
        Ok(solver.objective())
    }
}

impl Trainer for PdSparse {
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        let solution = self.solve(&request.data, session)?;
        drop(request);
        Ok(Trained::new(solution.into_linear(0.0)))
    }
}
