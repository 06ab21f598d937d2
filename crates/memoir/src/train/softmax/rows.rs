//! Training rows as integers, without the features that hardly matter in them.

use crate::sparse::Rows;
use crate::sparse::fixed::{QuantizedRow, append_quantized, least_kept};

/// Rows with integer values.
pub(super) struct QuantizedRows {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<i16>,
    scales: Vec<f32>,
    width: usize,
}

impl QuantizedRows {
    /// Takes `rows` over as integers. The smallest values of each row that together hold at most the share `trim` of its
    /// squared length are left out, and the rest is stretched to the former length: long rows have many such values,
    /// and most of the time would go into them.
    pub(super) fn new(rows: &Rows, trim: f32) -> Self {
        let entries = if trim > 0.0 {
            rows.entries() / 2
        } else {
            rows.entries()
        };
        let mut result = Self {
            offsets: Vec::with_capacity(rows.len() + 1),
            indices: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
            scales: Vec::with_capacity(rows.len()),
            width: rows.width(),
        };
        result.offsets.push(0);
        let (mut sizes, mut kept) = (Vec::new(), Vec::new());
        for row in rows.iter() {
            kept.clear();
            if trim > 0.0 {
                let least = least_kept(row.values, trim, &mut sizes);
                let stays = |entry: &(u32, f32)| entry.1.abs() >= least;
                result
                    .indices
                    .extend(row.iter().filter(stays).map(|entry| entry.0));
                kept.extend(row.iter().filter(stays).map(|entry| entry.1));
                let stretch = (row.squared_norm() / kept.iter().map(|v| v * v).sum::<f32>()).sqrt();
                if stretch.is_finite() {
                    for value in &mut kept {
                        *value *= stretch;
                    }
                }
            } else {
                result.indices.extend_from_slice(row.indices);
                kept.extend_from_slice(row.values);
            }
            result.scales.push(append_quantized(&kept, &mut result.values));
            result.offsets.push(result.indices.len());
        }
        result.indices.shrink_to_fit();
        result.values.shrink_to_fit();
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

    pub(super) fn row(&self, index: usize) -> QuantizedRow<'_> {
        let range = self.offsets[index]..self.offsets[index + 1];
        QuantizedRow {
            indices: &self.indices[range.clone()],
            values: &self.values[range],
            scale: self.scales[index],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::RowView;

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
