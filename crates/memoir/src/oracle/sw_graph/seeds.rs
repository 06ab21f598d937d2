//! Where a search starts: for each feature, a class in which it weighs much.
//!
//! Malkov's graph starts at random nodes. Rows of text are short and most classes have nothing in common with one, so
//! a random start finds itself on a plain without slope. A class that shares the row's strongest features is already
//! near the best one. That costs one class number and weight per feature.

use crate::sparse::{ClassVectors, RowView, VectorBuffer};

/// Nobody's number.
const NONE: u32 = u32::MAX;

/// The class in which each feature weighs most, as far as known: classes that change may leave it out of date.
#[derive(Debug, Clone, Default)]
pub(super) struct Seeds {
    strongest: Vec<(u32, f32)>,
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
            self.strongest.resize(weights.width(), (NONE, 0.0));
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
            let strongest = &mut self.strongest[feature as usize];
            if strongest.0 == class || weight > strongest.1 {
                *strongest = (class, weight);
            }
        }
    }

    /// Up to `count` classes for the features of `row` that promise the highest scores, best first.
    pub(super) fn of(&self, row: RowView<'_>, count: usize, out: &mut Vec<(f32, u32)>) {
        out.clear();
        for (feature, value) in row.iter() {
            if let Some(&(class, weight)) = self.strongest.get(feature as usize)
                && class != NONE
            {
                out.push((value * weight, class));
            }
        }
        out.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        out.truncate(count);
    }
}
