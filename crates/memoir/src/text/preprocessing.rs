//! How raw input becomes the rows that a scorer sees: the text pipeline, the weighting, the constant
//! feature.

use std::borrow::Cow;

use super::analyzer::{Analyzer, AnalyzerScratch};
use super::columns::{TOKEN_OF, VALUE_OF};
use super::params::TextParams;
use super::parts::{OPENING_MARK, STEM_MARK};
use super::vocabulary::Vocabulary;
use super::weighting::Weighting;
use super::words::CHARACTER_MARK;
use crate::sparse::Rows;
use crate::{Cancel, Error, Result, Session};

/// How raw input becomes weighted rows. Fitted in training, saved in the model.
#[derive(Debug)]
pub struct Preprocessing {
    /// What the input is.
    pub input: Input,
    /// What is done to the values.
    pub weighting: Weighting,
}

/// What a model's input is.
#[derive(Debug)]
pub enum Input {
    /// Sparse vectors.
    Vectors {
        /// Number of features seen in training.
        features: usize,
        /// The number that the user's files give to the first feature: 1 in libsvm files, 0 in XMC files.
        first: u32,
    },
    /// Raw text.
    Text(Box<TextPipeline>),
}

/// From text to counts.
#[derive(Debug)]
pub struct TextPipeline {
    /// What the user chose.
    pub params: TextParams,
    /// Cuts text into tokens.
    pub analyzer: Analyzer,
    /// The tokens that are features.
    pub vocabulary: Vocabulary,
}

impl TextPipeline {
    /// The pipeline with these parameters and features.
    pub fn new(mut params: TextParams, vocabulary: Vocabulary) -> Result<Self> {
        // With a vocabulary there is nothing left to choose.
        params.automatic = false;
        let analyzer = Analyzer::new(&params)?;
        Ok(Self {
            params,
            analyzer,
            vocabulary,
        })
    }
}

/// Reusable memory of one thread that turns text into rows.
#[derive(Debug, Default)]
pub struct TextScratch {
    /// For the analyzer.
    pub analyzer: AnalyzerScratch,
    entries: Vec<(u32, f32)>,
}

impl TextScratch {
    /// As [`AnalyzerScratch::stopped_by`].
    pub fn stopped_by(cancel: &Cancel) -> Self {
        Self {
            analyzer: AnalyzerScratch::stopped_by(cancel),
            ..Self::default()
        }
    }
}

/// What text takes whatever the texts are: code, tables of characters, and the gaps that reading leaves
/// between small blocks of memory. Measured on the sets of the documentation.
pub(super) const TEXT_ITSELF: usize = 3 << 20;

impl Preprocessing {
    /// Width of the rows made: the features of the input, and the constant one if there is one.
    pub fn features(&self) -> usize {
        self.input_features() + usize::from(self.weighting.constant)
    }

    /// Memory that it takes, about.
    pub(crate) fn bytes(&self) -> u64 {
        self.file_bytes() + self.text().map_or(0, |_| TEXT_ITSELF as u64)
    }

    /// Size of its arrays in a model file, about.
    pub(crate) fn file_bytes(&self) -> u64 {
        let names = self.text().map_or(0, |text| text.vocabulary.memory());
        (names + self.features() * 8) as u64
    }

    /// Number of features of the input.
    pub fn input_features(&self) -> usize {
        match &self.input {
            Input::Vectors { features, .. } => *features,
            Input::Text(text) => text.vocabulary.len(),
        }
    }

    /// The text pipeline, if the input is text.
    pub fn text(&self) -> Option<&TextPipeline> {
        match &self.input {
            Input::Text(text) => Some(text),
            Input::Vectors { .. } => None,
        }
    }

