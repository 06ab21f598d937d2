//! The paper's algorithms: multi-class support vector machines trained by sub-gradient steps against the strongest
//! wrong class, which an [`oracle`](crate::oracle) finds.
//!
//! `memoir-l2` is Algorithm 1, `memoir-l1` Algorithm 2, `memoir-lsh` Algorithm 1 on reduced rows. They share the descent
//! in `descent.rs`; what differs is in [`Penalty`] and in the form of the weights. Where the paper's text and its authors' code differ, the default follows the code (it is what the
//! paper's figures were measured with) and a parameter offers the text's way.
//!
//! A row with several labels is an example once for each of them, as in the paper, but none of its labels is ever its
//! rival: labels of one text do not push each other away.

mod average;
mod descent;
mod finish;
mod reduced;
mod sampling;
mod settings;
mod theory_note;
mod weights;

use super::Trainer;
use crate::catalogue::Algorithm;
use crate::data::Dataset;
use crate::model::Scorer;
use crate::oracle::OracleKind;
use crate::params::Values;
use crate::sparse::ClassRows;
use crate::text::RowNeeds;
use crate::{Result, Session};

pub use reduced::{MEMOIR_LSH, ReducedTrainer};
pub use sampling::Sampling;
pub use settings::{Penalty, Prediction, Settings};

/// Algorithm 1, for a catalogue.
pub const MEMOIR_L2: Algorithm = Algorithm {
    name: "memoir-l2",
    summary: "The paper's Algorithm 1: l2-regularised multi-class SVM with an inexact margin.",
    params: &settings::L2_PARAMS,
    build: |values| Ok(Box::new(MarginTrainer::new(values, Penalty::SquaredL2)?)),
};

/// Algorithm 2, for a catalogue.
pub const MEMOIR_L1: Algorithm = Algorithm {
    name: "memoir-l1",
    summary: "The paper's Algorithm 2: l1-regularised multi-class SVM with an inexact margin; small models.",
    params: &settings::L1_PARAMS,
    build: |values| Ok(Box::new(MarginTrainer::new(values, Penalty::L1)?)),
};

/// Trains `memoir-l2` or `memoir-l1`.
#[derive(Debug, Clone)]
pub struct MarginTrainer {
    settings: Settings,
    oracle: OracleKind,
}

impl MarginTrainer {
    /// With the parameters of [`MEMOIR_L2`] or [`MEMOIR_L1`].
    pub fn new(values: &Values, penalty: Penalty) -> Result<Self> {
        Ok(Self {
            settings: Settings::new(values, penalty)?,
            oracle: OracleKind::from_values(values)?,
        })
    }
}

impl Trainer for MarginTrainer {
    fn train(
        &self,
        data: &Dataset,
        valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>> {
        let mut oracle = self.oracle.build(session.seed());
        let start = ClassRows::new(data.classes.len(), data.rows.width());
        let linear = descent::descend(&self.settings, start, oracle.as_mut(), data, valid, session)?;
        Ok(Box::new(linear))
    }

    fn row_needs(&self) -> RowNeeds {
        RowNeeds {
            constant: true,
            ..RowNeeds::default()
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod theory_tests;
