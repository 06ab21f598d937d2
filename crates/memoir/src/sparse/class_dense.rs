//! Weights as one dense vector per class, in the space that a [`Reduction`] maps rows to.

use std::sync::Arc;

use rayon::prelude::*;

use crate::sparse::class_rows::{gather, groups, is_too_small};
use crate::sparse::{
    Addend, ClassVectors, Reduction, RowView, Rows, SparseVector, Spread, VectorBuffer, ZeroClasses, dense,
};
use crate::{Result, Session};

/// Classes that one worker changes between two looks at the cancel flag.
const STRIDE: usize = 16;

/// One dense vector per class with one shared multiplier, as [`crate::sparse::ClassRows`] has sparse ones.
#[derive(Debug, Clone)]
pub struct ClassDense {
    reduction: Arc<Reduction>,
    /// The unscaled vectors, class after class.
    values: Vec<f32>,
    squares: Vec<f64>,
    multiplier: f64,
    zeros: ZeroClasses,
}

impl ClassDense {
    /// All vectors zero: W^0 := 0.
    pub fn new(classes: usize, reduction: Arc<Reduction>) -> Self {
        Self {
            values: vec![0.0; classes * reduction.dimensions()],
            squares: vec![0.0; classes],
            multiplier: 1.0,
            zeros: ZeroClasses::all(classes),
            reduction,
        }
    }

    /// With these unscaled vectors, class after class; `None` if there are more or fewer.
    pub fn from_values(classes: usize, reduction: Arc<Reduction>, values: Vec<f32>) -> Option<Self> {
        if Some(values.len()) != classes.checked_mul(reduction.dimensions()) {
            return None;
        }
        let mut weights = Self {
            values,
            squares: vec![0.0; classes],
            multiplier: 1.0,
            zeros: ZeroClasses::all(classes),
            reduction,
        };
        for class in 0..classes as u32 {
            weights.measure(class);
        }
        Some(weights)
    }

    /// What rows are mapped by.
    pub fn reduction(&self) -> &Arc<Reduction> {
        &self.reduction
    }

    /// The unscaled vector of a class.
    pub fn values(&self, class: u32) -> &[f32] {
        let dimensions = self.reduction.dimensions();
        let start = class as usize * dimensions;
        &self.values[start..start + dimensions]
    }

    /// The unscaled vectors, class after class.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// What unscaled values must be multiplied by.
    pub fn multiplier(&self) -> f64 {
        self.multiplier
    }

    /// Length of the whole matrix (its Frobenius norm), scaled.
    pub fn norm(&self) -> f64 {
        self.multiplier * self.squares.iter().sum::<f64>().sqrt()
    }

    /// Whether [`ClassDense::scale`] by `factor` would change unscaled values.
    pub fn is_folded_by(&self, factor: f64) -> bool {
        is_too_small(self.multiplier * factor)
    }

    /// Multiplies all weights by `factor`; 0 or less makes all vectors zero.
    pub fn scale(&mut self, factor: f64) {
        if factor <= 0.0 {
            *self = Self::new(self.squares.len(), self.reduction.clone());
            return;
        }
        let is_folded = self.is_folded_by(factor);
        self.multiplier *= factor;
        if is_folded {
            for value in &mut self.values {
                *value = (f64::from(*value) * self.multiplier) as f32;
            }
            self.multiplier = 1.0;
            for class in 0..self.squares.len() as u32 {
                self.measure(class);
            }
        }
    }

    /// Adds `factor` times an unscaled vector of `of` to the unscaled one of the same class.
    pub fn add_vector(&mut self, class: u32, factor: f32, of: &Self) {
        let dimensions = self.reduction.dimensions();
        let start = class as usize * dimensions;
        dense::add(
            &mut self.values[start..start + dimensions],
            factor,
            of.values(class),
        );
        self.measure(class);
    }

    /// Takes note of a vector's new length.
    fn measure(&mut self, class: u32) {
        let square = squared_length(self.values(class));
        self.squares[class as usize] = square;
        self.zeros.set(class, square == 0.0);
    }