    /// What feature `index` is called: a word, a number as in the user's files, or `constant`.
    pub fn feature_name(&self, index: u32) -> Cow<'_, str> {
        if self.weighting.constant && index as usize == self.input_features() {
            return "constant".into();
        }
        match &self.input {
            Input::Vectors { first, .. } => {
                format!("feature {}", u64::from(index) + u64::from(*first)).into()
            }
            Input::Text(text) => shown(text.vocabulary.name(index)),
        }
    }

    /// The block that feature `index` belongs to, if there are several.
    pub fn block_name(&self, index: u32) -> Option<String> {
        let block = usize::from(*self.weighting.block_of_feature.get(index as usize)?);
        self.text()?.params.block_name(block)
    }

    /// Appends the weighted row of `text` to `rows`. Words never seen in training are left out.
    pub fn text_row(&self, text: &str, scratch: &mut TextScratch, rows: &mut Rows) -> Result<()> {
        let Input::Text(pipeline) = &self.input else {
            return Err(Error::Mismatch(
                "this model was trained on vectors, but the input is text: give it feature:value pairs, or train a \
                 model on text"
                    .to_owned(),
            ));
        };
        let TextScratch { analyzer, entries } = scratch;
        entries.clear();
        pipeline.analyzer.tokens(text, analyzer, |token| {
            if let Some(feature) = pipeline.vocabulary.find(token) {
                entries.push((feature, 1.0));
            }
        });
        self.push_weighted(entries, rows);
        Ok(())
    }

    /// Appends the weighted row of the given features, in any order, to `rows` and empties `entries`.
    /// Features never seen in training are left out, values of a repeated feature added up.
    pub fn vector_row(&self, entries: &mut Vec<(u32, f32)>, rows: &mut Rows) -> Result<()> {
        let Input::Vectors { features, .. } = &self.input else {
            return Err(Error::Mismatch(
                "this model was trained on text, but the input is vectors: give it text, or train a model on vectors"
                    .to_owned(),
            ));
        };
        entries.retain(|entry| (entry.0 as usize) < *features);
        self.push_weighted(entries, rows);
        Ok(())
    }

    fn push_weighted(&self, entries: &mut Vec<(u32, f32)>, rows: &mut Rows) {
        rows.push_unsorted(entries);
        let (indices, values) = rows.row_mut(rows.len() - 1);
        self.weighting.apply(indices, values);
        if self.weighting.constant {
            rows.extend_last(self.input_features() as u32, 1.0);
        }
    }

    /// Turns raw training rows, whose width is that of the input, into weighted ones, in place and in
    /// parallel.
    pub fn apply_all(&self, rows: &mut Rows, session: &Session<'_>) -> Result<()> {
        self.weighting.apply_all(rows, session)?;
        if self.weighting.constant {
            rows.extend_all(self.input_features() as u32, 1.0);
        }
        Ok(())
    }
}

/// A token as people read it: without the marks of stems and of words that open a text, and with dots where
/// a run of characters goes on inside its word.
fn shown(token: &str) -> Cow<'_, str> {
    if let Some((column, value)) = token.split_once(VALUE_OF) {
        return format!("{column}={value}").into();
    }
    if let Some((column, token)) = token.split_once(TOKEN_OF) {
        return format!("{column}: {}", shown(token)).into();
    }
    if let Some(stem) = token.strip_prefix([STEM_MARK, OPENING_MARK]) {
        return stem.into();
    }
    let Some(run) = token.strip_prefix(CHARACTER_MARK) else {
        return token.into();
    };
    let goes_on = |at_end: bool| if at_end { "" } else { "…" };
    let (start, end) = (run.starts_with(' '), run.ends_with(' '));
    format!("{}{}{}", goes_on(start), run.trim_matches(' '), goes_on(end)).into()
}

#[cfg(test)]
mod tests {
    use crate::LabelSets;
    use crate::text::RowNeeds;

    use super::*;
    use crate::text::{CountedBlock, TextCounter, WeightingScheme};
    use std::num::NonZeroUsize;

    const TEXTS: [&str; 4] = ["red apple", "green apple", "Apple, apple!", "blue sky"];

