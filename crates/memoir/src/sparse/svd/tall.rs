//! A tall dense matrix: many rows, a few thousand columns. What the decomposition turns and makes
//! orthonormal.
//!
//! It is most of what a decomposition holds, so it is kept in half the memory of single precision: for each
//! row and panel of columns 16-bit whole numbers and one factor. Columns of a panel have about the same
//! length, so little is lost; what is lost in one multiplication the next one makes good.

use std::ops::Range;

use rayon::prelude::*;

use super::matrix::inverse_factor;
use super::product::{Part, multiply_double, multiply_single};
use super::{PANEL, Space, panels, too_large};
use crate::sparse::{Reduction, dense};
use crate::{Result, Session};

/// Rows that are widened and multiplied at a time.
const BLOCK: usize = 512;

/// Columns of a triangular matrix that are multiplied at a time.
const TRIANGLE: usize = 256;

/// What is added to the diagonal, relative to its largest element, so that dependent columns do no harm.
const SHIFT: f64 = 1e-12;

/// Columns that are shorter than the root of this stay as they are: they are zero, or dividing by their
/// length overflows.
const SMALLEST_SQUARE: f64 = 1e-50;

/// Row after row.
pub(super) struct Tall {
    columns: usize,
    values: Vec<i16>,
    /// What the whole numbers of each panel are multiplied by, row after row.
    factors: Vec<f32>,
}

