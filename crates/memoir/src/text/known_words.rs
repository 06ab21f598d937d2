//! What a thread remembers of the texts that it has counted. Most pieces of a text were in earlier ones, and
//! looking a piece up is quicker than cutting it into words once more.

use super::analyzer::{Analyzer, AnalyzerScratch};
use super::vocabulary::NameTable;
use crate::Cancel;
use crate::dataset::ClassNames;

/// Pieces and words that one thread has met. How texts are counted does not depend on them.
#[derive(Debug, Default)]
pub struct KnownWords {
    scratch: AnalyzerScratch,
    cancel: Cancel,
    words: NameTable,
    /// For each word, the block that it was last met in, and its number there.
    met: Vec<(u32, u32)>,
    block: u32,
    pieces: ClassNames,
    /// Where each piece ends in `words_of_pieces`.
    ends: Vec<usize>,
    words_of_pieces: Vec<u32>,
}

/// Names in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct NameList {
    text: String,
    ends: Vec<usize>,
}

impl NameList {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = [0].iter().chain(&self.ends);
        starts
            .zip(&self.ends)
            .map(|(&start, &end)| &self.text[start..end])
    }
}

impl KnownWords {
    /// Bytes of the longest piece that is remembered: longer ones hardly come again.
    pub(super) const LONGEST: usize = 64;
    /// Pieces and words that are remembered; when there are more, all are forgotten, so that endless input
    /// needs bounded memory.
    pub(super) const MOST: usize = 1 << 17;

    /// Nothing yet. Counting ends when `cancel` is raised.
    pub fn stopped_by(cancel: &Cancel) -> Self {
        Self {
            scratch: AnalyzerScratch::stopped_by(cancel),
            cancel: cancel.clone(),
            ..Self::default()
        }
    }

    /// Whether counting is to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.cancel.is_raised()
    }

    /// Begins a block, whose words get numbers of their own.
    pub(super) fn begin_block(&mut self) {
        if self.words.len() >= Self::MOST {
            (self.words, self.met) = (NameTable::default(), Vec::new());
            self.forget_pieces();
        }
        self.block = self.block.wrapping_add(1);
        if self.block == 0 {
            self.met.fill((0, 0));
            self.block = 1;
        }
    }

    fn forget_pieces(&mut self) {
        self.pieces = ClassNames::default();
        self.ends.clear();
        self.words_of_pieces.clear();
    }

    /// Appends the number of `word` in the block to `found`; if it is new there, its name to `names`.
    pub(super) fn add_word(&mut self, word: &str, names: &mut NameList, found: &mut Vec<u32>) {
        let word = self.words.intern(word);
        self.meet(word, names, found);
    }

    fn meet(&mut self, word: u32, names: &mut NameList, found: &mut Vec<u32>) {
        let word = word as usize;
        if word >= self.met.len() {
            self.met.resize(word + 1, (0, 0));
        }
        let (block, number) = self.met[word];
        if block == self.block {
            found.push(number);
            return;
        }
        let number = names.len() as u32;
        self.met[word] = (self.block, number);
        names.push(self.words.name(word));
        found.push(number);
    }

    /// Appends the numbers of the words of `piece`, text without white space, to `found`, and names of words
    /// that are new in the block to `names`. `analyzer` is the same for all pieces.
    pub(super) fn add_piece(
        &mut self,
        analyzer: &Analyzer,
        piece: &str,
        names: &mut NameList,
        found: &mut Vec<u32>,
    ) {
        if piece.len() > Self::LONGEST {
            let before = self.words_of_pieces.len();
            self.cut(analyzer, piece);
            for index in before..self.words_of_pieces.len() {
                self.meet(self.words_of_pieces[index], names, found);
            }
            self.words_of_pieces.truncate(before);
            return;
        }
        if self.pieces.len() >= Self::MOST {
            self.forget_pieces();
        }
        let number = self.pieces.intern(piece) as usize;
        if number == self.ends.len() {
            self.cut(analyzer, piece);
            self.ends.push(self.words_of_pieces.len());
        }
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        for index in start..self.ends[number] {
            self.meet(self.words_of_pieces[index], names, found);
        }
    }

    /// Appends the words of `piece` to those of all pieces.
    fn cut(&mut self, analyzer: &Analyzer, piece: &str) {
        let Self {
            scratch,
            words,
            words_of_pieces,
            ..
        } = self;
        analyzer.words_of_piece(piece, scratch, |word| words_of_pieces.push(words.intern(word)));
    }
}
