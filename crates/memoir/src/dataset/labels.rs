//! The labels of each row.

use crate::sparse::prefetch;

/// The set of labels of each row; most often one, sometimes none or several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabelSets {
    /// Where each row's labels begin and, behind them, where the last one's end. Empty as long as every row
    /// has exactly one label: most data never needs it.
    ends: Vec<usize>,
    labels: Vec<u32>,
}

impl LabelSets {
    /// No rows yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the labels of a row; the set is kept sorted and without repeats.
    pub fn push(&mut self, labels: impl IntoIterator<Item = u32>) {
        let start = self.labels.len();
        self.labels.extend(labels);
        if self.labels.len() - start > 1 {
            self.labels[start..].sort_unstable();
            let mut kept = start + 1;
            for next in start + 1..self.labels.len() {
                if self.labels[next] != self.labels[kept - 1] {
                    self.labels[kept] = self.labels[next];
                    kept += 1;
                }
            }
            self.labels.truncate(kept);
        }
        let is_first_other = self.ends.is_empty() && self.labels.len() != start + 1;
        if is_first_other {
            self.ends.extend(0..=start);
        }
        if !self.ends.is_empty() {
            self.ends.push(self.labels.len());
        }
    }

    /// The sorted labels of a row.
    pub fn row(&self, index: usize) -> &[u32] {
        if self.ends.is_empty() {
            std::slice::from_ref(&self.labels[index])
        } else {
            &self.labels[self.ends[index]..self.ends[index + 1]]
        }
    }

    /// Prefetches where a row's labels are; for these [`LabelSets::prefetch`] can be called then.
    pub(crate) fn prefetch_offset(&self, index: usize) {
        if !self.ends.is_empty() {
            prefetch(&self.ends, index);
        }
    }

    /// Asks for the labels of a row that will be needed soon.
    pub(crate) fn prefetch(&self, index: usize) {
        let index = if self.ends.is_empty() {
            index
        } else {
            self.ends[index]
        };
        prefetch(&self.labels, index);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        if self.ends.is_empty() {
            self.labels.len()
        } else {
            self.ends.len() - 1
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of labels of all rows together.
    pub fn total(&self) -> usize {
        self.labels.len()
    }

    /// Whether each row has exactly one label.
    pub fn is_single(&self) -> bool {
        self.ends.is_empty()
    }

    /// The label sets in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// Number of rows of each of `classes` classes.
    pub fn class_counts(&self, classes: usize) -> Vec<u32> {
        let mut counts = vec![0; classes];
        for &label in &self.labels {
            counts[label as usize] += 1;
        }
        counts
    }

    /// Makes sure that so many more rows and labels fit; takes no more memory than needed.
    pub fn make_room(&mut self, rows: usize, labels: usize) {
        if !self.ends.is_empty() && self.ends.capacity() - self.ends.len() < rows {
            self.ends.reserve_exact(rows);
        }
        if self.labels.capacity() - self.labels.len() < labels {
            self.labels.reserve_exact(labels);
        }
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.labels.clear();
    }

    /// Gives spare capacity back.
    pub fn shrink_to_fit(&mut self) {
        self.ends.shrink_to_fit();
        self.labels.shrink_to_fit();
    }

    /// The same sets with other numbers: label `n` becomes `numbers[n]`.
    pub fn renumbered(self, numbers: &[u32]) -> Self {
        if numbers.iter().copied().eq(0..numbers.len() as u32) {
            return self;
        }
        let mut sets = Self::new();
        for row in self.iter() {
            sets.push(row.iter().map(|&label| numbers[label as usize]));
        }
        sets
    }

    /// All labels of all rows, one after the other.
    pub(super) fn flat(&self) -> &[u32] {
        &self.labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_sets_are_sorted_sets() {
        let mut labels = LabelSets::new();
        labels.push([3, 1, 3, 2, 1]);
        labels.push([]);
        labels.push([7]);
        assert_eq!(labels.row(0), [1, 2, 3]);
        assert_eq!(labels.row(1), [0u32; 0]);
        assert_eq!(labels.total(), 4);
        assert!(!labels.is_single());
        assert_eq!(labels.class_counts(8), [0, 1, 1, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn single_labels_become_sets_when_one_row_is_not_single() {
        let mut labels = LabelSets::new();
        let single: Vec<u32> = (0..9).map(|row| row % 4).collect();
        for &label in &single {
            labels.push([label, label]);
        }
        assert!(labels.is_single() && labels.len() == 9 && labels.ends.is_empty());
        assert!(labels.iter().eq(single.chunks(1)));
        for other in [vec![], vec![1, 3]] {
            let mut more = labels.clone();
            more.push(other.iter().copied());
            more.push([2]);
            assert!(!more.is_single());
            let expected = single.chunks(1).chain([&other[..], &[2]]);
            assert!(more.iter().eq(expected));
            more.clear();
            assert!(more.is_empty() && more == LabelSets::new());
        }
    }

    #[test]
    fn renumbering_keeps_sets_sorted() {
        let mut labels = LabelSets::new();
        labels.push([0, 2]);
        labels.push([]);
        let renumbered = labels.clone().renumbered(&[5, 1, 3]);
        assert!(renumbered.iter().eq([&[3, 5][..], &[]]));
        assert_eq!(labels.clone().renumbered(&[0, 1, 2]), labels);
    }
}
