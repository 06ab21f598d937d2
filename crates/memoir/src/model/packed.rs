//! The scorer of packed weights: what `memoir compact` leaves behind. Scores are computed as by fixed-point
//! weights, from rows that are read as they lie in the file.

use std::ops::Range;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::model::{
    LinearBuilder, LoadScorer, NewNumbers, Precision, Scorer, ScorerKind, Scratch, Tensor, TensorSource,
};
use crate::sparse::fixed_point::{
    Answerer, Bits, FeatureRow, FeatureRows, LANES, Narrow, PackedRow, WEIGHT_UNITS, least_of_largest, pack,
    padded, quantize_trimmed,
};
use crate::sparse::{RowView, Scored, Storage};
use crate::{Error, Result};

/// How a model file with packed weights is opened.
pub const PACKED: ScorerKind = ScorerKind {
    kind: "packed",
    load: |source| Ok(Box::new(PackedScorer::load(source)?)),
};

const OFFSETS: &str = "packed.offsets";
const POSTINGS: &str = "packed.postings";
const BITS: &str = "packed.bits";
const UNITS: &str = "packed.units";
const TRIM: &str = "packed.trim";

/// Features with at least this share of the classes are added as dense rows, made when first asked for.
const DENSE_SHARE: f32 = 0.06;

/// Weights by feature in packed rows, in memory or in a mapped file.
pub struct PackedScorer {
    classes: usize,
    bits: Bits,
    /// Weight units in a weight of 1.
    units: f32,
    /// Share of a row's squared length that is left out, smallest values first: one number, or none for 0.
    trim: Storage<f32>,
    /// Start of each feature's row, and one past the end.
    offsets: Storage<u32>,
    postings: Storage<u8>,
    dense: FxHashMap<u32, OnceLock<Box<[i16]>>>,
    /// Bytes of the shortest row that may be worth a dense one.
    long: usize,
}

impl PackedScorer {
    /// Packs the weights of each feature; each comes with its classes, rising, and weights in `units`.
    pub(super) fn pack(
        classes: usize,
        features: impl Iterator<Item = Vec<(u32, i16)>>,
        bits: Bits,
        units: f32,
    ) -> Result<Self> {
        let (mut offsets, mut postings) = (vec![0], Vec::new());
        for feature in features {
            pack(&feature, bits, &mut postings);
            let end = u32::try_from(postings.len()).map_err(|_| {
                Error::Mismatch("the model is too large to be packed: more than 4 GB of weights".to_owned())
            })?;
            offsets.push(end);
        }
        postings.shrink_to_fit();
        Ok(Self::new(classes, bits, units, offsets.into(), postings.into()))
    }

    /// Packs the weights of any scorer that has weights by feature.
    pub(super) fn of(scorer: &dyn Scorer, bits: Bits) -> Result<Self> {
        let features = 0..scorer.features() as u32;
        let weights = |feature| scorer.feature_weights(feature).unwrap_or_default();
        if scorer.feature_weights(0).is_none() || (0..scorer.classes() as u32).any(|c| scorer.bias(c) != 0.0)
        {
            return Err(Error::Parameter(format!(
                "a model of kind `{}` {} cannot be packed",
                scorer.kind(),
                if scorer.feature_weights(0).is_none() {
                    "without weights"
                } else {
                    "with a bias"
                }
            )));
        }
        let largest = features
            .clone()
            .flat_map(weights)
            .fold(0.0f32, |largest, (_, weight)| largest.max(weight.abs()));
        // Fixed-point weights keep their unit, and so every bit.
        let units = match scorer.kind() {
            "fixed" => WEIGHT_UNITS,
            _ if largest > 0.0 && largest.is_finite() => 32_000.0 / largest,
            _ => 1.0,
        };
        let rounded = |(class, weight): (u32, f32)| (class, (weight * units).round() as i16);
        let rows = features.map(|feature| weights(feature).into_iter().map(rounded).collect());
        Self::pack(scorer.classes(), rows, bits, units)
    }

