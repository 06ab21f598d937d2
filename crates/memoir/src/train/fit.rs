//! From training data to a whole model: the steps around an algorithm that are the same for all of them.

use rand::seq::SliceRandom;

use crate::catalogue::Method;
use crate::data::{Dataset, LabelSets, TrainingData};
use crate::model::calibration::{Basis, CANDIDATES, Calibration, HeldOutScores};
use crate::model::{Model, Origin, Rehearsal};
use crate::params::Value;
use crate::{Error, Result, Session};

/// The parameter that says how many training rows a model keeps, for algorithms that can repeat them.
pub(super) const KEEP_ROWS: &str = "keep-rows";

/// How many rows the model is to keep, if the method can repeat them and was told a number.
pub(super) fn keep_rows(method: &Method) -> Option<u64> {
    method.params().iter().find_map(|(name, value)| match value {
        Value::Integer(rows) if *name == KEEP_ROWS => Some(*rows),
        _ => None,
    })
}

/// Trains `method` on `training`; `valid`, with rows prepared alike, is used
/// to choose when to stop, and to calibrate the scores.
///
/// Rows of `valid` with a class that training does not have are left out of the first: nothing about stopping can be
/// learned from them. Without `valid`, algorithms that can tell what rows would score that they were not trained on
/// are calibrated by these.
pub fn fit(
    method: &Method,
    training: TrainingData,
    valid: Option<Dataset>,
    session: &Session<'_>,
) -> Result<Model> {
    let TrainingData {
        mut data,
        preprocessing,
        ..
    } = training;
    if data.labels.total() == 0 {
        return Err(Error::Unlearnable(
            "there is nothing to learn from: no row has a label".to_owned(),
        ));
    }
    let stop_by = valid
        .as_ref()
        .map(|valid| with_known_classes(valid.clone(), &data));
    // Some algorithms leave no rows behind.
    let (rows, row_weights) = (data.len() as u64, sum_of_weights(&data));
    let class_counts = data.labels.class_counts(data.classes.len());
    let (scorer, left_out) = method
        .trainer()
        .train_last(&mut data, stop_by.as_ref(), session)?;
    let (params, chosen) = super::told(method, &data, 0);
    let kept = keep_rows(method).unwrap_or(0) as usize;
    let mut model = Model {
        calibration: left_out.and_then(|scores| session.run(|| Calibration::fit(&scores, Basis::SetAside))),
        rehearsal: Rehearsal::choose(&[&data], &class_counts, kept),
        origin: Origin {
            algorithm: method.name().to_owned(),
            params,
            chosen,
            seed: session.seed(),
            rows,
            row_weights,
            class_counts,
        },
        classes: data.classes,
        preprocessing,
        scorer,
    };
    if let Some(valid) = valid {
        model.calibrate(&valid, session)?;
    }
    Ok(model)
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

/// `valid` without the rows that have a class unknown to `data`.
pub(super) fn with_known_classes(valid: Dataset, data: &Dataset) -> Dataset {
    let classes = data.classes.len();
    let is_known = |labels: &[u32]| labels.iter().all(|&label| (label as usize) < classes);
    let mut known = if valid.labels.iter().all(is_known) {
        valid
    } else {
        valid.subset((0..valid.len()).filter(|&row| is_known(valid.labels.row(row))))
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
