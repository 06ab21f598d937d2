//! Which languages the texts are in, and which of them a single text is in.

use rust_stemmers::Stemmer;
use rustc_hash::FxHashSet;
use whatlang::Lang;

use super::params::{Language, MOST_LANGUAGES};
use super::stop_words::stop_words;
use super::vocabulary::NameTable;

/// A language counts if at least this share of the texts that can be told are in it.
const LEAST_SHARE: f64 = 0.1;

/// The languages of `texts`, the most frequent one first; none if no text can be told.
pub(super) fn detect<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Vec<Language> {
    let mut counts: Vec<(Language, usize)> = Vec::new();
    let mut told = 0;
    for text in texts {
        let Some(info) = whatlang::detect(text.as_ref()) else {
            continue;
        };
        // Of short texts many are taken for a related language; a sure guess is rarely wrong.
        if !info.is_reliable() {
            continue;
        }
        told += 1;
        let Some(language) = stemmed(info.lang()) else {
            continue;
        };
        match counts.iter_mut().find(|entry| entry.0 == language) {
            Some(entry) => entry.1 += 1,
            None => counts.push((language, 1)),
        }
    }
    // Stable: of equally frequent ones the first met stays first.
    counts.sort_by_key(|entry| std::cmp::Reverse(entry.1));
    let frequent = counts
        .iter()
        .filter(|entry| entry.1 as f64 >= LEAST_SHARE * told as f64);
    frequent.map(|entry| entry.0).take(MOST_LANGUAGES).collect()
}

/// The language that has rules for stems.
fn stemmed(lang: Lang) -> Option<Language> {
    Some(match lang {
        Lang::Ara => Language::Arabic,
        Lang::Dan => Language::Danish,
        Lang::Nld => Language::Dutch,
        Lang::Eng => Language::English,
        Lang::Fin => Language::Finnish,
        Lang::Fra => Language::French,
        Lang::Deu => Language::German,
        Lang::Ell => Language::Greek,
        Lang::Hun => Language::Hungarian,
        Lang::Ita => Language::Italian,
        Lang::Nob => Language::Norwegian,
        Lang::Por => Language::Portuguese,
        Lang::Ron => Language::Romanian,
        Lang::Rus => Language::Russian,
        Lang::Spa => Language::Spanish,
        Lang::Swe => Language::Swedish,
        Lang::Tam => Language::Tamil,
        Lang::Tur => Language::Turkish,
        _ => return None,
    })
}

/// Stems by the rules of one or several languages.
///
/// With several, a text is in the language whose most common words (see `stop_words.rs`) it holds most, the
/// first of equals: titles are too short for anything cleverer.
pub(super) struct Stemmers {
    languages: Vec<(Stemmer, FxHashSet<&'static str>)>,
}

impl Stemmers {
    pub(super) fn new(languages: &[Language]) -> Self {
        let rules = |&language: &Language| {
            let common = stop_words(language).unwrap_or("");
            (
                Stemmer::create(language.stemming()),
                common.split_ascii_whitespace().collect(),
            )
        };
        Self {
            languages: languages.iter().map(rules).collect(),
        }
    }

    /// Number of languages.
    pub(super) fn len(&self) -> usize {
        self.languages.len()
    }

    /// Whether `word` is among the most common of `language`.
    pub(super) fn is_common(&self, language: usize, word: &str) -> bool {
        self.languages[language].1.contains(word)
    }

    /// The language of a text, given how many of its words are common in each language.
    pub(super) fn of_text(common: &[u32]) -> usize {
        let mut best = 0;
        for (language, &count) in common.iter().enumerate() {
            if count > common[best] {
                best = language;
            }
        }
        best
    }

    /// Appends the stem of `word` to `out`; a word that has no stem, or an empty one, stands for itself.
    pub(super) fn push_stem(&self, language: usize, word: &str, out: &mut String) {
        let stem = self.languages.get(language).map(|rules| rules.0.stem(word));
        out.push_str(stem.as_deref().filter(|stem| !stem.is_empty()).unwrap_or(word));
    }
}

/// What tells the language of a text: which of its words are common in which language.
#[derive(Debug)]
pub(super) struct Languages {
    count: usize,
    /// One bit for each language; empty if there is at most one.
    common: Vec<u32>,
}

impl Languages {
    /// For texts that are made of `words`.
    pub(super) fn new(words: &NameTable, stemmers: &Stemmers) -> Self {
        let count = stemmers.len();
        let common = |word: &str| {
            (0..count).fold(0u32, |bits, language| {
                bits | u32::from(stemmers.is_common(language, word)) << language
            })
        };
        let common = if count > 1 {
            words.iter().map(common).collect()
        } else {
            Vec::new()
        };
        Self { count, common }
    }

    /// Memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.common.len() * 4
    }

    /// The number of a text's language, by the common words that it holds.
    pub(super) fn of_text(&self, text: &[u32]) -> usize {
        if self.common.is_empty() {
            return 0;
        }
        let mut counts = [0u32; 32];
        for &word in text {
            let bits = self.common[word as usize];
            if bits != 0 {
                for (language, count) in counts.iter_mut().enumerate() {
                    *count += bits >> language & 1;
                }
            }
        }
        Stemmers::of_text(&counts[..self.count])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str =
        "the history of the church and its buildings in the north of the country during the war";
    const GERMAN: &str =
        "die Geschichte der Kirche und ihrer Gebäude im Norden des Landes während des Krieges";

    #[test]
    fn languages_by_frequency() {
        let texts = |english: usize, german: usize| {
            std::iter::repeat_n(ENGLISH, english).chain(std::iter::repeat_n(GERMAN, german))
        };
        assert_eq!(detect(texts(3, 5)), [Language::German, Language::English]);
        assert_eq!(detect(texts(99, 1)), [Language::English]);
        assert_eq!(detect(["", "123", "x"]), []);
    }

    #[test]
    fn the_common_words_of_a_text_tell_its_language() {
        assert_eq!(Stemmers::of_text(&[1, 3, 3]), 1);
        assert_eq!(Stemmers::of_text(&[0, 0]), 0);
        let stemmers = Stemmers::new(&[Language::German, Language::English]);
        assert!(stemmers.is_common(1, "the") && !stemmers.is_common(0, "the"));
        let mut out = String::new();
        stemmers.push_stem(1, "churches", &mut out);
        assert_eq!(out, "church");
    }
}
