//! The exact scan: scores of all classes for a row, and the best of them.

use std::hint::black_box;

use super::kernel::Machine;
use super::select::{Best, FixedScore};
use super::{LANES, PackedRow, Posting, QuantizedRow, padded};

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
pub struct SearchScratch {
    machine: Machine,
    /// One sum per class, all zero between searches.
    sums: Vec<i32>,
    dense: Vec<(u32, i16)>,
    zeros: Vec<i16>,
    /// The largest sum of each block of classes.
    maxima: Vec<i32>,
    best: Best,
}

impl Default for SearchScratch {
    fn default() -> Self {
        Self {
            machine: Machine::detect(),
            sums: Vec::new(),
            dense: Vec::new(),
            zeros: Vec::new(),
            maxima: Vec::new(),
            best: Best::default(),
        }
    }
}

/// Dense rows are added a strip of classes at a time, so that the strip's sums stay in the first-level cache.
const STRIP: usize = 2048;

/// Dense rows whose places are looked up once for all strips; a multiple of four.
const DENSE_TOGETHER: usize = 16;

/// Features whose weights are looked up before the first of them are added.
const AHEAD: usize = 16;

/// Writes the `k` best classes for `row` to `out`, best first (ties: lower class number first), and the scores of the
/// classes in `wanted`, in their order, to `wanted_scores`.
pub fn search<W: FeatureRows>(
    weights: &W,
    row: QuantizedRow<'_>,
    k: usize,
    scratch: &mut SearchScratch,
    out: &mut Vec<FixedScore>,
    wanted: &[u32],
    wanted_scores: &mut Vec<i32>,
) {
    let classes = weights.classes();
    if scratch.sums.len() != padded(classes) {
        scratch.sums = vec![0; padded(classes)];
        scratch.zeros = vec![0; padded(classes)];
    }
    add_sparse(weights, row, scratch);
    add_dense(weights, classes, scratch);
    wanted_scores.clear();
    wanted_scores.extend(
        wanted
            .iter()
            .map(|&class| scratch.sums.get(class as usize).copied().unwrap_or(0)),
    );
    select(classes, k, scratch);
    scratch.best.finish(out);
}

/// Adds the postings of the row's features, and notes those that have dense rows.
fn add_sparse<W: FeatureRows>(weights: &W, row: QuantizedRow<'_>, scratch: &mut SearchScratch) {
    let sums = &mut scratch.sums[..];
    scratch.dense.clear();
    for (indices, values) in row.indices.chunks(AHEAD).zip(row.values.chunks(AHEAD)) {
        // Where a feature's weights are is seldom in the cache: asking for several at once, the waits overlap.
        let mut rows = [FeatureRow::Sparse(&[][..]); AHEAD];
        for (row, (&feature, &value)) in rows.iter_mut().zip(indices.iter().zip(values)) {
            // A value of 0 adds nothing, and trimmed rows have many.
            if value == 0 {
                continue;
            }
            *row = weights.feature(feature);
            if let FeatureRow::Sparse(postings) = row {
                black_box(postings.first().copied());
            }
        }
        for (row, (&feature, &value)) in rows.iter().zip(indices.iter().zip(values)) {
            match row {
                FeatureRow::Dense(_) => scratch.dense.push((feature, value)),
                FeatureRow::Packed(row) => {
                    let value = i32::from(value);
                    row.for_each(|class, weight| {
                        if let Some(sum) = sums.get_mut(class as usize) {
                            *sum = sum.wrapping_add(i32::from(weight) * value);
                        }
                    });
                }
                FeatureRow::Sparse(postings) => {
                    let value = i32::from(value);
                    for posting in *postings {
                        // A damaged model file may name a class that does not exist; it must do no harm.
                        if let Some(sum) = sums.get_mut(posting.class() as usize) {
                            *sum = sum.wrapping_add(i32::from(posting.weight()) * value);
                        }
                    }
                }
            }
        }
    }
}

