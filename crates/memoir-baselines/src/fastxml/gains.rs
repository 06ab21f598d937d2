//! What a label of a row is worth: 1 in `fastxml`, the inverse of the label's propensity in `pfastrexml`.

use memoir::{Dataset, maths};

/// Worth of each class's labels, and of each row's label set.
#[derive(Debug)]
pub(super) struct Gains {
    /// Worth of a label of each class.
    pub(super) of_class: Vec<f64>,
}

impl Gains {
    /// Every label is worth 1.
    pub(super) fn equal(classes: usize) -> Self {
        Self {
            of_class: vec![1.0; classes],
        }
    }

    /// A label is worth the inverse of its class's propensity.
    pub(super) fn inverse_propensities(data: &Dataset, a: f64, b: f64) -> Self {
        let counts = data.labels.class_counts(data.classes.len());
        let rows = data.len() as u64;
        Self {
            of_class: counts
                .iter()
                .map(|&count| 1.0 / propensity(u64::from(count), rows, a, b))
                .collect(),
        }
    }
}

/// The chance that a true label of a class with `count` rows of `rows` was written down: with
/// `C = (ln N - 1) (B + 1)^A`, it is `1 / (1 + C exp(-A ln(N_l + B)))`.
///
/// Fewer than three rows would make `C` negative; it is then 0 and every label certain.
pub(super) fn propensity(count: u64, rows: u64, a: f64, b: f64) -> f64 {
    let scale = (maths::ln(rows as f64) - 1.0).max(0.0) * maths::powf(b + 1.0, a);
    // Written as a power, so that `count + b = 0` gives an infinite term and propensity 0 rather than NaN.
    let base = count as f64 + b;
    let term = if scale == 0.0 {
        0.0
    } else {
        scale * maths::powf(base, -a)
    };
    (1.0 / (1.0 + term)).max(1e-12)
}

/// The largest DCG that `labels` labels of worth 1 can have; what the DCG of a row with so many labels is
/// divided by.
pub(super) fn ideal_dcg(labels: usize) -> f64 {
    (1..=labels).map(discount).sum()
}

/// What a label at `rank` (from 1) counts.
pub(super) fn discount(rank: usize) -> f64 {
    1.0 / maths::log2(1.0 + rank as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn propensities_follow_the_formula() {
        for (count, rows, a, b) in [
            (1u64, 1000u64, 0.55f64, 1.5f64),
            (50, 1000, 0.6, 2.6),
            (999, 1000, 0.5, 0.4),
        ] {
            let c = ((rows as f64).ln() - 1.0) * (b + 1.0).powf(a);
            let expected = 1.0 / (1.0 + c * (-a * (count as f64 + b).ln()).exp());
            assert!((propensity(count, rows, a, b) - expected).abs() < 1e-12);
        }
        assert!(propensity(1, 5000, 0.55, 1.5) < propensity(2, 5000, 0.55, 1.5));
        for rows in 0..4 {
            let p = propensity(0, rows, 0.55, 0.0);
            assert!(p > 0.0 && p <= 1.0, "{p}");
        }
    }

    #[test]
    fn one_label_has_an_ideal_dcg_of_one() {
        assert_eq!(ideal_dcg(1), 1.0);
        assert!((ideal_dcg(3) - (1.0 + 1.0 / 3f64.log2() + 0.5)).abs() < 1e-12);
        assert_eq!(ideal_dcg(0), 0.0);
    }
}
