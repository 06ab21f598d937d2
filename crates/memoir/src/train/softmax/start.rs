//! How long the first weight vectors should be: what rows say that the centroids were not made of.
//!
//! The longer the vectors, the surer their answers. Where centroids answer well, training that starts from short ones spends its
//! steps on lengthening them; where they answer badly, long ones must be unlearned.

use rayon::prelude::*;

use super::rows::QuantizedRows;
use super::weights::Weights;
use crate::dataset::LabelSets;
use crate::per_thread::PerThread;
use crate::sparse::fixed::{FixedScore, Posting, SearchScratch, search};
use crate::{Result, Session};

/// Strongest wrong classes that a label is held against.
const RIVALS: usize = 30;

/// Rows that are asked, at most.
const MOST_ROWS: usize = 2500;

/// The longest vectors: more would leave too little room for weights to grow.
const LONGEST: f32 = 12.0;

/// Lengths below this are compared, the whole numbers from [`SHORTEST`] on.
const LENGTHS: usize = 17;
const SHORTEST: usize = 2;

/// A shorter length is preferred unless it is worse by this, in the mean logarithm of the label's probability.
const TOLERANCE: f64 = 0.01;

/// The length of first weights, now `length`, that fits the rows numbered `chosen` best; never a shorter one.
pub(super) fn best_length<P: Posting>(
    weights: &Weights<P>,
    rows: &QuantizedRows,
    labels: &LabelSets,
    chosen: &[u32],
    length: f32,
    session: &Session<'_>,
) -> Result<f32> {
    let scratches = PerThread::new(session, <(SearchScratch, Vec<FixedScore>, Vec<i32>)>::default);
    let differences = |&row: &u32| {
        let (row, labels) = (rows.row(row as usize), labels.row(row as usize));
        if labels.is_empty() || session.cancel().is_raised() {
            return Vec::new();
        }
        let (scratch, found, own) = &mut *scratches.of_this_thread();
        search(weights, row, RIVALS + labels.len(), scratch, found, labels, own);
        let own = own.iter().copied().max().unwrap_or(0);
        let rivals = found.iter().filter(|found| !labels.contains(&found.class));
        let unit = row.score_unit() / length;
        rivals
            .take(RIVALS)
            .map(|rival| (rival.score - own) as f32 * unit)
            .collect()
    };
    let chosen = &chosen[..chosen.len().min(MOST_ROWS)];
    let differences: Vec<Vec<f32>> = session.run(|| chosen.par_iter().map(differences).collect());
    session.check()?;
    if differences.iter().all(Vec::is_empty) {
        return Ok(length);
    }
    let losses = mean_losses(&differences);
    let tried = (0u8..).zip(losses).skip(SHORTEST);
    let least = tried
        .clone()
        .fold(f64::INFINITY, |least, tried| least.min(tried.1));
    let good = tried.clone().find(|tried| tried.1 <= least + TOLERANCE);
    Ok(good
        .map_or(length, |tried| f32::from(tried.0))
        .min(LONGEST)
        .max(length))
}

/// The mean loss for each length, counted from 0, of rows whose rivals are so far above the label where the length is 1.
fn mean_losses(differences: &[Vec<f32>]) -> [f64; LENGTHS] {
    let mut losses = [0.0; LENGTHS];
    for row in differences {
        let mut masses = [0.0; LENGTHS];
        for &difference in row {
            // e to the power of so many times the difference.
            let odds = f64::from(difference).exp();
            let mut power = 1.0;
            for mass in &mut masses {
                *mass += power;
                power *= odds;
            }
        }
        for (loss, mass) in losses.iter_mut().zip(masses) {
            *loss += mass.ln_1p() / differences.len() as f64;
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use rand::RngExt;

    use super::super::centroids::{Centroids, Start};
    use super::super::earlier::Earlier;
    use super::super::weights::Layout;
    use super::*;
    use crate::dataset::Dataset;
    use crate::sparse::fixed::Narrow;

    const CLASSES: u32 = 40;
    const FEATURES: usize = 120;

    /// Rows with their class's feature or, the larger `noise`, that of another, and two more.
    fn data(rows: u32, noise: f64, random: &mut impl RngExt) -> Dataset {
        let mut data = Dataset::default();
        for row in 0..rows {
            let class = row % CLASSES;
            let shown = if random.random_bool(noise) {
                random.random_range(0..CLASSES)
            } else {
                class
            };
            let mut entries = vec![(shown, 0.8), (random.random_range(CLASSES..120), 0.6)];
            data.rows.push_unsorted(&mut entries);
            data.labels.push([class]);
        }
        data.classes = (0..CLASSES).map(|class| class.to_string()).collect();
        data.rows.set_width(FEATURES);
        data
    }

    /// The same in floating point, with all classes as rivals but the weakest.
    fn plainly(known: &Dataset, asked: &Dataset) -> f32 {
        let mut centroids = vec![vec![0f64; FEATURES]; CLASSES as usize];
        for (row, labels) in known.rows.iter().zip(known.labels.iter()) {
            for (feature, value) in row.iter() {
                centroids[labels[0] as usize][feature as usize] += f64::from(value);
            }
        }
        for centroid in &mut centroids {
            let length = centroid.iter().map(|value| value * value).sum::<f64>().sqrt();
            for value in centroid.iter_mut() {
                *value /= length;
            }
        }
        let loss = |scale: f64| {
            let rows = asked.rows.iter().zip(asked.labels.iter()).map(|(row, labels)| {
                let score = |centroid: &Vec<f64>| {
                    scale
                        * row
                            .iter()
                            .map(|(feature, value)| f64::from(value) * centroid[feature as usize])
                            .sum::<f64>()
                };
                let mut scores: Vec<f64> = centroids.iter().map(score).collect();
                let own = scores.swap_remove(labels[0] as usize);
                scores.sort_by(|a, b| b.total_cmp(a));
                scores[..RIVALS]
                    .iter()
                    .map(|rival| (rival - own).exp())
                    .sum::<f64>()
                    .ln_1p()
            });
            rows.sum::<f64>() / asked.len() as f64
        };
        let losses: Vec<f64> = (2..=16u8).map(|scale| loss(f64::from(scale))).collect();
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let good = losses.iter().position(|loss| *loss <= least + TOLERANCE).unwrap();
        (good as f32 + 2.0).clamp(4.0, LONGEST)
    }

    #[test]
    fn the_length_is_that_of_a_plain_computation_and_shrinks_with_noise() {
        let session = Session::new(NonZeroUsize::new(2).unwrap()).unwrap();
        let mut random = session.random("test");
        let lengths = [0.05, 0.4, 0.8].map(|noise| {
            let (known, asked) = (data(400, noise, &mut random), data(300, noise, &mut random));
            let rows = QuantizedRows::new(&known.rows, 0.0);
            let start = Start {
                scale: 4.0,
                size_power: 0.0,
            };
            let centroids = Centroids::new(&known, &rows, &[], start);
            let layout = Layout {
                least: 1,
                dense_from: 64,
            };
            let earlier = Earlier::<Narrow>::nothing();
            let weights = Weights::starting(&earlier, &centroids, 40, layout, &session).unwrap();
            let rows = QuantizedRows::new(&asked.rows, 0.0);
            let all: Vec<u32> = (0..300).collect();
            let length = best_length(&weights, &rows, &asked.labels, &all, 4.0, &session).unwrap();
            assert_eq!(length, plainly(&known, &asked), "noise {noise}");
            length
        });
        assert!(
            lengths.is_sorted_by(|a, b| a >= b) && lengths[0] > lengths[2],
            "{lengths:?}"
        );
    }
}
