//! Sharpness: how surely the class centroids tell held-out rows apart.
//!
//! With unit-length centroids as weights, multiplied by a common length, held-out rows have a loss. The
//! length with the smallest loss is the *sharpness*. It is large where the strongest centroid mostly names
//! the label, and small where labels are ambiguous. It is the inverse of the temperature that calibrates the
//! centroids.

use rayon::prelude::*;

use super::class_slice::{ClassSlice, Found};
use super::rows::QuantizedRows;
use super::weights::LearnedWeights;
use crate::dataset::LabelSets;
use crate::per_thread::PerThread;
use crate::sparse::fixed_point::{Posting, SearchScratch, search};
use crate::{Result, Session, maths};

/// Strongest wrong classes that a label is held against.
const RIVALS: usize = 30;

/// Rows that are scored, at most.
const MOST_ROWS: usize = 2500;

/// With fewer rows the measure would be chance.
const FEWEST_ROWS: usize = 50;

/// Lengths that are compared: multiples of the step, from one step on.
const LENGTHS: usize = 33;
const LENGTH_STEP: f32 = 0.5;

/// Measures the sharpness on the rows numbered `held_out`; `weights` are centroids of this length that these
/// rows are no part of, for the classes of `slice`. Nothing with too few rows.
pub(super) fn measure<P: Posting>(
    weights: &LearnedWeights<P>,
    length: f32,
    rows: &QuantizedRows,
    labels: &LabelSets,
    held_out: &[u32],
    slice: &ClassSlice<'_>,
    session: &Session<'_>,
) -> Result<Option<f32>> {
    let scratches = PerThread::new(session, <(SearchScratch, Vec<u32>)>::default);
    let wanted = |row: usize| RIVALS + labels.row(row).len();
    let search_one = |&row: &u32| {
        let mut found = Found::default();
        if labels.row(row as usize).is_empty() || session.cancel().is_raised() {
            return found;
        }
        let (scratch, own_labels) = &mut *scratches.of_this_thread();
        slice.put_own(labels.row(row as usize), own_labels);
        search(
            weights,
            rows.row(row as usize),
            wanted(row as usize),
            scratch,
            &mut found.best,
            own_labels,
            &mut found.label_scores,
        );
        found
    };
    let held_out = &held_out[..held_out.len().min(MOST_ROWS)];
    let found: Vec<Found> = session.run(|| held_out.par_iter().map(search_one).collect());
    session.check()?;
    let found = slice.merge(found, |number| wanted(held_out[number] as usize), session)?;
    // For each label of a row, how far each rival is above it where centroids are one step long.
    let mut differences = Vec::new();
    for (&row, found) in held_out.iter().zip(&found) {
        let labels = labels.row(row as usize);
        let unit = LENGTH_STEP * rows.row(row as usize).score_unit() / length;
        for own in &found.label_scores {
            let rivals = found.best.iter().filter(|found| !labels.contains(&found.class));
            let of_label = rivals.take(RIVALS).map(|rival| (rival.score - own) as f32 * unit);
            differences.push(of_label.collect::<Vec<f32>>());
        }
    }
    if held_out.len() < FEWEST_ROWS || differences.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let losses = mean_losses(&differences);
    let best = (1..LENGTHS).min_by(|&a, &b| losses[a].total_cmp(&losses[b]));
    Ok(best.map(|best| best as f32 * LENGTH_STEP))
}

/// The mean loss for each length, counted from 0 steps, of labels whose rivals are this far above them where
/// the length is one step.
fn mean_losses(differences: &[Vec<f32>]) -> [f64; LENGTHS] {
    let mut losses = [0.0; LENGTHS];
    for label in differences {
        let mut masses = [0.0; LENGTHS];
        for &difference in label {
            // e to the power of so many times the difference.
            let odds = maths::exp(f64::from(difference));
            let mut power = 1.0;
            for mass in &mut masses {
                *mass += power;
                power *= odds;
            }
        }
        for (loss, mass) in losses.iter_mut().zip(masses) {
            *loss += maths::ln_1p(mass) / differences.len() as f64;
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use rand::RngExt;

    use super::super::base_weights::BaseWeights;
    use super::super::centroids::{Centroids, InitialScale};
    use super::super::weights::Layout;
    use super::*;
    use crate::dataset::Dataset;
    use crate::sparse::fixed_point::Narrow;

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
    fn plainly(known: &Dataset, held_out: &Dataset) -> f32 {
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
            let rows = held_out
                .rows
                .iter()
                .zip(held_out.labels.iter())
                .map(|(row, labels)| {
                    let score = |centroid: &Vec<f64>| {
                        let products = row
                            .iter()
                            .map(|(feature, value)| f64::from(value) * centroid[feature as usize]);
                        scale * products.sum::<f64>()
                    };
                    let mut scores: Vec<f64> = centroids.iter().map(score).collect();
                    let own = scores.swap_remove(labels[0] as usize);
                    scores.sort_by(|a, b| b.total_cmp(a));
                    let masses = scores[..RIVALS].iter().map(|rival| (rival - own).exp());
                    masses.sum::<f64>().ln_1p()
                });
            rows.sum::<f64>() / held_out.len() as f64
        };
        let lengths = (1..LENGTHS as u16).map(|steps| f64::from(LENGTH_STEP) * f64::from(steps));
        let best = lengths.min_by(|&a, &b| loss(a).total_cmp(&loss(b)));
        best.unwrap() as f32
    }

    #[test]
    fn sharpness_is_that_of_a_plain_computation_and_shrinks_with_noise() {
        let session = Session::new(NonZeroUsize::new(2).unwrap()).unwrap();
        let mut random = session.random("test");
        let measured = [0.05, 0.4, 0.8].map(|noise| {
            let (known, held_out) = (data(400, noise, &mut random), data(300, noise, &mut random));
            let rows = QuantizedRows::new(&known.rows, 0.0);
            let scale = InitialScale {
                length: 4.0,
                size_power: 0.0,
            };
            let centroids = Centroids::new(&known, &rows, &[], scale);
            let layout = Layout {
                least: 1,
                dense_from: 64,
            };
            let base = BaseWeights::<Narrow>::none();
            let slice = ClassSlice::whole(CLASSES as usize);
            let weights = LearnedWeights::starting(&base, &centroids, &slice, layout, &session).unwrap();
            let rows = QuantizedRows::new(&held_out.rows, 0.0);
            let all: Vec<u32> = (0..300).collect();
            let sharpness = measure(&weights, 4.0, &rows, &held_out.labels, &all, &slice, &session)
                .unwrap()
                .unwrap();
            let plain = plainly(&known, &held_out);
            assert!(
                (sharpness - plain).abs() <= LENGTH_STEP,
                "noise {noise}: {sharpness}, plainly {plain}"
            );
            let few = measure(
                &weights,
                4.0,
                &rows,
                &held_out.labels,
                &all[..9],
                &slice,
                &session,
            )
            .unwrap();
            assert_eq!(few, None);
            sharpness
        });
        assert!(
            measured.is_sorted_by(|a, b| a >= b) && measured[0] > measured[2],
            "{measured:?}"
        );
    }
}