    /// A text pipeline trained on [`TEXTS`], and its weighted training rows.
    fn trained(constant: bool) -> (Preprocessing, Rows) {
        let params = TextParams::default();
        let analyzer = Analyzer::new(&params).unwrap();
        let mut counter = TextCounter::new();
        counter.merge(CountedBlock::count(&analyzer, TEXTS)).unwrap();
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let mut features = counter.finish(&params, &session).unwrap();
        let mut rows = std::mem::take(&mut features.rows);
        let weighting = Weighting::fit(
            WeightingScheme::LogTfIdf,
            RowNeeds {
                constant,
                ..RowNeeds::default()
            },
            &rows,
            &LabelSets::new(),
        );
        let input = Input::Text(Box::new(features.pipeline().unwrap()));
        let preprocessing = Preprocessing { input, weighting };
        preprocessing.apply_all(&mut rows, &session).unwrap();
        (preprocessing, rows)
    }

    #[test]
    fn a_training_text_becomes_its_training_row() {
        for constant in [false, true] {
            let (preprocessing, expected) = trained(constant);
            let mut rows = Rows::new();
            let mut scratch = TextScratch::default();
            for text in TEXTS {
                preprocessing.text_row(text, &mut scratch, &mut rows).unwrap();
            }
            assert_eq!(rows, expected);
            assert_eq!(preprocessing.features(), 5 + usize::from(constant));
        }
    }

    #[test]
    fn unknown_words_vanish_and_the_constant_stays_one() {
        let (preprocessing, _) = trained(true);
        let mut rows = Rows::new();
        let mut scratch = TextScratch::default();
        preprocessing
            .text_row("purple SKY", &mut scratch, &mut rows)
            .unwrap();
        preprocessing.text_row("purple", &mut scratch, &mut rows).unwrap();
        assert_eq!(
            (rows.row(0).indices, rows.row(0).values),
            (&[4, 5][..], &[1.0, 1.0][..])
        );
        assert_eq!((rows.row(1).indices, rows.row(1).values), (&[5][..], &[1.0][..]));
        assert_eq!(preprocessing.feature_name(4), "sky");
        assert_eq!(preprocessing.feature_name(5), "constant");
    }

    #[test]
    fn vectors() {
        let mut training = Rows::new();
        training.push_unsorted(&mut vec![(0, 1.5), (2, 1.0)]);
        let preprocessing = Preprocessing {
            input: Input::Vectors {
                features: 3,
                first: 1,
            },
            weighting: Weighting::fit(
                WeightingScheme::Unit,
                RowNeeds {
                    constant: true,
                    ..RowNeeds::default()
                },
                &training,
                &LabelSets::new(),
            ),
        };
        let mut rows = Rows::new();
        let mut entries = vec![(2, 1.0), (9, 5.0), (0, 3.0), (2, 3.0), (3, 1.0)];
        preprocessing.vector_row(&mut entries, &mut rows).unwrap();
        assert!(entries.is_empty());
        assert_eq!(rows.row(0).indices, [0, 2, 3]);
        assert_eq!(rows.row(0).values, [0.6, 0.8, 1.0]);
        assert_eq!(preprocessing.feature_name(2), "feature 3");
        assert_eq!(preprocessing.feature_name(3), "constant");
    }

    #[test]
    fn the_wrong_kind_of_input_is_an_error() {
        let (text, _) = trained(false);
        let message = text
            .vector_row(&mut vec![(0, 1.0)], &mut Rows::new())
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("this model was trained on text, but the input is vectors"));
        let vectors = Preprocessing {
            input: Input::Vectors {
                features: 3,
                first: 0,
            },
            weighting: Weighting::fit(
                WeightingScheme::Raw,
                RowNeeds {
                    constant: false,
                    ..RowNeeds::default()
                },
                &Rows::new(),
                &LabelSets::new(),
            ),
        };
        let message = vectors
            .text_row("red", &mut TextScratch::default(), &mut Rows::new())
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("this model was trained on vectors, but the input is text"));
    }
}
