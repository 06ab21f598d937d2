//! First weights: the centroid of each class, scaled.

use std::ops::Range;

use rayon::prelude::*;

use super::rows::QuantizedRows;
use crate::dataset::{Dataset, RowsByClass};
use crate::per_thread::PerThread;
use crate::sparse::fixed_point::quantize_weight;
use crate::{Result, Session};

/// How the first weights are made from the class centroids.
#[derive(Debug, Clone, Copy)]
pub(super) struct InitialScale {
    /// Length of each class's first weight vector.
    pub(super) length: f32,
    /// First weights grow with this power of the class size: large classes are met more often.
    pub(super) size_power: f32,
}

/// The sum of a class's rows grows with this power of their number, if they have little in common.
const LENGTH_POWER: f32 = 0.5;

/// Entries of rows that one thread takes on at a time, about: a compromise between waiting for each other
/// and the memory of what is found.
const ENTRIES_PER_BLOCK: usize = 1 << 14;
const BLOCKS_PER_THREAD: usize = 4;

/// The centroids of the classes, one after the other.
pub(super) struct Centroids<'a> {
    rows: &'a QuantizedRows,
    row_weights: Option<&'a [f32]>,
    by_class: RowsByClass,
    /// Rows that each class had before these; classes beyond the end had none.
    counts_before: &'a [u32],
    initial_scale: InitialScale,
}

impl<'a> Centroids<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        rows: &'a QuantizedRows,
        counts_before: &'a [u32],
        initial_scale: InitialScale,
    ) -> Self {
        let by_class = RowsByClass::new(&data.labels);
        Self {
            rows,
            row_weights: data.weights.as_deref(),
            by_class,
            counts_before,
            initial_scale,
        }
    }

    /// Rows that `class` had base.
    fn base(&self, class: usize) -> f32 {
        self.counts_before.get(class).copied().unwrap_or(0) as f32
    }

    /// With other weights of the rows, if there are such.
    pub(super) fn with_row_weights(mut self, weights: Option<&'a [f32]>) -> Self {
        self.row_weights = weights.or(self.row_weights);
        self
    }

    pub(super) fn width(&self) -> usize {
        self.rows.width()
    }

    /// Calls `emit` with each class, in order, and the features of its first weight vector, in fixed-point
    /// units. Weights that round to less than `least` units are left out. What rows of now give to a class
    /// that had rows before is shorter, as they are only a part of its rows.
    pub(super) fn for_each(
        &self,
        least: i16,
        session: &Session<'_>,
        mut emit: impl FnMut(u32, &[(u32, i16)]) + Send,
    ) -> Result<()> {
        let sums = PerThread::new(session, || Sums::new(self.rows.width()));
        let of_block =
            |classes: &Range<usize>| self.block(classes.clone(), least, &mut sums.of_this_thread());
        let mut before: Vec<Block> = Vec::new();
        for blocks in self.blocks().chunks(session.threads() * BLOCKS_PER_THREAD) {
            session.check()?;
            // Only one thread can hand over what was found; the others go on meanwhile.
            let (found, ()) = session.run(|| {
                rayon::join(
                    || blocks.par_iter().map(of_block).collect(),
                    || before.iter().for_each(|block| block.emit(&mut emit)),
                )
            });
            before = found;
        }
        for block in &before {
            block.emit(&mut emit);
        }
        Ok(())
    }

    /// All classes, in blocks of about as many rows.
    fn blocks(&self) -> Vec<Range<usize>> {
        let rows_per_block = ENTRIES_PER_BLOCK * self.rows.len() / self.rows.entries().max(1);
        let mut blocks = Vec::new();
        let (mut first, mut rows) = (0, 0);
        for class in 0..self.by_class.classes() {
            rows += self.by_class.rows(class).len();
            if rows >= rows_per_block {
                blocks.push(first..class + 1);
                (first, rows) = (class + 1, 0);
            }
        }
        blocks.push(first..self.by_class.classes());
        blocks
    }

    /// The first weight vectors of `classes`.
    fn block(&self, classes: Range<usize>, least: i16, scratch: &mut Sums) -> Block {
        let Sums { sums, touched } = scratch;
        let rows = classes.clone().flat_map(|class| self.by_class.rows(class));
        let most = rows.map(|&row| self.rows.row(row as usize).indices.len()).sum();
        // Room for all at once: growing would move it about.
        let mut block = Block {
            first: classes.start,
            ends: Vec::with_capacity(classes.len()),
            entries: Vec::with_capacity(most),
        };
        for class in classes.clone() {
            if class + 1 < classes.end {
                for &row in self.by_class.rows(class + 1) {
                    self.rows.prefetch(row as usize);
                }
            }
            for &row in self.by_class.rows(class) {
                let weight = self.row_weights.map_or(1.0, |weights| weights[row as usize]);
                let row = self.rows.row(row as usize);
                let factor = weight / row.scale;
                for (&feature, &value) in row.indices.iter().zip(row.values) {
                    let sum = &mut sums[feature as usize];
                    if *sum == 0.0 {
                        touched.push(feature);
                    }
                    *sum += f32::from(value) * factor;
                }
            }
            let squares = touched
                .iter()
                .map(|&feature| sums[feature as usize].powi(2))
                .sum::<f32>();
            let now = self.by_class.rows(class).len() as f32;
            let size = now + self.base(class);
            let larger = size.powf(self.initial_scale.size_power) * (now / size).powf(LENGTH_POWER);
            // All rows of a class that had others before may count nothing.
            let factor = if squares > 0.0 {
                self.initial_scale.length * larger / squares.sqrt()
            } else {
                0.0
            };
            for feature in touched.drain(..) {
                // A feature may have been touched twice, if a sum came back to zero in between: the second
                // finds zero.
                let value = std::mem::take(&mut sums[feature as usize]);
                let weight = quantize_weight(value * factor);
                if weight.abs() >= least {
                    block.entries.push((feature, weight));
                }
            }
            block.ends.push(block.entries.len());
        }
        block
    }
}

/// First weight vectors of some classes, one behind the other.
struct Block {
    /// The first of the classes.
    first: usize,
    ends: Vec<usize>,
    entries: Vec<(u32, i16)>,
}

impl Block {
    fn emit(&self, emit: &mut impl FnMut(u32, &[(u32, i16)])) {
        let mut start = 0;
        for (class, &end) in (self.first..).zip(&self.ends) {
            emit(class as u32, &self.entries[start..end]);
            start = end;
        }
    }
}

/// What one thread adds rows up in; empty between two classes.
struct Sums {
    sums: Vec<f32>,
    touched: Vec<u32>,
}

impl Sums {
    fn new(width: usize) -> Self {
        Self {
            sums: vec![0.0; width],
            touched: Vec::new(),
        }
    }
}
