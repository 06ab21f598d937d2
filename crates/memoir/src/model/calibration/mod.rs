//! From scores to probabilities: how often is an answer with such scores right?
//!
//! A calibration is fitted on rows that the weights were not trained on ([`HeldOutScores`]) and is stored
//! with the model. It looks at the [`CANDIDATES`] best scores of a row, so it is the same for every kind of
//! scorer. There is one curve for the answer and one for all other candidates. A curve is a logistic
//! regression on what tells sure rows from unsure ones (how far a candidate is ahead of the others above
//! all) and, for the answer, a rising line through measured shares of right answers, which bends the result
//! where the regression is off.
//!
//! With one label a row the probabilities of a row never add up to more than 1; what is missing is the
//! probability that none of the classes asked for is right. A part of it is kept for the classes behind the
//! candidates ([`Tail`]), so that no class is impossible. With several labels each probability stands for
//! itself: how likely is this class one of the row's labels?

mod curve;
mod fit;
mod sample;
mod sets;
mod tail;
mod threshold;

use serde::{Deserialize, Serialize};

use crate::class_vocabulary::Hierarchy;
use crate::sparse::Scored;

use curve::{Curve, Evidence};
pub use sample::HeldOutScores;
pub use sets::{AnswerSets, SET_CANDIDATES, SetRule};
use tail::Tail;

/// How many of the best scores of a row a calibration looks at.
pub const CANDIDATES: usize = 10;

/// What a calibration was fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Rows that training did not see.
    HeldOut,
    /// The calibration split: training rows that were scored before the weights learned from them.
    #[serde(rename = "set-aside")]
    CalibrationSplit,
    /// Rows of a kind that a later version knows.
    #[serde(other)]
    Other,
}

/// Turns the scores of a row into probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// What it was fitted on.
    pub basis: Basis,
    /// How many rows.
    pub rows: u64,
    /// Whether rows have several labels, so that probabilities may add up to more than 1.
    pub several_labels: bool,
    answer: Curve,
    others: Curve,
    /// With one label a row: what is left for the classes behind the candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<Tail>,
    /// With several labels a row: the probability from which on a class is taken for one of them. It gives
    /// the highest F1 on the rows that the calibration was fitted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
    /// Thresholds for sets of answers and for backing off, if there were rows enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<AnswerSets>,
}

impl Calibration {
    /// Writes the probability of each of `best` to `out`. These are the classes of a row, best first: at
    /// least [`CANDIDATES`] of them, if there are so many. `known` is the number of the row's features that
    /// the model knows.
    ///
    /// Probabilities never rise from one class to the next. A row of which nothing is known has none but
    /// zeros.
    pub fn probabilities(&self, known: usize, best: &[Scored], out: &mut Vec<f32>) {
        out.clear();
        if known == 0 {
            out.resize(best.len(), 0.0);
            return;
        }
        // So many rows cannot show more certainty than this, however far beyond all of them a score is.
        let surest = 1.0 - 1.0 / (self.rows as f64 + 2.0);
        let of_answer = Evidence::new(known, best, self.answer.temperature());
        let of_others = Evidence::new(known, best, self.others.temperature());
        for (rank, candidate) in best.iter().enumerate() {
            let probability = match rank {
                0 => self.answer.probability(&of_answer, candidate.score),
                _ => self.others.probability(&of_others, candidate.score),
            };
            out.push(probability.min(surest) as f32);
        }
        self.keep_in_order(out);
    }

    /// Makes sets of answers and broader answers keep their promises on rows like those of `sample`.
    pub fn fit_sets(&mut self, sample: &HeldOutScores, hierarchy: Option<&Hierarchy<'_>>) {
        self.sets = AnswerSets::fit(self, sample, hierarchy);
    }

