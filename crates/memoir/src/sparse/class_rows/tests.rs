//! Tests of weights kept by class.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::*;

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn dense(row: RowView<'_>, width: usize) -> Vec<f32> {
    let mut dense = vec![0.0; width];
    for (index, value) in row.iter() {
        dense[index as usize] = value;
    }
    dense
}

fn sparse(values: &[i8]) -> (Vec<u32>, Vec<f32>) {
    let entries = values.iter().enumerate().filter(|(_, value)| **value != 0);
    entries
        .map(|(index, value)| (index as u32, f32::from(*value)))
        .unzip()
}

proptest! {
    #[test]
    fn inner_products_are_those_of_dense_vectors(
        left in proptest::collection::vec(-2i8..3, 0..70), right in proptest::collection::vec(-1i8..2, 0..9),
    ) {
        let expected: f32 = left.iter().zip(&right).map(|(a, b)| f32::from(*a) * f32::from(*b)).sum();
        let (l, r) = (sparse(&left), sparse(&right));
        let l = RowView { indices: &l.0, values: &l.1 };
        let r = RowView { indices: &r.0, values: &r.1 };
        prop_assert_eq!(sparse_dot(l, r), expected);
        prop_assert_eq!(sparse_dot(r, l), expected);
    }

    #[test]
    fn batches_are_added_as_to_a_dense_matrix(
        rows in proptest::collection::vec(proptest::collection::vec(-2i8..3, 6), 4),
        batches in proptest::collection::vec(
            (proptest::collection::vec((0u32..3, 0u32..4, -2i8..3), 0..8), 1u8..4), 0..5),
    ) {
        let mut data = Rows::new();
        for row in &rows {
            let (indices, values) = sparse(row);
            data.push(RowView { indices: &indices, values: &values });
        }
        let mut weights = ClassRows::new(3, 6);
        let mut expected = [[0f32; 6]; 3];
        for (addends, halvings) in batches {
            let factor = 0.5f64.powi(i32::from(halvings));
            weights.scale(factor);
            expected.iter_mut().flatten().for_each(|value| *value *= factor as f32);
            for &(class, row, coefficient) in &addends {
                for (cell, value) in expected[class as usize].iter_mut().zip(&rows[row as usize]) {
                    *cell += f32::from(coefficient) * f32::from(*value);
                }
            }
            let mut addends: Vec<_> = addends.into_iter()
                .map(|(class, row, c)| Addend { class, row, coefficient: f32::from(c) }).collect();
            weights.add(&mut addends, &data, Truncation::NONE, &session(2)).unwrap();
        }
        let mut square = 0.0;
        for class in 0..3u32 {
            let got = dense(weights.row(class), 6);
            for (got, expected) in got.iter().zip(&expected[class as usize]) {
                prop_assert_eq!((f64::from(*got) * weights.multiplier()) as f32, *expected);
                square += f64::from(*expected) * f64::from(*expected);
            }
            prop_assert_eq!(weights.zeros().contains(class), got.iter().all(|value| *value == 0.0));
        }
        prop_assert!((weights.norm() - square.sqrt()).abs() < 1e-9);
    }
}

fn by(threshold: f32, limit: f32) -> Truncation {
    Truncation { threshold, limit }
}

proptest! {
    /// Against the definition: what Truncate takes of a vector, as a vector, and its length.
    #[test]
    fn truncation_stops_where_it_would_take_too_much(
        values in proptest::collection::vec(-4f32..4.0, 1..9), threshold in 0.01f32..3.0, limit in 0f32..1.0,
    ) {
        let indices: Vec<u32> = (0..values.len() as u32).collect();
        let mut data = Rows::new();
        data.push(RowView { indices: &indices, values: &values });
        let mut weights = ClassRows::new(1, values.len());
        weights.scale(0.25);
        let mut addends = [Addend { class: 0, row: 0, coefficient: 1.0 }];
        weights.add(&mut addends, &data, by(threshold, limit), &session(1)).unwrap();
        let truncated: Vec<f32> = values.iter().map(|value| value.signum() * (value.abs() - threshold).max(0.0)).collect();
        let length = |vector: &[f32]| vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        let taken: Vec<f32> = values.iter().zip(&truncated).map(|(all, kept)| all - kept).collect();
        let share = length(&taken) / length(&values).max(1e-9);
        prop_assume!((share - limit).abs() > 1e-4);
        let expected = if share <= limit { &truncated } else { &values };
        for (got, expected) in dense(weights.row(0), values.len()).iter().zip(expected) {
            prop_assert!((0.25 * got - expected).abs() < 1e-4);
        }
    }
}

#[test]
fn truncation_by_hand() {
    let mut data = Rows::new();
    data.push(RowView {
        indices: &[0, 1, 2],
        values: &[3.0, -3.0, 0.5],
    });
    let mut weights = ClassRows::new(1, 3);
    weights.scale(0.5);
    let mut addends = [Addend {
        class: 0,
        row: 0,
        coefficient: 1.0,
    }];
    weights
        .add(&mut addends, &data, by(1.0, 1.0), &session(1))
        .unwrap();
    // Scaled: 3 - 1, -3 + 1, and 0.5 is gone; unscaled twice that.
    assert_eq!(dense(weights.row(0), 3), [4.0, -4.0, 0.0]);
    addends[0].coefficient = 0.0;
    let touched = weights
        .add(&mut addends, &data, by(2.5, 1.0), &session(1))
        .unwrap();
    assert_eq!(touched, [0]);
    assert!(
        weights.zeros().contains(0),
        "truncated although nothing was added"
    );
}

#[test]
fn the_multiplier_is_folded_in_before_it_underflows() {
    let mut data = Rows::new();
    data.push(RowView {
        indices: &[0],
        values: &[1.0],
    });
    let mut weights = ClassRows::new(1, 1);
    let addend = Addend {
        class: 0,
        row: 0,
        coefficient: 1.0,
    };
    weights
        .add(&mut [addend], &data, Truncation::NONE, &session(1))
        .unwrap();
    let mut folded = 0;
    for _ in 0..1000 {
        folded += usize::from(weights.scale(0.9));
        assert!(weights.multiplier() >= SMALLEST_MULTIPLIER);
    }
    assert!(folded > 1);
    // 0.9^1000, beyond single precision; later batches still count in full.
    assert!(weights.norm() < 2e-46);
    weights
        .add(&mut [addend], &data, Truncation::NONE, &session(1))
        .unwrap();
    assert!((weights.norm() - 1.0).abs() < 1e-6);
    assert!(weights.scale(0.0) && weights.zeros().contains(0));
}
