//! Fitting a calibration: Newton's method on the logistic loss, then shares of right answers that rise.

use rayon::prelude::*;

use super::curve::{Curve, Evidence, SIGNS, TERMS, dot, logistic};
use super::tail::Tail;
use super::threshold::best_threshold;
use super::{Basis, Calibration, HeldOutScores};
use crate::maths;

/// With fewer rows nothing can be said.
const LEAST_ROWS: usize = 100;

/// Rows of which a measured share is taken, at least.
const ROWS_PER_KNOT: usize = 250;

/// Measured shares, at most.
const MOST_KNOTS: usize = 20;

/// Pulls weights towards zero, as much as so many rows would; keeps them finite where answers can be told
/// apart perfectly.
const RIDGE: f64 = 0.05;

/// Examples that one thread adds up at a time.
const EXAMPLES_PER_TASK: usize = 1024;

/// Steps of Newton's method, at most; it needs about six.
const STEPS: usize = 25;

/// Temperatures that are tried, in units of 1 over the mean distance of the last candidate from the first.
const TEMPERATURES: [f64; 6] = [1.0, 2.0, 3.0, 4.5, 7.0, 12.0];

/// A candidate with what is known about it, and whether it is right.
type Example = ([f64; TERMS], bool);

impl Calibration {
    /// The calibration that fits `sample` best; `None` if that has too few rows.
    pub fn fit(sample: &HeldOutScores, basis: Basis) -> Option<Self> {
        if sample.len() < LEAST_ROWS {
            return None;
        }
        let spread = mean_spread(sample);
        let mut best: Option<(f64, f64, Vec<Example>, [f64; TERMS])> = None;
        // Each search starts where the one before it ended: not far from where it will end.
        let mut start = [0.0; TERMS];
        for factor in TEMPERATURES {
            let temperature = f64::from((factor / spread) as f32);
            let answers = examples(sample, temperature, 0..1);
            let (weights, loss) = with_signs(&answers, start);
            start = weights;
            if best.as_ref().is_none_or(|best| loss < best.0) {
                best = Some((loss, temperature, answers, weights));
            }
        }
        let (_, temperature, answers, weights) = best?;
        let others = examples(sample, temperature, 1..usize::MAX);
        let curve = |weights: [f64; TERMS], knots| Curve {
            temperature: temperature as f32,
            weights: weights.map(|weight| weight as f32),
            knots,
        };
        let mut calibration = Self {
            basis,
            rows: sample.len() as u64,
            several_labels: sample.has_several_labels(),
            answer: curve(weights, rising_shares(&answers, &weights)),
            others: curve(with_signs(&others, weights).0, Vec::new()),
            tail: Tail::fit(sample),
            threshold: None,
            sets: None,
        };
        if calibration.several_labels {
            calibration.threshold = best_threshold(&calibration, sample);
        }
        calibration.check().is_ok().then_some(calibration)
    }
}

/// Mean distance between the best and the last candidate's score.
fn mean_spread(sample: &HeldOutScores) -> f64 {
    let (mut sum, mut rows) = (0.0, 0);
    for row in sample.iter() {
        if let [first, .., last] = row.best {
            sum += f64::from(first.score - last.score);
            rows += 1;
        }
    }
    let mean = sum / f64::from(rows.max(1));
    if mean > 1e-20 && mean.is_finite() {
        mean
    } else {
        1.0
    }
}

fn examples(sample: &HeldOutScores, temperature: f64, ranks: std::ops::Range<usize>) -> Vec<Example> {
    let mut examples = Vec::new();
    for row in sample.iter() {
        let evidence = Evidence::new(row.known, row.best, temperature);
        let chosen = row.best.iter().zip(row.hits).take(ranks.end).skip(ranks.start);
        examples.extend(chosen.map(|(candidate, &hit)| (evidence.terms(candidate.score), hit)));
    }
    examples
}

/// A loss with its gradient and its second derivatives.
type Loss = (f64, [f64; TERMS], [[f64; TERMS]; TERMS]);

