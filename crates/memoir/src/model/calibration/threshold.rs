//! From which probability on a class is one of a row's labels.

use super::{CANDIDATES, Calibration, HeldOutScores};

/// The probability that gives the highest F1 over all labels of `sample`, if there is a right answer at all.
pub(super) fn best_threshold(calibration: &Calibration, sample: &HeldOutScores) -> Option<f32> {
    let mut candidates: Vec<(f32, bool)> = Vec::new();
    let mut labels = 0;
    let mut probabilities = Vec::new();
    for row in sample.all_rows() {
        labels += row.labels.len();
        let best = &row.best[..row.best.len().min(CANDIDATES)];
        calibration.probabilities(row.known, best, &mut probabilities);
        let right = best.iter().map(|scored| row.labels.contains(&scored.class));
        candidates.extend(probabilities.iter().copied().zip(right));
    }
    candidates.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut best = None;
    let (mut right, mut given) = (0usize, 0usize);
    for equal in candidates.chunk_by(|left, right| left.0 == right.0) {
        right += equal.iter().filter(|candidate| candidate.1).count();
        given += equal.len();
        let f1 = 2.0 * right as f64 / (given + labels) as f64;
        if right > 0 && best.is_none_or(|(highest, _)| f1 > highest) {
            best = Some((f1, equal[0].0));
        }
    }
    best.map(|(_, threshold)| threshold)
}

#[cfg(test)]
mod tests {
    use super::super::Basis;
    use super::*;
    use crate::sparse::Scored;

    /// Rows with one or two labels; the score tells how likely a class is one of them.
    fn sample() -> HeldOutScores {
        let mut sample = HeldOutScores::default();
        for row in 0..400u32 {
            let lead = (row % 20) as f32 / 4.0;
            let best: Vec<Scored> = (0..12)
                .map(|class| Scored {
                    class,
                    score: lead * (2.0 - class as f32 * 0.7),
                })
                .collect();
            let labels: &[u32] = match row % 20 {
                0..4 => &[15],
                4..12 => &[0],
                _ => &[0, 1],
            };
            sample.push(5, &best, labels);
        }
        sample
    }

    #[test]
    fn no_other_threshold_has_a_higher_f1() {
        let sample = sample();
        let calibration = Calibration::fit(&sample, Basis::HeldOut).unwrap();
        let f1 = |threshold: f32| {
            let (mut right, mut given, mut labels, mut out) = (0, 0, 0, Vec::new());
            for row in sample.all_rows() {
                labels += row.labels.len();
                calibration.probabilities(row.known, &row.best[..CANDIDATES], &mut out);
                for (scored, _) in row.best.iter().zip(&out).filter(|(_, p)| **p >= threshold) {
                    given += 1;
                    right += usize::from(row.labels.contains(&scored.class));
                }
            }
            2.0 * right as f64 / (given + labels).max(1) as f64
        };
        let chosen = calibration.threshold.unwrap();
        assert!(f1(chosen) > 0.8, "{chosen} gives {}", f1(chosen));
        for step in 0..=100 {
            assert!(
                f1(step as f32 / 100.0) <= f1(chosen),
                "{step} is better than {chosen}"
            );
        }
    }
}
