//! Weights that grow while training: for each feature the classes it has a weight for. Only what was ever
//! touched is stored; a feature that speaks for or against a good part of all classes becomes a plain array.

use memoir::RowView;
use memoir::model::{Linear, LinearBuilder, Precision};

/// A feature's list becomes an array when it holds more than one class of so many.
const DENSE_FROM: usize = 3;

#[derive(Debug, Clone)]
enum Postings {
    /// Classes in increasing order, and their values.
    Few(Vec<u32>, Vec<f32>),
    /// The value of every class.
    Many(Box<[f32]>),
}

impl Postings {
    fn sums(&self) -> &[f32] {
        match self {
            Self::Few(_, sums) => sums,
            Self::Many(sums) => sums,
        }
    }
}

/// Sums of rows by feature and class, and the weights that follow from them.
#[derive(Debug, Clone)]
pub(super) struct GrowingWeights {
    features: Vec<Postings>,
    classes: usize,
    /// A weight is its sum moved towards zero by this much, or zero (soft threshold).
    l1: f32,
    /// Whether only stored weights may change.
    is_frozen: bool,
}

impl GrowingWeights {
    pub(super) fn new(features: usize, classes: usize, l1: f32) -> Self {
        Self {
            features: vec![Postings::Few(Vec::new(), Vec::new()); features],
            classes,
            l1,
            is_frozen: false,
        }
    }

    /// Sets all weights to zero without forgetting which were not: from now on these may change and no
    /// others, and nothing is moved towards zero.
    pub(super) fn freeze(&mut self) {
        let l1 = self.l1;
        for postings in &mut self.features {
            let is_kept = |sum: f32| sum.abs() > l1;
            let kept: Vec<u32> = match &*postings {
                Postings::Few(classes, sums) => {
                    let pairs = classes.iter().zip(sums).filter(|pair| is_kept(*pair.1));
                    pairs.map(|pair| *pair.0).collect()
                }
                Postings::Many(sums) => {
                    let pairs = (0..).zip(sums.iter()).filter(|pair| is_kept(*pair.1));
                    pairs.map(|pair| pair.0).collect()
                }
            };
            let zeros = vec![0.0; kept.len()];
            *postings = Postings::Few(kept, zeros);
        }
        self.l1 = 0.0;
        self.is_frozen = true;
    }

    fn weight(&self, sum: f32) -> f32 {
        sum - sum.clamp(-self.l1, self.l1)
    }

    /// Leaves in `scores` the score of every class for `row`.
    pub(super) fn scores(&self, row: RowView<'_>, scores: &mut [f32]) {
        scores.fill(0.0);
        for (feature, value) in row.iter() {
            match &self.features[feature as usize] {
                Postings::Few(classes, sums) => {
                    for (&class, &sum) in classes.iter().zip(sums) {
                        scores[class as usize] += value * self.weight(sum);
                    }
                }
                Postings::Many(sums) => {
                    for (score, &sum) in scores.iter_mut().zip(sums.iter()) {
                        *score += value * self.weight(sum);
                    }
                }
            }
        }
    }

    /// Adds `row` times a factor to the sums of each of some classes.
    pub(super) fn add(&mut self, row: RowView<'_>, factors: &[(u32, f32)]) {
        for (feature, value) in row.iter() {
            let postings = &mut self.features[feature as usize];
            for &(class, factor) in factors {
                match postings {
                    Postings::Few(classes, sums) => match classes.binary_search(&class) {
                        Ok(index) => sums[index] += factor * value,
                        Err(_) if self.is_frozen => {}
                        Err(index) => {
                            classes.insert(index, class);
                            sums.insert(index, factor * value);
                        }
                    },
                    Postings::Many(sums) => sums[class as usize] += factor * value,
                }
            }
            if let Postings::Few(classes, sums) = postings
                && !self.is_frozen
                && classes.len() * DENSE_FROM > self.classes
            {
                let mut all = vec![0.0; self.classes];
                for (&class, &sum) in classes.iter().zip(sums.iter()) {
                    all[class as usize] = sum;
                }
                *postings = Postings::Many(all.into());
            }
        }
    }

    /// Sum of squares and sum of absolute values of all weights.
    pub(super) fn norms(&self) -> (f64, f64) {
        let mut squares = 0.0;
        let mut absolutes = 0.0;
        for postings in &self.features {
            for &sum in postings.sums() {
                let weight = f64::from(self.weight(sum));
                squares += weight * weight;
                absolutes += weight.abs();
            }
        }
        (squares, absolutes)
    }

    /// The scorer, without weights below `min_weight` in absolute value. Features give up their memory on
    /// the way.
    pub(super) fn into_linear(self, min_weight: f32) -> Linear {
        let l1 = self.l1;
        let keep = |sum: f32| {
            let weight = sum - sum.clamp(-l1, l1);
            if weight.abs() >= min_weight { weight } else { 0.0 }
        };
        let kept: usize = self
            .features
            .iter()
            .map(|postings| postings.sums().iter().filter(|sum| keep(**sum) != 0.0).count())
            .sum();
        let mut builder = LinearBuilder::new(self.classes);
        // Lists that grow would take up to three times their memory.
        builder.reserve(kept);
        for postings in self.features {
            match postings {
                Postings::Few(classes, sums) => {
                    builder.push_feature(classes.iter().zip(&sums).map(|(&class, &sum)| (class, keep(sum))));
                }
                Postings::Many(sums) => builder.push_feature(
                    sums.iter()
                        .enumerate()
                        .map(|(class, &sum)| (class as u32, keep(sum))),
                ),
            }
        }
        builder.finish(Precision::F32)
    }
}
