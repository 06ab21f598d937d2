//! A sample of the data by classes: fewer classes, each with as many rows as in the whole.
//!
//! A sample of rows would leave classes with few rows each. Settings that suit them suit the whole less.

use rand::Rng;
use rand::seq::SliceRandom;

use super::LabelSets;

/// Some classes and some of their rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassSample {
    /// For each class, its number in the sample, if it is in it.
    pub(crate) numbers: Vec<Option<u32>>,
    /// How many classes there are.
    pub(crate) classes: usize,
    /// The rows that have one of the classes, in random order.
    pub(crate) rows: Vec<usize>,
}

impl ClassSample {
    /// Draws classes until they have `most_rows` labels and there are `fewest_classes`, then at most
    /// `most_rows` of their rows. Only rows that `usable` allows count. The same randomness with more rows
    /// draws the same classes and others in addition.
    pub(crate) fn draw(
        labels: &LabelSets,
        usable: impl Fn(usize) -> bool,
        most_rows: usize,
        fewest_classes: usize,
        random: &mut impl Rng,
    ) -> Self {
        let classes = labels.flat().iter().max().map_or(0, |&class| class as usize + 1);
        let mut counts = vec![0usize; classes];
        let usable_rows: Vec<usize> = (0..labels.len()).filter(|&row| usable(row)).collect();
        for &row in &usable_rows {
            for &class in labels.row(row) {
                counts[class as usize] += 1;
            }
        }
        let mut order: Vec<usize> = (0..classes).collect();
        order.shuffle(random);
        let mut numbers = vec![None; classes];
        let (mut chosen, mut labels_chosen) = (0, 0);
        for class in order {
            if chosen >= fewest_classes && labels_chosen >= most_rows {
                break;
            }
            if counts[class] > 0 {
                numbers[class] = Some(chosen as u32);
                labels_chosen += counts[class];
                chosen += 1;
            }
        }
        let is_chosen = |row: &usize| {
            let of_row = labels.row(*row).iter();
            of_row.clone().any(|&class| numbers[class as usize].is_some())
        };
        let mut rows: Vec<usize> = usable_rows.into_iter().filter(is_chosen).collect();
        rows.shuffle(random);
        rows.truncate(most_rows);
        Self {
            numbers,
            classes: chosen,
            rows,
        }
    }

    /// Whether `class` is in it.
    pub(crate) fn contains(&self, class: u32) -> bool {
        self.numbers.get(class as usize).is_some_and(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn samples_hold_whole_classes_and_grow() {
        let mut labels = LabelSets::new();
        for row in 0..1000u32 {
            labels.push([row % 50]);
        }
        let draw = |rows, seed| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            ClassSample::draw(&labels, |row| row >= 500, rows, 2, &mut random)
        };
        let small = draw(100, 1);
        assert_eq!((small.classes, small.rows.len()), (10, 100));
        for &row in &small.rows {
            assert!(row >= 500 && small.contains(labels.row(row)[0]));
        }
        let large = draw(200, 1);
        assert_eq!(large.classes, 20);
        assert!((0..50).all(|class| !small.contains(class) || large.contains(class)));
        assert_eq!(draw(100, 1), small);
        assert_ne!(draw(100, 2), small);
    }
}