    fn new(classes: usize, bits: Bits, units: f32, offsets: Storage<u32>, postings: Storage<u8>) -> Self {
        let dense_from = ((classes as f32 * DENSE_SHARE) as usize).max(LANES);
        // A weight takes at least two bytes, or three.
        let long = dense_from * if bits == Bits::Eight { 2 } else { 3 };
        let lengths = offsets
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]) as usize);
        let dense = (0u32..).zip(lengths).filter(|(_, length)| *length >= long);
        Self {
            classes,
            bits,
            units,
            trim: Vec::new().into(),
            dense: dense.map(|(feature, _)| (feature, OnceLock::new())).collect(),
            offsets,
            postings,
            long,
        }
    }

    /// The same, but the smallest values of rows are left out.
    pub(super) fn with_trim(mut self, trim: f32) -> Self {
        self.trim = if trim > 0.0 { vec![trim] } else { Vec::new() }.into();
        self
    }

    fn trim(&self) -> f32 {
        self.trim.first().copied().unwrap_or(0.0)
    }

    fn load(source: &dyn TensorSource) -> Result<Self> {
        let (classes, features) = source.shape();
        let (offsets, postings) = (source.u32(OFFSETS)?, source.u8(POSTINGS)?);
        let bits = match *source.u8(BITS)? {
            [8] => Bits::Eight,
            [16] => Bits::Sixteen,
            _ => return Err(source.invalid(format!("`{BITS}` should be 8 or 16"))),
        };
        let units = match *source.f32(UNITS)? {
            [units] if units.is_finite() && units > 0.0 => units,
            _ => return Err(source.invalid(format!("`{UNITS}` should be one positive number"))),
        };
        if Some(offsets.len()) != features.checked_add(1) {
            return Err(source.invalid(format!(
                "`{OFFSETS}` has {} entries where {features} features need one more than that",
                offsets.len()
            )));
        }
        if offsets.first() != Some(&0)
            || offsets.last().map(|&end| end as usize) != Some(postings.len())
            || !offsets.is_sorted()
        {
            return Err(source.invalid(format!(
                "`{OFFSETS}` does not rise from 0 to {} bytes",
                postings.len()
            )));
        }
        let mut scorer = Self::new(classes, bits, units, offsets, postings);
        if source.element(TRIM).is_some() {
            scorer.trim = source.f32(TRIM)?;
            if !matches!(*scorer.trim, [trim] if (0.0..1.0).contains(&trim)) {
                return Err(source.invalid(format!("`{TRIM}` should be one number from 0 to 1")));
            }
        }
        Ok(scorer)
    }

    fn bytes(&self, feature: u32) -> &[u8] {
        let index = feature as usize;
        match (self.offsets.get(index), self.offsets.get(index + 1)) {
            (Some(&start), Some(&end)) => self.postings.get(start as usize..end as usize).unwrap_or(&[]),
            _ => &[],
        }
    }

    fn packed(&self, feature: u32) -> PackedRow<'_> {
        PackedRow::new(self.bytes(feature), self.bits)
    }

    fn spread(&self, feature: u32) -> Box<[i16]> {
        let mut row = vec![0; padded(self.classes)].into_boxed_slice();
        self.packed(feature).for_each(|class, weight| {
            if let Some(slot) = row.get_mut(class as usize) {
                *slot = weight;
            }
        });
        row
    }

    /// The classes of a feature with their weights in units.
    fn unpacked(&self, feature: u32) -> Vec<(u32, i16)> {
        let mut weights = Vec::new();
        self.packed(feature).for_each(|class, weight| {
            if (class as usize) < self.classes {
                weights.push((class, weight));
            }
        });
        // Only in a damaged file can they be out of order.
        if !weights.is_sorted_by(|a, b| a.0 < b.0) {
            weights.sort_by_key(|posting| posting.0);
            weights.dedup_by_key(|posting| posting.0);
        }
        weights
    }

    fn all_unpacked(&self) -> impl Iterator<Item = Vec<(u32, i16)>> {
        (0..self.features() as u32).map(|feature| self.unpacked(feature))
    }

    fn count(&self) -> usize {
        let mut count = 0;
        for feature in 0..self.features() as u32 {
            self.packed(feature).for_each(|_, _| count += 1);
        }
        count
    }

    fn score_unit(&self, scale: f32) -> f32 {
        1.0 / (scale * self.units)
    }
}

impl FeatureRows for PackedScorer {
    type Posting = Narrow;

    fn classes(&self) -> usize {
        self.classes
    }

    #[inline]
    fn feature(&self, feature: u32) -> FeatureRow<'_, Narrow> {
        let bytes = self.bytes(feature);
        if bytes.len() >= self.long
            && let Some(dense) = self.dense.get(&feature)
        {
            return FeatureRow::Dense(dense.get_or_init(|| self.spread(feature)));
        }
        FeatureRow::Packed(PackedRow::new(bytes, self.bits))
    }
}

