//! `memoir-lsh`: Algorithm 1 on rows that a truncated singular value decomposition has made short and dense,
//! with `SimpleLSH` as the oracle.

use std::sync::Arc;

use super::settings::{MemoirLshParams, Penalty, Settings};
use super::{TrainRequest, Trained, Trainer, descent};
use crate::catalogue::AlgorithmParams;
use crate::dataset::Dataset;
use crate::oracle::OracleKind;
use crate::sparse::svd::{TruncatedSvd, truncated_svd};
use crate::sparse::{ClassDense, RowView, Rows};
use crate::text::RowNeeds;
use crate::{Result, Session};

impl AlgorithmParams for MemoirLshParams {
    const NAME: &'static str = "memoir-lsh";
    const SUMMARY: &'static str =
        "The paper's MEMOIR-LSH: rows reduced by a truncated SVD, dense weights, rivals found by SimpleLSH.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(ReducedTrainer::new(self)))
    }
}

/// Trains `memoir-lsh`.
#[derive(Debug, Clone)]
pub(super) struct ReducedTrainer {
    settings: Settings,
    oracle: OracleKind,
    dimensions: usize,
    multiplications: usize,
    constant_after: bool,
}

impl ReducedTrainer {
    pub(super) fn new(params: &MemoirLshParams) -> Self {
        Self {
            settings: params.settings(Penalty::SquaredL2),
            oracle: (&params.search).into(),
            dimensions: params.dimensions,
            multiplications: params.svd_multiplications,
            constant_after: params.constant_after_svd,
        }
    }

    /// The weights to start from: zero, in the space the rows are reduced to.
    pub(super) fn start(&self, data: &Dataset, session: &Session<'_>) -> Result<ClassDense> {
        let svd = if self.constant_after {
            let words = without_constant(&data.rows);
            let svd = truncated_svd(&words, self.dimensions, self.multiplications, session)?;
            TruncatedSvd {
                // The constant loses nothing.
                squared_length: svd.squared_length + data.rows.len() as f64,
                reduction: svd.reduction.with_feature_apart(),
            }
        } else {
            truncated_svd(&data.rows, self.dimensions, self.multiplications, session)?
        };
        let reduction = Arc::new(svd.reduction);
        let all: f64 = data.rows.iter().map(|row| f64::from(row.squared_norm())).sum();
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        session.note(format!(
            "rows reduced from {} features to {} dimensions, which keep {:.1}% of their squared length; the reduction \
             takes {:.0} MB, the dense weights {:.0} MB",
            reduction.features(),
            reduction.dimensions(),
            100.0 * svd.squared_length / all.max(f64::MIN_POSITIVE),
            megabytes(2 * reduction.values().len()),
            megabytes(4 * data.classes.len() * reduction.dimensions()),
        ));
        Ok(ClassDense::new(data.classes.len(), reduction))
    }
}

/// The rows without their last feature, the constant.
fn without_constant(rows: &Rows) -> Rows {
    let constant = rows.width().saturating_sub(1);
    let mut words = Rows::new();
    for row in rows.iter() {
        let kept = row
            .indices
            .partition_point(|&feature| (feature as usize) < constant);
        words.push(RowView {
            indices: &row.indices[..kept],
            values: &row.values[..kept],
        });
    }
    words.set_width(constant);
    words
}

impl Trainer for ReducedTrainer {
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        let (data, held_out) = (&request.data, request.held_out);
        let start = self.start(data, session)?;
        let mut oracle = self.oracle.build(session.seed());
        let scorer = descent::descend(&self.settings, start, oracle.as_mut(), data, held_out, session)?;
        Ok(Trained::new(scorer))
    }

    fn row_needs(&self) -> RowNeeds {
        RowNeeds {
            constant: true,
            ..RowNeeds::default()
        }
    }
}
