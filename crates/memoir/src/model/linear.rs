//! The scorer kind `linear`: a class's score is the inner product of its weights with the row, plus its
//! bias.
//!
//! Weights are kept by *feature*: for each feature the classes that it speaks for or against. A row touches
//! only the lists of its own features, however many classes there are.

use std::ops::Range;

use half::f16;

use super::scan::{self, ClassId, ScanScratch, Weight, WeightRows};
use super::tensors::in_order;
use super::{
    LinearBuilder, LoadScorer, NewNumbers, PackedScorer, Precision, Scorer, ScorerKind, Scratch, Tensor,
    TensorSource,
};
use crate::Result;
use crate::sparse::fixed_point::Bits;
use crate::sparse::{RowView, Scored, Storage};

/// The kind of scorer, for a catalogue.
pub const LINEAR: ScorerKind = ScorerKind {
    kind: "linear",
    load: |source| Ok(Box::new(Linear::load(source)?)),
};

/// How many classes 16-bit class numbers can tell apart.
pub(super) const SHORT_IDS: usize = 1 << 16;

/// Class numbers of the postings, as short as the number of classes allows.
#[derive(Debug)]
pub(super) enum Ids {
    U16(Storage<u16>),
    U32(Storage<u32>),
}

/// The weights of the postings.
#[derive(Debug)]
pub(super) enum LinearWeights {
    F32(Storage<f32>),
    F16(Storage<f16>),
}

/// Weights of all classes, by feature.
#[derive(Debug)]
pub struct Linear {
    classes: usize,
    /// Feature `f` owns the postings `offsets[f]..offsets[f + 1]`.
    offsets: Storage<u64>,
    ids: Ids,
    weights: LinearWeights,
    bias: Option<Storage<f32>>,
}

/// Calls `$body` with `$rows` as a [`WeightRows`] of the types at hand, so that hot loops are compiled for
/// each.
macro_rules! with_rows {
    ($linear:expr, $rows:ident => $body:expr) => {{
        let linear: &Linear = $linear;
        match (&linear.ids, &linear.weights) {
            (Ids::U16(ids), LinearWeights::F32(weights)) => with_rows!(@ linear, ids, weights, $rows => $body),
            (Ids::U16(ids), LinearWeights::F16(weights)) => with_rows!(@ linear, ids, weights, $rows => $body),
            (Ids::U32(ids), LinearWeights::F32(weights)) => with_rows!(@ linear, ids, weights, $rows => $body),
            (Ids::U32(ids), LinearWeights::F16(weights)) => with_rows!(@ linear, ids, weights, $rows => $body),
        }
    }};
    (@ $linear:ident, $ids:ident, $weights:ident, $rows:ident => $body:expr) => {{
        let $rows = WeightRows { offsets: &$linear.offsets, ids: $ids, weights: $weights };
        $body
    }};
}

impl Linear {
    /// From arrays that fit each other.
    pub(super) fn new(classes: usize, offsets: Storage<u64>, ids: Ids, weights: LinearWeights) -> Self {
        Self {
            classes,
            offsets,
            ids,
            weights,
            bias: None,
        }
    }

    fn load(source: &dyn TensorSource) -> Result<Self> {
        let (classes, features) = source.shape();
        let offsets = source.u64("weights.offsets")?;
        if Some(offsets.len()) != features.checked_add(1) {
            return Err(source.invalid(format!(
                "`weights.offsets` has {} elements where {features} features need one more than that",
                offsets.len()
            )));
        }
        let ids = if classes <= SHORT_IDS {
            Ids::U16(source.u16("weights.classes")?)
        } else {
            Ids::U32(source.u32("weights.classes")?)
        };
        let weights = match source.element("weights.values") {
            Some("F16") => LinearWeights::F16(source.f16("weights.values")?),
            _ => LinearWeights::F32(source.f32("weights.values")?),
        };
        let bias = match source.element("weights.bias") {
            Some(_) => Some(source.f32("weights.bias")?),
            None => None,
        };
        let linear = Self {
            classes,
            offsets,
            ids,
            weights,
            bias,
        };
        linear.check().map_err(|message| source.invalid(message))?;
        Ok(linear)
    }

