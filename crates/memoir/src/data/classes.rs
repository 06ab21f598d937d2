//! The names of the classes, numbered in the order in which they were first seen.

use xxhash_rust::xxh3::xxh3_64;

/// Class names with stable numbers: the first name seen is class 0, the next new one class 1, and so on.
///
/// All names share one string, so that half a million of them cost no half a million allocations.
#[derive(Debug, Clone, Default)]
pub struct ClassNames {
    /// All names, one after the other.
    text: String,
    /// End of each name in `text`.
    ends: Vec<usize>,
    /// Open-addressed hash table with a power of two of slots, at most half of them taken.
    slots: Vec<Slot>,
}

/// A place in the hash table: free if `occupied` is 0, else one more than the number of the class there.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    occupied: u32,
    /// High bits of the hash, which spare most comparisons of names.
    tag: u32,
}

impl PartialEq for ClassNames {
    fn eq(&self, other: &Self) -> bool {
        self.ends == other.ends && self.text == other.text
    }
}

impl ClassNames {
    /// No classes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the class called `name`, which is new or known.
    pub fn intern(&mut self, name: &str) -> u32 {
        if (self.ends.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let hash = xxh3_64(name.as_bytes());
        let place = self.probe(hash, name);
        let slot = self.slots[place];
        if slot.occupied != 0 {
            return slot.occupied - 1;
        }
        let number = self.ends.len() as u32;
        self.slots[place] = Slot {
            occupied: number + 1,
            tag: (hash >> 32) as u32,
        };
        self.text.push_str(name);
        self.ends.push(self.text.len());
        number
    }

    /// The number of the class called `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.probe(xxh3_64(name.as_bytes()), name)];
        slot.occupied.checked_sub(1)
    }

    /// The slot that holds `name`, or the free one where it belongs. There is always a free slot.
    fn probe(&self, hash: u64, name: &str) -> usize {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut place = hash as usize & mask;
        loop {
            let slot = self.slots[place];
            if slot.occupied == 0 || (slot.tag == tag && self.name(slot.occupied - 1) == name) {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.slots = vec![Slot::default(); size];
        for number in 0..self.ends.len() as u32 {
            let hash = xxh3_64(self.name(number).as_bytes());
            let mut place = hash as usize & (size - 1);
            while self.slots[place].occupied != 0 {
                place = (place + 1) & (size - 1);
            }
            self.slots[place] = Slot {
                occupied: number + 1,
                tag: (hash >> 32) as u32,
            };
        }
    }

    /// The name of class `number`.
    pub fn name(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|number| self.name(number as u32))
    }
}

impl<S: AsRef<str>> FromIterator<S> for ClassNames {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut classes = Self::new();
        for name in names {
            classes.intern(name.as_ref());
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_appearance() {
        let classes: ClassNames = ["b", "a", "b", ""].into_iter().collect();
        assert_eq!(classes.iter().collect::<Vec<_>>(), ["b", "a", ""]);
        assert_eq!((classes.find("a"), classes.find("c")), (Some(1), None));
        assert_eq!(ClassNames::new().find("a"), None);
    }

    #[test]
    fn numbers_survive_growth() {
        let names: Vec<String> = (0..5000).map(|number| format!("class {number}")).collect();
        let classes: ClassNames = names.iter().chain(&names).collect();
        assert_eq!(classes.len(), names.len());
        for (number, name) in names.iter().enumerate() {
            assert_eq!(classes.find(name), Some(number as u32));
            assert_eq!(classes.name(number as u32), name);
        }
    }
}
