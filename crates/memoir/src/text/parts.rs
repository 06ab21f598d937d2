//! Kinds of tokens: runs of words, stems and characters, and values of columns.

use super::blocks::BlockKind;
use super::params::TextParams;

/// First character of stems that stand beside words. No word starts with it, so stems and words never meet.
pub(super) const STEM_MARK: char = '~';

/// First character of words that open a text. No word starts with it.
pub(super) const OPENING_MARK: char = '^';

/// Words that a text opens with: about a title. Of 6, 12 and 20, 12 did best on titles with abstracts.
pub(super) const OPENING_WORDS: usize = 12;

/// A kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Runs of words or stems.
    Runs {
        form: Form,
        /// Fewest and most words.
        shortest: usize,
        longest: usize,
    },
    /// Runs of characters inside words.
    Chars { shortest: usize, longest: usize },
    /// The value of this column.
    Value { column: u8 },
}

/// A kind of token that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) part: Part,
    /// The block that its tokens belong to.
    pub(super) block: u8,
    /// The text column that they come from.
    pub(super) column: u8,
}

/// How the words of a run are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As they are.
    Word,
    /// As their stems.
    Stem,
    /// As their stems, behind a mark.
    MarkedStem,
    /// As they are, behind a mark; those that open the text only.
    Opening,
}

impl Form {
    /// What tokens of this form start with.
    pub(super) fn mark(self) -> Option<char> {
        match self {
            Self::Word | Self::Stem => None,
            Self::MarkedStem => Some(STEM_MARK),
            Self::Opening => Some(OPENING_MARK),
        }
    }

    /// Whether stems are needed.
    pub(super) fn is_stemmed(self) -> bool {
        matches!(self, Self::Stem | Self::MarkedStem)
    }

    /// The words of a text that are counted in this form.
    pub(super) fn of<T>(self, words: &[T]) -> &[T] {
        match self {
            Self::Opening => &words[..words.len().min(OPENING_WORDS)],
            _ => words,
        }
    }
}

/// What `params` counts.
pub(super) fn parts(params: &TextParams) -> Vec<Counted> {
    let mut all = Vec::new();
    for (number, block) in params.column_blocks().into_iter().enumerate() {
        let column = block.column as u8;
        let mut count = |part: Part| {
            all.push(Counted {
                part,
                block: number as u8,
                column: if block.is_text { column } else { u8::MAX },
            });
        };
        match block.block {
            _ if !block.is_text => count(Part::Value { column }),
            Some(block) => count(part_of(block.kind)),
            None => one_block(params).for_each(count),
        }
    }
    all
}

/// What the only block of `params` counts, where blocks are not named.
fn one_block(params: &TextParams) -> impl Iterator<Item = Part> {
    let form = if params.stem.is_some() {
        Form::Stem
    } else {
        Form::Word
    };
    let words = (params.word_ngrams > 0).then_some(Part::Runs {
        form,
        shortest: 1,
        longest: params.word_ngrams as usize,
    });
    let chars = (params.char_ngrams > 0).then_some(Part::Chars {
        shortest: params.char_ngrams_from as usize,
        longest: params.char_ngrams as usize,
    });
    words.into_iter().chain(chars)
}

/// What a block counts.
fn part_of(kind: BlockKind) -> Part {
    let runs = |form, words| Part::Runs {
        form,
        shortest: words,
        longest: words,
    };
    match kind {
        BlockKind::Words => runs(Form::Word, 1),
        BlockKind::Stems => runs(Form::MarkedStem, 1),
        BlockKind::Pairs => runs(Form::Word, 2),
        BlockKind::StemPairs => runs(Form::MarkedStem, 2),
        BlockKind::Opening => runs(Form::Opening, 1),
        BlockKind::Chars { shortest, longest } => Part::Chars {
            shortest: shortest.into(),
            longest: longest.into(),
        },
    }
}
