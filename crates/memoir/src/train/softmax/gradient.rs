//! The loss of one row and its gradient with respect to the scores.
//!
//! With labels Y and rivals R (the strongest classes outside Y), the loss of a row is
//!
//! ```text
//! |Y|^(-1/2) * Σ_{y in Y} -ln( e^{s_y} / (e^{s_y} + Σ_{r in R} e^{s_r}) )
//! ```
//!
//! so each label competes with the rivals and never with another label of the same row. With one label this
//! is the softmax over the label and its rivals. The factor keeps rows with many labels from drowning the
//! others.
//!
//! Classes that are no rivals are skipped, but together they hold probability mass. So the sum over R gets a
//! *tail*: a multiple of the weakest rival's mass. It raises the gradient of the labels and lowers no class.

/// A class with the gradient by which its score should rise (labels) or fall (rivals).
pub(super) type Gradient = (u32, f32);

/// The scores that a row's gradients depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowScores<'a> {
    pub(super) labels: &'a [u32],
    /// In the order of the labels.
    pub(super) label_scores: &'a [f32],
    pub(super) rivals: &'a [(u32, f32)],
}

/// Appends the negative gradient for one row to `gradients`. `tail` is the mass of the classes that are no
/// rivals, in masses of the weakest one; `masses` is memory to work in.
pub(super) fn gradients(
    scores: RowScores<'_>,
    tail: f32,
    weight: f32,
    masses: &mut Vec<f32>,
    gradients: &mut Vec<Gradient>,
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
    masses.extend(rivals.iter().map(|rival| exp(rival.1 - top)));
    let weakest = masses.iter().copied().fold(f32::INFINITY, f32::min);
    let rival_mass = masses.iter().sum::<f32>() + tail * weakest;
    // Σ over labels of 1 / (own mass + rival mass): what each rival's mass is multiplied by.
    let mut share = 0.0;
    for (&label, score) in labels.iter().zip(label_scores) {
        let total = exp(score - top) + rival_mass;
        share += 1.0 / total;
        let rise = rival_mass / total;
        if rise > 0.0 {
            gradients.push((label, scale * rise));
        }
    }
    for (&(rival, _), &mass) in rivals.iter().zip(masses.iter()) {
        gradients.push((rival, -scale * mass * share));
    }
}

/// Taylor's series of 2^x: term n is ln(2)^n / n!.
const SERIES: [f32; 7] = {
    let mut terms = [1.0f64; 7];
    let mut series = [1.0; 7];
    let mut n = 1;
    while n < terms.len() {
        terms[n] = terms[n - 1] * std::f64::consts::LN_2 / n as f64;
        series[n] = terms[n] as f32;
        n += 1;
    }
    series
};

/// 1.5 * 2^23: adding it leaves the nearest whole number in the lowest bits.
const SHIFT: f32 = 12_582_912.0;

/// e to the power `x`, which is not positive, with five digits. The compiler takes several at a time, which
/// it cannot where a library is called; and all machines agree.
#[inline]
fn exp(x: f32) -> f32 {
    // Below this the result would have to be subnormal; nobody can tell it from zero.
    let power = (x * std::f32::consts::LOG2_E).max(-126.0);
    let shifted = power + SHIFT;
    // Between -1/2 and 1/2, where the series ends soon enough.
    let rest = power - (shifted - SHIFT);
    let value = SERIES.iter().rev().fold(0.0, |sum, term| sum * rest + term);
    f32::from_bits(value.to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `tail` is the mass behind the rivals, which is taken to stay as it is.
    fn loss(label_scores: &[f64], rivals: &[f64], tail: f64) -> f64 {
        let factor = (label_scores.len() as f64).powf(-0.5);
        let rival_mass = rivals.iter().map(|s| s.exp()).sum::<f64>() + tail;
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
            tail in 0f32..20.0,
        ) {
            let names: Vec<u32> = (0..labels.len() as u32).collect();
            let named: Vec<(u32, f32)> = rivals.iter().enumerate().map(|(i, &s)| (100 + i as u32, s)).collect();
            let mut got = vec![];
            let scores = RowScores { labels: &names, label_scores: &labels, rivals: &named };
            gradients(scores, tail, 1.0, &mut vec![], &mut got);
            prop_assert_eq!(got.len(), labels.len() + rivals.len());
            let weakest = rivals.iter().copied().fold(f32::INFINITY, f32::min);
            let tail = f64::from(tail) * f64::from(weakest).exp();
            let wide = |v: &[f32]| v.iter().map(|&s| f64::from(s)).collect::<Vec<_>>();
            for (position, &(_, gradient)) in got.iter().enumerate() {
                let at = |shift: f64| {
                    let (mut l, mut r) = (wide(&labels), wide(&rivals));
                    if position < l.len() { l[position] += shift } else { r[position - labels.len()] += shift }
                    loss(&l, &r, tail)
                };
                let expected = -(at(1e-4) - at(-1e-4)) / 2e-4;
                prop_assert!((f64::from(gradient) - expected).abs() < 1e-4, "{} {}", gradient, expected);
            }
        }
    }

    fn gradients_of(labels: &[u32], label_scores: &[f32], rivals: &[(u32, f32)]) -> Vec<Gradient> {
        let (mut masses, mut got) = (vec![], vec![]);
        let scores = RowScores {
            labels,
            label_scores,
            rivals,
        };
        gradients(scores, 0.0, 1.0, &mut masses, &mut got);
        got
    }

    #[test]
    fn powers_of_e_are_right_to_five_digits() {
        for x in (0..=8700).map(|step| -0.01 * step as f32) {
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 1e-5, "{x}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1000.0) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn extreme_scores_give_finite_gradients() {
        let got = gradients_of(&[0], &[-500.0], &[(1, 700.0), (2, -700.0)]);
        assert_eq!(got[..2], [(0, 1.0), (1, -1.0)]);
        assert!(got[2].1.abs() < 1e-30);
    }

    #[test]
    fn nothing_to_learn_without_labels_or_rivals() {
        assert!(gradients_of(&[], &[], &[(1, 0.0)]).is_empty());
        assert!(gradients_of(&[1], &[1.0], &[]).is_empty());
    }
}
