//! The rivals of all training rows as a scan found them. An inexact oracle: weights move, the strongest
//! classes mostly stay.

use std::sync::atomic::{AtomicU32, Ordering};

use super::rows::Place;
use crate::sparse::prefetch;

/// Rivals this much below the strongest are not cached: they hold less than a twentieth of its mass.
const FAR_BELOW: f32 = 3.0;

/// For each row the strongest of its rivals. Threads enter the rows that they have searched for, each row by
/// one of them.
pub(super) struct RivalCache {
    rivals: usize,
    /// `rivals` slots per row, each for one more than a class; 0 fills up. (So all of it is zero at first:
    /// memory that nobody has to fill.)
    slots: Vec<AtomicU32>,
    place: Place,
    /// The rows, if not all are there.
    ids: Vec<u32>,
}

impl RivalCache {
    pub(super) fn new(rows: usize, rivals: usize) -> Self {
        Self {
            rivals,
            slots: bytemuck::zeroed_vec(rows * rivals),
            place: Place::Own,
            ids: Vec::new(),
        }
    }

    /// For the rows numbered `ids`, which are at these places.
    pub(super) fn window(ids: Vec<u32>, place: Place, rivals: usize) -> Self {
        Self {
            place,
            ..Self::new(ids.len(), rivals).with_ids(ids)
        }
    }

    fn with_ids(mut self, ids: Vec<u32>) -> Self {
        self.ids = ids;
        self
    }

    /// The rows of a window with their slots, which [`RivalCache::put`] takes.
    pub(super) fn of_window(&self) -> impl Iterator<Item = (u32, Vec<u32>)> {
        let slots = self.slots.chunks(self.rivals.max(1));
        let known = |slots: &[AtomicU32]| {
            let slots = slots.iter().map(|slot| slot.load(Ordering::Relaxed));
            slots.take_while(|&slot| slot != 0).collect()
        };
        self.ids
            .iter()
            .zip(slots)
            .map(move |(&id, slots)| (id, known(slots)))
    }

    /// Puts back what [`RivalCache::of_window`] gave.
    pub(super) fn put(&mut self, row: u32, known: &[u32]) {
        let start = self.place.of(row as usize) * self.rivals;
        for (slot, &entry) in self.slots[start..start + self.rivals].iter_mut().zip(known) {
            *slot.get_mut() = entry;
        }
    }

    pub(super) fn bytes(rows: usize, rivals: usize) -> usize {
        rows * rivals * size_of::<AtomicU32>()
    }

    /// What is cached of all rows, to be put back by [`RivalCache::restore`].
    pub(super) fn all(&self) -> Vec<u32> {
        self.slots
            .iter()
            .map(|slot| slot.load(Ordering::Relaxed))
            .collect()
    }

    /// Puts back what was cached of all rows, if there are as many.
    pub(super) fn restore(&mut self, all: &[u32]) -> bool {
        let fits = all.len() == self.slots.len();
        if fits {
            for (slot, &before) in self.slots.iter_mut().zip(all) {
                *slot.get_mut() = before;
            }
        }
        fits
    }

    /// The cached rivals of a row, rising.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = u32> {
        let row = self.place.of(row);
        let slots = self.slots[row * self.rivals..(row + 1) * self.rivals].iter();
        slots.map_while(|slot| slot.load(Ordering::Relaxed).checked_sub(1))
    }

    /// Asks for a row that will be needed soon.
    pub(super) fn prefetch(&self, row: usize) {
        let row = self.place.of(row);
        prefetch(&self.slots, row * self.rivals);
        prefetch(&self.slots, (row + 1) * self.rivals - 1);
    }

    /// Whether anything is cached of a row.
    pub(super) fn has(&self, row: usize) -> bool {
        self.row(row).next().is_some()
    }

    /// Enters those rivals of a row, which rise, that later passes should know.
    pub(super) fn insert(&self, row: usize, rivals: &[(u32, f32)]) {
        debug_assert!(
            rivals.is_sorted_by_key(|rival| rival.0),
            "so that scoring them walks through postings in one direction"
        );
        let strongest = rivals
            .iter()
            .fold(f32::NEG_INFINITY, |most, rival| most.max(rival.1));
        let near = rivals.iter().filter(|rival| rival.1 >= strongest - FAR_BELOW);
        let entries = near.map(|rival| rival.0 + 1).chain(std::iter::repeat(0));
        let row = self.place.of(row);
        let slots = &self.slots[row * self.rivals..(row + 1) * self.rivals];
        for (slot, entry) in slots.iter().zip(entries) {
            slot.store(entry, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cache: &RivalCache, row: usize) -> Vec<u32> {
        cache.row(row).collect()
    }

    #[test]
    fn near_rivals_are_cached_in_order() {
        let cache = RivalCache::new(5, 4);
        cache.insert(3, &[(1, 1.9), (2, 4.0), (5, 2.1), (9, 5.0)]);
        cache.insert(0, &[]);
        cache.insert(1, &[(0, -1.0)]);
        let rows: Vec<Vec<u32>> = (0..5).map(|number| row(&cache, number)).collect();
        assert_eq!(rows, [vec![], vec![0], vec![], vec![2, 5, 9], vec![]]);
        // What a row had before is forgotten.
        cache.insert(3, &[(4, 0.0)]);
        assert_eq!(row(&cache, 3), [4]);
        assert!(cache.has(3) && !cache.has(0) && cache.has(1));
        let mut again = RivalCache::new(5, 4);
        assert!(again.restore(&cache.all()) && !again.restore(&[1]));
        assert_eq!(row(&again, 3), [4]);
    }
}
