//! Is a probability what it says? And how many rows can be left to the machine at a wanted accuracy?
//!
//! Answers are sorted into ten thousand bins by their probability, so memory does not grow with the rows,
//! and a threshold is known to four decimals. The few bins of the calibration error are counted beside them:
//! their bounds are not among those of the many.

use serde::{Deserialize, Serialize};

use super::report::share;

/// Bins that answers are counted in.
const BINS: usize = 10_000;

/// Bins of equal width that the expected calibration error is taken over.
const COARSE: usize = 15;

/// Accuracies for which a report says how many rows reach them.
pub const TARGETS: [f64; 4] = [0.8, 0.9, 0.95, 0.99];

/// Probabilities are added up in units of this, as whole numbers: the sum does not depend on the order.
const UNIT: f64 = 1e-9;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bin {
    rows: u64,
    right: u64,
    /// Sum of the probabilities.
    sum: u64,
}

impl Bin {
    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.right += other.right;
        self.sum += other.sum;
    }
}

/// Counts how often answers of each probability are right.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    bins: Vec<Bin>,
    coarse: [Bin; COARSE],
}

impl Default for Confidence {
    fn default() -> Self {
        Self {
            bins: vec![Bin::default(); BINS],
            coarse: [Bin::default(); COARSE],
        }
    }
}

/// Answers whose probability lies in one range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Lowest probability in the range.
    pub from: f64,
    /// Where the range ends.
    pub to: f64,
    /// Answers in it.
    pub rows: u64,
    /// Their mean probability.
    pub confidence: f64,
    /// Share of them that are right.
    pub accuracy: f64,
}

/// How many rows can be answered at a wanted accuracy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The accuracy wanted.
    pub target: f64,
    /// The least probability at which answers must be taken to reach it; none if no threshold does.
    pub threshold: Option<f64>,
    /// Rows answered then.
    pub rows: u64,
    /// Their share of all rows.
    pub coverage: f64,
    /// The accuracy reached.
    pub accuracy: f64,
}

/// What probabilities are worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceReport {
    /// Mean over rows of the distance between probability and share of right answers, in bins of width 1/15.
    pub expected_calibration_error: f64,
    /// Mean probability of the answers; should be the accuracy.
    pub mean_confidence: f64,
    /// The bins that hold answers.
    pub reliability: Vec<ReliabilityBin>,
    /// Rows that can be answered at each of [`TARGETS`].
    pub coverage: Vec<Coverage>,
    /// Coverage and accuracy for falling thresholds, at most a hundred points.
    pub curve: Vec<(f64, f64)>,
}

impl Confidence {
    /// Counts an answer.
    pub fn add(&mut self, probability: f32, right: bool) {
        let probability = f64::from(probability).clamp(0.0, 1.0);
        let index = |bins: usize| ((probability * bins as f64) as usize).min(bins - 1);
        let answer = Bin {
            rows: 1,
            right: u64::from(right),
            sum: (probability / UNIT) as u64,
        };
        self.bins[index(BINS)].add(answer);
        self.coarse[index(COARSE)].add(answer);
    }

    /// What follows from the counts.
    pub fn report(&self) -> ConfidenceReport {
        let mut all = Bin::default();
        self.bins.iter().for_each(|bin| all.add(*bin));
        let mean = |bin: &Bin| bin.sum as f64 * UNIT / bin.rows.max(1) as f64;
        let mut error = 0.0;
        let mut reliability = Vec::new();
        for (index, bin) in self.coarse.iter().enumerate() {
            if bin.rows > 0 {
                let accuracy = share(bin.right, bin.rows);
                error += (mean(bin) - accuracy).abs() * bin.rows as f64;
                reliability.push(ReliabilityBin {
                    from: index as f64 / COARSE as f64,
                    to: (index + 1) as f64 / COARSE as f64,
                    rows: bin.rows,
                    confidence: mean(bin),
                    accuracy,
                });
            }
        }
        ConfidenceReport {
            expected_calibration_error: error / all.rows.max(1) as f64,
            mean_confidence: mean(&all),
            reliability,
            coverage: TARGETS.map(|target| self.coverage(target, all.rows)).to_vec(),
            curve: self.curve(all.rows),
        }
    }

