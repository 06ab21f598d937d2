//! Where a search starts: for each feature, the classes in which it weighs most.
//!
//! Malkov's graph starts at random nodes. Rows of text are short and most classes have nothing in common with one, so
//! a random start finds itself on a plain without slope. A class that shares the row's strongest features is already
//! near the best one. That costs a few class numbers and weights per feature.

use crate::sparse::{ClassVectors, RowView, VectorBuffer};

/// Classes kept for each feature.
const DEPTH: usize = 8;

/// Nobody's number.
const NONE: u32 = u32::MAX;

/// The classes in which each feature weighs most, as far as known: classes that change may leave it out of date.
#[derive(Debug, Clone, Default)]
pub(super) struct Seeds {
    /// Strongest first, for each feature.
    strongest: Vec<[(u32, f32); DEPTH]>,
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
            self.strongest.clear();
            self.strongest.resize(weights.width(), [(NONE, 0.0); DEPTH]);
            for class in 0..weights.classes() as u32 {
                self.offer(class, weights.vector(class, &mut buffer));
            }
        } else {
            for &class in changed {
                self.offer(class, weights.vector(class, &mut buffer));
            }
        }
    }

    fn offer(&mut self, class: u32, row: RowView<'_>) {
        for (feature, weight) in row.iter() {
            let slots = &mut self.strongest[feature as usize];
            // Its own slot if it has one, else the last one if that is weaker; then up to where it belongs.
            let own = slots.iter().position(|slot| slot.0 == class);
            let Some(mut place) = own.or((weight > slots[DEPTH - 1].1).then_some(DEPTH - 1)) else {
                continue;
            };
            slots[place] = (class, weight);
            while place > 0 && slots[place - 1].1 < weight {
                slots.swap(place - 1, place);
                place -= 1;
            }
            while place + 1 < DEPTH && slots[place + 1].1 > weight {
                slots.swap(place, place + 1);
                place += 1;
            }
        }
    }

    /// Up to `count` classes that the row's features promise the highest scores for, best first.
    pub(super) fn of(&self, row: RowView<'_>, count: usize, out: &mut Vec<(f32, u32)>) {
        out.clear();
        if count == 0 {
            return;
        }
        for (feature, value) in row.iter() {
            let slots = self.strongest.get(feature as usize).into_iter().flatten();
            let known = slots.filter(|slot| slot.0 != NONE);
            out.extend(known.map(|&(class, weight)| (value * weight, class)));
        }
        // What several features say of one class is added up.
        out.sort_by_key(|seed| seed.1);
        out.dedup_by(|next, kept| {
            let is_same = next.1 == kept.1;
            if is_same {
                kept.0 += next.0;
            }
            is_same
        });
        out.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        out.truncate(count);
    }
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
