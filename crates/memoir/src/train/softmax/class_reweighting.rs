//! How much the rows of each class count: evening out classes of different sizes, and making up for rows
//! that are not there when training goes on from an base model.
//!
//! New classes have a larger share of the rows of now than of all rows, and a softmax learned from these
//! alone would predict them too often. So while it is learned, the score of each class is shifted by the
//! logarithm of how much larger its share is here: what the share alone explains is not learned. By all of
//! it, if the old classes have rows here, however few; by half of it if they have none, because then nothing
//! would tell new classes and old ones apart. Classes that have most of their rows behind them move slowly,
//! as a few rows are not to undo what many did.
//!
//! Where the model kept some of the old rows, these are repeated. They were learned from before, so they
//! count little for their own classes and old rivals, or they would be learned by heart; against new
//! classes, which they have not met, they count for more.

use super::base_weights::BaseWeights;
use super::gradient::Gradient;
use crate::dataset::LabelSets;
use crate::maths;
use crate::sparse::fixed_point::Posting;

/// The part of the logarithm of shares by which scores are shifted where no old class has rows here;
/// measured, like the constants below, on streams of parts with new classes.
const LEAST_SHIFT: f32 = 0.5;

/// A class without rows here is shifted as if it had this part of the rows that it has elsewhere.
const LEAST_SHARE: f32 = 0.1;

/// Classes move by this power of how much of their rows are here, compared with all classes'.
const PACE_POWER: f32 = 0.7;

/// No class is taken to have less than this part of its rows here, compared with all classes'.
const LEAST_PACE: f32 = 0.1;

/// How much a repeated row counts.
const REPEATED: f32 = 0.25;

/// The share of the rows that a repeated row stands for, as which it counts against a class that is all new.
const STANDS_FOR: f32 = 0.1;

/// No gradient is multiplied by more than this: few rows cannot stand for very many.
const MOST_AGAINST: f32 = 20.0;

/// How much rows count, by their class.
#[derive(Debug, Default)]
pub(super) struct ClassReweighting {
    /// Rows of now; all count 1 where there are none.
    new: Vec<f32>,
    /// Rows that are repeated.
    repeated: Vec<f32>,
    /// What the gradient of a rival is multiplied by in a repeated row.
    against: Vec<f32>,
    /// What is added to the score of a class before gradients are taken; nothing where there are none.
    shifts: Vec<f32>,
    /// What gradients of a class are multiplied by; 1 where there are none.
    learning_rates: Vec<f32>,
}

impl ClassReweighting {
    /// For rows with `labels`; `balance` is from 0 (rows as they come) to 1 (every class alike).
    pub(super) fn new<P: Posting>(
        labels: &LabelSets,
        classes: usize,
        base: &BaseWeights<P>,
        balance: f32,
    ) -> Self {
        if balance == 0.0 && base.rows == 0 {
            return Self::default();
        }
        let now = labels.class_counts(classes);
        let all: Vec<f32> = (0..classes)
            .map(|class| now[class] as f32 + base.class_counts.get(class).copied().unwrap_or(0) as f32)
            .collect();
        let rows = labels.len().max(1) as f32;
        let repeats = base.replay.len() as f32;
        let usual = (rows + base.rows as f32) / rows;
        let balancing = |class: usize| maths::powf(all[class].max(1.0), -balance);
        // The mean over the rows stays what it was.
        let labels: f32 = now.iter().map(|&count| count as f32).sum();
        let balanced: f32 = (0..classes)
            .map(|class| now[class] as f32 * balancing(class))
            .sum();
        let scale = labels / balanced.max(f32::MIN_POSITIVE);
        let against = |class: usize| {
            let stands_for = STANDS_FOR * base.rows as f32 / (repeats * REPEATED);
            let new = now[class] as f32 / all[class].max(1.0);
            1.0 + new * new * (stands_for.min(MOST_AGAINST) - 1.0).max(0.0)
        };
        let strength = shift_strength(&base.class_counts, &now);
        let repeated = base.replay.labels.class_counts(classes);
        let shift = |class: usize| {
            let here = now[class] as f32 + REPEATED * repeated[class] as f32;
            let share = here / (rows + REPEATED * repeats);
            let overall = all[class].max(1.0) / (rows + base.rows as f32);
            strength * maths::ln((share / overall + LEAST_SHARE) / (1.0 + LEAST_SHARE))
        };
        let rate = |class: usize| {
            let here = now[class] as f32 / all[class].max(1.0) * usual;
            maths::powf(here.clamp(LEAST_PACE, 1.0), PACE_POWER)
        };
        let continued = 0..if base.rows > 0 { classes } else { 0 };
        let repeatable = 0..if repeats > 0.0 { classes } else { 0 };
        Self {
            new: (0..classes).map(|class| balancing(class) * scale).collect(),
            repeated: repeatable
                .clone()
                .map(|class| REPEATED * balancing(class) * scale)
                .collect(),
            against: repeatable.map(against).collect(),
            shifts: continued.clone().map(shift).collect(),
            learning_rates: continued.map(rate).collect(),
        }
    }

    /// How much a row with these labels counts.
    pub(super) fn row(&self, labels: &[u32], repeated: bool) -> f32 {
        let of_class = if repeated { &self.repeated } else { &self.new };
        if of_class.is_empty() || labels.is_empty() {
            return 1.0;
        }
        let sum: f32 = labels.iter().map(|&label| of_class[label as usize]).sum();
        sum / labels.len() as f32
    }

