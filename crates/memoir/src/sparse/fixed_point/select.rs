//! Bounded selection of the highest integer scores.

use crate::sparse::Scored;

/// A class with its integer score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedScore {
    /// Class number.
    pub class: u32,
    /// Its score in units of the row's scale; higher is better.
    pub score: i32,
}

impl FixedScore {
    /// The same in a unit of which this is so many.
    pub(crate) fn scored(self, unit: f32) -> Scored {
        Scored {
            class: self.class,
            score: self.score as f32 * unit,
        }
    }
}

/// Keeps the k best of what is offered. Classes must come in rising order: an equal score never displaces an
/// base one.
#[derive(Debug, Default)]
pub(crate) struct Best {
    k: usize,
    threshold: i32,
    /// Order-preserving score in the high half, inverted class in the low half: one comparison decides both.
    keys: Vec<u64>,
    /// Memory to rank keys in.
    ranked: Vec<u64>,
}

fn key(score: i32, class: u32) -> u64 {
    u64::from(score as u32 ^ 0x8000_0000) << 32 | u64::from(!class)
}

fn unkey(key: u64) -> FixedScore {
    FixedScore {
        class: !(key as u32),
        score: ((key >> 32) as u32 ^ 0x8000_0000) as i32,
    }
}

impl Best {
    /// Starts anew: the `k` best among those with a score above `floor`.
    pub(crate) fn start(&mut self, k: usize, floor: i32) {
        self.k = k;
        self.threshold = floor;
        self.keys.clear();
    }

    /// Scores must be above this to matter.
    #[inline]
    pub(super) fn threshold(&self) -> i32 {
        self.threshold
    }

    #[inline]
    pub(crate) fn offer(&mut self, score: i32, class: u32) {
        if score > self.threshold {
            self.keys.push(key(score, class));
            // Cutting is linear in what is held, so letting it grow threefold makes it cheap per offer.
            if self.keys.len() >= 3 * self.k + 32 {
                self.cut();
            }
        }
    }

    /// Drops all but the k best; these stay in their order.
    #[cold]
    fn cut(&mut self) {
        if self.k == 0 {
            self.keys.clear();
        } else if self.keys.len() > self.k {
            self.ranked.clone_from(&self.keys);
            let (_, &mut worst, _) = self.ranked.select_nth_unstable_by(self.k - 1, |a, b| b.cmp(a));
            self.keys.retain(|&key| key >= worst);
            self.threshold = unkey(worst).score;
        }
    }

    /// Writes what was kept to `out`, by rising class.
    pub(crate) fn finish_by_class(&mut self, out: &mut Vec<FixedScore>) {
        self.cut();
        out.clear();
        out.extend(self.keys.iter().copied().map(unkey));
    }

    /// Writes what was kept to `out`, best first.
    pub(crate) fn finish(&mut self, out: &mut Vec<FixedScore>) {
        self.cut();
        self.keys.sort_unstable_by(|a, b| b.cmp(a));
        out.clear();
        out.extend(self.keys.iter().copied().map(unkey));
    }
}
