//! What is left for the many classes behind the candidates of a row.
//!
//! Curves are fitted to the candidates and would leave nothing, or anything, for the other classes. How
//! often the label is none of the candidates is counted, and so is how far behind them it is: the chance
//! that its rank is beyond `r` is taken to be `(CANDIDATES / r)^power`, so it falls slowly and never ends.

use serde::{Deserialize, Serialize};

use super::{CANDIDATES, HeldOutScores};
use crate::maths;

/// The power where no label was found behind the candidates, and bounds for it.
const USUAL_POWER: f64 = 0.5;
const LEAST_POWER: f64 = 0.05;
const LARGEST_POWER: f64 = 4.0;

/// How much is left for classes behind the candidates, and how fast it falls with their rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Tail {
    /// Of the rows whose answer is wrong, the share whose label is none of the candidates.
    share: f32,
    /// How fast probabilities fall with rank.
    power: f32,
}

impl Tail {
    /// As the rows of `sample` have it; `None` where rows have several labels, or no class is behind the
    /// candidates.
    pub(super) fn fit(sample: &HeldOutScores) -> Option<Self> {
        if sample.has_several_labels() || !sample.all_rows().any(|row| row.best.len() > CANDIDATES) {
            return None;
        }
        let (mut wrong, mut behind, mut found, mut depth) = (0.0, 0.0, 0.0, 0.0);
        for row in sample.all_rows() {
            let [label] = row.labels[..] else { continue };
            if row.known == 0 {
                continue;
            }
            let index = row.best.iter().position(|scored| scored.class == label);
            wrong += f64::from(u8::from(index != Some(0)));
            if index.is_none_or(|index| index >= CANDIDATES) {
                behind += 1.0;
                found += f64::from(u8::from(index.is_some()));
                // Of others it is known that they are farther behind than all that were looked at.
                let rank = index.map_or(row.best.len().max(CANDIDATES), |index| index + 1);
                depth += maths::ln(rank as f64 / CANDIDATES as f64);
            }
        }
        // One row more of each kind: no share is 0 or 1.
        let share = (behind + 1.0) / (wrong + 2.0);
        let power = if found > 0.0 && depth > 0.0 {
            found / depth
        } else {
            USUAL_POWER
        };
        Some(Self {
            share: share as f32,
            power: power.clamp(LEAST_POWER, LARGEST_POWER) as f32,
        })
    }

    /// Of `room`, the probability that the answer is wrong: what is kept for the tail, and the least that a
    /// candidate gets, which is what the best class of the tail has of that.
    pub(super) fn kept_of(self, room: f32) -> (f32, f32) {
        let kept = self.share * room;
        (kept, kept * self.share_at(CANDIDATES + 1))
    }

    /// The share of the tail that the class of this rank has, counted from 1.
    pub(super) fn share_at(self, rank: usize) -> f32 {
        let beyond = |rank: usize| maths::powf(CANDIDATES as f64 / rank as f64, f64::from(self.power));
        (beyond(rank - 1) - beyond(rank)) as f32
    }

    pub(super) fn check(self) -> Result<(), String> {
        let power = LEAST_POWER as f32..=LARGEST_POWER as f32;
        if (0.0..=1.0).contains(&self.share) && power.contains(&self.power) {
            Ok(())
        } else {
            Err("a tail whose share is no share, or whose power is out of range".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SET_CANDIDATES;
    use super::*;
    use crate::sparse::Scored;

    /// Rows of 50 scored classes; half of the labels are the answer, the others stand at `ranks` in turn.
    fn sample(ranks: &[usize]) -> HeldOutScores {
        let mut sample = HeldOutScores::default();
        for row in 0..400usize {
            let scored = |class: u32| Scored {
                class,
                score: 60.0 - class as f32,
            };
            let best: Vec<Scored> = (0..SET_CANDIDATES as u32).map(scored).collect();
            let rank = if row % 2 == 0 {
                1
            } else {
                ranks[row / 2 % ranks.len()]
            };
            sample.push(5, &best, &[rank as u32 - 1]);
        }
        sample
    }

    #[test]
    fn share_and_power_are_those_of_the_rows() {
        let tail = Tail::fit(&sample(&[2, 20, 3, 40])).unwrap();
        assert!((tail.share - 0.5).abs() < 0.01, "{tail:?}");
        // Two labels at twice and four times the number of candidates: 2 / (ln 2 + ln 4).
        assert!((tail.power - 0.962).abs() < 0.01, "{tail:?}");
        let far = Tail::fit(&sample(&[1000])).unwrap();
        assert!((f64::from(far.power) - USUAL_POWER).abs() < 1e-6, "{far:?}");
        assert!(Tail::fit(&sample(&[2])).unwrap().share < 0.01);
    }

    #[test]
    fn shares_of_ranks_fall_and_add_up_to_less_than_one() {
        let tail = Tail {
            share: 0.4,
            power: 0.45,
        };
        let shares: Vec<f32> = (CANDIDATES + 1..100_000)
            .map(|rank| tail.share_at(rank))
            .collect();
        assert!(shares.windows(2).all(|pair| pair[0] >= pair[1]) && shares.iter().all(|share| *share > 0.0));
        let sum: f64 = shares.iter().copied().map(f64::from).sum();
        assert!((0.95..1.0).contains(&sum), "{sum}");
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(
            Tail {
                share: 0.4,
                power: 0.45
            }
            .check()
            .is_ok()
        );
        for (share, power) in [(1.1, 1.0), (f32::NAN, 1.0), (0.5, f32::INFINITY), (0.5, 0.0)] {
            assert!(Tail { share, power }.check().is_err());
        }
    }
}
