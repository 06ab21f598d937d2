//! A linear map from sparse rows to short dense ones: what is left of a truncated singular value
//! decomposition.

use crate::sparse::{RowView, Storage, dense};

/// A matrix of features times dimensions: the reduced row is the sum of value times the feature's vector.
///
/// A feature's vector is kept as 16-bit whole numbers and one factor: half the memory of single precision,
/// with errors of at most 1/65534 of its largest component.
#[derive(Debug)]
pub struct Reduction {
    dimensions: usize,
    /// The feature's vectors, one after the other, in units of their factors.
    values: Storage<i16>,
    factors: Storage<f32>,
}

impl Reduction {
    /// From its arrays: `dimensions` whole numbers for each factor; `None` if there are more or fewer.
    pub fn new(dimensions: usize, values: Storage<i16>, factors: Storage<f32>) -> Option<Self> {
        (Some(values.len()) == factors.len().checked_mul(dimensions)).then_some(Self {
            dimensions,
            values,
            factors,
        })
    }

    /// Rounds a feature's vector; returns its factor.
    pub(crate) fn round(vector: &[f32], whole: &mut [i16]) -> f32 {
        let factor = dense::largest(vector) / f32::from(i16::MAX);
        if factor > 0.0 && factor.is_finite() {
            dense::round_whole(whole, factor, vector);
            factor
        } else {
            whole.fill(0);
            0.0
        }
    }

    /// With one more feature, numbered behind the others, that is a dimension of its own: its value is
    /// appended to the reduced row as it is.
    pub fn with_feature_apart(self) -> Self {
        let dimensions = self.dimensions + 1;
        let mut values = Vec::with_capacity((self.features() + 1) * dimensions);
        for feature in 0..self.features() {
            let start = feature * self.dimensions;
            values.extend_from_slice(&self.values[start..start + self.dimensions]);
            values.push(0);
        }
        values.resize(values.len() + self.dimensions, 0);
        values.push(i16::MAX);
        let mut factors = self.factors.to_vec();
        factors.push(1.0 / f32::from(i16::MAX));
        Self {
            dimensions,
            values: values.into(),
            factors: factors.into(),
        }
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.factors.len()
    }

    /// The whole numbers, feature by feature.
    pub fn values(&self) -> &[i16] {
        &self.values
    }

    /// The factor of each feature.
    pub fn factors(&self) -> &[f32] {
        &self.factors
    }

    fn feature(&self, feature: u32) -> Option<(f32, &[i16])> {
        let factor = *self.factors.get(feature as usize)?;
        let start = feature as usize * self.dimensions;
        Some((factor, self.values.get(start..start + self.dimensions)?))
    }

    /// Writes the reduced row to `out`, which becomes as long as there are dimensions. Unknown features are
    /// ignored.
    pub fn apply(&self, row: RowView<'_>, out: &mut Vec<f32>) {
        out.clear();
        out.resize(self.dimensions, 0.0);
        for (feature, value) in row.iter() {
            if let Some((factor, whole)) = self.feature(feature) {
                dense::add_whole(out, value * factor, whole);
            }
        }
    }

    /// What one unit of `feature` adds to the inner product of a reduced row with `vector`.
    pub fn dot(&self, feature: u32, vector: &[f32]) -> Option<f32> {
        let (factor, whole) = self.feature(feature)?;
        Some(factor * dense::dot_whole(vector, whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_sums_of_their_features_vectors() {
        let mut whole = vec![0; 6];
        let vectors: [[f32; 3]; 2] = [[0.5, -1.0, 0.25], [1e-7, 0.0, 3e-7]];
        let factors = [
            Reduction::round(&vectors[0], &mut whole[..3]),
            Reduction::round(&vectors[1], &mut whole[3..]),
        ];
        let reduction = Reduction::new(3, whole.into(), factors.to_vec().into()).unwrap();
        let row = RowView {
            indices: &[0, 1, 7],
            values: &[2.0, 1e6, 9.0],
        };
        let mut out = vec![5.0; 9];
        reduction.apply(row, &mut out);
        for (got, expected) in out.iter().zip([1.1, -2.0, 0.8]) {
            assert!((got - expected).abs() < 1e-4, "{out:?}");
        }
        let along: f32 = row
            .iter()
            .filter_map(|(feature, value)| Some(value * reduction.dot(feature, &[1.0, 1.0, 1.0])?))
            .sum();
        assert!((along - out.iter().sum::<f32>()).abs() < 1e-5);
        assert_eq!(reduction.dot(2, &[1.0; 3]), None);
        // A feature apart changes nothing else.
        let before = out.clone();
        let apart = reduction.with_feature_apart();
        apart.apply(
            RowView {
                indices: &[0, 1, 2],
                values: &[2.0, 1e6, 9.0],
            },
            &mut out,
        );
        assert_eq!(out[..3], before);
        assert!((out[3] - 9.0).abs() < 1e-5 && out.len() == 4 && apart.features() == 3);
    }

    #[test]
    fn vectors_that_cannot_be_rounded_become_zero() {
        let mut whole = [7; 2];
        assert_eq!(Reduction::round(&[0.0, 0.0], &mut whole), 0.0);
        assert_eq!(Reduction::round(&[f32::INFINITY, 1.0], &mut whole), 0.0);
        assert_eq!(whole, [0, 0]);
        assert!(Reduction::new(2, vec![1i16; 3].into(), vec![1.0; 2].into()).is_none());
        assert!(Reduction::new(usize::MAX, vec![1i16; 3].into(), vec![1.0; 2].into()).is_none());
    }
}
