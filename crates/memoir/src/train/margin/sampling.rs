//! Drawing the examples of a batch.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::dataset::LabelSets;
use crate::{Error, Result, choices};

choices! {
    /// How examples are drawn, always with replacement.
    pub enum Sampling {
        /// A class that has rows, all equally likely, then one of its rows: as in the authors' code.
        Balanced = "balanced",
        /// A pair of a row and a label of it, all equally likely: as in the paper's text.
        Uniform = "uniform",
    }
}

/// One example of a batch: the paper's `(x_j, y_j)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) row: u32,
    pub(super) label: u32,
    /// A random number of its own, for whoever must choose on its behalf.
    pub(super) draw: u64,
}

/// Draws examples from labelled rows.
pub(super) struct Sampler {
    sampling: Sampling,
    random: Xoshiro256PlusPlus,
    /// All pairs (row, label), by label.
    pairs: Vec<(u32, u32)>,
    /// Where the pairs of each class that has some start, and one past the end.
    starts: Vec<usize>,
}

impl Sampler {
    pub(super) fn new(sampling: Sampling, labels: &LabelSets, random: Xoshiro256PlusPlus) -> Result<Self> {
        let mut pairs = Vec::with_capacity(labels.total());
        for (row, labels) in labels.iter().enumerate() {
            pairs.extend(labels.iter().map(|&label| (row as u32, label)));
        }
        if pairs.is_empty() {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no row has a label".to_owned(),
            ));
        }
        pairs.sort_by_key(|pair| pair.1);
        let mut starts = vec![0];
        for group in pairs.chunk_by(|a, b| a.1 == b.1) {
            starts.push(starts[starts.len() - 1] + group.len());
        }
        Ok(Self {
            sampling,
            random,
            pairs,
            starts,
        })
    }

    /// `b_t`: `size` examples.
    pub(super) fn batch(&mut self, size: usize) -> Vec<Example> {
        (0..size).map(|_| self.draw()).collect()
    }

    fn draw(&mut self) -> Example {
        let range = match self.sampling {
            Sampling::Uniform => 0..self.pairs.len(),
            Sampling::Balanced => {
                let class = self.random.random_range(0..self.starts.len() - 1);
                self.starts[class]..self.starts[class + 1]
            }
        };
        let (row, label) = self.pairs[self.random.random_range(range)];
        Example {
            row,
            label,
            draw: self.random.random(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Class 0 has 90 rows, class 2 ten, class 1 none; one more row has both labels.
    fn counts(sampling: Sampling) -> [usize; 3] {
        let mut labels = LabelSets::new();
        for row in 0..100u32 {
            labels.push([if row < 90 { 0 } else { 2 }]);
        }
        labels.push([0, 2]);
        let random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut sampler = Sampler::new(sampling, &labels, random).unwrap();
        let mut counts = [0; 3];
        for example in sampler.batch(10_200) {
            assert!(labels.row(example.row as usize).contains(&example.label));
            counts[example.label as usize] += 1;
        }
        counts
    }

    #[test]
    fn classes_or_rows_are_equally_likely() {
        let balanced = counts(Sampling::Balanced);
        assert!(
            balanced[0].abs_diff(5100) < 200 && balanced[1] == 0,
            "{balanced:?}"
        );
        let uniform = counts(Sampling::Uniform);
        assert!(uniform[0].abs_diff(9100) < 150 && uniform[1] == 0, "{uniform:?}");
    }

    #[test]
    fn without_labels_there_is_nothing_to_draw() {
        let mut labels = LabelSets::new();
        labels.push([]);
        assert!(Sampler::new(Sampling::Uniform, &labels, Xoshiro256PlusPlus::seed_from_u64(0)).is_err());
    }
}
