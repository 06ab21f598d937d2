//! The rivals of all training rows as a scan found them. An inexact oracle: weights move, the strongest
//! classes mostly stay.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::sparse::ask_for;

/// Rivals this much below the strongest are not remembered: they hold less than a twentieth of its mass.
const FAR_BELOW: f32 = 3.0;

/// For each row the strongest of its rivals. Threads enter the rows that they have searched for, each row by
/// one of them.
pub(super) struct RivalMemory {
    rivals: usize,
    /// `rivals` places per row, each for one more than a class; 0 fills up. (So all of it is zero at first:
    /// memory that nobody has to fill.)
    places: Vec<AtomicU32>,
}

impl RivalMemory {
    pub(super) fn new(rows: usize, rivals: usize) -> Self {
        Self {
            rivals,
            places: bytemuck::zeroed_vec(rows * rivals),
        }
    }

    pub(super) fn bytes(rows: usize, rivals: usize) -> usize {
        rows * rivals * size_of::<AtomicU32>()
    }

    /// What is remembered of all rows, to be put back by [`RivalMemory::restore`].
    pub(super) fn all(&self) -> Vec<u32> {
        self.places
            .iter()
            .map(|place| place.load(Ordering::Relaxed))
            .collect()
    }

    /// Puts back what was remembered of all rows, if there are as many.
    pub(super) fn restore(&mut self, all: &[u32]) -> bool {
        let fits = all.len() == self.places.len();
        if fits {
            for (place, &before) in self.places.iter_mut().zip(all) {
                *place.get_mut() = before;
            }
        }
        fits
    }

    /// The remembered rivals of a row, rising.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = u32> {
        let places = self.places[row * self.rivals..(row + 1) * self.rivals].iter();
        places.map_while(|place| place.load(Ordering::Relaxed).checked_sub(1))
    }

    /// Asks for a row that will be needed soon.
    pub(super) fn ask_for(&self, row: usize) {
        ask_for(&self.places, row * self.rivals);
        ask_for(&self.places, (row + 1) * self.rivals - 1);
    }

    /// Whether anything is remembered of a row.
    pub(super) fn has(&self, row: usize) -> bool {
        self.row(row).next().is_some()
    }

    /// Enters those rivals of a row, which rise, that later passes should know.
    pub(super) fn remember(&self, row: usize, rivals: &[(u32, f32)]) {
        debug_assert!(
            rivals.is_sorted_by_key(|rival| rival.0),
            "so that scoring them walks through postings in one direction"
        );
        let strongest = rivals
            .iter()
            .fold(f32::NEG_INFINITY, |most, rival| most.max(rival.1));
        let near = rivals.iter().filter(|rival| rival.1 >= strongest - FAR_BELOW);
        let entries = near.map(|rival| rival.0 + 1).chain(std::iter::repeat(0));
        let places = &self.places[row * self.rivals..(row + 1) * self.rivals];
        for (place, entry) in places.iter().zip(entries) {
            place.store(entry, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(memory: &RivalMemory, row: usize) -> Vec<u32> {
        memory.row(row).collect()
    }

    #[test]
    fn near_rivals_are_remembered_in_order() {
        let memory = RivalMemory::new(5, 4);
        memory.remember(3, &[(1, 1.9), (2, 4.0), (5, 2.1), (9, 5.0)]);
        memory.remember(0, &[]);
        memory.remember(1, &[(0, -1.0)]);
        let rows: Vec<Vec<u32>> = (0..5).map(|number| row(&memory, number)).collect();
        assert_eq!(rows, [vec![], vec![0], vec![], vec![2, 5, 9], vec![]]);
        // What a row had before is forgotten.
        memory.remember(3, &[(4, 0.0)]);
        assert_eq!(row(&memory, 3), [4]);
        assert!(memory.has(3) && !memory.has(0) && memory.has(1));
        let mut again = RivalMemory::new(5, 4);
        assert!(again.restore(&memory.all()) && !again.restore(&[1]));
        assert_eq!(row(&again, 3), [4]);
    }
}
