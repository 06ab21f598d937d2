//! Texts about classes, counted and weighted beside the rows: names that no row has must become features
//! too.

use crate::class_vocabulary::{ClassVocabulary, Defects, TermKind, UnmatchedVocabulary};
use crate::dataset::{ClassNames, Dataset, LabelSets};
use crate::sparse::Rows;
use crate::text::{Analyzer, CountedBlock, TextCounter};
use crate::{Error, Result};

/// A vocabulary for the classes of the examples.
#[derive(Debug, Clone)]
pub struct VocabularyRequest {
    /// The vocabulary.
    pub vocabulary: UnmatchedVocabulary,
    /// Whether concepts without an example become classes too.
    pub unseen_classes: bool,
    /// Whether a vocabulary with defects is an error.
    pub strict: bool,
}

impl From<UnmatchedVocabulary> for VocabularyRequest {
    /// Defects are told but no error, and only classes with examples are answers.
    fn from(vocabulary: UnmatchedVocabulary) -> Self {
        Self {
            vocabulary,
            unseen_classes: false,
            strict: false,
        }
    }
}

/// What a vocabulary says of the classes of training data.
#[derive(Debug)]
pub struct Described {
    /// The vocabulary, matched with the classes.
    pub vocabulary: ClassVocabulary,
    /// What was wrong with it.
    pub defects: Defects,
    /// Texts about classes; none where the examples are vectors.
    pub texts: ClassTexts,
}

/// Texts about classes as rows.
#[derive(Debug, Default)]
pub struct ClassTexts {
    /// The rows, weighted like the others.
    pub rows: Rows,
    /// The class and the kind of text of each.
    pub about: Vec<(u32, TermKind)>,
}

impl Described {
    /// Matches the vocabulary with `classes`, to which unseen ones are added if asked for.
    pub(super) fn new(request: VocabularyRequest, classes: &mut ClassNames) -> Result<Self> {
        let (mut vocabulary, defects) = request.vocabulary.for_classes(classes)?;
        if request.strict && !defects.is_empty() {
            return Err(Error::Mismatch(format!("the vocabulary has defects: {defects}")));
        }
        if request.unseen_classes {
            vocabulary.add_unseen_classes(classes);
        }
        Ok(Self {
            vocabulary,
            defects,
            texts: ClassTexts::default(),
        })
    }

    /// Counts the texts about classes behind those that `counter` has counted.
    pub(super) fn count(&mut self, analyzer: &Analyzer, counter: &mut TextCounter) -> Result<()> {
        let texts = self.vocabulary.class_texts();
        self.texts.about = texts.iter().map(|text| (text.class, text.kind)).collect();
        counter.merge(CountedBlock::count(analyzer, texts.iter().map(|text| &text.text)))
    }

    /// Number of texts that were counted.
    pub(super) fn counted_texts(&self) -> usize {
        self.texts.about.len()
    }

    /// Labels the texts, which are the last rows of `data`.
    pub(super) fn label(&self, data: &mut Dataset) {
        for &(class, _) in &self.texts.about {
            data.labels.push([class]);
        }
        if let Some(weights) = &mut data.weights {
            weights.resize(data.labels.len(), 1.0);
        }
    }

    /// Takes the texts, now weighted, out of `data`.
    pub(super) fn take_from(&mut self, data: &mut Dataset) {
        if self.texts.about.is_empty() {
            return;
        }
        let examples = data.rows.len() - self.texts.about.len();
        let width = data.rows.width();
        for index in examples..data.rows.len() {
            self.texts.rows.push(data.rows.row(index));
        }
        self.texts.rows.set_width(width);
        let (mut offsets, mut indices, mut values) = std::mem::take(&mut data.rows).into_parts();
        offsets.truncate(examples + 1);
        let entries = offsets[examples];
        indices.truncate(entries);
        values.truncate(entries);
        data.rows = Rows::from_parts(offsets, indices, values, width);
        let mut labels = LabelSets::new();
        for row in 0..examples {
            labels.push(data.labels.row(row).iter().copied());
        }
        data.labels = labels;
        if let Some(weights) = &mut data.weights {
            weights.truncate(examples);
        }
    }
}
