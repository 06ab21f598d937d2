//! The scorer kind `reduced`: a row is mapped to a short dense one, and a class's score is the inner product
//! of that with the class's dense weights. What `memoir-lsh` leaves behind.

use std::ops::Range;
use std::sync::Arc;

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::{LoadScorer, Precision, Scorer, ScorerKind, Scratch, Tensor, TensorSource};
use crate::Result;
use crate::sparse::{Reduction, RowView, Scored, Storage, TopK, dense};

/// The kind of scorer, for a catalogue.
pub const REDUCED: ScorerKind = ScorerKind {
    kind: "reduced",
    load: |source| Ok(Box::new(Reduced::load(source)?)),
};

const DIMENSIONS: &str = "reduction.dimensions";
const VALUES: &str = "reduction.values";
const FACTORS: &str = "reduction.factors";
const WEIGHTS: &str = "weights.values";

/// Classes whose weights stay in the cache while several rows are scored.
const TILE: usize = 16;

/// The classes' weights.
#[derive(Debug)]
enum ReducedWeights {
    F32(Storage<f32>),
    F16(Storage<f16>),
}

impl ReducedWeights {
    fn len(&self) -> usize {
        match self {
            Self::F32(weights) => weights.len(),
            Self::F16(weights) => weights.len(),
        }
    }
}

/// Dense weights of all classes, by class, and the map of rows to their space.
#[derive(Debug)]
pub struct Reduced {
    classes: usize,
    reduction: Arc<Reduction>,
    /// As an array of its own for the model file.
    dimensions: [u32; 1],
    weights: ReducedWeights,
}

#[derive(Default)]
struct ReducedScratch {
    /// The reduced rows, one after the other.
    rows: Vec<f32>,
    row: Vec<f32>,
    /// Weights of a class, widened.
    wide: Vec<f32>,
    tops: Vec<TopK>,
    best: Vec<Scored>,
}

impl Reduced {
    /// From the weights of each class in the reduced space, class after class.
    ///
    /// # Panics
    /// If there are more or fewer: a mistake in the program, not in data.
    pub fn new(classes: usize, reduction: Arc<Reduction>, weights: Vec<f32>) -> Self {
        assert_eq!(
            weights.len(),
            classes * reduction.dimensions(),
            "a weight for each dimension"
        );
        Self {
            classes,
            dimensions: [reduction.dimensions() as u32],
            reduction,
            weights: ReducedWeights::F32(weights.into()),
        }
    }

    fn load(source: &dyn TensorSource) -> Result<Self> {
        let (classes, features) = source.shape();
        let dimensions = match source.u32(DIMENSIONS)?[..] {
            [dimensions] => dimensions,
            ref other => {
                let message = format!("`{DIMENSIONS}` has {} elements instead of one", other.len());
                return Err(source.invalid(message));
            }
        };
        let (values, factors) = (source.i16(VALUES)?, source.f32(FACTORS)?);
        if factors.len() != features {
            return Err(source.invalid(format!(
                "`{FACTORS}` has {} elements for {features} features",
                factors.len()
            )));
        }
        let found = values.len();
        let reduction = Reduction::new(dimensions as usize, values, factors).ok_or_else(|| {
            source.invalid(format!(
                "`{VALUES}` has {found} elements where {features} features need {dimensions} each"
            ))
        })?;
        let weights = match source.element(WEIGHTS) {
            Some("F16") => ReducedWeights::F16(source.f16(WEIGHTS)?),
            _ => ReducedWeights::F32(source.f32(WEIGHTS)?),
        };
        let found = weights.len();
        if Some(found) != classes.checked_mul(dimensions as usize) {
            return Err(source.invalid(format!(
                "`{WEIGHTS}` has {found} elements where {classes} classes need {dimensions} each"
            )));
        }
        Ok(Self {
            classes,
            dimensions: [dimensions],
            reduction: Arc::new(reduction),
            weights,
        })
    }

