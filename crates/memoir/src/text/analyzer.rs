//! Text becomes tokens: words, runs of words, runs of characters inside words.

use std::fmt;
use std::ops::Range;

use rust_stemmers::Stemmer;
use rustc_hash::{FxHashMap, FxHashSet};
use unicode_segmentation::UnicodeSegmentation;

use super::normalize::Origins;
use super::normalize::normalize;
use super::params::TextParams;
use super::stop_words::stop_words;
use crate::Result;

/// Stems kept ready; when there are more, all are forgotten, so that endless input needs bounded memory.
const MOST_STEMS: usize = 1 << 16;

/// First character of every character run. No word holds it, so runs and words never meet.
const CHARACTER_MARK: char = '#';

/// Cuts text into tokens.
///
/// Words are those of Unicode's segmentation rules (UAX #29) that hold a letter or a digit, in NFKC and lower case. A
/// run of words is written with one space between them. A run of characters is written behind a `#`, with a space
/// where the word begins or ends: `cat` has the runs of three `# ca`, `#cat`, `#at `. Runs of characters are taken from
/// words before stemming; a word that is shorter than a run counts once, whole.
pub struct Analyzer {
    word_ngrams: usize,
    /// Shortest and longest run of characters.
    char_ngrams: Option<(usize, usize)>,
    stemmer: Option<Stemmer>,
    stop_words: FxHashSet<&'static str>,
}

impl fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analyzer")
            .field("word_ngrams", &self.word_ngrams)
            .field("char_ngrams", &self.char_ngrams)
            .field("stems", &self.stemmer.is_some())
            .field("stop_words", &self.stop_words.len())
            .finish()
    }
}

/// Reusable memory of one analysing thread.
#[derive(Debug, Default)]
pub struct AnalyzerScratch {
    /// Normal form of the piece at hand.
    piece: String,
    origins: Origins,
    /// Finished words of the text, one space between them, so that a run of words is a part of it.
    line: String,
    words: Vec<Word>,
    runs: CharacterRuns,
    stems: FxHashMap<Box<str>, Box<str>>,
}

#[derive(Debug)]
struct Word {
    /// Place in the line.
    line: Range<usize>,
    /// Place in the original text.
    origin: Range<usize>,
}

/// Memory for the character runs of a word.
#[derive(Debug, Default)]
struct CharacterRuns {
    /// The word between two spaces.
    padded: String,
    /// Where each of its characters starts, and the end.
    starts: Vec<usize>,
    /// The run that is handed out.
    token: String,
}

/// A token and where it is in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The token as it is counted.
    pub token: String,
    /// Bytes of the original text that it comes from, on character boundaries.
    pub range: Range<usize>,
}

impl Analyzer {
    /// An analyzer for checked or stored parameters.
    pub fn new(params: &TextParams) -> Result<Self> {
        params.validate()?;
        Ok(Self {
            word_ngrams: params.word_ngrams as usize,
            char_ngrams: (params.char_ngrams > 0)
                .then_some((params.char_ngrams_from as usize, params.char_ngrams as usize)),
            stemmer: params.stem.map(|language| Stemmer::create(language.stemming())),
            stop_words: params
                .stop_words
                .and_then(stop_words)
                .map_or_else(FxHashSet::default, |words| {
                    words.split_ascii_whitespace().collect()
                }),
        })
    }

    /// Hands each token of `text` to `emit`, in a fixed order, repeats included.
    pub fn tokens(&self, text: &str, scratch: &mut AnalyzerScratch, mut emit: impl FnMut(&str)) {
        self.analyze::<false>(text, scratch, |token, _| emit(token));
    }

    /// The tokens of `text` in the order of [`Analyzer::tokens`], with their places in it.
    pub fn spans(&self, text: &str, scratch: &mut AnalyzerScratch) -> Vec<Span> {
        let mut spans = Vec::new();
        self.analyze::<true>(text, scratch, |token, range| {
            spans.push(Span {
                token: token.to_owned(),
                range,
            });
        });
        spans
    }

