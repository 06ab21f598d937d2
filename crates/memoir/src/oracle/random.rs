//! `random`: wrong classes drawn at random, the paper's Eq. 2. Cheap and weak: what a real search must beat.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::SplitMix64;

use super::{Oracle, Query};
use crate::model::Scratch;
use crate::sparse::{ClassVectors, Scored};
use crate::{Result, Session};

/// Answers with random wrong classes.
#[derive(Debug, Clone, Default)]
pub struct Random;

impl<W: ClassVectors> Oracle<W> for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn update(&mut self, _weights: &W, _changed: &[u32], _session: &Session<'_>) -> Result<()> {
        Ok(())
    }

    fn search(&self, weights: &W, query: &Query<'_>, _scratch: &mut Scratch, out: &mut Vec<Scored>) -> usize {
        out.clear();
        let classes = weights.classes() as u32;
        let mut random = SplitMix64::seed_from_u64(query.draw);
        // Each miss is a true class, a zero vector or a repeat; a bounded number of tries keeps the worst
        // case short.
        for _ in 0..4 * query.k + 32 {
            if out.len() == query.k || classes == 0 {
                break;
            }
            let class = random.random_range(0..classes);
            let taken = out.iter().any(|rival| rival.class == class);
            if !taken && query.labels.binary_search(&class).is_err() && !weights.zeros().contains(class) {
                out.push(Scored {
                    class,
                    score: weights.dot(class, query.row) + 0.0,
                });
            }
        }
        out.sort_unstable_by(Scored::order);
        out.len()
    }
}