impl Tall {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            columns,
            values: vec![0; rows * columns],
            factors: vec![0.0; rows * columns.div_ceil(PANEL)],
        }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// The whole numbers of a row in a panel of columns, and their factor.
    fn part(&self, row: usize, panel: &Range<usize>) -> (f32, &[i16]) {
        let factor = self.factors[row * self.columns.div_ceil(PANEL) + panel.start / PANEL];
        (factor, &self.values[row * self.columns..][panel.start..panel.end])
    }

    /// Adds `value` times the row's columns of `panel` to `sums`.
    pub(super) fn add_part(&self, sums: &mut [f32], value: f32, row: usize, panel: &Range<usize>) {
        let (factor, whole) = self.part(row, panel);
        dense::add_whole(sums, value * factor, whole);
    }

    /// Adds `value` times the first columns of the row to `sums`, as many as these are.
    pub(super) fn add_row(&self, sums: &mut [f32], value: f32, row: usize) {
        for (sums, panel) in sums.chunks_mut(PANEL).zip(panels(self.columns)) {
            let (factor, whole) = self.part(row, &panel);
            dense::add_whole(sums, value * factor, &whole[..sums.len()]);
        }
    }

    /// Replaces all rows, one after the other, by what `fill` writes.
    pub(super) fn fill_rows(&mut self, mut fill: impl FnMut(&mut [f32])) {
        let mut new = vec![0.0; self.columns];
        let factors = self.factors.chunks_exact_mut(self.columns.div_ceil(PANEL));
        for (whole, factors) in self.values.chunks_exact_mut(self.columns).zip(factors) {
            fill(&mut new);
            round_row(&new, whole, factors);
        }
    }

    /// Replaces the columns of `panel` by those of `values`.
    pub(super) fn set_columns(&mut self, panel: &Range<usize>, values: &[f32]) {
        let factors = self.factors.chunks_exact_mut(self.columns.div_ceil(PANEL));
        let own = self.values.chunks_exact_mut(self.columns).zip(factors);
        for ((whole, factors), new) in own.zip(values.chunks_exact(panel.len())) {
            factors[panel.start / PANEL] = Reduction::round(new, &mut whole[panel.clone()]);
        }
    }

    /// The first columns of each row as a map of features, in the memory of the matrix.
    pub(super) fn into_reduction(self, dimensions: usize) -> Option<Reduction> {
        let mut row_factors = Vec::with_capacity(self.rows());
        let mut row = vec![0.0; dimensions];
        let mut rounded = vec![0; dimensions];
        let Self {
            columns,
            mut values,
            factors,
        } = self;
        let factors = factors.chunks_exact(columns.div_ceil(PANEL));
        for (number, factors) in factors.enumerate() {
            let start = number * columns;
            widen_row(&values[start..start + dimensions], factors, &mut row);
            row_factors.push(Reduction::round(&row, &mut rounded));
            // Never beyond the row that was just read.
            values[number * dimensions..][..dimensions].copy_from_slice(&rounded);
        }
        values.truncate(row_factors.len() * dimensions);
        values.shrink_to_fit();
        Reduction::new(dimensions, values.into(), row_factors.into())
    }

    /// Makes the columns orthonormal, in the span they have (Cholesky factor of their inner products).
    pub(super) fn orthonormalise(&mut self, space: &mut Space, session: &Session<'_>) -> Result<()> {
        let columns = self.columns;
        let mut inner = vec![0.0; columns * columns];
        for panel in panels(self.columns) {
            let width = panel.len();
            let own = &mut space.panel;
            own.clear();
            own.resize(width * self.rows(), 0.0);
            for (row, own) in own.chunks_exact_mut(width).enumerate() {
                self.add_part(own, 1.0, row, &panel);
            }
            self.products(own, &panel, session, |row, column, product| {
                inner[row * columns + column] = product;
            })?;
        }
        let largest = (0..columns)
            .map(|column| inner[column * columns + column])
            .fold(0.0, f64::max);
        if largest < SMALLEST_SQUARE {
            return Ok(());
        }
        for column in 0..columns {
            inner[column * columns + column] += SHIFT * largest;
        }
        let inverse = inverse_factor(inner, columns, 0.0).ok_or_else(too_large)?;
        self.multiply_triangular(&inverse, session)
    }

    /// Inner products, in double precision, of the columns up to the end of `panel` with the columns
    /// `other`; `set` is given each with its row and column in the upper half of the matrix of all.
    pub(super) fn products(
        &self,
        other: &[f32],
        panel: &Range<usize>,
        session: &Session<'_>,
        mut set: impl FnMut(usize, usize, f64),
    ) -> Result<()> {
        let width = panel.len();
        let tiles: Vec<Range<usize>> = panels(panel.end).collect();
        let found: Vec<Vec<f64>> = session.run(|| {
            let found = tiles.par_iter().map_init(
                || (Vec::new(), Vec::new()),
                |(left, right): &mut (Vec<f64>, Vec<f64>), tile| {
                    let mut sum = vec![0.0; tile.len() * width];
                    for (block, other) in other.chunks(BLOCK * width).enumerate() {
                        session.check()?;
                        let rows = other.len() / width;
                        left.clear();
                        for row in block * BLOCK..block * BLOCK + rows {
                            let (factor, whole) = self.part(row, tile);
                            left.extend(whole.iter().map(|&whole| f64::from(f32::from(whole) * factor)));
                        }
                        right.clear();
                        right.extend(other.iter().map(|&value| f64::from(value)));
                        let left = Part::new(left, rows, tile.len(), tile.len()).transposed();
                        let right = Part::new(right, rows, width, width);
                        multiply_double(1.0, left, right, true, &mut sum, width);
                    }
                    Ok(sum)
                },
            );
            found.collect::<Result<_>>()
        })?;
        for (tile, sum) in tiles.iter().zip(found) {
            for (row, sums) in tile.clone().zip(sum.chunks_exact(width)) {
                for (column, &sum) in panel.clone().zip(sums) {
                    set(row, column, sum);
                }
            }
        }
        Ok(())
    }

    /// Multiplies by an upper triangular matrix from the right, in place: each panel of columns is a sum
    /// over the columns before it alone, half the work.
    pub(super) fn multiply_triangular(&mut self, right: &[f64], session: &Session<'_>) -> Result<()> {
        let columns = self.columns;
        let right: Vec<f32> = right.iter().map(|&value| value as f32).collect();
        self.map_rows(session, |rows, product| {
            let count = rows.len() / columns;
            for panel in (0..columns).step_by(TRIANGLE) {
                let width = TRIANGLE.min(columns - panel);
                let above = panel + width;
                let rows = Part::new(rows, count, above, columns);
                let right = Part::new(&right[panel..], above, width, columns);
                multiply_single(1.0, rows, right, false, &mut product[panel..], columns);
            }
        })
    }

    /// Replaces groups of rows by what `map` makes of them.
    fn map_rows(&mut self, session: &Session<'_>, map: impl Fn(&[f32], &mut [f32]) + Sync) -> Result<()> {
        let columns = self.columns;
        let per_row = columns.div_ceil(PANEL);
        session.run(|| {
            let groups = self.values.par_chunks_mut(PANEL * columns);
            let groups = groups.zip(self.factors.par_chunks_mut(PANEL * per_row));
            groups.try_for_each_init(
                || (vec![0.0; PANEL * columns], vec![0.0; PANEL * columns]),
                |(widened, product), (whole, factors)| {
                    session.check()?;
                    let (widened, product) = (&mut widened[..whole.len()], &mut product[..whole.len()]);
                    let own = whole.chunks_exact(columns).zip(factors.chunks_exact(per_row));
                    for ((whole, factors), wide) in own.zip(widened.chunks_exact_mut(columns)) {
                        widen_row(whole, factors, wide);
                    }
                    map(widened, product);
                    let own = whole
                        .chunks_exact_mut(columns)
                        .zip(factors.chunks_exact_mut(per_row));
                    for ((whole, factors), new) in own.zip(product.chunks_exact(columns)) {
                        round_row(new, whole, factors);
                    }
                    Ok(())
                },
            )
        })
    }
}

/// Rounds a row, panel by panel.
fn round_row(row: &[f32], whole: &mut [i16], factors: &mut [f32]) {
    let panels = row.chunks(PANEL).zip(whole.chunks_mut(PANEL));
    for ((row, whole), factor) in panels.zip(factors) {
        *factor = Reduction::round(row, whole);
    }
}

/// The numbers that [`round_row`] rounded.
fn widen_row(whole: &[i16], factors: &[f32], row: &mut [f32]) {
    let panels = row.chunks_mut(PANEL).zip(whole.chunks(PANEL));
    for ((row, whole), &factor) in panels.zip(factors) {
        for (value, &whole) in row.iter_mut().zip(whole) {
            *value = f32::from(whole) * factor;
        }
    }
}
