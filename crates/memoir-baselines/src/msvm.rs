//! `msvm`: the multi-class SVM of Crammer and Singer, one problem for all classes together.
//!
//! ```text
//! minimise over W:   ½ |W|² + C Σ_i max(0, 1 + max_{n ≠ y_i} w_n·x_i - w_{y_i}·x_i)
//! ```
//!
//! Crammer and Singer, "On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines" (JMLR 2, 2001);
//! solved by the sequential dual method of Keerthi, Sundararajan, Chang, Hsieh, Lin (KDD 2008), LIBLINEAR's `-s 4`.
//! Where LIBLINEAR keeps a variable for each row and class and a weight for each feature and class, only those that
//! are not zero are kept here. A row with several labels asks for a margin between each of them and every other class.

use memoir::catalogue::Algorithm;
use memoir::model::{Linear, Scorer};
use memoir::params::{Kind, Spec, Values};
use memoir::train::Trainer;
use memoir::{Dataset, Result, Session};

use crate::margin::{Settings, Solver};
use crate::objective::Objective;

/// The algorithm, for a catalogue.
pub const MSVM: Algorithm = Algorithm {
    name: "msvm",
    summary: "The multi-class SVM of Crammer and Singer, solved as LIBLINEAR does.",
    params: PARAMS,
    build: |values| Ok(Box::new(Msvm::new(values))),
};

const PARAMS: &[Spec] = &[
    Spec {
        name: "cost",
        kind: Kind::Number(1e-6, 1e6),
        default: "1",
        help: "Weight of the loss against the size of the weights (C)",
    },
    Spec {
        name: "tolerance",
        kind: Kind::Number(1e-9, 10.0),
        default: "0.05",
        help: "Stop when a pass over all rows moves no dual variable by more",
    },
    Spec {
        name: "max-passes",
        kind: Kind::Integer(1, 1_000_000),
        default: "100",
        help: "Passes over all rows after which training ends anyway",
    },
    Spec {
        name: "min-weight",
        kind: Kind::Number(0.0, f64::MAX),
        default: "0.01",
        help: "Drop weights whose absolute value is below this",
    },
];

/// Wrong classes that may join a row's variables in one step: more find the row's optimum in fewer steps.
const RIVALS: usize = 16;

/// The multi-class SVM of Crammer and Singer.
#[derive(Debug, Clone)]
pub struct Msvm {
    settings: Settings,
    min_weight: f64,
}

impl Msvm {
    /// With the parameters of [`MSVM`].
    pub fn new(values: &Values) -> Self {
        Self {
            settings: Settings {
                cost: values.number("cost").unwrap_or(1.0),
                l1: 0.0,
                rivals: RIVALS,
                tolerance: values.number("tolerance").unwrap_or(0.05),
                max_passes: values.integer("max-passes").unwrap_or(100) as usize,
            },
            min_weight: values.number("min-weight").unwrap_or(0.0),
        }
    }

    /// The classifier.
    pub fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Linear> {
        let mut solver = Solver::new(data, &self.settings)?;
        solver.run(session)?;
        Ok(solver.into_linear(self.min_weight))
    }

    /// The objective at the solution that [`Msvm::fit`] finds, before small weights are dropped.
    pub fn objective(&self, data: &Dataset, session: &Session<'_>) -> Result<Objective> {
        let mut solver = Solver::new(data, &self.settings)?;
        solver.run(session)?;
        Ok(solver.objective())
    }
}

impl Trainer for Msvm {
    fn train(
        &self,
        data: &Dataset,
        _valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>> {
        Ok(Box::new(self.fit(data, session)?))
    }
}
