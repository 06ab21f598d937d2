//! How much rows count: by their weights beside those of the others, whatever the scale of all.

use crate::dataset::Dataset;
use crate::model::Model;

use super::origin::sum_of_weights;

/// Divides the weights of rows by the usual one, so that every algorithm may take 1 for usual: their mean,
/// or the mean of the rows of the model that training continues from.
pub(crate) fn compare_with_usual(data: &mut Dataset, base: Option<&Model>) {
    let usual = match base {
        Some(base) => base
            .origin
            .row_weights
            .map_or(1.0, |sum| sum / base.origin.rows.max(1) as f64),
        None => sum_of_weights(data).map_or(1.0, |sum| sum / data.len().max(1) as f64),
    };
    // All may be 0.
    if usual > 0.0 {
        for weight in data.weights.iter_mut().flatten() {
            *weight /= usual as f32;
        }
    }
}
