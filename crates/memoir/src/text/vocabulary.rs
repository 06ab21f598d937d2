//! The features of a text model: names with numbers, and numbers by name without building anything when a
//! file opens.

use xxhash_rust::xxh3::xxh3_64;

use crate::sparse::Storage;

/// Content of a slot that holds no feature.
const EMPTY: u32 = u32::MAX;

/// Shown for a name that is damaged in the file.
const UNREADABLE: &str = "\u{FFFD}";

/// Where the search for `name` starts: XXH3 (64 bits, seed 0) of its bytes, modulo the number of slots.
fn first_slot(name: &[u8], slots: usize) -> usize {
    xxh3_64(name) as usize & (slots - 1)
}

/// Number of slots for `features` features: the smallest power of two that is at least twice as many, and at
/// least 2.
fn slot_count(features: usize) -> usize {
    (2 * features).next_power_of_two().max(2)
}

/// Feature names numbered from 0, in three arrays that a model file holds as they are.
///
/// - `names`: all names in UTF-8, one after the other, in the order of their numbers;
/// - `ends`: where each name ends in `names`;
/// - `slots`: an open-addressing hash table of feature numbers, `0xFFFF_FFFF` where empty. Its length is the
///   smallest power of two that is at least twice the number of features (and at least 2). A feature is in
///   the first slot, from slot `xxh3_64(name) mod length` upwards and around, that no feature of a lower
///   number holds.
#[derive(Debug)]
pub struct Vocabulary {
    names: Storage<u8>,
    ends: Storage<u64>,
    slots: Storage<u32>,
}

impl Vocabulary {
    /// Takes arrays from a model file. The checks are quick, whatever the size; damage they cannot see makes
    /// names unknown or unreadable later, never more.
    pub fn from_storage(names: Storage<u8>, ends: Storage<u64>, slots: Storage<u32>) -> Result<Self, String> {
        if ends.len() as u64 > super::params::MAX_FEATURES {
            return Err(format!(
                "the vocabulary has {} names, which is too many",
                ends.len()
            ));
        }
        if ends.last().copied().unwrap_or(0) != names.len() as u64 {
            return Err(format!(
                "the vocabulary's names end at byte {}, but there are {} bytes of names",
                ends.last().copied().unwrap_or(0),
                names.len()
            ));
        }
        if slots.len() != slot_count(ends.len()) {
            return Err(format!(
                "the vocabulary of {} names has {} slots, but must have {}",
                ends.len(),
                slots.len(),
                slot_count(ends.len())
            ));
        }
        Ok(Self { names, ends, slots })
    }

    /// Memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.names.len() + self.ends.len() * 8 + self.slots.len() * 4
    }

    /// The number of the feature called `name`.
    pub fn find(&self, name: &str) -> Option<u32> {
        let slots: &[u32] = &self.slots;
        let first = first_slot(name.as_bytes(), slots.len());
        // A damaged table may have no empty slot: go around once at most.
        for &number in slots[first..].iter().chain(&slots[..first]) {
            if number == EMPTY {
                return None;
            }
            if self.bytes(number) == Some(name.as_bytes()) {
                return Some(number);
            }
        }
        None
    }

    /// The name of feature `number`; a replacement character if there is none or the file is damaged there.
    pub fn name(&self, number: u32) -> &str {
        self.bytes(number)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or(UNREADABLE)
    }

    fn bytes(&self, number: u32) -> Option<&[u8]> {
        let number = number as usize;
        let end = *self.ends.get(number)?;
        let start = match number.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.names
            .get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no features.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names, one after the other.
    pub fn names(&self) -> &[u8] {
        &self.names
    }

    /// Where each name ends in [`Vocabulary::names`].
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// The hash table.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }
}

impl<S: AsRef<str>> FromIterator<S> for Vocabulary {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut table = NameTable::default();
        for name in names {
            table.intern(name.as_ref());
        }
        table.finish()
    }
}

/// A vocabulary that grows: the first name is 0, the next new one 1, and so on.
#[derive(Debug, Clone)]
pub(super) struct NameTable {
    names: String,
    ends: Vec<u64>,
    slots: Vec<u32>,
}

impl Default for NameTable {
    fn default() -> Self {
        Self {
            names: String::new(),
            ends: Vec::new(),
            slots: vec![EMPTY; slot_count(0)],
        }
    }
}

