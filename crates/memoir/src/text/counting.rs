//! The words of training texts as numbers: blocks of texts in parallel, merged in order, so that the texts
//! need not be kept. Features are made of them when all are there (`features.rs`).

use super::analyzer::{Analyzer, Piece};
use super::known_words::{BlockWords, KnownWords};
use super::params::MAX_FEATURES;
use super::preprocessing::Preprocessing;
use super::vocabulary::NameTable;
use super::word_source::{WordLists, WordSource};
use crate::shards::Told;
use crate::{Error, Result, Session};

/// The words of some texts, numbered by their first appearance in these texts.
#[derive(Debug, Default)]
pub struct CountedBlock {
    different: BlockWords,
    /// Where each text ends in `words`.
    ends: Vec<usize>,
    /// The words' numbers, text after text.
    words: Vec<u32>,
}

impl Told for CountedBlock {
    fn write(&self, message: &mut Vec<u8>) {
        self.different.write(message);
        (self.ends.len() as u32).write(message);
        let mut start = 0;
        for &end in &self.ends {
            ((end - start) as u32).write(message);
            start = end;
        }
        for word in &self.words {
            word.write(message);
        }
    }

    fn read(message: &mut &[u8]) -> Option<Self> {
        let different = BlockWords::read(message)?;
        let (mut ends, mut end) = (Vec::new(), 0usize);
        for _ in 0..u32::read(message)? {
            end += u32::read(message)? as usize;
            ends.push(end);
        }
        let mut words = Vec::new();
        for _ in 0..end {
            let word = u32::read(message)?;
            words.push(word);
            if word as usize >= different.len() {
                return None;
            }
        }
        Some(Self {
            different,
            ends,
            words,
        })
    }
}

impl CountedBlock {
    /// Numbers the words of each text.
    pub fn count<S: AsRef<str>>(analyzer: &Analyzer, texts: impl IntoIterator<Item = S>) -> Self {
        Self::count_with(&mut KnownWords::default(), analyzer, texts)
    }

