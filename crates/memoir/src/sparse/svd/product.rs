//! Products of dense matrices. A sum of products is a chain of fused operations in the order of its terms, a
//! new one after each [`DEPTH`]: so it has the same bits on every processor. Where a processor has no fused
//! operation (x86-64 before 2013), it is computed, which is slow.

// A plain function must become part of its callers to be compiled for their processors.
#![allow(clippy::inline_always)]

use std::array::from_fn;
use std::ops::{Add, Mul, Range};

/// Terms of a sum that are added up before they are added to the result.
const DEPTH: usize = 256;

/// Rows of a tile. With more, compilers do not keep its sums in registers, at a tenth of the speed.
const ROWS: usize = 6;

/// What matrices are made of.
pub(super) trait Number: Copy + Default + Add<Output = Self> + Mul<Output = Self> {
    /// `self * factor + addend`, rounded once.
    fn fused(self, factor: Self, addend: Self) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
    }
}

impl Number for f64 {
    #[inline(always)]
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
    }
}

/// A part of a row-major matrix that a product reads.
#[derive(Clone, Copy)]
pub(super) struct Part<'a, T> {
    values: &'a [T],
    rows: usize,
    columns: usize,
    /// Elements from one row to the next, and from one column to the next.
    strides: (usize, usize),
}

impl<'a, T: Number> Part<'a, T> {
    /// `rows` times `columns` numbers whose rows begin `stride` apart.
    pub(super) fn new(values: &'a [T], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(columns <= stride || rows <= 1);
        Self {
            values,
            rows,
            columns,
            strides: (stride, 1),
        }
    }

    /// Rows become columns.
    pub(super) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            strides: (self.strides.1, self.strides.0),
            ..self
        }
    }

    /// Rows of so many numbers each, from the place on; zero beyond the last column.
    #[inline(always)]
    fn copy<const WIDTH: usize>(&self, rows: Range<usize>, column: usize, tile: &mut Vec<[T; WIDTH]>) {
        let width = WIDTH.min(self.columns - column);
        let (down, across) = self.strides;
        for row in rows {
            let values = &self.values[row * down + column * across..];
            tile.push(if across == 1 && width == WIDTH {
                from_fn(|offset| values[..WIDTH][offset])
            } else {
                from_fn(|offset| {
                    if offset < width {
                        values[offset * across]
                    } else {
                        T::default()
                    }
                })
            });
        }
    }
}

/// `out := factor * left * right`, added to what is in `out` if that is kept; its rows begin `stride` apart.
macro_rules! product {
    ($name:ident, $number:ty, $columns:literal, $wide_columns:literal) => {
        pub(super) fn $name(
            factor: $number,
            left: Part<'_, $number>,
            right: Part<'_, $number>,
            keep: bool,
            out: &mut [$number],
            stride: usize,
        ) {
            let parts = (left, right);
            #[cfg(target_arch = "x86_64")]
            {
                type Number = $number;
                type Parts<'a> = (Part<'a, Number>, Part<'a, Number>);
                #[target_feature(enable = "avx2,fma")]
                fn avx2(factor: Number, parts: Parts<'_>, keep: bool, out: &mut [Number], stride: usize) {
                    multiply::<$number, $columns>(factor, parts, keep, out, stride);
                }
                #[target_feature(enable = "avx512f")]
                fn avx512(factor: Number, parts: Parts<'_>, keep: bool, out: &mut [Number], stride: usize) {
                    multiply::<$number, $wide_columns>(factor, parts, keep, out, stride);
                }
                #[allow(unsafe_code)]
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the function needs nothing but AVX-512, which was detected.
                    return unsafe { avx512(factor, parts, keep, out, stride) };
                } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the function needs nothing but AVX2 and FMA, which were detected.
                    return unsafe { avx2(factor, parts, keep, out, stride) };
                }
            }
            multiply::<$number, $columns>(factor, parts, keep, out, stride);
        }
    };
}

