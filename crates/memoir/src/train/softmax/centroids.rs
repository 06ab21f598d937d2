//! First weights: the centroid of each class, scaled.

use std::ops::Range;

use rayon::prelude::*;

use super::class_slice::ClassSlice;
use super::disk_rows::ClassWindows;
use super::rows::QuantizedRows;
use crate::dataset::{Dataset, RowsByClass};
use crate::per_thread::PerThread;
use crate::sparse::fixed_point::{QuantizedRow, quantize_weight};
use crate::{Result, Session, maths};

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
    rows: ClassRows<'a>,
    row_weights: Option<&'a [f32]>,
    /// Rows that each class had before these; classes beyond the end had none.
    counts_before: &'a [u32],
    initial_scale: InitialScale,
    /// The classes whose centroids are wanted.
    wanted: Range<usize>,
}

/// Where the rows of the classes are.
enum ClassRows<'a> {
    Memory {
        rows: &'a QuantizedRows,
        by_class: RowsByClass,
    },
    Disk(&'a ClassWindows),
}

/// The rows of some classes.
#[derive(Clone, Copy)]
struct Window<'w> {
    first_class: usize,
    /// Where each class begins in `ids`, and the end.
    starts: &'w [usize],
    /// The numbers of the rows.
    ids: &'w [u32],
    rows: &'w QuantizedRows,
    /// Whether the rows are in the order of `ids`; otherwise they have their own numbers.
    in_order: bool,
}

impl<'w> Window<'w> {
    fn classes(&self) -> Range<usize> {
        self.first_class..self.first_class + self.starts.len() - 1
    }

    /// The positions of the rows of a class.
    fn of_class(&self, class: usize) -> Range<usize> {
        self.starts[class - self.first_class]..self.starts[class - self.first_class + 1]
    }

    fn index(&self, position: usize) -> usize {
        if self.in_order {
            position
        } else {
            self.ids[position] as usize
        }
    }

    fn row(&self, position: usize) -> QuantizedRow<'w> {
        self.rows.row(self.index(position))
    }
}

impl<'a> Centroids<'a> {
    /// Of rows on disk.
    pub(super) fn on_disk(data: &'a Dataset, rows: &'a ClassWindows, initial_scale: InitialScale) -> Self {
        Self {
            rows: ClassRows::Disk(rows),
            row_weights: data.weights.as_deref(),
            counts_before: &[],
            initial_scale,
            wanted: 0..usize::MAX,
        }
    }