    /// The classes of a row with probabilities in place of scores.
    fn with_probabilities(&self, known: usize, best: &[Scored]) -> Vec<Scored> {
        let mut probabilities = Vec::new();
        self.probabilities(known, best, &mut probabilities);
        let classes = best.iter().zip(probabilities);
        classes
            .map(|(scored, probability)| Scored {
                class: scored.class,
                score: probability,
            })
            .collect()
    }

    /// Makes probabilities fall and, with one label a row, add up to at most 1.
    fn keep_in_order(&self, probabilities: &mut [f32]) {
        // By the candidates alone, so that it does not matter how many classes were asked for.
        let (candidates, rest) = probabilities.split_at_mut(probabilities.len().min(CANDIDATES));
        let Some((&mut answer, others)) = candidates.split_first_mut() else {
            return;
        };
        let mut before = answer;
        let mut fall = |probability: &mut f32, most: f32| {
            *probability = probability.min(before).min(most);
            before = *probability;
        };
        if self.several_labels {
            let all = others.iter_mut().chain(rest);
            all.for_each(|probability| fall(probability, 1.0));
            return;
        }
        let mut room = 1.0 - answer;
        if let Some(tail) = &self.tail {
            let (kept, least) = tail.kept_of(room);
            room -= kept;
            for other in others.iter_mut() {
                *other = other.max(least);
            }
        }
        let sum: f32 = others.iter().sum();
        let factor = if sum > room { room / sum } else { 1.0 };
        if let Some(tail) = &self.tail {
            for other in others.iter_mut() {
                *other *= factor;
                fall(other, 1.0);
            }
            let left = (1.0 - answer - others.iter().sum::<f32>()).max(0.0);
            for (probability, rank) in rest.iter_mut().zip(CANDIDATES + 1..) {
                *probability = tail.share_at(rank) * left;
                fall(probability, 1.0);
            }
            return;
        }
        for probability in others.iter_mut().chain(rest) {
            *probability *= factor;
            fall(probability, room.max(0.0));
            room -= *probability;
        }
    }

    /// An error in words if something is not as it must be; for what comes from a file.
    pub(super) fn check(&self) -> Result<(), String> {
        self.answer.check()?;
        self.others.check()?;
        self.tail.map_or(Ok(()), Tail::check)?;
        if self
            .threshold
            .is_some_and(|threshold| !(0.0..=1.0).contains(&threshold))
        {
            return Err("a threshold that is no probability".to_owned());
        }
        self.sets.as_ref().map_or(Ok(()), AnswerSets::check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows whose answer is right with a chance that depends on the lead in a bent way, and always falls
    /// with rank.
    pub(super) fn world(rows: usize, seed: u64) -> HeldOutScores {
        let mut state = seed;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as f32 / (1u64 << 31) as f32).clamp(1e-6, 1.0 - 1e-6)
        };
        let mut sample = HeldOutScores::default();
        for _ in 0..rows {
            let lead = 4.0 * next() * next();
            let mut score = 3.0 + next();
            let mut best = vec![Scored {
                class: 0,
                score: score + lead,
            }];
            for class in 1..12 {
                best.push(Scored { class, score });
                score -= 0.5 * next();
            }
            let right = if lead > 1.0 { 0.9 } else { 0.1 + 0.4 * lead };
            let label = if next() < right {
                0
            } else {
                1 + (30.0 * next() * next()) as u32
            };
            sample.push(5, &best, &[label]);
        }
        sample
    }

    #[test]
    fn no_class_is_impossible() {
        let calibration = Calibration::fit(&world(2000, 1), Basis::HeldOut).unwrap();
        // The answer is far ahead, and the candidates behind it are close together or hopeless.
        for gap in [0.0, 0.1, 500.0] {
            let scored = |class: u32| Scored {
                class,
                score: if class == 0 { 30.0 } else { -gap * class as f32 },
            };
            let best: Vec<Scored> = (0..5000).map(scored).collect();
            let mut out = vec![];
            calibration.probabilities(5, &best, &mut out);
            assert!(out.iter().all(|&probability| probability > 0.0), "{gap}");
            assert!(out.windows(2).all(|pair| pair[0] >= pair[1]), "{gap}");
            assert!(out.iter().sum::<f32>() < 1.0 + 1e-5, "{gap}");
        }
    }

