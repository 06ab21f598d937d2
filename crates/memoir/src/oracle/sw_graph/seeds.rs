//! Where a search starts: for each feature, the classes in which it weighs most.
//!
//! Malkov's graph starts at random nodes. Rows of text are short and most classes have nothing in common
//! with one, so a random start finds itself on a plain without slope. A class that shares the row's
//! strongest features is already near the best one. That costs a few class numbers and weights per feature.

use crate::sparse::{ClassVectors, RowView, VectorBuffer};

/// Classes kept for each feature.
const DEPTH: usize = 128;

/// How many classes are looked up for each that is wanted: several features may name the same.
const LOOKUPS: usize = 4;

/// The classes in which each feature weighs most, as far as known: classes that change may leave it out of
/// date.
#[derive(Debug, Clone, Default)]
pub(super) struct Seeds {
    /// For each feature, up to [`DEPTH`] classes with positive weights, strongest first.
    strongest: Vec<Vec<(u32, f32)>>,
    /// Vectors that have changed since all were looked at.
    changes: usize,
}

impl Seeds {
    /// Takes note of changed vectors.
    pub(super) fn update<W: ClassVectors>(&mut self, weights: &W, changed: &[u32]) {
        self.changes += changed.len();
        let mut buffer = VectorBuffer::default();
        if self.strongest.len() != weights.width() || self.changes > weights.classes() / 4 {
            self.changes = 0;
            self.strongest.resize(weights.width(), Vec::new());
            self.strongest.iter_mut().for_each(Vec::clear);
            for class in 0..weights.classes() as u32 {
                for (feature, weight) in weights.vector(class, &mut buffer).iter() {
                    insert(&mut self.strongest[feature as usize], class, weight);
                }
            }
            self.strongest.iter_mut().for_each(Vec::shrink_to_fit);
        } else {
            for &class in changed {
                for (feature, weight) in weights.vector(class, &mut buffer).iter() {
                    let list = &mut self.strongest[feature as usize];
                    list.retain(|known| known.0 != class);
                    insert(list, class, weight);
                }
            }
        }
    }

    /// Up to `count` classes that the row's features promise the highest scores for, best first.
    pub(super) fn of(&self, row: RowView<'_>, count: usize, out: &mut Vec<(f32, u32)>) {
        out.clear();
        if count == 0 {
            return;
        }
        // The longer a row, the fewer classes of each feature, so that the effort stays the same.
        let depth = (LOOKUPS * count).div_ceil(row.len().max(1));
        for (feature, value) in row.iter() {
            let known = self.strongest.get(feature as usize).into_iter().flatten();
            out.extend(known.take(depth).map(|&(class, weight)| (value * weight, class)));
        }
        // What several features say of one class is added up, in the order of the features.
        out.sort_by_key(|seed| seed.1);
        out.dedup_by(|next, kept| {
            let is_same = next.1 == kept.1;
            if is_same {
                kept.0 += next.0;
            }
            is_same
        });
        let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if out.len() > count {
            out.select_nth_unstable_by(count, order);
            out.truncate(count);
        }
        out.sort_unstable_by(order);
    }
}

/// Puts a class where its weight belongs in a list that is short and sorted.
fn insert(list: &mut Vec<(u32, f32)>, class: u32, weight: f32) {
    let is_weak = list.len() == DEPTH && list.last().is_some_and(|last| weight <= last.1);
    if weight <= 0.0 || is_weak {
        return;
    }
    list.truncate(DEPTH - 1);
    let index = list.partition_point(|known| known.1 >= weight);
    list.insert(index, (class, weight));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::ClassRows;

    #[test]
    fn classes_that_share_strong_features_come_first() {
        let mut weights = ClassRows::new(20, 3);
        for class in 0..20 {
            let values = [class as f32 / 10.0, 2.0 - class as f32 / 10.0];
            weights.set(
                class,
                RowView {
                    indices: &[0, 1],
                    values: &values,
                },
            );
        }
        let mut seeds = Seeds::default();
        seeds.update(&weights, &(0..20).collect::<Vec<_>>());
        let of = |seeds: &Seeds, values: &[f32], count| {
            let mut found = Vec::new();
            seeds.of(
                RowView {
                    indices: &[0, 1],
                    values,
                },
                count,
                &mut found,
            );
            found.into_iter().map(|seed| seed.1).collect::<Vec<_>>()
        };
        assert_eq!(of(&seeds, &[1.0, 0.0], 3), [19, 18, 17]);
        assert_eq!(of(&seeds, &[0.0, 1.0], 2), [0, 1]);
        assert!(of(&seeds, &[1.0, 1.0], 0).is_empty());
        // A class that grows moves up, one that shrinks moves down.
        weights.set(
            5,
            RowView {
                indices: &[0],
                values: &[9.0],
            },
        );
        weights.set(
            19,
            RowView {
                indices: &[0],
                values: &[1.85],
            },
        );
        seeds.update(&weights, &[5, 19]);
        assert_eq!(of(&seeds, &[1.0, 0.0], 3), [5, 19, 18]);
    }
}
