//! Weights as one sparse vector per class (the paper's "C lists of CSR sparse vectors"), with one shared
//! multiplier.
//!
//! Memory is O(nnz(W) + C). A product of the whole matrix with a number costs one multiplication: it goes
//! into the multiplier (the paper's `acc`), and what is added later is divided by it.

use rayon::prelude::*;

use crate::sparse::sparse_vector::sparse_dot;
use crate::sparse::{
    ClassVectors, RowView, Rows, SparseVector, Spread, Truncation, VectorBuffer, ZeroClasses,
};
use crate::{Result, Session};

/// Below this the multiplier is folded into the values, long before numbers divided by it could overflow.
const SMALLEST_MULTIPLIER: f64 = 1e-12;

/// Classes that one worker changes between two looks at the cancel flag.
const STRIDE: usize = 32;

/// One addend of a batch: `coefficient` times row `row` goes to the vector of `class`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Addend {
    /// Whose vector.
    pub class: u32,
    /// Which row of the data.
    pub row: u32,
    /// How much of it, in scaled units (the multiplier is taken care of). With 0 the class counts as touched
    /// only.
    pub coefficient: f32,
}

/// One sparse vector per class.
#[derive(Debug, Clone)]
pub struct ClassRows {
    vectors: Vec<SparseVector>,
    squares: Vec<f64>,
    multiplier: f64,
    width: usize,
    zeros: ZeroClasses,
}

/// What one class needs while a batch is added.
struct Change {
    class: u32,
    vector: SparseVector,
    addends: std::ops::Range<usize>,
}

impl ClassRows {
    /// All vectors zero: W^0 := 0.
    pub fn new(classes: usize, width: usize) -> Self {
        Self {
            vectors: vec![SparseVector::default(); classes],
            squares: vec![0.0; classes],
            multiplier: 1.0,
            width,
            zeros: ZeroClasses::all(classes),
        }
    }

    /// Adds `factor` times an unscaled vector of `of` to the unscaled one of the same class.
    pub fn add_vector(&mut self, class: u32, factor: f32, of: &Self) {
        let mut sum = SparseVector::default();
        sum.set_sum(self.row(class), factor, of.row(class));
        self.squares[class as usize] = sum.squared_norm();
        self.zeros.set(class, sum.indices.is_empty());
        self.vectors[class as usize] = sum;
    }

    /// Replaces the unscaled vector of a class by `row`.
    pub fn set(&mut self, class: u32, row: RowView<'_>) {
        let vector = &mut self.vectors[class as usize];
        vector.indices.clear();
        vector.values.clear();
        for (index, value) in row.iter() {
            vector.push(index, value);
        }
        self.squares[class as usize] = vector.squared_norm();
        self.zeros.set(class, vector.indices.is_empty());
    }

