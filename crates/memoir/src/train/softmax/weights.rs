//! The weights while they are learned.
//!
//! Only pairs of feature and class that occur together in a training row get a weight (the *support*). So
//! the layout is fixed before training starts: nothing is inserted or moved, the memory is known in advance,
//! and postings stay sorted by class. Measured, the weights left out this way are worth at most 0.15 points
//! of accuracy with one label a row and 0.3 with several, and they would be the larger part of them.

mod kept;

use super::base_weights::BaseWeights;
use super::centroids::Centroids;
use super::class_slice::ClassSlice;
use crate::sparse::fixed_point::{FeatureRow, FeatureRows, Posting, QuantizedRow, SumScale, padded};
use crate::sparse::prefetch;
use crate::{Result, Session};

/// Marks a feature whose weights are postings.
const SPARSE: u32 = u32::MAX;

/// Which pairs get a weight, and how these are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Layout {
    /// Pairs whose first weight is smaller, in fixed-point units, get no weight at all; at least 1.
    pub(super) least: i16,
    /// Features that occur with this many classes get a dense row.
    pub(super) dense_from: u32,
}

/// Weights by feature: postings sorted by class, dense rows for frequent features.
pub(super) struct LearnedWeights<P> {
    classes: usize,
    /// Start of each feature's postings, and one past the end.
    starts: Vec<usize>,
    postings: Vec<P>,
    /// Which dense row a feature has, or [`SPARSE`].
    slots: Vec<u32>,
    /// The features with a dense row, rising; the position is the slot.
    dense_features: Vec<u32>,
    dense: Vec<i16>,
    /// A bound of the sizes of each feature's weights: never too small, and no smaller later than before.
    largest: Vec<u16>,
}

impl<P: Posting> LearnedWeights<P> {
    /// Weights of the classes of `slice` that start at those of `base` and, where these say nothing, at the
    /// class centroids, both of the slice, laid out as `layout` says.
    pub(super) fn starting(
        base: &BaseWeights<P>,
        centroids: &Centroids<'_>,
        slice: &ClassSlice<'_>,
        layout: Layout,
        session: &Session<'_>,
    ) -> Result<Self> {
        let classes = slice.len();
        let features = centroids.width();
        let mut counts: Vec<u32> = (0..features)
            .map(|feature| base.feature(feature).len() as u32)
            .collect();
        centroids.for_each(layout.least, session, |class, centroid| {
            for &(feature, _) in centroid {
                counts[feature as usize] += u32::from(base.find(feature, class).is_none());
            }
        })?;
        // Weights of dense rows are learned a little differently, so which rows are dense must not depend on
        // who has which classes.
        let mut of_all = counts.clone();
        slice.combine(&mut of_all, u32::saturating_add, session)?;
        let mut weights = Self {
            classes,
            starts: vec![0; features + 1],
            postings: Vec::new(),
            slots: vec![SPARSE; features],
            dense_features: Vec::new(),
            dense: Vec::new(),
            largest: vec![0; features],
        };
        for (feature, &count) in counts.iter().enumerate() {
            let mut length = count as usize;
            if of_all[feature] >= layout.dense_from {
                weights.slots[feature] = weights.dense_features.len() as u32;
                weights.dense_features.push(feature as u32);
                length = 0;
            }
            weights.starts[feature + 1] = weights.starts[feature] + length;
        }
        drop((counts, of_all));
        weights.postings = vec![P::new(0, 0); weights.starts[features]];
        weights.dense = vec![0; weights.dense_features.len() * padded(classes)];

        let mut next = weights.starts.clone();
        for feature in 0..features {
            for posting in base.feature(feature) {
                weights.put(&mut next, feature as u32, posting.class(), posting.weight());
            }
        }
        centroids.for_each(layout.least, session, |class, centroid| {
            for &(feature, weight) in centroid {
                match base.find(feature, class) {
                    None => weights.put(&mut next, feature, class, weight),
                    Some(index) => weights.add(feature, index, class, weight),
                }
            }
        })?;
        // New pairs came behind the base ones.
        for (feature, range) in weights.starts.windows(2).enumerate() {
            if !base.feature(feature).is_empty() {
                weights.postings[range[0]..range[1]].sort_unstable_by_key(|posting| posting.class());
            }
        }
        weights.find_largest();
        Ok(weights)
    }

    /// Finds the largest weight of each feature.
    fn find_largest(&mut self) {
        let largest = (0..self.features() as u32).map(|feature| match self.feature(feature) {
            FeatureRow::Sparse(postings) => largest(postings.iter().map(|posting| posting.weight())),
            FeatureRow::Dense(dense) => largest(dense.iter().copied()),
            // Weights that are learned are never packed.
            FeatureRow::Packed(_) => 0,
        });
        self.largest = largest.collect();
    }

