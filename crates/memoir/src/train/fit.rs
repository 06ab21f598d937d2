//! From training data to a whole model, from scratch or from another model: the steps around an algorithm that are the
//! same for all of them.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;

use super::base_model::check_base_model;
use super::{BaseModel, TrainRequest};
use crate::catalogue::Method;
use crate::data::{Dataset, LabelSets, TrainingData};
use crate::model::calibration::{Basis, CANDIDATES, Calibration, HeldOutScores};
use crate::model::{Model, Origin};
use crate::params::Value;
use crate::{Error, Result, Session};

/// Trains `method` on `training`; `held_out`, with rows prepared alike, is used to choose when to stop, and to calibrate
/// the scores (see [`TrainRequest::held_out`]).
///
/// Held-out rows with a class that training does not have are left out of the first: nothing about stopping can be
/// learned from them. Without held-out rows, algorithms that have a calibration split are calibrated by it.
pub fn fit(
    method: &Method,
    training: TrainingData,
    held_out: Option<Dataset>,
    session: &Session<'_>,
) -> Result<Model> {
    learn(method, None, training, held_out, session)
}

/// Continues from `model` on `training`, which [`crate::data::read_further`] has read for it; the rows that the model
/// was made from are not needed. `model` itself stays as it is.
///
/// `method` must be of the algorithm that made the model. New classes and features come behind those of the model.
/// Without held-out rows and with too few new ones, the model's calibration stays.
pub fn continue_from(
    method: &Method,
    model: &Model,
    training: TrainingData,
    held_out: Option<Dataset>,
    session: &Session<'_>,
) -> Result<Model> {
    learn(method, Some(model), training, held_out, session)
}

fn learn(
    method: &Method,
    base: Option<&Model>,
    training: TrainingData,
    held_out: Option<Dataset>,
    session: &Session<'_>,
) -> Result<Model> {
    let TrainingData {
        data, preprocessing, ..
    } = training;
    if let Some(base) = base {
        check_base_model(method, base)?;
    }
    if data.labels.total() == 0 {
        return Err(Error::Unlearnable(
            "there is nothing to learn from: no row has a label".to_owned(),
        ));
    }
    let base_model = base
        .map(|base| BaseModel::new(base, &preprocessing, &data, session))
        .transpose()?;
    let stop_by = held_out
        .as_ref()
        .map(|held_out| with_known_classes(held_out.clone(), &data));
    let origin = origin(method, base, &data, session);
    let classes = data.classes.clone();
    let request = TrainRequest {
        data,
        held_out: stop_by.as_ref(),
        base_model,
    };
    let trained = method.trainer().train(request, session)?;
    let calibration = trained
        .calibration_scores
        .and_then(|scores| session.run(|| Calibration::fit(&scores, Basis::SetAside)));
    let mut model = Model {
        calibration: calibration.or_else(|| base.and_then(|base| base.calibration.clone())),
        replay: trained.replay,
        origin: Origin {
            chosen: chosen(method, trained.resolved),
            ..origin
        },
        classes,
        preprocessing,
        scorer: trained.scorer,
    };
    if let Some(held_out) = held_out {
        model.calibrate(&held_out, session)?;
    }
    Ok(model)
}

/// Where a model comes from that `method` makes of `data`, in addition to what `base` came from.
fn origin(method: &Method, base: Option<&Model>, data: &Dataset, session: &Session<'_>) -> Origin {
    let mut class_counts = data.labels.class_counts(data.classes.len());
    let mut rows = data.len() as u64;
    let mut row_weights = sum_of_weights(data);
    if let Some(base) = base.map(|base| &base.origin) {
        for (count, before) in class_counts.iter_mut().zip(&base.class_counts) {
            *count = count.saturating_add(*before);
        }
        row_weights = match (base.row_weights, row_weights) {
            (None, None) => None,
            // Rows without a weight count 1.
            (before, now) => Some(before.unwrap_or(base.rows as f64) + now.unwrap_or(rows as f64)),
        };
        rows += base.rows;
    }
    let params = method.params().iter();
    Origin {
        algorithm: method.name().to_owned(),
        params: params
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
        chosen: BTreeMap::new(),
        seed: session.seed(),
        rows,
        row_weights,
        class_counts,
    }
}