    pub(super) fn new(
        data: &'a Dataset,
        rows: &'a QuantizedRows,
        counts_before: &'a [u32],
        initial_scale: InitialScale,
    ) -> Self {
        let by_class = RowsByClass::new(&data.labels);
        Self {
            rows: ClassRows::Memory { rows, by_class },
            row_weights: data.weights.as_deref(),
            counts_before,
            initial_scale,
            wanted: 0..usize::MAX,
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

    /// Of the classes of this slice only.
    pub(super) fn with_slice(mut self, slice: &ClassSlice<'_>) -> Self {
        let range = slice.range();
        self.wanted = range.start as usize..range.end as usize;
        self
    }

    pub(super) fn width(&self) -> usize {
        match &self.rows {
            ClassRows::Memory { rows, .. } => rows.width(),
            ClassRows::Disk(windows) => windows.width,
        }
    }

    /// Entries of a row, about.
    fn mean_entries(&self) -> usize {
        match &self.rows {
            ClassRows::Memory { rows, .. } => rows.entries().div_ceil(rows.len().max(1)),
            ClassRows::Disk(windows) => windows.mean_entries,
        }
    }

    /// Calls `emit` with each class, in order and counted from the first that is wanted, and the features of
    /// its first weight vector, in fixed-point units. Weights that round to less than `least` units are left
    /// out. What rows of now give to a class that had rows before is shorter, as they are only a part of its
    /// rows.
    pub(super) fn for_each(
        &self,
        least: i16,
        session: &Session<'_>,
        mut emit: impl FnMut(u32, &[(u32, i16)]) + Send,
    ) -> Result<()> {
        let sums = PerThread::new(session, || Sums::new(self.width()));
        match &self.rows {
            ClassRows::Memory { rows, by_class } => {
                let (starts, ids) = by_class.parts();
                let window = Window {
                    first_class: 0,
                    starts,
                    ids,
                    rows,
                    in_order: false,
                };
                self.for_each_in(window, least, &sums, session, &mut emit)
            }
            ClassRows::Disk(windows) => windows.iter().try_for_each(|read| {
                let read = read?;
                let window = Window {
                    first_class: read.first_class,
                    starts: &read.starts,
                    ids: &read.ids,
                    rows: &read.rows,
                    in_order: true,
                };
                self.for_each_in(window, least, &sums, session, &mut emit)
            }),
        }
    }

    /// As above, for the classes of a window.
    fn for_each_in(
        &self,
        window: Window<'_>,
        least: i16,
        sums: &PerThread<Sums>,
        session: &Session<'_>,
        emit: &mut (impl FnMut(u32, &[(u32, i16)]) + Send),
    ) -> Result<()> {
        let of_block =
            |classes: &Range<usize>| self.block(window, classes.clone(), least, &mut sums.of_this_thread());
        let mut before: Vec<Block> = Vec::new();
        for blocks in self.blocks(window).chunks(session.threads() * BLOCKS_PER_THREAD) {
            session.check()?;
            // Only one thread can hand over what was found; the others go on meanwhile.
            let (found, ()) = session.run(|| {
                rayon::join(
                    || blocks.par_iter().map(of_block).collect(),
                    || before.iter().for_each(|block| block.emit(emit)),
                )
            });
            before = found;
        }
        for block in &before {
            block.emit(emit);
        }
        Ok(())
    }

    /// All classes, in blocks of about as many rows.
    fn blocks(&self, window: Window<'_>) -> Vec<Range<usize>> {
        let rows_per_block = ENTRIES_PER_BLOCK / self.mean_entries().max(1);
        let mut blocks = Vec::new();
        let (wanted, all) = (&self.wanted, window.classes());
        let classes = all.start.max(wanted.start)..all.end.min(wanted.end);
        let (mut first, mut rows) = (classes.start, 0);
        for class in classes.clone() {
            rows += window.of_class(class).len();
            if rows >= rows_per_block {
                blocks.push(first..class + 1);
                (first, rows) = (class + 1, 0);
            }
        }
        if first < classes.end {
            blocks.push(first..classes.end);
        }
        blocks
    }

    /// The first weight vectors of `classes`.
    fn block(&self, window: Window<'_>, classes: Range<usize>, least: i16, scratch: &mut Sums) -> Block {
        let Sums { sums, touched } = scratch;
        let positions = classes.clone().flat_map(|class| window.of_class(class));
        let most = positions.map(|position| window.row(position).indices.len()).sum();
        // Room for all at once: growing would move it about.
        let mut block = Block {
            first: classes.start - self.wanted.start,
            ends: Vec::with_capacity(classes.len()),
            entries: Vec::with_capacity(most),
        };
        for class in classes.clone() {
            if class + 1 < classes.end {
                for position in window.of_class(class + 1) {
                    window.rows.prefetch(window.index(position));
                }
            }
            for position in window.of_class(class) {
                let id = window.ids[position] as usize;
                let weight = self.row_weights.map_or(1.0, |weights| weights[id]);
                let row = window.row(position);
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
                .map(|&feature| maths::square(sums[feature as usize]))
                .sum::<f32>();
            let now = window.of_class(class).len() as f32;
            let size = now + self.base(class);
            let larger =
                maths::powf(size, self.initial_scale.size_power) * maths::powf(now / size, LENGTH_POWER);
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
    /// The first of the classes, counted from the first that is wanted.
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
