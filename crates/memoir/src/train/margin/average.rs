//! The mean of all iterations' weights, the theorems' `W-bar = 1/T sum W_t`, without touching all weights each time.

use crate::sparse::{ClassRows, ClassVectors, SparseVector};

/// Adds up scaled weights over iterations. With `m_t` the multiplier of iteration t, a vector that did not change from
/// iteration a to b has contributed `(m_a + … + m_b)` times itself: that sum of multipliers is kept, and each vector is
/// added up only when it is about to change.
pub(super) struct Average {
    sums: Vec<SparseVector>,
    /// Sum of multipliers up to now.
    total: f64,
    /// The same when each class was last added up.
    settled: Vec<f64>,
    iterations: u64,
    spare: SparseVector,
}

impl Average {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            sums: vec![SparseVector::default(); classes],
            total: 0.0,
            settled: vec![0.0; classes],
            iterations: 0,
            spare: SparseVector::default(),
        }
    }

    /// An iteration has ended with these weights.
    pub(super) fn count(&mut self, weights: &ClassRows) {
        self.total += weights.multiplier();
        self.iterations += 1;
    }

    /// The unscaled vectors of `classes` are about to change.
    pub(super) fn settle(&mut self, weights: &ClassRows, classes: impl IntoIterator<Item = u32>) {
        for class in classes {
            let index = class as usize;
            let factor = (self.total - self.settled[index]) as f32;
            self.settled[index] = self.total;
            let row = weights.row(class);
            if factor != 0.0 && !row.is_empty() {
                self.spare.set_sum(self.sums[index].view(), factor, row);
                std::mem::swap(&mut self.spare, &mut self.sums[index]);
            }
        }
    }

    /// The mean, as weights with the multiplier 1/T.
    pub(super) fn finish(mut self, weights: &ClassRows) -> ClassRows {
        self.settle(weights, 0..weights.classes() as u32);
        let mut mean = ClassRows::new(weights.classes(), weights.width());
        for (class, sum) in (0..).zip(&self.sums) {
            mean.set(class, sum.view());
        }
        mean.scale(1.0 / self.iterations.max(1) as f64);
        mean
    }
}
