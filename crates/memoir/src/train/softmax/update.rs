//! Applies the gradients of a batch to the weights: each feature by one owner, in the order of the rows.

use std::hint::select_unpredictable;

use rayon::prelude::*;

use super::gradient::Gradient;
use super::rows::QuantizedRows;
use super::weights::{FeatureRowMut, LearnedWeights};
use crate::per_thread::PerThread;
use crate::sparse::fixed_point::{FeatureRows, Posting, WEIGHT_UNITS, for_each_common, padded};
use crate::{Session, maths};

/// The gradients of a batch, row by row.
#[derive(Default)]
pub(super) struct BatchGradients {
    pub(super) gradients: Vec<Gradient>,
    /// End of each row's gradients.
    pub(super) ends: Vec<usize>,
}

impl BatchGradients {
    pub(super) fn clear(&mut self) {
        self.gradients.clear();
        self.ends.clear();
    }

    pub(super) fn row(&self, position: usize) -> &[Gradient] {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.gradients[start..self.ends[position]]
    }
}

/// How far the weights move.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) size: f32,
    /// The number of the batch since the beginning; decides how fractions of a weight unit are rounded.
    pub(super) round: u64,
}

/// Reusable memory for applying batches.
pub(super) struct Updater {
    /// What the steps of each feature are multiplied by.
    learning_rates: Vec<f32>,
    /// The tokens of each feature in the batch while these are counted, then where the next one goes; 0
    /// between batches.
    positions: Vec<u32>,
    /// A bit for each feature: whether it is in the batch; all zero between batches.
    seen: Vec<u64>,
    /// The features of the batch, rising, each with the end of its tokens.
    features: Vec<(u32, u32)>,
    /// Position of the row in the batch, and the value times the step size in weight units.
    tokens: Vec<(u32, f32)>,
    /// See [`Step::round`].
    round: u64,
    scratches: PerThread<UpdateScratch>,
}

#[derive(Default)]
struct UpdateScratch {
    /// The sum of each class, all zero between features.
    changes: Vec<f32>,
    /// The classes whose sums are not zero, and room for more.
    touched: Vec<u32>,
    /// Which of the touched classes have which of a feature's postings.
    positions: Vec<(u32, u32)>,
    /// The postings that move, and room for more.
    moving: Vec<u32>,
}

/// Parts per thread: enough to even out, few enough to cost nothing.
const PARTS_PER_THREAD: usize = 8;

impl Updater {
    /// The steps of each feature are multiplied by its own of `learning_rates`.
    pub(super) fn new(learning_rates: Vec<f32>, session: &Session<'_>) -> Self {
        Self {
            seen: vec![0; learning_rates.len().div_ceil(64)],
            positions: vec![0; learning_rates.len()],
            learning_rates,
            features: Vec::new(),
            tokens: Vec::new(),
            round: 0,
            scratches: PerThread::new(session, UpdateScratch::default),
        }
    }

    /// Moves the weights along `gradients` of the rows of the batch that was last given to
    /// [`Updater::gather`].
    pub(super) fn apply<P: Posting>(
        &mut self,
        weights: &mut LearnedWeights<P>,
        gradients: &BatchGradients,
        session: &Session<'_>,
    ) {
        // Cut the features into runs with about the same number of tokens.
        let parts = session.threads() * PARTS_PER_THREAD;
        let goal = self.tokens.len().div_ceil(parts).max(1) as u32;
        let mut runs: Vec<&[(u32, u32)]> = Vec::with_capacity(parts);
        let (mut rest, mut done) = (&self.features[..], 0);
        while !rest.is_empty() {
            let length = rest.partition_point(|entry| entry.1 <= done + goal).max(1);
            let (run, after) = rest.split_at(length);
            done = run[length - 1].1;
            runs.push(run);
            rest = after;
        }
        let round = self.round;
        let width = padded(weights.classes());
        let weight_parts = weights.parts(runs.iter().map(|run| run[run.len() - 1].0 as usize + 1));
        let (tokens, learning_rates, scratches) = (&self.tokens, &self.learning_rates, &self.scratches);
        session.run(|| {
            let starts = runs
                .iter()
                .scan(0, |done, run| Some(std::mem::replace(done, run[run.len() - 1].1)));
            let work: Vec<_> = weight_parts.into_iter().zip(&runs).zip(starts).collect();
            work.into_par_iter()
                .with_max_len(1)
                .for_each(|((mut part, run), mut start)| {
                    let mut scratch = scratches.of_this_thread();
                    scratch.changes.resize(width, 0.0);
                    for (index, &(feature, end)) in run.iter().enumerate() {
                        if let Some(&(later, _)) = run.get(index + 3) {
                            part.prefetch(later);
                        }
                        let tokens = &tokens[start as usize..end as usize];
                        start = end;
                        let number = scratch.sum_changes(tokens, learning_rates[feature as usize], gradients);
                        let largest = scratch.apply(part.feature(feature), number, dither(round, feature));
                        part.note_largest(feature, largest);
                    }
                });
        });
    }

