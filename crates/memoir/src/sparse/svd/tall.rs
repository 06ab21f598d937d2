//! A tall dense matrix: many rows, a few thousand columns. What the decomposition turns and makes
//! orthonormal.
//!
//! It is most of what a decomposition holds, so it is kept in half the memory of single precision: for each
//! row and panel of columns 16-bit whole numbers and one factor. Columns of a panel have about the same
//! length, so little is lost; what is lost in one multiplication the next one makes good.
//!
//! Rows are in groups, and a group is stored panel after panel. Products with sparse rows read one panel at
//! rows here and there; so stored, they find neighbours in the same page and in all lines of a cache.

use std::ops::Range;

use rayon::prelude::*;

use super::matrix::inverse_factor;
use super::product::{Number, Part, multiply_double, multiply_single};
use super::{PANEL, panels, too_large};
use crate::sparse::{Reduction, dense};
use crate::{Result, Session};

/// Rows that are stored, widened and multiplied together.
const GROUP: usize = 512;

/// Columns whose products are computed at a time.
const STRIP: usize = 256;

/// What is added to the diagonal, relative to its largest element, so that dependent columns do no harm.
const SHIFT: f64 = 1e-12;

/// Columns that are shorter than the root of this stay as they are: they are zero, or dividing by their
/// length overflows.
const SMALLEST_SQUARE: f64 = 1e-50;

/// What sums over a group of rows are made in.
pub(super) trait Precision: Number + Send + Sync + From<f32> + Into<f64> {
    /// `out := left * right`, whose rows begin `stride` apart.
    fn multiply(left: Part<'_, Self>, right: Part<'_, Self>, out: &mut [Self], stride: usize);
}

impl Precision for f32 {
    fn multiply(left: Part<'_, f32>, right: Part<'_, f32>, out: &mut [f32], stride: usize) {
        multiply_single(1.0, left, right, false, out, stride);
    }
}

impl Precision for f64 {
    fn multiply(left: Part<'_, f64>, right: Part<'_, f64>, out: &mut [f64], stride: usize) {
        multiply_double(1.0, left, right, false, out, stride);
    }
}

/// See the module's description.
pub(super) struct Tall {
    rows: usize,
    columns: usize,
    /// Group after group, in each panel after panel, in each row after row.
    values: Vec<i16>,
    /// What the whole numbers of a row in a panel are multiplied by, in the same order.
    factors: Vec<f32>,
}

/// Where a group's panels are.
#[derive(Clone, Copy)]
struct Layout {
    columns: usize,
    /// Rows of the group.
    count: usize,
}

impl Layout {
    fn values(self, row: usize, panel: &Range<usize>) -> Range<usize> {
        let start = self.count * panel.start + row * panel.len();
        start..start + panel.len()
    }

    fn factor(self, row: usize, panel: &Range<usize>) -> usize {
        self.count * (panel.start / PANEL) + row
    }

    /// Rounds rows, which are as wide as the matrix, panel by panel.
    fn round(self, rows: &[f32], values: &mut [i16], factors: &mut [f32]) {
        for (number, row) in rows.chunks_exact(self.columns).enumerate() {
            for panel in panels(self.columns) {
                let whole = &mut values[self.values(number, &panel)];
                factors[self.factor(number, &panel)] = Reduction::round(&row[panel.clone()], whole);
            }
        }
    }

    /// What was rounded: the columns of `within` (whole panels) of rows from number `first` on, as many as
    /// `wide` has room for.
    fn widen<T: Precision>(
        self,
        values: &[i16],
        factors: &[f32],
        within: &Range<usize>,
        first: usize,
        wide: &mut [T],
    ) {
        for (number, row) in (first..).zip(wide.chunks_exact_mut(within.len())) {
            for panel in panels(self.columns) {
                if panel.start < within.start || panel.start >= within.end {
                    continue;
                }
                let factor = factors[self.factor(number, &panel)];
                let whole = &values[self.values(number, &panel)];
                let row = &mut row[panel.start - within.start..];
                for (value, &whole) in row.iter_mut().zip(whole) {
                    *value = T::from(f32::from(whole) * factor);
                }
            }
        }
    }
}

impl Tall {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            values: vec![0; rows * columns],
            factors: vec![0.0; rows * columns.div_ceil(PANEL)],
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    fn layout(&self, group: usize) -> Layout {
        Layout {
            columns: self.columns,
            count: GROUP.min(self.rows - group * GROUP),
        }
    }

    /// The whole numbers of a row in a panel of columns, and their factor.
    fn part(&self, row: usize, panel: &Range<usize>) -> (f32, &[i16]) {
        let (group, row) = (row / GROUP, row % GROUP);
        let (layout, before) = (self.layout(group), group * GROUP);
        let factor = self.factors[before * self.columns.div_ceil(PANEL) + layout.factor(row, panel)];
        (
            factor,
            &self.values[before * self.columns..][layout.values(row, panel)],
        )
    }

