//! The rivals of all training rows as a scan found them. An inexact oracle: weights move, the strongest classes mostly stay.

use crate::sparse::ask_for;

/// Rivals this much below the strongest are not remembered: they hold less than a twentieth of its mass.
const FAR_BELOW: f32 = 3.0;

/// For each row the strongest of its rivals.
pub(super) struct RivalMemory {
    rivals: usize,
    /// `rivals` classes per row; [`NOBODY`] fills up.
    classes: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

impl RivalMemory {
    pub(super) fn new(rows: usize, rivals: usize) -> Self {
        Self {
            rivals,
            classes: vec![NOBODY; rows * rivals],
        }
    }

    pub(super) fn bytes(rows: usize, rivals: usize) -> usize {
        rows * rivals * size_of::<u32>()
    }

    /// The classes of all rows, to be put back by [`RivalMemory::restore`].
    pub(super) fn all(&self) -> &[u32] {
        &self.classes
    }

    /// Puts the classes of all rows back, if there are as many.
    pub(super) fn restore(&mut self, classes: Vec<u32>) -> bool {
        let fits = classes.len() == self.classes.len();
        if fits {
            self.classes = classes;
        }
        fits
    }

    /// The remembered rivals of a row, rising.
    pub(super) fn row(&self, row: usize) -> &[u32] {
        let all = &self.classes[row * self.rivals..(row + 1) * self.rivals];
        &all[..all.iter().position(|&class| class == NOBODY).unwrap_or(all.len())]
    }

    /// Asks for a row that will be needed soon.
    pub(super) fn ask_for(&self, row: usize) {
        ask_for(&self.classes, row * self.rivals);
        ask_for(&self.classes, (row + 1) * self.rivals - 1);
    }

    /// Whether anything is remembered of a row.
    pub(super) fn has(&self, row: usize) -> bool {
        self.classes[row * self.rivals] != NOBODY
    }

    fn remember(&mut self, row: usize, rivals: &[u32]) {
        debug_assert!(
            rivals.is_sorted(),
            "so that scoring them walks through postings in one direction"
        );
        let (place, rest) =
            self.classes[row * self.rivals..(row + 1) * self.rivals].split_at_mut(rivals.len());
        place.copy_from_slice(rivals);
        rest.fill(NOBODY);
    }
}

/// What some rows want to have remembered, one after the other.
#[derive(Default)]
pub(super) struct Memoranda {
    classes: Vec<u32>,
    /// End of each row's classes.
    ends: Vec<usize>,
}

impl Memoranda {
    pub(super) fn clear(&mut self) {
        self.classes.clear();
        self.ends.clear();
    }

    /// Adds a row: those of its rivals, which rise, that later passes should know.
    pub(super) fn push(&mut self, rivals: &[(u32, f32)]) {
        let strongest = rivals
            .iter()
            .fold(f32::NEG_INFINITY, |most, rival| most.max(rival.1));
        let near = rivals.iter().filter(|rival| rival.1 >= strongest - FAR_BELOW);
        self.classes.extend(near.map(|rival| rival.0));
        self.ends.push(self.classes.len());
    }

    /// Enters everything into `memory`, as that of the rows numbered `rows`.
    pub(super) fn keep(&self, rows: &[u32], memory: &mut RivalMemory) {
        let mut start = 0;
        for (&row, &end) in rows.iter().zip(&self.ends) {
            memory.remember(row as usize, &self.classes[start..end]);
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_rivals_are_remembered_in_order() {
        let mut memoranda = Memoranda::default();
        memoranda.push(&[(1, 1.9), (2, 4.0), (5, 2.1), (9, 5.0)]);
        memoranda.push(&[]);
        memoranda.push(&[(7, -1.0)]);
        let mut memory = RivalMemory::new(5, 4);
        memoranda.keep(&[3, 0, 1], &mut memory);
        let rows: Vec<&[u32]> = (0..5).map(|row| memory.row(row)).collect();
        assert_eq!(rows, [&[][..], &[7], &[], &[2, 5, 9], &[]]);
        // What a row had before is forgotten.
        memoranda.clear();
        memoranda.push(&[(4, 0.0)]);
        memoranda.keep(&[3], &mut memory);
        assert_eq!(memory.row(3), [4]);
        assert!(memory.has(3) && !memory.has(0) && memory.has(1));
        let saved = memory.all().to_vec();
        let mut again = RivalMemory::new(5, 4);
        assert!(again.restore(saved) && !again.restore(vec![1]));
        assert_eq!(again.row(3), [4]);
    }
}
