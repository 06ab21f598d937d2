//! Splits the rows of a node in two so that one ranking of labels on each side serves its rows best.
//!
//! With `δ_i` the side of row `i` and `r±` a ranking of all labels for each side, the sum over rows of
//! `nDCG(r^{δ_i}, y_i)` is maximised by turns: for fixed sides, the best ranking sorts labels by the sum of
//! their normalised gains on that side; for fixed rankings, each row takes the side that serves it better.
//! Neither step can lower the sum, and there are finitely many states.

use memoir::{Dataset, Result, Session};
use rand::Rng;

use super::gains::{Gains, discount, ideal_dcg};

/// Turns after which a node's sides are taken as they are.
const MAX_TURNS: usize = 50;

/// The gains of a node's rows, with the node's labels numbered from 0.
#[derive(Debug, Default)]
pub(super) struct NodeLabels {
    /// Row `i` owns the entries `ends[i]..ends[i + 1]`.
    ends: Vec<usize>,
    labels: Vec<u32>,
    /// The row's weight times the label's gain, divided by the row's ideal DCG.
    gains: Vec<f64>,
    /// How many different labels there are.
    count: usize,
}

/// One worker's memory for numbering the labels of a node.
#[derive(Debug)]
pub(super) struct Numbering {
    numbers: Vec<u32>,
    seen: Vec<u32>,
}

impl Numbering {
    pub(super) fn new(size: usize) -> Self {
        Self {
            numbers: vec![u32::MAX; size],
            seen: Vec::new(),
        }
    }

    /// The number of `item`: the next free one at its first appearance.
    pub(super) fn number(&mut self, item: u32) -> u32 {
        let number = &mut self.numbers[item as usize];
        if *number == u32::MAX {
            *number = self.seen.len() as u32;
            self.seen.push(item);
        }
        *number
    }

    /// The items in the order of their numbers.
    pub(super) fn items(&self) -> &[u32] {
        &self.seen
    }

    /// Forgets all items.
    pub(super) fn clear(&mut self) {
        for item in self.seen.drain(..) {
            self.numbers[item as usize] = u32::MAX;
        }
    }
}

impl NodeLabels {
    /// The labels of `rows`.
    pub(super) fn new(data: &Dataset, rows: &[u32], gains: &Gains, numbering: &mut Numbering) -> Self {
        numbering.clear();
        let mut node = Self {
            ends: vec![0],
            ..Self::default()
        };
        for &row in rows {
            let labels = data.labels.row(row as usize);
            let weight = data.weights.as_ref().map_or(1.0, |weights| weights[row as usize]);
            let scale = f64::from(weight) / ideal_dcg(labels.len()).max(1.0);
            for &label in labels {
                node.labels.push(numbering.number(label));
                node.gains.push(scale * gains.of_class[label as usize]);
            }
            node.ends.push(node.labels.len());
        }
        node.count = numbering.items().len();
        node
    }

    fn rows(&self) -> usize {
        self.ends.len() - 1
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.ends[row]..self.ends[row + 1];
        let labels = self.labels[range.clone()].iter();
        labels
            .zip(&self.gains[range])
            .map(|(&label, &gain)| (label as usize, gain))
    }

