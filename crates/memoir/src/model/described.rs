//! A model and its vocabulary: what classes are called in answers.

use super::Model;
use super::calibration::AnswerSets;
use crate::class_vocabulary::ClassVocabulary;
use crate::{Error, Result};

impl Model {
    /// Gives the model a vocabulary that was matched with its classes ([`ClassVocabulary::attach`]), in
    /// place of one that it may have.
    pub fn set_vocabulary(&mut self, vocabulary: ClassVocabulary) -> Result<()> {
        let (matched, classes) = (vocabulary.attached_classes(), self.classes.len());
        if matched != classes {
            return Err(Error::Mismatch(format!(
                "the vocabulary was matched with {matched} classes, but the model has {classes}"
            )));
        }
        self.vocabulary = Some(vocabulary);
        // Promises were made for the hierarchy that there was.
        if let Some(calibration) = &mut self.calibration {
            calibration.sets = calibration.sets.take().map(AnswerSets::of_classes);
        }
        Ok(())
    }

    /// What the vocabulary calls class `class`, in the first of `languages` that has a name, or in any.
    pub fn name_of_class(&self, class: u32, languages: &[String]) -> Option<&str> {
        let vocabulary = self.vocabulary.as_ref()?;
        vocabulary.name_in(vocabulary.concept_of_class(class)?, languages)
    }

    /// The code that people write for class `class`.
    pub fn notation_of_class(&self, class: u32) -> Option<&str> {
        let vocabulary = self.vocabulary.as_ref()?;
        vocabulary.notation(vocabulary.concept_of_class(class)?)
    }
}
