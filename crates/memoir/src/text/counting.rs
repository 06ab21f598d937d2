//! The words of training texts as numbers: blocks of texts in parallel, merged in order, so that the texts
//! need not be kept. Features are made of them when all are there (`features.rs`).

use super::analyzer::{Analyzer, Piece};
use super::known_words::{KnownWords, NameList};
use super::params::MAX_FEATURES;
use super::preprocessing::Preprocessing;
use super::vocabulary::NameTable;
use crate::{Error, Result};

/// The words of some texts, numbered by their first appearance in these texts.
#[derive(Debug, Default)]
pub struct CountedBlock {
    names: NameList,
    /// Where each text ends in `words`.
    ends: Vec<usize>,
    /// The words' numbers, text after text.
    words: Vec<u32>,
}

impl CountedBlock {
    /// Numbers the words of each text.
    pub fn count<S: AsRef<str>>(analyzer: &Analyzer, texts: impl IntoIterator<Item = S>) -> Self {
        Self::count_with(&mut KnownWords::default(), analyzer, texts)
    }

    /// As [`CountedBlock::count`], by a thread that remembers what it has counted with this analyzer before.
    /// It may stop in the middle of a text; what was counted is then of no use.
    pub fn count_with<S: AsRef<str>>(
        known: &mut KnownWords,
        analyzer: &Analyzer,
        texts: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut block = Self::default();
        known.begin_block();
        for text in texts {
            let Self { names, words, .. } = &mut block;
            Analyzer::pieces(text.as_ref(), |piece| match piece {
                _ if known.is_stopped() => {}
                Piece::Mark(mark) => known.add_word(mark, names, words),
                Piece::Text(piece) => known.add_piece(analyzer, piece, names, words),
            });
            block.ends.push(block.words.len());
        }
        block
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The different words, by first appearance.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    /// Where each text ends in the words, the words' numbers, and how many different ones there are.
    pub(crate) fn numbers(&self) -> (&[usize], &[u32], usize) {
        (&self.ends, &self.words, self.names.len())
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// The words of all texts so far, numbered by first appearance over all of them.
#[derive(Debug, Clone)]
pub struct TextCounter {
    pub(super) names: NameTable,
    /// Where each text starts in `words`, and the end.
    pub(super) offsets: Vec<usize>,
    pub(super) words: Vec<u32>,
    /// The features of a model that goes on learning: they stay, and keep their numbers.
    pub(super) known: NameTable,
    /// The block of each known feature; empty with one block.
    pub(super) known_blocks: Vec<u8>,
}

impl Default for TextCounter {
    fn default() -> Self {
        Self {
            names: NameTable::default(),
            offsets: vec![0],
            words: Vec::new(),
            known: NameTable::default(),
            known_blocks: Vec::new(),
        }
    }
}

impl TextCounter {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing counted yet, but the features of `before` are there already and keep their numbers and
    /// blocks.
    pub fn continuing(before: &Preprocessing) -> Result<Self> {
        let mut known = NameTable::default();
        for number in 0..before.input_features() as u32 {
            let name = before.text().map_or("", |text| text.vocabulary.name(number));
            if known.intern(name) != number {
                return Err(Error::Mismatch(format!(
                    "the model cannot be continued: two of its words are `{name}`, so its vocabulary is damaged"
                )));
            }
        }
        Ok(Self {
            known,
            known_blocks: before.weighting.block_of_feature.to_vec(),
            ..Self::default()
        })
    }

    /// Appends the texts of `block`. Blocks must come in the order of the texts; how they were cut does not
    /// matter.
    pub fn merge(&mut self, block: CountedBlock) -> Result<()> {
        let numbers: Vec<u32> = block.names.iter().map(|name| self.names.intern(name)).collect();
        self.check_size()?;
        let before = self.words.len();
        self.words
            .extend(block.words.iter().map(|&word| numbers[word as usize]));
        self.offsets.extend(block.ends.iter().map(|end| before + end));
        Ok(())
    }

    /// Makes `words` known, in the order of the numbers that [`TextCounter::extend`] is given.
    pub(crate) fn know<S: AsRef<str>>(&mut self, words: &[S]) -> Result<()> {
        for word in words {
            self.names.intern(word.as_ref());
        }
        self.check_size()
    }

    /// Appends texts whose words have numbers already: where each text ends in `words`.
    pub(crate) fn extend(&mut self, ends: &[usize], words: &[u32]) {
        let before = self.words.len();
        self.words.extend_from_slice(words);
        self.offsets.extend(ends.iter().map(|end| before + end));
    }

    fn check_size(&self) -> Result<()> {
        if self.names.len() as u64 > MAX_FEATURES {
            return Err(Error::Unlearnable(format!(
                "the texts have more than {MAX_FEATURES} different words"
            )));
        }
        Ok(())
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the texts, in this order, with their words alone.
    pub(super) fn subset(&self, texts: &[usize]) -> Self {
        let mut subset = Self::default();
        for &text in texts {
            let words = self.text(text).iter();
            subset
                .words
                .extend(words.map(|&word| subset.names.intern(self.names.name(word as usize))));
            subset.offsets.push(subset.words.len());
        }
        subset
    }

    /// Memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.names.memory() + self.known.memory() + self.offsets.len() * 8 + self.words.len() * 4
    }

    /// The words of a text.
    pub(super) fn text(&self, index: usize) -> &[u32] {
        &self.words[self.offsets[index]..self.offsets[index + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextParams;

    fn words(block: &CountedBlock) -> Vec<Vec<&str>> {
        let names: Vec<&str> = block.names().collect();
        let starts = [0].iter().chain(&block.ends);
        let texts = starts.zip(&block.ends).map(|(&start, &end)| start..end);
        texts
            .map(|text| block.words[text].iter().map(|&w| names[w as usize]).collect())
            .collect()
    }

    #[test]
    fn pieces_that_come_again_have_the_same_words() {
        let analyzer = Analyzer::new(&TextParams::default()).unwrap();
        let long = "long-".repeat(KnownWords::LONGEST);
        let mut texts = vec![
            "A well-known (C++) C++ tool, well-known; Äpfel äpfel -- 👍 東京都".to_owned(),
            "\u{1f}t2:title\u{1e}well-known tool\u{1f}c1:kind\u{1e}tool".to_owned(),
            format!("{long} tool {long}"),
        ];
        // More pieces than are kept, and the first ones once more.
        texts.extend((0..KnownWords::MOST + 10).map(|number| format!("piece-{number} tool")));
        texts.extend_from_within(..3);
        let together = CountedBlock::count(&analyzer, &texts);
        let together = words(&together);
        assert_eq!(together.len(), texts.len());
        for index in [0, 1, 2, 3, texts.len() - 4, texts.len() - 1] {
            let alone = CountedBlock::count(&analyzer, [&texts[index]]);
            assert_eq!(words(&alone)[0], together[index], "{}", texts[index]);
        }
        assert_eq!(together[..3], together[texts.len() - 3..]);
        assert!(together[0].contains(&"c++") && together[0].contains(&"known"));
    }

    #[test]
    fn what_a_thread_remembers_changes_nothing() {
        let analyzer = Analyzer::new(&TextParams::default()).unwrap();
        let mut known = KnownWords::default();
        // Blocks that share words and pieces, one of them with more words than are remembered.
        let many: Vec<String> = (0..KnownWords::MOST + 5)
            .map(|number| format!("b{number} tool-b{number}"))
            .collect();
        let few = |last: &str| vec!["a tool, a b7 tool-b7".to_owned(), format!("{last} tool a")];
        for texts in [few("one"), few("two"), many, few("one"), few("three")] {
            let fresh = CountedBlock::count(&analyzer, &texts);
            let remembered = CountedBlock::count_with(&mut known, &analyzer, &texts);
            assert!(fresh.names().eq(remembered.names()));
            assert_eq!(fresh.numbers(), remembered.numbers());
        }
    }
}
