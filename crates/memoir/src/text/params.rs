//! What a user may choose about text: one table of names, defaults, ranges and help, and the checked choice.

use rust_stemmers::Algorithm;
use serde::{Deserialize, Serialize};

use crate::params::{Kind, Spec, Values};
use crate::{Error, Result};

/// The options of the text pipeline, as the command line and the Python package offer them.
pub const TEXT_PARAMS: &[Spec] = &[
    Spec {
        name: "word-ngrams",
        kind: Kind::Integer(0, 5),
        default: "1",
        help: "Count runs of up to this many words; 0 counts no words (then give char-ngrams)",
    },
    Spec {
        name: "char-ngrams",
        kind: Kind::Integer(0, 10),
        default: "0",
        help: "Also count runs of up to this many characters inside words; 0 counts none",
    },
    Spec {
        name: "char-ngrams-from",
        kind: Kind::Integer(1, 10),
        default: "auto",
        help: "Shortest run of characters counted; auto is 3, or char-ngrams if that is less",
    },
    Spec {
        name: "min-df",
        kind: Kind::Integer(1, u32::MAX as u64),
        default: "1",
        help: "Ignore words that occur in fewer training rows than this",
    },
    Spec {
        name: "max-df",
        kind: Kind::Number(0.0, 1.0),
        default: "1",
        help: "Ignore words that occur in more than this share of the training rows",
    },
    Spec {
        name: "max-features",
        kind: Kind::Integer(0, MAX_FEATURES),
        default: "0",
        help: "Keep only this many words, those in the most training rows; 0 keeps all",
    },
    Spec {
        name: "stem",
        kind: Kind::Choice(STEM_CHOICES),
        default: "off",
        help: "Reduce words to their stems by the rules of this language",
    },
    Spec {
        name: "stop-words",
        kind: Kind::Choice(STOP_WORD_CHOICES),
        default: "off",
        help: "Ignore the most common words of this language",
    },
];

/// The most features a vocabulary may have: numbers are 32 bits wide, and the largest marks an empty slot.
pub(super) const MAX_FEATURES: u64 = u32::MAX as u64 - 1;

const STEM_CHOICES: &[&str] = &[
    "off",
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
];

const STOP_WORD_CHOICES: &[&str] = &[
    "off",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "italian",
    "norwegian",
    "portuguese",
    "russian",
    "spanish",
    "swedish",
];

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
        Self::parse([]).expect("the defaults of the table are legal")
    }
}

impl TextParams {
    /// Checks options given as text, by name; the table's defaults stand in for the rest.
    pub fn parse<'t>(given: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self> {
        Self::from_values(&Values::check(TEXT_PARAMS, given)?)
    }

    /// Takes values that were checked against [`TEXT_PARAMS`].
    pub fn from_values(values: &Values) -> Result<Self> {
        let integer = |name| values.integer(name).unwrap_or(0) as u32;
        let language = |name| values.word(name).and_then(Language::by_name);
        let char_ngrams = integer("char-ngrams");
        let params = Self {
            word_ngrams: integer("word-ngrams"),
            char_ngrams,
            char_ngrams_from: values
                .integer("char-ngrams-from")
                .map_or(char_ngrams.clamp(1, 3), |from| from as u32),
            min_df: integer("min-df"),
            max_df: values.number("max-df").unwrap_or(1.0),
            max_features: integer("max-features"),
            stem: language("stem"),
            stop_words: language("stop-words"),
        };
        params.validate()?;
        Ok(params)
    }

    /// Checks what the single ranges cannot say, and the ranges again for parameters that come from a file.
    pub fn validate(&self) -> Result<()> {
        let check = |name: &str, value: String| {
            let spec = TEXT_PARAMS.iter().find(|spec| spec.name == name);
            spec.map_or(Ok(()), |spec| spec.parse(&value).map(|_| ()))
        };
        check("word-ngrams", self.word_ngrams.to_string())?;
        check("char-ngrams", self.char_ngrams.to_string())?;
        check("char-ngrams-from", self.char_ngrams_from.to_string())?;
        check("min-df", self.min_df.to_string())?;
        check("max-df", self.max_df.to_string())?;
        check("max-features", self.max_features.to_string())?;
        check(
            "stop-words",
            self.stop_words.map_or("off", Language::name).to_owned(),
        )?;
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
            assert_eq!(STEM_CHOICES[index + 1], name);
        }
    }

    #[test]
    fn every_offered_language_has_stop_words() {
        for name in &STOP_WORD_CHOICES[1..] {
            let language = Language::by_name(name).unwrap();
            assert!(super::super::stop_words::stop_words(language).is_some(), "{name}");
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
