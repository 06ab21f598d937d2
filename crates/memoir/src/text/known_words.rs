//! What a thread remembers of the texts that it has counted. Most pieces of a text were in earlier ones, and
//! looking a piece up is quicker than cutting it into words once more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::analyzer::{Analyzer, AnalyzerScratch};
use super::piece_table::{PieceTable, Sought};
use super::vocabulary::NameTable;
use crate::Cancel;
use crate::shards;

/// Pieces that are looked for before the first of them is needed.
const AHEAD: usize = 8;

/// Pieces and words that one thread has met. How texts are counted does not depend on them. Blocks that are
/// counted by the same thread are for the same merged whole.
#[derive(Debug, Default)]
pub struct KnownWords {
    scratch: AnalyzerScratch,
    cancel: Cancel,
    words: NameTable,
    met: Vec<Met>,
    block: u32,
    told: Arc<Told>,
    pieces: PieceTable,
    /// The words of the piece at hand.
    words_of_piece: Vec<u32>,
}

/// Where a word was met.
#[derive(Debug, Clone, Copy)]
struct Met {
    /// The last block, and the word's number in it.
    block: u32,
    number: u32,
    /// Its number over all texts, if that was told.
    overall: u32,
}

/// In place of a number over all texts: whoever merges blocks has not told it.
const UNTOLD: u32 = u32::MAX;

/// Numbers over all texts, told by whoever merges blocks, of words that a thread has.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<(u32, u32)>>);

/// The different words of a block, by first appearance. Most were in earlier blocks of the thread, and come
/// as their numbers over all texts; the others come with their names.
#[derive(Debug, Default)]
pub(super) struct BlockWords {
    /// The number over all texts of each, or [`UNTOLD`].
    overall: Vec<u32>,
    /// The thread's number of each that is untold.
    untold: Vec<u32>,
    names: NameList,
    told: Arc<Told>,
}

impl shards::Told for BlockWords {
    fn write(&self, message: &mut Vec<u8>) {
        (self.overall.len() as u32).write(message);
        for overall in &self.overall {
            // An untold one is zero.
            overall.wrapping_add(1).write(message);
        }
        for name in self.names.iter() {
            shards::write_bytes(name.as_bytes(), message);
        }
    }

    fn read(message: &mut &[u8]) -> Option<Self> {
        let mut words = Self::default();
        for _ in 0..u32::read(message)? {
            let overall = u32::read(message)?.wrapping_sub(1);
            if overall == UNTOLD {
                words.untold.push(words.overall.len() as u32);
            }
            words.overall.push(overall);
        }
        for _ in 0..words.untold.len() {
            let name = shards::read_bytes(message)?;
            words.names.push(std::str::from_utf8(name).ok()?);
        }
        Some(words)
    }
}

impl BlockWords {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.overall.len()
    }

    /// The number over all texts of each, where `intern` finds or makes the number of a name.
    pub(super) fn numbers(&self, mut intern: impl FnMut(&str) -> u32) -> Vec<u32> {
        let mut named = self.untold.iter().zip(self.names.iter());
        let mut told = Vec::with_capacity(self.untold.len());
        let number = |&overall: &u32| match overall {
            UNTOLD => named.next().map_or(UNTOLD, |(&word, name)| {
                let number = intern(name);
                told.push((word, number));
                number
            }),
            known => known,
        };
        let numbers = self.overall.iter().map(number).collect();
        self.told.lock().extend(told);
        numbers
    }
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, Vec<(u32, u32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names, one after the other.
#[derive(Debug, Default)]
struct NameList {
    text: String,
    ends: Vec<usize>,
}

impl NameList {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = [0].iter().chain(&self.ends);
        starts
            .zip(&self.ends)
            .map(|(&start, &end)| &self.text[start..end])
    }
}

impl KnownWords {
    /// Words that are remembered; when there are more, all are forgotten, so that endless input needs
    /// bounded memory.
    pub(super) const MOST: usize = 1 << 19;

    /// Nothing yet. Counting ends when `cancel` is raised.
    pub fn stopped_by(cancel: &Cancel) -> Self {
        Self {
            scratch: AnalyzerScratch::stopped_by(cancel),
            cancel: cancel.clone(),
            ..Self::default()
        }
    }

    /// Begins a block, whose words get numbers of their own.
    pub(super) fn begin_block(&mut self) -> BlockWords {
        if self.words.len() >= Self::MOST {
            (self.words, self.met) = (NameTable::default(), Vec::new());
            self.pieces = PieceTable::default();
            // What is told of earlier blocks is about the words that are forgotten.
            self.told = Arc::default();
        }
        for (word, overall) in self.told.lock().drain(..) {
            self.met[word as usize].overall = overall;
        }
        self.block = self.block.wrapping_add(1);
        if self.block == 0 {
            self.met.iter_mut().for_each(|met| met.block = 0);
            self.block = 1;
        }
        BlockWords {
            told: Arc::clone(&self.told),
            ..BlockWords::default()
        }
    }

    /// Appends the number of `word` in the block to `found`.
    pub(super) fn add_word(&mut self, word: &str, block: &mut BlockWords, found: &mut Vec<u32>) {
        let word = self.words.intern(word);
        self.meet(word, block, found);
    }

    fn meet(&mut self, word: u32, block: &mut BlockWords, found: &mut Vec<u32>) {
        if word as usize >= self.met.len() {
            let never = Met {
                block: 0,
                number: 0,
                overall: UNTOLD,
            };
            self.met.resize(word as usize + 1, never);
        }
        let met = &mut self.met[word as usize];
        if met.block != self.block {
            (met.block, met.number) = (self.block, block.len() as u32);
            block.overall.push(met.overall);
            if met.overall == UNTOLD {
                block.untold.push(word);
                block.names.push(self.words.name(word as usize));
            }
        }
        found.push(met.number);
    }

    /// Appends the numbers of the words of `text` in the block to `found`. `analyzer` is the same for all
    /// texts. Ends early if it is stopped.
    pub(super) fn add_text(
        &mut self,
        analyzer: &Analyzer,
        text: &str,
        block: &mut BlockWords,
        found: &mut Vec<u32>,
    ) {
        // Pieces wait until the memory that they need has come.
        let mut waiting: [Option<(&str, Option<Sought>)>; AHEAD] = [None; AHEAD];
        let pieces = text.split_ascii_whitespace();
        let pieces = pieces.map(Some).chain([None; AHEAD]);
        for (turn, piece) in pieces.enumerate() {
            if self.cancel.is_raised() {
                return;
            }
            let next = piece.map(|piece| (piece, self.pieces.seek(piece)));
            let last = std::mem::replace(&mut waiting[turn % AHEAD], next);
            if let Some((piece, sought)) = last {
                self.add_piece(analyzer, piece, sought, block, found);
            }
        }
    }

    /// As [`KnownWords::add_text`], for a piece without white space.
    fn add_piece(
        &mut self,
        analyzer: &Analyzer,
        piece: &str,
        sought: Option<Sought>,
        block: &mut BlockWords,
        found: &mut Vec<u32>,
    ) {
        let mut words = std::mem::take(&mut self.words_of_piece);
        words.clear();
        if let Some(known) = sought.as_ref().and_then(|sought| self.pieces.find(sought)) {
            words.extend_from_slice(known);
        } else {
            let all = &mut self.words;
            analyzer.words_of_piece(piece, &mut self.scratch, |word| words.push(all.intern(word)));
            if let Some(sought) = sought {
                self.pieces.keep(sought, &words);
            }
        }
        for &word in &words {
            self.meet(word, block, found);
        }
        self.words_of_piece = words;
    }
}