    /// Adds a batch of rows, which are reduced: a class's rows are added up first, as reducing is linear.
    /// Returns the touched classes, in increasing order. `addends` are left sorted by class.
    pub fn add(&mut self, addends: &mut [Addend], rows: &Rows, session: &Session<'_>) -> Result<Vec<u32>> {
        addends.sort_by_key(|addend| addend.class);
        let addends = &*addends;
        let touched = groups(addends);
        let unscaled = (1.0 / self.multiplier) as f32;
        let dimensions = self.reduction.dimensions();
        // Each touched class's vector, lent to whoever changes it.
        let mut vectors = Vec::with_capacity(touched.len());
        let mut rest = self.values.as_mut_slice();
        let mut passed = 0;
        for (class, range) in &touched {
            let skip = (*class as usize - passed) * dimensions;
            let (vector, others) = std::mem::take(&mut rest)[skip..].split_at_mut(dimensions);
            rest = others;
            passed = *class as usize + 1;
            vectors.push((vector, range.clone()));
        }
        let reduction = &*self.reduction;
        let outcome = session.run(|| {
            vectors.par_chunks_mut(STRIDE).try_for_each_init(
                || (Vec::new(), SparseVector::default(), Vec::new()),
                |(entries, total, reduced), vectors| {
                    session.check()?;
                    for (vector, range) in vectors {
                        gather(&addends[range.clone()], rows, entries, total);
                        if !total.view().is_empty() {
                            reduction.apply(total.view(), reduced);
                            dense::add(vector, unscaled, reduced);
                        }
                    }
                    Ok(())
                },
            )
        });
        for (class, _) in &touched {
            self.measure(*class);
        }
        outcome.map(|()| touched.into_iter().map(|(class, _)| class).collect())
    }
}

fn squared_length(vector: &[f32]) -> f64 {
    vector
        .iter()
        .map(|&value| f64::from(value) * f64::from(value))
        .sum()
}

/// Rows are reduced ones: with all dimensions, or sparse.
impl ClassVectors for ClassDense {
    fn classes(&self) -> usize {
        self.squares.len()
    }

    fn width(&self) -> usize {
        self.reduction.dimensions()
    }

    fn dot(&self, class: u32, row: RowView<'_>) -> f32 {
        let vector = self.values(class);
        if row.len() == vector.len() {
            return dense::dot(vector, row.values);
        }
        let products = row.iter().map(|(index, value)| value * vector[index as usize]);
        products.sum()
    }

    fn dot_spread(&self, class: u32, row: &Spread) -> f32 {
        dense::dot(self.values(class), row.values())
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn dot_between(&self, left: u32, right: u32) -> f32 {
        dense::dot(self.values(left), self.values(right))
    }

    fn squared_norm(&self, class: u32) -> f64 {
        self.squares[class as usize]
    }

    fn vector<'a>(&'a self, class: u32, buffer: &'a mut VectorBuffer) -> RowView<'a> {
        buffer.indices.clear();
        buffer.indices.extend(0..self.width() as u32);
        RowView {
            indices: &buffer.indices,
            values: self.values(class),
        }
    }

    fn zeros(&self) -> &ZeroClasses {
        &self.zeros
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    /// Three features: the first two are dimensions of their own, the third is their sum.
    fn reduction() -> Arc<Reduction> {
        let whole = vec![i16::MAX, 0, 0, i16::MAX, i16::MAX, i16::MAX];
        let factor = 1.0 / f32::from(i16::MAX);
        Arc::new(Reduction::new(2, whole.into(), vec![factor; 3].into()).unwrap())
    }

    #[test]
    fn batches_are_added_through_the_reduction() {
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let mut rows = Rows::new();
        rows.push_unsorted(&mut vec![(0, 1.0), (2, 2.0)]);
        rows.push_unsorted(&mut vec![(1, -4.0)]);
        let mut weights = ClassDense::new(4, reduction());
        weights.scale(0.5);
        let addend = |class, row, coefficient| Addend {
            class,
            row,
            coefficient,
        };
        let mut addends = [
            addend(3, 1, 1.0),
            addend(1, 0, 1.0),
            addend(3, 0, -1.0),
            addend(2, 0, 0.0),
        ];
        assert_eq!(weights.add(&mut addends, &rows, &session).unwrap(), [1, 2, 3]);
        let scaled = |class: u32| {
            let values = weights.values(class).iter();
            values
                .map(|value| (f64::from(*value) * weights.multiplier()) as f32)
                .collect::<Vec<_>>()
        };
        for (class, expected) in [
            (0, [0.0, 0.0]),
            (1, [3.0, 2.0]),
            (2, [0.0, 0.0]),
            (3, [-3.0, -6.0]),
        ] {
            let got = scaled(class);
            assert!(
                (got[0] - expected[0]).abs() + (got[1] - expected[1]).abs() < 1e-5,
                "{class}: {got:?}"
            );
        }
        assert_eq!(
            [0, 1, 2, 3].map(|class| weights.zeros().contains(class)),
            [true, false, true, false]
        );
        assert!((weights.norm() - 58f64.sqrt()).abs() < 1e-5);
        let row = RowView {
            indices: &[1],
            values: &[2.0],
        };
        let mut spread = Spread::default();
        spread.set(row, 2);
        assert_eq!(weights.dot(3, row), weights.dot_spread(3, &spread));
        for _ in 0..100 {
            weights.scale(0.5);
        }
        assert!(weights.multiplier() > 1e-13 && weights.norm() < 1e-28);
        weights.scale(0.0);
        assert!(weights.zeros().contains(3));
    }
}