/// The loss of `weights`.
fn loss(examples: &[Example], weights: &[f64; TERMS]) -> Loss {
    let parts: Vec<Loss> = examples
        .par_chunks(EXAMPLES_PER_TASK)
        .map(|part| part_of_loss(part, weights))
        .collect();
    let (mut sum, mut gradient, mut second) = (0.0, [0.0; TERMS], [[0.0; TERMS]; TERMS]);
    for part in parts {
        sum += part.0;
        for (sum, part) in gradient.iter_mut().zip(part.1) {
            *sum += part;
        }
        for (sum, part) in second.as_flattened_mut().iter_mut().zip(part.2.as_flattened()) {
            *sum += part;
        }
    }
    for i in 0..TERMS {
        sum += 0.5 * RIDGE * weights[i] * weights[i];
        gradient[i] += RIDGE * weights[i];
        second[i][i] += RIDGE;
        let (above, below) = second.split_at_mut(i);
        for (row, &value) in above.iter_mut().zip(&below[0]) {
            row[i] = value;
        }
    }
    (sum, gradient, second)
}

/// What some examples add to the loss; of the second derivatives only those below the diagonal, and it.
fn part_of_loss(examples: &[Example], weights: &[f64; TERMS]) -> Loss {
    let mut sum = 0.0;
    // What is still to be added to it is the logarithm of this: taken once in a while, not for every row.
    let mut product = 1.0f64;
    let mut gradient = [0.0; TERMS];
    let mut second = [[0.0; TERMS]; TERMS];
    for (terms, hit) in examples {
        let log_odds = dot(weights, terms);
        // -ln of the probability of what happened is ln(1 + e^x) with x the odds against it: without
        // overflow.
        let wrong_way = if *hit { -log_odds } else { log_odds };
        let small = maths::exp(-log_odds.abs());
        sum += wrong_way.max(0.0);
        product *= 1.0 + small;
        if product > 1e200 {
            sum += maths::ln(std::mem::replace(&mut product, 1.0));
        }
        let probability = if log_odds < 0.0 { small } else { 1.0 } / (1.0 + small);
        let slope = probability - f64::from(u8::from(*hit));
        let curvature = probability * (1.0 - probability);
        for i in 0..TERMS {
            gradient[i] += slope * terms[i];
            for j in 0..=i {
                second[i][j] += curvature * terms[i] * terms[j];
            }
        }
    }
    (sum + maths::ln(product), gradient, second)
}

/// The weights with the least loss and that loss, where terms whose weight would have the wrong sign are
/// left out. Looked for from `start` on.
fn with_signs(examples: &[Example], start: [f64; TERMS]) -> ([f64; TERMS], f64) {
    let mut used = [true; TERMS];
    let mut found = (start, 0.0);
    loop {
        found = newton(examples, found.0, used);
        let wrong = |term: &usize| found.0[*term] * SIGNS[*term] < 0.0;
        let Some(term) = (0..TERMS).find(wrong) else {
            return found;
        };
        used[term] = false;
        found.0[term] = 0.0;
    }
}

/// The weights with the least loss among those that differ from `weights` in terms that are `used`, and that
/// loss.
fn newton(examples: &[Example], mut weights: [f64; TERMS], used: [bool; TERMS]) -> ([f64; TERMS], f64) {
    let mut here = loss(examples, &weights);
    for _ in 0..STEPS {
        let direction = step(here.2, here.1, used);
        let mut length = 1.0;
        let mut moved = None;
        // Halved until it helps; after so many times it would not be seen.
        while length > 1e-4 {
            let mut next = weights;
            for (weight, step) in next.iter_mut().zip(direction) {
                *weight -= length * step;
            }
            let there = loss(examples, &next);
            if there.0 < here.0 {
                moved = Some((next, there));
                break;
            }
            length /= 2.0;
        }
        let Some((next, there)) = moved else { break };
        let gain = here.0 - there.0;
        (weights, here) = (next, there);
        if gain < 1e-6 * here.0 {
            break;
        }
    }
    (weights, here.0)
}

/// The step of Newton's method in the terms that are `used`.
fn step(mut second: [[f64; TERMS]; TERMS], mut gradient: [f64; TERMS], used: [bool; TERMS]) -> [f64; TERMS] {
    for i in (0..TERMS).filter(|&i| !used[i]) {
        gradient[i] = 0.0;
        second[i] = [0.0; TERMS];
        for row in &mut second {
            row[i] = 0.0;
        }
        second[i][i] = 1.0;
    }
    solve(second, gradient)
}