    /// With `SPANS`, each token comes with its place in the text; without, places are meaningless and cost nothing.
    fn analyze<const SPANS: bool>(
        &self,
        text: &str,
        scratch: &mut AnalyzerScratch,
        mut emit: impl FnMut(&str, Range<usize>),
    ) {
        let AnalyzerScratch {
            piece,
            origins,
            line,
            words,
            runs,
            stems,
        } = scratch;
        line.clear();
        words.clear();
        // White space never merges with its neighbours, so the text can be normalised in pieces; those in ASCII, most
        // of them in many languages, are quick.
        for original in text.split_ascii_whitespace() {
            let piece_start = original.as_ptr() as usize - text.as_ptr() as usize;
            piece.clear();
            if SPANS {
                origins.normalize(original, piece);
            } else {
                normalize(original, piece);
            }
            for (start, word) in piece.unicode_word_indices() {
                if self.stop_words.contains(word) {
                    continue;
                }
                let origin = |part: Range<usize>| {
                    if SPANS {
                        let part = origins.of(start + part.start..start + part.end);
                        piece_start + part.start..piece_start + part.end
                    } else {
                        0..0
                    }
                };
                if let Some((shortest, longest)) = self.char_ngrams {
                    runs.each(word, shortest, longest, |run, part| emit(run, origin(part)));
                }
                if self.word_ngrams > 0 {
                    if !line.is_empty() {
                        line.push(' ');
                    }
                    let line_start = line.len();
                    self.push_word(word, line, stems);
                    words.push(Word {
                        line: line_start..line.len(),
                        origin: origin(0..word.len()),
                    });
                }
            }
        }
        for (first, word) in words.iter().enumerate() {
            for last in words.iter().skip(first).take(self.word_ngrams) {
                emit(
                    &line[word.line.start..last.line.end],
                    word.origin.start..last.origin.end,
                );
            }
        }
    }

    /// Appends `word` in its final form.
    fn push_word(&self, word: &str, line: &mut String, stems: &mut FxHashMap<Box<str>, Box<str>>) {
        let start = line.len();
        push_with_final_sigma(word, line);
        let Some(stemmer) = &self.stemmer else { return };
        let word = &line[start..];
        if !stems.contains_key(word) {
            if stems.len() >= MOST_STEMS {
                stems.clear();
            }
            // A stem can come out empty; the word then stands for itself.
            let stem = stemmer.stem(word);
            let stem = if stem.is_empty() { word } else { &stem };
            stems.insert(word.into(), stem.into());
        }
        if let Some(stem) = stems.get(word) {
            line.truncate(start);
            line.push_str(stem);
        }
    }
}

/// Lower-casing letter by letter makes every capital sigma a σ; at the end of a word it is written ς.
fn push_with_final_sigma(word: &str, line: &mut String) {
    match word.strip_suffix('σ') {
        Some(rest) if !rest.is_empty() => {
            line.push_str(rest);
            line.push('ς');
        }
        _ => line.push_str(word),
    }
}

impl CharacterRuns {
    /// Hands out each run of `shortest` to `longest` characters of `word`, with its place in the word.
    fn each(
        &mut self,
        word: &str,
        shortest: usize,
        longest: usize,
        mut emit: impl FnMut(&str, Range<usize>),
    ) {
        self.padded.clear();
        self.padded.push(' ');
        push_with_final_sigma(word, &mut self.padded);
        self.padded.push(' ');
        self.starts.clear();
        self.starts.extend(self.padded.char_indices().map(|(at, _)| at));
        self.starts.push(self.padded.len());
        let characters = self.starts.len() - 1;
        for length in shortest..=longest {
            let length = length.min(characters);
            for first in 0..=characters - length {
                let range = self.starts[first]..self.starts[first + length];
                if &self.padded[range.clone()] == " " {
                    continue;
                }
                self.token.clear();
                self.token.push(CHARACTER_MARK);
                self.token.push_str(&self.padded[range.clone()]);
                // Back to places in the word, without the padding.
                let part = range.start.saturating_sub(1)..(range.end - 1).min(word.len());
                emit(&self.token, part);
            }
            if length == characters {
                break;
            }
        }
    }
}