    fn error(calibration: &Calibration, sample: &HeldOutScores) -> f64 {
        let (mut sums, mut out) = (vec![(0.0, 0.0); 15], vec![]);
        for row in sample.iter() {
            calibration.probabilities(row.known, row.best, &mut out);
            let bin = &mut sums[((out[0] * 15.0) as usize).min(14)];
            bin.0 += f64::from(out[0]);
            bin.1 += f64::from(u8::from(row.hits[0]));
        }
        sums.iter()
            .map(|bin: &(f64, f64)| (bin.0 - bin.1).abs())
            .sum::<f64>()
            / sample.len() as f64
    }

    #[test]
    fn probabilities_are_what_happens_on_other_rows() {
        let calibration = Calibration::fit(&world(4000, 1), Basis::HeldOut).unwrap();
        let fresh = error(&calibration, &world(20_000, 2));
        assert!(fresh < 0.02, "expected calibration error {fresh}");
    }

    #[test]
    fn too_few_rows_give_no_calibration() {
        assert!(Calibration::fit(&world(99, 1), Basis::HeldOut).is_none());
        assert!(Calibration::fit(&world(100, 1), Basis::HeldOut).is_some());
    }

    #[test]
    fn a_row_without_known_features_is_never_sure() {
        let calibration = Calibration::fit(&world(1000, 3), Basis::CalibrationSplit).unwrap();
        let best = [
            Scored {
                class: 4,
                score: 50.0,
            },
            Scored { class: 5, score: 0.0 },
        ];
        let mut out = vec![];
        calibration.probabilities(0, &best, &mut out);
        assert_eq!(out, [0.0, 0.0]);
    }

    #[test]
    fn nothing_is_surer_than_the_rows_can_show() {
        let calibration = Calibration::fit(&world(1000, 3), Basis::CalibrationSplit).unwrap();
        let far = [(0, 1e6), (1, 0.0)].map(|(class, score)| Scored { class, score });
        let mut out = vec![];
        calibration.probabilities(50, &far, &mut out);
        assert!(out[0] > 0.99 && out[0] <= 1.0 - 1.0 / 1002.0, "{out:?}");
    }

    #[test]
    fn what_a_later_version_calibrated_by_is_no_error() {
        let basis: Basis = serde_json::from_str("\"crowd\"").unwrap();
        assert_eq!(basis, Basis::Other);
        let basis: Basis = serde_json::from_str("\"set-aside\"").unwrap();
        assert_eq!(basis, Basis::CalibrationSplit);
    }

    proptest! {
        #[test]
        fn probabilities_fall_and_add_up(
            scores in proptest::collection::vec(-1e3f32..1e3, 1..30), known in 1usize..100, seed in 0u64..5,
        ) {
            let calibration = Calibration::fit(&world(300, seed), Basis::HeldOut).unwrap();
            let mut scores = scores;
            scores.sort_by(|a, b| b.total_cmp(a));
            let best: Vec<_> = (0..).zip(scores).map(|(class, score)| Scored { class, score }).collect();
            let mut out = vec![];
            calibration.probabilities(known, &best, &mut out);
            prop_assert_eq!(out.len(), best.len());
            prop_assert!(out.iter().all(|p| (0.0..=1.0).contains(p)), "{:?}", out);
            prop_assert!(out.windows(2).all(|pair| pair[0] >= pair[1]), "{:?}", out);
            prop_assert!(out.iter().sum::<f32>() < 1.0 + 1e-5);
            // Asking for fewer classes does not change what they get.
            if best.len() > CANDIDATES {
                let mut fewer = vec![];
                calibration.probabilities(known, &best[..CANDIDATES], &mut fewer);
                prop_assert_eq!(&fewer[..], &out[..CANDIDATES]);
            }
        }
    }
}
