//! `msvm`: the multi-class SVM of Crammer and Singer, one problem for all classes together.
//!
//! ```text
//! minimise over W:   ½ |W|² + C Σ_i max(0, 1 + max_{n ≠ y_i} w_n·x_i - w_{y_i}·x_i)
//! ```
//!
//! Crammer and Singer, "On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines" (JMLR
//! 2, 2001); solved by the sequential dual method of Keerthi, Sundararajan, Chang, Hsieh, Lin (KDD 2008),
//! LIBLINEAR's `-s 4`. Where LIBLINEAR keeps a variable for each row and class and a weight for each feature
//! and class, only those that are not zero are kept here. A row with several labels asks for a margin
//! between each of them and every other class.

use memoir::catalogue::AlgorithmParams;
use memoir::model::Linear;
use memoir::params::Kind;
use memoir::train::{TrainRequest, Trained, Trainer};
use memoir::{Dataset, Result, Session, parameters};

use crate::margin::{Settings, Solution, Solver};
use crate::objective::Objective;

parameters! {
    /// Parameters of `msvm`.
    pub struct MsvmParams {
        /// Weight of the loss against the size of the weights (C)
        cost: f64 = "1" in Kind::Number(1e-6, 1e6);
        /// Stop when a pass over all rows moves no dual variable by more
        tolerance: f64 = "0.05" in Kind::Number(1e-9, 10.0);
        /// Passes over all rows after which training ends anyway
        max_passes: usize = "100" in Kind::Integer(1, 1_000_000);
        /// Drop weights whose absolute value is below this
        min_weight: f64 = "0.01" in Kind::Number(0.0, f64::MAX);
    }
}

impl AlgorithmParams for MsvmParams {
    const NAME: &'static str = "msvm";
    const SUMMARY: &'static str = "The multi-class SVM of Crammer and Singer, solved as LIBLINEAR does.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(Msvm::new(self)))
    }
}

/// Wrong classes that may join a row's variables in one step: more find the row's optimum in fewer steps.
const RIVALS: usize = 16;

/// The multi-class SVM of Crammer and Singer.
#[derive(Debug, Clone)]
pub struct Msvm {
    settings: Settings,
    min_weight: f64,
}

impl Msvm {
    /// With these parameters.
    pub fn new(params: &MsvmParams) -> Self {
        Self {
            settings: Settings {
                cost: params.cost,
                l1: 0.0,
                rivals: RIVALS,
                tolerance: params.tolerance,
                max_passes: params.max_passes,
            },
            min_weight: params.min_weight,
        }
    }

    /// The classifier.
    pub fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Linear> {
        Ok(self.solve(data, session)?.into_linear(self.min_weight))
    }

    fn solve(&self, data: &Dataset, session: &Session<'_>) -> Result<Solution> {
        let mut solver = Solver::new(data, &self.settings)?;
        solver.run(session)?;
        Ok(solver.into_solution())
    }

    /// The objective at the solution that [`Msvm::fit`] finds, before small weights are dropped.
    pub fn objective(&self, data: &Dataset, session: &Session<'_>) -> Result<Objective> {
        let mut solver = Solver::new(data, &self.settings)?;
        solver.run(session)?;
        Ok(solver.objective())
    }
}

impl Trainer for Msvm {
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        let solution = self.solve(&request.data, session)?;
        drop(request);
        Ok(Trained::new(solution.into_linear(self.min_weight)))
    }
}