    /// The features of the batch that was last given to [`Updater::gather`], rising.
    pub(super) fn features(&self) -> impl Iterator<Item = u32> {
        self.features.iter().map(|entry| entry.0)
    }

    /// Sorts the tokens of the rows numbered `batch` by feature; within a feature they stay in the order of
    /// the rows. Needs no gradients, so that it can be done while these are found.
    pub(super) fn gather(&mut self, rows: &QuantizedRows, batch: &[u32], step: Step) {
        self.round = step.round;
        for &row in batch {
            for &feature in rows.row(row as usize).indices {
                self.positions[feature as usize] += 1;
                self.seen[feature as usize / 64] |= 1 << (feature % 64);
            }
        }
        self.features.clear();
        let mut total = 0;
        for (first, word) in (0u32..).step_by(64).zip(&mut self.seen) {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                let feature = first + bits.trailing_zeros();
                bits &= bits - 1;
                let index = &mut self.positions[feature as usize];
                total += std::mem::replace(index, total);
                self.features.push((feature, total));
            }
        }
        self.tokens.clear();
        self.tokens.resize(total as usize, (0, 0.0));
        for (position, &row) in (0..).zip(batch) {
            let row = rows.row(row as usize);
            let factor = step.size * WEIGHT_UNITS / row.scale;
            for (&feature, &value) in row.indices.iter().zip(row.values) {
                let index = &mut self.positions[feature as usize];
                self.tokens[*index as usize] = (position, f32::from(value) * factor);
                *index += 1;
            }
        }
        for (feature, _) in &self.features {
            self.positions[*feature as usize] = 0;
        }
    }
}

/// What the steps of each feature are multiplied by, `rare_power` of how rare it is: a rare one meets few
/// rows and has to learn from each; what a frequent one should not do, many rows of a batch tell it at once.
/// One between, by the rows of a mean token, keeps its rate.
pub(super) fn learning_rates(rows: &QuantizedRows, rare_power: f32) -> Vec<f32> {
    let mut counts = vec![0u32; rows.width()];
    for row in 0..rows.len() {
        for &feature in rows.row(row).indices {
            counts[feature as usize] += 1;
        }
    }
    rates(counts, rows.entries(), rare_power)
}

/// As above, by the number of rows that hold each feature and the number of entries.
pub(super) fn rates(counts: Vec<u32>, entries: usize, rare_power: f32) -> Vec<f32> {
    let logarithm = |count: u32| maths::ln(f64::from(count.max(1)));
    let sum: f64 = counts
        .iter()
        .map(|&count| f64::from(count) * logarithm(count))
        .sum();
    let mean = sum / entries.max(1) as f64;
    let rate = move |count: u32| maths::exp(f64::from(rare_power) * (mean - logarithm(count))) as f32;
    counts.into_iter().map(rate).collect()
}

impl UpdateScratch {
    /// Sums what the feature's tokens, at its rate, add to each class. Returns how many classes they touch.
    fn sum_changes(&mut self, tokens: &[(u32, f32)], rate: f32, gradients: &BatchGradients) -> usize {
        let mut number = 0;
        for &(position, factor) in tokens {
            let (gradients, factor) = (gradients.row(position as usize), factor * rate);
            if self.touched.len() < number + gradients.len() {
                self.touched.resize(number + gradients.len(), 0);
            }
            let (changes, touched) = (&mut self.changes[..], &mut self.touched[..]);
            for &(class, gradient) in gradients {
                let change = &mut changes[class as usize];
                // Noted whether it is new or not, and kept if it is: whether is hard to foresee, so a branch
                // would cost more.
                touched[number] = class;
                number += usize::from(change.to_bits() == 0);
                *change += gradient * factor;
            }
        }
        number
    }

