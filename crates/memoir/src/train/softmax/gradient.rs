//! The loss of one row and its gradient with respect to the scores.
//!
//! With labels Y and rivals R (the strongest classes outside Y), the loss of a row is
//!
//! ```text
//! |Y|^(-1/2) * Σ_{y in Y} -ln( e^{s_y} / (e^{s_y} + Σ_{r in R} e^{s_r}) )
//! ```
//!
//! so each label competes with the rivals and never with another label of the same row. With one label this is the
//! softmax over the label and its rivals. The factor keeps rows with many labels from drowning the others.

/// A class with the slope by which its score should rise (labels) or fall (rivals).
pub(super) type Slope = (u32, f32);

/// The scores that a row's slopes depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowScores<'a> {
    pub(super) labels: &'a [u32],
    /// In the order of the labels.
    pub(super) label_scores: &'a [f32],
    pub(super) rivals: &'a [(u32, f32)],
}

/// Appends the negative gradient for one row to `slopes`. Slopes smaller than `least` are left out: they are many, and
/// each costs as much to apply as a large one. `masses` is memory to work in.
pub(super) fn slopes(
    scores: RowScores<'_>,
    least: f32,
    weight: f32,
    masses: &mut Vec<f32>,
    slopes: &mut Vec<Slope>,
) {
    let RowScores {
        labels,
        label_scores,
        rivals,
    } = scores;
    masses.clear();
    if labels.is_empty() || rivals.is_empty() {
        return;
    }
    let scale = weight / (labels.len() as f32).sqrt();
    let top = label_scores
        .iter()
        .copied()
        .chain(rivals.iter().map(|rival| rival.1))
        .fold(f32::NEG_INFINITY, f32::max);
    masses.extend(rivals.iter().map(|rival| (rival.1 - top).exp()));
    let rival_mass: f32 = masses.iter().sum();
    // Σ over labels of 1 / (own mass + rival mass): what each rival's mass is multiplied by.
    let mut share = 0.0;
    for (&label, score) in labels.iter().zip(label_scores) {
        let total = (score - top).exp() + rival_mass;
        share += 1.0 / total;
        let rise = rival_mass / total;
        if rise > 0.0 && rise >= least {
            slopes.push((label, scale * rise));
        }
    }
    for (&(rival, _), &mass) in rivals.iter().zip(masses.iter()) {
        let fall = mass * share;
        if fall >= least {
            slopes.push((rival, -scale * fall));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn loss(label_scores: &[f64], rivals: &[f64]) -> f64 {
        let factor = (label_scores.len() as f64).powf(-0.5);
        let rival_mass: f64 = rivals.iter().map(|s| s.exp()).sum();
        label_scores
            .iter()
            .map(|s| -(s.exp() / (s.exp() + rival_mass)).ln())
            .sum::<f64>()
            * factor
    }

    proptest! {
        #[test]
        fn agrees_with_finite_differences(
            labels in proptest::collection::vec(-4f32..4.0, 1..5),
            rivals in proptest::collection::vec(-4f32..4.0, 1..8),
        ) {
            let names: Vec<u32> = (0..labels.len() as u32).collect();
            let named: Vec<(u32, f32)> = rivals.iter().enumerate().map(|(i, &s)| (100 + i as u32, s)).collect();
            let mut got = vec![];
            let scores = RowScores { labels: &names, label_scores: &labels, rivals: &named };
            slopes(scores, 0.0, 1.0, &mut vec![], &mut got);
            prop_assert_eq!(got.len(), labels.len() + rivals.len());
            let wide = |v: &[f32]| v.iter().map(|&s| f64::from(s)).collect::<Vec<_>>();
            for (position, &(_, slope)) in got.iter().enumerate() {
                let at = |shift: f64| {
                    let (mut l, mut r) = (wide(&labels), wide(&rivals));
                    if position < l.len() { l[position] += shift } else { r[position - labels.len()] += shift }
                    loss(&l, &r)
                };
                let expected = -(at(1e-4) - at(-1e-4)) / 2e-4;
                prop_assert!((f64::from(slope) - expected).abs() < 1e-4, "{} {}", slope, expected);
            }
        }
    }

    fn slopes_of(labels: &[u32], label_scores: &[f32], rivals: &[(u32, f32)], least: f32) -> Vec<Slope> {
        let (mut masses, mut got) = (vec![], vec![]);
        let scores = RowScores {
            labels,
            label_scores,
            rivals,
        };
        slopes(scores, least, 1.0, &mut masses, &mut got);
        got
    }

    #[test]
    fn small_slopes_are_left_out() {
        let got = slopes_of(&[0], &[0.0], &[(1, 0.0), (2, -9.0)], 0.02);
        assert_eq!(got.iter().map(|slope| slope.0).collect::<Vec<_>>(), [0, 1]);
        let got = slopes_of(&[0], &[9.0], &[(1, 0.0), (2, 0.0)], 0.02);
        assert!(got.is_empty(), "a row that is already right moves nothing");
    }

    #[test]
    fn extreme_scores_give_finite_slopes() {
        let got = slopes_of(&[0], &[-500.0], &[(1, 700.0), (2, -700.0)], 0.01);
        assert_eq!(got, [(0, 1.0), (1, -1.0)]);
    }

    #[test]
    fn nothing_to_learn_without_labels_or_rivals() {
        assert!(slopes_of(&[], &[], &[(1, 0.0)], 0.0).is_empty());
        assert!(slopes_of(&[1], &[1.0], &[], 0.0).is_empty());
    }
}