    /// Adds `value` times the row's columns of `panel` to `sums`: to as many as there are.
    pub(super) fn add_part(&self, sums: &mut [f32], value: f32, row: usize, panel: &Range<usize>) {
        let (factor, whole) = self.part(row, panel);
        dense::add_whole(sums, value * factor, whole);
    }

    /// The groups' layouts, values and factors.
    fn groups_mut(&mut self) -> impl IndexedParallelIterator<Item = (Layout, &mut [i16], &mut [f32])> {
        let columns = self.columns;
        let per_row = columns.div_ceil(PANEL);
        let groups = self.values.par_chunks_mut(GROUP * columns);
        let groups = groups.zip(self.factors.par_chunks_mut(GROUP * per_row));
        groups.map(move |(values, factors)| {
            let count = values.len() / columns;
            (Layout { columns, count }, values, factors)
        })
    }

    /// Replaces all rows, one after the other, by what `fill` writes.
    pub(super) fn fill_rows(&mut self, mut fill: impl FnMut(&mut [f32])) {
        let mut new = vec![0.0; GROUP * self.columns];
        let per_row = self.columns.div_ceil(PANEL);
        let groups = self.values.chunks_mut(GROUP * self.columns);
        for (values, factors) in groups.zip(self.factors.chunks_mut(GROUP * per_row)) {
            let new = &mut new[..values.len()];
            new.chunks_exact_mut(self.columns).for_each(&mut fill);
            let layout = Layout {
                columns: self.columns,
                count: values.len() / self.columns,
            };
            layout.round(new, values, factors);
        }
    }

    /// Replaces the columns of `panel` by those of `new`.
    pub(super) fn set_columns(&mut self, panel: &Range<usize>, new: &[f32], session: &Session<'_>) {
        session.run(|| {
            let groups = self.groups_mut().zip(new.par_chunks(GROUP * panel.len()));
            groups.for_each(|((layout, values, factors), new)| {
                for (number, new) in new.chunks_exact(panel.len()).enumerate() {
                    let whole = &mut values[layout.values(number, panel)];
                    factors[layout.factor(number, panel)] = Reduction::round(new, whole);
                }
            });
        });
    }

    /// The first columns of each row as a map of features, in the memory of the matrix.
    pub(super) fn into_reduction(mut self, dimensions: usize) -> Option<Reduction> {
        let mut row_factors = Vec::with_capacity(self.rows);
        let mut wide = vec![0.0; GROUP * self.columns];
        let all = 0..self.columns;
        for group in 0..self.rows.div_ceil(GROUP) {
            let wide = &mut wide[..self.layout(group).count * self.columns];
            self.widen(group, &all, 0, wide);
            // Never beyond the group that was just read.
            let rounded = self.values[group * GROUP * dimensions..].chunks_exact_mut(dimensions);
            for (row, rounded) in wide.chunks_exact(self.columns).zip(rounded) {
                row_factors.push(Reduction::round(&row[..dimensions], rounded));
            }
        }
        self.values.truncate(self.rows * dimensions);
        self.values.shrink_to_fit();
        Reduction::new(dimensions, self.values.into(), row_factors.into())
    }

