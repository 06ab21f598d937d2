//! Training rows as integers, without the features that hardly matter in them.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::sparse::fixed_point::{QuantizedRow, least_kept, quantize_into};
use crate::sparse::{Gather, RowView, Rows, SLACK_SHARE, prefetch};

/// Rows with integer values.
pub(super) struct QuantizedRows {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<i16>,
    scales: Vec<f32>,
    width: usize,
    place: Place,
    of_all: Option<OfAll>,
}

/// Where a row is among those in memory.
#[derive(Debug, Clone, Default)]
pub(super) enum Place {
    /// All rows are there, in their order.
    #[default]
    Own,
    /// The position of each row in an order, of which a window is there that begins at a position.
    Window(Arc<Vec<u32>>, u32),
    /// Few rows are there.
    Few(FxHashMap<u32, u32>),
}

impl Place {
    /// Where row number `index` is.
    #[inline]
    pub(super) fn of(&self, index: usize) -> usize {
        match self {
            Self::Own => index,
            Self::Window(positions, first) => (positions[index] - first) as usize,
            Self::Few(places) => places[&(index as u32)] as usize,
        }
    }
}

/// All rows, where not all are in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfAll {
    pub(super) rows: usize,
    pub(super) entries: usize,
    /// Rows of a window.
    pub(super) window_rows: usize,
    /// Memory that windows take.
    pub(super) bytes: usize,
}

/// Rows in memory: all of them, or a window.
#[derive(Clone)]
pub(super) enum RowsHandle<'a> {
    All(&'a QuantizedRows),
    Window(Arc<QuantizedRows>),
}

impl Deref for RowsHandle<'_> {
    type Target = QuantizedRows;

    fn deref(&self) -> &QuantizedRows {
        match self {
            Self::All(rows) => rows,
            Self::Window(rows) => rows,
        }
    }
}

impl QuantizedRows {
    /// Rows that were read back from disk, in their order there.
    pub(super) fn of(gather: Gather, width: usize) -> Self {
        Self {
            offsets: gather.offsets,
            indices: gather.indices,
            values: gather.values,
            scales: gather.scales,
            width,
            place: Place::Own,
            of_all: None,
        }
    }

    /// The same with other places.
    pub(super) fn placed(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// The same as a part of others.
    pub(super) fn part_of(self, all: OfAll, place: Place) -> Self {
        Self {
            of_all: Some(all),
            ..self.placed(place)
        }
    }

    fn place(&self, index: usize) -> usize {
        self.place.of(index)
    }

    /// Number of rows that are learned from before others are read.
    pub(super) fn rows_at_a_time(&self) -> usize {
        self.of_all
            .as_ref()
            .map_or(self.scales.len(), |all| all.window_rows)
    }

    /// Takes `rows` over as integers, in parallel. The smallest values of each row that together hold at
    /// most the share `trim` of its squared length are left out, and the rest is stretched to the former
    /// length: long rows have many such values, and most of the time would go into them.
    pub(super) fn new(rows: &Rows, trim: f32) -> Self {
        Self::made_of(Cow::Borrowed(rows), trim)
    }

    /// As [`QuantizedRows::new`], of rows that nobody else needs: from the last ones on, those that were
    /// taken over are freed. So both forms of all rows are never there at once.
    pub(super) fn taking(rows: Rows, trim: f32) -> Self {
        Self::made_of(Cow::Owned(rows), trim)
    }

    fn made_of(mut rows: Cow<'_, Rows>, trim: f32) -> Self {
        let number = rows.len();
        let kept: Vec<Kept> = (0..number)
            .into_par_iter()
            .map_init(Vec::new, |sizes, row| Kept::of(rows.row(row), trim, sizes))
            .collect();
        let mut offsets = Vec::with_capacity(number + 1);
        offsets.push(0);
        offsets.extend(kept.iter().scan(0, |end, kept| {
            *end += kept.number as usize;
            Some(*end)
        }));
        let entries = offsets[number];
        // Zeroes that nobody has written yet take no memory.
        let mut result = Self {
            offsets,
            indices: vec![0; entries],
            values: vec![0; entries],
            scales: vec![0.0; number],
            width: rows.width(),
            place: Place::Own,
            of_all: None,
        };
        let (mut indices, mut values) = (&mut result.indices[..], &mut result.values[..]);
        let scales = result.scales.chunks_mut(ROWS_PER_TASK);
        let mut tasks = Vec::with_capacity(scales.len());
        for ((scales, kept), first) in scales
            .zip(kept.chunks(ROWS_PER_TASK))
            .zip((0..).step_by(ROWS_PER_TASK))
        {
            let entries = result.offsets[first + scales.len()] - result.offsets[first];
            let mut task = Task {
                first,
                scales,
                indices: &mut [],
                values: &mut [],
            };
            (task.indices, indices) = indices.split_at_mut(entries);
            (task.values, values) = values.split_at_mut(entries);
            tasks.push((task, kept));
        }
        let at_once = match rows {
            Cow::Borrowed(_) => tasks.len(),
            Cow::Owned(_) => (tasks.len() / SLACK_SHARE).max(FEWEST_TASKS),
        };
        while !tasks.is_empty() {
            let last = tasks.split_off(tasks.len().saturating_sub(at_once));
            let done_from = last[0].0.first;
            last.into_par_iter()
                .for_each(|(task, kept)| task.fill(&rows, kept));
            if let Cow::Owned(rows) = &mut rows {
                rows.truncate(done_from);
            }
        }
        result
    }

    pub(super) fn len(&self) -> usize {
        self.of_all.as_ref().map_or(self.scales.len(), |all| all.rows)
    }

    pub(super) fn entries(&self) -> usize {
        self.of_all.as_ref().map_or(self.indices.len(), |all| all.entries)
    }

    pub(super) fn bytes(&self) -> u64 {
        let own = self.indices.len() * 6 + self.scales.len() * 12;
        self.of_all.as_ref().map_or(own, |all| own + all.bytes) as u64
    }

    /// What of this windows take, if not all rows are in memory.
    pub(super) fn window_bytes(&self) -> u64 {
        self.of_all.as_ref().map_or(0, |all| all.bytes) as u64
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Asks for where a row is; for the row itself [`QuantizedRows::prefetch`] can be called then.
    pub(super) fn prefetch_offset(&self, index: usize) {
        let index = self.place(index);
        prefetch(&self.offsets, index);
        prefetch(&self.scales, index);
    }

    /// Asks for a row that will be needed soon.
    pub(super) fn prefetch(&self, index: usize) {
        let index = self.place(index);
        let (start, last) = (self.offsets[index], self.offsets[index + 1].wrapping_sub(1));
        prefetch(&self.indices, start);
        prefetch(&self.indices, last);
        prefetch(&self.values, start);
        prefetch(&self.values, last);
    }

    pub(super) fn row(&self, index: usize) -> QuantizedRow<'_> {
        let index = self.place(index);
        let range = self.offsets[index]..self.offsets[index + 1];
        QuantizedRow {
            indices: &self.indices[range.clone()],
            values: &self.values[range],
            scale: self.scales[index],
        }
    }
}

/// Rows that are taken over at a time.
const ROWS_PER_TASK: usize = 256;

/// Tasks that are shared out before what they took over is freed, at least: enough for several threads.
const FEWEST_TASKS: usize = 8;

/// What stays of a row.
struct Kept {
    /// Values of this size and larger.
    least: f32,
    /// So many of them.
    number: u32,
}

impl Kept {
    fn of(row: RowView<'_>, trim: f32, sizes: &mut Vec<f32>) -> Self {
        if trim == 0.0 {
            return Self {
                least: 0.0,
                number: row.values.len() as u32,
            };
        }
        let least = least_kept(row.values, trim, sizes);
        Self {
            least,
            number: row.values.iter().filter(|value| value.abs() >= least).count() as u32,
        }
    }
}

/// A run of rows that one thread takes over.
struct Task<'a> {
    first: usize,
    scales: &'a mut [f32],
    indices: &'a mut [u32],
    values: &'a mut [i16],
}

