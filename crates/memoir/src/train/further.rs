//! From a model and new rows to a model that knows both: the steps around an algorithm that goes on learning.

use super::fit::{KEEP_ROWS, keep_rows, sum_of_weights, with_known_classes};
use crate::catalogue::Method;
use crate::data::{Dataset, TrainingData};
use crate::model::calibration::{Basis, Calibration};
use crate::model::{Model, Origin, Rehearsal, Scorer};
use crate::params::Value;
use crate::{Error, Result, Session};

/// What an algorithm that goes on learning starts from.
pub struct Before<'a> {
    /// Name of the algorithm that made it.
    pub algorithm: &'a str,
    /// What it learned. Its classes and features keep their numbers.
    pub scorer: &'a dyn Scorer,
    /// Number of rows it learned from.
    pub rows: u64,
    /// Mean weight of these rows.
    pub mean_weight: f32,
    /// Number of these rows of each of its classes.
    pub class_counts: &'a [u32],
    /// What the weights of each of its features must be multiplied by to mean on rows of today what they meant on rows of
    /// then: inverse document frequencies have changed.
    pub feature_scales: Vec<f32>,
    /// Some of the rows it learned from, as they are today, to be repeated; may be none.
    pub rehearsal: Dataset,
}

/// Goes on training `model` on `training`, which [`crate::data::read_further`] has read for it; the rows that the model
/// was made from are not needed. `model` itself stays as it is.
///
/// `method` must be the one that made the model. New classes and features come behind those of the model; `valid`, with
/// rows prepared like `training`'s, is used to choose when to stop and to calibrate; without it some of the new rows are, or with too
/// few of them the model's calibration stays.
pub fn continue_from(
    method: &Method,
    model: &Model,
    training: TrainingData,
    valid: Option<Dataset>,
    session: &Session<'_>,
) -> Result<Model> {
    let origin = &model.origin;
    if method.name() != origin.algorithm {
        return Err(Error::Mismatch(format!(
            "the model was made by `{}`, so `{}` cannot continue it",
            origin.algorithm,
            method.name()
        )));
    }
    if origin.class_counts.len() != model.classes.len() {
        return Err(Error::Mismatch(
            "the model cannot be continued: its file does not say how many rows each class had".to_owned(),
        ));
    }
    let TrainingData {
        data, preprocessing, ..
    } = training;
    if data.labels.total() == 0 {
        return Err(Error::Unlearnable(
            "there is nothing to learn from: no row has a label".to_owned(),
        ));
    }
    if !model
        .classes
        .iter()
        .eq(data.classes.iter().take(model.classes.len()))
    {
        return Err(Error::Mismatch(
            "the new rows do not number the model's classes as the model does".to_owned(),
        ));
    }
    let stop_by = valid
        .as_ref()
        .map(|valid| with_known_classes(valid.clone(), &data));
    let feature_scales = scales(
        &model.preprocessing.weighting.feature_weights,
        &preprocessing.weighting.feature_weights,
        model.scorer.features(),
    );
    let before = Before {
        algorithm: &origin.algorithm,
        scorer: &*model.scorer,
        rows: origin.rows,
        mean_weight: origin
            .row_weights
            .map_or(1.0, |sum| (sum / origin.rows.max(1) as f64) as f32),
        class_counts: &origin.class_counts,
        rehearsal: session.run(|| kept_rows(model, &feature_scales, &data))?,
        feature_scales,
    };
    let (scorer, left_out) = method
        .trainer()
        .train_further(&before, &data, stop_by.as_ref(), session)?;
    let mut class_counts = data.labels.class_counts(data.classes.len());
    for (count, before) in class_counts.iter_mut().zip(&origin.class_counts) {
        *count = count.saturating_add(*before);
    }
    let (mut params, mut chosen) = super::told(method, &data, origin.rows);
    // Unless told otherwise, a model goes on keeping as many rows as it was made to.
    let kept = match (keep_rows(method), origin.params.get(KEEP_ROWS)) {
        (Some(rows), _) | (None, Some(&Value::Integer(rows))) => rows,
        _ => 0,
    };
    let rehearsal = Rehearsal::choose(&[&data, &before.rehearsal], &class_counts, kept as usize);
    if kept > 0 {
        params.insert(KEEP_ROWS.to_owned(), Value::Integer(kept));
        chosen.remove(KEEP_ROWS);
    }
    let row_weights = match (origin.row_weights, sum_of_weights(&data)) {
        (None, None) => None,
        // Rows without a weight count 1.
        (before, now) => Some(before.unwrap_or(origin.rows as f64) + now.unwrap_or(data.len() as f64)),
    };
    let mut grown = Model {
        calibration: left_out
            .and_then(|scores| session.run(|| Calibration::fit(&scores, Basis::SetAside)))
            .or_else(|| model.calibration.clone()),
        rehearsal,
        origin: Origin {
            algorithm: method.name().to_owned(),
            params,
            chosen,
            seed: session.seed(),
            rows: origin.rows + data.len() as u64,
            row_weights,
            class_counts,
        },
        classes: data.classes,
        preprocessing,
        scorer,
    };
    if let Some(valid) = valid {
        grown.calibrate(&valid, session)?;
    }
    Ok(grown)
}

/// The rows that `model` kept, with the weights that features have now, laid out like `data`.
fn kept_rows(model: &Model, feature_scales: &[f32], data: &Dataset) -> Result<Dataset> {
    let Some(kept) = &model.rehearsal else {
        return Ok(Dataset::default());
    };
    let unpacked = kept.unpack(model.scorer.features(), model.classes.len());
    let mut kept =
        unpacked.map_err(|what| Error::Mismatch(format!("the model cannot be continued: {what}")))?;
    kept.rows.par_for_each_mut(|indices, values| {
        for (value, &feature) in values.iter_mut().zip(indices) {
            let scale = feature_scales[feature as usize];
            *value /= if scale > 0.0 { scale } else { 1.0 };
        }
    });
    kept.rows
        .set_width(data.rows.width().max(model.scorer.features()));
    Ok(kept)
}

/// The weight that values of each feature had, divided by the one they have now.
fn scales(then: &[f32], now: &[f32], features: usize) -> Vec<f32> {
    let weight = |weights: &[f32], feature: usize| weights.get(feature).copied().unwrap_or(1.0);
    (0..features)
        .map(|feature| {
            let scale = weight(then, feature) / weight(now, feature);
            if scale.is_finite() { scale } else { 1.0 }
        })
        .collect()
}
