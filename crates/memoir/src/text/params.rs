//! What a user may choose about text, and the checked choice that a model keeps.

use rust_stemmers::Algorithm;
use serde::{Deserialize, Serialize};

use crate::params::{Kind, Parameters};
use crate::{Error, Result, choices, parameters};

parameters! {
    /// What a user may choose about how text becomes features.
    pub struct TextSettings {
        /// Count runs of up to this many words; 0 counts no words (then give char-ngrams)
        word_ngrams: u32 = "1" in Kind::Integer(0, 5);
        /// Also count runs of up to this many characters inside words; 0 counts none
        char_ngrams: u32 = "0" in Kind::Integer(0, 10);
        /// Shortest run of characters counted; auto is 3, or char-ngrams if that is less
        char_ngrams_from: Option<u32> = "auto" in Kind::Integer(1, 10);
        /// Ignore words that occur in fewer training rows than this
        min_df: u32 = "1" in Kind::Integer(1, MOST);
        /// Ignore words that occur in more than this share of the training rows
        max_df: f64 = "1" in Kind::Number(0.0, 1.0);
        /// Keep only this many words, those in the most training rows; 0 keeps all
        max_features: u32 = "0" in Kind::Integer(0, MOST);
        /// Reduce words to their stems by the rules of this language
        stem: Stem = "off";
        /// Ignore the most common words of this language
        stop_words: StopWords = "off";
    }
}

/// The largest count that a user can give.
const MOST: u64 = 4_000_000_000;

/// The most features a vocabulary may have: numbers are 32 bits wide, and the largest marks an empty slot.
pub(super) const MAX_FEATURES: u64 = u32::MAX as u64 - 1;

choices! {
    /// The language whose stemming rules apply, if any.
    #[allow(missing_docs)] // The names say it all.
    pub enum Stem {
        Off = "off",
        Arabic = "arabic",
        Danish = "danish",
        Dutch = "dutch",
        English = "english",
        Finnish = "finnish",
        French = "french",
        German = "german",
        Greek = "greek",
        Hungarian = "hungarian",
        Italian = "italian",
        Norwegian = "norwegian",
        Portuguese = "portuguese",
        Romanian = "romanian",
        Russian = "russian",
        Spanish = "spanish",
        Swedish = "swedish",
        Tamil = "tamil",
        Turkish = "turkish",
    }
}

choices! {
    /// The language whose most common words are ignored, if any.
    #[allow(missing_docs)] // The names say it all.
    pub enum StopWords {
        Off = "off",
        Danish = "danish",
        Dutch = "dutch",
        English = "english",
        Finnish = "finnish",
        French = "french",
        German = "german",
        Italian = "italian",
        Norwegian = "norwegian",
        Portuguese = "portuguese",
        Russian = "russian",
        Spanish = "spanish",
        Swedish = "swedish",
    }
}

/// A natural language with rules for stemming; some also have a list of stop words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The names say it all.
pub enum Language {
    Arabic,
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

/// Every language with its name on the command line and its stemming rules.
const LANGUAGES: &[(&str, Language, Algorithm)] = &[
    ("arabic", Language::Arabic, Algorithm::Arabic),
    ("danish", Language::Danish, Algorithm::Danish),
    ("dutch", Language::Dutch, Algorithm::Dutch),
    ("english", Language::English, Algorithm::English),
    ("finnish", Language::Finnish, Algorithm::Finnish),
    ("french", Language::French, Algorithm::French),
    ("german", Language::German, Algorithm::German),
    ("greek", Language::Greek, Algorithm::Greek),
    ("hungarian", Language::Hungarian, Algorithm::Hungarian),
    ("italian", Language::Italian, Algorithm::Italian),
    ("norwegian", Language::Norwegian, Algorithm::Norwegian),
    ("portuguese", Language::Portuguese, Algorithm::Portuguese),
    ("romanian", Language::Romanian, Algorithm::Romanian),
    ("russian", Language::Russian, Algorithm::Russian),
    ("spanish", Language::Spanish, Algorithm::Spanish),
    ("swedish", Language::Swedish, Algorithm::Swedish),
    ("tamil", Language::Tamil, Algorithm::Tamil),
    ("turkish", Language::Turkish, Algorithm::Turkish),
];

impl Language {
    /// The language called `name` (`english`).
    pub fn by_name(name: &str) -> Option<Self> {
        LANGUAGES
            .iter()
            .find(|entry| entry.0 == name)
            .map(|entry| entry.1)
    }

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    pub(super) fn stemming(self) -> Algorithm {
        self.entry().2
    }

    fn entry(self) -> &'static (&'static str, Language, Algorithm) {
        &LANGUAGES[self as usize]
    }
}

