//! Training algorithms: one file each, all behind [`Trainer`].

mod centroid;
mod checkpoint;
mod fit;
mod further;
pub mod margin;
pub mod softmax;

use std::collections::BTreeMap;

use crate::catalogue::Method;
use crate::data::Dataset;
use crate::model::Scorer;
use crate::model::calibration::HeldOutScores;
use crate::params::Value;
use crate::text::RowNeeds;
use crate::{Error, Result, Session};

pub use centroid::{Centroid, CentroidParams};
pub use checkpoint::{Checkpoints, Fingerprint, SavedState, State};
pub use fit::{fit, hold_out};
pub use further::{Before, continue_from};
pub use margin::{MemoirL1Params, MemoirL2Params, MemoirLshParams};
pub use softmax::SoftmaxParams;

/// A training algorithm with its parameters: weighted rows in, a scorer out.
pub trait Trainer: Send + Sync {
    /// Learns from `data`; `valid`, if given, has the same classes and features and is used only to choose when to stop.
    ///
    /// The result depends on data, parameters and seed alone, never on the number of threads.
    fn train(
        &self,
        data: &Dataset,
        valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>>;

    /// Learns from `data` in addition to what `before` holds, without the rows that came from. The classes and features of
    /// `before` keep their numbers; `data` may have more of both. Scores to calibrate by come back as from [`Trainer::train_scored`].
    fn train_further(
        &self,
        before: &Before<'_>,
        _data: &Dataset,
        _valid: Option<&Dataset>,
        _session: &Session<'_>,
    ) -> Result<(Box<dyn Scorer>, Option<HeldOutScores>)> {
        Err(Error::Parameter(format!(
            "`{}` cannot continue from a model: train it anew, or use `softmax` or `centroid`, which can",
            before.algorithm
        )))
    }

    /// What the algorithm chooses for the parameters that were left to it, if it is trained on `data` after `rows_before`
    /// earlier rows. For `inspect`; algorithms that choose nothing, or only while they run, tell nothing.
    fn chosen(&self, _data: &Dataset, _rows_before: u64) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Whether the algorithm writes the session's checkpoints and starts from them.
    fn keeps_checkpoints(&self) -> bool {
        false
    }

    /// As [`Trainer::train`]; algorithms that can tell also give the scores that some rows would have had if they had not
    /// been trained on, to calibrate by. Not asked for where there are held-out rows.
    fn train_scored(
        &self,
        data: &Dataset,
        valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<(Box<dyn Scorer>, Option<HeldOutScores>)> {
        Ok((self.train(data, valid, session)?, None))
    }

    /// As [`Trainer::train_scored`], for rows that are not needed any more: an algorithm may take them and their labels out of
    /// `data` and give their memory back before it puts its result together. The classes stay.
    fn train_last(
        &self,
        data: &mut Dataset,
        valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<(Box<dyn Scorer>, Option<HeldOutScores>)> {
        self.train_scored(data, valid, session)
    }

    /// What the algorithm wants of its rows.
    fn row_needs(&self) -> RowNeeds {
        RowNeeds::default()
    }
}

/// The parameters of `method` and what it chose for those that were left to it, as a model's origin keeps them.
fn told(
    method: &Method,
    data: &Dataset,
    rows_before: u64,
) -> (BTreeMap<String, Value>, BTreeMap<String, Value>) {
    let params = method.params().iter();
    let is_free = |name: &str| {
        method
            .params()
            .iter()
            .any(|(other, value)| *other == name && *value == Value::Auto)
    };
    let chosen = method.trainer().chosen(data, rows_before).into_iter();
    let chosen = chosen
        .filter(|(name, _)| is_free(name))
        .map(|(name, value)| (name.to_owned(), value));
    let params = params.map(|(name, value)| ((*name).to_owned(), value.clone()));
    (params.collect(), chosen.collect())
}
