//! Tests of class centroids.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::*;
use crate::params::Parameters;
use crate::sparse::RowView;

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn fit(data: &Dataset, given: &[(&str, &str)], threads: usize) -> Linear {
    let params = CentroidParams::parse(given.iter().copied()).unwrap();
    Centroid::new(&params).fit(data, &session(threads)).unwrap()
}

type Row = (Vec<(u32, f32)>, Vec<u32>, f32);

fn dataset(rows: &[Row], classes: usize) -> Dataset {
    let mut data = Dataset {
        classes: (0..classes).map(|class| class.to_string()).collect(),
        weights: Some(Vec::new()),
        ..Dataset::default()
    };
    for (entries, labels, weight) in rows {
        data.rows.push_unsorted(&mut entries.clone());
        data.labels.push(labels.iter().copied());
        data.weights.get_or_insert_default().push(*weight);
    }
    data
}

/// Straight from the definition: dense sums per class, scaled to length 1.
fn expected(data: &Dataset) -> Vec<Vec<f64>> {
    let mut centroids = vec![vec![0f64; data.rows.width()]; data.classes.len()];
    for (index, row) in data.rows.iter().enumerate() {
        let weight = data
            .weights
            .as_ref()
            .map_or(1.0, |weights| f64::from(weights[index]));
        for &class in data.labels.row(index) {
            for (feature, value) in row.iter() {
                centroids[class as usize][feature as usize] += weight * f64::from(value);
            }
        }
    }
    for centroid in &mut centroids {
        let norm = centroid.iter().map(|value| value * value).sum::<f64>().sqrt();
        for value in centroid {
            *value /= if norm > 0.0 { norm } else { 1.0 };
        }
    }
    centroids
}

proptest! {
    #[test]
    fn same_as_the_definition(rows in proptest::collection::vec(
        (proptest::collection::vec((0u32..12, -2f32..2.0), 0..6), proptest::collection::vec(0u32..5, 1..4), 0f32..3.0),
        1..30,
    )) {
        let data = dataset(&rows, 5);
        let linear = fit(&data, &[], 2);
        for (class, centroid) in expected(&data).iter().enumerate() {
            for (feature, &expected) in centroid.iter().enumerate() {
                let row = RowView { indices: &[feature as u32], values: &[1.0] };
                let got = f64::from(linear.scores(row)[class]);
                prop_assert!((got - expected).abs() < 1e-5, "class {class}, feature {feature}: {got}, not {expected}");
            }
        }
    }
}

#[test]
fn small_weights_are_dropped_on_request() {
    let rows = [(vec![(0, 3.0), (1, 4.0)], vec![0], 1.0)];
    let all = fit(&dataset(&rows, 1), &[], 1);
    let pruned = fit(&dataset(&rows, 1), &[("min-weight", "0.7")], 1);
    assert_eq!(all.class_weights(0).unwrap(), [(0, 0.6), (1, 0.8)]);
    assert_eq!(pruned.class_weights(0).unwrap(), [(1, 0.8)]);
    assert_eq!(pruned.features(), 2);
}

#[test]
fn more_than_one_panel_gives_the_same_sums_at_any_thread_count() {
    let mut data = Dataset {
        classes: ["a", "b", "c"].into_iter().collect(),
        ..Dataset::default()
    };
    let indices: Vec<u32> = (0..3000).collect();
    for number in 0..800u32 {
        let values: Vec<f32> = indices
            .iter()
            .map(|&i| ((i * 7 + number * 13) % 11) as f32 + 0.1)
            .collect();
        data.rows.push(RowView {
            indices: &indices,
            values: &values,
        });
        data.labels.push([number % 3]);
    }
    assert!(panels(&data).len() > 2);
    let bits = |threads| {
        let linear = fit(&data, &[], threads);
        (0..3)
            .map(|class| linear.class_weights(class).unwrap())
            .collect::<Vec<_>>()
    };
    let one = bits(1);
    assert_eq!(one[2].len(), 3000);
    assert_eq!(one, bits(2));
    assert_eq!(one, bits(4));
    let expected = expected(&data);
    for (class, weights) in one.iter().enumerate() {
        for &(feature, weight) in weights {
            assert!((f64::from(weight) - expected[class][feature as usize]).abs() < 1e-6);
        }
    }
}

#[test]
fn nothing_to_learn_from_and_cancelling_are_errors() {
    let centroid = Centroid { min_weight: 0.0 };
    let data = dataset(&[(vec![(0, 1.0)], vec![], 1.0)], 1);
    let message = centroid.fit(&data, &session(1)).unwrap_err().to_string();
    assert_eq!(message, "there is nothing to learn from: no row has a label");
    let cancelled = session(1);
    cancelled.cancel().raise();
    let data = dataset(&[(vec![(0, 1.0)], vec![0], 1.0)], 1);
    assert!(matches!(centroid.fit(&data, &cancelled), Err(Error::Cancelled)));
}