impl Scorer for PackedScorer {
    fn kind(&self) -> &'static str {
        PACKED.kind
    }

    fn loader(&self) -> LoadScorer {
        PACKED.load
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        let answerer: &mut Answerer = scratch.get();
        answerer.top_k(self, self.units, row, self.trim(), k, out);
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let bits: &'static [u8] = match self.bits {
            Bits::Eight => &[8],
            Bits::Sixteen => &[16],
        };
        let mut tensors = vec![
            (OFFSETS.to_owned(), Tensor::U32(&self.offsets)),
            (POSTINGS.to_owned(), Tensor::U8(&self.postings)),
            (BITS.to_owned(), Tensor::U8(bits)),
            (UNITS.to_owned(), Tensor::F32(std::slice::from_ref(&self.units))),
        ];
        if !self.trim.is_empty() {
            tensors.push((TRIM.to_owned(), Tensor::F32(&self.trim)));
        }
        tensors
    }

    fn with_precision(self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        let bits = match precision {
            Precision::F16 => Bits::Sixteen,
            Precision::Int8 => Bits::Eight,
            Precision::F32 => {
                let mut builder = LinearBuilder::new(self.classes);
                for weights in self.all_unpacked() {
                    builder.push_feature(weights.into_iter().map(|(c, w)| (c, f32::from(w) / self.units)));
                }
                return Ok(Box::new(builder.finish(precision)));
            }
        };
        if bits == self.bits {
            return Ok(self);
        }
        let packed = Self::pack(self.classes, self.all_unpacked(), bits, self.units)?;
        Ok(Box::new(packed.with_trim(self.trim())))
    }

    fn with_largest_weights(self: Box<Self>, most: usize) -> Result<Box<dyn Scorer>> {
        let weights = self.all_unpacked().flatten().map(|weight| weight.1);
        let least = least_of_largest(weights, most);
        let large = |weights: Vec<(u32, i16)>| {
            let large = weights.into_iter().filter(|w| w.1.unsigned_abs() >= least);
            large.collect()
        };
        let packed = Self::pack(
            self.classes,
            self.all_unpacked().map(large),
            self.bits,
            self.units,
        )?;
        Ok(Box::new(packed.with_trim(self.trim())))
    }

    fn with_classes(self: Box<Self>, new_numbers: &NewNumbers) -> Result<Box<dyn Scorer>> {
        let units = self.units;
        let rounded = |(class, weight): (u32, f32)| (class, (weight * units).round() as i16);
        let rows = (0..self.features() as u32).map(|feature| {
            let weights = self.feature_weights(feature).unwrap_or_default();
            new_numbers
                .renumber(feature, weights)
                .into_iter()
                .map(rounded)
                .collect()
        });
        let packed = Self::pack(new_numbers.classes(), rows, self.bits, units)?;
        Ok(Box::new(packed.with_trim(self.trim())))
    }

    fn weight_storage(&self) -> Option<(usize, &'static str)> {
        Some((
            self.count(),
            match self.bits {
                Bits::Eight => "int8",
                Bits::Sixteen => "i16",
            },
        ))
    }

    fn contributions(&self, row: RowView<'_>, class: u32) -> Option<Vec<(u32, f32)>> {
        let mut values = Vec::new();
        let scale = quantize_trimmed(row.values, self.trim(), &mut Vec::new(), &mut values);
        let unit = self.score_unit(scale);
        let terms = row.indices.iter().zip(&values).map(|(&feature, &value)| {
            let product = i32::from(self.packed(feature).weight(class)) * i32::from(value);
            (feature, product as f32 * unit)
        });
        Some(terms.collect())
    }

    fn feature_weights(&self, feature: u32) -> Option<Vec<(u32, f32)>> {
        let weights = self.unpacked(feature).into_iter();
        Some(
            weights
                .map(|(class, weight)| (class, f32::from(weight) / self.units))
                .collect(),
        )
    }

    fn class_weights_among(&self, class: u32, features: Range<u32>) -> Option<Vec<(u32, f32)>> {
        let all = features.map(|feature| (feature, self.packed(feature).weight(class)));
        let stored = all.filter(|(_, weight)| *weight != 0);
        Some(
            stored
                .map(|(feature, weight)| (feature, f32::from(weight) / self.units))
                .collect(),
        )
    }

    fn check_content(&self) -> std::result::Result<(), String> {
        for feature in 0..self.features() as u32 {
            let mut beyond = None;
            let mut before = None;
            self.packed(feature).for_each(|class, _| {
                if class as usize >= self.classes || before.is_some_and(|before| before >= class) {
                    beyond = Some(class);
                }
                before = Some(class);
            });
            if let Some(class) = beyond {
                return Err(format!(
                    "`{POSTINGS}` names class {class} for feature {feature}, but there are {} classes",
                    self.classes
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