    fn coverage(&self, target: f64, rows: u64) -> Coverage {
        let mut best = Coverage {
            target,
            threshold: None,
            rows: 0,
            coverage: 0.0,
            accuracy: 0.0,
        };
        let mut taken = Bin::default();
        for (index, bin) in self.bins.iter().enumerate().rev() {
            taken.add(*bin);
            if bin.rows > 0 && taken.right as f64 >= target * taken.rows as f64 {
                best = Coverage {
                    target,
                    threshold: Some(index as f64 / BINS as f64),
                    rows: taken.rows,
                    coverage: share(taken.rows, rows),
                    accuracy: share(taken.right, taken.rows),
                };
            }
        }
        best
    }

    fn curve(&self, rows: u64) -> Vec<(f64, f64)> {
        let mut points = Vec::new();
        let mut taken = Bin::default();
        for bin in self.bins.iter().rev().filter(|bin| bin.rows > 0) {
            taken.add(*bin);
            let coverage = share(taken.rows, rows);
            if coverage * 100.0 >= (points.len() + 1) as f64 || taken.rows == rows {
                points.push((coverage, share(taken.right, taken.rows)));
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of each hundredth, right exactly as often as `truth` says.
    fn counted(truth: impl Fn(f64) -> f64) -> ConfidenceReport {
        let mut confidence = Confidence::default();
        for hundredth in 0..100 {
            let probability = (f64::from(hundredth) + 0.5) / 100.0;
            for row in 0..1000 {
                confidence.add(probability as f32, f64::from(row) < 1000.0 * truth(probability));
            }
        }
        confidence.report()
    }

    #[test]
    fn honest_probabilities_have_no_error() {
        let report = counted(|probability| probability);
        assert!(report.expected_calibration_error < 1e-3, "{report:?}");
        assert!((report.mean_confidence - 0.5).abs() < 1e-3);
    }

    #[test]
    fn the_error_is_how_far_probabilities_are_off() {
        let report = counted(|probability| (probability - 0.1).max(0.0));
        assert!(
            (report.expected_calibration_error - 0.095).abs() < 2e-3,
            "{report:?}"
        );
        let always_wrong = counted(|_| 0.0);
        assert!((always_wrong.expected_calibration_error - 0.5).abs() < 1e-3);
        assert!(
            always_wrong
                .coverage
                .iter()
                .all(|coverage| coverage.threshold.is_none())
        );
    }

    #[test]
    fn bins_end_at_their_bounds() {
        // Just below and just above 1/15, which is no whole number of ten-thousandths.
        let mut confidence = Confidence::default();
        for probability in [0.066_61, 0.066_66, 0.066_67] {
            confidence.add(probability, false);
        }
        let rows: Vec<u64> = confidence
            .report()
            .reliability
            .iter()
            .map(|bin| bin.rows)
            .collect();
        assert_eq!(rows, [2, 1]);
    }

    #[test]
    fn thresholds_reach_what_they_promise() {
        let report = counted(|probability| probability);
        for coverage in &report.coverage {
            assert!(coverage.accuracy >= coverage.target);
            // The mean of what is above a threshold t of evenly spread probabilities is (1 + t) / 2.
            let expected = 2.0 * coverage.target - 1.0;
            assert!(
                (coverage.threshold.unwrap() - expected).abs() < 0.011,
                "{coverage:?}"
            );
            assert!((coverage.coverage - (1.0 - expected)).abs() < 0.011);
        }
        assert!(report.curve.len() <= 100 && report.curve.last().is_some_and(|point| point.0 == 1.0));
    }
}
