//! Truncated singular value decomposition of sparse rows, by random projection and a few multiplications.
//!
//! `A` has a row for each example. A random matrix on its shorter side is multiplied by `A A^T` (or `A^T A`)
//! a few times and made orthonormal after each, which turns it towards the strongest singular vectors. Only
//! that tall matrix is ever in memory: products are made for a few columns at a time, in its place, and it
//! becomes the result in its place, too, if it has a row for each feature.
//!
//! The result spans the strongest directions; it is not turned to the singular vectors themselves. Whoever
//! uses it takes inner products of reduced rows, and no rotation changes an inner product.
//!
//! Everything is cut into pieces of fixed size, each computed by one thread, so results do not depend on the
//! number of threads.

mod matrix;
mod product;
mod tall;

use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use self::tall::Tall;
use crate::sparse::{Reduction, RowView, Rows, dense};
use crate::{Error, Result, Session};

/// Columns that are multiplied at a time.
const PANEL: usize = 64;

/// Rows of a result that one worker computes between two looks at the cancel flag.
const STRIDE: usize = 64;

/// Features whose vectors one worker computes together: one panel of columns after the other.
const FEATURES: usize = 512;

/// Directions weaker than this, relative to the strongest, are rounding errors: squares are in single
/// precision.
const WEAKEST: f64 = 1e-3;

/// The strongest directions of rows.
#[derive(Debug)]
pub struct TruncatedSvd {
    /// The sum of the rows' squared lengths along the directions.
    pub squared_length: f64,
    /// From rows to their components along the directions.
    pub reduction: Reduction,
}

/// Decomposes `rows` into at most `dimensions` directions (fewer if rows have no more), with so many
/// multiplications.
pub fn truncated_svd(
    rows: &Rows,
    dimensions: usize,
    multiplications: usize,
    session: &Session<'_>,
) -> Result<TruncatedSvd> {
    let turned = transposed(rows);
    // `short` has the fewer rows: the tall matrix has as many.
    let is_by_feature = rows.width() <= rows.len();
    let (short, long) = if is_by_feature {
        (&turned, rows)
    } else {
        (rows, &turned)
    };
    let columns = dimensions.min(short.len());
    if columns == 0 {
        return Err(Error::Unlearnable(
            "rows without features cannot be reduced".to_owned(),
        ));
    }
    let stages = multiplications.max(1) as u64 + 2;
    let mut tall = random(short.len(), columns, session);
    let mut space = Space::default();
    for stage in 0..stages - 2 {
        session.progress("reducing", stage, stages, "stages");
        for panel in panels(columns) {
            squared(short, long, &tall, &panel, &mut space, session)?;
            tall.set_columns(&panel, &space.panel, session);
        }
        tall.orthonormalise::<f64>(session)?;
    }
    // Once more: the first time leaves errors where columns were nearly dependent.
    tall.orthonormalise::<f32>(session)?;

    session.progress("reducing", stages - 2, stages, "stages");
    // `U^T A A^T U`, if its factor will be needed, and its diagonal.
    let mut within = vec![0.0; if is_by_feature { 0 } else { columns * columns }];
    let mut along = Vec::with_capacity(columns);
    for panel in panels(columns) {
        squared(short, long, &tall, &panel, &mut space, session)?;
        along.extend(tall.own_products(&space.panel, &panel, session));
        if !is_by_feature {
            tall.add_products(&space.panel, &panel, &mut within, session)?;
        }
    }
    drop(space);
    let weakest = WEAKEST * WEAKEST * along.iter().copied().fold(0.0, f64::max);
    // The multiplications have brought strong directions to the front.
    let kept = along.iter().rposition(|&along| along > weakest);
    let kept = kept.map_or(1, |last| last + 1);
    let squared_length = along[..kept].iter().sum();
    session.progress("reducing", stages - 1, stages, "stages");
    let reduction = if is_by_feature {
        tall.into_reduction(kept)
    } else {
        // V = A^T U R^-1, where R^T R = U^T A A^T U: the columns of A^T U, made orthonormal.
        let inverse = matrix::inverse_factor(within, columns, weakest).ok_or_else(too_large)?;
        tall.multiply_triangular(&inverse, session)?;
        rounded(&turned, &tall, kept, session)?
    };
    let reduction =
        reduction.ok_or_else(|| Error::Unlearnable("the reduction does not fit its features".to_owned()))?;
    session.progress("reducing", stages, stages, "stages");
    Ok(TruncatedSvd {
        squared_length,
        reduction,
    })
}

