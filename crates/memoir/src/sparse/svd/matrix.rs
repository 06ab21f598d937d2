//! Dense matrices of modest size, row after row: the inverse of a Cholesky factor.

use super::product::{Part, multiply_double};

/// Rows and columns that are eliminated at a time: the rest of the work is a product of matrices.
const PANEL: usize = 64;

/// The inverse of the upper triangular `R` with `R^T R = symmetric`, whose upper half is given. `None` if a
/// number is not finite. Columns that others already span (what is left of them is below `smallest`) are
/// zero.
pub(super) fn inverse_factor(mut symmetric: Vec<f64>, size: usize, smallest: f64) -> Option<Vec<f64>> {
    factor(&mut symmetric, size, smallest);
    if symmetric.iter().any(|value| !value.is_finite()) {
        return None;
    }
    Some(inverse(&symmetric, size))
}

/// Replaces the upper half by the factor `R`. Rows of dependent columns become zero.
fn factor(matrix: &mut [f64], size: usize, smallest: f64) {
    for start in (0..size).step_by(PANEL) {
        let end = (start + PANEL).min(size);
        for pivot in start..end {
            let (above, below) = matrix.split_at_mut((pivot + 1) * size);
            let row = &mut above[pivot * size + pivot..];
            let square = row[0];
            if square <= smallest {
                row.fill(0.0);
                continue;
            }
            let length = square.sqrt();
            for value in row.iter_mut() {
                *value /= length;
            }
            for (other, target) in (pivot + 1..end).zip(below.chunks_exact_mut(size)) {
                let share = row[other - pivot];
                for (value, &above) in target[other..].iter_mut().zip(&row[other - pivot..]) {
                    *value -= share * above;
                }
            }
        }
        let rest = size - end;
        if rest > 0 {
            let (done, left) = matrix.split_at_mut(end * size);
            let panel = Part::new(&done[start * size + end..], end - start, rest, size);
            multiply_double(-1.0, panel.transposed(), panel, true, &mut left[end..], size);
        }
    }
}

/// The inverse of an upper triangular matrix, from its last rows up; zero where the diagonal is zero.
fn inverse(upper: &[f64], size: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; size * size];
    for start in (0..size).step_by(PANEL).rev() {
        let end = (start + PANEL).min(size);
        let rest = size - end;
        let (own, done) = inverse.split_at_mut(end * size);
        if rest > 0 {
            let right = Part::new(&upper[start * size + end..], end - start, rest, size);
            let below = Part::new(&done[end..], rest, rest, size);
            multiply_double(-1.0, right, below, false, &mut own[start * size + end..], size);
        }
        for row in (start..end).rev() {
            let diagonal = upper[row * size + row];
            let (own, below) = own.split_at_mut((row + 1) * size);
            let own = &mut own[row * size..];
            if diagonal == 0.0 {
                own.fill(0.0);
                continue;
            }
            own[row] = 1.0;
            for (other, below) in (row + 1..end).zip(below.chunks_exact(size)) {
                let share = upper[row * size + other];
                for (value, &below) in own[other..].iter_mut().zip(&below[other..]) {
                    *value -= share * below;
                }
            }
            for value in own.iter_mut() {
                *value /= diagonal;
            }
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Sizes below, at and above the panel's, with a dependent column in the middle.
    #[test]
    fn columns_times_the_inverse_factor_are_orthonormal() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        for size in [1, 2, 63, 64, 65, 150] {
            let rows = size + 9;
            let mut columns: Vec<f64> = (0..rows * size).map(|_| random.random_range(-1.0..1.0)).collect();
            let dependent = (size > 2).then_some(size / 2);
            if let Some(dependent) = dependent {
                for row in columns.chunks_exact_mut(size) {
                    row[dependent] = 2.0 * row[0] - row[1];
                }
            }
            let part = Part::new(&columns, rows, size, size);
            let mut inner = vec![0.0; size * size];
            multiply_double(1.0, part.transposed(), part, false, &mut inner, size);
            let turn = inverse_factor(inner, size, 1e-9).unwrap();
            let mut turned = vec![0.0; rows * size];
            let turn = Part::new(&turn, size, size, size);
            multiply_double(1.0, part, turn, false, &mut turned, size);
            for (a, b) in (0..size).flat_map(|a| (0..size).map(move |b| (a, b))) {
                let product: f64 = turned.chunks_exact(size).map(|row| row[a] * row[b]).sum();
                let expected = f64::from(u8::from(a == b && Some(a) != dependent));
                assert!((product - expected).abs() < 1e-9, "{size}: {a}, {b}: {product}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_has_no_factor() {
        assert_eq!(inverse_factor(vec![f64::INFINITY], 1, 0.0), None);
        assert_eq!(inverse_factor(vec![1.0, f64::NAN, 0.0, 1.0], 2, 0.0), None);
    }
}
