//! Text becomes tokens: words, runs of words, runs of characters inside words.

use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::codes::further_words;
use super::columns::{TextColumn, counted_value};
use super::language::Stemmers;
use super::normalize::{Origins, normalize};
use super::params::TextParams;
use super::parts::{Counted, Part, parts};
use super::stop_words::stop_words;
use super::words::{CharacterRuns, push_with_final_sigma, words_of};
use crate::dataset::{ColumnKind, column_parts, push_mark};
use crate::{Cancel, Result};

/// Stems kept ready; when there are more, all are forgotten, so that endless input needs bounded memory.
const MOST_STEMS: usize = 1 << 16;

/// Cuts text into tokens.
///
/// Words are those of Unicode's segmentation rules (UAX #29) that hold a letter or a digit, in NFKC and
/// lower case, cut once more at apostrophes between letters (`l'homme` and `children's` share words with
/// `homme` and `children`). With blocks, codes, emoji and pairs of ideographs are words, too (`codes.rs`). A
/// run of words is written with one space between them. A run of characters is written behind a `#`, with a
/// space where the word begins or ends: `cat` has the runs of three `# ca`, `#cat`, `#at `. Runs of
/// characters are taken from words before stemming; a word that is shorter than a run counts once, whole.
pub struct Analyzer {
    /// What is counted.
    parts: Vec<Counted>,
    columns: Vec<TextColumn>,
    /// Names of the text columns where there are several: they stand in front of tokens.
    text_columns: Vec<String>,
    /// Whether codes, emoji and pairs of ideographs are words.
    codes: bool,
    stemmers: Stemmers,
    stop_words: FxHashSet<&'static str>,
}

impl fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analyzer")
            .field("parts", &self.parts)
            .field("columns", &self.columns)
            .field("codes", &self.codes)
            .field("languages", &self.stemmers.len())
            .field("stop_words", &self.stop_words.len())
            .finish_non_exhaustive()
    }
}

/// Reusable memory of one analysing thread.
#[derive(Debug, Default)]
pub struct AnalyzerScratch {
    /// Normal form of the piece at hand.
    piece: String,
    /// Words of the piece.
    ranges: Vec<Range<usize>>,
    further: Vec<Range<usize>>,
    origins: Origins,
    /// Finished words of the text, one space between them, so that a run of words is a part of it.
    line: String,
    words: Vec<Word>,
    /// Words of one text column that follow each other.
    stretches: Vec<(u8, Range<usize>)>,
    stem_line: String,
    stem_words: Vec<Word>,
    token: String,
    prefixed: String,
    runs: CharacterRuns,
    /// Stems of words, for each language.
    stems: Vec<FxHashMap<Box<str>, Box<str>>>,
    /// Ends the analysis of a long text, whose tokens are then of no use.
    cancel: Cancel,
}

