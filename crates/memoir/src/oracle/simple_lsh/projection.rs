//! Random Gaussian directions, and what a sparse vector is along them.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::sparse::{RowView, dense};

/// Directions are kept in memory if they fit in so many bytes, and else drawn again from the seed whenever
/// needed.
const LARGEST_TABLE: usize = 64 << 20;

/// `bits` random directions in a space of `width` features, and one coordinate more.
#[derive(Debug, Clone)]
pub(super) struct Projection {
    bits: usize,
    seed: u64,
    /// The directions' components by feature, or empty if they are too many to keep.
    table: Vec<f32>,
    /// Their components along the completing coordinate.
    pub(super) completion: Vec<f32>,
}

impl Projection {
    pub(super) fn new(width: usize, bits: usize, seed: u64) -> Self {
        let mut projection = Self {
            bits,
            seed,
            table: Vec::new(),
            completion: vec![0.0; bits],
        };
        let mut completion = vec![0.0; bits];
        projection.draw(u64::MAX, &mut completion);
        projection.completion = completion;
        if width * bits * size_of::<f32>() <= LARGEST_TABLE {
            let mut table = vec![0.0; width * bits];
            for (feature, components) in table.chunks_exact_mut(bits).enumerate() {
                projection.draw(feature as u64, components);
            }
            projection.table = table;
        }
        projection
    }

    /// The components of a feature, always the same for a seed.
    fn draw(&self, feature: u64, components: &mut [f32]) {
        let seed = xxh3_64_with_seed(&feature.to_le_bytes(), self.seed);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for component in components {
            *component = StandardNormal.sample(&mut random);
        }
    }

    /// Writes the row's component along each direction to `out`; `drawn` is room to draw in.
    pub(super) fn project(&self, row: RowView<'_>, drawn: &mut Vec<f32>, out: &mut [f32]) {
        out.fill(0.0);
        for (feature, value) in row.iter() {
            let start = feature as usize * self.bits;
            let components = if let Some(kept) = self.table.get(start..start + self.bits) {
                kept
            } else {
                drawn.resize(self.bits, 0.0);
                self.draw(u64::from(feature), drawn);
                &drawn[..]
            };
            dense::add(out, value, components);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_and_kept_directions_are_the_same() {
        let kept = Projection::new(50, 64, 3);
        let drawn = Projection {
            table: Vec::new(),
            ..kept.clone()
        };
        let row = RowView {
            indices: &[0, 7, 49],
            values: &[1.0, -2.0, 0.5],
        };
        let (mut a, mut b) = (vec![0.0; 64], vec![9.0; 64]);
        kept.project(row, &mut Vec::new(), &mut a);
        drawn.project(row, &mut Vec::new(), &mut b);
        assert_eq!(a, b);
        assert!(kept.table.len() == 3200);
    }

    #[test]
    fn large_spaces_need_no_table() {
        assert!(Projection::new(1 << 20, 64, 0).table.is_empty());
    }
}