    /// What a label counts on the side `side` of `sides`, under the best ranking there.
    fn discounts(&self, sides: &[bool], side: bool) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for row in (0..self.rows()).filter(|&row| sides[row] == side) {
            for (label, gain) in self.row(row) {
                sums[label] += gain;
            }
        }
        let mut order: Vec<u32> = (0..self.count as u32).collect();
        order.sort_by(|&left, &right| {
            sums[right as usize]
                .total_cmp(&sums[left as usize])
                .then(left.cmp(&right))
        });
        let mut discounts = vec![0.0; self.count];
        for (index, &label) in order.iter().enumerate() {
            discounts[label as usize] = discount(index + 1);
        }
        discounts
    }

    fn dcg(&self, row: usize, discounts: &[f64]) -> f64 {
        self.row(row).map(|(label, gain)| gain * discounts[label]).sum()
    }

    /// Sides for all rows, from a random start; the sum that is maximised goes to `watch` after each step.
    ///
    /// One side may stay empty: then the node cannot be split this way.
    pub(super) fn partition(
        &self,
        random: &mut impl Rng,
        session: &Session<'_>,
        mut watch: impl FnMut(f64),
    ) -> Result<Vec<bool>> {
        let mut sides: Vec<bool> = (0..self.rows()).map(|_| random.next_u32() & 1 == 1).collect();
        for _ in 0..MAX_TURNS {
            session.check()?;
            let (left, right) = (self.discounts(&sides, false), self.discounts(&sides, true));
            let mut before = 0.0;
            let mut after = 0.0;
            let mut changed = false;
            for (row, side) in sides.iter_mut().enumerate() {
                let (on_left, on_right) = (self.dcg(row, &left), self.dcg(row, &right));
                before += if *side { on_right } else { on_left };
                after += on_left.max(on_right);
                // A row that is served alike on both sides stays: turns end.
                let better = if on_left == on_right {
                    *side
                } else {
                    on_right > on_left
                };
                changed |= better != *side;
                *side = better;
            }
            watch(before);
            watch(after);
            if !changed {
                break;
            }
        }
        Ok(sides)
    }

    /// The sum over rows of their nDCG when `sides` have their best rankings.
    #[cfg(test)]
    pub(super) fn objective(&self, sides: &[bool]) -> f64 {
        let discounts = [self.discounts(sides, false), self.discounts(sides, true)];
        let rows = 0..self.rows();
        rows.map(|row| self.dcg(row, &discounts[usize::from(sides[row])]))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use proptest::prelude::*;

    use super::*;

    fn data(label_sets: &[Vec<u32>]) -> Dataset {
        let mut data = Dataset::default();
        for labels in label_sets {
            data.rows.push_unsorted(&mut vec![(0, 1.0)]);
            data.labels.push(labels.iter().copied());
        }
        data
    }

    fn session() -> Session<'static> {
        Session::new(NonZeroUsize::MIN).unwrap()
    }

    fn node(data: &Dataset, gains: &Gains) -> NodeLabels {
        let rows: Vec<u32> = (0..data.len() as u32).collect();
        NodeLabels::new(data, &rows, gains, &mut Numbering::new(gains.of_class.len()))
    }

    /// The sum under given rankings of the labels (best first), straight from the definition.
    fn naive(data: &Dataset, gains: &Gains, sides: &[bool], rankings: [&[u32]; 2]) -> f64 {
        let mut sum = 0.0;
        for (row, labels) in data.labels.iter().enumerate() {
            let ranking = rankings[usize::from(sides[row])];
            let mut dcg = 0.0;
            for &label in labels {
                let rank = ranking.iter().position(|&other| other == label).unwrap() + 1;
                dcg += gains.of_class[label as usize] / (1.0 + rank as f64).log2();
            }
            let ideal: f64 = (1..=labels.len())
                .map(|rank| 1.0 / (1.0 + rank as f64).log2())
                .sum();
            sum += if labels.is_empty() { 0.0 } else { dcg / ideal };
        }
        sum
    }

    proptest! {
        #[test]
        fn no_step_lowers_the_sum(
            sets in proptest::collection::vec(proptest::collection::vec(0u32..12, 0..4), 1..60),
            worth in proptest::collection::vec(1f64..9.0, 12),
            seed: u64,
        ) {
            let data = data(&sets);
            let node = node(&data, &Gains { of_class: worth });
            let session = session().with_seed(seed);
            let mut steps = Vec::new();
            let sides = node.partition(&mut session.random("test"), &session, |sum| steps.push(sum)).unwrap();
            prop_assert!(steps.is_sorted_by(|before, after| *after >= before - 1e-9), "{:?}", steps);
            prop_assert!(node.objective(&sides) >= steps[steps.len() - 1] - 1e-9);
        }

        #[test]
        fn the_best_ranking_is_that_of_all_permutations(
            sets in proptest::collection::vec(proptest::collection::vec(0u32..4, 1..3), 1..8),
            worth in proptest::collection::vec(1f64..9.0, 4),
            side_bits: u8,
        ) {
            let mut sets = sets;
            sets.push(vec![0, 1, 2, 3]);
            let data = data(&sets);
            let gains = Gains { of_class: worth };
            let sides: Vec<bool> = (0..sets.len()).map(|row| side_bits >> (row % 8) & 1 == 1).collect();
            let mut best = 0f64;
            let permutations = permutations();
            for left in &permutations {
                for right in &permutations {
                    best = best.max(naive(&data, &gains, &sides, [left, right]));
                }
            }
            let found = node(&data, &gains).objective(&sides);
            prop_assert!((found - best).abs() < 1e-9, "{found} against {best}");
        }
    }

    fn permutations() -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        for code in 0..256u32 {
            let permutation: Vec<u32> = (0..4).map(|index| code >> (2 * index) & 3).collect();
            if (0..4).all(|label| permutation.contains(&label)) {
                all.push(permutation);
            }
        }
        assert_eq!(all.len(), 24);
        all
    }

    #[test]
    fn the_best_split_of_tiny_data_is_found_from_some_start() {
        let sets: Vec<Vec<u32>> = [0, 0, 0, 1, 1, 2, 2, 3].map(|label| vec![label]).to_vec();
        let data = data(&sets);
        let node = node(&data, &Gains::equal(4));
        let best = (0..256u32)
            .map(|code| node.objective(&(0..8).map(|row| code >> row & 1 == 1).collect::<Vec<_>>()))
            .fold(0.0, f64::max);
        let session = session();
        let mut random = session.random("test");
        let found = (0..40)
            .map(|_| node.objective(&node.partition(&mut random, &session, |_| ()).unwrap()))
            .fold(0.0, f64::max);
        assert!((found - best).abs() < 1e-9, "{found} against {best}");
    }
}
