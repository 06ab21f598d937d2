//! How far features are spread over classes.

use std::ops::Range;

use rayon::prelude::*;

use crate::dataset::{CalibrationSplit, LabelSets, RowsByClass};
use crate::maths;
use crate::sparse::Rows;

/// For each feature `H / ln n`: 0 if all its occurrences are with one class, 1 if each is with another.
/// `frequency` is the number of rows that hold each feature.
///
/// Rows that are set aside do not count: their labels must not be known when scores are calibrated by them.
pub(super) fn class_spread(rows: &Rows, labels: &LabelSets, frequency: &[u32]) -> Vec<f32> {
    let (by_class, counted) = rayon::join(
        || RowsByClass::new(labels),
        || {
            let aside = CalibrationSplit::of(labels);
            let hashes = CalibrationSplit::hashes(rows).into_iter();
            hashes.map(|hash| !aside.has(hash)).collect::<Vec<bool>>()
        },
    );
    let ranges = even_ranges(frequency, rayon::current_num_threads());
    let of_range = |range: Range<usize>| spread_of_range(rows, &by_class, &counted, range);
    ranges.into_par_iter().map(of_range).collect::<Vec<_>>().concat()
}

/// Cuts the features into at most `parts` ranges that occur about equally often.
fn even_ranges(frequency: &[u32], parts: usize) -> Vec<Range<usize>> {
    let total: u64 = frequency.iter().map(|&count| u64::from(count)).sum();
    let share = total / parts as u64 + 1;
    let mut ranges = Vec::with_capacity(parts);
    let (mut first, mut sum) = (0, 0);
    for (feature, &count) in frequency.iter().enumerate() {
        sum += u64::from(count);
        if sum >= share {
            ranges.push(first..feature + 1);
            (first, sum) = (feature + 1, 0);
        }
    }
    ranges.push(first..frequency.len());
    ranges
}

/// As [`class_spread`], for the features in `range` and the rows of which `counted` is true.
fn spread_of_range(rows: &Rows, by_class: &RowsByClass, counted: &[bool], range: Range<usize>) -> Vec<f32> {
    let mut sums = SpreadSums::new(range);
    for class in 0..by_class.classes() {
        if class + 1 < by_class.classes() {
            for &row in by_class.rows(class + 1) {
                rows.prefetch(row as usize);
            }
        }
        for &row in by_class.rows(class).iter().filter(|&&row| counted[row as usize]) {
            sums.add_row(rows.row(row as usize).indices);
        }
        sums.end_class();
    }
    sums.finish()
}

/// Adds up how often features occur with each class, one class after the other.
pub(crate) struct SpreadSums {
    range: Range<u32>,
    occurrences: Vec<f64>,
    /// Σ m ln m over the classes, with m the feature's occurrences with a class.
    gathered: Vec<f64>,
    /// Occurrences with the class at hand.
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl SpreadSums {
    /// For the features in `range`.
    pub(crate) fn new(range: Range<usize>) -> Self {
        Self {
            occurrences: vec![0.0; range.len()],
            gathered: vec![0.0; range.len()],
            counts: vec![0; range.len()],
            touched: Vec::new(),
            range: range.start as u32..range.end as u32,
        }
    }

    /// Counts a row with these features, which rise.
    pub(crate) fn add_row(&mut self, indices: &[u32]) {
        let Range { start, end } = self.range;
        let first = indices.partition_point(|&feature| feature < start);
        for &feature in indices[first..].iter().take_while(|&&feature| feature < end) {
            let count = &mut self.counts[(feature - start) as usize];
            if *count == 0 {
                self.touched.push(feature - start);
            }
            *count += 1;
        }
    }

    /// All rows of a class were counted.
    pub(crate) fn end_class(&mut self) {
        for feature in self.touched.drain(..) {
            let count = f64::from(std::mem::take(&mut self.counts[feature as usize]));
            self.occurrences[feature as usize] += count;
            // Most features occur once with a class, and the logarithm of 1 is 0.
            if count > 1.0 {
                self.gathered[feature as usize] += count * maths::ln(count);
            }
        }
    }

    /// How far each feature is spread.
    pub(crate) fn finish(self) -> Vec<f32> {
        let spread = |(&n, &sum): (&f64, &f64)| {
            if n > 1.0 {
                (1.0 - sum / n / maths::ln(n)) as f32
            } else {
                0.0
            }
        };
        self.occurrences.iter().zip(&self.gathered).map(spread).collect()
    }
}
