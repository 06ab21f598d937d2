//! Bounded selection of the best-scored classes.

use std::cmp::Ordering;

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

/// Keeps the `k` best of the classes offered to it, in a buffer that is reused.
#[derive(Debug, Clone, Default)]
pub struct TopK {
    k: usize,
    /// Binary heap, worst kept class on top.
    heap: Vec<Scored>,
}

impl TopK {
    /// Starts anew, to keep the `k` best.
    pub fn reset(&mut self, k: usize) {
        self.k = k;
        self.heap.clear();
    }

    /// The score below which nothing can enter any more; minus infinity while there is room.
    pub fn threshold(&self) -> f32 {
        if self.heap.len() < self.k {
            f32::NEG_INFINITY
        } else {
            self.heap.first().map_or(f32::INFINITY, |s| s.score)
        }
    }

    /// Offers a class.
    pub fn offer(&mut self, candidate: Scored) {
        if self.heap.len() < self.k {
            self.heap.push(candidate);
            let mut child = self.heap.len() - 1;
            while child > 0 {
                let parent = (child - 1) / 2;
                if self.heap[child].order(&self.heap[parent]) != Ordering::Greater {
                    break;
                }
                self.heap.swap(child, parent);
                child = parent;
            }
        } else if self.k > 0 && candidate.order(&self.heap[0]) == Ordering::Less {
            self.heap[0] = candidate;
            self.sink();
        }
    }

    fn sink(&mut self) {
        let mut parent = 0;
        loop {
            let mut child = 2 * parent + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len()
                && self.heap[child + 1].order(&self.heap[child]) == Ordering::Greater
            {
                child += 1;
            }
            if self.heap[child].order(&self.heap[parent]) != Ordering::Greater {
                break;
            }
            self.heap.swap(child, parent);
            parent = child;
        }
    }

    /// Writes what was kept to `out`, best first.
    pub fn finish(&mut self, out: &mut Vec<Scored>) {
        out.clear();
        out.extend_from_slice(&self.heap);
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
