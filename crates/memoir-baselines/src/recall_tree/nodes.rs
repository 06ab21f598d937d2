//! The tree while it grows: which classes each node has seen, how mixed they are, and how often the node's
//! candidate list holds the right one.

use memoir::maths;
use rustc_hash::FxHashMap;

/// Child number of a node that has none; the root is nobody's child.
pub(super) const NO_CHILD: u32 = 0;

/// A node with the classes of the examples that came through it.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Numbers of the left and the right child, or [`NO_CHILD`] twice.
    pub(super) children: [u32; 2],
    pub(super) depth: u32,
    /// Classes seen here with their numbers of examples, most frequent first.
    counts: Vec<(u32, u32)>,
    /// Where a class stands in `counts`.
    indices: FxHashMap<u32, u32>,
    /// Examples seen here.
    total: u64,
    /// Sum over classes of `n ln n`.
    sum_n_ln_n: f64,
    /// Examples seen here whose class is a candidate.
    covered: u64,
}

fn n_ln_n(count: u64) -> f64 {
    if count == 0 {
        0.0
    } else {
        count as f64 * maths::ln(count as f64)
    }
}

impl Node {
    /// A node without children or examples.
    pub(super) fn at_depth(depth: u32) -> Self {
        Self {
            depth,
            ..Self::default()
        }
    }

    /// Counts an example of `class`; the first `candidates` classes are the candidates.
    pub(super) fn add(&mut self, class: u32, candidates: usize) {
        let end = self.counts.len() as u32;
        let index = *self.indices.entry(class).or_insert(end) as usize;
        if index == self.counts.len() {
            self.counts.push((class, 0));
        }
        let count = self.counts[index].1;
        // The class trades places with the first of those that have been as frequent: the order stays, in
        // O(log).
        let first = self.counts.partition_point(|&(_, other)| other > count);
        self.counts.swap(first, index);
        let displaced = self.counts[index].0;
        self.counts[first].1 += 1;
        self.indices.insert(displaced, index as u32);
        self.indices.insert(class, first as u32);
        self.total += 1;
        self.sum_n_ln_n += n_ln_n(u64::from(count) + 1) - n_ln_n(u64::from(count));
        if first < candidates {
            self.covered += 1;
        }
    }

    /// By how much the sum of `-ln p(class)` over this node's examples grows if one more example of `class`
    /// comes.
    pub(super) fn entropy_growth(&self, class: u32) -> f64 {
        let index = self.indices.get(&class);
        let count = index.map_or(0, |&index| u64::from(self.counts[index as usize].1));
        let of_total = n_ln_n(self.total + 1) - n_ln_n(self.total);
        of_total - (n_ln_n(count + 1) - n_ln_n(count))
    }

    /// What the share of examples with their class among the candidates is at least, by an empirical
    /// Bernstein bound. `confidence` is the logarithm in the bound: 0 trusts the observed share.
    pub(super) fn recall_bound(&self, confidence: f64) -> f64 {
        if self.total == 0 {
            return 0.0;
        }
        let total = self.total as f64;
        let recall = self.covered as f64 / total;
        let deviation = (2.0 * confidence * recall * (1.0 - recall) / total).sqrt();
        (recall - deviation - 3.0 * confidence / total).max(0.0)
    }

    /// The most frequent classes, at most `candidates` of them.
    pub(super) fn candidates(&self, candidates: usize) -> impl Iterator<Item = u32> {
        let candidates = candidates.min(self.counts.len());
        self.counts[..candidates].iter().map(|&(class, _)| class)
    }

    /// Whether `class` is among the candidates.
    pub(super) fn is_candidate(&self, class: u32, candidates: usize) -> bool {
        self.indices
            .get(&class)
            .is_some_and(|&index| (index as usize) < candidates)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sum of `-ln p(class)` over the examples.
    fn entropy(examples: &[u32]) -> f64 {
        let total = examples.len() as f64;
        let share = |class| examples.iter().filter(|&&other| other == class).count() as f64 / total;
        examples.iter().map(|&class| -share(class).ln()).sum()
    }

    proptest! {
        #[test]
        fn statistics_are_those_of_the_examples(examples in proptest::collection::vec(0u32..9, 0..60), next in 0u32..9) {
            let mut node = Node::default();
            let mut covered = 0;
            for &class in &examples {
                node.add(class, 3);
                covered = node.counts.iter().take(3).map(|&(_, count)| u64::from(count)).sum();
            }
            prop_assert!(node.counts.is_sorted_by(|a, b| a.1 >= b.1));
            for (index, &(class, count)) in node.counts.iter().enumerate() {
                prop_assert_eq!(node.indices[&class] as usize, index);
                prop_assert_eq!(count as usize, examples.iter().filter(|&&other| other == class).count());
            }
            prop_assert_eq!(node.covered, covered);
            prop_assert_eq!(node.total, examples.len() as u64);
            let mut longer = examples.clone();
            longer.push(next);
            let growth = entropy(&longer) - entropy(&examples);
            prop_assert!((node.entropy_growth(next) - growth).abs() < 1e-9);
            let share = covered as f64 / examples.len().max(1) as f64;
            prop_assert!((node.recall_bound(0.0) - share).abs() < 1e-12);
            prop_assert!(node.recall_bound(1.0) <= share);
        }
    }

    #[test]
    fn more_examples_tighten_the_recall_bound() {
        let mut node = Node::default();
        let mut last = 0.0;
        for _ in 0..50 {
            node.add(7, 1);
            assert!(node.recall_bound(0.5) >= last);
            last = node.recall_bound(0.5);
        }
        assert!(last > 0.9 && last < 1.0);
        assert!(node.is_candidate(7, 1) && !node.is_candidate(8, 1));
    }
}