    /// As [`CountedBlock::count`], by a thread that remembers what it has counted with this analyzer before,
    /// for the same counter. It may stop in the middle of a text; what was counted is then of no use.
    pub fn count_with<S: AsRef<str>>(
        known: &mut KnownWords,
        analyzer: &Analyzer,
        texts: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut block = Self {
            different: known.begin_block(),
            ..Self::default()
        };
        for text in texts {
            let Self { different, words, .. } = &mut block;
            Analyzer::pieces(text.as_ref(), |piece| match piece {
                Piece::Mark(mark) => known.add_word(mark, different, words),
                Piece::Text(text) => known.add_text(analyzer, text, different, words),
            });
            block.ends.push(block.words.len());
        }
        block
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number over all texts of each different word, by first appearance, where `intern` finds or makes
    /// the number of a name.
    pub(crate) fn numbers_overall(&self, intern: impl FnMut(&str) -> u32) -> Vec<u32> {
        self.different.numbers(intern)
    }

    /// Where each text ends in the words, the words' numbers, and how many different ones there are.
    pub(crate) fn numbers(&self) -> (&[usize], &[u32], usize) {
        (&self.ends, &self.words, self.different.len())
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// The words of all texts so far, numbered by first appearance over all of them. The texts themselves are
/// numbers of words, in memory unless somebody else has them.
#[derive(Debug, Clone, Default)]
pub struct TextCounter<S = WordLists> {
    pub(super) names: NameTable,
    pub(super) source: S,
    /// The features of a model that goes on learning: they stay, and keep their numbers.
    pub(super) known: NameTable,
    /// The block of each known feature; empty with one block.
    pub(super) known_blocks: Vec<u8>,
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
        let numbers = block.numbers_overall(|name| self.names.intern(name));
        self.check_size()?;
        if numbers.iter().any(|&number| number as usize >= self.names.len()) {
            return Err(Error::Exchange("a word came without its name".to_owned()));
        }
        let words = block.words.iter().map(|&word| numbers[word as usize]);
        self.source.extend(&block.ends, words);
        Ok(())
    }

    /// Appends texts whose words have numbers already: where each text ends in `words`.
    pub(crate) fn extend(&mut self, ends: &[usize], words: &[u32]) {
        self.source.extend(ends, words.iter().copied());
    }
}

impl<S> TextCounter<S> {
    /// The texts of `source`, of which no word is known yet.
    pub(crate) fn of_source(source: S) -> Self {
        Self {
            names: NameTable::default(),
            source,
            known: NameTable::default(),
            known_blocks: Vec::new(),
        }
    }

    /// Makes `words` known, in the order of the numbers that they have in texts.
    pub(crate) fn know<W: AsRef<str>>(&mut self, words: impl IntoIterator<Item = W>) -> Result<()> {
        for (number, word) in words.into_iter().enumerate() {
            if self.names.intern(word.as_ref()) as usize != number {
                return Err(Error::Unlearnable(format!(
                    "the data is damaged: two of its words are `{}`",
                    word.as_ref()
                )));
            }
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<()> {
        if self.names.len() as u64 > MAX_FEATURES {
            return Err(Error::Unlearnable(format!(
                "the texts have more than {MAX_FEATURES} different words"
            )));
        }
        Ok(())
    }
}

#[expect(private_bounds, reason = "where texts come from is settled inside this crate")]
impl<S: WordSource> TextCounter<S> {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.source.texts()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the texts, in this order, with their words alone.
    pub(super) fn subset(&self, texts: &[usize], session: &Session<'_>) -> Result<TextCounter> {
        let picked = self.source.pick(texts, session)?;
        let mut subset = TextCounter::new();
        for text in 0..picked.len() {
            let words = picked.text(text).iter();
            let names = words.map(|&word| self.names.name(word as usize));
            subset.source.push(names.map(|name| subset.names.intern(name)));
        }
        Ok(subset)
    }

    /// Where the texts come from.
    pub(crate) fn source(&self) -> &S {
        &self.source
    }

    /// Memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        self.names.memory() + self.known.memory() + self.source.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextParams;

    /// The words of each text, if `counter` is to hold them.
    fn words(block: CountedBlock, counter: &mut TextCounter) -> Vec<Vec<String>> {
        let before = counter.len();
        counter.merge(block).unwrap();
        let text = |text| {
            let words = counter.source.text(text).iter();
            words
                .map(|&word| counter.names.name(word as usize).to_owned())
                .collect()
        };
        (before..counter.len()).map(text).collect()
    }

    #[test]
    fn pieces_that_come_again_have_the_same_words() {
        let analyzer = Analyzer::new(&TextParams::default()).unwrap();
        let long = "long-".repeat(20);
        let mut texts = vec![
            "A well-known (C++) C++ tool, well-known; Äpfel äpfel -- 👍 東京都".to_owned(),
            "\u{1f}t2:title\u{1e}well-known tool\u{1f}c1:kind\u{1e}tool".to_owned(),
            format!("{long} tool {long}"),
        ];
        // Many pieces between, and the first ones once more.
        texts.extend((0..100_000).map(|number| format!("piece-{number} tool")));
        texts.extend_from_within(..3);
        let together = CountedBlock::count(&analyzer, &texts);
        let together = words(together, &mut TextCounter::new());
        assert_eq!(together.len(), texts.len());
        for index in [0, 1, 2, 3, texts.len() - 4, texts.len() - 1] {
            let alone = CountedBlock::count(&analyzer, [&texts[index]]);
            let alone = words(alone, &mut TextCounter::new());
            assert_eq!(alone[0], together[index], "{}", texts[index]);
        }
        assert_eq!(together[..3], together[texts.len() - 3..]);
        assert!(
            ["c++", "known"]
                .iter()
                .all(|word| together[0].contains(&(*word).to_owned()))
        );
    }

    #[test]
    fn blocks_that_shards_tell_each_other() {
        let analyzer = Analyzer::new(&TextParams::default()).unwrap();
        let (mut known, mut counter, mut other) =
            (KnownWords::default(), TextCounter::new(), TextCounter::new());
        for texts in [
            &["a red äpple", "", "a b a"][..],
            &["c++ red red x", "blue"],
            &[],
            &["b new"],
        ] {
            let block = CountedBlock::count_with(&mut known, &analyzer, texts);
            let mut message = Vec::new();
            block.write(&mut message);
            for length in 0..message.len() {
                assert!(CountedBlock::read(&mut &message[..length]).is_none(), "{length}");
            }
            message.push(7);
            let mut rest = &message[..];
            let told = CountedBlock::read(&mut rest).unwrap();
            assert_eq!(rest, [7]);
            assert_eq!(words(told, &mut other), words(block, &mut counter));
        }
        // The last block speaks of words by the numbers that this counter never gave.
        let block = CountedBlock::count_with(&mut known, &analyzer, ["a red b"]);
        assert!(TextCounter::new().merge(block).is_err());
    }

    #[test]
    fn what_a_thread_remembers_changes_nothing() {
        let analyzer = Analyzer::new(&TextParams::default()).unwrap();
        let mut known = KnownWords::default();
        let (mut counter, mut other) = (TextCounter::new(), TextCounter::new());
        let mut waiting = Vec::new();
        // Blocks that share words and pieces, one of them with more words than are remembered.
        let many: Vec<String> = (0..KnownWords::MOST + 5)
            .map(|number| format!("b{number} tool-b{number}"))
            .collect();
        let few = |last: &str| vec!["a tool, a b7 tool-b7".to_owned(), format!("{last} tool a")];
        let blocks = [
            few("one"),
            few("two"),
            few("two"),
            many,
            few("one"),
            few("three"),
            few("four"),
        ];
        for (turn, texts) in blocks.into_iter().enumerate() {
            let remembered = CountedBlock::count_with(&mut known, &analyzer, &texts);
            let fresh = CountedBlock::count(&analyzer, &texts);
            assert_eq!(fresh.numbers(), remembered.numbers());
            // One block is never merged; others are merged late, when the next one has been counted.
            if turn != 1 {
                waiting.push((fresh, remembered));
            }
            if turn % 2 == 0 {
                for (fresh, remembered) in waiting.drain(..) {
                    assert_eq!(words(fresh, &mut other), words(remembered, &mut counter));
                }
            }
        }
        assert_eq!(counter.names.len(), other.names.len());
    }
}
