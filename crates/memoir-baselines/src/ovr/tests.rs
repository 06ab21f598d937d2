//! One-vs-rest against Newton's method on the dense primal problem, and at its edges.

use half::f16;
use memoir::model::{Precision, Scorer, Scratch};
use memoir::params::Parameters;
use memoir::{Cancel, RowView};

use super::*;
use crate::test_data::{dataset, random_dataset, session};

fn ovr(given: &[(&str, &str)]) -> Ovr {
    Ovr::new(&OvrParams::parse(given.iter().copied()).unwrap())
}

/// Solves `matrix · x = right` by elimination with pivots.
fn linear_system(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))
            .unwrap();
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..size {
            let factor = matrix[row][column] / matrix[column][column];
            let pivot_row = matrix[column].clone();
            for (entry, above) in matrix[row].iter_mut().zip(&pivot_row) {
                *entry -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    for column in (0..size).rev() {
        let known: f64 = (column + 1..size).map(|k| matrix[column][k] * right[k]).sum();
        right[column] = (right[column] - known) / matrix[column][column];
    }
    right
}

/// A two-class problem with dense rows, straight from its definition.
struct Dense {
    rows: Vec<Vec<f64>>,
    signs: Vec<f64>,
    costs: Vec<f64>,
    is_logistic: bool,
}

impl Dense {
    fn of_class(data: &Dataset, class: u32, cost: f64, bias: f64, is_logistic: bool) -> Self {
        let mut dense = Self {
            rows: Vec::new(),
            signs: Vec::new(),
            costs: Vec::new(),
            is_logistic,
        };
        for (index, row) in data.rows.iter().enumerate() {
            let mut values = vec![0.0; data.rows.width() + 1];
            for (feature, value) in row.iter() {
                values[feature as usize] = f64::from(value);
            }
            values[data.rows.width()] = bias;
            dense.rows.push(values);
            let is_member = data.labels.row(index).contains(&class);
            dense.signs.push(if is_member { 1.0 } else { -1.0 });
            let weight = data
                .weights
                .as_ref()
                .map_or(1.0, |weights| f64::from(weights[index]));
            dense.costs.push(cost * weight);
        }
        dense
    }

    fn objective(&self, weights: &[f64]) -> f64 {
        let mut sum = weights.iter().map(|w| w * w).sum::<f64>() / 2.0;
        for ((row, sign), cost) in self.rows.iter().zip(&self.signs).zip(&self.costs) {
            let margin = sign * row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
            sum += cost
                * if self.is_logistic {
                    (-margin).exp().ln_1p()
                } else {
                    (1.0 - margin).max(0.0).powi(2)
                };
        }
        sum
    }

    /// The minimum, by Newton's method with halved steps.
    fn minimum(&self) -> Vec<f64> {
        let width = self.rows[0].len();
        let mut weights = vec![0.0; width];
        for _ in 0..100 {
            let mut gradient = weights.clone();
            let mut hessian = vec![vec![0.0; width]; width];
            for (index, line) in hessian.iter_mut().enumerate() {
                line[index] = 1.0;
            }
            for ((row, sign), cost) in self.rows.iter().zip(&self.signs).zip(&self.costs) {
                let margin = sign * row.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
                let (slope, curvature) = if self.is_logistic {
                    let wrong = 1.0 / (1.0 + margin.exp());
                    (-wrong, wrong * (1.0 - wrong))
                } else if margin < 1.0 {
                    (-2.0 * (1.0 - margin), 2.0)
                } else {
                    (0.0, 0.0)
                };
                for a in 0..width {
                    gradient[a] += cost * slope * sign * row[a];
                    for b in 0..width {
                        hessian[a][b] += cost * curvature * row[a] * row[b];
                    }
                }
            }
            let step = linear_system(hessian, gradient);
            let moved =
                |share: f64| -> Vec<f64> { weights.iter().zip(&step).map(|(w, s)| w - share * s).collect() };
            let mut share = 1.0;
            while self.objective(&moved(share)) > self.objective(&weights) && share > 1e-9 {
                share /= 2.0;
            }
            weights = moved(share);
        }
        weights
    }
}

fn weighted_dataset() -> Dataset {
    let mut data = random_dataset(5, 60, 12, 4, 5);
    data.weights = Some((0..60).map(|row| 0.5 + (row % 4) as f32 * 0.5).collect());
    data
}

#[test]
fn objectives_and_weights_are_those_of_newton_on_the_primal() {
    for data in [random_dataset(3, 80, 10, 5, 4), weighted_dataset()] {
        for (loss, cost, bias) in [
            ("squared-hinge", "1", "0"),
            ("squared-hinge", "10", "1"),
            ("logistic", "1", "1"),
            ("logistic", "8", "0"),
        ] {
            let given = [
                ("loss", loss),
                ("cost", cost),
                ("bias", bias),
                ("min-weight", "0"),
            ];
            let ovr = ovr(&[&given[..], &[("tolerance", "1e-7"), ("max-passes", "100000")]].concat());
            let objective = ovr.objective(&data, &session(1)).unwrap();
            let linear = ovr.fit(&data, &session(1)).unwrap();
            let dense = |class| Dense::of_class(&data, class, ovr.cost, ovr.bias, ovr.is_logistic);
            // A class without rows: what the model's weights are relative to.
            let nobody = dense(u32::MAX).minimum();
            let mut expected = 0.0;
            for class in 0..data.classes.len() as u32 {
                let problem = dense(class);
                let minimum = problem.minimum();
                expected += problem.objective(&minimum);
                let difference: Vec<f64> = minimum.iter().zip(&nobody).map(|(w, n)| w - n).collect();
                for (feature, weight) in linear.class_weights(class).unwrap() {
                    assert!((f64::from(weight) - difference[feature as usize]).abs() < 1e-4);
                }
                let bias = difference[data.rows.width()] * ovr.bias;
                assert!((f64::from(linear.bias(class)) - bias).abs() < 1e-4);
            }
            assert!(
                (objective.primal / expected - 1.0).abs() < 1e-6,
                "{loss}: {objective:?}, {expected}"
            );
            assert!(
                (objective.dual / expected - 1.0).abs() < 1e-6,
                "{loss}: {objective:?}, {expected}"
            );
        }
    }
}

#[test]
fn variables_of_fewer_bits_reach_the_same_solution() {
    let data = weighted_dataset();
    // The least tolerance at which they are used.
    let ovr = ovr(&[("tolerance", "0.002")]);
    assert_eq!(ovr.costs(&data).largest() * LEAST_SHORT_TOLERANCE, ovr.tolerance);
    let rows = ShortRows::<u16>::new(data.rows.clone());
    let problem = ovr.problem(&rows, SquaredHinge, ovr.costs(&data));
    let mut sums = [Objective::default(); 2];
    let [short, long] = &mut sums;
    let add = |to: &mut Objective, one| {
        *to = *to + one;
        Ok(())
    };
    solve_classes::<_, _, f32, _>(&problem, &data, &session(1), &Objectives, |one| add(short, one)).unwrap();
    solve_classes::<_, _, f64, _>(&problem, &data, &session(1), &Objectives, |one| add(long, one)).unwrap();
    let [short, long] = sums;
    assert!(
        (short.primal / long.primal - 1.0).abs() < 1e-5,
        "{short:?} {long:?}"
    );
    assert!((short.dual / long.dual - 1.0).abs() < 1e-5, "{short:?} {long:?}");
}

#[test]
fn the_default_tolerance_is_within_half_a_thousandth_of_the_minimum() {
    let data = random_dataset(8, 400, 60, 12, 7);
    let exact = ovr(&[("tolerance", "1e-7")])
        .objective(&data, &session(2))
        .unwrap();
    let quick = ovr(&[]).objective(&data, &session(2)).unwrap();
    assert!(
        quick.primal >= exact.dual && quick.primal < exact.primal * 1.0005,
        "{quick:?} {exact:?}"
    );
}

#[test]
fn the_same_weights_at_any_number_of_threads() {
    let data = random_dataset(1, 600, 80, 300, 9);
    let weights = |threads| {
        let linear = ovr(&[("bias", "1")]).fit(&data, &session(threads)).unwrap();
        (0..300)
            .map(|class| (linear.class_weights(class).unwrap(), linear.bias(class)))
            .collect::<Vec<_>>()
    };
    let one = weights(1);
    assert!(one.iter().any(|(weights, _)| !weights.is_empty()));
    assert_eq!(one, weights(2));
    assert_eq!(one, weights(4));
}

#[test]
fn small_weights_are_dropped() {
    let data = random_dataset(1, 100, 20, 4, 9);
    let all = ovr(&[("min-weight", "0")]).fit(&data, &session(1)).unwrap();
    let kept = ovr(&[("min-weight", "0.3")]).fit(&data, &session(1)).unwrap();
    assert!(kept.stored_weights() > 0 && kept.stored_weights() < all.stored_weights());
    // Where nothing may be dropped, nothing is rounded either.
    assert_eq!(
        (all.precision(), kept.precision()),
        (Precision::F32, Precision::F16)
    );
    for class in 0..4 {
        let mut large = all.class_weights(class).unwrap();
        large.retain(|(_, weight)| weight.abs() >= 0.3);
        let rounded: Vec<_> = large
            .iter()
            .map(|&(feature, weight)| (feature, f16::from_f32(weight).to_f32()))
            .collect();
        assert_eq!(kept.class_weights(class).unwrap(), rounded);
    }
}

#[test]
fn wide_rows_give_the_same_weights_as_narrow_ones() {
    let narrow = random_dataset(4, 120, 15, 5, 9);
    let mut wide = narrow.clone();
    wide.rows.set_width((1 << 16) + 1);
    for loss in ["squared-hinge", "logistic"] {
        let fit = |data| ovr(&[("loss", loss)]).fit(data, &session(1)).unwrap();
        let (narrow, wide) = (fit(&narrow), fit(&wide));
        assert_eq!((narrow.features(), wide.features()), (15, (1 << 16) + 1));
        for class in 0..5 {
            assert!(!narrow.class_weights(class).unwrap().is_empty());
            assert_eq!(narrow.class_weights(class), wide.class_weights(class));
        }
    }
}

#[test]
fn rows_that_are_given_away_are_learned_from_alike() {
    let data = weighted_dataset();
    let kept = ovr(&[]).fit(&data, &session(1)).unwrap();
    let request = TrainRequest::new(data.clone());
    let given_away = ovr(&[]).train(request, &session(1)).unwrap();
    for class in 0..data.classes.len() as u32 {
        assert!(!kept.class_weights(class).unwrap().is_empty());
        assert_eq!(kept.class_weights(class), given_away.scorer.class_weights(class));
    }
}

fn best(linear: &Linear, row: RowView<'_>) -> u32 {
    let mut out = Vec::new();
    linear.top_k(row, 1, &mut Scratch::default(), &mut out);
    out[0].class
}

#[test]
fn one_class_one_row_and_empty_rows_are_learned_from() {
    let one = dataset(&[(vec![(0, 1.0)], vec![0])], 1);
    assert_eq!(
        best(&ovr(&[]).fit(&one, &session(1)).unwrap(), one.rows.row(0)),
        0
    );
    let rows = [
        (vec![], vec![0]),
        (vec![(1, 1.0)], vec![1]),
        (vec![(2, 1.0)], vec![]),
        (vec![(0, 1.0)], vec![0]),
    ];
    for loss in ["squared-hinge", "logistic"] {
        let data = dataset(&rows, 3);
        let linear = ovr(&[("loss", loss), ("bias", "1")])
            .fit(&data, &session(1))
            .unwrap();
        assert_eq!(best(&linear, data.rows.row(1)), 1);
        assert_eq!(best(&linear, data.rows.row(3)), 0);
        assert_eq!(linear.class_weights(2).unwrap(), []);
    }
}

#[test]
fn nothing_to_learn_from_and_cancelling_are_errors() {
    let unlabelled = dataset(&[(vec![(0, 1.0)], vec![])], 1);
    let message = ovr(&[]).fit(&unlabelled, &session(1)).unwrap_err().to_string();
    assert_eq!(message, "there is nothing to learn from: no row has a label");
    let cancel = Cancel::default();
    cancel.raise();
    let cancelled = session(2).with_cancel(cancel);
    let outcome = ovr(&[]).fit(&random_dataset(1, 50, 9, 3, 9), &cancelled);
    assert!(matches!(outcome, Err(Error::Cancelled)));
}
