//! Compressed sparse rows: the one form in which data reaches training and prediction.

use rayon::prelude::*;

use super::{give_back, prefetch};

/// One sparse row: strictly increasing column numbers and their values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowView<'a> {
    /// Strictly increasing column numbers.
    pub indices: &'a [u32],
    /// The value at each of them.
    pub values: &'a [f32],
}

impl<'a> RowView<'a> {
    /// Column numbers with their values.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (u32, f32)> + 'a {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// How many entries are stored.
    pub fn len(self) -> usize {
        self.indices.len()
    }

    /// Whether no entry is stored.
    pub fn is_empty(self) -> bool {
        self.indices.is_empty()
    }

    /// Sum of squares.
    pub fn squared_norm(self) -> f32 {
        self.values.iter().map(|v| v * v).sum()
    }
}

/// A growing list of sparse rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    width: usize,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
            width: 0,
        }
    }
}

impl Rows {
    /// No rows yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over the three arrays of a compressed-row matrix.
    ///
    /// # Panics
    /// If the arrays do not describe rows of strictly increasing indices: a mistake in the program, not in
    /// data.
    pub fn from_parts(offsets: Vec<usize>, indices: Vec<u32>, values: Vec<f32>, width: usize) -> Self {
        assert!(offsets.first() == Some(&0) && offsets.last() == Some(&indices.len()));
        assert!(indices.len() == values.len() && offsets.is_sorted());
        let rows = Self {
            offsets,
            indices,
            values,
            width,
        };
        assert!(rows.iter().all(|row| row.indices.is_sorted_by(|a, b| a < b)));
        assert!(rows.indices.iter().all(|&index| (index as usize) < width));
        rows
    }

