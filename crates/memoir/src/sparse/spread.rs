//! A row as a dense array, for inner products with many sparse vectors.

use super::RowView;

/// Bits of the table that tells features of the row from others: small enough for the first-level cache.
const BITS: usize = 1 << 15;

/// One row at a time, spread over all features.
///
/// Nearly all features of a vector are not in the row. A table of bits, by the feature's lowest digits, says
/// so without a look at the large array.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    values: Vec<f32>,
    bits: Vec<u64>,
}

impl Spread {
    /// Takes the entries of `row`, in a space of `width` features. What was there before must have been
    /// cleared.
    pub fn set(&mut self, row: RowView<'_>, width: usize) {
        self.values.resize(self.values.len().max(width), 0.0);
        self.bits.resize(BITS / 64, 0);
        for (index, value) in row.iter() {
            self.values[index as usize] = value;
            let (word, bit) = bit_of(index);
            self.bits[word] |= bit;
        }
    }

    /// Takes the entries of `row` away again.
    pub fn clear(&mut self, row: RowView<'_>) {
        for &index in row.indices {
            self.values[index as usize] = 0.0;
            self.bits[bit_of(index).0] = 0;
        }
    }

    /// Inner product with a sparse vector of the same space.
    pub fn dot(&self, vector: RowView<'_>) -> f32 {
        let mut sum = 0.0;
        // Known to be so long: no bounds to check in the loop.
        let Some(bits) = self.bits.first_chunk::<{ BITS / 64 }>() else {
            return sum;
        };
        for (at, &index) in vector.indices.iter().enumerate() {
            let (word, bit) = bit_of(index);
            if bits[word] & bit != 0 {
                sum += vector.values[at] * self.values[index as usize];
            }
        }
        sum
    }

    /// The dense array.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

fn bit_of(index: u32) -> (usize, u64) {
    let index = index as usize % BITS;
    (index / 64, 1 << (index % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::sparse_dot;

    #[test]
    fn inner_products_are_those_of_sparse_vectors() {
        let width = 3 * BITS;
        let row = |start: u32, step: usize| -> (Vec<u32>, Vec<f32>) {
            let entries = (start..width as u32).step_by(step);
            entries.map(|index| (index, index as f32 % 7.0 - 3.0)).unzip()
        };
        let mut spread = Spread::default();
        for (start, step) in [(5, 1000), (0, 77), (9, 20_000)] {
            let (indices, values) = row(start, step);
            let left = RowView {
                indices: &indices,
                values: &values,
            };
            spread.set(left, width);
            // The second has other features with the same lowest digits.
            for other in [11, BITS, 13] {
                let (indices, values) = row(start, other);
                let right = RowView {
                    indices: &indices,
                    values: &values,
                };
                assert_eq!(
                    spread.dot(right),
                    sparse_dot(left, right),
                    "{start} {step} {other}"
                );
            }
            spread.clear(left);
            assert!(spread.values().iter().all(|value| *value == 0.0));
            assert_eq!(spread.dot(left), 0.0);
        }
    }
}
