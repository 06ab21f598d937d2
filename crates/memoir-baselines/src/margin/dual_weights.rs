//! Weights that are never written down: without `l1` they are sums of rows times dual variables, and both
//! are there already. Only features that occur in a good part of the rows have their weights in an array.
//!
//! With `A` variables a row and `L` features, a table of weights takes up to `n A L` numbers, most of them
//! for features that occur in a few rows. Here it is the rows once more, by feature (`n L`), and the
//! variables (`n A`). A score takes about as long: instead of the classes of a feature's list, the variables
//! of the rows that have the feature are gone through.

use memoir::model::{Linear, LinearBuilder, Precision};
use memoir::{RowView, Rows};

/// The variables of a row that are not zero: right classes positive, wrong ones negative, classes in order.
pub(super) type RowDuals = Vec<(u32, f32)>;

/// A feature may get an array when it occurs in more rows than there are classes, divided by this: going
/// through an array is then faster than going through the variables of its rows.
const ROWS_PER_ARRAY: usize = 32;

/// Arrays take at most as much memory as the entries of the rows, of this many bytes each: the most frequent
/// features come first.
const BYTES_PER_ENTRY: usize = 8;

/// The feature has no array.
const NONE: u32 = u32::MAX;

/// Weights as sums over rows.
#[derive(Debug, Clone)]
pub(super) struct DualWeights {
    classes: usize,
    /// For each feature, which array is its own, or [`NONE`].
    arrays: Vec<u32>,
    /// The weights of frequent features for all classes, one after the other.
    values: Vec<f32>,
    /// Where the rows of each feature without an array start in `occurrences`.
    starts: Vec<usize>,
    /// Rows and their values of the feature.
    occurrences: Vec<(u32, f32)>,
    /// Inner product of the row in question with each row, over features without an array; zero between
    /// calls.
    products: Vec<f32>,
    touched: Vec<u32>,
}

impl DualWeights {
    /// For variables that are all zero.
    pub(super) fn new(rows: &Rows, classes: usize) -> Self {
        let mut starts = vec![0usize; rows.width() + 1];
        for row in rows.iter() {
            for &feature in row.indices {
                starts[feature as usize + 1] += 1;
            }
        }
        let entries: usize = starts.iter().sum();
        let mut by_frequency: Vec<u32> = (0..rows.width() as u32)
            .filter(|&feature| starts[feature as usize + 1] * ROWS_PER_ARRAY > classes)
            .collect();
        by_frequency.sort_by_key(|&feature| std::cmp::Reverse(starts[feature as usize + 1]));
        by_frequency.truncate(entries * BYTES_PER_ENTRY / (size_of::<f32>() * classes.max(1)));
        let mut arrays = vec![NONE; rows.width()];
        for (array, &feature) in (0..).zip(&by_frequency) {
            arrays[feature as usize] = array;
            starts[feature as usize + 1] = 0;
        }
        for feature in 1..starts.len() {
            starts[feature] += starts[feature - 1];
        }
        let mut next = starts.clone();
        let mut occurrences = vec![(0, 0.0); starts[starts.len() - 1]];
        for (index, row) in rows.iter().enumerate() {
            for (feature, value) in row.iter().filter(|entry| arrays[entry.0 as usize] == NONE) {
                occurrences[next[feature as usize]] = (index as u32, value);
                next[feature as usize] += 1;
            }
        }
        Self {
            classes,
            arrays,
            values: vec![0.0; by_frequency.len() * classes],
            starts,
            occurrences,
            products: vec![0.0; rows.len()],
            touched: Vec::new(),
        }
    }

    fn array(&self, feature: u32) -> Option<std::ops::Range<usize>> {
        let array = self.arrays[feature as usize];
        let start = array as usize * self.classes;
        (array != NONE).then(|| start..start + self.classes)
    }

    fn occurrences(&self, feature: u32) -> &[(u32, f32)] {
        &self.occurrences[self.starts[feature as usize]..self.starts[feature as usize + 1]]
    }

    /// Leaves in `scores` the score of every class for `row`; `duals` has the variables of all rows.
    pub(super) fn scores(&mut self, row: RowView<'_>, duals: &[RowDuals], scores: &mut [f32]) {
        scores.fill(0.0);
        let mut products = std::mem::take(&mut self.products);
        let mut touched = std::mem::take(&mut self.touched);
        for (feature, value) in row.iter() {
            if let Some(array) = self.array(feature) {
                for (score, weight) in scores.iter_mut().zip(&self.values[array]) {
                    *score += value * weight;
                }
                continue;
            }
            for &(other, of_other) in self.occurrences(feature) {
                let product = &mut products[other as usize];
                if *product == 0.0 {
                    touched.push(other);
                }
                *product += value * of_other;
            }
        }
        for &other in &touched {
            // A row that comes up twice, because its products cancelled out, counts once: it is cleared
            // here.
            let product = std::mem::take(&mut products[other as usize]);
            if product != 0.0 {
                for &(class, dual) in &duals[other as usize] {
                    scores[class as usize] += product * dual;
                }
            }
        }
        touched.clear();
        (self.products, self.touched) = (products, touched);
    }