/// Solves `matrix * x = right` for a symmetric positive matrix.
fn solve(mut matrix: [[f64; TERMS]; TERMS], mut right: [f64; TERMS]) -> [f64; TERMS] {
    for pivot in 0..TERMS {
        let divisor = matrix[pivot][pivot].max(1e-12);
        for row in pivot + 1..TERMS {
            let factor = matrix[row][pivot] / divisor;
            let of_pivot = matrix[pivot];
            for (entry, above) in matrix[row].iter_mut().zip(of_pivot).skip(pivot) {
                *entry -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    for row in (0..TERMS).rev() {
        for column in row + 1..TERMS {
            right[row] -= matrix[row][column] * right[column];
        }
        right[row] /= matrix[row][row].max(1e-12);
    }
    right
}

/// A run of examples: where they lie on the regression, how many there are, how many of them are right.
#[derive(Clone, Copy)]
struct Run {
    first: f64,
    last: f64,
    rows: f64,
    right: f64,
}

impl Run {
    fn share(&self) -> f64 {
        self.right / self.rows
    }
}

/// Points of a line through the shares of right answers, from the least sure to the surest; shares that fall
/// are joined.
fn rising_shares(examples: &[Example], weights: &[f64; TERMS]) -> Vec<(f32, f32)> {
    let count = (examples.len() / ROWS_PER_KNOT).min(MOST_KNOTS);
    if count < 2 {
        return Vec::new();
    }
    let mut sorted: Vec<(f64, bool)> = examples
        .iter()
        .map(|(terms, hit)| (dot(weights, terms), *hit))
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut runs: Vec<Run> = Vec::with_capacity(count);
    for part in 0..count {
        let range = part * sorted.len() / count..(part + 1) * sorted.len() / count;
        let rows = range.len() as f64;
        let center = sorted[range.clone()].iter().map(|e| e.0).sum::<f64>() / rows;
        let right = sorted[range].iter().filter(|e| e.1).count() as f64;
        // One row more that is as right as the regression says: no share is 0 or 1.
        let expected = logistic(center).clamp(1e-3, 1.0 - 1e-3);
        let run = Run {
            first: center,
            last: center,
            rows: rows + 1.0,
            right: right + expected,
        };
        runs.push(run);
        while let [.., before, last] = runs[..] {
            if before.share() < last.share() && before.last < last.first {
                break;
            }
            runs.truncate(runs.len() - 2);
            runs.push(Run {
                first: before.first,
                last: last.last,
                rows: before.rows + last.rows,
                right: before.right + last.right,
            });
        }
    }
    let mut knots: Vec<(f32, f32)> = Vec::new();
    for run in runs {
        let height = maths::ln(run.share() / (1.0 - run.share())) as f32;
        for index in [run.first as f32, run.last as f32] {
            if knots.last().is_none_or(|before| before.0 < index) {
                knots.push((index, height));
            }
        }
    }
    knots
}

#[cfg(test)]
mod tests {
    use super::super::tests::world;
    use super::*;

    #[test]
    fn gradient_and_curvature_agree_with_finite_differences() {
        let examples = examples(&world(200, 7), 0.8, 0..4);
        let weights = [0.3, -0.7, 0.2, 0.4, -0.1];
        let (_, gradient, second) = loss(&examples, &weights);
        for i in 0..TERMS {
            let at = |shift: f64| {
                let mut moved = weights;
                moved[i] += shift;
                loss(&examples, &moved)
            };
            let (up, down) = (at(1e-5), at(-1e-5));
            let slope = (up.0 - down.0) / 2e-5;
            assert!(
                (slope - gradient[i]).abs() < 1e-4 * (1.0 + slope.abs()),
                "{slope} {}",
                gradient[i]
            );
            for (j, &expected) in second[i].iter().enumerate() {
                let curvature = (up.1[j] - down.1[j]) / 2e-5;
                assert!((curvature - expected).abs() < 1e-3 * (1.0 + curvature.abs()));
            }
        }
    }

    #[test]
    fn newton_ends_where_the_gradient_is_zero() {
        let examples = examples(&world(500, 9), 1.0, 0..1);
        let (weights, _) = newton(&examples, [0.0; TERMS], [true; TERMS]);
        let (_, gradient, _) = loss(&examples, &weights);
        assert!(gradient.iter().all(|slope| slope.abs() < 0.5), "{gradient:?}");
    }

    #[test]
    fn answers_that_are_always_right_give_finite_weights() {
        let examples: Vec<Example> = (0..300)
            .map(|i| ([1.0, f64::from(i % 7), 0.0, 0.0, 1.0], true))
            .collect();
        let (weights, _) = newton(&examples, [0.0; TERMS], [true; TERMS]);
        assert!(weights.iter().all(|weight| weight.is_finite()));
        assert!(logistic(dot(&weights, &examples[0].0)) > 0.9);
        assert!(
            rising_shares(&examples, &weights)
                .iter()
                .all(|knot| knot.1.is_finite())
        );
    }
}
