//! `memoir-lsh`: Algorithm 1 on rows that a truncated singular value decomposition has made short and dense, with
//! `SimpleLSH` as the oracle.

use std::sync::Arc;

use super::settings::{self, Penalty, Settings};
use super::{Trainer, descent};
use crate::catalogue::Algorithm;
use crate::data::Dataset;
use crate::model::Scorer;
use crate::oracle::OracleKind;
use crate::params::Values;
use crate::sparse::ClassDense;
use crate::sparse::svd::truncated_svd;
use crate::text::RowNeeds;
use crate::{Error, Result, Session};

/// For a catalogue.
pub const MEMOIR_LSH: Algorithm = Algorithm {
    name: "memoir-lsh",
    summary: "The paper's MEMOIR-LSH: rows reduced by a truncated SVD, dense weights, rivals found by SimpleLSH.",
    params: &settings::LSH_PARAMS,
    build: |values| Ok(Box::new(ReducedTrainer::new(values)?)),
};

/// Trains `memoir-lsh`.
#[derive(Debug, Clone)]
pub struct ReducedTrainer {
    settings: Settings,
    oracle: OracleKind,
    dimensions: usize,
    multiplications: usize,
}

impl ReducedTrainer {
    /// With the parameters of [`MEMOIR_LSH`].
    pub fn new(values: &Values) -> Result<Self> {
        let size = |name: &str| {
            let missing = || Error::Parameter(format!("`{name}` must be given"));
            Ok::<_, Error>(values.integer(name).ok_or_else(missing)? as usize)
        };
        Ok(Self {
            settings: Settings::new(values, Penalty::SquaredL2)?,
            oracle: OracleKind::from_values(values)?,
            dimensions: size("dimensions")?,
            multiplications: size("svd-multiplications")?,
        })
    }

    /// The weights to start from: zero, in the space the rows are reduced to.
    fn start(&self, data: &Dataset, session: &Session<'_>) -> Result<ClassDense> {
        let svd = truncated_svd(&data.rows, self.dimensions, self.multiplications, session)?;
        let reduction = Arc::new(svd.reduction);
        let all: f64 = data.rows.iter().map(|row| f64::from(row.squared_norm())).sum();
        let kept: f64 = svd.singular_values.iter().map(|value| value * value).sum();
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        session.note(format!(
            "rows reduced from {} features to {} dimensions, which keep {:.1}% of their squared length; the reduction \
             takes {:.0} MB, the dense weights {:.0} MB",
            reduction.features(),
            reduction.dimensions(),
            100.0 * kept / all.max(f64::MIN_POSITIVE),
            megabytes(2 * reduction.values().len()),
            megabytes(4 * data.classes.len() * reduction.dimensions()),
        ));
        Ok(ClassDense::new(data.classes.len(), reduction))
    }
}

impl Trainer for ReducedTrainer {
    fn train(
        &self,
        data: &Dataset,
        valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>> {
        let start = self.start(data, session)?;
        let mut oracle = self.oracle.build(session.seed());
        let scorer = descent::descend(&self.settings, start, oracle.as_mut(), data, valid, session)?;
        Ok(Box::new(scorer))
    }

    fn row_needs(&self) -> RowNeeds {
        RowNeeds {
            constant: true,
            ..RowNeeds::default()
        }
    }
}