    /// Hands over what [`Rows::from_parts`] takes: offsets, column numbers and values.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
        (self.offsets, self.indices, self.values)
    }

    /// Appends a row whose column numbers are strictly increasing.
    pub fn push(&mut self, row: RowView<'_>) {
        debug_assert!(row.indices.is_sorted_by(|a, b| a < b), "indices must increase");
        self.indices.extend_from_slice(row.indices);
        self.values.extend_from_slice(row.values);
        self.offsets.push(self.indices.len());
        if let Some(&last) = row.indices.last() {
            self.width = self.width.max(last as usize + 1);
        }
    }

    /// Appends a row given in any order; values of a repeated column are added up. `entries` is left empty.
    pub fn push_unsorted(&mut self, entries: &mut Vec<(u32, f32)>) {
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            // Stable, so that repeated columns are added in the order they came: the same sum every time.
            entries.sort_by_key(|entry| entry.0);
        }
        let start = self.indices.len();
        for (index, value) in entries.drain(..) {
            if self.indices.len() > start && self.indices.last() == Some(&index) {
                if let Some(last) = self.values.last_mut() {
                    *last += value;
                }
            } else {
                self.indices.push(index);
                self.values.push(value);
            }
        }
        if self.indices.len() > start {
            self.width = self.width.max(self.indices[self.indices.len() - 1] as usize + 1);
        }
        self.offsets.push(self.indices.len());
    }

    /// Appends all rows of `other`.
    pub fn append(&mut self, other: &Rows) {
        let shift = self.indices.len();
        self.indices.extend_from_slice(&other.indices);
        self.values.extend_from_slice(&other.values);
        self.offsets
            .extend(other.offsets[1..].iter().map(|offset| offset + shift));
        self.width = self.width.max(other.width);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns: one more than the largest column number seen, or what [`Rows::set_width`] said.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Declares the number of columns.
    ///
    /// # Panics
    /// If a stored entry lies beyond it.
    pub fn set_width(&mut self, width: usize) {
        assert!(width >= self.indices.iter().max().map_or(0, |&index| index as usize + 1));
        self.width = width;
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// Row number `index`.
    pub fn row(&self, index: usize) -> RowView<'_> {
        let range = self.offsets[index]..self.offsets[index + 1];
        RowView {
            indices: &self.indices[range.clone()],
            values: &self.values[range],
        }
    }

    /// Asks for the column numbers of a row that will be needed soon.
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.indices, self.offsets[index]);
        prefetch(&self.indices, self.offsets[index + 1].wrapping_sub(1));
    }

    /// The column numbers of row `index`, and its values to change in place.
    pub fn row_mut(&mut self, index: usize) -> (&[u32], &mut [f32]) {
        let range = self.offsets[index]..self.offsets[index + 1];
        (&self.indices[range.clone()], &mut self.values[range])
    }

    /// Hands the column numbers and values of every row to `change`, in parallel on the current thread pool.
    pub fn par_for_each_mut(&mut self, change: impl Fn(&[u32], &mut [f32]) + Sync) {
        // Large enough that splitting costs nothing, small enough that long rows do not hold a thread up.
        const ROWS_PER_TASK: usize = 512;
        let mut tasks = Vec::with_capacity(self.len().div_ceil(ROWS_PER_TASK));
        let mut rest: &mut [f32] = &mut self.values;
        for first in (0..self.offsets.len() - 1).step_by(ROWS_PER_TASK) {
            let last = (first + ROWS_PER_TASK).min(self.offsets.len() - 1);
            let offsets = &self.offsets[first..=last];
            let (values, others) =
                std::mem::take(&mut rest).split_at_mut(offsets[offsets.len() - 1] - offsets[0]);
            rest = others;
            tasks.push((offsets, values));
        }
        let indices = &self.indices;
        tasks.into_par_iter().for_each(|(offsets, mut values)| {
            for ends in offsets.windows(2) {
                let (row, others) = values.split_at_mut(ends[1] - ends[0]);
                values = others;
                change(&indices[ends[0]..ends[1]], row);
            }
        });
    }

    /// Appends an entry to the last row; its column must lie behind those there.
    pub fn extend_last(&mut self, index: u32, value: f32) {
        debug_assert!(!self.is_empty() && self.row(self.len() - 1).indices.last() < Some(&index));
        self.indices.push(index);
        self.values.push(value);
        self.width = self.width.max(index as usize + 1);
        if let Some(end) = self.offsets.last_mut() {
            *end = self.indices.len();
        }
    }

    /// Appends the same entry to every row; its column must lie behind all there.
    pub fn extend_all(&mut self, index: u32, value: f32) {
        debug_assert!(
            self.indices.iter().all(|&other| other < index),
            "columns must increase"
        );
        let rows = self.len();
        self.indices.reserve_exact(rows);
        self.values.reserve_exact(rows);
        self.indices.resize(self.indices.len() + rows, index);
        self.values.resize(self.values.len() + rows, value);
        // From the back, each row moves up by the number of new entries before it.
        for row in (0..rows).rev() {
            let (start, end) = (self.offsets[row], self.offsets[row + 1]);
            self.indices.copy_within(start..end, start + row);
            self.values.copy_within(start..end, start + row);
            self.indices[end + row] = index;
            self.values[end + row] = value;
            self.offsets[row + 1] = end + row + 1;
        }
        self.width = self.width.max(index as usize + 1);
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RowView<'_>> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// Start of each row in the entry arrays, and one past the end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Column numbers of all rows, one after the other.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Values of all rows, one after the other.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Makes sure that so many more rows and entries fit, and `spare` entries more; takes no more memory
    /// than needed.
    pub fn make_room(&mut self, rows: usize, entries: usize, spare: usize) {
        if self.offsets.capacity() - self.offsets.len() < rows {
            self.offsets.reserve_exact(rows);
        }
        if self.indices.capacity() - self.indices.len() < entries {
            self.indices.reserve_exact(entries + spare);
            self.values.reserve_exact(entries + spare);
        }
    }

    /// Drops the columns from number `width` on.
    pub fn truncate_columns(&mut self, width: usize) {
        if self.width > width {
            let mut kept = 0;
            let mut start = 0;
            for row in 0..self.len() {
                let end = self.offsets[row + 1];
                let known = self.indices[start..end].partition_point(|&index| (index as usize) < width);
                self.indices.copy_within(start..start + known, kept);
                self.values.copy_within(start..start + known, kept);
                kept += known;
                start = end;
                self.offsets[row + 1] = kept;
            }
            self.indices.truncate(kept);
            self.values.truncate(kept);
            self.width = width;
        }
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.indices.clear();
        self.values.clear();
        self.width = 0;
    }

    /// Drops the rows from number `rows` on, and gives their memory back.
    pub(crate) fn truncate(&mut self, rows: usize) {
        if rows < self.len() {
            self.offsets.truncate(rows + 1);
            self.indices.truncate(self.offsets[rows]);
            self.values.truncate(self.offsets[rows]);
            give_back(&mut self.offsets);
            give_back(&mut self.indices);
            give_back(&mut self.values);
        }
    }

    /// Gives spare capacity back.
    pub fn shrink_to_fit(&mut self) {
        self.offsets.shrink_to_fit();
        self.indices.shrink_to_fit();
        self.values.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
