//! How much the rows of each class count: evening out classes of different sizes, and making up for rows that are not there
//! when training goes on from an earlier model.
//!
//! A new class meets only the rows of now; the rows that old classes had earlier never get to push it down, and it would be
//! predicted too often. So the rows of a class that has an unusually large part of its rows in this part count less.
//!
//! Where the model kept some of the old rows, these are repeated. They were learned from before, so they count little for their own
//! classes and old rivals, or they would be learned by heart; against new classes, which they have not met, they count as
//! the rows that they stand for.

use super::earlier::Earlier;
use super::gradient::Slope;
use crate::data::LabelSets;
use crate::sparse::fixed::Posting;

/// How far rows of young classes count less, from 0 (not at all) to 1 (as if all rows of all classes were here).
const YOUNG_POWER: f32 = 0.5;

/// The same where old rows are repeated.
const YOUNG_POWER_REPEATED: f32 = 0.25;

/// How much a repeated row counts.
const REPEATED: f32 = 0.25;

/// The share of the rows that a repeated row stands for, as which it counts against a class that is all new.
const STANDS_FOR: f32 = 0.5;

/// No slope is multiplied by more than this: few rows cannot stand for very many.
const MOST_AGAINST: f32 = 20.0;

/// How much rows count, by their class.
#[derive(Debug, Default)]
pub(super) struct Emphasis {
    /// Rows of now; all count 1 where there are none.
    new: Vec<f32>,
    /// Rows that are repeated.
    repeated: Vec<f32>,
    /// What the slope of a rival is multiplied by in a repeated row.
    against: Vec<f32>,
}

impl Emphasis {
    /// For rows with `labels`; `balance` is from 0 (rows as they come) to 1 (every class alike).
    pub(super) fn new<P: Posting>(
        labels: &LabelSets,
        classes: usize,
        earlier: &Earlier<P>,
        balance: f32,
    ) -> Self {
        if balance == 0.0 && earlier.rows == 0 {
            return Self::default();
        }
        let now = labels.class_counts(classes);
        let all: Vec<f32> = (0..classes)
            .map(|class| now[class] as f32 + earlier.class_counts.get(class).copied().unwrap_or(0) as f32)
            .collect();
        let rows = labels.len().max(1) as f32;
        let repeats = earlier.rehearsal.len() as f32;
        let young_power = if repeats > 0.0 {
            YOUNG_POWER_REPEATED
        } else {
            YOUNG_POWER
        };
        let usual = (rows + earlier.rows as f32) / rows;
        let young = |class: usize| {
            let part = all[class] / (now[class] as f32).max(1.0);
            (part / usual).min(1.0).powf(young_power)
        };
        let balancing = |class: usize| all[class].max(1.0).powf(-balance);
        // The mean over the rows stays what it was.
        let labels: f32 = now.iter().map(|&count| count as f32).sum();
        let balanced: f32 = (0..classes)
            .map(|class| now[class] as f32 * balancing(class))
            .sum();
        let scale = labels / balanced.max(f32::MIN_POSITIVE);
        let against = |class: usize| {
            let stands_for = STANDS_FOR * earlier.rows as f32 / (repeats * REPEATED);
            let new = now[class] as f32 / all[class].max(1.0);
            1.0 + new * new * (stands_for.min(MOST_AGAINST) - 1.0).max(0.0)
        };
        let repeatable = 0..if repeats > 0.0 { classes } else { 0 };
        Self {
            new: (0..classes)
                .map(|class| young(class) * balancing(class) * scale)
                .collect(),
            repeated: repeatable
                .clone()
                .map(|class| REPEATED * balancing(class) * scale)
                .collect(),
            against: repeatable.map(against).collect(),
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

    /// Lets a repeated row push classes down that it has not met.
    pub(super) fn push_down(&self, slopes: &mut [Slope]) {
        for (rival, slope) in slopes.iter_mut().filter(|(_, slope)| *slope < 0.0) {
            *slope *= self.against[*rival as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::fixed::Narrow;

    fn labels(of: &[u32]) -> LabelSets {
        let mut labels = LabelSets::new();
        for &label in of {
            labels.push([label]);
        }
        labels
    }

    #[test]
    fn rows_count_alike_unless_asked() {
        let emphasis = Emphasis::new(&labels(&[0, 1, 1]), 2, &Earlier::<Narrow>::nothing(), 0.0);
        assert_eq!((emphasis.row(&[0], false), emphasis.row(&[1], false)), (1.0, 1.0));
    }

    #[test]
    fn balance_goes_from_rows_alike_to_classes_alike() {
        let labels = labels(&[0, 1, 1, 1, 1]);
        let weights = |balance| {
            let emphasis = Emphasis::new(&labels, 2, &Earlier::<Narrow>::nothing(), balance);
            (emphasis.row(&[0], false), emphasis.row(&[1], false))
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
    fn rows_of_new_classes_count_less() {
        let mut earlier = Earlier::<Narrow>::nothing();
        earlier.class_counts = vec![6, 0];
        earlier.rows = 6;
        let emphasis = Emphasis::new(&labels(&[0, 0, 1]), 2, &earlier, 0.0);
        assert_eq!(emphasis.row(&[0], false), 1.0);
        // All rows of class 1 are here, where a third of all rows is: the root of a third.
        assert!((emphasis.row(&[1], false) - (1f32 / 3.0).sqrt()).abs() < 1e-6);
    }

    #[test]
    fn repeated_rows_count_little_except_against_new_classes() {
        let mut earlier = Earlier::<Narrow>::nothing();
        earlier.class_counts = vec![12, 6, 0];
        earlier.rows = 18;
        for label in [0, 0, 1] {
            earlier.rehearsal.rows.push_unsorted(&mut vec![(0, 1.0)]);
            earlier.rehearsal.labels.push([label]);
        }
        let emphasis = Emphasis::new(&labels(&[0, 1, 2, 2]), 3, &earlier, 0.0);
        assert_eq!(emphasis.row(&[0], true), REPEATED);
        let mut slopes = vec![(1, 0.5), (0, -0.25), (2, -0.25)];
        emphasis.push_down(&mut slopes);
        assert_eq!(slopes[0], (1, 0.5), "labels rise as before");
        assert!(slopes[1].1 > -0.27, "an old class was pushed down before");
        // Each of three rows stands for six.
        assert!(
            (slopes[2].1 * REPEATED + 0.25 * STANDS_FOR * 6.0).abs() < 1e-4,
            "{slopes:?}"
        );
    }
}
