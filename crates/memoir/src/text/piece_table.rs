//! The words of pieces of text that came before: a table of bounded size that is asked once for every piece.
//!
//! Reading memory that is not in the processor's cache takes longer than anything else here, so whatever is
//! known of a piece is in one line of it. Pieces that do not fit are not kept; nor is a piece that has not
//! come again when another one needs its place.

use crate::sparse::prefetch;

/// Bytes of the longest piece that is kept: in English texts, 95 pieces of a hundred are no longer.
pub(super) const LONGEST_PIECE: usize = 16;

/// Words of a piece that are kept; one with more is cut again each time.
pub(super) const MOST_WORDS: usize = 3;

/// Buckets at first, and at most: then a table takes 8 MB.
const FEWEST_BUCKETS: usize = 1 << 8;
const MOST_BUCKETS: usize = 1 << 17;

/// Pieces with their words.
#[derive(Debug)]
pub(super) struct PieceTable {
    buckets: Vec<Bucket>,
    /// Pieces that had to go since the table grew last.
    gone: usize,
}

/// Two pieces in one line of the processor's cache; the one that was asked for last stands first.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Bucket([Entry; 2]);

/// A piece that is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought(Entry);

/// The bytes of a piece, and its words.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// The first and the last bytes, up to 8 of each. They overlap as the length says.
    head: u64,
    tail: u64,
    words: [u32; MOST_WORDS],
    /// How many words there are.
    count: u8,
    /// Bytes of the piece; 0 if there is none.
    length: u8,
}

impl Entry {
    /// An entry of `piece` that has no words yet. `None` if the piece is too long, or empty.
    fn of(piece: &str) -> Option<Self> {
        let bytes = piece.as_bytes();
        if bytes.len() > LONGEST_PIECE {
            return None;
        }
        let four = |part: &[u8; 4]| u64::from(u32::from_le_bytes(*part));
        let (head, tail) = if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk()) {
            (u64::from_le_bytes(*head), u64::from_le_bytes(*tail))
        } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk()) {
            (four(head), four(tail))
        } else {
            // The first, middle and last of up to three bytes are all of them.
            let (first, last) = (*bytes.first()?, *bytes.last()?);
            let middle = bytes[bytes.len() / 2];
            (u64::from(u32::from_le_bytes([first, middle, last, 0])), 0)
        };
        Some(Self {
            head,
            tail,
            length: bytes.len() as u8,
            ..Self::default()
        })
    }

    fn is_taken(&self) -> bool {
        self.length > 0
    }

    fn is_of_same_piece(&self, other: &Self) -> bool {
        (self.head, self.tail, self.length) == (other.head, other.tail, other.length)
    }

    fn bucket(&self, buckets: usize) -> usize {
        let mixed = (u128::from(self.head ^ u64::from(self.length)) * 0x9e37_79b9_7f4a_7c15)
            ^ (u128::from(self.tail) * 0xd6e8_feb8_6659_fd93);
        let mixed = u128::from((mixed >> 64) as u64 ^ mixed as u64) * 0xa076_1d64_78bd_642f;
        ((mixed >> 64) as u64 ^ mixed as u64) as usize & (buckets - 1)
    }
}

impl Default for PieceTable {
    fn default() -> Self {
        Self {
            buckets: vec![Bucket::default(); FEWEST_BUCKETS],
            gone: 0,
        }
    }
}

impl PieceTable {
    /// What a piece is found by, if it can be kept. Asks for the memory that finding it needs.
    pub(super) fn seek(&self, piece: &str) -> Option<Sought> {
        let entry = Entry::of(piece)?;
        prefetch(&self.buckets, entry.bucket(self.buckets.len()));
        Some(Sought(entry))
    }

    /// The words of a piece, if it is kept.
    pub(super) fn find(&mut self, Sought(sought): &Sought) -> Option<&[u32]> {
        let bucket = sought.bucket(self.buckets.len());
        let Bucket(entries) = &mut self.buckets[bucket];
        if !entries[0].is_of_same_piece(sought) {
            if !entries[1].is_of_same_piece(sought) {
                return None;
            }
            entries.swap(0, 1);
        }
        Some(&entries[0].words[..usize::from(entries[0].count)])
    }

    /// Keeps the words of a piece that is not there, if both fit.
    pub(super) fn keep(&mut self, Sought(mut entry): Sought, words: &[u32]) {
        if words.len() > MOST_WORDS {
            return;
        }
        entry.count = words.len() as u8;
        entry.words[..words.len()].copy_from_slice(words);
        if self.gone >= self.buckets.len() / 2 && self.buckets.len() < MOST_BUCKETS {
            self.grow();
        }
        self.put(entry);
    }

    /// The piece that was asked for last comes first, and the other one of its bucket goes.
    fn put(&mut self, entry: Entry) {
        let bucket = entry.bucket(self.buckets.len());
        let Bucket([first, second]) = &mut self.buckets[bucket];
        self.gone += usize::from(second.is_taken());
        *second = *first;
        *first = entry;
    }

    fn grow(&mut self) {
        let size = 2 * self.buckets.len();
        let before = std::mem::replace(&mut self.buckets, vec![Bucket::default(); size]);
        for Bucket([first, second]) in before {
            for entry in [second, first].into_iter().filter(Entry::is_taken) {
                self.put(entry);
            }
        }
        self.gone = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_half_a_line_of_the_cache() {
        assert_eq!((size_of::<Bucket>(), align_of::<Bucket>()), (64, 64));
    }

    /// Every kind of length, and pieces that share their bytes but for the length.
    #[test]
    fn pieces_are_told_apart() {
        let mut pieces: Vec<String> = (1..=18).map(|length| "a".repeat(length)).collect();
        pieces.extend((1..=17).map(|length| "ab\0cdefg\0hijklmno"[..length].to_owned()));
        pieces.extend((0..300).map(|number| format!("{number}")));
        pieces.extend((0..300).map(|number| format!("piece-{number}")));
        pieces.sort();
        pieces.dedup();
        for (index, piece) in pieces.iter().enumerate() {
            for other in &pieces[..index] {
                if let (Some(own), Some(other)) = (Entry::of(piece), Entry::of(other)) {
                    assert!(!own.is_of_same_piece(&other), "{piece}");
                }
            }
        }
    }

    /// However many there are, what is found is what was kept.
    #[test]
    fn what_is_found_is_right() {
        let mut table = PieceTable::default();
        let many = 4 * MOST_BUCKETS as u32;
        let words = |number: u32| [[number, 7, 1], [number, number, 0]][number as usize % 2];
        let count = |number: u32| number as usize % (MOST_WORDS + 1);
        let mut found = 0;
        for number in (0..many).chain(0..many) {
            let piece = format!("p{number}");
            let own = &words(number)[..count(number)];
            let sought = table.seek(&piece).unwrap();
            match table.find(&sought) {
                Some(kept) => {
                    assert_eq!(kept, own);
                    found += 1;
                }
                None => table.keep(sought, own),
            }
            assert_eq!(table.find(&sought), Some(own));
        }
        assert_eq!(table.buckets.len(), MOST_BUCKETS);
        assert!(found > 0);
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        let mut table = PieceTable::default();
        assert!(table.seek("seventeen letters").is_none());
        for words in [&[1, 2, 3, 4][..], &[]] {
            let sought = table.seek("piece").unwrap();
            table.keep(sought, words);
            assert_eq!(table.find(&sought), words.is_empty().then_some(words));
        }
    }
}
