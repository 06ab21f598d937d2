//! The exact scan: scores of all classes for one row, and the best of them. The hot loop of prediction.
//!
//! Scores are sums in a fixed order (bias, then the row's features as they come), so equal input gives equal
//! bits.

use half::f16;
use half::slice::HalfFloatSliceExt;

use crate::sparse::{RowView, Scored, TopK};

/// How many weights are widened to `f32` at a time: small enough to stay in the first-level cache.
const WIDEN: usize = 512;

/// Classes looked at together when selecting: one comparison of all of them rules most groups out.
const GROUP: usize = 32;

/// A class number as stored in a weight row.
pub(super) trait ClassId: bytemuck::Pod + Send + Sync {
    /// Length of the accumulator that makes every stored number harmless, or at least room for `classes`.
    fn room(classes: usize) -> usize;

    /// Adds `factor * weight` to the class of each posting. Numbers beyond the accumulator are ignored.
    fn scatter(accumulator: &mut [f32], ids: &[Self], weights: &[f32], factor: f32);

    /// The number.
    fn number(self) -> u32;
}

impl ClassId for u16 {
    fn room(_classes: usize) -> usize {
        1 << 16
    }

    fn scatter(accumulator: &mut [f32], ids: &[Self], weights: &[f32], factor: f32) {
        // An array as long as u16 has values: no stored number can lie outside, so no check is needed per
        // posting.
        let Ok(cells) = <&mut [f32; 1 << 16]>::try_from(accumulator) else {
            return;
        };
        for (&id, &weight) in ids.iter().zip(weights) {
            cells[usize::from(id)] += factor * weight;
        }
    }

    fn number(self) -> u32 {
        u32::from(self)
    }
}

impl ClassId for u32 {
    fn room(classes: usize) -> usize {
        classes
    }

    fn scatter(accumulator: &mut [f32], ids: &[Self], weights: &[f32], factor: f32) {
        for (&id, &weight) in ids.iter().zip(weights) {
            if let Some(cell) = accumulator.get_mut(id as usize) {
                *cell += factor * weight;
            }
        }
    }

    fn number(self) -> u32 {
        self
    }
}

/// A weight as stored.
pub(super) trait Weight: bytemuck::Pod + Send + Sync {
    /// The weight.
    fn widen(self) -> f32;

    /// The weights as `f32`, in `buffer` if they are stored in another form. At most [`WIDEN`] of them.
    fn widen_all<'a>(stored: &'a [Self], buffer: &'a mut [f32; WIDEN]) -> &'a [f32];
}

impl Weight for f32 {
    fn widen(self) -> f32 {
        self
    }

    fn widen_all<'a>(stored: &'a [Self], _buffer: &'a mut [f32; WIDEN]) -> &'a [f32] {
        stored
    }
}

impl Weight for f16 {
    fn widen(self) -> f32 {
        self.to_f32()
    }

    fn widen_all<'a>(stored: &'a [Self], buffer: &'a mut [f32; WIDEN]) -> &'a [f32] {
        let part = &mut buffer[..stored.len()];
        stored.convert_to_f32_slice(part);
        part
    }
}

/// A view of weights by feature: row `f` is `offsets[f]..offsets[f + 1]` of the two arrays.
pub(super) struct WeightRows<'a, C, W> {
    pub(super) offsets: &'a [u64],
    pub(super) ids: &'a [C],
    pub(super) weights: &'a [W],
}

impl<'a, C: ClassId, W: Weight> WeightRows<'a, C, W> {
    /// The postings of a feature; none if it is unknown.
    pub(super) fn row(&self, feature: u32) -> (&'a [C], &'a [W]) {
        let feature = feature as usize;
        let (Some(&start), Some(&end)) = (self.offsets.get(feature), self.offsets.get(feature + 1)) else {
            return (&[], &[]);
        };
        let range = start as usize..end as usize;
        match (self.ids.get(range.clone()), self.weights.get(range)) {
            (Some(ids), Some(weights)) => (ids, weights),
            _ => (&[], &[]),
        }
    }
}

/// What a scan needs besides the weights; kept from row to row.
#[derive(Default)]
pub(super) struct ScanScratch {
    accumulator: Vec<f32>,
    top: TopK,
}

/// Sums up the scores of all `classes` classes for `row`.
pub(super) fn accumulate<'s, C: ClassId, W: Weight>(
    rows: &WeightRows<'_, C, W>,
    bias: Option<&[f32]>,
    classes: usize,
    row: RowView<'_>,
    scratch: &'s mut ScanScratch,
) -> &'s [f32] {
    let cells = &mut scratch.accumulator;
    cells.resize(C::room(classes), 0.0);
    match bias {
        // Adding zero turns -0 into 0: then no score is ever -0, and `<` agrees with the total order.
        Some(bias) => cells.iter_mut().zip(bias).for_each(|(cell, &b)| *cell = b + 0.0),
        None => cells[..classes].fill(0.0),
    }
    let mut buffer = [0.0; WIDEN];
    for (feature, value) in row.iter() {
        let (ids, weights) = rows.row(feature);
        for (ids, weights) in ids.chunks(WIDEN).zip(weights.chunks(WIDEN)) {
            C::scatter(cells, ids, W::widen_all(weights, &mut buffer), value);
        }
    }
    &scratch.accumulator[..classes]
}

/// The `k` best classes for `row`, best first; of equal scores the lower class number first.
pub(super) fn best<C: ClassId, W: Weight>(
    rows: &WeightRows<'_, C, W>,
    bias: Option<&[f32]>,
    classes: usize,
    row: RowView<'_>,
    k: usize,
    scratch: &mut ScanScratch,
    out: &mut Vec<Scored>,
) {
    accumulate(rows, bias, classes, row, scratch);
    let top = &mut scratch.top;
    top.reset(k.min(classes));
    for (group, scores) in scratch.accumulator[..classes].chunks(GROUP).enumerate() {
        let threshold = top.threshold();
        // Counts what is ruled out rather than what might enter, so that a NaN (a damaged weight) is looked
        // at too and ends up where the total order puts it.
        let ruled_out: usize = scores.iter().map(|&score| usize::from(score <= threshold)).sum();
        if ruled_out == scores.len() {
            continue;
        }
        for (index, &score) in scores.iter().enumerate() {
            let class = (group * GROUP + index) as u32;
            top.offer(Scored { class, score });
        }
    }
    top.finish(out);
}