    /// What is added to the score of `class` before gradients are taken.
    pub(super) fn shift(&self, class: u32) -> f32 {
        self.shifts.get(class as usize).copied().unwrap_or(0.0)
    }

    /// Whether scores are shifted at all.
    pub(super) fn shifts(&self) -> bool {
        !self.shifts.is_empty()
    }

    /// The gradients of one row by class, as they are to be applied: a repeated row pushes classes down that
    /// it has not met, and classes move at their own rate.
    pub(super) fn adapt(&self, gradients: &mut [Gradient], repeated: bool) {
        if self.learning_rates.is_empty() {
            return;
        }
        for (class, gradient) in gradients {
            if repeated && *gradient < 0.0 {
                *gradient *= self.against[*class as usize];
            }
            *gradient *= self.learning_rates[*class as usize];
        }
    }
}

/// By which part of the logarithm of shares scores are shifted: the more, the more of the old rows have a
/// class that has rows now.
fn shift_strength(before: &[u32], now: &[u32]) -> f32 {
    let rows = |counts: &mut dyn Iterator<Item = u32>| counts.map(f64::from).sum::<f64>();
    let all = rows(&mut before.iter().copied());
    let with_rows = before.iter().zip(now).filter(|(_, now)| **now > 0);
    let covered = rows(&mut with_rows.map(|(&before, _)| before)) / all.max(1.0);
    LEAST_SHIFT + (1.0 - LEAST_SHIFT) * (covered * covered) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::fixed_point::Narrow;

    fn labels(of: &[u32]) -> LabelSets {
        let mut labels = LabelSets::new();
        for &label in of {
            labels.push([label]);
        }
        labels
    }

    #[test]
    fn rows_count_alike_unless_asked() {
        let reweighting = ClassReweighting::new(&labels(&[0, 1, 1]), 2, &BaseWeights::<Narrow>::none(), 0.0);
        assert_eq!(
            (reweighting.row(&[0], false), reweighting.row(&[1], false)),
            (1.0, 1.0)
        );
    }

    #[test]
    fn balance_goes_from_rows_alike_to_classes_alike() {
        let labels = labels(&[0, 1, 1, 1, 1]);
        let weights = |balance| {
            let reweighting = ClassReweighting::new(&labels, 2, &BaseWeights::<Narrow>::none(), balance);
            (reweighting.row(&[0], false), reweighting.row(&[1], false))
        };
        let (small, large) = weights(1.0);
        assert!((small - 4.0 * large).abs() < 1e-6, "each class has the same sum");
        assert!(
            (small + 4.0 * large - 5.0).abs() < 1e-5,
            "and all together as before"
        );
        let (small, large) = weights(0.5);
        assert!((small - 2.0 * large).abs() < 1e-6);
    }

    #[test]
    fn new_classes_are_ahead_while_learned_and_old_ones_move_slowly() {
        let mut base = BaseWeights::<Narrow>::none();
        base.class_counts = vec![6, 0, 9];
        base.rows = 15;
        let reweighting = ClassReweighting::new(&labels(&[0, 0, 0, 1, 1]), 3, &base, 0.0);
        let [old, new, away] = [0, 1, 2].map(|class| reweighting.shift(class));
        // Six of fifteen old rows have a class that has rows here.
        let strength = 0.5f32 + 0.5 * 0.4 * 0.4;
        // All rows of class 1 are here, where a quarter of all rows is.
        assert!((new - strength * (4.1f32 / 1.1).ln()).abs() < 1e-5, "{new}");
        assert!(
            (old - strength * (1.433_333_f32 / 1.1).ln()).abs() < 1e-5,
            "{old}"
        );
        assert!((away - strength * (0.1f32 / 1.1).ln()).abs() < 1e-5, "{away}");
        let mut gradients = vec![(0, 1.0), (1, -1.0), (2, -1.0)];
        reweighting.adapt(&mut gradients, false);
        assert_eq!(
            gradients,
            [(0, 1.0), (1, -1.0), (2, -LEAST_PACE.powf(PACE_POWER))]
        );
    }

    #[test]
    fn shifts_are_whole_where_every_old_class_has_rows() {
        assert!((shift_strength(&[6, 9], &[1, 1, 4]) - 1.0).abs() < 1e-6);
        assert!((shift_strength(&[6, 9], &[0, 0, 4]) - LEAST_SHIFT).abs() < 1e-6);
    }

    #[test]
    fn repeated_rows_count_little_except_against_new_classes() {
        let mut base = BaseWeights::<Narrow>::none();
        base.class_counts = vec![80, 40, 0];
        base.rows = 120;
        for label in [0, 0, 1] {
            base.replay.rows.push_unsorted(&mut vec![(0, 1.0)]);
            base.replay.labels.push([label]);
        }
        let reweighting = ClassReweighting::new(&labels(&[0, 0, 1, 2, 2]), 3, &base, 0.0);
        assert_eq!(reweighting.row(&[0], true), REPEATED);
        let mut gradients = vec![(1, 0.5), (0, -0.25), (2, -0.25)];
        let mut as_new = gradients.clone();
        reweighting.adapt(&mut as_new, false);
        reweighting.adapt(&mut gradients, true);
        assert_eq!(gradients[0], as_new[0], "labels rise as before");
        assert!(
            gradients[1].1 > 1.01 * as_new[1].1,
            "an old class was pushed down before"
        );
        // Each of three rows stands for forty.
        assert!(
            (gradients[2].1 * REPEATED + 0.25 * STANDS_FOR * 40.0).abs() < 1e-4,
            "{gradients:?}"
        );
    }
}
