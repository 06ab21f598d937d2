//! What the descent needs of weights, sparse or reduced.

use super::Prediction;
use super::finish;
use crate::model::{Linear, Reduced, Scorer};
use crate::oracle::Scannable;
use crate::sparse::{Addend, ClassDense, ClassRows, ClassVectors, RowView, Rows, Truncation};
use crate::{Result, Session};

/// Room for a row as the weights see it.
#[derive(Debug, Default)]
pub(super) struct RowBuffer {
    indices: Vec<u32>,
    values: Vec<f32>,
}

/// Weights that the descent changes. `acc` is the multiplier: scaling touches nothing else.
pub(super) trait DescentWeights: Scannable {
    /// What a finished model scores with.
    type Scorer: Scorer + 'static;

    /// Weights of the same form, all zero.
    fn cleared(&self) -> Self;
    /// The shared multiplier.
    fn multiplier(&self) -> f64;
    /// Length of the whole matrix, scaled.
    fn norm(&self) -> f64;
    /// Whether multiplying by `factor` would change unscaled values, which oracles know.
    fn is_folded_by(&self, factor: f64) -> bool;
    /// Multiplies all weights.
    fn scale(&mut self, factor: f64);
    /// Adds a batch, and truncates what it touched; returns the touched classes, increasing.
    fn add(
        &mut self,
        addends: &mut [Addend],
        rows: &Rows,
        truncation: Truncation,
        session: &Session<'_>,
    ) -> Result<Vec<u32>>;
    /// Adds `factor` times an unscaled vector of `of` to the unscaled one of the same class.
    fn add_vector(&mut self, class: u32, factor: f32, of: &Self);
    /// A row of the data as inner products with these weights need it.
    fn row<'a>(&'a self, row: RowView<'a>, buffer: &'a mut RowBuffer) -> RowView<'a>;
    /// The finished scorer, of weights that are still needed.
    fn scorer(&self, prediction: Prediction) -> Self::Scorer;
    /// The finished scorer, in the memory of the weights where it fits.
    fn into_scorer(self, prediction: Prediction) -> Self::Scorer;

    /// What a class's unscaled vector is multiplied by when the scorer is made.
    fn final_factor(&self, class: u32, prediction: Prediction) -> f64 {
        match prediction {
            Prediction::Dot => self.multiplier(),
            Prediction::Cosine => 1.0 / self.squared_norm(class).sqrt().max(f64::MIN_POSITIVE),
        }
    }
}

impl DescentWeights for ClassRows {
    type Scorer = Linear;

    fn cleared(&self) -> Self {
        Self::new(self.classes(), self.width())
    }

    fn multiplier(&self) -> f64 {
        self.multiplier()
    }

    fn norm(&self) -> f64 {
        self.norm()
    }

    fn is_folded_by(&self, factor: f64) -> bool {
        self.is_folded_by(factor)
    }

    fn scale(&mut self, factor: f64) {
        self.scale(factor);
    }

    fn add(
        &mut self,
        addends: &mut [Addend],
        rows: &Rows,
        truncation: Truncation,
        session: &Session<'_>,
    ) -> Result<Vec<u32>> {
        self.add(addends, rows, truncation, session)
    }

    fn add_vector(&mut self, class: u32, factor: f32, of: &Self) {
        self.add_vector(class, factor, of);
    }

    fn row<'a>(&'a self, row: RowView<'a>, _: &'a mut RowBuffer) -> RowView<'a> {
        row
    }

    fn scorer(&self, prediction: Prediction) -> Linear {
        finish::linear(self, prediction)
    }

    fn into_scorer(self, prediction: Prediction) -> Linear {
        self.scorer(prediction)
    }
}

impl DescentWeights for ClassDense {
    type Scorer = Reduced;

    fn cleared(&self) -> Self {
        Self::new(self.classes(), self.reduction().clone())
    }

    fn multiplier(&self) -> f64 {
        self.multiplier()
    }

    fn norm(&self) -> f64 {
        self.norm()
    }

    fn is_folded_by(&self, factor: f64) -> bool {
        self.is_folded_by(factor)
    }

    fn scale(&mut self, factor: f64) {
        self.scale(factor);
    }

    /// Dense weights are never truncated: only `memoir-l1` has a threshold, and its weights are sparse.
    fn add(
        &mut self,
        addends: &mut [Addend],
        rows: &Rows,
        _: Truncation,
        session: &Session<'_>,
    ) -> Result<Vec<u32>> {
        self.add(addends, rows, session)
    }

    fn add_vector(&mut self, class: u32, factor: f32, of: &Self) {
        self.add_vector(class, factor, of);
    }

    fn row<'a>(&'a self, row: RowView<'a>, buffer: &'a mut RowBuffer) -> RowView<'a> {
        if buffer.indices.len() != self.width() {
            buffer.indices = (0..self.width() as u32).collect();
        }
        self.reduction().apply(row, &mut buffer.values);
        RowView {
            indices: &buffer.indices,
            values: &buffer.values,
        }
    }

    fn scorer(&self, prediction: Prediction) -> Reduced {
        self.clone().into_scorer(prediction)
    }

    fn into_scorer(self, prediction: Prediction) -> Reduced {
        let classes = 0..self.classes() as u32;
        let factors: Vec<f64> = classes
            .map(|class| self.final_factor(class, prediction))
            .collect();
        let reduction = self.reduction().clone();
        let mut values = self.into_values();
        for (values, factor) in values.chunks_exact_mut(reduction.dimensions()).zip(&factors) {
            for value in values {
                *value = (f64::from(*value) * factor) as f32;
            }
        }
        Reduced::new(factors.len(), reduction, values)
    }
}
