//! A tall dense matrix: many rows, a few thousand columns. What the decomposition turns and makes orthonormal.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;

use super::{PANEL, multiply_rows, panels};
use crate::{Error, Result, Session};

/// Rows that are widened and multiplied at a time.
const BLOCK: usize = 512;

/// Columns of a triangular matrix that are multiplied at a time.
const TRIANGLE: usize = 256;

/// What is added to the diagonal, relative to its largest element, so that dependent columns do no harm.
const SHIFT: f64 = 1e-12;

/// Columns that are shorter than the root of this stay as they are: they are zero, or dividing by their length overflows.
const SMALLEST_SQUARE: f64 = 1e-50;

/// Row after row.
pub(super) struct Tall {
    columns: usize,
    values: Vec<f32>,
}

impl Tall {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            columns,
            values: vec![0.0; rows * columns],
        }
    }

    pub(super) fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Replaces the columns of `panel` by those of `values`.
    pub(super) fn set_columns(&mut self, panel: Range<usize>, values: &[f32]) {
        let own = self.values.chunks_exact_mut(self.columns);
        for (row, new) in own.zip(values.chunks_exact(panel.len())) {
            row[panel.clone()].copy_from_slice(new);
        }
    }

    /// Makes the columns orthonormal, in the span they have (Cholesky factor of their inner products).
    pub(super) fn orthonormalise(&mut self, session: &Session<'_>) -> Result<()> {
        let mut inner = Mat::<f64>::zeros(self.columns, self.columns);
        for panel in panels(self.columns) {
            let width = panel.len();
            let own: Vec<f32> = (0..self.rows())
                .flat_map(|row| self.row(row)[panel.clone()].iter().copied())
                .collect();
            debug_assert_eq!(own.len(), width * self.rows());
            self.products(&own, &panel, &mut inner, session)?;
        }
        let largest = (0..self.columns)
            .map(|place| inner[(place, place)])
            .fold(0.0, f64::max);
        if largest < SMALLEST_SQUARE {
            return Ok(());
        }
        for place in 0..self.columns {
            inner[(place, place)] += SHIFT * largest;
        }
        let factor = inner.llt(Side::Upper).map_err(|_| {
            Error::Unlearnable("rows cannot be reduced: their values are too large".to_owned())
        })?;
        let mut inverse = Mat::<f64>::zeros(self.columns, self.columns);
        invert_lower_triangular(inverse.as_mut(), factor.L(), Par::Seq);
        // X := X L^-T
        let inverse = Mat::from_fn(self.columns, self.columns, |row, column| {
            inverse[(column, row)] as f32
        });
        self.multiply_triangular(&inverse, session)
    }

    /// Inner products, in double precision, of the columns up to the end of `panel` with the columns `other`, into
    /// the upper half of `out`.
    pub(super) fn products(
        &self,
        other: &[f32],
        panel: &Range<usize>,
        out: &mut Mat<f64>,
        session: &Session<'_>,
    ) -> Result<()> {
        let width = panel.len();
        let tiles: Vec<Range<usize>> = panels(panel.end).collect();
        let found: Vec<Mat<f64>> = session.run(|| {
            let found = tiles.par_iter().map_init(
                || (Vec::new(), Vec::new()),
                |(left, right): &mut (Vec<f64>, Vec<f64>), tile| {
                    let mut sum = Mat::<f64>::zeros(tile.len(), width);
                    for (block, other) in other.chunks(BLOCK * width).enumerate() {
                        session.check()?;
                        let rows = other.len() / width;
                        left.clear();
                        for row in block * BLOCK..block * BLOCK + rows {
                            left.extend(self.row(row)[tile.clone()].iter().map(|&value| f64::from(value)));
                        }
                        right.clear();
                        right.extend(other.iter().map(|&value| f64::from(value)));
                        matmul(
                            &mut sum,
                            Accum::Add,
                            MatRef::from_row_major_slice(left, rows, tile.len()).transpose(),
                            MatRef::from_row_major_slice(right, rows, width),
                            1.0,
                            Par::Seq,
                        );
                    }
                    Ok(sum)
                },
            );
            found.collect::<Result<_>>()
        })?;
        for (tile, sum) in tiles.iter().zip(found) {
            for (column, target) in panel.clone().enumerate() {
                for (row, place) in tile.clone().enumerate() {
                    out[(place, target)] = sum[(row, column)];
                }
            }
        }
        Ok(())
    }

    /// Multiplies by a matrix from the right, in place: there are no more columns afterwards than before.
    pub(super) fn multiply(&mut self, right: &Mat<f32>, session: &Session<'_>) -> Result<()> {
        let kept = right.ncols();
        self.map_rows(kept, session, |rows, product| {
            multiply_rows(rows, right.as_ref(), product);
        })
    }

    /// Multiplies by an upper triangular matrix from the right, in place: each panel of columns is a sum over those
    /// before it alone, half the work.
    fn multiply_triangular(&mut self, right: &Mat<f32>, session: &Session<'_>) -> Result<()> {
        let columns = self.columns;
        self.map_rows(columns, session, |rows, product| {
            let count = rows.len() / columns;
            let rows = MatRef::from_row_major_slice(rows, count, columns);
            let mut product = MatMut::from_row_major_slice_mut(product, count, columns);
            for panel in (0..columns).step_by(TRIANGLE) {
                let width = TRIANGLE.min(columns - panel);
                let above = panel + width;
                matmul(
                    product.as_mut().subcols_mut(panel, width),
                    Accum::Replace,
                    rows.subcols(0, above),
                    right.as_ref().submatrix(0, panel, above, width),
                    1.0,
                    Par::Seq,
                );
            }
        })
    }

    /// Replaces groups of rows by what `map` makes of them: `kept` columns each, the others become zero.
    fn map_rows(
        &mut self,
        kept: usize,
        session: &Session<'_>,
        map: impl Fn(&[f32], &mut [f32]) + Sync,
    ) -> Result<()> {
        let columns = self.columns;
        session.run(|| {
            self.values.par_chunks_mut(PANEL * columns).try_for_each_init(
                || vec![0.0; PANEL * kept],
                |product, rows| {
                    session.check()?;
                    let product = &mut product[..rows.len() / columns * kept];
                    map(rows, product);
                    for (row, new) in rows.chunks_exact_mut(columns).zip(product.chunks_exact(kept)) {
                        row[..kept].copy_from_slice(new);
                        row[kept..].fill(0.0);
                    }
                    Ok(())
                },
            )
        })
    }
}