/// Adds the dense rows that were noted, and notes the maximum of each whole block among the first `classes`.
fn add_dense<W: FeatureRows>(weights: &W, classes: usize, scratch: &mut SearchScratch) {
    let SearchScratch {
        machine,
        sums,
        dense,
        zeros,
        maxima,
        ..
    } = scratch;
    let whole = classes - classes % LANES;
    maxima.clear();
    if dense.is_empty() {
        machine.push_block_maxima(&sums[..whole], maxima);
        return;
    }
    let groups = dense.len().div_ceil(DENSE_TOGETHER);
    for (group, features) in (1..).zip(dense.chunks(DENSE_TOGETHER)) {
        let mut rows = [&zeros[..]; DENSE_TOGETHER];
        let mut values = [0; DENSE_TOGETHER];
        for (place, &(feature, value)) in features.iter().enumerate() {
            if let FeatureRow::Dense(row) = weights.feature(feature) {
                (rows[place], values[place]) = (row, value);
            }
        }
        for start in (0..sums.len()).step_by(STRIP) {
            let end = (start + STRIP).min(sums.len());
            let strip = &mut sums[start..end];
            for (rows, values) in rows
                .as_chunks::<4>()
                .0
                .iter()
                .zip(values.as_chunks::<4>().0)
                .take(features.len().div_ceil(4))
            {
                machine.add_four(strip, rows.map(|row| &row[start..end]), *values);
            }
            if group == groups {
                // While the sums are in the cache.
                machine.push_block_maxima(&strip[..whole.saturating_sub(start).min(end - start)], maxima);
            }
        }
    }
}

/// A number that at least `k` of `values` reach, and not many more. There are at least `k`.
fn reached_by(k: usize, values: &[i32]) -> i32 {
    // Bisection: counting is quicker than sorting, and a few rounds come near enough.
    let (least, most) = values.iter().fold((i32::MAX, i32::MIN), |(least, most), &value| {
        (least.min(value), most.max(value))
    });
    let (mut low, mut high) = (i64::from(least), i64::from(most) + 1);
    // At least k reach `low`, fewer reach `high`.
    while high - low > 1 {
        let middle = i64::midpoint(low, high) as i32;
        let reaching = values
            .iter()
            .map(|&value| u32::from(value >= middle))
            .sum::<u32>() as usize;
        if reaching >= k {
            low = i64::from(middle);
            if reaching <= k + k / 4 {
                break;
            }
        } else {
            high = i64::from(middle);
        }
    }
    low as i32
}

/// Offers the best sums of the first `classes`, whose block maxima are noted, and clears all sums.
fn select(classes: usize, k: usize, scratch: &mut SearchScratch) {
    let SearchScratch {
        machine,
        sums,
        maxima,
        best,
        ..
    } = scratch;
    let (blocks, rest) = sums[..classes].as_chunks::<LANES>();
    let mut floor = i32::MIN;
    // What k block maxima reach is a lower bound of the k-th best sum: most blocks hold nothing above it.
    if k > 0 && maxima.len() >= 2 * k {
        floor = reached_by(k, maxima).saturating_sub(1);
    }
    best.start(k, floor);
    let mut first = 0;
    for (block, &maximum) in blocks.iter().zip(maxima.iter()) {
        if maximum > best.threshold() {
            machine.offer_block(block, first, best);
        }
        first += LANES as u32;
    }
    best.offer_all(rest, first);
    // Sums beyond the last class can only come from a damaged file; the next search must not see them either.
    sums.fill(0);
}

#[cfg(test)]
mod tests {
    use super::super::{Narrow, Wide, quantize_row};
    use super::*;
    use proptest::prelude::*;

    struct Store<P> {
        classes: usize,
        sparse: Vec<Vec<P>>,
        dense: Vec<Option<Vec<i16>>>,
    }