    /// Takes note that variables of `row` have changed by so much.
    pub(super) fn add(&mut self, row: RowView<'_>, changes: &[(u32, f32)]) {
        for (feature, value) in row.iter() {
            if let Some(array) = self.array(feature) {
                let weights = &mut self.values[array];
                for &(class, change) in changes {
                    weights[class as usize] += change * value;
                }
            }
        }
    }

    /// The scorer, without weights below `min_weight` in absolute value. The weights of a feature are
    /// computed when its turn comes, twice: first to count them, so that their lists need not grow, and a
    /// growing list takes up to three times its memory.
    pub(super) fn into_linear(self, duals: &[RowDuals], min_weight: f32) -> Linear {
        let mut kept = 0;
        self.visit_features(duals, min_weight, |weights| kept += weights.len());
        let mut builder = LinearBuilder::new(self.classes);
        builder.reserve(kept);
        self.visit_features(duals, min_weight, |weights| {
            builder.push_feature(weights.iter().copied());
        });
        builder.finish(Precision::F32)
    }

    /// Calls `visit` for each feature with its classes, in order, and their weights: none that is zero or
    /// below `min_weight` in absolute value.
    fn visit_features(&self, duals: &[RowDuals], min_weight: f32, mut visit: impl FnMut(&[(u32, f32)])) {
        let is_kept = |weight: f32| weight != 0.0 && weight.abs() >= min_weight;
        let mut sums = vec![0f32; self.classes];
        let mut classes = Vec::new();
        let mut kept = Vec::new();
        for feature in 0..self.arrays.len() as u32 {
            kept.clear();
            if let Some(array) = self.array(feature) {
                let weights = (0..).zip(self.values[array].iter().copied());
                kept.extend(weights.filter(|entry| is_kept(entry.1)));
            } else {
                for &(row, value) in self.occurrences(feature) {
                    for &(class, dual) in &duals[row as usize] {
                        classes.push(class);
                        sums[class as usize] += value * dual;
                    }
                }
                classes.sort_unstable();
                classes.dedup();
                let weights = classes
                    .drain(..)
                    .map(|class| (class, std::mem::take(&mut sums[class as usize])));
                kept.extend(weights.filter(|entry| is_kept(entry.1)));
            }
            visit(&kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use memoir::model::Scorer;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a dense table of weights; with few classes features have arrays, with many some or none.
        #[test]
        fn scores_and_weights_are_those_of_a_dense_table(
            table in proptest::collection::vec(proptest::collection::vec(-2i8..3, 5), 1..12),
            classes in prop_oneof![Just(3usize), Just(40), Just(90)],
            changes in proptest::collection::vec((0usize..12, 0u32..40, -3i8..4), 0..40),
        ) {
            let mut rows = Rows::new();
            for row in &table {
                let mut entries: Vec<(u32, f32)> = row.iter().enumerate()
                    .filter(|entry| *entry.1 != 0).map(|(f, v)| (f as u32, f32::from(*v))).collect();
                rows.push_unsorted(&mut entries);
            }
            rows.set_width(5);
            let mut weights = DualWeights::new(&rows, classes);
            let mut duals = vec![RowDuals::new(); rows.len()];
            let mut dense = vec![[0f32; 5]; classes];
            for (row, class, change) in changes {
                let (row, class, change) = (row % rows.len(), class % classes as u32, f32::from(change));
                weights.add(rows.row(row), &[(class, change)]);
                match duals[row].binary_search_by_key(&class, |dual| dual.0) {
                    Ok(index) => duals[row][index].1 += change,
                    Err(index) => duals[row].insert(index, (class, change)),
                }
                for (feature, value) in rows.row(row).iter() {
                    dense[class as usize][feature as usize] += change * value;
                }
            }
            let mut scores = vec![9.0; classes];
            for row in rows.iter() {
                // Twice: nothing may be left over from the first time.
                weights.scores(row, &duals, &mut scores);
                weights.scores(row, &duals, &mut scores);
                for (score, weights) in scores.iter().zip(&dense) {
                    let expected: f32 = row.iter().map(|(feature, value)| value * weights[feature as usize]).sum();
                    prop_assert_eq!(*score, expected);
                }
            }
            let linear = weights.into_linear(&duals, 2.0);
            for (class, expected) in dense.iter().enumerate() {
                let mut got = [0f32; 5];
                for (feature, weight) in linear.class_weights(class as u32).unwrap() {
                    got[feature as usize] = weight;
                }
                prop_assert_eq!(got, expected.map(|weight| if weight.abs() >= 2.0 { weight } else { 0.0 }));
            }
        }
    }
}