impl Task<'_> {
    fn fill(self, rows: &Rows, kept: &[Kept]) {
        let (mut indices, mut values) = (self.indices, self.values);
        let mut stretched = Vec::new();
        for (row, (scale, kept)) in (self.first..).zip(self.scales.iter_mut().zip(kept)) {
            let row = rows.row(row);
            let (own_indices, own_values);
            (own_indices, indices) = indices.split_at_mut(kept.number as usize);
            (own_values, values) = values.split_at_mut(kept.number as usize);
            stretched.clear();
            for (position, (index, value)) in
                row.iter().filter(|entry| entry.1.abs() >= kept.least).enumerate()
            {
                own_indices[position] = index;
                stretched.push(value);
            }
            if stretched.len() < row.values.len() {
                let stretch = (row.squared_norm() / stretched.iter().map(|v| v * v).sum::<f32>()).sqrt();
                if stretch.is_finite() {
                    for value in &mut stretched {
                        *value *= stretch;
                    }
                }
            }
            *scale = quantize_into(&stretched, own_values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_go_and_the_length_stays() {
        let mut rows = Rows::new();
        rows.push(RowView {
            indices: &[1, 4, 9],
            values: &[0.1, -0.8, 0.59],
        });
        rows.push(RowView {
            indices: &[],
            values: &[],
        });
        let trimmed = QuantizedRows::new(&rows, 0.05);
        let row = trimmed.row(0);
        assert_eq!(row.indices, [4, 9]);
        let norm: f32 = row
            .values
            .iter()
            .map(|&v| (f32::from(v) / row.scale).powi(2))
            .sum();
        assert!((norm - rows.row(0).squared_norm()).abs() < 1e-3);
        assert!(trimmed.row(1).indices.is_empty());
        assert_eq!(QuantizedRows::new(&rows, 0.0).row(0).indices, [1, 4, 9]);
        // Equal values stay or go together, and something always stays.
        let mut even = Rows::new();
        even.push(RowView {
            indices: &[0, 1],
            values: &[0.5, 0.5],
        });
        assert_eq!(QuantizedRows::new(&even, 0.9).row(0).indices, [0, 1]);
    }

    #[test]
    fn rows_that_are_freed_meanwhile_give_the_same() {
        // Several times as many as are taken over at once, the last task not full.
        let mut rows = Rows::new();
        for number in 0..(ROWS_PER_TASK * FEWEST_TASKS * 5 / 2 + 3) as u32 {
            let value = |index: u32| (number % 97) as f32 - 40.0 + index as f32;
            let entries = (0..number % 7).map(|index| (index * 3 + number % 5, value(index)));
            rows.push_unsorted(&mut entries.collect());
        }
        let kept = QuantizedRows::new(&rows, 0.1);
        let taken = QuantizedRows::taking(rows, 0.1);
        assert_eq!(
            (
                &taken.offsets,
                &taken.indices,
                &taken.values,
                &taken.scales,
                taken.width
            ),
            (
                &kept.offsets,
                &kept.indices,
                &kept.values,
                &kept.scales,
                kept.width
            )
        );
    }
}
