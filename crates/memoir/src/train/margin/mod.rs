//! The paper's algorithms: multi-class support vector machines trained by sub-gradient steps against the
//! strongest wrong class, which an [`oracle`](crate::oracle) finds.
//!
//! `memoir-l2` is Algorithm 1, `memoir-l1` Algorithm 2, `memoir-lsh` Algorithm 1 on reduced rows. They share
//! the descent in `descent.rs`; what differs is in [`Penalty`] and in the form of the weights. Where the
//! paper's text and its authors' code differ, the default follows the code (it is what the paper's figures
//! were measured with) and a parameter offers the text's way.
//!
//! A row with several labels is an example once for each of them, as in the paper, but none of its labels is
//! ever its rival: labels of one text do not push each other away.

mod average;
mod descent;
mod finish;
mod measure;
mod reduced;
mod sampling;
mod settings;
mod theory_note;
mod weights;

use super::{TrainRequest, Trained, Trainer};
use crate::catalogue::AlgorithmParams;
use crate::oracle::OracleKind;
use crate::sparse::ClassRows;
use crate::text::RowNeeds;
use crate::{Result, Session};

pub use measure::OracleMeasurement;
pub use sampling::Sampling;
pub use settings::{MemoirL1Params, MemoirL2Params, MemoirLshParams, Penalty, Prediction, Settings, StepPer};

impl AlgorithmParams for MemoirL2Params {
    const NAME: &'static str = "memoir-l2";
    const SUMMARY: &'static str =
        "The paper's Algorithm 1: l2-regularised multi-class SVM with an inexact margin.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(MarginTrainer {
            settings: self.settings(Penalty::SquaredL2),
            oracle: (&self.search).into(),
        }))
    }
}

impl AlgorithmParams for MemoirL1Params {
    const NAME: &'static str = "memoir-l1";
    const SUMMARY: &'static str =
        "The paper's Algorithm 2: l1-regularised multi-class SVM with an inexact margin; small models.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(MarginTrainer {
            settings: Settings {
                truncation_limit: self.truncation_limit,
                ..self.settings(Penalty::L1)
            },
            oracle: (&self.search).into(),
        }))
    }
}

/// Trains `memoir-l2` or `memoir-l1`.
#[derive(Debug, Clone)]
struct MarginTrainer {
    settings: Settings,
    oracle: OracleKind,
}

impl Trainer for MarginTrainer {
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        let (data, held_out) = (&request.data, request.held_out);
        let mut oracle = self.oracle.build(session.seed());
        let start = ClassRows::new(data.classes.len(), data.rows.width());
        let linear = descent::descend(&self.settings, start, oracle.as_mut(), data, held_out, session)?;
        Ok(Trained::new(linear))
    }

    fn row_needs(&self) -> RowNeeds {
        RowNeeds {
            constant: true,
            ..RowNeeds::default()
        }
    }
}

#[cfg(test)]
mod option_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod theory_tests;
