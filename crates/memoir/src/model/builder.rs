//! Putting the weights of a [`Linear`] scorer together, feature by feature.

use half::f16;

use super::Precision;
use super::linear::{Ids, Linear, LinearWeights, SHORT_IDS};

/// Puts a [`Linear`] together, one feature after the other.
#[derive(Debug)]
pub struct LinearBuilder {
    classes: usize,
    offsets: Vec<u64>,
    short_ids: Vec<u16>,
    long_ids: Vec<u32>,
    weights: Values,
}

/// Weights in the precision in which they are gathered.
#[derive(Debug)]
enum Values {
    F32(Vec<f32>),
    F16(Vec<f16>),
}

impl LinearBuilder {
    /// No features yet, for so many classes.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            offsets: vec![0],
            short_ids: Vec::new(),
            long_ids: Vec::new(),
            weights: Values::F32(Vec::new()),
        }
    }

    /// As [`LinearBuilder::new`], with weights that are rounded to 16 bits as they come, and so never take
    /// more memory than that.
    pub fn of_halves(classes: usize) -> Self {
        Self {
            weights: Values::F16(Vec::new()),
            ..Self::new(classes)
        }
    }

    /// Makes room for so many more weights.
    pub fn reserve(&mut self, weights: usize) {
        if self.classes <= SHORT_IDS {
            self.short_ids.reserve_exact(weights);
        } else {
            self.long_ids.reserve_exact(weights);
        }
        match &mut self.weights {
            Values::F32(values) => values.reserve_exact(weights),
            Values::F16(values) => values.reserve_exact(weights),
        }
    }

    /// Appends the next feature: its classes, in increasing order, with their weights. Weights of 0 are left
    /// out.
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
            match &mut self.weights {
                Values::F32(values) => values.push(weight),
                Values::F16(values) => values.push(f16::from_f32(weight)),
            }
        }
        self.offsets.push(match &self.weights {
            Values::F32(values) => values.len(),
            Values::F16(values) => values.len(),
        } as u64);
    }

    /// The scorer.
    pub fn finish(mut self, precision: Precision) -> Linear {
        self.short_ids.shrink_to_fit();
        self.long_ids.shrink_to_fit();
        let ids = if self.classes <= SHORT_IDS {
            Ids::U16(self.short_ids.into())
        } else {
            Ids::U32(self.long_ids.into())
        };
        let weights = match self.weights {
            Values::F32(mut values) => {
                values.shrink_to_fit();
                LinearWeights::F32(values.into())
            }
            Values::F16(mut values) => {
                values.shrink_to_fit();
                LinearWeights::F16(values.into())
            }
        };
        Linear::new(self.classes, self.offsets.into(), ids, weights).with_precision(precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Scorer;

    #[test]
    fn halves_are_what_full_weights_are_rounded_to() {
        let features = [vec![(0, 1.000_1), (2, -0.3)], vec![], vec![(1, 1234.5)]];
        let build = |mut builder: LinearBuilder| {
            for feature in &features {
                builder.push_feature(feature.iter().copied());
            }
            builder.finish(Precision::F16)
        };
        let halves = build(LinearBuilder::of_halves(3));
        assert_eq!(halves.precision(), Precision::F16);
        let rounded = build(LinearBuilder::new(3));
        for feature in 0..3 {
            assert_eq!(halves.feature_weights(feature), rounded.feature_weights(feature));
        }
        assert_ne!(halves.feature_weights(0), Some(features[0].clone()));
    }

    #[test]
    #[should_panic(expected = "must increase")]
    fn disorder_is_a_mistake_of_the_program() {
        LinearBuilder::new(9).push_feature([(3, 1.0), (3, 1.0)]);
    }
}
