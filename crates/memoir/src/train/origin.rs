//! Where a model comes from: what a model file tells of its training.

use std::collections::BTreeMap;

use crate::Session;
use crate::catalogue::Method;
use crate::dataset::Dataset;
use crate::model::{Model, Origin};
use crate::params::Value;

/// Where a model comes from that `method` makes of `data`, in addition to what `base` came from.
pub(super) fn origin(method: &Method, base: Option<&Model>, data: &Dataset, session: &Session<'_>) -> Origin {
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
        label_kind: base.and_then(|base| base.origin.label_kind.clone()),
        reading: None,
    }
}

/// What became of the parameters that were left to the method.
pub(super) fn chosen(method: &Method, resolved: Vec<(&'static str, Value)>) -> BTreeMap<String, Value> {
    let is_automatic = |name: &str| method.params().contains(&(name, Value::Auto));
    let resolved = resolved.into_iter().filter(|(name, _)| is_automatic(name));
    resolved.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Sum of the rows' weights, if they were given.
pub(super) fn sum_of_weights(data: &Dataset) -> Option<f64> {
    let weights = data.weights.as_ref()?;
    Some(weights.iter().map(|&weight| f64::from(weight)).sum())
}
