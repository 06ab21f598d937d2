//! Continuing from a model: what an algorithm is told about it.

use crate::catalogue::Method;
use crate::dataset::Dataset;
use crate::model::{Model, Origin, Scorer};
use crate::params::Value;
use crate::text::Preprocessing;
use crate::{Error, Result, Session};

/// The parameter that says how many rows a model keeps for replay, in the origin that a model file holds.
const KEEP_ROWS: &str = "keep-rows";

/// A model that training continues from, as its rows are weighted today.
pub struct BaseModel<'a> {
    /// What it learned. Its classes and features keep their numbers.
    pub scorer: &'a dyn Scorer,
    /// Number of rows it learned from.
    pub rows: u64,
    /// Number of these rows of each of its classes.
    pub class_counts: &'a [u32],
    /// What the weights of each of its features must be multiplied by to mean on rows of today what they
    /// meant on rows of then: inverse document frequencies have changed.
    pub feature_scales: Vec<f32>,
    /// The rows it keeps for replay, weighted as they would be today; may be none.
    pub replay: Dataset,
    /// How many rows it was asked to keep.
    pub replay_limit: usize,
}

impl<'a> BaseModel<'a> {
    /// `model` as it is for rows that were prepared by `preprocessing`, which goes on from the model's own,
    /// and whose classes are those of `data`.
    pub(super) fn new(
        model: &'a Model,
        preprocessing: &Preprocessing,
        data: &Dataset,
        session: &Session<'_>,
    ) -> Result<Self> {
        let origin = &model.origin;
        if !model
            .classes
            .iter()
            .eq(data.classes.iter().take(model.classes.len()))
        {
            return Err(Error::Mismatch(
                "the new rows do not number the model's classes as the model does".to_owned(),
            ));
        }
        let feature_scales = feature_scales(
            &model.preprocessing.weighting.feature_weights,
            &preprocessing.weighting.feature_weights,
            model.scorer.features(),
        );
        Ok(Self {
            // What upper levels have learned is continued beside it.
            scorer: match model.scorer.as_mixed() {
                Some(mixed) => mixed.inner(),
                None => &*model.scorer,
            },
            rows: origin.rows,
            class_counts: &origin.class_counts,
            replay: session.run(|| replay_rows(model, &feature_scales, data))?,
            replay_limit: replay_limit(origin),
            feature_scales,
        })
    }
}

/// Parameters of how rows are weighted. All rows of a model are weighted alike.
const FIXED_BY_BASE: &[&str] = &["length-power", "entropy-weighting"];

/// Fails if `method` cannot continue from `model`. Looks at both only, so that it can be asked before data
/// is read.
pub(super) fn check_base_model(method: &Method, model: &Model) -> Result<()> {
    let origin = &model.origin;
    if method.name() != origin.algorithm {
        return Err(Error::Mismatch(format!(
            "the model was made by `{}`, so `{}` cannot continue it",
            origin.algorithm,
            method.name()
        )));
    }
    if !method.trainer().support().continuing {
        return Err(Error::Parameter(format!(
            "`{}` cannot continue from a model: train it anew, or use `softmax` or `centroid`, which can",
            method.name()
        )));
    }
    for name in FIXED_BY_BASE {
        let given = method.params().iter().find(|(own, _)| own == name);
        if let Some((_, value)) = given
            && *value != Value::Auto
            && origin.params.get(*name) != Some(value)
        {
            return Err(Error::Parameter(format!(
                "{name}: the model's own value holds for what it learns in addition; leave it out"
            )));
        }
    }
    if origin.class_counts.len() != model.classes.len() {
        return Err(Error::Mismatch(
            "the model cannot be continued: what is needed for that was stripped from its file".to_owned(),
        ));
    }
    Ok(())
}

/// How many rows the model was asked to keep, by its user or by the model that it was continued from.
fn replay_limit(origin: &Origin) -> usize {
    let mut given = [&origin.params, &origin.chosen].into_iter();
    given
        .find_map(|params| match params.get(KEEP_ROWS) {
            Some(&Value::Integer(rows)) => Some(rows as usize),
            _ => None,
        })
        .unwrap_or(0)
}

/// The rows that `model` kept, with the weights that features have now, laid out like `data`.
fn replay_rows(model: &Model, feature_scales: &[f32], data: &Dataset) -> Result<Dataset> {
    let Some(kept) = &model.replay else {
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
fn feature_scales(then: &[f32], now: &[f32], features: usize) -> Vec<f32> {
    let weight = |weights: &[f32], feature: usize| weights.get(feature).copied().unwrap_or(1.0);
    (0..features)
        .map(|feature| {
            let scale = weight(then, feature) / weight(now, feature);
            if scale.is_finite() { scale } else { 1.0 }
        })
        .collect()
}
