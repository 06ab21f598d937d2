//! The arrays of a vocabulary in a model file, and how they are checked when it is opened.

use super::{ClassVocabulary, NONE};
use crate::Result;
use crate::model::{Tensor, TensorSource};

/// The text in the header of a model file that belongs to a vocabulary.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredVocabulary {
    /// Language tags, the preferred one first.
    languages: Vec<String>,
}

impl ClassVocabulary {
    /// What the header of a model file says of it.
    pub(crate) fn stored(&self) -> StoredVocabulary {
        StoredVocabulary {
            languages: self.languages.clone(),
        }
    }

    /// Its arrays by name.
    pub(crate) fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let mut tensors = vec![
            ("vocabulary.text", Tensor::U8(&self.text)),
            ("vocabulary.term_ends", Tensor::U32(&self.term_ends)),
            ("vocabulary.term_kinds", Tensor::U8(&self.term_kinds)),
            ("vocabulary.term_languages", Tensor::U8(&self.term_languages)),
            ("vocabulary.concept_ends", Tensor::U32(&self.concept_ends)),
            ("vocabulary.broader_ends", Tensor::U32(&self.broader_ends)),
            ("vocabulary.broader", Tensor::U32(&self.broader)),
            ("vocabulary.deprecated", Tensor::U8(&self.deprecated)),
            ("vocabulary.class_concepts", Tensor::U32(&self.class_concepts)),
        ];
        if !self.replaced_by.is_empty() {
            tensors.push(("vocabulary.replaced_by", Tensor::U32(&self.replaced_by)));
        }
        let named = tensors.into_iter();
        named.map(|(name, tensor)| (name.to_owned(), tensor)).collect()
    }

    /// Takes it from a model file of `classes` classes. Lengths and ends are checked here: with ends that
    /// fall, every concept could claim all terms. Other damage inside the arrays makes names unreadable and
    /// relations vanish later, never more.
    pub(crate) fn load(stored: StoredVocabulary, source: &dyn TensorSource, classes: usize) -> Result<Self> {
        let replaced_by = match source.element("vocabulary.replaced_by") {
            Some(_) => source.u32("vocabulary.replaced_by")?,
            None => Vec::new().into(),
        };
        let vocabulary = Self {
            languages: stored.languages,
            text: source.u8("vocabulary.text")?,
            term_ends: source.u32("vocabulary.term_ends")?,
            term_kinds: source.u8("vocabulary.term_kinds")?,
            term_languages: source.u8("vocabulary.term_languages")?,
            concept_ends: source.u32("vocabulary.concept_ends")?,
            broader_ends: source.u32("vocabulary.broader_ends")?,
            broader: source.u32("vocabulary.broader")?,
            deprecated: source.u8("vocabulary.deprecated")?,
            replaced_by,
            class_concepts: source.u32("vocabulary.class_concepts")?,
        };
        match vocabulary.check_lengths(classes) {
            Ok(()) => Ok(vocabulary),
            Err(message) => Err(source.invalid(message)),
        }
    }

    fn check_lengths(&self, classes: usize) -> std::result::Result<(), String> {
        let (concepts, terms) = (self.concept_ends.len(), self.term_ends.len());
        let lengths = [
            ("term_kinds", self.term_kinds.len(), terms, "terms"),
            ("term_languages", self.term_languages.len(), terms, "terms"),
            ("broader_ends", self.broader_ends.len(), concepts, "concepts"),
            ("deprecated", self.deprecated.len(), concepts, "concepts"),
            ("class_concepts", self.class_concepts.len(), classes, "classes"),
        ];
        for (name, found, expected, what) in lengths {
            if found != expected {
                return Err(format!(
                    "`vocabulary.{name}` has {found} elements for {expected} {what}"
                ));
            }
        }
        if !self.replaced_by.is_empty() && self.replaced_by.len() != concepts {
            let found = self.replaced_by.len();
            return Err(format!(
                "`vocabulary.replaced_by` has {found} elements for {concepts} concepts"
            ));
        }
        let ends = [
            ("term_ends", &self.term_ends, self.text.len(), "text"),
            ("concept_ends", &self.concept_ends, terms, "term_ends"),
            ("broader_ends", &self.broader_ends, self.broader.len(), "broader"),
        ];
        for (name, ends, expected, of) in ends {
            if ends.last().map_or(0, |&end| end as usize) != expected {
                return Err(format!(
                    "`vocabulary.{name}` does not end where `vocabulary.{of}` does"
                ));
            }
            if !ends.is_sorted() {
                return Err(format!("`vocabulary.{name}` does not rise"));
            }
        }
        Ok(())
    }

    /// Looks at everything stored: an error in words if something makes no sense.
    pub(crate) fn check_content(&self) -> std::result::Result<(), String> {
        if std::str::from_utf8(&self.text).is_err() {
            return Err("`vocabulary.text` is not UTF-8 text".to_owned());
        }
        let concepts = self.len() as u32;
        let numbers = [
            ("broader", &self.broader, false),
            ("replaced_by", &self.replaced_by, true),
            ("class_concepts", &self.class_concepts, true),
        ];
        for (name, array, none_allowed) in numbers {
            let fits = |&number: &u32| number < concepts || (none_allowed && number == NONE);
            if let Some(wrong) = array.iter().find(|number| !fits(number)) {
                return Err(format!(
                    "`vocabulary.{name}` names concept {wrong} of {concepts} concepts"
                ));
            }
        }
        Ok(())
    }
}
