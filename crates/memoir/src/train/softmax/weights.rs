//! The weights while they are learned.
//!
//! Only pairs of feature and class that occur together in a training row get a weight (their *support*), and frequent
//! features a weight for every class. So the layout is fixed before training starts: nothing is inserted or moved, the
//! memory is known in advance, and postings stay sorted by class. Measured, the weights left out this way are worth
//! less than a tenth of a point of accuracy, and they would be the larger part of the model.

use super::rows::QuantizedRows;
use crate::data::{Dataset, RowsByClass};
use crate::sparse::fixed::{FeatureRow, FeatureRows, Posting, padded, quantize_weight};
use crate::{Result, Session};

/// Marks a feature whose weights are postings.
const SPARSE: u32 = u32::MAX;

/// Weights by feature: postings sorted by class, dense rows for frequent features.
pub(super) struct Weights<P> {
    classes: usize,
    /// Start of each feature's postings, and one past the end.
    starts: Vec<usize>,
    postings: Vec<P>,
    /// Which dense row a feature has, or [`SPARSE`].
    slots: Vec<u32>,
    /// The features with a dense row, rising; the position is the slot.
    dense_features: Vec<u32>,
    dense: Vec<i16>,
}

/// How the first weights are made from the class centroids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// Length of each class's first weight vector.
    pub(super) scale: f32,
    /// First weights grow with this power of the class size: large classes, met more often, start a little ahead.
    pub(super) size_power: f32,
    /// Pairs whose first weight is smaller get no weight at all.
    pub(super) least: f32,
    /// Features that occur with this share of the classes get a dense row.
    pub(super) dense_share: f32,
}

/// The centroids of the classes, one after the other.
struct Centroids<'a> {
    rows: &'a QuantizedRows,
    row_weights: Option<&'a [f32]>,
    by_class: RowsByClass,
    size_power: f32,
}

impl Centroids<'_> {
    /// Calls `emit` with each class and the features of its centroid, scaled to unit length.
    fn for_each(&self, session: &Session<'_>, mut emit: impl FnMut(u32, &[(u32, f32)])) -> Result<()> {
        let mut sums = vec![0f32; self.rows.width()];
        let (mut touched, mut centroid) = (Vec::new(), Vec::new());
        for class in 0..self.by_class.classes() {
            if class % 256 == 0 {
                session.check()?;
            }
            for &row in self.by_class.rows(class) {
                let weight = self.row_weights.map_or(1.0, |weights| weights[row as usize]);
                let row = self.rows.row(row as usize);
                let factor = weight / row.scale;
                for (&feature, &value) in row.indices.iter().zip(row.values) {
                    let sum = &mut sums[feature as usize];
                    if *sum == 0.0 {
                        touched.push(feature);
                    }
                    *sum += f32::from(value) * factor;
                }
            }
            let ahead = (self.by_class.rows(class).len() as f32).powf(self.size_power);
            let norm = touched
                .iter()
                .map(|&f| sums[f as usize] * sums[f as usize])
                .sum::<f32>()
                .sqrt()
                / ahead;
            centroid.clear();
            for feature in touched.drain(..) {
                // A feature may have been touched twice, if a sum came back to zero in between: the second finds zero.
                let value = std::mem::take(&mut sums[feature as usize]);
                if value != 0.0 {
                    centroid.push((feature, value / norm));
                }
            }
            emit(class as u32, &centroid);
        }
        Ok(())
    }
}

impl<P: Posting> Weights<P> {
    /// Weights that start at the class centroids.
    pub(super) fn from_centroids(
        data: &Dataset,
        rows: &QuantizedRows,
        start: Start,
        session: &Session<'_>,
    ) -> Result<Self> {
        let (features, classes) = (rows.width(), data.classes.len());
        let centroids = Centroids {
            rows,
            row_weights: data.weights.as_deref(),
            by_class: RowsByClass::new(&data.labels),
            size_power: start.size_power,
        };
        let least = quantize_weight(start.least).max(1);
        let first_weight =
            |value: f32| Some(quantize_weight(value * start.scale)).filter(|w| w.abs() >= least);

        let mut counts = vec![0u32; features];
        centroids.for_each(session, |_, centroid| {
            for &(feature, value) in centroid {
                counts[feature as usize] += u32::from(first_weight(value).is_some());
            }
        })?;
        let dense_from = ((start.dense_share * classes as f32) as u32).max(32);
        let mut weights = Self {
            classes,
            starts: vec![0; features + 1],
            postings: Vec::new(),
            slots: vec![SPARSE; features],
            dense_features: Vec::new(),
            dense: Vec::new(),
        };
        for (feature, &count) in counts.iter().enumerate() {
            let mut length = count as usize;
            if count >= dense_from {
                weights.slots[feature] = weights.dense_features.len() as u32;
                weights.dense_features.push(feature as u32);
                length = 0;
            }
            weights.starts[feature + 1] = weights.starts[feature] + length;
        }
        drop(counts);
        weights.postings = vec![P::new(0, 0); weights.starts[features]];
        weights.dense = vec![0; weights.dense_features.len() * padded(classes)];

        let mut next = weights.starts.clone();
        centroids.for_each(session, |class, centroid| {
            for &(feature, value) in centroid {
                let Some(weight) = first_weight(value) else {
                    continue;
                };
                let slot = weights.slots[feature as usize];
                if slot == SPARSE {
                    weights.postings[next[feature as usize]] = P::new(class, weight);
                    next[feature as usize] += 1;
                } else {
                    weights.dense[slot as usize * padded(classes) + class as usize] = weight;
                }
            }
        })?;
        Ok(weights)
    }