impl AnalyzerScratch {
    /// Memory of an analysis that ends when `cancel` is raised. Whoever raises it must not use the tokens.
    pub fn stopped_by(cancel: &Cancel) -> Self {
        Self {
            cancel: cancel.clone(),
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone)]
struct Word {
    /// Place in the line.
    line: Range<usize>,
    /// Place in the original text.
    origin: Range<usize>,
}

/// What a text is made of before it is cut into words.
pub(super) enum Piece<'t> {
    /// Text, whose parts between white space are cut into words apart from each other.
    Text(&'t str),
    /// What says which column the text behind it is from; a word of its own.
    Mark(&'t str),
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
            parts: parts(params),
            columns: params.columns.clone(),
            text_columns: params
                .text_column_names()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            codes: params.automatic || !params.blocks.is_empty(),
            stemmers: match params.stem {
                Some(language) => Stemmers::new(&[language]),
                None => Stemmers::new(&params.languages),
            },
            stop_words: params
                .stop_words
                .and_then(stop_words)
                .map_or_else(FxHashSet::default, |words| {
                    words.split_ascii_whitespace().collect()
                }),
        })
    }

    pub(super) fn parts(&self) -> &[Counted] {
        &self.parts
    }

    pub(super) fn stemmers(&self) -> &Stemmers {
        &self.stemmers
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

    /// Hands what columns hold, and the marks of columns, to `take`, in order.
    pub(super) fn pieces(text: &str, mut take: impl FnMut(Piece<'_>)) {
        let mut mark = String::new();
        for part in column_parts(text) {
            if let Some(column) = part.column {
                let value = counted_value(column.kind, part.content);
                if column.kind == ColumnKind::Text || value.is_some() {
                    mark.clear();
                    push_mark(&column, value.as_deref(), &mut mark);
                    take(Piece::Mark(&mark));
                }
                if column.kind != ColumnKind::Text {
                    continue;
                }
            }
            take(Piece::Text(part.content));
        }
    }

    /// Hands each word of a piece of text without white space to `emit`, in order; all tokens can be made of
    /// them (`features.rs`).
    pub(super) fn words_of_piece(
        &self,
        piece: &str,
        scratch: &mut AnalyzerScratch,
        mut emit: impl FnMut(&str),
    ) {
        scratch.clear();
        self.cut::<false>(piece, 0, scratch, |_, _| {});
        for word in &scratch.words {
            emit(&scratch.line[word.line.clone()]);
        }
    }

    /// With `SPANS`, each token comes with its place in the text; without, places are meaningless and cost
    /// nothing.
    fn analyze<const SPANS: bool>(
        &self,
        text: &str,
        scratch: &mut AnalyzerScratch,
        mut emit: impl FnMut(&str, Range<usize>),
    ) {
        self.cut_columns::<SPANS>(text, scratch, &mut emit);
        if self.stems() {
            self.stem_all(scratch);
        }
        for counted in &self.parts {
            let Part::Runs {
                form,
                shortest,
                longest,
            } = counted.part
            else {
                continue;
            };
            let AnalyzerScratch { token, stretches, .. } = scratch;
            let (line, words) = if form.is_stemmed() {
                (&scratch.stem_line, &scratch.stem_words)
            } else {
                (&scratch.line, &scratch.words)
            };
            let is_plain = form.mark().is_none() && self.text_columns.is_empty();
            for (_, stretch) in stretches.iter().filter(|stretch| stretch.0 == counted.column) {
                let words = form.of(&words[stretch.clone()]);
                for first in 0..words.len() {
                    for last in words.iter().skip(first).take(longest).skip(shortest - 1) {
                        let word = &words[first];
                        let run = &line[word.line.start..last.line.end];
                        let origin =
                            word.origin.start.min(last.origin.start)..word.origin.end.max(last.origin.end);
                        if is_plain {
                            emit(run, origin);
                            continue;
                        }
                        token.clear();
                        self.push_prefix(counted.column, token);
                        token.extend(form.mark());
                        token.push_str(run);
                        emit(token, origin);
                    }
                }
            }
        }
    }

    /// Adds the words of `text`, which is of this text column, to `scratch` and hands their runs of
    /// characters to `emit`.
    fn cut<const SPANS: bool>(
        &self,
        text: &str,
        column: u8,
        scratch: &mut AnalyzerScratch,
        mut emit: impl FnMut(&str, Range<usize>),
    ) {
        let AnalyzerScratch {
            piece,
            ranges,
            further,
            origins,
            line,
            words,
            runs,
            cancel,
            ..
        } = scratch;
        // White space never merges with its neighbours, so the text can be normalised in pieces; those in
        // ASCII, most of them in many languages, are quick.
        for original in text.split_ascii_whitespace() {
            if cancel.is_raised() {
                break;
            }
            let piece_start = original.as_ptr() as usize - text.as_ptr() as usize;
            piece.clear();
            if SPANS {
                origins.normalize(original, piece);
            } else {
                normalize(original, piece);
            }
            ranges.clear();
            ranges.extend(words_of(piece).map(|(start, word)| start..start + word.len()));
            if self.codes {
                further.clear();
                further_words(piece, ranges, |range| further.push(range));
                if !further.is_empty() {
                    ranges.append(further);
                    // In the order of the text, the longer of two that begin together first.
                    ranges.sort_by_key(|range| (range.start, Reverse(range.end)));
                }
            }
            for range in &*ranges {
                let word = &piece[range.clone()];
                if self.stop_words.contains(word) {
                    continue;
                }
                let origin = |part: Range<usize>| {
                    if SPANS {
                        let part = origins.of(range.start + part.start..range.start + part.end);
                        piece_start + part.start..piece_start + part.end
                    } else {
                        0..0
                    }
                };
                for counted in self.parts.iter().filter(|counted| counted.column == column) {
                    if let Part::Chars { shortest, longest } = counted.part {
                        runs.each(word, shortest, longest, |run, part| emit(run, origin(part)));
                    }
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                let line_start = line.len();
                push_with_final_sigma(word, line);
                words.push(Word {
                    line: line_start..line.len(),
                    origin: origin(0..word.len()),
                });
            }
        }
    }

    /// Whether some runs are of stems.
    fn stems(&self) -> bool {
        let stems = |counted: &Counted| matches!(counted.part, Part::Runs { form, .. } if form.is_stemmed());
        self.parts.iter().any(stems)
    }

    /// Fills `scratch` with the stems of its words.
    fn stem_all(&self, scratch: &mut AnalyzerScratch) {
        let AnalyzerScratch {
            line,
            words,
            stem_line,
            stem_words,
            stems,
            ..
        } = scratch;
        let language = if self.stemmers.len() > 1 {
            let common = |language| {
                let of_language = |word: &&Word| self.stemmers.is_common(language, &line[word.line.clone()]);
                words.iter().filter(of_language).count() as u32
            };
            Stemmers::of_text(&(0..self.stemmers.len()).map(common).collect::<Vec<_>>())
        } else {
            0
        };
        stem_line.clear();
        stem_words.clear();
        // Where no language could be told, words are their own stems.
        stems.resize_with(self.stemmers.len().max(1), FxHashMap::default);
        let stems = &mut stems[language];
        for word in &*words {
            if !stem_line.is_empty() {
                stem_line.push(' ');
            }
            let start = stem_line.len();
            let text = &line[word.line.clone()];
            if let Some(stem) = stems.get(text) {
                stem_line.push_str(stem);
            } else {
                self.stemmers.push_stem(language, text, stem_line);
                if stems.len() >= MOST_STEMS {
                    stems.clear();
                }
                stems.insert(text.into(), stem_line[start..].into());
            }
            stem_words.push(Word {
                line: start..stem_line.len(),
                origin: word.origin.clone(),
            });
        }
    }
}

impl AnalyzerScratch {
    /// Forgets the words of the text before.
    fn clear(&mut self) {
        self.line.clear();
        self.words.clear();
        self.stretches.clear();
    }
}

mod columns;
#[cfg(test)]
mod tests;