    /// What could otherwise fail later; looks at the offsets, never at the long arrays.
    fn check(&self) -> std::result::Result<(), String> {
        let ids = match &self.ids {
            Ids::U16(ids) => ids.len(),
            Ids::U32(ids) => ids.len(),
        };
        let weights = match &self.weights {
            LinearWeights::F32(weights) => weights.len(),
            LinearWeights::F16(weights) => weights.len(),
        };
        if ids != weights {
            return Err(format!(
                "`weights.classes` has {ids} elements, but `weights.values` has {weights}"
            ));
        }
        if self.offsets.first() != Some(&0) || self.offsets.last() != Some(&(ids as u64)) {
            return Err(format!(
                "`weights.offsets` must start at 0 and end at {ids}, the number of weights"
            ));
        }
        if !self.offsets.is_sorted() {
            return Err("`weights.offsets` must never decrease".to_owned());
        }
        if let Some(bias) = &self.bias
            && bias.len() != self.classes
        {
            return Err(format!(
                "`weights.bias` has {} elements for {} classes",
                bias.len(),
                self.classes
            ));
        }
        Ok(())
    }

    /// Adds a constant to the score of each class.
    ///
    /// # Panics
    /// If there is not one number for each class.
    pub fn with_bias(mut self, bias: Vec<f32>) -> Self {
        assert_eq!(bias.len(), self.classes, "one bias for each class");
        self.bias = Some(bias.into());
        self
    }

    /// The same scorer with its weights stored in another precision, of 32 or 16 bits.
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.weights = match (precision, self.weights) {
            (Precision::F16, LinearWeights::F32(weights)) => LinearWeights::F16(
                weights
                    .iter()
                    .map(|&weight| f16::from_f32(weight))
                    .collect::<Vec<_>>()
                    .into(),
            ),
            (Precision::F32, LinearWeights::F16(weights)) => LinearWeights::F32(
                weights
                    .iter()
                    .map(|weight| weight.to_f32())
                    .collect::<Vec<_>>()
                    .into(),
            ),
            (_, same) => same,
        };
        self
    }

    /// How the weights are stored.
    pub fn precision(&self) -> Precision {
        match self.weights {
            LinearWeights::F32(_) => Precision::F32,
            LinearWeights::F16(_) => Precision::F16,
        }
    }

    /// Number of stored weights.
    pub fn stored_weights(&self) -> usize {
        self.offsets.last().map_or(0, |&end| end as usize)
    }

    /// The scores of all classes for `row`.
    pub fn scores(&self, row: RowView<'_>) -> Vec<f32> {
        let mut scratch = ScanScratch::default();
        let bias = self.bias.as_deref();
        with_rows!(self, rows => scan::accumulate(&rows, bias, self.classes, row, &mut scratch).to_vec())
    }

    /// Calls `visit` with each class and weight of `feature`, in the order of the classes.
    pub fn visit_feature(&self, feature: u32, mut visit: impl FnMut(u32, f32)) {
        with_rows!(self, rows => {
            let (ids, weights) = rows.row(feature);
            for (id, weight) in ids.iter().zip(weights) {
                visit(id.number(), weight.widen());
            }
        });
    }

    /// The weight of `class` in the list of `feature`, if it has one. Lists are sorted; a damaged list may
    /// hide it.
    fn weight(&self, feature: u32, class: u32) -> Option<f32> {
        with_rows!(self, rows => {
            let (ids, weights) = rows.row(feature);
            let position = ids.binary_search_by_key(&class, |id| id.number()).ok()?;
            weights.get(position).map(|weight| weight.widen())
        })
    }
}

