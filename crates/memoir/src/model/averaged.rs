//! The average of linear scorers, which is one itself.

use super::fixed::{Stored, TRIM};
use super::{FixedScorer, Narrow, Posting, Scorer, Tensor, Wide};
use crate::sparse::fixed_point::quantize_weight;

/// The average of scorers of the same classes, as a scorer of `features` features. Scorer `i` counts for
/// feature `f` what `factor(i, f)` says.
pub(crate) fn averaged(
    scorers: &[&dyn Scorer],
    features: usize,
    factor: impl Fn(usize, u32) -> f32,
) -> Box<dyn Scorer> {
    let classes = scorers.iter().map(|scorer| scorer.classes()).max().unwrap_or(0);
    if classes <= Narrow::CLASSES {
        average::<Narrow>(scorers, (classes, features), factor)
    } else {
        average::<Wide>(scorers, (classes, features), factor)
    }
}

fn average<P: Stored>(
    scorers: &[&dyn Scorer],
    (classes, features): (usize, usize),
    factor: impl Fn(usize, u32) -> f32,
) -> Box<dyn Scorer> {
    let (mut offsets, mut postings) = (vec![0], Vec::new());
    let mut sums: Vec<(u32, f32)> = Vec::new();
    for feature in 0..features as u32 {
        sums.clear();
        for (number, scorer) in scorers.iter().enumerate() {
            let factor = factor(number, feature);
            if factor != 0.0 {
                let weights = scorer.feature_weights(feature).unwrap_or_default();
                sums.extend(
                    weights
                        .into_iter()
                        .map(|(class, weight)| (class, factor * weight)),
                );
            }
        }
        // Stable, so that what is added up is in the order of the scorers.
        sums.sort_by_key(|(class, _)| *class);
        for of_class in sums.chunk_by(|a, b| a.0 == b.0) {
            let weight = quantize_weight(of_class.iter().map(|(_, weight)| weight).sum());
            if weight != 0 {
                postings.push(P::new(of_class[0].0, weight));
            }
        }
        offsets.push(postings.len() as u64);
    }
    let trims = scorers.iter().map(|scorer| trim_of(*scorer));
    let trim = trims.fold(1.0, f32::min);
    Box::new(FixedScorer::<P>::new(classes, offsets, postings).with_trim(trim))
}

/// What a scorer leaves out of rows.
fn trim_of(scorer: &dyn Scorer) -> f32 {
    let tensors = scorer.tensors();
    let trim = tensors.iter().find(|(name, _)| name == TRIM);
    match trim {
        Some((_, Tensor::F32(trim))) => trim.first().copied().unwrap_or(0.0),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Scratch;
    use crate::sparse::{RowView, Scored};

    #[test]
    fn scores_are_the_mean_of_what_the_parts_score() {
        let part = |weights: &[&[(u32, f32)]]| {
            let (mut offsets, mut postings) = (vec![0], Vec::new());
            for of_feature in weights {
                let quantized = |&(class, weight): &(u32, f32)| Narrow::new(class, quantize_weight(weight));
                postings.extend(of_feature.iter().map(quantized));
                offsets.push(postings.len() as u64);
            }
            FixedScorer::new(3, offsets, postings)
        };
        // The second knows fewer features, and does not see the first.
        let first = part(&[&[(0, 2.0), (2, -1.0)], &[(1, 1.0)], &[(0, 0.5)]]).with_trim(0.1);
        let second = part(&[&[(0, 9.0)], &[(0, 3.0), (1, 1.0)]]).with_trim(0.05);
        let factors = [[0.5, 0.5, 0.5], [0.0, 0.25, 0.25]];
        let scorer = averaged(&[&first, &second], 3, |number, feature| {
            factors[number][feature as usize]
        });
        assert_eq!((scorer.classes(), scorer.features()), (3, 3));
        assert_eq!(scorer.feature_weights(0).unwrap(), [(0, 1.0), (2, -0.5)]);
        assert_eq!(scorer.feature_weights(1).unwrap(), [(0, 0.75), (1, 0.75)]);
        assert_eq!(scorer.feature_weights(2).unwrap(), [(0, 0.25)]);
        assert!((trim_of(&*scorer) - 0.05).abs() < 1e-6);
        let row = RowView {
            indices: &[0, 1],
            values: &[1.0, 1.0],
        };
        let mut best: Vec<Scored> = Vec::new();
        scorer.top_k(row, 3, &mut Scratch::default(), &mut best);
        let classes: Vec<u32> = best.iter().map(|scored| scored.class).collect();
        assert_eq!(classes, [0, 1, 2]);
        assert!((best[0].score - 1.75).abs() < 0.01, "{best:?}");
    }
}
