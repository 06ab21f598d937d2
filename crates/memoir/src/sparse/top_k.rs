//! Bounded selection of the best-scored classes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A class with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Class number.
    pub class: u32,
    /// Its score; higher is better.
    pub score: f32,
}

impl Scored {
    /// Best first: higher score, and of equal scores the lower class number. Total, so every result has one
    /// order.
    pub fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.class.cmp(&other.class))
    }
}

/// Worse classes are greater, so that a heap has the worst one on top.
#[derive(Debug, Clone, Copy)]
struct WorstFirst(Scored);

impl Ord for WorstFirst {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order(&other.0)
    }
}

impl PartialOrd for WorstFirst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for WorstFirst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for WorstFirst {}

/// Keeps the `k` best of the classes offered to it, in a buffer that is reused.
#[derive(Debug, Clone, Default)]
pub struct TopK {
    k: usize,
    kept: BinaryHeap<WorstFirst>,
}

impl TopK {
    /// Starts anew, to keep the `k` best.
    pub fn reset(&mut self, k: usize) {
        self.k = k;
        self.kept.clear();
    }

    /// The score below which nothing can enter any more; minus infinity while there is room.
    pub fn threshold(&self) -> f32 {
        if self.kept.len() < self.k {
            f32::NEG_INFINITY
        } else {
            self.kept.peek().map_or(f32::INFINITY, |worst| worst.0.score)
        }
    }

    /// Offers a class.
    pub fn offer(&mut self, candidate: Scored) {
        if self.kept.len() < self.k {
            self.kept.push(WorstFirst(candidate));
        } else if let Some(mut worst) = self.kept.peek_mut()
            && candidate.order(&worst.0).is_lt()
        {
            *worst = WorstFirst(candidate);
        }
    }

    /// Writes what was kept to `out`, best first.
    pub fn finish(&mut self, out: &mut Vec<Scored>) {
        out.clear();
        out.extend(self.kept.iter().map(|kept| kept.0));
        out.sort_unstable_by(Scored::order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn same_as_sorting(scores in proptest::collection::vec(-3i8..3, 0..60), k in 0usize..12) {
            let all: Vec<_> = scores.iter().enumerate()
                .map(|(class, &score)| Scored { class: class as u32, score: f32::from(score) }).collect();
            let mut top = TopK::default();
            top.reset(k);
            for &scored in all.iter().rev() { top.offer(scored); }
            let mut got = vec![];
            top.finish(&mut got);
            let mut expected = all;
            expected.sort_by(Scored::order);
            expected.truncate(k);
            prop_assert_eq!(got, expected);
        }
    }
}
