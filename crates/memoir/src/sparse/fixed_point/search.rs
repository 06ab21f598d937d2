//! The scan: scores of all classes for a row, and the best of them; exact or rough, by the kind of sum.

use super::kernel::{Machine, Sum, SumScale, reached_by};
use super::select::{Best, FixedScore};
use super::{LANES, PackedRow, Posting, QuantizedRow, padded};
use crate::sparse::prefetch;

/// The weights of one feature.
#[derive(Debug, Clone, Copy)]
pub enum FeatureRow<'a, P> {
    /// A list of classes with their weights, in any order, each class at most once.
    Sparse(&'a [P]),
    /// A weight for each class, padded with zeros to whole lanes.
    Dense(&'a [i16]),
    /// Postings that must be decoded.
    Packed(PackedRow<'a>),
}

/// Weights by feature: what the search reads, in training memory or in a mapped file.
pub trait FeatureRows: Sync {
    /// How sparse rows are stored.
    type Posting: Posting;
    /// Number of classes.
    fn classes(&self) -> usize;
    /// The weights of a feature; nothing for one that is not known.
    fn feature(&self, feature: u32) -> FeatureRow<'_, Self::Posting>;
}

/// Reusable memory of one searching thread.
#[derive(Debug)]
pub struct SearchScratch<S = i32> {
    machine: Machine,
    /// One sum per class, all zero between searches.
    sums: Vec<S>,
    dense: Vec<(u32, i16)>,
    /// The largest sum of each block of classes.
    maxima: Vec<S>,
    best: Best,
}

impl<S> Default for SearchScratch<S> {
    fn default() -> Self {
        Self {
            machine: Machine::detect(),
            sums: Vec::new(),
            dense: Vec::new(),
            maxima: Vec::new(),
            best: Best::default(),
        }
    }
}

/// Dense rows are added a strip of classes at a time, so that the strip's sums stay in the first-level
/// cache.
const STRIP: usize = 2048;

/// Dense rows whose positions are looked up once for all strips; a multiple of four.
const DENSE_TOGETHER: usize = 16;

/// Features whose weights are looked up before those of the first are used.
const AHEAD: usize = 16;

/// Calls `with` with each feature of the row, its value and its weights. Values of 0, of which trimmed rows
/// have many, are left out.
#[inline]
fn for_each_feature<'w, W: FeatureRows>(
    weights: &'w W,
    row: QuantizedRow<'_>,
    mut with: impl FnMut(u32, i16, FeatureRow<'w, W::Posting>),
) {
    for (indices, values) in row.indices.chunks(AHEAD).zip(row.values.chunks(AHEAD)) {
        // Where a feature's weights are is seldom in the cache: asking for several at once, the waits
        // overlap.
        let mut rows = [FeatureRow::Sparse(&[][..]); AHEAD];
        for (row, (&feature, &value)) in rows.iter_mut().zip(indices.iter().zip(values)) {
            if value == 0 {
                continue;
            }
            *row = weights.feature(feature);
            if let FeatureRow::Sparse(postings) = row {
                prefetch(postings, 0);
            }
        }
        for (&row, (&feature, &value)) in rows.iter().zip(indices.iter().zip(values)) {
            with(feature, value, row);
        }
    }
}

/// Writes the `k` best classes for `row` to `out`, best first (ties: lower class number first), and the
/// scores of the classes in `wanted`, in their order, to `wanted_scores`.
pub fn search<W: FeatureRows>(
    weights: &W,
    row: QuantizedRow<'_>,
    k: usize,
    scratch: &mut SearchScratch,
    out: &mut Vec<FixedScore>,
    wanted: &[u32],
    wanted_scores: &mut Vec<i32>,
) {
    score_all(weights, row, SumScale::EXACT, scratch);
    wanted_scores.clear();
    wanted_scores.extend(
        wanted
            .iter()
            .map(|&class| scratch.sums.get(class as usize).copied().unwrap_or(0)),
    );
    select(weights.classes(), k, 0, i32::MIN, scratch);
    scratch.best.finish(out);
}

/// A row whose rivals are searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RivalQuery<'a> {
    pub(crate) row: QuantizedRow<'a>,
    /// How its values are scaled; [`SumScale::EXACT`] for sums of 32 bits.
    pub(crate) scale: SumScale,
    /// Its labels, which are classes of the weights.
    pub(crate) labels: &'a [u32],
    /// The number of rivals wanted.
    pub(crate) rivals: usize,
}

/// Writes the strongest of the classes that are not labels and score above zero to `out`, by rising class
/// (ties: lower class number first), and the scores of the labels to `label_scores`. Scores are in the units
/// of the query's scale.
pub(crate) fn search_rivals<W: FeatureRows, S: Sum>(
    weights: &W,
    query: RivalQuery<'_>,
    scratch: &mut SearchScratch<S>,
    out: &mut Vec<FixedScore>,
    label_scores: &mut Vec<i32>,
) {
    score_all(weights, query.row, query.scale, scratch);
    let labels = query.labels;
    label_scores.clear();
    for &label in labels {
        let score = std::mem::replace(&mut scratch.sums[label as usize], S::LOWEST);
        label_scores.push(score.into());
    }
    select(weights.classes(), query.rivals, labels.len(), 0, scratch);
    scratch.best.finish_by_class(out);
}

/// Adds up the scores of all classes.
fn score_all<W: FeatureRows, S: Sum>(
    weights: &W,
    row: QuantizedRow<'_>,
    scale: SumScale,
    scratch: &mut SearchScratch<S>,
) {
    let classes = weights.classes();
    if scratch.sums.len() != padded(classes) {
        scratch.sums = vec![S::default(); padded(classes)];
    }
    add_sparse(weights, row, scale, scratch);
    add_dense(weights, classes, scratch);
}

/// Adds the postings of the row's features, and notes those that have dense rows.
fn add_sparse<W: FeatureRows, S: Sum>(
    weights: &W,
    row: QuantizedRow<'_>,
    scale: SumScale,
    scratch: &mut SearchScratch<S>,
) {
    let sums = &mut scratch.sums[..];
    scratch.dense.clear();
    let dense = &mut scratch.dense;
    for_each_feature(weights, row, |feature, value, row| {
        let value = S::value(value, scale);
        match row {
            FeatureRow::Dense(_) => dense.push((feature, value)),
            FeatureRow::Packed(row) => row.for_each(|class, weight| {
                if let Some(sum) = sums.get_mut(class as usize) {
                    sum.add(weight, value);
                }
            }),
            FeatureRow::Sparse(postings) => {
                for posting in postings {
                    // A damaged model file may name a class that does not exist; it must do no harm.
                    if let Some(sum) = sums.get_mut(posting.class() as usize) {
                        sum.add(posting.weight(), value);
                    }
                }
            }
        }
    });
}

/// Adds the dense rows that were noted, and notes the maximum of each whole block among the first `classes`.
fn add_dense<W: FeatureRows, S: Sum>(weights: &W, classes: usize, scratch: &mut SearchScratch<S>) {
    let SearchScratch {
        machine,
        sums,
        dense,
        maxima,
        ..
    } = scratch;
    let whole = classes - classes % LANES;
    maxima.clear();
    if dense.is_empty() {
        S::push_block_maxima(*machine, &sums[..whole], maxima);
        return;
    }
    let groups = dense.len().div_ceil(DENSE_TOGETHER);
    for (group, features) in (1..).zip(dense.chunks(DENSE_TOGETHER)) {
        let mut rows = [&[][..]; DENSE_TOGETHER];
        let mut values = [0; DENSE_TOGETHER];
        for (index, &(feature, value)) in features.iter().enumerate() {
            if let FeatureRow::Dense(row) = weights.feature(feature) {
                (rows[index], values[index]) = (row, value);
            }
        }
        for start in (0..sums.len()).step_by(STRIP) {
            let end = (start + STRIP).min(sums.len());
            let strip = &mut sums[start..end];
            let number = features.len();
            S::add_dense(*machine, strip, &rows[..number], &values[..number], start);
            if group == groups {
                // While the sums are in the cache.
                let whole = whole.saturating_sub(start).min(end - start);
                S::push_block_maxima(*machine, &strip[..whole], maxima);
            }
        }
    }
}

/// Finds the `k` best sums above `floor` of the first `classes`, whose block maxima are noted, and clears
/// all sums. Up to `gone` of the sums were lowered after that.
fn select<S: Sum>(classes: usize, k: usize, gone: usize, mut floor: i32, scratch: &mut SearchScratch<S>) {
    let SearchScratch {
        machine,
        sums,
        maxima,
        best,
        ..
    } = scratch;
    let (blocks, rest) = sums[..classes].as_chunks::<LANES>();
    // What k block maxima reach is a lower bound of the k-th best sum: most blocks hold nothing above it.
    // Where there are too few blocks, there are few sums.
    if k > 0 && maxima.len() >= 2 * (k + gone) {
        floor = floor.max(reached_by(*machine, k + gone, maxima, floor).saturating_sub(1));
    } else if k > 0 && classes > k {
        floor = floor.max(reached_by(*machine, k, &sums[..classes], floor).saturating_sub(1));
    }
    best.start(k, floor);
    // Blocks of blocks: most of these hold nothing either.
    let mut number = 0;
    maxima.resize(padded(maxima.len()), S::LOWEST);
    for group in maxima.as_chunks::<LANES>().0 {
        let mut promising = S::above(*machine, group, best.threshold());
        while promising != 0 {
            let index = promising.trailing_zeros() as usize;
            promising &= promising - 1;
            if group[index].into() <= best.threshold() {
                continue;
            }
            let (block, first) = (&blocks[number + index], ((number + index) * LANES) as u32);
            let mut above = S::above(*machine, block, best.threshold());
            while above != 0 {
                let lane = above.trailing_zeros();
                above &= above - 1;
                best.offer(block[lane as usize].into(), first + lane);
            }
        }
        number += LANES;
    }
    let first = (blocks.len() * LANES) as u32;
    for (class, &sum) in (first..).zip(rest) {
        best.offer(sum.into(), class);
    }
    // Sums beyond the last class can only come from a damaged file; the next search must not see them
    // either.
    sums.fill(S::default());
}

#[cfg(test)]
mod recall_tests;
#[cfg(test)]
mod tests;
