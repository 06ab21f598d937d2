//! The weights of an base model, as training goes on from them.

use xxhash_rust::xxh3::Xxh3;

use super::class_slice::ClassSlice;
use super::replay;
use crate::dataset::Dataset;
use crate::sparse::fixed_point::{Posting, quantize_weight};
use crate::train::BaseModel;
use crate::{Error, Result, Session};

/// Weights by feature, as postings sorted by class, in today's units.
pub(super) struct BaseWeights<P> {
    /// Start of each feature's postings, and one past the end.
    starts: Vec<usize>,
    postings: Vec<P>,
    /// Rows that each class had.
    pub(super) class_counts: Vec<u32>,
    /// Rows in all.
    pub(super) rows: u64,
    /// Some of them, to be repeated.
    pub(super) replay: Dataset,
}

impl<P: Posting> BaseWeights<P> {
    /// For going on with `new_rows` rows.
    /// Only the weights of the classes of `slice` are taken over, and these are counted inside of it.
    pub(super) fn new(
        before: &BaseModel<'_>,
        new_rows: usize,
        slice: &ClassSlice<'_>,
        session: &Session<'_>,
    ) -> Result<Self> {
        let own = slice.range();
        let features = before.scorer.features();
        let mut base = Self {
            starts: Vec::with_capacity(features + 1),
            postings: Vec::with_capacity(before.scorer.weight_storage().map_or(0, |(weights, _)| weights)),
            class_counts: before.class_counts.to_vec(),
            rows: before.rows,
            replay: replay::some(&before.replay, new_rows, session),
        };
        base.starts.push(0);
        for feature in 0..features as u32 {
            if feature % 4096 == 0 {
                session.check()?;
            }
            let weights = before.scorer.feature_weights(feature).ok_or_else(|| {
                Error::Mismatch(format!(
                    "a model of kind `{}` has no weights that training could go on from",
                    before.scorer.kind()
                ))
            })?;
            let scale = before
                .feature_scales
                .get(feature as usize)
                .copied()
                .unwrap_or(1.0);
            let scaled = weights
                .into_iter()
                .filter(|(class, _)| own.contains(class))
                .map(|(class, weight)| P::new(class - own.start, quantize_weight(weight * scale)));
            base.postings
                .extend(scaled.filter(|posting| posting.weight() != 0));
            base.starts.push(base.postings.len());
        }
        Ok(base)
    }

    /// Nothing was learned before.
    pub(super) fn none() -> Self {
        Self {
            starts: vec![0],
            postings: Vec::new(),
            class_counts: Vec::new(),
            rows: 0,
            replay: Dataset::default(),
        }
    }

    /// The weights of `feature`, by rising class.
    pub(super) fn feature(&self, feature: usize) -> &[P] {
        match (self.starts.get(feature), self.starts.get(feature + 1)) {
            (Some(&start), Some(&end)) => &self.postings[start..end],
            _ => &[],
        }
    }

    /// A hash of everything.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(bytemuck::cast_slice(&self.starts));
        hash.update(bytemuck::cast_slice(&self.postings));
        hash.update(bytemuck::cast_slice(&self.class_counts));
        hash.update(&self.rows.to_le_bytes());
        hash.update(&self.replay.fingerprint().to_le_bytes());
        hash.digest()
    }

    /// Which of the feature's weights is that of `class`, if it has one.
    pub(super) fn find(&self, feature: u32, class: u32) -> Option<usize> {
        self.feature(feature as usize)
            .binary_search_by_key(&class, |posting| posting.class())
            .ok()
    }
}