/// The rows' columns as rows.
fn transposed(rows: &Rows) -> Rows {
    let mut offsets = vec![0; rows.width() + 1];
    for row in rows.iter() {
        for &column in row.indices {
            offsets[column as usize + 1] += 1;
        }
    }
    for column in 0..rows.width() {
        offsets[column + 1] += offsets[column];
    }
    let mut next = offsets.clone();
    let (mut indices, mut values) = (vec![0; rows.entries()], vec![0.0; rows.entries()]);
    for (number, row) in (0..).zip(rows.iter()) {
        for (column, value) in row.iter() {
            let index = &mut next[column as usize];
            indices[*index] = number;
            values[*index] = value;
            *index += 1;
        }
    }
    Rows::from_parts(offsets, indices, values, rows.len())
}

fn panels(columns: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..columns)
        .step_by(PANEL)
        .map(move |start| start..(start + PANEL).min(columns))
}

/// Independent Gaussian numbers.
fn random(rows: usize, columns: usize, session: &Session<'_>) -> Tall {
    let mut tall = Tall::zeros(rows, columns);
    let mut random = session.random("truncated svd");
    tall.fill_rows(|row| row.fill_with(|| StandardNormal.sample(&mut random)));
    tall
}

/// Memory for a panel of columns, used again and again: an allocator keeps what is asked for and given back
/// in turn.
#[derive(Default)]
struct Space {
    /// With as many rows as the tall matrix.
    panel: Vec<f32>,
    /// With as many rows as the other side is long.
    half: Vec<f32>,
}

/// Some columns of `short long X`, where `long` is the transpose of `short`, into `space.panel`.
fn squared(
    short: &Rows,
    long: &Rows,
    tall: &Tall,
    panel: &std::ops::Range<usize>,
    space: &mut Space,
    session: &Session<'_>,
) -> Result<()> {
    let width = panel.len();
    let add = |sums: &mut [f32], value, row| tall.add_part(sums, value, row, panel);
    product(long, width, add, &mut space.half, session)?;
    let half = &space.half;
    let add = |sums: &mut [f32], value, row: usize| dense::add(sums, value, &half[row * width..][..width]);
    product(short, width, add, &mut space.panel, session)
}

/// The product of sparse rows with a dense matrix of `width` columns, of which `add` adds a multiple of a
/// row, into `result`.
fn product(
    rows: &Rows,
    width: usize,
    add: impl Fn(&mut [f32], f32, usize) + Sync,
    result: &mut Vec<f32>,
    session: &Session<'_>,
) -> Result<()> {
    result.clear();
    result.resize(rows.len() * width, 0.0);
    session.run(|| {
        let strides = result.par_chunks_mut(STRIDE * width).enumerate();
        strides.try_for_each(|(stride, sums)| {
            session.check()?;
            for (offset, sum) in sums.chunks_exact_mut(width).enumerate() {
                let row: RowView<'_> = rows.row(stride * STRIDE + offset);
                for (index, value) in row.iter() {
                    add(sum, value, index as usize);
                }
            }
            Ok(())
        })
    })
}

fn too_large() -> Error {
    Error::Unlearnable("rows cannot be reduced: their values are too large".to_owned())
}

/// The first columns of `features tall`, a map of features.
fn rounded(
    features: &Rows,
    tall: &Tall,
    dimensions: usize,
    session: &Session<'_>,
) -> Result<Option<Reduction>> {
    let mut whole = vec![0i16; features.len() * dimensions];
    let mut factors = vec![0f32; features.len()];
    session.run(|| {
        let strides = whole
            .par_chunks_mut(FEATURES * dimensions)
            .zip(factors.par_chunks_mut(FEATURES))
            .enumerate();
        strides.try_for_each_init(Vec::new, |sums, (stride, (whole, factors))| {
            session.check()?;
            sums.clear();
            sums.resize(whole.len(), 0.0);
            for panel in panels(tall.columns()).take_while(|panel| panel.start < dimensions) {
                let own = panel.start..panel.end.min(dimensions);
                for (feature, sums) in (stride * FEATURES..).zip(sums.chunks_exact_mut(dimensions)) {
                    for (row, value) in features.row(feature).iter() {
                        tall.add_part(&mut sums[own.clone()], value, row as usize, &panel);
                    }
                }
            }
            let each = whole.chunks_exact_mut(dimensions).zip(factors);
            for ((whole, factor), sums) in each.zip(sums.chunks_exact(dimensions)) {
                *factor = Reduction::round(sums, whole);
            }
            Ok(())
        })
    })?;
    Ok(Reduction::new(dimensions, whole.into(), factors.into()))
}

#[cfg(test)]
mod tests;
