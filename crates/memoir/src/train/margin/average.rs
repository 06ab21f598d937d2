//! The mean of all iterations' weights, the theorems' `W-bar = 1/T sum W_t`, without touching all weights
//! each time.

use super::weights::DescentWeights;

/// Adds up scaled weights over iterations. With `m_t` the multiplier of iteration t, a vector that did not
/// change from iteration a to b has contributed `(m_a + … + m_b)` times itself: that sum of multipliers is
/// kept, and each vector is added up only when it is about to change.
pub(super) struct Average<W> {
    sums: W,
    /// Sum of multipliers up to now.
    total: f64,
    /// The same when each class was last added up.
    settled: Vec<f64>,
    iterations: u64,
}

impl<W: DescentWeights> Average<W> {
    pub(super) fn new(weights: &W) -> Self {
        Self {
            sums: weights.cleared(),
            total: 0.0,
            settled: vec![0.0; weights.classes()],
            iterations: 0,
        }
    }

    /// An iteration has ended with these weights.
    pub(super) fn count(&mut self, weights: &W) {
        self.total += weights.multiplier();
        self.iterations += 1;
    }

    /// The unscaled vectors of `classes` are about to change.
    pub(super) fn settle(&mut self, weights: &W, classes: impl IntoIterator<Item = u32>) {
        for class in classes {
            let index = class as usize;
            let factor = (self.total - self.settled[index]) as f32;
            self.settled[index] = self.total;
            if factor != 0.0 && !weights.zeros().contains(class) {
                self.sums.add_vector(class, factor, weights);
            }
        }
    }

    /// The mean, as weights with the multiplier 1/T.
    pub(super) fn finish(mut self, weights: &W) -> W {
        self.settle(weights, 0..weights.classes() as u32);
        self.sums.scale(1.0 / self.iterations.max(1) as f64);
        self.sums
    }
}
