//! Which classes are mistaken for which, in bounded memory.

use rustc_hash::FxHashMap;

/// How often each class was mistaken for each other one.
///
/// Counts are exact while there are at most [`Confusions::CAPACITY`] different pairs. Beyond that, the
/// rarest pairs are given up (Misra and Gries' scheme): a count may then be too low by at most
/// [`Confusions::undercount`], and every pair that is more frequent than that is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Confusions {
    counts: FxHashMap<(u32, u32), u64>,
    undercount: u64,
}

impl Confusions {
    /// Number of different pairs that are kept.
    pub const CAPACITY: usize = 1 << 18;

    /// Counts that a row labelled `truth` got `predicted` as its best class.
    pub fn add(&mut self, truth: u32, predicted: u32) {
        *self.counts.entry((truth, predicted)).or_default() += 1;
        self.shrink_to(Self::CAPACITY);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (&pair, &count) in &other.counts {
            *self.counts.entry(pair).or_default() += count;
        }
        self.undercount += other.undercount;
        self.shrink_to(Self::CAPACITY);
    }

    /// By how much a count may be too low; 0 means that all are exact.
    pub fn undercount(&self) -> u64 {
        self.undercount
    }

    /// The `limit` most frequent pairs `(truth, predicted, count)`; of equal counts the lower class numbers
    /// first.
    pub fn most_frequent(&self, limit: usize) -> Vec<(u32, u32, u64)> {
        let mut all: Vec<_> = self
            .counts
            .iter()
            .map(|(&(truth, predicted), &count)| (truth, predicted, count))
            .collect();
        let order =
            |a: &(u32, u32, u64), b: &(u32, u32, u64)| b.2.cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1)));
        if limit > 0 && limit < all.len() {
            all.select_nth_unstable_by(limit - 1, order);
        }
        all.truncate(limit);
        all.sort_unstable_by(order);
        all
    }

    /// Once over `capacity`, lowers every count by the one in the middle: at least half of the pairs go, so
    /// the cost of doing this is shared by as many additions.
    fn shrink_to(&mut self, capacity: usize) {
        if self.counts.len() <= capacity {
            return;
        }
        let mut counts: Vec<u64> = self.counts.values().copied().collect();
        let middle = counts.len() / 2;
        let (_, &mut decrement, _) = counts.select_nth_unstable(middle);
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(decrement);
            *count > 0
        });
        self.undercount += decrement;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_frequent_first_and_ties_by_class() {
        let mut confusions = Confusions::default();
        for (truth, predicted) in [(5, 1), (2, 3), (2, 3), (0, 9), (2, 1)] {
            confusions.add(truth, predicted);
        }
        assert_eq!(confusions.most_frequent(3), [(2, 3, 2), (0, 9, 1), (2, 1, 1)]);
        assert_eq!(confusions.most_frequent(0), []);
        assert_eq!(confusions.most_frequent(99).len(), 4);
        assert_eq!(confusions.undercount(), 0);
    }

    #[test]
    fn frequent_pairs_survive_a_flood_of_rare_ones() {
        let mut confusions = Confusions::default();
        for rare in 0..2 * Confusions::CAPACITY as u32 {
            confusions.add(rare, rare + 1);
            if rare % 8 == 0 {
                confusions.add(7, 3);
            }
        }
        let frequent = Confusions::CAPACITY as u64 / 4;
        let (truth, predicted, count) = confusions.most_frequent(1)[0];
        assert_eq!((truth, predicted), (7, 3));
        assert!(confusions.undercount() > 0);
        assert!(count <= frequent && count + confusions.undercount() >= frequent);
    }
}
