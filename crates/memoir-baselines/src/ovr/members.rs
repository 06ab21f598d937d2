//! Which rows some of the classes have.

use std::ops::Range;

use memoir::dataset::LabelSets;

/// The rows of each of some classes. The rows of all classes would take as much memory again as the labels.
pub(super) struct Members {
    first: usize,
    /// Class `first + n` has the rows `rows[ends[n]..ends[n + 1]]`.
    ends: Vec<usize>,
    rows: Vec<u32>,
}

impl Members {
    /// The rows of `classes`.
    pub(super) fn of(labels: &LabelSets, classes: Range<usize>) -> Self {
        let first = classes.start;
        let index = |class: u32| {
            let is_asked_for = classes.contains(&(class as usize));
            is_asked_for.then(|| class as usize - first)
        };
        let mut ends = vec![0; classes.len() + 1];
        for class in labels.iter().flatten().filter_map(|&class| index(class)) {
            ends[class + 1] += 1;
        }
        let mut total = 0;
        // Each end starts as its class's beginning and moves to the end while the rows are filled in.
        for end in &mut ends[1..] {
            total += std::mem::replace(end, total);
        }
        let mut rows = vec![0; total];
        for (row, labels) in labels.iter().enumerate() {
            for class in labels.iter().filter_map(|&class| index(class)) {
                let end = &mut ends[class + 1];
                rows[*end] = row as u32;
                *end += 1;
            }
        }
        Self { first, ends, rows }
    }

    /// The rows of a class in their order.
    pub(super) fn of_class(&self, class: usize) -> &[u32] {
        let index = class - self.first;
        &self.rows[self.ends[index]..self.ends[index + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_rows_whatever_the_part() {
        let mut labels = LabelSets::new();
        for row in 0..200u32 {
            // Several labels, one or none.
            labels.push((0..row % 3).map(|label| (row * 7 + label * 5) % 11));
        }
        for part in [0..11, 0..4, 4..9, 10..11, 3..3] {
            let members = Members::of(&labels, part.clone());
            for class in part {
                let expected: Vec<u32> = (0..200)
                    .filter(|&row| labels.row(row as usize).contains(&(class as u32)))
                    .collect();
                assert!(!expected.is_empty());
                assert_eq!(members.of_class(class), expected);
            }
        }
    }
}
