//! The scorer of fixed-point weights: what `softmax` leaves behind, searched exactly as it was in training.

use std::ops::Range;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::tensors::in_order;
use crate::Result;
use crate::model::{
    LinearBuilder, LoadScorer, NewNumbers, PackedScorer, Precision, Scorer, ScorerKind, Scratch, Tensor,
    TensorSource,
};
use crate::sparse::fixed_point::{
    Answerer, Bits, FeatureRow, FeatureRows, LANES, Narrow, Posting, QuantizedRow, WEIGHT_UNITS, Wide,
    least_of_largest, padded, quantize_trimmed, quantize_weight,
};
use crate::sparse::{RowView, Scored, Storage};

/// Name of this kind of scorer in model files.
const KIND: &str = "fixed";

/// How a model file with fixed-point weights is opened.
pub const FIXED: ScorerKind = ScorerKind { kind: KIND, load };

const OFFSETS: &str = "weights.offsets";
const POSTINGS: &str = "weights.postings";
pub(super) const TRIM: &str = "weights.trim";

/// Weights by feature as postings, in memory or in a mapped file.
pub struct FixedScorer<P: Posting> {
    classes: usize,
    /// Start of each feature's postings, and one past the end.
    offsets: Storage<u64>,
    postings: Storage<P>,
    /// Features with so many postings that adding a dense row is quicker; the row is made when first asked
    /// for.
    dense: FxHashMap<u32, OnceLock<Box<[i16]>>>,
    /// The number of postings from which that holds.
    dense_from: usize,
    /// Share of a row's squared length that is left out, smallest values first: one number, or none for 0.
    trim: Storage<f32>,
}

/// Adding a dense row takes about as long as adding postings for this share of the classes.
const DENSE_SHARE: f32 = 0.06;

impl<P: Posting> FixedScorer<P> {
    /// A scorer for `classes` classes from the postings of feature 0, 1, 2, … each sorted by class.
    pub fn new(classes: usize, offsets: Vec<u64>, postings: Vec<P>) -> Self {
        debug_assert!(offsets.is_sorted() && offsets.last() == Some(&(postings.len() as u64)));
        Self::from_storage(classes, offsets.into(), postings.into())
    }

    fn from_storage(classes: usize, offsets: Storage<u64>, postings: Storage<P>) -> Self {
        let dense_from = ((classes as f32 * DENSE_SHARE) as usize).max(LANES);
        let lengths = offsets
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]) as usize);
        let long = (0u32..).zip(lengths).filter(|(_, length)| *length >= dense_from);
        let dense = long.map(|(feature, _)| (feature, OnceLock::new())).collect();
        Self {
            classes,
            offsets,
            postings,
            dense,
            dense_from,
            trim: Vec::new().into(),
        }
    }

    /// Leaves out of each row the smallest values that together hold at most the share `trim` of its squared
    /// length.
    pub fn with_trim(self, trim: f32) -> Self {
        let trim = if trim > 0.0 { vec![trim] } else { Vec::new() };
        Self {
            trim: trim.into(),
            ..self
        }
    }

    fn trim(&self) -> f32 {
        self.trim.first().copied().unwrap_or(0.0)
    }

    /// The weights of a feature for all classes.
    fn spread(&self, postings: &[P]) -> Box<[i16]> {
        let mut row = vec![0; padded(self.classes)].into_boxed_slice();
        for posting in postings {
            if let Some(weight) = row.get_mut(posting.class() as usize) {
                *weight = posting.weight();
            }
        }
        row
    }

    /// Number of weights.
    pub fn weights(&self) -> usize {
        self.postings.len()
    }

    fn postings(&self, feature: u32) -> &[P] {
        let index = feature as usize;
        match (self.offsets.get(index), self.offsets.get(index + 1)) {
            // In a damaged file the range may be nonsense: then the feature has no weights.
            (Some(&start), Some(&end)) => self.postings.get(start as usize..end as usize).unwrap_or(&[]),
            _ => &[],
        }
    }

    fn weight(&self, feature: u32, class: u32) -> i16 {
        let postings = self.postings(feature);
        // They are sorted; in a damaged file, some may not be found.
        let index = postings.partition_point(|posting| posting.class() < class);
        let found = postings.get(index).filter(|posting| posting.class() == class);
        found.map_or(0, |posting| posting.weight())
    }
}

