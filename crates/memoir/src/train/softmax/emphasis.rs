//! How much the rows of each class count: evening out classes of different sizes, and making up for rows that are not there
//! when training goes on from an earlier model.
//!
//! A new class meets only the rows of now; the rows that old classes had earlier never get to push it down, and it would be
//! predicted too often. So the rows of a class that has an unusually large part of its rows in this part count less.

use super::earlier::Earlier;
use crate::data::LabelSets;
use crate::sparse::fixed::Posting;

/// How far rows of young classes count less, from 0 (not at all) to 1 (as if all rows of all classes were here).
const YOUNG_POWER: f32 = 0.5;

/// How much a row counts, by its class; all are 1 where there are none.
#[derive(Debug, Default)]
pub(super) struct Emphasis(Vec<f32>);

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
        let usual = (rows + earlier.rows as f32) / rows;
        let young = |class: usize| {
            let part = all[class] / (now[class] as f32).max(1.0);
            (part / usual).min(1.0).powf(YOUNG_POWER)
        };
        let balancing = |class: usize| all[class].max(1.0).powf(-balance);
        // The mean over the rows stays what it was.
        let labels: f32 = now.iter().map(|&count| count as f32).sum();
        let balanced: f32 = (0..classes)
            .map(|class| now[class] as f32 * balancing(class))
            .sum();
        let scale = labels / balanced.max(f32::MIN_POSITIVE);
        Self(
            (0..classes)
                .map(|class| young(class) * balancing(class) * scale)
                .collect(),
        )
    }

    /// How much a row with these labels counts.
    pub(super) fn row(&self, labels: &[u32]) -> f32 {
        if self.0.is_empty() || labels.is_empty() {
            return 1.0;
        }
        let sum: f32 = labels.iter().map(|&label| self.0[label as usize]).sum();
        sum / labels.len() as f32
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
        assert_eq!((emphasis.row(&[0]), emphasis.row(&[1])), (1.0, 1.0));
    }

    #[test]
    fn balance_goes_from_rows_alike_to_classes_alike() {
        let labels = labels(&[0, 1, 1, 1, 1]);
        let weights = |balance| {
            let emphasis = Emphasis::new(&labels, 2, &Earlier::<Narrow>::nothing(), balance);
            (emphasis.row(&[0]), emphasis.row(&[1]))
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
        assert_eq!(emphasis.row(&[0]), 1.0);
        // All rows of class 1 are here, where a third of all rows is: the root of a third.
        assert!((emphasis.row(&[1]) - (1f32 / 3.0).sqrt()).abs() < 1e-6);
    }
}
