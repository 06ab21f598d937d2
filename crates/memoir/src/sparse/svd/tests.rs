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

/// Row after row, features times features: `A^T A`.
fn inner_products(rows: &Rows) -> Vec<f64> {
    let width = rows.width();
    let mut products = vec![0.0; width * width];
    for row in rows.iter() {
        for ((a, left), (b, right)) in row
            .iter()
            .flat_map(|left| row.iter().map(move |right| (left, right)))
        {
            products[a as usize * width + b as usize] += f64::from(left) * f64::from(right);
        }
    }
    products
}

/// Eigenvalues of a symmetric matrix, largest first, with their vectors: Jacobi's rotations, which are slow
/// and sure.
fn eigen(mut matrix: Vec<f64>, size: usize) -> Vec<(f64, Vec<f64>)> {
    let mut vectors: Vec<Vec<f64>> = (0..size)
        .map(|own| (0..size).map(|other| f64::from(u8::from(own == other))).collect())
        .collect();
    for _ in 0..30 {
        for (p, q) in (0..size).flat_map(|p| (p + 1..size).map(move |q| (p, q))) {
            let off = matrix[p * size + q];
            if off.abs() < 1e-14 {
                continue;
            }
            let angle = 0.5 * (2.0 * off).atan2(matrix[q * size + q] - matrix[p * size + p]);
            let (sine, cosine) = angle.sin_cos();
            let rotate =
                |a: &mut f64, b: &mut f64| (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
            for other in 0..size {
                let (mut a, mut b) = (matrix[p * size + other], matrix[q * size + other]);
                rotate(&mut a, &mut b);
                (matrix[p * size + other], matrix[q * size + other]) = (a, b);
            }
            for row in matrix.chunks_exact_mut(size) {
                let (mut a, mut b) = (row[p], row[q]);
                rotate(&mut a, &mut b);
                (row[p], row[q]) = (a, b);
            }
            let (before, after) = vectors.split_at_mut(q);
            for (a, b) in before[p].iter_mut().zip(&mut after[0]) {
                rotate(a, b);
            }
        }
    }
    let values = (0..size).map(|own| matrix[own * size + own]);
    let mut all: Vec<_> = values.zip(vectors).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}

/// The reduction's directions: of each, its component along every feature.
fn directions(reduction: &Reduction) -> Vec<Vec<f64>> {
    let mut reduced = Vec::new();
    let mut all = vec![vec![0.0; reduction.features()]; reduction.dimensions()];
    for feature in 0..reduction.features() {
        let row = RowView {
            indices: &[feature as u32],
            values: &[1.0],
        };
        reduction.apply(row, &mut reduced);
        for (direction, &value) in all.iter_mut().zip(&reduced) {
            direction[feature] = f64::from(value);
        }
    }
    all
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Held against the exact decomposition, with either side the shorter one.
#[test]
fn directions_span_the_strongest_singular_vectors() {
    for (count, width) in [(150, 70), (70, 150), (90, 90)] {
        let rows = sparse(count, width);
        let exact = eigen(inner_products(&rows), width);
        let found = truncated_svd(&rows, 12, 6, &session(2)).unwrap();
        assert_eq!(found.reduction.dimensions(), 12);
        let possible: f64 = exact[..12].iter().map(|(square, _)| square).sum();
        let share = found.squared_length / possible;
        assert!((0.995..1.001).contains(&share), "{count}x{width}: {share}");
        let directions = directions(&found.reduction);
        for (number, (_, vector)) in exact[..8].iter().enumerate() {
            let within: f64 = directions.iter().map(|own| dot(own, vector).powi(2)).sum();
            assert!(within > 0.98, "{count}x{width}, direction {number}: {within}");
        }
        for (row, column) in (0..12).flat_map(|row| (0..12).map(move |column| (row, column))) {
            let expected = f64::from(u8::from(row == column));
            let product = dot(&directions[row], &directions[column]);
            assert!((product - expected).abs() < 1e-3, "{row}, {column}: {product}");
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
    rows.set_width(200);
    let exact = eigen(inner_products(&rows), 200);
    let sum = |count: usize| exact[..count].iter().map(|(square, _)| square).sum::<f64>();
    let found = truncated_svd(&rows, 40, 3, &session(1)).unwrap();
    let share = found.squared_length / sum(40);
    assert!(
        (0.93..1.0001).contains(&share),
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
    assert_eq!(found.reduction.dimensions(), 2);
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
            found.squared_length,
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

/// Row after row, what a matrix holds.
fn dense_of(tall: &Tall, rows: usize) -> Vec<Vec<f32>> {
    let row = |row| {
        let mut all = vec![0.0; tall.columns()];
        for panel in panels(tall.columns()) {
            tall.add_part(&mut all[panel.clone()], 1.0, row, &panel);
        }
        all
    };
    (0..rows).map(row).collect()
}

/// Several groups of rows and strips of columns, the last of each not full.
#[test]
fn a_tall_matrix_multiplies_as_its_numbers_do() {
    let (rows, columns) = (1100, 300);
    let session = session(2);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut number = || random.random_range(-1.0f32..1.0);
    let mut tall = Tall::zeros(rows, columns);
    tall.fill_rows(|row| row.fill_with(&mut number));
    let panel = panels(columns).last().unwrap();
    let new: Vec<f32> = (0..rows * panel.len()).map(|_| number()).collect();
    tall.set_columns(&panel, &new, &session);
    let other: Vec<f32> = (0..rows * panel.len()).map(|_| number()).collect();
    let dense = dense_of(&tall, rows);
    for (row, new) in dense.iter().zip(new.chunks_exact(panel.len())) {
        for (value, new) in row[panel.clone()].iter().zip(new) {
            assert!((value - new).abs() < 1e-4, "{value}, {new}");
        }
    }

    let double = tall.inner_products::<f64>(&session).unwrap();
    let single = tall.inner_products::<f32>(&session).unwrap();
    let mut products = vec![0.0; columns * columns];
    tall.add_products(&other, &panel, &mut products, &session)
        .unwrap();
    let own = tall.own_products(&other, &panel, &session);
    let sum = |value: &dyn Fn(usize) -> (f32, f32)| {
        let each = (0..rows).map(|row| {
            let (left, right) = value(row);
            f64::from(left) * f64::from(right)
        });
        each.sum::<f64>()
    };
    for (a, b) in (0..columns).flat_map(|a| (a..columns).map(move |b| (a, b))) {
        let expected = sum(&|row| (dense[row][a], dense[row][b]));
        let found = (double[a * columns + b], single[a * columns + b]);
        assert!(
            (found.0 - expected).abs() < 1e-9,
            "{a}, {b}: {found:?}, {expected}"
        );
        assert!(
            (found.1 - expected).abs() < 1e-3,
            "{a}, {b}: {found:?}, {expected}"
        );
        if panel.contains(&b) {
            let column = b - panel.start;
            let expected = sum(&|row| (dense[row][a], other[row * panel.len() + column]));
            let found = products[a * columns + b];
            assert!((found - expected).abs() < 1e-3, "{a}, {b}: {found}, {expected}");
            assert!(a != b || (own[column] - expected).abs() < 1e-9, "{a}: {own:?}");
        }
    }

    let mut triangle = vec![0.0; columns * columns];
    for (row, column) in (0..columns).flat_map(|row| (row..columns).map(move |column| (row, column))) {
        triangle[row * columns + column] = f64::from(number());
    }
    tall.multiply_triangular(&triangle, &session).unwrap();
    let turned = dense_of(&tall, rows);
    for (before, after) in dense.iter().zip(&turned) {
        for (column, &after) in after.iter().enumerate() {
            let terms = before.iter().zip(triangle[column..].iter().step_by(columns));
            let expected: f64 = terms.map(|(&value, factor)| f64::from(value) * factor).sum();
            assert!(
                (f64::from(after) - expected).abs() < 2e-3,
                "{column}: {after}, {expected}"
            );
        }
    }
    let reduction = tall.into_reduction(130).unwrap();
    for (direction, along) in directions(&reduction).iter().enumerate() {
        for (row, found) in turned.iter().zip(along) {
            let difference = f64::from(row[direction]) - found;
            assert!(difference.abs() < 2e-3, "{direction}: {found}");
        }
    }
}
