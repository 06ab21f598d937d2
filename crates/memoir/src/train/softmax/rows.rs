//! Training rows as integers, without the features that hardly matter in them.

use rayon::prelude::*;

use crate::sparse::fixed_point::{QuantizedRow, least_kept, quantize_into};
use crate::sparse::{RowView, Rows, prefetch};

/// Rows with integer values.
pub(super) struct QuantizedRows {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<i16>,
    scales: Vec<f32>,
    width: usize,
}

impl QuantizedRows {
    /// Takes `rows` over as integers, in parallel. The smallest values of each row that together hold at
    /// most the share `trim` of its squared length are left out, and the rest is stretched to the former
    /// length: long rows have many such values, and most of the time would go into them.
    pub(super) fn new(rows: &Rows, trim: f32) -> Self {
        let kept: Vec<Kept> = (0..rows.len())
            .into_par_iter()
            .map_init(Vec::new, |sizes, row| Kept::of(rows.row(row), trim, sizes))
            .collect();
        let mut offsets = Vec::with_capacity(rows.len() + 1);
        offsets.push(0);
        offsets.extend(kept.iter().scan(0, |end, kept| {
            *end += kept.number as usize;
            Some(*end)
        }));
        let entries = offsets[rows.len()];
        let mut result = Self {
            offsets,
            indices: vec![0; entries],
            values: vec![0; entries],
            scales: vec![0.0; rows.len()],
            width: rows.width(),
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
        tasks
            .into_par_iter()
            .for_each(|(task, kept)| task.fill(rows, kept));
        result
    }

    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn entries(&self) -> usize {
        self.indices.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.entries() * 6 + self.len() * 12) as u64
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Asks for where a row is; for the row itself [`QuantizedRows::prefetch`] can be called then.
    pub(super) fn prefetch_offset(&self, index: usize) {
        prefetch(&self.offsets, index);
        prefetch(&self.scales, index);
    }

    /// Asks for a row that will be needed soon.
    pub(super) fn prefetch(&self, index: usize) {
        let (start, last) = (self.offsets[index], self.offsets[index + 1].wrapping_sub(1));
        prefetch(&self.indices, start);
        prefetch(&self.indices, last);
        prefetch(&self.values, start);
        prefetch(&self.values, last);
    }

    pub(super) fn row(&self, index: usize) -> QuantizedRow<'_> {
        let range = self.offsets[index]..self.offsets[index + 1];
        QuantizedRow {
            indices: &self.indices[range.clone()],
            values: &self.values[range],
            scale: self.scales[index],
        }
    }
}

/// Rows that are taken over at a time.
const ROWS_PER_TASK: usize = 1024;

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
}
