//! Measures of the `k` best classes for any `k`: precision, recall, F1 and NDCG.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::maths;
use crate::sparse::Scored;

/// The measures of the `k` best classes, each the mean over rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankingMeasures {
    /// How many classes are looked at.
    pub k: usize,
    /// Share of the `k` best classes that are labels.
    pub precision: f64,
    /// Share of the labels that are among the `k` best classes.
    pub recall: f64,
    /// Harmonic mean of the two, row by row.
    pub f1: f64,
    /// Gains of the labels among the `k` best classes, divided by the gains of all labels in the first
    /// ranks. The gain of rank `i`, counted from 1, is `1 / log2(i + 1)`.
    pub ndcg: f64,
}

/// Counts from which the measures follow for each `k`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranking {
    cutoffs: Vec<usize>,
    rows: u64,
    /// For rows with so many labels: how often the class at each rank is a label. Whole numbers add up to
    /// the same in any order.
    hits: BTreeMap<usize, Vec<u64>>,
}

impl Ranking {
    /// Nothing counted yet; the measures will be about the `k`s in `cutoffs`.
    pub fn new(cutoffs: &[usize]) -> Self {
        Self {
            cutoffs: cutoffs.to_vec(),
            ..Self::default()
        }
    }

    /// How many classes of each row must be known.
    pub fn depth(&self) -> usize {
        self.cutoffs.iter().copied().max().unwrap_or(0)
    }

    /// Counts one row: its labels and the predicted classes, best first. Rows without labels are left out.
    pub fn add(&mut self, labels: &[u32], ranked: &[Scored]) {
        if labels.is_empty() {
            return;
        }
        self.rows += 1;
        let depth = self.depth();
        let hits = self.hits.entry(labels.len()).or_insert_with(|| vec![0; depth]);
        for (hits, scored) in hits.iter_mut().zip(ranked) {
            *hits += u64::from(labels.contains(&scored.class));
        }
    }

    /// The measures for each cut-off.
    pub fn measures(&self) -> Vec<RankingMeasures> {
        self.cutoffs.iter().map(|&k| self.at(k)).collect()
    }

    fn at(&self, k: usize) -> RankingMeasures {
        let mut sums = [0.0; 4];
        // Given the number of labels, every measure is a sum over the ranks of hits.
        for (&labels, hits) in &self.hits {
            let found: u64 = hits.iter().take(k).sum();
            let found = found as f64;
            let gains: f64 = hits
                .iter()
                .take(k)
                .enumerate()
                .map(|(rank, &hits)| hits as f64 * gain(rank))
                .sum();
            let ideal: f64 = (0..labels).map(gain).sum();
            sums[0] += found / k as f64;
            sums[1] += found / labels as f64;
            sums[2] += 2.0 * found / (k + labels) as f64;
            sums[3] += gains / ideal;
        }
        let [precision, recall, f1, ndcg] = sums.map(|sum| sum / self.rows.max(1) as f64);
        RankingMeasures {
            k,
            precision,
            recall,
            f1,
            ndcg,
        }
    }
}

/// What a label is worth at this rank, counted from 0.
fn gain(rank: usize) -> f64 {
    1.0 / maths::log2((rank + 2) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranked(classes: &[u32]) -> Vec<Scored> {
        classes
            .iter()
            .map(|&class| Scored { class, score: 0.0 })
            .collect()
    }

    #[test]
    fn by_hand() {
        let mut ranking = Ranking::new(&[1, 3]);
        ranking.add(&[4, 7], &ranked(&[7, 1, 4]));
        ranking.add(&[], &ranked(&[7, 1, 4]));
        let [first, third] = ranking.measures()[..] else {
            panic!("two cut-offs")
        };
        assert_eq!((first.precision, first.recall), (1.0, 0.5));
        assert!((first.f1 - 2.0 / 3.0).abs() < 1e-12);
        assert!((third.precision - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!((third.recall, third.f1), (1.0, 0.8));
        let ideal = 1.0 + 1.0 / 3f64.log2();
        assert!((first.ndcg - 1.0 / ideal).abs() < 1e-12);
        assert!((third.ndcg - 1.5 / ideal).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn as_the_definitions_say(
            rows in proptest::collection::vec(
                (proptest::collection::btree_set(0u32..12, 1..6), Just((0u32..12).collect::<Vec<_>>()).prop_shuffle()),
                1..20,
            ),
            k in 1usize..15,
        ) {
            let mut ranking = Ranking::new(&[k]);
            let mut sums = [0.0; 4];
            for (labels, classes) in &rows {
                let labels: Vec<u32> = labels.iter().copied().collect();
                ranking.add(&labels, &ranked(classes));
                let best = &classes[..k.min(classes.len())];
                let found = best.iter().filter(|class| labels.contains(class)).count() as f64;
                let (precision, recall) = (found / k as f64, found / labels.len() as f64);
                let gained: f64 = best.iter().enumerate()
                    .filter(|(_, class)| labels.contains(class))
                    .map(|(rank, _)| 1.0 / (rank as f64 + 2.0).log2())
                    .sum();
                let ideal: f64 = (0..labels.len()).map(|rank| 1.0 / (rank as f64 + 2.0).log2()).sum();
                sums[0] += precision;
                sums[1] += recall;
                sums[2] += if found > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
                sums[3] += gained / ideal;
            }
            let got = ranking.measures()[0];
            for (got, sum) in [got.precision, got.recall, got.f1, got.ndcg].into_iter().zip(sums) {
                prop_assert!((got - sum / rows.len() as f64).abs() < 1e-9);
            }
        }
    }
}