    impl<P: Posting> FeatureRows for Store<P> {
        type Posting = P;
        fn classes(&self) -> usize {
            self.classes
        }
        fn feature(&self, feature: u32) -> FeatureRow<'_, P> {
            match self.dense.get(feature as usize) {
                Some(Some(dense)) => FeatureRow::Dense(dense),
                Some(None) => FeatureRow::Sparse(&self.sparse[feature as usize]),
                None => FeatureRow::Sparse(&[]),
            }
        }
    }

    fn store<P: Posting>(classes: usize, weights: &[Vec<i16>], dense: &[bool]) -> Store<P> {
        let sparse = weights
            .iter()
            .map(|row| {
                let stored = row.iter().enumerate().filter(|(_, w)| **w != 0);
                stored
                    .map(|(class, &weight)| P::new(class as u32, weight))
                    .collect()
            })
            .collect();
        let dense = weights.iter().zip(dense).map(|(row, &dense)| {
            dense.then(|| {
                let mut row = row.clone();
                row.resize(padded(classes), 0);
                row
            })
        });
        Store {
            classes,
            sparse,
            dense: dense.collect(),
        }
    }

    fn check<P: Posting>(classes: usize, weights: &[Vec<i16>], dense: &[bool], values: &[f32], k: usize) {
        let store = store::<P>(classes, weights, dense);
        let indices: Vec<u32> = (0..values.len() as u32).collect();
        let mut quantized = vec![];
        let scale = quantize_row(values, &mut quantized);
        let row = QuantizedRow {
            indices: &indices,
            values: &quantized,
            scale,
        };
        let mut scratch = SearchScratch::default();
        let (mut out, mut wanted) = (vec![], vec![]);
        let mut expected: Vec<FixedScore> = (0..classes)
            .map(|class| {
                let score = quantized.iter().enumerate().map(|(feature, &value)| {
                    weights
                        .get(feature)
                        .map_or(0, |row| i32::from(row[class]) * i32::from(value))
                });
                FixedScore {
                    class: class as u32,
                    score: score.sum(),
                }
            })
            .collect();
        let scores: Vec<i32> = expected.iter().map(|s| s.score).collect();
        expected.sort_by_key(|s| (std::cmp::Reverse(s.score), s.class));
        expected.truncate(k);
        // Twice: the scratch must come back clean.
        for _ in 0..2 {
            search(
                &store,
                row,
                k,
                &mut scratch,
                &mut out,
                &[0, classes as u32 - 1],
                &mut wanted,
            );
            assert_eq!(out, expected);
            assert_eq!(wanted, [scores[0], scores[classes - 1]]);
        }
    }

    proptest! {
        #[test]
        fn same_as_brute_force(
            classes in 1usize..300,
            features in 1usize..8,
            k in 0usize..12,
            seed in any::<u64>(),
            values in proptest::collection::vec(-2f32..2.0, 1..10),
        ) {
            let mut state = seed | 1;
            let mut next = move || { state ^= state << 13; state ^= state >> 7; state ^= state << 17; state };
            let weights: Vec<Vec<i16>> = (0..features)
                .map(|_| (0..classes).map(|_| if next() % 3 == 0 { (next() % 9) as i16 - 4 } else { 0 }).collect())
                .collect();
            let dense: Vec<bool> = (0..features).map(|_| next() % 2 == 0).collect();
            check::<Narrow>(classes, &weights, &dense, &values, k);
            check::<Wide>(classes, &weights, &dense, &values, k);
        }
    }

    #[test]
    fn classes_that_do_not_exist_are_ignored() {
        let store = Store {
            classes: 3,
            sparse: vec![vec![Narrow::new(60_000, 9), Narrow::new(40, 9)]],
            dense: vec![None],
        };
        let row = QuantizedRow {
            indices: &[0],
            values: &[5],
            scale: 1.0,
        };
        let mut scratch = SearchScratch::default();
        let (mut out, mut wanted) = (vec![], vec![]);
        for _ in 0..2 {
            search(&store, row, 2, &mut scratch, &mut out, &[], &mut wanted);
            assert_eq!(
                out,
                [
                    FixedScore { class: 0, score: 0 },
                    FixedScore { class: 1, score: 0 }
                ]
            );
        }
    }
}
