//! What a user may choose about text, and the checked choice that a model keeps.

use rust_stemmers::Algorithm;
use serde::{Deserialize, Serialize};

use super::blocks::Blocks;
use super::columns::TextColumn;
use super::views::parse_views;
use crate::params::{Kind, Parameters};
use crate::{Error, Result, choices, parameters};

parameters! {
    /// What a user may choose about how text becomes features.
    pub struct TextSettings {
        /// Blocks of features with their weights, a `/` between those that are learned from apart and
        /// averaged; auto: chosen by held-out rows
        blocks: Option<String> = "auto" in Kind::Text("words,pairs:0.5/stems,chars4");
        /// Languages whose rules stems follow; auto: detected
        languages: Option<String> = "auto" in Kind::Text("german,english");
        /// Ready choice of features: words in one block; auto: blocks
        text_preset: Option<TextPreset> = "auto";
        /// One block: count runs of up to this many words; 0 counts no words (then give char-ngrams); auto
        /// is 1
        word_ngrams: Option<u32> = "auto" in Kind::Integer(0, 5);
        /// One block: also count runs of up to this many characters inside words; auto is 0, which counts
        /// none
        char_ngrams: Option<u32> = "auto" in Kind::Integer(0, 10);
        /// One block: shortest run of characters counted; auto is 3, or char-ngrams if that is less
        char_ngrams_from: Option<u32> = "auto" in Kind::Integer(1, 10);
        /// Ignore words that occur in fewer training rows than this
        min_df: u32 = "1" in Kind::Integer(1, MOST);
        /// Ignore words that occur in more than this share of the training rows
        max_df: f64 = "1" in Kind::Number(0.0, 1.0);
        /// Keep only this many words, those in the most training rows; 0 keeps all
        max_features: u32 = "0" in Kind::Integer(0, MOST);
        /// One block: reduce words to their stems by the rules of this language; auto is off
        stem: Option<Stem> = "auto";
        /// Ignore the most common words of this language
        stop_words: StopWords = "off";
    }
}

/// Most languages of one model.
pub(super) const MOST_LANGUAGES: usize = 8;

/// The largest count that a user can give.
const MOST: u64 = 4_000_000_000;

/// The most features a vocabulary may have: numbers are 32 bits wide, and the largest marks an empty slot.
pub(super) const MAX_FEATURES: u64 = u32::MAX as u64 - 1;

choices! {
    /// A ready choice of features.
    pub enum TextPreset {
        /// Words in one block.
        Words = "words",
    }
}

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
    /// The blocks of features; if empty there is one, of the runs of words and characters that the next
    /// three say.
    #[serde(default, skip_serializing_if = "Blocks::is_empty")]
    pub blocks: Blocks,
    /// Selections of the blocks that are learned from apart, and averaged; empty if all are learned from
    /// together. In answering they have no part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<Blocks>,
    /// Whether the blocks are yet to be chosen; until then there is one block of words.
    #[serde(skip)]
    pub automatic: bool,
    /// What was tried on held-out rows before the blocks were chosen, and how well they were answered; empty
    /// if the blocks were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// Languages whose stemming rules the blocks follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<Language>,
    /// Columns that texts are made of; empty if they are plain texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<TextColumn>,
    /// Weights that were chosen for columns by their names, before these are among `columns`.
    #[serde(skip)]
    pub column_weights: Vec<(String, f32)>,
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
    /// Language whose stemming rules the one block follows.
    pub stem: Option<Language>,
    /// Language whose stop words are left out.
    pub stop_words: Option<Language>,
}

/// Blocks that were tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The blocks, as users write them.
    pub blocks: String,
    /// How well held-out rows of a sample were answered: the mean of accuracy and NDCG@5.
    pub score: f64,
}

impl Default for TextParams {
    fn default() -> Self {
        (&TextSettings::default())
            .try_into()
            .expect("the defaults of the table are legal")
    }
}

impl TryFrom<&TextSettings> for TextParams {
    type Error = Error;

    fn try_from(settings: &TextSettings) -> Result<Self> {
        settings.check()?;
        let one_block = [
            ("text-preset", settings.text_preset.is_some()),
            ("word-ngrams", settings.word_ngrams.is_some()),
            ("char-ngrams", settings.char_ngrams.is_some()),
            ("char-ngrams-from", settings.char_ngrams_from.is_some()),
            ("stem", settings.stem.is_some()),
        ];
        let one_block = one_block.iter().find(|given| given.1).map(|given| given.0);
        if let (Some(name), true) = (one_block, settings.blocks.is_some()) {
            return Err(Error::Parameter(format!(
                "`blocks` and `{name}` cannot be given together: `{name}` is about one block of words and runs"
            )));
        }
        let (blocks, views) = match &settings.blocks {
            Some(list) => {
                let wrong = |reason| Error::Parameter(format!("`blocks` is wrong: {reason}"));
                parse_views(list).map_err(wrong)?
            }
            None => (Blocks::default(), Vec::new()),
        };
        let languages = match &settings.languages {
            Some(list) => list.split(',').map(named_language).collect::<Result<_>>()?,
            None => Vec::new(),
        };
        let char_ngrams = settings.char_ngrams.unwrap_or(0);
        let params = Self {
            automatic: one_block.is_none() && blocks.is_empty(),
            blocks,
            views,
            tried: Vec::new(),
            languages,
            columns: Vec::new(),
            column_weights: Vec::new(),
            word_ngrams: settings.word_ngrams.unwrap_or(1),
            char_ngrams,
            char_ngrams_from: settings.char_ngrams_from.unwrap_or(char_ngrams.clamp(1, 3)),
            min_df: settings.min_df,
            max_df: settings.max_df,
            max_features: settings.max_features,
            stem: settings.stem.and_then(|stem| Language::by_name(stem.word())),
            stop_words: Language::by_name(settings.stop_words.word()),
        };
        params.validate()?;
        Ok(params)
    }
}

fn named_language(name: &str) -> Result<Language> {
    let name = name.trim();
    Language::by_name(name).ok_or_else(|| {
        let known: Vec<_> = LANGUAGES.iter().map(|entry| entry.0).collect();
        Error::Parameter(format!(
            "`languages` names `{name}`, but must be of {}",
            known.join(", ")
        ))
    })
}

impl TextParams {
    /// Checks options given as text, by name; the table's defaults stand in for the rest.
    pub fn parse<'t>(given: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self> {
        (&TextSettings::parse(given)?).try_into()
    }

    /// Checks what the single ranges cannot say, and the ranges again for parameters that come from a file.
    pub fn validate(&self) -> Result<()> {
        let mut settings = TextSettings {
            word_ngrams: Some(self.word_ngrams),
            char_ngrams: Some(self.char_ngrams),
            char_ngrams_from: Some(self.char_ngrams_from),
            min_df: self.min_df,
            max_df: self.max_df,
            max_features: self.max_features,
            ..TextSettings::default()
        };
        settings.set("stop-words", self.stop_words.map_or("off", Language::name))?;
        settings.check()?;
        if self.languages.len() > MOST_LANGUAGES {
            return Err(Error::Parameter(format!(
                "`languages` must be at most {MOST_LANGUAGES}, but are {}",
                self.languages.len()
            )));
        }
        if !self.blocks.is_empty() {
            return Ok(());
        }
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
mod tests;
