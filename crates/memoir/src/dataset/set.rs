//! Rows with their label sets.

use xxhash_rust::xxh3::Xxh3;

use super::{ClassNames, LabelSets};
use crate::sparse::Rows;

/// Rows, the labels of each, and what the classes are called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dataset {
    /// One sparse vector per row; none where rows are elsewhere (on disk, or texts).
    pub rows: Rows,
    /// One set of class numbers per row.
    pub labels: LabelSets,
    /// The classes' names.
    pub classes: ClassNames,
    /// How much each row counts, if rows do not all count alike.
    pub weights: Option<Vec<f32>>,
    /// The last so many rows are texts about classes, not examples: learned from, but nothing is measured by
    /// them.
    pub description_rows: usize,
}

impl Dataset {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
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
        hash.update(bytemuck::cast_slice(self.labels.flat()));
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