    /// The unscaled vector of a class.
    pub fn row(&self, class: u32) -> RowView<'_> {
        self.vectors[class as usize].view()
    }

    /// What unscaled values must be multiplied by.
    pub fn multiplier(&self) -> f64 {
        self.multiplier
    }

    /// Number of stored weights.
    pub fn entries(&self) -> usize {
        self.vectors.iter().map(|vector| vector.indices.len()).sum()
    }

    /// Length of the whole matrix (its Frobenius norm), scaled.
    pub fn norm(&self) -> f64 {
        self.multiplier * self.squares.iter().sum::<f64>().sqrt()
    }

    /// Whether [`ClassRows::scale`] by `factor` would change unscaled values.
    pub fn is_folded_by(&self, factor: f64) -> bool {
        is_too_small(self.multiplier * factor)
    }

    /// Multiplies all weights by `factor`; 0 or less makes all vectors zero.
    ///
    /// Returns whether unscaled values have changed, so that an index of them must be built again.
    pub fn scale(&mut self, factor: f64) -> bool {
        if factor <= 0.0 {
            *self = Self::new(self.vectors.len(), self.width);
            return true;
        }
        let is_folded = self.is_folded_by(factor);
        self.multiplier *= factor;
        if !is_folded {
            return false;
        }
        for vector in &mut self.vectors {
            for value in &mut vector.values {
                *value = (f64::from(*value) * self.multiplier) as f32;
            }
        }
        self.multiplier = 1.0;
        for class in 0..self.vectors.len() {
            self.vectors[class].truncate(0.0);
            self.squares[class] = self.vectors[class].squared_norm();
            self.zeros
                .set(class as u32, self.vectors[class].indices.is_empty());
        }
        true
    }

    /// Adds a batch and truncates what it touched (the threshold is scaled). Returns the touched
    /// classes, in increasing order. `addends` are left sorted by class; those of a class are added in the
    /// order given.
    pub fn add(
        &mut self,
        addends: &mut [Addend],
        rows: &Rows,
        truncation: Truncation,
        session: &Session<'_>,
    ) -> Result<Vec<u32>> {
        addends.sort_by_key(|addend| addend.class);
        let addends = &*addends;
        let mut changes: Vec<Change> = groups(addends)
            .into_iter()
            .map(|(class, addends)| Change {
                class,
                vector: std::mem::take(&mut self.vectors[class as usize]),
                addends,
            })
            .collect();
        let unscaled = (1.0 / self.multiplier) as f32;
        let truncation = Truncation {
            threshold: truncation.threshold * unscaled,
            ..truncation
        };
        let outcome = session.run(|| {
            changes.par_chunks_mut(STRIDE).try_for_each_init(
                || (Vec::new(), SparseVector::default(), SparseVector::default()),
                |(entries, total, sum), changes| {
                    session.check()?;
                    for change in changes {
                        gather(&addends[change.addends.clone()], rows, entries, total);
                        if !total.indices.is_empty() {
                            sum.set_sum(change.vector.view(), unscaled, total.view());
                            change.vector.indices.clone_from(&sum.indices);
                            change.vector.values.clone_from(&sum.values);
                        }
                        change.vector.truncate_within(truncation);
                    }
                    Ok(())
                },
            )
        });
        let mut touched = Vec::with_capacity(changes.len());
        for change in changes {
            self.squares[change.class as usize] = change.vector.squared_norm();
            self.zeros.set(change.class, change.vector.indices.is_empty());
            self.vectors[change.class as usize] = change.vector;
            touched.push(change.class);
        }
        outcome.map(|()| touched)
    }
}

/// Whether a multiplier must be folded into the values.
pub(super) fn is_too_small(multiplier: f64) -> bool {
    multiplier < SMALLEST_MULTIPLIER
}

/// The classes of addends that are sorted by class, each with the range of its own.
pub(super) fn groups(addends: &[Addend]) -> Vec<(u32, std::ops::Range<usize>)> {
    let mut start = 0;
    let by_class = addends.chunk_by(|a, b| a.class == b.class);
    by_class
        .map(|group| {
            let range = start..start + group.len();
            start = range.end;
            (group[0].class, range)
        })
        .collect()
}

/// Adds up the rows of one class's addends in `total`.
pub(super) fn gather(
    addends: &[Addend],
    rows: &Rows,
    entries: &mut Vec<(u32, f32)>,
    total: &mut SparseVector,
) {
    entries.clear();
    for addend in addends.iter().filter(|addend| addend.coefficient != 0.0) {
        let row = rows.row(addend.row as usize);
        entries.extend(
            row.iter()
                .map(|(index, value)| (index, addend.coefficient * value)),
        );
    }
    // Stable: equal features stay in the order of the batch, so sums come out the same every time.
    entries.sort_by_key(|entry| entry.0);
    total.indices.clear();
    total.values.clear();
    for group in entries.chunk_by(|a, b| a.0 == b.0) {
        total.push(group[0].0, group.iter().map(|entry| entry.1).sum());
    }
}

impl ClassVectors for ClassRows {
    fn classes(&self) -> usize {
        self.vectors.len()
    }

    fn width(&self) -> usize {
        self.width
    }

    fn dot(&self, class: u32, row: RowView<'_>) -> f32 {
        sparse_dot(self.row(class), row)
    }

    fn dot_spread(&self, class: u32, row: &Spread) -> f32 {
        row.dot(self.row(class))
    }

    fn is_sparse(&self) -> bool {
        true
    }

    fn dot_between(&self, left: u32, right: u32) -> f32 {
        sparse_dot(self.row(left), self.row(right))
    }

    fn squared_norm(&self, class: u32) -> f64 {
        self.squares[class as usize]
    }

    fn vector<'a>(&'a self, class: u32, _buffer: &'a mut VectorBuffer) -> RowView<'a> {
        self.row(class)
    }

    fn zeros(&self) -> &ZeroClasses {
        &self.zeros
    }
}

#[cfg(test)]
mod tests;