product!(multiply_single, f32, 16, 32);
product!(multiply_double, f64, 8, 16);

/// The product, in tiles whose sums a processor keeps in its registers.
#[inline(always)]
fn multiply<T: Number, const COLUMNS: usize>(
    factor: T,
    (left, right): (Part<'_, T>, Part<'_, T>),
    keep: bool,
    out: &mut [T],
    stride: usize,
) {
    assert_eq!(left.columns, right.rows);
    let (mut left_tiles, mut right_tile) = (Vec::new(), Vec::new());
    for start in (0..left.columns).step_by(DEPTH) {
        let terms = start..(start + DEPTH).min(left.columns);
        left_tiles.clear();
        for first in (0..left.rows).step_by(ROWS) {
            left.transposed().copy(terms.clone(), first, &mut left_tiles);
        }
        for first in (0..right.columns).step_by(COLUMNS) {
            right_tile.clear();
            right.copy(terms.clone(), first, &mut right_tile);
            let width = COLUMNS.min(right.columns - first);
            for (tile, left_tile) in left_tiles.chunks_exact(terms.len()).enumerate() {
                let sums: [[T; COLUMNS]; ROWS] = sums(left_tile, &right_tile);
                for (row, sums) in (tile * ROWS..left.rows).zip(sums) {
                    for (value, sum) in out[row * stride + first..][..width].iter_mut().zip(sums) {
                        let product = factor * sum;
                        *value = if keep || start > 0 {
                            *value + product
                        } else {
                            product
                        };
                    }
                }
            }
        }
    }
}

/// The sums of a tile: of the products of its rows and columns, term after term.
#[inline(always)]
fn sums<T: Number, const COLUMNS: usize>(left: &[[T; ROWS]], right: &[[T; COLUMNS]]) -> [[T; COLUMNS]; ROWS] {
    let mut sums = [[T::default(); COLUMNS]; ROWS];
    for (left, right) in left.iter().zip(right) {
        for (sums, &left) in sums.iter_mut().zip(left) {
            for (sum, &right) in sums.iter_mut().zip(right) {
                *sum = left.fused(right, *sum);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Sizes below, at and above those of tiles and of [`DEPTH`], by the processor's way and the plain one.
    #[test]
    fn products_have_the_bits_of_their_definition() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for (rows, terms, columns) in [(1, 1, 1), (6, 256, 16), (7, 257, 17), (20, 600, 50), (5, 3, 33)] {
            let mut numbers =
                |count: usize| -> Vec<f32> { (0..count).map(|_| random.random_range(-1.0..1.0)).collect() };
            let stride = columns + 2;
            let (left, right, before) = (
                numbers(rows * terms),
                numbers(terms * stride),
                numbers(rows * stride),
            );
            // The left one is there with rows and columns exchanged.
            let parts = (
                Part::new(&left, terms, rows, rows).transposed(),
                Part::new(&right, terms, columns, stride),
            );
            for (factor, keep) in [(1.0, false), (-1.0, true)] {
                let mut expected = before.clone();
                let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
                for (row, column) in places {
                    let mut value = if keep { before[row * stride + column] } else { 0.0 };
                    for start in (0..terms).step_by(DEPTH) {
                        let piece = start..(start + DEPTH).min(terms);
                        value += factor
                            * piece.fold(0.0, |sum, term| {
                                left[term * rows + row].mul_add(right[term * stride + column], sum)
                            });
                    }
                    expected[row * stride + column] = value;
                }
                let (mut single, mut plain) = (before.clone(), before.clone());
                multiply_single(factor, parts.0, parts.1, keep, &mut single, stride);
                multiply::<f32, 16>(factor, parts, keep, &mut plain, stride);
                assert_eq!(single, expected, "{rows}, {terms}, {columns}");
                assert_eq!(plain, expected, "{rows}, {terms}, {columns}");
            }
        }
    }
}