    /// Adds the sums of the first `number` classes touched to the weights and forgets them. Returns the size
    /// of the largest weight that moved.
    fn apply<P: Posting>(&mut self, row: FeatureRowMut<'_, P>, number: usize, dither: f32) -> u16 {
        let mut largest = 0;
        let (touched, changes) = (&self.touched[..number], &mut self.changes[..]);
        match row {
            FeatureRowMut::Dense(dense) => {
                for &class in touched {
                    let change = std::mem::take(&mut changes[class as usize]);
                    let weight = &mut dense[class as usize];
                    // Zero marks a pair outside the support, so a weight inside steps over it.
                    let moved = match moved(*weight, change, dither) {
                        0 => weight.signum(),
                        moved => moved,
                    };
                    *weight = select_unpredictable(*weight == 0, 0, moved);
                    largest = largest.max(weight.unsigned_abs());
                }
            }
            // Looking a class up costs about as much as passing eight postings.
            FeatureRowMut::Sparse(postings) if number * 8 < postings.len() => {
                // Noted first, as what is searched must not change meanwhile.
                self.positions.clear();
                let positions = &mut self.positions;
                for_each_common(postings, touched, |touched, index| {
                    positions.push((touched as u32, index as u32));
                });
                for &(index, posting) in &self.positions {
                    let class = touched[index as usize];
                    let posting = &mut postings[posting as usize];
                    // Taken: a class is noted twice if its changes happen to cancel each other on the way.
                    let change = std::mem::take(&mut changes[class as usize]);
                    *posting = P::new(class, moved(posting.weight(), change, dither));
                    largest = largest.max(posting.weight().unsigned_abs());
                }
                for &class in touched {
                    changes[class as usize] = 0.0;
                }
            }
            FeatureRowMut::Sparse(postings) => {
                if self.moving.len() < postings.len() {
                    self.moving.resize(postings.len(), 0);
                }
                let moving = &mut self.moving[..postings.len()];
                let mut moved_postings = 0;
                // Without a branch, as where changes are summed.
                for (index, posting) in (0..).zip(postings.iter()) {
                    moving[moved_postings] = index;
                    moved_postings += usize::from(changes[posting.class() as usize] != 0.0);
                }
                for &index in &moving[..moved_postings] {
                    let posting = &mut postings[index as usize];
                    let change = changes[posting.class() as usize];
                    *posting = P::new(posting.class(), moved(posting.weight(), change, dither));
                    largest = largest.max(posting.weight().unsigned_abs());
                }
                for &class in touched {
                    changes[class as usize] = 0.0;
                }
            }
        }
        largest
    }
}

/// `weight + change`, rounded up or down by `dither` such that the mean over dithers is exact. Without a
/// change nothing is rounded: how often a class was noted must not matter.
#[inline]
fn moved(weight: i16, change: f32, dither: f32) -> i16 {
    let dither = select_unpredictable(change == 0.0, 0.0, dither);
    // Shifting makes the argument positive, so that truncation is a floor.
    let change = (change + dither + 32_768.0) as i32 - 32_768;
    (i32::from(weight) + change).clamp(-32_767, 32_767) as i16
}

/// A number in [0, 1) that depends on nothing but the arguments.
fn dither(round: u64, feature: u32) -> f32 {
    let mut z = (round << 32 | u64::from(feature)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / (1u32 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_unbiased_and_saturates() {
        let total: i64 = (0..10_000)
            .map(|round| i64::from(moved(5, -0.3, dither(round, 7))) - 5)
            .sum();
        assert!((total as f64 / 10_000.0 + 0.3).abs() < 0.02, "{total}");
        assert_eq!(moved(32_000, 5_000.0, 0.5), 32_767);
        assert_eq!(moved(-32_000, -1e9, 0.5), -32_767);
        assert_eq!(moved(3, 2.0, 0.99), 5);
        assert_eq!(moved(3, 0.0, 0.999_99), 3);
    }
}
