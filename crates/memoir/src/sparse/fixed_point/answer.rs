//! What scorers with whole-number weights have in common, however they store them: the best classes of a
//! row, and which weights are the largest.

use super::{FeatureRows, FixedScore, QuantizedRow, SearchScratch, quantize_trimmed, search};
use crate::sparse::{RowView, Scored};

/// Answers rows, one after the other, with reusable memory.
#[derive(Default)]
pub(crate) struct Answerer {
    search: SearchScratch,
    values: Vec<i16>,
    sizes: Vec<f32>,
    found: Vec<FixedScore>,
    nothing: Vec<i32>,
}

impl Answerer {
    /// Replaces `out` by the `k` best classes of `row`, whose smallest values, which hold the share `trim`
    /// of its squared length, are left out. A weight of 1 is `units` whole numbers.
    pub(crate) fn top_k(
        &mut self,
        weights: &impl FeatureRows,
        units: f32,
        row: RowView<'_>,
        trim: f32,
        k: usize,
        out: &mut Vec<Scored>,
    ) {
        let (found, unit) = self.find(weights, units, row, trim, k);
        out.clear();
        out.extend(found.iter().map(|found| found.scored(unit)));
    }

    /// As above, in whole numbers, and what one of them is worth.
    pub(crate) fn find(
        &mut self,
        weights: &impl FeatureRows,
        units: f32,
        row: RowView<'_>,
        trim: f32,
        k: usize,
    ) -> (&[FixedScore], f32) {
        let scale = quantize_trimmed(row.values, trim, &mut self.sizes, &mut self.values);
        let quantized = QuantizedRow {
            indices: row.indices,
            values: &self.values,
            scale,
        };
        search(
            weights,
            quantized,
            k,
            &mut self.search,
            &mut self.found,
            &[],
            &mut self.nothing,
        );
        (&self.found, 1.0 / (scale * units))
    }
}

/// The smallest size from which on there are at most `most` of `weights`.
pub(crate) fn least_of_largest(weights: impl Iterator<Item = i16>, most: usize) -> u16 {
    let mut by_size = vec![0usize; 1 << 15];
    for weight in weights {
        by_size[usize::from(weight.unsigned_abs()).min((1 << 15) - 1)] += 1;
    }
    let mut kept = 0;
    let larger = by_size.iter().rev().take_while(|&&count| {
        kept += count;
        kept <= most
    });
    (by_size.len() - larger.count()) as u16
}