    pub(super) fn features(&self) -> usize {
        self.slots.len()
    }

    /// Bytes that the weights take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.postings)
            + size_of_val(&*self.dense)
            + size_of_val(&*self.starts)
            + size_of_val(&*self.slots)
    }

    /// The weights of `feature` that are not zero, by rising class.
    pub(super) fn stored(&self, feature: u32) -> impl Iterator<Item = (u32, i16)> {
        let (sparse, dense): (&[P], &[i16]) = match self.feature(feature) {
            FeatureRow::Sparse(postings) => (postings, &[]),
            FeatureRow::Dense(dense) => (&[], dense),
        };
        let sparse = sparse.iter().map(|posting| (posting.class(), posting.weight()));
        sparse
            .chain((0u32..).zip(dense.iter().copied()))
            .filter(|entry| entry.1 != 0)
    }

    /// The weight of one pair.
    pub(super) fn weight(&self, feature: u32, class: u32) -> i16 {
        match self.feature(feature) {
            FeatureRow::Dense(dense) => dense[class as usize],
            FeatureRow::Sparse(postings) => {
                let place = postings.partition_point(|posting| posting.class() < class);
                postings
                    .get(place)
                    .filter(|posting| posting.class() == class)
                    .map_or(0, |posting| posting.weight())
            }
        }
    }

    /// Cuts the weights into parts that can be changed at the same time: part `i` holds the features from `ends[i - 1]`
    /// up to but not including `ends[i]`. `ends` rises.
    pub(super) fn parts(&mut self, ends: impl Iterator<Item = usize>) -> Vec<Part<'_, P>> {
        let row = padded(self.classes);
        let (mut postings, mut dense) = (&mut self.postings[..], &mut self.dense[..]);
        let (mut first_posting, mut first_slot) = (0, 0);
        let mut parts = Vec::new();
        for end in ends {
            let last_posting = self.starts[end];
            let last_slot = self
                .dense_features
                .partition_point(|&feature| (feature as usize) < end);
            let (part_postings, rest) = postings.split_at_mut(last_posting - first_posting);
            let (part_dense, dense_rest) = dense.split_at_mut((last_slot - first_slot) * row);
            parts.push(Part {
                starts: &self.starts,
                slots: &self.slots,
                row,
                first_posting,
                first_slot,
                postings: part_postings,
                dense: part_dense,
            });
            (postings, dense) = (rest, dense_rest);
            (first_posting, first_slot) = (last_posting, last_slot);
        }
        parts
    }

    /// The values of all weights, to be put back by [`Weights::restore`].
    pub(super) fn snapshot(&self) -> (Vec<P>, Vec<i16>) {
        (self.postings.clone(), self.dense.clone())
    }

    pub(super) fn restore(&mut self, snapshot: (Vec<P>, Vec<i16>)) {
        (self.postings, self.dense) = snapshot;
    }
}

impl<P: Posting> FeatureRows for Weights<P> {
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

/// A run of features whose weights one thread may change.
pub(super) struct Part<'a, P> {
    starts: &'a [usize],
    slots: &'a [u32],
    row: usize,
    first_posting: usize,
    first_slot: usize,
    postings: &'a mut [P],
    dense: &'a mut [i16],
}

/// The weights of one feature, to be changed.
pub(super) enum FeatureRowMut<'a, P> {
    Sparse(&'a mut [P]),
    Dense(&'a mut [i16]),
}

impl<P: Posting> Part<'_, P> {
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