    /// The weights of a class, in `wide` if they are not stored in single precision.
    fn class<'a>(&'a self, class: usize, wide: &'a mut Vec<f32>) -> &'a [f32] {
        let dimensions = self.reduction.dimensions();
        let range = class * dimensions..(class + 1) * dimensions;
        match &self.weights {
            ReducedWeights::F32(weights) => &weights[range],
            ReducedWeights::F16(weights) => {
                wide.resize(dimensions, 0.0);
                weights[range].convert_to_f32_slice(wide);
                wide
            }
        }
    }
}

impl Scorer for Reduced {
    fn kind(&self) -> &'static str {
        REDUCED.kind
    }

    fn loader(&self) -> LoadScorer {
        REDUCED.load
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.reduction.features()
    }

    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        self.top_k_rows(&[row], k, scratch, &mut |_, best| {
            out.clear();
            out.extend_from_slice(best);
        });
    }

    /// Weights are read once for all rows, and four inner products are computed at a time.
    fn top_k_rows(
        &self,
        rows: &[RowView<'_>],
        k: usize,
        scratch: &mut Scratch,
        each: &mut dyn FnMut(usize, &[Scored]),
    ) {
        let dimensions = self.reduction.dimensions();
        let scratch = scratch.get::<ReducedScratch>();
        scratch.rows.clear();
        for row in rows {
            self.reduction.apply(*row, &mut scratch.row);
            scratch.rows.extend_from_slice(&scratch.row);
        }
        // Up to a multiple of four, so that every row goes the same way and gets the same bits.
        scratch
            .rows
            .resize(rows.len().next_multiple_of(dense::TOGETHER) * dimensions, 0.0);
        scratch.tops.resize_with(rows.len(), TopK::default);
        for top in &mut scratch.tops {
            top.reset(k);
        }
        let mut tile_start = 0;
        while tile_start < self.classes {
            let tile = tile_start..(tile_start + TILE).min(self.classes);
            tile_start = tile.end;
            for first in (0..rows.len()).step_by(dense::TOGETHER) {
                let reduced = |row: usize| &scratch.rows[row * dimensions..(row + 1) * dimensions];
                let four = [0, 1, 2, 3].map(|offset| reduced(first + offset));
                for class in tile.clone() {
                    let scores = dense::dot_four(self.class(class, &mut scratch.wide), four);
                    for (top, score) in scratch.tops[first..].iter_mut().zip(scores) {
                        // Adding zero turns -0 into 0, so that scores have one order.
                        top.offer(Scored {
                            class: class as u32,
                            score: score + 0.0,
                        });
                    }
                }
            }
        }
        for (row, top) in scratch.tops.iter_mut().enumerate() {
            top.finish(&mut scratch.best);
            each(row, &scratch.best);
        }
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let weights = match &self.weights {
            ReducedWeights::F32(weights) => Tensor::F32(weights),
            ReducedWeights::F16(weights) => Tensor::F16(weights),
        };
        vec![
            (DIMENSIONS.to_owned(), Tensor::U32(&self.dimensions)),
            (VALUES.to_owned(), Tensor::I16(self.reduction.values())),
            (FACTORS.to_owned(), Tensor::F32(self.reduction.factors())),
            (WEIGHTS.to_owned(), weights),
        ]
    }

    /// The weights; the reduction is always in 16 bits.
    fn with_precision(mut self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        self.weights = match (precision, self.weights) {
            (Precision::F16, ReducedWeights::F32(weights)) => {
                let narrow: Vec<f16> = weights.iter().map(|&weight| f16::from_f32(weight)).collect();
                ReducedWeights::F16(narrow.into())
            }
            (Precision::F32, ReducedWeights::F16(weights)) => {
                ReducedWeights::F32(weights.to_f32_vec().into())
            }
            (_, same) => same,
        };
        Ok(self)
    }

    fn weight_storage(&self) -> Option<(usize, &'static str)> {
        let element = match &self.weights {
            ReducedWeights::F32(_) => "f32",
            ReducedWeights::F16(_) => "f16",
        };
        Some((self.weights.len(), element))
    }

    /// The map is linear: a feature's part in a score is its value times its vector's inner product with the
    /// weights.
    fn contributions(&self, row: RowView<'_>, class: u32) -> Option<Vec<(u32, f32)>> {
        let mut wide = Vec::new();
        let weights = ((class as usize) < self.classes).then(|| self.class(class as usize, &mut wide))?;
        let known = row
            .iter()
            .filter_map(|(feature, value)| Some((feature, value * self.reduction.dot(feature, weights)?)));
        Some(known.collect())
    }

    /// All features, each with its weight through the map.
    fn class_weights_among(&self, class: u32, features: Range<u32>) -> Option<Vec<(u32, f32)>> {
        let mut wide = Vec::new();
        let weights = ((class as usize) < self.classes).then(|| self.class(class as usize, &mut wide))?;
        Some(
            features
                .filter_map(|feature| Some((feature, self.reduction.dot(feature, weights)?)))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FEATURES: usize = 7;
    const DIMENSIONS: usize = 5;

    fn scorer(whole: &[i16], weights: &[f32]) -> Reduced {
        let factors: Vec<f32> = (0..FEATURES).map(|feature| 1.0 / (feature + 1) as f32).collect();
        let reduction = Reduction::new(DIMENSIONS, whole.to_vec().into(), factors.into()).unwrap();
        Reduced::new(weights.len() / DIMENSIONS, Arc::new(reduction), weights.to_vec())
    }

    proptest! {
        #[test]
        fn many_rows_at_once_are_scored_as_one_by_one(
            whole in proptest::collection::vec(-9i16..10, FEATURES * DIMENSIONS),
            weights in proptest::collection::vec(-2f32..2.0, 40 * DIMENSIONS),
            entries in proptest::collection::vec(
                proptest::collection::btree_map(0u32..9, -2f32..2.0, 0..6), 0..11),
            k in 0usize..50, half: bool,
        ) {
            let mut scorer: Box<dyn Scorer> = Box::new(scorer(&whole, &weights));
            if half {
                scorer = scorer.with_precision(Precision::F16).unwrap();
            }
            let rows: Vec<(Vec<u32>, Vec<f32>)> = entries.iter().map(|row| row.iter().unzip()).collect();
            let views: Vec<RowView<'_>> =
                rows.iter().map(|(indices, values)| RowView { indices, values }).collect();
            let mut seen = 0;
            scorer.top_k_rows(&views, k, &mut Scratch::default(), &mut |row, best| {
                assert_eq!(row, seen);
                seen += 1;
                let mut alone = Vec::new();
                scorer.top_k(views[row], k, &mut Scratch::default(), &mut alone);
                assert_eq!(best, &alone);
                assert_eq!(best.len(), k.min(40));
                for scored in best.iter().take(2) {
                    // What features contribute adds up to the score, and to the plain definition of it.
                    let parts = scorer.contributions(views[row], scored.class).unwrap();
                    let sum: f32 = parts.iter().map(|part| part.1).sum();
                    assert!((sum - scored.score).abs() < 1e-3 * (1.0 + sum.abs()), "{sum} {}", scored.score);
                    let class = scored.class as usize;
                    let plain: f64 = views[row].iter().filter(|entry| entry.0 < FEATURES as u32).map(|(feature, value)| {
                        let factor = 1.0 / f64::from(feature + 1);
                        (0..DIMENSIONS).map(|d| f64::from(value) * factor
                            * f64::from(whole[feature as usize * DIMENSIONS + d])
                            * f64::from(weights[class * DIMENSIONS + d])).sum::<f64>()
                    }).sum();
                    let error = if half { 0.2 } else { 1e-3 };
                    assert!((plain - f64::from(scored.score)).abs() < error, "{plain} {}", scored.score);
                }
            });
            prop_assert_eq!(seen, views.len());
        }
    }

    #[test]
    fn weights_of_a_class_go_through_the_map() {
        let mut whole = [0; FEATURES * DIMENSIONS];
        (whole[0], whole[DIMENSIONS + 1]) = (2, 4);
        let scorer = scorer(&whole, &[1.0, 10.0, 0.0, 0.0, 0.0]);
        let weights = scorer.class_weights(0).unwrap();
        assert_eq!(weights[..3], [(0, 2.0), (1, 20.0), (2, 0.0)]);
        assert_eq!(weights.len(), FEATURES);
        assert!(scorer.class_weights(1).is_none() && scorer.weight_storage() == Some((5, "f32")));
    }
}
