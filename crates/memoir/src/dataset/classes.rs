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
    /// Open-addressed hash table with a power of two of slots, at most two thirds of them taken.
    slots: Vec<Slot>,
}

/// A slot in the hash table. What is compared before names are is here; short names are wholly in it, so
/// that looking them up touches one place of memory only.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// For a name of at most 8 bytes, these bytes in an arrangement that its length makes unambiguous; for a
    /// longer one its hash.
    head: u64,
    length: u32,
    /// 0 if the slot is free, else one more than the number of the class.
    occupied: u32,
}

impl Slot {
    /// A slot for `name`, with no number yet.
    fn of(name: &str) -> Self {
        let bytes = name.as_bytes();
        let four = |part: Option<&[u8; 4]>| part.map_or(0, |part| u64::from(u32::from_le_bytes(*part)));
        let head = match *bytes {
            [] => 0,
            // The first, middle and last of up to three bytes are all of them; so are the first and last
            // four of up to eight. Few branches matter more here than an elegant layout.
            [first, ..] if bytes.len() < 4 => {
                let (middle, last) = (bytes[bytes.len() / 2], bytes[bytes.len() - 1]);
                u64::from(u32::from_le_bytes([first, middle, last, 0]))
            }
            _ if bytes.len() <= 8 => (four(bytes.first_chunk()) << 32) | four(bytes.last_chunk()),
            _ => xxh3_64(bytes),
        };
        Self {
            head,
            length: bytes.len() as u32,
            occupied: 0,
        }
    }

    /// Where among `slots` slots the search begins.
    fn index(self, slots: usize) -> usize {
        let mixed = u128::from(self.head ^ u64::from(self.length)) * 0x9e37_79b9_7f4a_7c15;
        ((mixed >> 64) as u64 ^ mixed as u64) as usize & (slots - 1)
    }
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

    /// Forgets all names and keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.slots.fill(Slot::default());
    }

    /// The number of the class called `name`, which is new or known.
    pub fn intern(&mut self, name: &str) -> u32 {
        if (self.ends.len() + 1) * 3 > self.slots.len() * 2 {
            self.grow();
        }
        let sought = Slot::of(name);
        let index = self.probe(sought, name);
        let slot = self.slots[index];
        if slot.occupied != 0 {
            return slot.occupied - 1;
        }
        let number = self.ends.len() as u32;
        self.slots[index] = Slot {
            occupied: number + 1,
            ..sought
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
        let slot = self.slots[self.probe(Slot::of(name), name)];
        slot.occupied.checked_sub(1)
    }

    /// The index of the slot that holds `name`, or of the free one where it belongs. There is always a free
    /// one.
    fn probe(&self, sought: Slot, name: &str) -> usize {
        let mut index = sought.index(self.slots.len());
        loop {
            let slot = self.slots[index];
            let alike = slot.head == sought.head && slot.length == sought.length;
            if slot.occupied == 0 || (alike && (name.len() <= 8 || self.name(slot.occupied - 1) == name)) {
                return index;
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in before.into_iter().filter(|slot| slot.occupied != 0) {
            let mut index = slot.index(size);
            while self.slots[index].occupied != 0 {
                index = (index + 1) & (size - 1);
            }
            self.slots[index] = slot;
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

    /// Memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        (self.text.len() + self.ends.len() * 8 + self.slots.len() * size_of::<Slot>()) as u64
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
        // Short names and long ones; with bytes of zero, which must not be taken for filling.
        let names: Vec<String> = (0..5000)
            .flat_map(|number| {
                [
                    format!("{number}"),
                    format!("{number}\0"),
                    format!("class {number}"),
                ]
            })
            .collect();
        let classes: ClassNames = names.iter().chain(&names).collect();
        assert_eq!(classes.len(), names.len());
        for (number, name) in names.iter().enumerate() {
            assert_eq!(classes.find(name), Some(number as u32));
            assert_eq!(classes.name(number as u32), name);
        }
    }
}
