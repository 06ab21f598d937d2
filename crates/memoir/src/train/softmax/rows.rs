//! Training rows as integers, beside the rows they come from.

use crate::sparse::Rows;
use crate::sparse::fixed::{QuantizedRow, append_quantized};

/// Integer values of all rows; the feature numbers stay in the original.
pub(super) struct QuantizedRows<'a> {
    rows: &'a Rows,
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl<'a> QuantizedRows<'a> {
    pub(super) fn new(rows: &'a Rows) -> Self {
        let mut values = Vec::with_capacity(rows.entries());
        let scales = rows
            .iter()
            .map(|row| append_quantized(row.values, &mut values))
            .collect();
        Self { rows, values, scales }
    }

    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn row(&self, index: usize) -> QuantizedRow<'_> {
        let range = self.rows.offsets()[index]..self.rows.offsets()[index + 1];
        QuantizedRow {
            indices: &self.rows.indices()[range.clone()],
            values: &self.values[range],
            scale: self.scales[index],
        }
    }
}