    /// How `row` is scored in sums of 16 bits, if these are precise enough.
    pub(super) fn rough_scale(&self, row: QuantizedRow<'_>) -> Option<SumScale> {
        SumScale::rough(row, |feature| {
            self.largest.get(feature as usize).copied().unwrap_or(0)
        })
    }

    /// Puts a weight where the next one of its feature goes.
    fn put(&mut self, next: &mut [usize], feature: u32, class: u32, weight: i16) {
        let slot = self.slots[feature as usize];
        if slot == SPARSE {
            self.postings[next[feature as usize]] = P::new(class, weight);
            next[feature as usize] += 1;
        } else {
            self.dense[slot as usize * padded(self.classes) + class as usize] = weight;
        }
    }

    /// Adds to the weight of a pair that is number `index` of the feature's postings, if these are not a
    /// dense row.
    fn add(&mut self, feature: u32, index: usize, class: u32, more: i16) {
        let slot = self.slots[feature as usize];
        if slot == SPARSE {
            let posting = &mut self.postings[self.starts[feature as usize] + index];
            *posting = P::new(class, posting.weight().saturating_add(more));
        } else {
            let weight = &mut self.dense[slot as usize * padded(self.classes) + class as usize];
            // Zero would mark the pair as one without a weight.
            *weight = match weight.saturating_add(more) {
                0 => 1,
                sum => sum,
            };
        }
    }

    /// Asks for where the weights of a feature are; for these [`LearnedWeights::prefetch`] can be called
    /// then.
    pub(super) fn prefetch_offset(&self, feature: u32) {
        prefetch(&self.starts, feature as usize);
        prefetch(&self.slots, feature as usize);
        prefetch(&self.largest, feature as usize);
    }

    /// Asks for the first weights of a feature that will be needed soon.
    pub(super) fn prefetch(&self, feature: u32) {
        prefetch(&self.postings, self.starts[feature as usize]);
    }

    pub(super) fn features(&self) -> usize {
        self.slots.len()
    }

    /// Multiplies all weights.
    pub(super) fn lengthen(&mut self, factor: f32) {
        if factor == 1.0 {
            return;
        }
        let longer = |weight: i16| (f32::from(weight) * factor).round() as i16;
        for posting in &mut self.postings {
            *posting = P::new(posting.class(), longer(posting.weight()));
        }
        for weight in &mut self.dense {
            *weight = longer(*weight);
        }
        self.find_largest();
    }

    /// Bytes beside the weights themselves, for so many features.
    pub(super) fn overhead(features: usize) -> usize {
        (features + 1) * (size_of::<usize>() + size_of::<u32>() + size_of::<u16>())
    }