impl<P: Posting> FeatureRows for FixedScorer<P> {
    type Posting = P;

    fn classes(&self) -> usize {
        self.classes
    }

    #[inline]
    fn feature(&self, feature: u32) -> FeatureRow<'_, P> {
        let postings = self.postings(feature);
        if postings.len() >= self.dense_from
            && let Some(dense) = self.dense.get(&feature)
        {
            return FeatureRow::Dense(dense.get_or_init(|| self.spread(postings)));
        }
        FeatureRow::Sparse(postings)
    }
}

/// The part of the scorer's content that is the same for all kinds of postings.
pub(super) trait Stored: Posting {
    fn tensor(postings: &[Self]) -> Tensor<'_>;
    fn read(source: &dyn TensorSource) -> Result<Storage<Self>>;
}

impl Stored for Narrow {
    fn tensor(postings: &[Self]) -> Tensor<'_> {
        Tensor::U32(bytemuck::cast_slice(postings))
    }
    fn read(source: &dyn TensorSource) -> Result<Storage<Self>> {
        let words = source.u32(POSTINGS)?;
        words
            .recast()
            .ok_or_else(|| source.invalid(format!("`{POSTINGS}` is not a whole number of postings")))
    }
}

impl Stored for Wide {
    fn tensor(postings: &[Self]) -> Tensor<'_> {
        Tensor::U16(bytemuck::cast_slice(postings))
    }
    fn read(source: &dyn TensorSource) -> Result<Storage<Self>> {
        let words = source.u16(POSTINGS)?;
        words
            .recast()
            .ok_or_else(|| source.invalid(format!("`{POSTINGS}` is not a whole number of postings")))
    }
}

impl<P: Stored> Scorer for FixedScorer<P> {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn loader(&self) -> LoadScorer {
        load
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        let answerer: &mut Answerer = scratch.get();
        answerer.top_k(self, WEIGHT_UNITS, row, self.trim(), k, out);
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let mut tensors = vec![
            (OFFSETS.to_owned(), Tensor::U64(&self.offsets)),
            (POSTINGS.to_owned(), P::tensor(&self.postings)),
        ];
        if !self.trim.is_empty() {
            tensors.push((TRIM.to_owned(), Tensor::F32(&self.trim)));
        }
        tensors
    }

    fn with_precision(self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        Ok(match precision {
            Precision::F16 => Box::new(PackedScorer::of(&*self, Bits::Sixteen)?.with_trim(self.trim())),
            Precision::Int8 => Box::new(PackedScorer::of(&*self, Bits::Eight)?.with_trim(self.trim())),
            Precision::F32 => {
                let mut builder = LinearBuilder::new(self.classes);
                builder.reserve(self.weights());
                for feature in 0..Scorer::features(&*self) as u32 {
                    builder.push_feature(self.feature_weights(feature).unwrap_or_default());
                }
                Box::new(builder.finish(precision))
            }
        })
    }

    fn with_largest_weights(self: Box<Self>, most: usize) -> Result<Box<dyn Scorer>> {
        let least = least_of_largest(self.postings.iter().map(|posting| posting.weight()), most);
        let mut offsets = vec![0];
        let mut postings = Vec::new();
        for feature in 0..Scorer::features(&*self) as u32 {
            let large = self
                .postings(feature)
                .iter()
                .filter(|p| p.weight().unsigned_abs() >= least);
            postings.extend(large.copied());
            offsets.push(postings.len() as u64);
        }
        let trim = self.trim();
        Ok(Box::new(
            Self::new(self.classes, offsets, postings).with_trim(trim),
        ))
    }

