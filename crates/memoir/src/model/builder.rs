//! Putting the weights of a [`Linear`] scorer together, feature by feature.

use super::Precision;
use super::linear::{Ids, Linear, SHORT_IDS, Weights};

/// Puts a [`Linear`] together, one feature after the other.
#[derive(Debug)]
pub struct LinearBuilder {
    classes: usize,
    offsets: Vec<u64>,
    short_ids: Vec<u16>,
    long_ids: Vec<u32>,
    weights: Vec<f32>,
}

impl LinearBuilder {
    /// No features yet, for so many classes.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            offsets: vec![0],
            short_ids: Vec::new(),
            long_ids: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Makes room for so many more weights.
    pub fn reserve(&mut self, weights: usize) {
        if self.classes <= SHORT_IDS {
            self.short_ids.reserve_exact(weights);
        } else {
            self.long_ids.reserve_exact(weights);
        }
        self.weights.reserve_exact(weights);
    }

    /// Appends the next feature: its classes, in increasing order, with their weights. Weights of 0 are left out.
    ///
    /// # Panics
    /// If classes do not increase or are too many: a mistake in the program, not in data.
    pub fn push_feature(&mut self, postings: impl IntoIterator<Item = (u32, f32)>) {
        let mut lowest = 0;
        for (class, weight) in postings {
            assert!(
                u64::from(class) >= lowest && (class as usize) < self.classes,
                "classes of a feature must increase"
            );
            lowest = u64::from(class) + 1;
            if weight == 0.0 {
                continue;
            }
            if self.classes <= SHORT_IDS {
                self.short_ids.push(class as u16);
            } else {
                self.long_ids.push(class);
            }
            self.weights.push(weight);
        }
        self.offsets.push(self.weights.len() as u64);
    }

    /// The scorer.
    pub fn finish(mut self, precision: Precision) -> Linear {
        self.short_ids.shrink_to_fit();
        self.long_ids.shrink_to_fit();
        self.weights.shrink_to_fit();
        let ids = if self.classes <= SHORT_IDS {
            Ids::U16(self.short_ids.into())
        } else {
            Ids::U32(self.long_ids.into())
        };
        let weights = Weights::F32(self.weights.into());
        Linear::new(self.classes, self.offsets.into(), ids, weights).with_precision(precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "must increase")]
    fn disorder_is_a_mistake_of_the_program() {
        LinearBuilder::new(9).push_feature([(3, 1.0), (3, 1.0)]);
    }
}
