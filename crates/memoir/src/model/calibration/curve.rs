//! One curve: what is known about a candidate in, a probability out.

use serde::{Deserialize, Serialize};

use super::CANDIDATES;
use crate::maths;
use crate::sparse::Scored;

/// Number of weights of the regression.
pub(super) const TERMS: usize = 5;

/// The sign that the weight of a term may have, 0 if any. A lead or a score never makes an answer less
/// likely, and scarce features never make it more likely: rows unlike all that were fitted on must not be
/// trusted for what only those say.
pub(super) const SIGNS: [f64; TERMS] = [0.0, 1.0, 1.0, 0.0, -1.0];

/// A lead beyond this says nothing more.
const FARTHEST: f64 = 30.0;

/// Most points that a stored line may have.
const MOST_KNOTS: usize = 1000;

/// A logistic regression, bent by a rising line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Curve {
    /// What scores are multiplied by before anything else.
    pub(super) temperature: f32,
    /// The weight of each term.
    pub(super) weights: [f32; TERMS],
    /// Points (regression, log-odds) of a line that rises in both; without any, the regression is the
    /// log-odds.
    pub(super) knots: Vec<(f32, f32)>,
}

/// What a row's scores say about each of its candidates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    temperature: f64,
    /// The best score, in temperature units.
    top: f64,
    /// Sum of the exponentials of all candidates' distances from the best.
    mass: f64,
    /// 1 over the number of known features: nothing is to be had from ever more of them.
    scarcity: f64,
}

impl Evidence {
    pub(super) fn new(known: usize, best: &[Scored], temperature: f64) -> Self {
        let finite = |score: f32| {
            if score.is_finite() {
                f64::from(score)
            } else {
                -1e30
            }
        };
        let top = best.first().map_or(0.0, |first| finite(first.score));
        let distances = best
            .iter()
            .take(CANDIDATES)
            .map(|c| (finite(c.score) - top) * temperature);
        Self {
            temperature,
            top: top * temperature,
            mass: distances.map(maths::exp).sum(),
            scarcity: 1.0 / known.max(1) as f64,
        }
    }

    /// What the regression looks at: a constant, the lead over all other candidates (log-odds of a softmax),
    /// the score, its distance from the best, and 1 over the number of known features.
    pub(super) fn terms(&self, score: f32) -> [f64; TERMS] {
        let score = f64::from(score).max(-1e30) * self.temperature;
        let distance = score - self.top;
        let own = maths::exp(distance);
        // The sum holds the candidate itself; rounding may leave less than nothing of the others.
        let others = (self.mass - own).max(1e-13);
        let lead = (distance - maths::ln(others)).clamp(-FARTHEST, FARTHEST);
        let clamp = |value: f64| value.clamp(-1e3, 1e3);
        [1.0, lead, clamp(score), clamp(distance), self.scarcity]
    }
}

pub(super) fn dot(weights: &[f64; TERMS], terms: &[f64; TERMS]) -> f64 {
    weights
        .iter()
        .zip(terms)
        .map(|(weight, term)| weight * term)
        .sum()
}

pub(super) fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + maths::exp(-log_odds))
}

impl Curve {
    pub(super) fn temperature(&self) -> f64 {
        f64::from(self.temperature)
    }

    /// How likely a candidate with this score is right.
    pub(super) fn probability(&self, evidence: &Evidence, score: f32) -> f64 {
        let regression = dot(&self.weights.map(f64::from), &evidence.terms(score));
        logistic(self.bend(regression))
    }

    /// The height of the line at `x`; beyond its ends it goes on as steep as the regression itself.
    pub(super) fn bend(&self, x: f64) -> f64 {
        let knot = |index: usize| (f64::from(self.knots[index].0), f64::from(self.knots[index].1));
        let right = self.knots.partition_point(|knot| f64::from(knot.0) <= x);
        match (self.knots.len(), right) {
            (0, _) => x,
            (_, 0) => knot(0).1 + (x - knot(0).0),
            (length, right) if right == length => knot(right - 1).1 + (x - knot(right - 1).0),
            (_, right) => {
                let (low, high) = (knot(right - 1), knot(right));
                low.1 + (high.1 - low.1) * (x - low.0) / (high.0 - low.0)
            }
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let numbers = self.weights.iter().chain([&self.temperature]);
        let of_knots = self.knots.iter().flat_map(|knot| [&knot.0, &knot.1]);
        if !numbers.chain(of_knots).all(|number| number.is_finite()) || self.temperature <= 0.0 {
            return Err("a number that is not finite, or a temperature that is not positive".to_owned());
        }
        if self.knots.len() > MOST_KNOTS {
            return Err(format!("{} knots, more than {MOST_KNOTS}", self.knots.len()));
        }
        if !self.knots.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1) {
            return Err("knots that do not rise".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_through_their_knots_and_on() {
        let curve = Curve {
            temperature: 1.0,
            weights: [0.0; TERMS],
            knots: vec![(-1.0, 0.0), (1.0, 4.0)],
        };
        let heights = [-2.0, -1.0, 0.0, 0.5, 1.0, 3.0].map(|x| curve.bend(x));
        assert_eq!(heights, [-1.0, 0.0, 2.0, 3.0, 4.0, 6.0]);
        assert!(curve.check().is_ok());
        for knots in [
            vec![(1.0, 0.0), (1.0, 1.0)],
            vec![(0.0, 1.0), (1.0, 0.0)],
            vec![(0.0, f32::NAN)],
        ] {
            assert!(
                Curve {
                    knots,
                    ..curve.clone()
                }
                .check()
                .is_err()
            );
        }
        assert!(
            Curve {
                temperature: 0.0,
                ..curve
            }
            .check()
            .is_err()
        );
    }
}
