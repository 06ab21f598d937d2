//! Rows with their label sets.

use xxhash_rust::xxh3::Xxh3;

use crate::data::ClassNames;
use crate::sparse::{Rows, ask_for};

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

    /// Asks for where a row's labels are; for these [`LabelSets::ask_for`] can be called then.
    pub(crate) fn ask_where(&self, index: usize) {
        if !self.ends.is_empty() {
            ask_for(&self.ends, index);
        }
    }

    /// Asks for the labels of a row that will be needed soon.
    pub(crate) fn ask_for(&self, index: usize) {
        let place = if self.ends.is_empty() {
            index
        } else {
            self.ends[index]
        };
        ask_for(&self.labels, place);
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
}

/// Rows, the labels of each, and what the classes are called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dataset {
    /// One sparse vector per row.
    pub rows: Rows,
    /// One set of class numbers per row.
    pub labels: LabelSets,
    /// The classes' names.
    pub classes: ClassNames,
    /// How much each row counts, if rows do not all count alike.
    pub weights: Option<Vec<f32>>,
}

impl Dataset {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A hash of everything in it.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(bytemuck::cast_slice(self.rows.offsets()));
        hash.update(bytemuck::cast_slice(self.rows.indices()));
        hash.update(bytemuck::cast_slice(self.rows.values()));
        for end in std::iter::once(0).chain(self.labels.iter().scan(0, |end, labels| {
            *end += labels.len();
            Some(*end)
        })) {
            hash.update(&end.to_ne_bytes());
        }
        hash.update(bytemuck::cast_slice(&self.labels.labels));
        for name in self.classes.iter() {
            hash.update(&name.len().to_le_bytes());
            hash.update(name.as_bytes());
        }
        hash.update(bytemuck::cast_slice(self.weights.as_deref().unwrap_or(&[])));
        hash.digest()
    }

    /// Each row once per label, as the paper does with several labels; rows without a label vanish.
    pub fn replicated(&self) -> Self {
        let mut result = Self {
            classes: self.classes.clone(),
            ..Self::default()
        };
        for (index, labels) in self.labels.iter().enumerate() {
            for &label in labels {
                result.rows.push(self.rows.row(index));
                result.labels.push([label]);
                if let Some(weights) = &self.weights {
                    result.weights.get_or_insert_default().push(weights[index]);
                }
            }
        }
        result.rows.set_width(self.rows.width());
        result
    }

    /// The rows with the given numbers, in that order, with the same classes.
    pub fn subset(&self, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut result = Self {
            classes: self.classes.clone(),
            ..Self::default()
        };
        for index in indices {
            result.rows.push(self.rows.row(index));
            result.labels.push(self.labels.row(index).iter().copied());
            if let Some(weights) = &self.weights {
                result.weights.get_or_insert_default().push(weights[index]);
            }
        }
        result.rows.set_width(self.rows.width());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::RowView;

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
    fn label_sets_of_the_same_labels_have_different_fingerprints() {
        let fingerprint = |sets: &[&[u32]]| {
            let mut data = Dataset::default();
            for set in sets {
                data.labels.push(set.iter().copied());
            }
            data.fingerprint()
        };
        assert_ne!(fingerprint(&[&[0], &[1]]), fingerprint(&[&[0, 1], &[]]));
        assert_ne!(fingerprint(&[&[], &[0, 1]]), fingerprint(&[&[0, 1], &[]]));
    }

    #[test]
    fn replication_repeats_the_row_for_each_label() {
        let mut data = Dataset::default();
        data.rows.push(RowView {
            indices: &[4],
            values: &[1.0],
        });
        data.rows.push(RowView {
            indices: &[5],
            values: &[2.0],
        });
        data.labels.push([1, 0]);
        data.labels.push([]);
        let replicated = data.replicated();
        assert_eq!(replicated.len(), 2);
        assert_eq!(replicated.labels.row(1), [1]);
        assert_eq!(replicated.rows.row(1).indices, [4]);
        assert_eq!(replicated.rows.width(), 6);
    }
}
