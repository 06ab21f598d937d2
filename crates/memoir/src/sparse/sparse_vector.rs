//! A sparse vector that grows and is truncated, and inner products of such vectors.

use std::cmp::Ordering;

use crate::maths;
use crate::sparse::RowView;

/// A sorted sparse vector that can grow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseVector {
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f32>,
}

impl SparseVector {
    /// The vector as a row.
    pub fn view(&self) -> RowView<'_> {
        RowView {
            indices: &self.indices,
            values: &self.values,
        }
    }

    pub(super) fn push(&mut self, index: u32, value: f32) {
        if value != 0.0 {
            self.indices.push(index);
            self.values.push(value);
        }
    }

    /// Writes `left + factor * right` to `self`; entries that become 0 are dropped.
    pub fn set_sum(&mut self, left: RowView<'_>, factor: f32, right: RowView<'_>) {
        self.indices.clear();
        self.values.clear();
        let (mut l, mut r) = (0, 0);
        while l < left.len() && r < right.len() {
            let (a, b) = (left.indices[l], right.indices[r]);
            match a.cmp(&b) {
                Ordering::Less => {
                    self.push(a, left.values[l]);
                    l += 1;
                }
                Ordering::Greater => {
                    self.push(b, factor * right.values[r]);
                    r += 1;
                }
                Ordering::Equal => {
                    self.push(a, left.values[l] + factor * right.values[r]);
                    l += 1;
                    r += 1;
                }
            }
        }
        for at in l..left.len() {
            self.push(left.indices[at], left.values[at]);
        }
        for at in r..right.len() {
            self.push(right.indices[at], factor * right.values[at]);
        }
    }

    /// Truncates by `truncation`, unless that would take too much of the vector's length. Its threshold is
    /// in the vector's own units.
    pub(super) fn truncate_within(&mut self, truncation: Truncation) {
        // At most everything is taken, so a limit of 1 allows all and need not be looked at.
        if truncation.limit < 1.0 {
            let taken: f64 = self
                .values
                .iter()
                .map(|value| maths::square(f64::from(value.abs().min(truncation.threshold))))
                .sum();
            if taken > maths::square(f64::from(truncation.limit)) * self.squared_norm() {
                return;
            }
        }
        self.truncate(truncation.threshold);
    }

    /// The paper's Truncate, with `threshold` = (C / xi) lambda `eta_k`: an `omega_j` above it becomes
    /// `omega_j` minus it, one below its negative `omega_j` plus it, and all others 0.
    pub(super) fn truncate(&mut self, threshold: f32) {
        let mut kept = 0;
        for at in 0..self.indices.len() {
            let value = self.values[at];
            if value.abs() > threshold {
                self.indices[kept] = self.indices[at];
                self.values[kept] = value - threshold.copysign(value);
                kept += 1;
            }
        }
        self.indices.truncate(kept);
        self.values.truncate(kept);
    }

    pub(super) fn squared_norm(&self) -> f64 {
        self.values.iter().map(|&v| f64::from(v) * f64::from(v)).sum()
    }
}

/// What Truncate does to a vector that a batch has touched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    /// By how much each value moves towards 0; 0 for not at all.
    pub threshold: f32,
    /// Largest share of a vector's length that may go: where more would, the vector stays as it is. 1 is
    /// always.
    pub limit: f32,
}

impl Truncation {
    /// Nothing is truncated.
    pub const NONE: Self = Self {
        threshold: 0.0,
        limit: 1.0,
    };
}

/// Inner product of two sorted sparse vectors: each entry of the shorter is looked up in the rest of the
/// longer.
pub fn sparse_dot(left: RowView<'_>, right: RowView<'_>) -> f32 {
    let (short, long) = if left.len() <= right.len() {
        (left, right)
    } else {
        (right, left)
    };
    let mut sum = 0.0;
    let mut from = 0;
    for (index, value) in short.iter() {
        let rest = &long.indices[from..];
        // Doubling steps from where the last one was found: short ways when vectors are alike in length.
        let mut bound = 1;
        while bound < rest.len() && rest[bound] < index {
            bound *= 2;
        }
        let window = &rest[..rest.len().min(bound + 1)];
        let offset = bound / 2 + window[bound / 2..].partition_point(|&other| other < index);
        from += offset;
        if from >= long.len() {
            break;
        }
        if long.indices[from] == index {
            sum += value * long.values[from];
        }
    }
    sum
}