/// A checked choice of how text becomes features. Saved in the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextParams {
    /// Longest run of words counted; 0 for none.
    pub word_ngrams: u32,
    /// Longest run of characters counted; 0 for none.
    pub char_ngrams: u32,
    /// Shortest run of characters counted (meaningless while `char_ngrams` is 0).
    pub char_ngrams_from: u32,
    /// Fewest training rows a feature must occur in.
    pub min_df: u32,
    /// Largest share of training rows a feature may occur in.
    pub max_df: f64,
    /// Most features kept; 0 for all.
    pub max_features: u32,
    /// Language whose stemming rules apply.
    pub stem: Option<Language>,
    /// Language whose stop words are left out.
    pub stop_words: Option<Language>,
}

impl Default for TextParams {
    fn default() -> Self {
        Self::resolved(&TextSettings::default())
    }
}

impl TryFrom<&TextSettings> for TextParams {
    type Error = Error;

    fn try_from(settings: &TextSettings) -> Result<Self> {
        settings.check()?;
        let params = Self::resolved(settings);
        params.validate()?;
        Ok(params)
    }
}

impl TextParams {
    /// Checks options given as text, by name; the table's defaults stand in for the rest.
    pub fn parse<'t>(given: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self> {
        (&TextSettings::parse(given)?).try_into()
    }

    fn resolved(settings: &TextSettings) -> Self {
        Self {
            word_ngrams: settings.word_ngrams,
            char_ngrams: settings.char_ngrams,
            char_ngrams_from: settings
                .char_ngrams_from
                .unwrap_or(settings.char_ngrams.clamp(1, 3)),
            min_df: settings.min_df,
            max_df: settings.max_df,
            max_features: settings.max_features,
            stem: Language::by_name(settings.stem.word()),
            stop_words: Language::by_name(settings.stop_words.word()),
        }
    }

    /// Checks what the single ranges cannot say, and the ranges again for parameters that come from a file.
    pub fn validate(&self) -> Result<()> {
        let mut settings = TextSettings {
            word_ngrams: self.word_ngrams,
            char_ngrams: self.char_ngrams,
            char_ngrams_from: Some(self.char_ngrams_from),
            min_df: self.min_df,
            max_df: self.max_df,
            max_features: self.max_features,
            ..TextSettings::default()
        };
        settings.set("stop-words", self.stop_words.map_or("off", Language::name))?;
        settings.check()?;
        if self.word_ngrams == 0 && self.char_ngrams == 0 {
            return Err(Error::Parameter(
                "`word-ngrams` and `char-ngrams` are both 0, so there would be nothing to count".to_owned(),
            ));
        }
        if self.char_ngrams > 0 && self.char_ngrams_from > self.char_ngrams {
            return Err(Error::Parameter(format!(
                "`char-ngrams-from` must be at most `char-ngrams`, which is {}, but is {}",
                self.char_ngrams, self.char_ngrams_from
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_listed_in_the_order_of_the_enum() {
        for (index, &(name, language, _)) in LANGUAGES.iter().enumerate() {
            assert_eq!(language as usize, index);
            assert_eq!(Language::by_name(name), Some(language));
            assert_eq!(language.name(), name);
            assert_eq!(Stem::ALL[index + 1].word(), name);
        }
    }

    #[test]
    fn every_offered_language_has_stop_words() {
        for choice in &StopWords::ALL[1..] {
            let language = Language::by_name(choice.word()).unwrap();
            assert!(
                super::super::stop_words::stop_words(language).is_some(),
                "{choice:?}"
            );
        }
    }

    #[test]
    fn automatic_shortest_character_run() {
        let from = |longest| {
            TextParams::parse([("char-ngrams", longest)])
                .unwrap()
                .char_ngrams_from
        };
        assert_eq!([from("0"), from("2"), from("5")], [1, 2, 3]);
    }

    #[test]
    fn combinations_are_checked() {
        let message = |given: &[(&'static str, &'static str)]| {
            TextParams::parse(given.iter().copied()).unwrap_err().to_string()
        };
        assert_eq!(
            message(&[("word-ngrams", "0")]),
            "`word-ngrams` and `char-ngrams` are both 0, so there would be nothing to count"
        );
        assert_eq!(
            message(&[("char-ngrams", "4"), ("char-ngrams-from", "5")]),
            "`char-ngrams-from` must be at most `char-ngrams`, which is 4, but is 5"
        );
        assert_eq!(
            message(&[("max-df", "2")]),
            "`max-df` must be a number from 0 to 1, but is `2`"
        );
    }

    #[test]
    fn ranges_hold_for_parameters_from_a_file_too() {
        let params = TextParams {
            word_ngrams: 1_000_000,
            ..TextParams::default()
        };
        assert!(params.validate().is_err());
        let params = TextParams {
            max_df: f64::NAN,
            ..TextParams::default()
        };
        assert!(params.validate().is_err());
        let params = TextParams {
            stop_words: Some(Language::Tamil),
            ..TextParams::default()
        };
        assert!(params.validate().is_err());
    }

    #[test]
    fn survives_serialisation() {
        let params = TextParams::parse([("stem", "english"), ("char-ngrams", "4")]).unwrap();
        let json = serde_json::to_string(&params).unwrap();
        assert!(json.contains("\"stem\":\"english\""));
        assert_eq!(serde_json::from_str::<TextParams>(&json).unwrap(), params);
    }
}
