//! Which rows belong to a class.

use super::LabelSets;

/// The rows of each class; a row with several labels is in several classes.
#[derive(Debug)]
pub struct RowsByClass {
    /// Start of each class's rows, and one past the end.
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl RowsByClass {
    /// Sorts the rows by class; within a class they stay in order.
    pub fn new(labels: &LabelSets) -> Self {
        let classes = labels
            .iter()
            .flatten()
            .max()
            .map_or(0, |&label| label as usize + 1);
        let mut starts = vec![0; classes + 1];
        for (class, count) in labels.class_counts(classes).into_iter().enumerate() {
            starts[class + 1] = starts[class] + count as usize;
        }
        let mut next = starts.clone();
        let mut rows = vec![0; labels.total()];
        for (row, labels) in (0u32..).zip(labels.iter()) {
            for &label in labels {
                rows[next[label as usize]] = row;
                next[label as usize] += 1;
            }
        }
        Self { starts, rows }
    }

    /// One more than the highest class that occurs.
    pub fn classes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where the rows of each class begin in the second part, and the end; the rows, class after class.
    pub(crate) fn parts(&self) -> (&[usize], &[u32]) {
        (&self.starts, &self.rows)
    }

    /// The rows of `class`.
    pub fn rows(&self, class: usize) -> &[u32] {
        &self.rows[self.starts[class]..self.starts[class + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_under_each_of_their_labels() {
        let mut labels = LabelSets::new();
        for row in [&[2, 0][..], &[], &[2]] {
            labels.push(row.iter().copied());
        }
        let by_class = RowsByClass::new(&labels);
        let all: Vec<_> = (0..by_class.classes())
            .map(|class| by_class.rows(class))
            .collect();
        assert_eq!(all, [&[0][..], &[], &[0, 2]]);
    }
}
