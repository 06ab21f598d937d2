//! `exact` for dense vectors: the inner product with every class.

use super::{Oracle, Query};
use crate::model::Scratch;
use crate::sparse::{ClassDense, ClassVectors, Scored, TopK};
use crate::{Result, Session};

/// Scores every class, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scan;

impl Oracle<ClassDense> for Scan {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn update(&mut self, _: &ClassDense, _: &[u32], session: &Session<'_>) -> Result<()> {
        session.check()
    }

    fn search(
        &self,
        weights: &ClassDense,
        query: &Query<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<Scored>,
    ) -> usize {
        let top = scratch.get::<TopK>();
        top.reset(query.k);
        let mut inner_products = 0;
        for class in 0..weights.classes() as u32 {
            if !weights.zeros().contains(class) && query.labels.binary_search(&class).is_err() {
                inner_products += 1;
                // Adding zero turns -0 into 0, so that scores have one order.
                let score = weights.dot(class, query.row) + 0.0;
                top.offer(Scored { class, score });
            }
        }
        top.finish(out);
        inner_products
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Arc;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::oracle::{HashSearch, OracleKind, SimpleLshParams, SwGraphParams};
    use crate::sparse::{Addend, Reduction, RowView, Rows};

    /// Vectors of 24 dimensions for 300 classes, of which every seventh is zero.
    fn weights(session: &Session<'_>) -> ClassDense {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let whole: Vec<i16> = (0..60 * 24).map(|_| random.random()).collect();
        let reduction = Reduction::new(24, whole.into(), vec![1e-4; 60].into()).unwrap();
        let mut rows = Rows::new();
        for _ in 0..300 {
            rows.push_unsorted(
                &mut (0..9)
                    .map(|_| (random.random_range(0..60), random.random()))
                    .collect(),
            );
        }
        let mut addends: Vec<Addend> = (0..300)
            .filter(|class| class % 7 != 0)
            .map(|class| Addend {
                class,
                row: class,
                coefficient: 1.0,
            })
            .collect();
        let mut weights = ClassDense::new(300, Arc::new(reduction));
        weights.add(&mut addends, &rows, session).unwrap();
        weights
    }

    #[test]
    fn every_oracle_searches_dense_vectors() {
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let weights = weights(&session);
        let all: Vec<u32> = (0..300).collect();
        let hashes = SimpleLshParams {
            bits: 128,
            search: HashSearch::Hamming,
            candidates: 60,
            key_bits: 8,
            probes: 2,
        };
        let graph = SwGraphParams {
            neighbors: 16,
            ef_construction: 64,
            ef_search: 64,
            seeds: 32,
        };
        let kinds = [
            (OracleKind::Exact, 100),
            (OracleKind::SimpleLsh(hashes), 75),
            (OracleKind::SwGraph(graph), 90),
        ];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let indices: Vec<u32> = (0..24).collect();
        let rows: Vec<Vec<f32>> = (0..100)
            .map(|_| (0..24).map(|_| random.random::<f32>() - 0.5).collect())
            .collect();
        for (kind, floor) in kinds {
            let mut oracle = kind.build::<ClassDense>(0);
            oracle.update(&weights, &all, &session).unwrap();
            let hits = rows.iter().zip(0..).filter(|(values, label)| {
                let row = RowView {
                    indices: &indices,
                    values,
                };
                let query = Query {
                    row,
                    labels: &[*label],
                    k: 3,
                    draw: 0,
                };
                let mut found = Vec::new();
                oracle.search(&weights, &query, &mut Scratch::default(), &mut found);
                assert_eq!(found.len(), 3);
                assert!(found.iter().all(|f| f.class != *label && f.class % 7 != 0));
                let others = all.iter().filter(|class| *class % 7 != 0 && *class != label);
                let best = others
                    .map(|&class| weights.dot(class, row))
                    .fold(f32::MIN, f32::max);
                found[0].score == best
            });
            let hits = hits.count();
            assert!(hits >= floor, "{kind:?}: {hits} of 100");
        }
    }
}
