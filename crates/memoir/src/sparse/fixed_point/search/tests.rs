//! The search against brute force, with few and with many classes.

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

impl<P: Posting> Store<P> {
    fn largest(&self, feature: u32) -> u16 {
        let weights = self.sparse.get(feature as usize).into_iter().flatten();
        weights
            .map(|posting| posting.weight().unsigned_abs())
            .max()
            .unwrap_or(0)
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
    // The best classes have labels, too: what is taken out must not be missed.
    let mut labels: Vec<u32> = expected.iter().step_by(3).take(2).map(|s| s.class).collect();
    labels.sort_unstable();
    let others = expected.iter().copied();
    let others = others.filter(|s| s.score > 0 && !labels.contains(&s.class));
    let mut others: Vec<FixedScore> = others.take(k).collect();
    others.sort_by_key(|s| s.class);
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
        let query = RivalQuery {
            row,
            scale: SumScale::EXACT,
            labels: &labels,
            rivals: k,
        };
        search_rivals(&store, query, &mut scratch, &mut out, &mut wanted);
        assert_eq!(out, others);
        assert!(
            labels
                .iter()
                .map(|&label| scores[label as usize])
                .eq(wanted.iter().copied())
        );
    }
    check_rough(&store, row, k, &scores, &labels, &others);
}

/// Rough scores are near the exact ones, and no rival is missed that is clearly stronger than one that is
/// found.
fn check_rough<P: Posting>(
    store: &Store<P>,
    row: QuantizedRow<'_>,
    k: usize,
    scores: &[i32],
    labels: &[u32],
    others: &[FixedScore],
) {
    let features = row.indices.len();
    let Some(scale) = SumScale::rough(row, |feature| store.largest(feature)) else {
        return;
    };
    let query = RivalQuery {
        row,
        scale,
        labels,
        rivals: k,
    };
    let (mut found, mut label_scores) = (vec![], vec![]);
    let mut scratch = SearchScratch::<i16>::default();
    for _ in 0..2 {
        search_rivals(store, query, &mut scratch, &mut found, &mut label_scores);
        let of_labels = labels.iter().copied().zip(label_scores.iter().copied());
        let of_rivals = found.iter().map(|rival| (rival.class, rival.score));
        for (class, rough) in of_labels.chain(of_rivals) {
            let exact = f64::from(scores[class as usize]) / f64::from(scale.products);
            assert!(
                (f64::from(rough) - exact).abs() <= features as f64,
                "{rough} {exact}"
            );
        }
        assert!(found.len() <= k && found.is_sorted_by_key(|rival| rival.class));
        assert!(found.iter().all(|rival| !labels.contains(&rival.class)));
        let weakest = found.iter().map(|rival| rival.score).min().unwrap_or(0);
        let limit = if found.len() < k { 0 } else { weakest };
        for missed in others
            .iter()
            .filter(|rival| found.iter().all(|found| found.class != rival.class))
        {
            let exact = f64::from(missed.score) / f64::from(scale.products);
            assert!(exact <= f64::from(limit) + features as f64, "{exact} {limit}");
        }
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
        // As large as weights can be, where sums come near the limits of 16 bits.
        let large: Vec<Vec<i16>> = weights.iter().map(|row| row.iter().map(|w| w * 8191).collect()).collect();
        check::<Narrow>(classes, &large, &dense, &values, k);
        check::<Wide>(classes, &weights, &dense, &values, k);
    }
}

/// More classes than a strip has, more dense rows than are looked up together, more wanted than some blocks
/// hold.
#[test]
fn same_as_brute_force_with_many_classes() {
    let mut state = 7u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for (classes, features, k) in [(5000, 37, 31), (4096, 16, 1), (2049, 20, 16), (2100, 3, 40)] {
        let weights: Vec<Vec<i16>> = (0..features)
            .map(|_| (0..classes).map(|_| (next() % 7) as i16 - 3).collect())
            .collect();
        let dense: Vec<bool> = (0..features).map(|feature| feature % 5 != 4).collect();
        let values: Vec<f32> = (0..features).map(|_| (next() % 9) as f32 / 4.0 - 1.0).collect();
        check::<Narrow>(classes, &weights, &dense, &values, k);
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