    fn with_classes(self: Box<Self>, new_numbers: &NewNumbers) -> Result<Box<dyn Scorer>> {
        fn build<P: Stored>(scorer: &dyn Scorer, new_numbers: &NewNumbers, trim: f32) -> Box<dyn Scorer> {
            let (mut offsets, mut postings) = (vec![0], Vec::new());
            for feature in 0..scorer.features() as u32 {
                let weights = scorer.feature_weights(feature).unwrap_or_default();
                let renumbered = new_numbers.renumber(feature, weights).into_iter();
                postings.extend(renumbered.map(|(class, weight)| P::new(class, quantize_weight(weight))));
                offsets.push(postings.len() as u64);
            }
            Box::new(FixedScorer::new(new_numbers.classes(), offsets, postings).with_trim(trim))
        }
        // Files tell the form of postings by the number of classes, which may have shrunk.
        Ok(if new_numbers.classes() <= Narrow::CLASSES {
            build::<Narrow>(&*self, new_numbers, self.trim())
        } else {
            build::<Wide>(&*self, new_numbers, self.trim())
        })
    }

    fn check_content(&self) -> std::result::Result<(), String> {
        let beyond = self
            .postings
            .iter()
            .find(|posting| posting.class() as usize >= self.classes);
        beyond.map_or(Ok(()), |posting| {
            Err(format!(
                "`{POSTINGS}` names class {}, but there are {} classes",
                posting.class(),
                self.classes
            ))
        })
    }

    fn weight_storage(&self) -> Option<(usize, &'static str)> {
        Some((self.weights(), "i16"))
    }

    fn contributions(&self, row: RowView<'_>, class: u32) -> Option<Vec<(u32, f32)>> {
        let mut values = Vec::new();
        let scale = quantize_trimmed(row.values, self.trim(), &mut Vec::new(), &mut values);
        let unit = QuantizedRow {
            indices: row.indices,
            values: &values,
            scale,
        }
        .score_unit();
        let terms = row.indices.iter().zip(&values).map(|(&feature, &value)| {
            (
                feature,
                (i32::from(self.weight(feature, class)) * i32::from(value)) as f32 * unit,
            )
        });
        Some(terms.collect())
    }

    fn feature_weights(&self, feature: u32) -> Option<Vec<(u32, f32)>> {
        let postings = self.postings(feature).iter();
        let mut weights = postings
            .map(|posting| (posting.class(), f32::from(posting.weight()) / WEIGHT_UNITS))
            .collect();
        in_order(&mut weights, self.classes);
        Some(weights)
    }

    fn class_weights_among(&self, class: u32, features: Range<u32>) -> Option<Vec<(u32, f32)>> {
        let all = features.map(|feature| (feature, self.weight(feature, class)));
        let stored = all.filter(|(_, weight)| *weight != 0);
        Some(
            stored
                .map(|(feature, weight)| (feature, f32::from(weight) / WEIGHT_UNITS))
                .collect(),
        )
    }
}

fn load(source: &dyn TensorSource) -> Result<Box<dyn Scorer>> {
    if source.shape().0 <= Narrow::CLASSES {
        load_as::<Narrow>(source)
    } else {
        load_as::<Wide>(source)
    }
}

fn load_as<P: Stored>(source: &dyn TensorSource) -> Result<Box<dyn Scorer>> {
    let (classes, features) = source.shape();
    let offsets = source.u64(OFFSETS)?;
    let postings = P::read(source)?;
    if offsets.len() != features + 1 {
        return Err(source.invalid(format!(
            "`{OFFSETS}` has {} entries, but {features} features need {}",
            offsets.len(),
            features + 1
        )));
    }
    if offsets.first() != Some(&0) || offsets.last() != Some(&(postings.len() as u64)) || !offsets.is_sorted()
    {
        return Err(source.invalid(format!(
            "`{OFFSETS}` does not rise from 0 to {} postings",
            postings.len()
        )));
    }
    let trim = match source.element(TRIM) {
        Some(_) => source.f32(TRIM)?,
        None => Vec::new().into(),
    };
    if !matches!(trim[..], [] | [0.0..1.0]) {
        return Err(source.invalid(format!("`{TRIM}` is not one number of at least 0 and below 1")));
    }
    Ok(Box::new(FixedScorer {
        trim,
        ..FixedScorer::from_storage(classes, offsets, postings)
    }))
}

#[cfg(test)]
mod tests;