impl NameTable {
    /// Memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.names.len() + self.ends.len() * 8 + self.slots.len() * 4
    }

    /// The number of `name`, if it is known.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let mut slot = first_slot(name.as_bytes(), self.slots.len());
        while self.slots[slot] != EMPTY {
            let number = self.slots[slot];
            if self.name(number as usize) == name {
                return Some(number);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    /// The number of `name`, new or known.
    pub(super) fn intern(&mut self, name: &str) -> u32 {
        let mut slot = first_slot(name.as_bytes(), self.slots.len());
        while self.slots[slot] != EMPTY {
            let number = self.slots[slot];
            if self.name(number as usize) == name {
                return number;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let number = self.ends.len() as u32;
        self.names.push_str(name);
        self.ends.push(self.names.len() as u64);
        if slot_count(self.ends.len()) > self.slots.len() {
            self.rebuild(slot_count(self.ends.len()));
        } else {
            self.slots[slot] = number;
        }
        number
    }

    /// Makes the table anew with `slots` slots. Always in the order of the numbers: the result is the same
    /// as if it had had that size from the start.
    fn rebuild(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        for number in 0..self.ends.len() {
            let mut slot = first_slot(self.name(number).as_bytes(), slots);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = number as u32;
        }
    }

    pub(super) fn name(&self, number: usize) -> &str {
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1] as usize
        };
        &self.names[start..self.ends[number] as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The names in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.name(number))
    }

    pub(super) fn finish(mut self) -> Vocabulary {
        self.ends.shrink_to_fit();
        let mut names = self.names.into_bytes();
        names.shrink_to_fit();
        Vocabulary {
            names: names.into(),
            ends: self.ends.into(),
            slots: self.slots.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_follow_first_appearance() {
        let vocabulary: Vocabulary = ["b", "a", "b", "", "łódź"].into_iter().collect();
        assert_eq!(vocabulary.len(), 4);
        assert_eq!(
            (0..4).map(|i| vocabulary.name(i)).collect::<Vec<_>>(),
            ["b", "a", "", "łódź"]
        );
        assert_eq!(vocabulary.find("łódź"), Some(3));
        assert_eq!(vocabulary.find(""), Some(2));
        assert_eq!(vocabulary.find("c"), None);
        assert_eq!(vocabulary.name(4), UNREADABLE);
    }

    #[test]
    fn the_table_is_as_documented() {
        let names: Vec<String> = (0..1000).map(|i| format!("name{i}")).collect();
        let vocabulary: Vocabulary = names.iter().collect();
        assert_eq!(vocabulary.slots().len(), 2048);
        let mut expected = vec![u32::MAX; 2048];
        for (number, name) in names.iter().enumerate() {
            let mut slot = (xxh3_64(name.as_bytes()) % 2048) as usize;
            while expected[slot] != u32::MAX {
                slot = (slot + 1) % 2048;
            }
            expected[slot] = number as u32;
        }
        assert_eq!(vocabulary.slots(), expected);
    }

    #[test]
    fn arrays_that_do_not_fit_are_refused() {
        let load = |names: &str, ends: &[u64], slots: usize| {
            Vocabulary::from_storage(
                names.as_bytes().to_vec().into(),
                ends.to_vec().into(),
                vec![EMPTY; slots].into(),
            )
            .err()
        };
        assert_eq!(load("ab", &[1, 2], 4), None);
        assert_eq!(
            load("ab", &[1, 3], 4).unwrap(),
            "the vocabulary's names end at byte 3, but there are 2 bytes of names"
        );
        assert_eq!(
            load("ab", &[1, 2], 3).unwrap(),
            "the vocabulary of 2 names has 3 slots, but must have 4"
        );
        assert_eq!(
            load("ab", &[], 2).unwrap(),
            "the vocabulary's names end at byte 0, but there are 2 bytes of names"
        );
    }

    proptest! {
        #[test]
        fn what_goes_in_is_found(names in proptest::collection::vec("\\PC{0,6}", 0..80)) {
            let vocabulary: Vocabulary = names.iter().collect();
            let reopened = Vocabulary::from_storage(
                vocabulary.names().to_vec().into(),
                vocabulary.ends().to_vec().into(),
                vocabulary.slots().to_vec().into(),
            ).unwrap();
            for name in &names {
                let number = reopened.find(name).unwrap();
                prop_assert_eq!(reopened.name(number), name);
            }
        }

        #[test]
        fn damage_never_panics_and_never_gives_a_number_out_of_range(
            names in proptest::collection::vec(any::<u8>(), 0..30),
            mut ends in proptest::collection::vec(any::<u64>(), 0..8),
            slots in proptest::collection::vec(prop_oneof![0u32..8, any::<u32>()], 16),
        ) {
            match ends.last_mut() {
                Some(last) => *last = names.len() as u64,
                None => return Ok(()),
            }
            let count = slot_count(ends.len());
            let features = ends.len();
            let vocabulary = Vocabulary::from_storage(
                names.clone().into(), ends.into(), slots[..count].to_vec().into()).unwrap();
            for number in 0..10 {
                let name = vocabulary.name(number).to_owned();
                if let Some(found) = vocabulary.find(&name) {
                    prop_assert!((found as usize) < features);
                }
            }
        }
    }
}
