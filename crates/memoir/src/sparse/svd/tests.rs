//! Decompositions against exact ones: small matrices, known singular values, any number of threads.

use std::num::NonZeroUsize;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// Sparse rows whose features differ in weight, so that singular values fall off.
fn sparse(rows: usize, width: usize) -> Rows {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let mut all = Rows::new();
    for _ in 0..rows {
        let mut entries: Vec<(u32, f32)> = (0..6)
            .map(|_| {
                let uniform: f32 = random.random();
                let feature = ((width as f32 - 1.0) * uniform * uniform) as u32;
                (
                    feature,
                    random.random::<f32>() * 3.0 / (1.0 + feature as f32 / 10.0),
                )
            })
            .collect();
        all.push_unsorted(&mut entries);
    }
    all.set_width(width);
    all
}

fn dense(rows: &Rows) -> Mat<f64> {
    let mut dense = Mat::zeros(rows.len(), rows.width());
    for (number, row) in rows.iter().enumerate() {
        for (feature, value) in row.iter() {
            dense[(number, feature as usize)] = f64::from(value);
        }
    }
    dense
}

/// Rows of the reduction as a dense matrix: features times dimensions.
fn directions(reduction: &Reduction) -> Mat<f64> {
    let mut reduced = Vec::new();
    let mut all = Mat::zeros(reduction.features(), reduction.dimensions());
    for feature in 0..reduction.features() {
        let row = RowView {
            indices: &[feature as u32],
            values: &[1.0],
        };
        reduction.apply(row, &mut reduced);
        for (place, &value) in reduced.iter().enumerate() {
            all[(feature, place)] = f64::from(value);
        }
    }
    all
}

/// Held against the full decomposition of the dense matrix, with either side the shorter one.
#[test]
fn singular_values_and_vectors_are_those_of_the_dense_matrix() {
    for (count, width) in [(150, 70), (70, 150), (90, 90)] {
        let rows = sparse(count, width);
        let exact = dense(&rows).svd().unwrap();
        let found = truncated_svd(&rows, 12, 6, &session(2)).unwrap();
        assert_eq!(found.reduction.dimensions(), 12);
        let vectors = directions(&found.reduction);
        let near = exact.V().transpose().subrows(0, 12) * &vectors;
        for place in 0..12 {
            let expected = exact.S()[place];
            let got = found.singular_values[place];
            assert!(
                (got / expected - 1.0).abs() < 1e-3,
                "{count}x{width}, {place}: {got}, not {expected}"
            );
            // Of unit length, and no other direction than the exact one's (whose sign is free).
            let along = near[(place, place)].abs();
            assert!(along > 0.99, "{count}x{width}, direction {place}: {along}");
        }
        let inner = vectors.transpose() * &vectors;
        for (row, column) in (0..12).flat_map(|row| (0..12).map(move |column| (row, column))) {
            let expected = f64::from(u8::from(row == column));
            assert!((inner[(row, column)] - expected).abs() < 1e-3, "{row}, {column}");
        }
    }
}

/// What the reduction leaves out is what the best one leaves out, for spectra that fall slowly, too.
#[test]
fn nearly_as_much_is_kept_as_can_be() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut rows = Rows::new();
    for _ in 0..300 {
        let mut entries = (0..4).map(|_| (random.random_range(0..200), 1.0)).collect();
        rows.push_unsorted(&mut entries);
    }
    let exact = dense(&rows).svd().unwrap();
    let sum = |count: usize| (0..count).map(|place| exact.S()[place].powi(2)).sum::<f64>();
    let found = truncated_svd(&rows, 40, 3, &session(1)).unwrap();
    let kept: f64 = found.singular_values.iter().map(|value| value * value).sum();
    let share = kept / sum(40);
    assert!(
        (0.98..1.0001).contains(&share),
        "{share} of what is possible, which is {}",
        sum(40) / sum(200)
    );
}

#[test]
fn rows_of_few_directions_get_no_more() {
    // Rank 2: all rows are sums of two patterns.
    let mut rows = Rows::new();
    for row in 0..50u32 {
        let (a, b) = ((row % 7) as f32, (row % 5) as f32);
        rows.push_unsorted(&mut vec![(0, a), (3, 2.0 * a + b), (9, b)]);
    }
    rows.set_width(20);
    let found = truncated_svd(&rows, 16, 3, &session(1)).unwrap();
    assert_eq!(found.singular_values.len(), 2, "{:?}", found.singular_values);
    // Nothing is lost: lengths of rows stay as they are.
    let mut reduced = Vec::new();
    for row in rows.iter() {
        found.reduction.apply(row, &mut reduced);
        let (before, after) = (row.squared_norm(), dense::dot(&reduced, &reduced));
        assert!((before - after).abs() <= 1e-3 * before, "{before}, {after}");
    }
    let mut nothing = Rows::new();
    nothing.push_unsorted(&mut vec![]);
    assert!(truncated_svd(&nothing, 4, 2, &session(1)).is_err());
    nothing.set_width(3);
    let zero = truncated_svd(&nothing, 4, 2, &session(1)).unwrap();
    assert_eq!((zero.reduction.dimensions(), zero.reduction.features()), (1, 3));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let rows = sparse(300, 160);
    let of = |threads| {
        let found = truncated_svd(&rows, 80, 2, &session(threads)).unwrap();
        (
            found.singular_values,
            found.reduction.values().to_vec(),
            found.reduction.factors().to_vec(),
        )
    };
    let one = of(1);
    assert!(one == of(2) && one == of(3));
}

#[test]
fn a_raised_flag_stops_it() {
    let session = session(1);
    session.cancel().raise();
    assert!(matches!(
        truncated_svd(&sparse(50, 40), 8, 2, &session),
        Err(Error::Cancelled)
    ));
}
