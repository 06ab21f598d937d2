//! Text becomes tokens: words, runs of words, runs of characters inside words.

use std::fmt;
use std::ops::Range;

use rust_stemmers::Stemmer;
use rustc_hash::{FxHashMap, FxHashSet};

use super::normalize::Origins;
use super::normalize::normalize;
use super::params::TextParams;
use super::stop_words::stop_words;
use super::words::{CharacterRuns, push_with_final_sigma, words_of};
use crate::Result;

/// Stems kept ready; when there are more, all are forgotten, so that endless input needs bounded memory.
const MOST_STEMS: usize = 1 << 16;

/// Cuts text into tokens.
///
/// Words are those of Unicode's segmentation rules (UAX #29) that hold a letter or a digit, in NFKC and lower case, cut
/// once more at apostrophes between letters (`l'homme` and `children's` share words with `homme` and `children`). A run
/// of words is written with one space between them. A run of characters is written behind a `#`, with a space
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
            for (start, word) in words_of(piece) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Stem;
    use proptest::prelude::*;

    fn analyzer(given: &[(&'static str, &'static str)]) -> Analyzer {
        Analyzer::new(&TextParams::parse(given.iter().copied()).unwrap()).unwrap()
    }

    fn tokens(analyzer: &Analyzer, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        analyzer.tokens(text, &mut AnalyzerScratch::default(), |token| {
            tokens.push(token.to_owned());
        });
        tokens
    }

    fn words(text: &str) -> Vec<String> {
        tokens(&analyzer(&[]), text)
    }

    #[test]
    fn scripts() {
        assert_eq!(
            words("Die STRAẞE, die Straße!"),
            ["die", "straße", "die", "straße"]
        );
        assert_eq!(words("İstanbul ISTANBUL"), ["istanbul", "istanbul"]);
        assert_eq!(words("ΟΔΟΣ οδος Σ"), ["οδος", "οδος", "σ"]);
        assert_eq!(words("東京 タワー"), ["東", "京", "タワー"]);
        assert_eq!(words("CAFE\u{301} cafe\u{301}s"), ["café", "cafés"]);
        assert_eq!(words("I ❤️ 👩‍👩‍👧 NY 👍🏽"), ["i", "ny"]);
        assert_eq!(words("１２３ ４．５ ３kg"), ["123", "4.5", "3kg"]);
        assert_eq!(
            words("e-mail x_y 3.14 C++ 1'000"),
            ["e", "mail", "x_y", "3.14", "c", "1'000"]
        );
        assert_eq!(
            words("'L'homme' l’été d’'or"),
            ["l", "homme", "l", "été", "d", "or"]
        );
        assert_eq!(words("\u{FE70}ㄅ #\u{AC7} מ'"), ["\u{64B}", "ㄅ", "\u{AC7}", "מ"]);
        assert_eq!(words("привет, МИР"), ["привет", "мир"]);
        assert_eq!(words(" \t\r\n … --- "), [""; 0]);
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn runs_of_words() {
        assert_eq!(
            tokens(&analyzer(&[("word-ngrams", "3")]), "One, two\tThree"),
            ["one", "one two", "one two three", "two", "two three", "three"]
        );
    }

    #[test]
    fn runs_of_characters() {
        let three = analyzer(&[("word-ngrams", "0"), ("char-ngrams", "3")]);
        assert_eq!(tokens(&three, "Cat"), ["# ca", "#cat", "#at "]);
        assert_eq!(tokens(&three, "ñ"), ["# ñ "]);
        let more = analyzer(&[("char-ngrams", "4")]);
        assert_eq!(tokens(&more, "ab"), ["# ab", "#ab ", "# ab ", "ab"]);
        assert_eq!(tokens(&more, "a"), ["# a ", "a"], "a short word counts once");
        let single = analyzer(&[("word-ngrams", "0"), ("char-ngrams", "1")]);
        assert_eq!(tokens(&single, "ab"), ["#a", "#b"]);
    }

    #[test]
    fn stems_and_stop_words() {
        let analyzer = analyzer(&[
            ("stem", "english"),
            ("stop-words", "english"),
            ("word-ngrams", "2"),
        ]);
        assert_eq!(
            tokens(&analyzer, "The runners were running"),
            ["runner", "runner run", "run"]
        );
    }

    #[test]
    fn scratch_carries_nothing_over() {
        let analyzer = analyzer(&[("stem", "german"), ("char-ngrams", "3")]);
        let mut scratch = AnalyzerScratch::default();
        for text in ["Häuser und Gärten", "", "Haus"] {
            let mut got = Vec::new();
            analyzer.tokens(text, &mut scratch, |token| got.push(token.to_owned()));
            assert_eq!(got, tokens(&analyzer, text));
        }
    }

    #[test]
    fn spans_mark_the_original() {
        let text = "Ｔｗｏ  ﬁne İSTANBUL cafe\u{301}s";
        let spans = analyzer(&[("word-ngrams", "2")]).spans(text, &mut AnalyzerScratch::default());
        let marked: Vec<_> = spans
            .iter()
            .map(|span| (span.token.as_str(), &text[span.range.clone()]))
            .collect();
        assert_eq!(
            marked,
            [
                ("two", "Ｔｗｏ"),
                ("two fine", "Ｔｗｏ  ﬁne"),
                ("fine", "ﬁne"),
                ("fine istanbul", "ﬁne İSTANBUL"),
                ("istanbul", "İSTANBUL"),
                ("istanbul cafés", "İSTANBUL cafe\u{301}s"),
                ("cafés", "cafe\u{301}s"),
            ]
        );
        let text = "ﬁx";
        let spans = analyzer(&[("word-ngrams", "0"), ("char-ngrams", "3")])
            .spans(text, &mut AnalyzerScratch::default());
        let marked: Vec<_> = spans
            .iter()
            .map(|span| (span.token.as_str(), &text[span.range.clone()]))
            .collect();
        assert_eq!(marked, [("# fi", "ﬁ"), ("#fix", "ﬁx"), ("#ix ", "ﬁx")]);
    }

    /// Text that is rich in what makes trouble: marks, ligatures, joiners, sigmas, digits, any other character.
    const UNRULY: &str =
        "([a-zA-Z '.#_]|\\PC|[\u{300}-\u{310}\u{AD}\u{200D}\u{FE0F}ΣσςİıßﬁŒ㎏１東각अ้]){0,40}";

    proptest! {
        #[test]
        fn any_text_in_any_language(text in UNRULY, language in 0usize..18, words in 0usize..3) {
            let words = ["0", "1", "3"][words];
            let analyzer =
                analyzer(&[("stem", Stem::ALL[language + 1].word()), ("word-ngrams", words), ("char-ngrams", "4")]);
            for token in tokens(&analyzer, &text) {
                prop_assert!(!token.is_empty());
            }
        }

        #[test]
        fn marks_tell_runs_from_words(text in UNRULY) {
            for token in tokens(&analyzer(&[("word-ngrams", "2")]), &text) {
                prop_assert!(!token.contains('#'), "{token:?}");
                prop_assert!(token.split(' ').count() <= 2);
            }
            for token in tokens(&analyzer(&[("word-ngrams", "0"), ("char-ngrams", "4")]), &text) {
                prop_assert!(token.starts_with('#'), "{token:?}");
            }
        }

        #[test]
        fn spans_are_the_tokens_with_places(text in UNRULY) {
            let analyzer = analyzer(&[("word-ngrams", "2"), ("char-ngrams", "3")]);
            let spans = analyzer.spans(&text, &mut AnalyzerScratch::default());
            let with_places: Vec<_> = spans.iter().map(|span| span.token.clone()).collect();
            prop_assert_eq!(with_places, tokens(&analyzer, &text));
            for span in &spans {
                let part = text.get(span.range.clone());
                prop_assert!(part.is_some_and(|part| !part.is_empty()), "{:?}", span);
                // Every character of the token is in the normal form of the part it is said to come from.
                let mut normal = String::new();
                normalize(part.unwrap_or(""), &mut normal);
                for c in span.token.trim_start_matches('#').chars().filter(|c| *c != ' ') {
                    prop_assert!(normal.contains(c) || c == 'ς', "{:?}", span);
                }
            }
        }

        #[test]
        fn pieces_between_white_space_do_not_interact(texts in proptest::collection::vec(UNRULY, 1..4)) {
            let together = words(&texts.join(" "));
            let apart: Vec<String> = texts.iter().flat_map(|text| words(text)).collect();
            prop_assert_eq!(together, apart);
        }
    }
}
