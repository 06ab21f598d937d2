//! Kinds of tokens: what a block counts.

use super::blocks::{Block, BlockKind};
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

/// What `params` counts, with the number of its block.
pub(super) fn parts(params: &TextParams) -> Vec<(Part, u8)> {
    let runs = |form, shortest, longest| Part::Runs {
        form,
        shortest,
        longest,
    };
    if params.blocks.is_empty() {
        let form = if params.stem.is_some() {
            Form::Stem
        } else {
            Form::Word
        };
        let words = (params.word_ngrams > 0).then(|| runs(form, 1, params.word_ngrams as usize));
        let chars = (params.char_ngrams > 0).then_some(Part::Chars {
            shortest: params.char_ngrams_from as usize,
            longest: params.char_ngrams as usize,
        });
        return words.into_iter().chain(chars).map(|part| (part, 0)).collect();
    }
    let part = |(number, block): (usize, &Block)| {
        let part = match block.kind {
            BlockKind::Words => runs(Form::Word, 1, 1),
            BlockKind::Stems => runs(Form::MarkedStem, 1, 1),
            BlockKind::Pairs => runs(Form::Word, 2, 2),
            BlockKind::StemPairs => runs(Form::MarkedStem, 2, 2),
            BlockKind::Opening => runs(Form::Opening, 1, 1),
            BlockKind::Chars { shortest, longest } => Part::Chars {
                shortest: shortest.into(),
                longest: longest.into(),
            },
        };
        (part, number as u8)
    };
    params.blocks.iter().enumerate().map(part).collect()
}