    /// Bytes that the weights take.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.postings) + size_of_val(&*self.dense) + Self::overhead(self.features())
    }

    /// How many weights of `feature` have at least this size. A loop over plain slices, of which the
    /// compiler takes many at a time.
    pub(super) fn count(&self, feature: u32, least: i16) -> usize {
        let matters = |weight: i16| weight.unsigned_abs() >= least.unsigned_abs();
        match self.feature(feature) {
            FeatureRow::Sparse(postings) => postings
                .iter()
                .filter(|posting| matters(posting.weight()))
                .count(),
            FeatureRow::Dense(dense) => dense.iter().filter(|&&weight| matters(weight)).count(),
            FeatureRow::Packed(_) => 0,
        }
    }

    /// Cuts the weights into parts that can be changed at the same time: part `i` holds the features from
    /// `ends[i - 1]` up to but not including `ends[i]`. `ends` rises.
    pub(super) fn parts(&mut self, ends: impl Iterator<Item = usize>) -> Vec<Part<'_, P>> {
        let row = padded(self.classes);
        let (mut postings, mut dense) = (&mut self.postings[..], &mut self.dense[..]);
        let mut largest = &mut self.largest[..];
        let (mut first_feature, mut first_posting, mut first_slot) = (0, 0, 0);
        let mut parts = Vec::new();
        for end in ends {
            let last_posting = self.starts[end];
            let last_slot = self
                .dense_features
                .partition_point(|&feature| (feature as usize) < end);
            let (part_postings, rest) = postings.split_at_mut(last_posting - first_posting);
            let (part_dense, dense_rest) = dense.split_at_mut((last_slot - first_slot) * row);
            let (part_largest, largest_rest) = largest.split_at_mut(end - first_feature);
            parts.push(Part {
                starts: &self.starts,
                slots: &self.slots,
                row,
                first_feature,
                first_posting,
                first_slot,
                postings: part_postings,
                dense: part_dense,
                largest: part_largest,
            });
            (postings, dense, largest) = (rest, dense_rest, largest_rest);
            (first_feature, first_posting, first_slot) = (end, last_posting, last_slot);
        }
        parts
    }

    /// The bounds of all features' weights, to be put back by [`LearnedWeights::restore_largest`].
    pub(super) fn largest(&self) -> &[u16] {
        &self.largest
    }

    /// Raises the bound of a feature's weights.
    pub(super) fn raise_largest(&mut self, feature: u32, bound: u16) -> bool {
        let largest = self.largest.get_mut(feature as usize);
        largest.map(|largest| *largest = bound.max(*largest)).is_some()
    }

    /// Raises the bounds of all features' weights to those that other shards have.
    pub(super) fn combine_largest(&mut self, slice: &ClassSlice<'_>, session: &Session<'_>) -> Result<()> {
        slice.combine(&mut self.largest, u16::max, session)
    }

    pub(super) fn restore_largest(&mut self, largest: Vec<u16>) -> bool {
        let fits = largest.len() == self.largest.len();
        if fits {
            self.largest = largest;
        }
        fits
    }

    /// The values of all weights.
    pub(super) fn values(&self) -> (&[P], &[i16]) {
        (&self.postings, &self.dense)
    }

    /// Whether `snapshot` is of weights laid out like these.
    pub(super) fn fits(&self, snapshot: &(Vec<P>, Vec<i16>)) -> bool {
        snapshot.0.len() == self.postings.len() && snapshot.1.len() == self.dense.len()
    }

    /// The values of all weights, to be put back by [`LearnedWeights::restore`].
    pub(super) fn snapshot(&self) -> (Vec<P>, Vec<i16>) {
        (self.postings.clone(), self.dense.clone())
    }

    pub(super) fn restore(&mut self, snapshot: (Vec<P>, Vec<i16>)) {
        (self.postings, self.dense) = snapshot;
    }
}

impl<P: Posting> FeatureRows for LearnedWeights<P> {
    type Posting = P;

    fn classes(&self) -> usize {
        self.classes
    }

    #[inline]
    fn feature(&self, feature: u32) -> FeatureRow<'_, P> {
        let feature = feature as usize;
        match self.slots.get(feature) {
            None => FeatureRow::Sparse(&[]),
            Some(&SPARSE) => {
                FeatureRow::Sparse(&self.postings[self.starts[feature]..self.starts[feature + 1]])
            }
            Some(&slot) => {
                let row = padded(self.classes);
                FeatureRow::Dense(&self.dense[slot as usize * row..][..row])
            }
        }
    }
}

/// The largest size of `weights`.
fn largest(weights: impl Iterator<Item = i16>) -> u16 {
    weights.map(i16::unsigned_abs).max().unwrap_or(0)
}

/// A run of features whose weights one thread may change.
pub(super) struct Part<'a, P> {
    starts: &'a [usize],
    slots: &'a [u32],
    row: usize,
    first_feature: usize,
    first_posting: usize,
    first_slot: usize,
    postings: &'a mut [P],
    dense: &'a mut [i16],
    largest: &'a mut [u16],
}

/// The weights of one feature, to be changed.
pub(super) enum FeatureRowMut<'a, P> {
    Sparse(&'a mut [P]),
    Dense(&'a mut [i16]),
}

impl<P: Posting> Part<'_, P> {
    /// Asks for the first weights of a feature that will be needed soon.
    pub(super) fn prefetch(&self, feature: u32) {
        prefetch(self.postings, self.starts[feature as usize] - self.first_posting);
    }

    /// Notes that weights of `feature` have come to this size.
    pub(super) fn note_largest(&mut self, feature: u32, size: u16) {
        let largest = &mut self.largest[feature as usize - self.first_feature];
        *largest = size.max(*largest);
    }

    pub(super) fn feature(&mut self, feature: u32) -> FeatureRowMut<'_, P> {
        let feature = feature as usize;
        match self.slots[feature] {
            SPARSE => {
                let range =
                    self.starts[feature] - self.first_posting..self.starts[feature + 1] - self.first_posting;
                FeatureRowMut::Sparse(&mut self.postings[range])
            }
            slot => {
                let start = (slot as usize - self.first_slot) * self.row;
                FeatureRowMut::Dense(&mut self.dense[start..start + self.row])
            }
        }
    }
}