impl Scorer for Linear {
    fn kind(&self) -> &'static str {
        LINEAR.kind
    }

    fn loader(&self) -> LoadScorer {
        LINEAR.load
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.offsets.len() - 1
    }

    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        let scratch = scratch.get::<ScanScratch>();
        let bias = self.bias.as_deref();
        with_rows!(self, rows => scan::best(&rows, bias, self.classes, row, k, scratch, out));
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let mut tensors = vec![
            ("weights.offsets".to_owned(), Tensor::U64(&self.offsets)),
            (
                "weights.classes".to_owned(),
                match &self.ids {
                    Ids::U16(ids) => Tensor::U16(ids),
                    Ids::U32(ids) => Tensor::U32(ids),
                },
            ),
            (
                "weights.values".to_owned(),
                match &self.weights {
                    LinearWeights::F32(weights) => Tensor::F32(weights),
                    LinearWeights::F16(weights) => Tensor::F16(weights),
                },
            ),
        ];
        if let Some(bias) = &self.bias {
            tensors.push(("weights.bias".to_owned(), Tensor::F32(bias)));
        }
        tensors
    }

    fn with_precision(self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        if precision == Precision::Int8 {
            return Ok(Box::new(PackedScorer::of(&*self, Bits::Eight)?));
        }
        Ok(Box::new(Linear::with_precision(*self, precision)))
    }

    fn with_classes(self: Box<Self>, new_numbers: &NewNumbers) -> Result<Box<dyn Scorer>> {
        let mut builder = LinearBuilder::new(new_numbers.classes());
        for feature in 0..self.features() as u32 {
            let weights = self.feature_weights(feature).unwrap_or_default();
            builder.push_feature(new_numbers.renumber(feature, weights));
        }
        let mut scorer = builder.finish(self.precision());
        if let Some(bias) = &self.bias {
            scorer = scorer.with_bias(new_numbers.combine(bias.iter().copied(), f32::max));
        }
        Ok(Box::new(scorer))
    }

    fn with_largest_weights(self: Box<Self>, most: usize) -> Result<Box<dyn Scorer>> {
        let mut sizes: Vec<u32> = Vec::with_capacity(self.stored_weights());
        let features = 0..self.features() as u32;
        for feature in features.clone() {
            // The bits of numbers that are not negative rise with them.
            self.visit_feature(feature, |_, weight| sizes.push(weight.abs().to_bits()));
        }
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let Some(&least) = sizes.get(most) else {
            return Ok(self);
        };
        let mut builder = LinearBuilder::new(self.classes);
        for feature in features {
            let mut weights = self.feature_weights(feature).unwrap_or_default();
            weights.retain(|weight| weight.1.abs().to_bits() > least);
            builder.push_feature(weights);
        }
        let mut fewer = builder.finish(self.precision());
        fewer.bias = self.bias;
        Ok(Box::new(fewer))
    }

    fn check_content(&self) -> std::result::Result<(), String> {
        for feature in 0..self.features() as u32 {
            let mut beyond = None;
            self.visit_feature(feature, |class, _| {
                if class as usize >= self.classes {
                    beyond = Some(class);
                }
            });
            if let Some(class) = beyond {
                return Err(format!(
                    "`weights.classes` names class {class} for feature {feature}, but there are {} classes",
                    self.classes
                ));
            }
        }
        Ok(())
    }

    fn weight_storage(&self) -> Option<(usize, &'static str)> {
        Some(match &self.weights {
            LinearWeights::F32(weights) => (weights.len(), "f32"),
            LinearWeights::F16(weights) => (weights.len(), "f16"),
        })
    }

    fn bias(&self, class: u32) -> f32 {
        let bias = self.bias.as_ref().and_then(|bias| bias.get(class as usize));
        bias.map_or(0.0, |bias| bias + 0.0)
    }

    fn contributions(&self, row: RowView<'_>, class: u32) -> Option<Vec<(u32, f32)>> {
        let known = row.iter().filter_map(|(feature, value)| {
            let weight = self.weight(feature, class)?;
            Some((feature, value * weight))
        });
        Some(known.collect())
    }

    fn feature_weights(&self, feature: u32) -> Option<Vec<(u32, f32)>> {
        let mut weights = Vec::new();
        self.visit_feature(feature, |class, weight| weights.push((class, weight)));
        in_order(&mut weights, self.classes);
        Some(weights)
    }

    fn class_weights_among(&self, class: u32, features: Range<u32>) -> Option<Vec<(u32, f32)>> {
        let weights = features.filter_map(|feature| Some((feature, self.weight(feature, class)?)));
        Some(weights.collect())
    }
}

#[cfg(test)]
mod tests;