/// What became of the parameters that were left to the method.
fn chosen(method: &Method, resolved: Vec<(&'static str, Value)>) -> BTreeMap<String, Value> {
    let is_automatic = |name: &str| method.params().contains(&(name, Value::Auto));
    let resolved = resolved.into_iter().filter(|(name, _)| is_automatic(name));
    resolved.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Sum of the rows' weights, if they were given.
pub(super) fn sum_of_weights(data: &Dataset) -> Option<f64> {
    let weights = data.weights.as_ref()?;
    Some(weights.iter().map(|&weight| f64::from(weight)).sum())
}

impl Model {
    /// Fits probabilities to the scores of `held_out`, rows that the model was not trained on. They are weighted as the model
    /// wants them, with classes numbered as in the model; labels that it does not know count as mistakes. With too few
    /// rows the model stays as it is.
    pub fn calibrate(&mut self, held_out: &Dataset, session: &Session<'_>) -> Result<()> {
        let predictions = self.predict_rows(&held_out.rows, CANDIDATES, session)?;
        let mut scores = HeldOutScores::default();
        for ((row, labels), best) in held_out
            .rows
            .iter()
            .zip(held_out.labels.iter())
            .zip(predictions.iter())
        {
            if !labels.is_empty() {
                scores.push(self.known_features(row), best, labels);
            }
        }
        if let Some(calibration) = session.run(|| Calibration::fit(&scores, Basis::HeldOut)) {
            self.calibration = Some(calibration);
        }
        Ok(())
    }
}

/// `held_out` without the rows that have a class unknown to `data`.
fn with_known_classes(held_out: Dataset, data: &Dataset) -> Dataset {
    let classes = data.classes.len();
    let is_known = |labels: &[u32]| labels.iter().all(|&label| (label as usize) < classes);
    let mut known = if held_out.labels.iter().all(is_known) {
        held_out
    } else {
        held_out.subset((0..held_out.len()).filter(|&row| is_known(held_out.labels.row(row))))
    };
    known.classes = data.classes.clone();
    known
}

/// Splits off about `fraction` of the rows, chosen at random by the session's seed, as (rest, held out).
///
/// No class loses its last row, so the rest still knows every class. It is an error if there is no row to spare.
pub fn hold_out(data: &Dataset, fraction: f64, session: &Session<'_>) -> Result<(Dataset, Dataset)> {
    let chosen = choose(&data.labels, data.classes.len(), fraction, session);
    if !chosen.contains(&true) {
        return Err(Error::Unlearnable(format!(
            "`valid-fraction` of {fraction} holds out none of the {} rows: each class must keep one to learn from",
            data.len()
        )));
    }
    let part = |held_out: bool| data.subset((0..data.len()).filter(|&row| chosen[row] == held_out));
    Ok((part(false), part(true)))
}

fn choose(labels: &LabelSets, classes: usize, fraction: f64, session: &Session<'_>) -> Vec<bool> {
    let mut wanted = (labels.len() as f64 * fraction).round() as usize;
    let mut left = labels.class_counts(classes);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut session.random("hold out"));
    let mut chosen = vec![false; labels.len()];
    for row in order {
        if wanted == 0 {
            break;
        }
        let of_row = labels.row(row);
        if !of_row.is_empty() && of_row.iter().all(|&label| left[label as usize] > 1) {
            for &label in of_row {
                left[label as usize] -= 1;
            }
            chosen[row] = true;
            wanted -= 1;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    fn labels(rows: usize) -> LabelSets {
        let mut labels = LabelSets::new();
        for row in 0..rows as u32 {
            // Class 0 half of the time, class 1 in a quarter of the rows, and so on: some have one row only.
            labels.push([row.trailing_ones()]);
        }
        labels
    }

    #[test]
    fn held_out_rows_leave_every_class_a_row() {
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let labels = labels(1000);
        let chosen = choose(&labels, 10, 0.3, &session);
        assert_eq!(chosen.iter().filter(|&&held_out| held_out).count(), 300);
        for class in 0..10 {
            assert!((0..1000).any(|row| !chosen[row] && labels.row(row) == [class]));
        }
        let everything = choose(&labels, 10, 1.0, &session);
        assert_eq!(everything.iter().filter(|&&held_out| !held_out).count(), 10);
    }

    #[test]
    fn the_choice_depends_on_the_seed_alone() {
        let session = |seed| Session::new(NonZeroUsize::MIN).unwrap().with_seed(seed);
        let labels = labels(200);
        assert_eq!(
            choose(&labels, 8, 0.2, &session(1)),
            choose(&labels, 8, 0.2, &session(1))
        );
        assert_ne!(
            choose(&labels, 8, 0.2, &session(1)),
            choose(&labels, 8, 0.2, &session(2))
        );
    }
}