    /// Makes the columns orthonormal, in the span they have (Cholesky factor of their inner products). Sums
    /// over a group of rows are made in the precision `T`: columns that are nearly dependent need `f64`.
    pub(super) fn orthonormalise<T: Precision>(&mut self, session: &Session<'_>) -> Result<()> {
        let columns = self.columns;
        let mut inner = self.inner_products::<T>(session)?;
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

    /// The upper half of all columns' inner products.
    pub(super) fn inner_products<T: Precision>(&self, session: &Session<'_>) -> Result<Vec<f64>> {
        let columns = self.columns;
        let mut inner = vec![0.0; columns * columns];
        let mut wide = vec![T::from(0.0); GROUP.min(self.rows) * columns];
        for group in 0..self.rows.div_ceil(GROUP) {
            session.check()?;
            let wide = self.widened(group, &mut wide, session);
            session.run(|| {
                let strips = inner.par_chunks_mut(STRIP * columns).enumerate();
                strips.for_each_init(Vec::new, |sums, (strip, inner)| {
                    let rows = wide.len() / columns;
                    let start = strip * STRIP;
                    let (own, rest) = (inner.len() / columns, columns - start);
                    let left = Part::new(&wide[start..], rows, own, columns).transposed();
                    let right = Part::new(&wide[start..], rows, rest, columns);
                    sums.resize(own * rest, T::from(0.0));
                    T::multiply(left, right, sums, rest);
                    for (inner, sums) in inner.chunks_exact_mut(columns).zip(sums.chunks_exact(rest)) {
                        for (inner, &sum) in inner[start..].iter_mut().zip(sums) {
                            *inner += sum.into();
                        }
                    }
                });
            });
        }
        Ok(inner)
    }

    /// See [`Layout::widen`].
    fn widen<T: Precision>(&self, group: usize, within: &Range<usize>, first: usize, wide: &mut [T]) {
        let before = group * GROUP;
        let values = &self.values[before * self.columns..];
        let factors = &self.factors[before * self.columns.div_ceil(PANEL)..];
        self.layout(group).widen(values, factors, within, first, wide);
    }

    /// All columns of a group's rows, row after row, in `space`.
    fn widened<'a, T: Precision>(&self, group: usize, space: &'a mut [T], session: &Session<'_>) -> &'a [T] {
        let all = 0..self.columns;
        let wide = &mut space[..self.layout(group).count * self.columns];
        session.run(|| {
            let parts = wide.par_chunks_mut(PANEL * self.columns).enumerate();
            parts.for_each(|(part, wide)| self.widen(group, &all, part * PANEL, wide));
        });
        wide
    }

    /// Adds the inner products of the columns up to the end of `panel` with the columns `other` to the upper
    /// half of `products`.
    pub(super) fn add_products(
        &self,
        other: &[f32],
        panel: &Range<usize>,
        products: &mut [f64],
        session: &Session<'_>,
    ) -> Result<()> {
        let (columns, width) = (self.columns, panel.len());
        let products = &mut products[..panel.end * columns];
        session.run(|| {
            let strips = products.par_chunks_mut(STRIP * columns).enumerate();
            strips.try_for_each_init(
                || (Vec::new(), Vec::new()),
                |(wide, sums), (strip, products)| {
                    let start = strip * STRIP;
                    let own = products.len() / columns;
                    sums.resize(own * width, 0.0);
                    for (group, other) in other.chunks(GROUP * width).enumerate() {
                        session.check()?;
                        let rows = other.len() / width;
                        wide.resize(rows * own, 0.0f32);
                        self.widen(group, &(start..start + own), 0, wide);
                        let left = Part::new(wide, rows, own, own).transposed();
                        f32::multiply(left, Part::new(other, rows, width, width), sums, width);
                        for (products, sums) in
                            products.chunks_exact_mut(columns).zip(sums.chunks_exact(width))
                        {
                            for (product, &sum) in products[panel.clone()].iter_mut().zip(sums) {
                                *product += f64::from(sum);
                            }
                        }
                    }
                    Ok(())
                },
            )
        })
    }

    /// Inner products of the columns of `panel` with the columns `other`, each with its own.
    pub(super) fn own_products(
        &self,
        other: &[f32],
        panel: &Range<usize>,
        session: &Session<'_>,
    ) -> Vec<f64> {
        let width = panel.len();
        let of_groups: Vec<Vec<f64>> = session.run(|| {
            let groups = other.par_chunks(GROUP * width).enumerate();
            let sums = groups.map(|(group, other)| {
                let mut sums = vec![0.0; width];
                for (row, other) in (group * GROUP..).zip(other.chunks_exact(width)) {
                    let (factor, whole) = self.part(row, panel);
                    for ((sum, &whole), &other) in sums.iter_mut().zip(whole).zip(other) {
                        *sum += f64::from(f32::from(whole) * factor) * f64::from(other);
                    }
                }
                sums
            });
            sums.collect()
        });
        let mut all = vec![0.0; width];
        for sums in of_groups {
            for (all, own) in all.iter_mut().zip(sums) {
                *all += own;
            }
        }
        all
    }

    /// Multiplies by an upper triangular matrix from the right, in place: each strip of columns is a sum
    /// over the columns before it alone, half the work.
    pub(super) fn multiply_triangular(&mut self, right: &[f64], session: &Session<'_>) -> Result<()> {
        let columns = self.columns;
        let all = 0..columns;
        let right: Vec<f32> = right.iter().map(|&value| value as f32).collect();
        let room = GROUP.min(self.rows) * columns;
        session.run(|| {
            self.groups_mut().try_for_each_init(
                || (vec![0.0; room], vec![0.0; room]),
                |(wide, product), (layout, values, factors)| {
                    session.check()?;
                    let count = layout.count;
                    let (wide, product) = (&mut wide[..values.len()], &mut product[..values.len()]);
                    layout.widen(values, factors, &all, 0, wide);
                    for strip in (0..columns).step_by(STRIP) {
                        let width = STRIP.min(columns - strip);
                        let above = strip + width;
                        let rows = Part::new(wide, count, above, columns);
                        let right = Part::new(&right[strip..], above, width, columns);
                        f32::multiply(rows, right, &mut product[strip..], columns);
                    }
                    layout.round(product, values, factors);
                    Ok(())
                },
            )
        })
    }
}
