//! A vocabulary before the classes are known that it is for.

use super::{BuilderOptions, ClassVocabulary, Defects, HierarchyRule, TermKind, VocabularyBuilder};
use crate::Result;
use crate::dataset::ClassNames;

/// A vocabulary that still has to be matched with the classes of a model or of training data.
#[derive(Debug, Clone)]
pub enum UnmatchedVocabulary {
    /// One that was read, and what was found wrong with it.
    Read(Box<ClassVocabulary>, Defects),
    /// One to be made from the labels of the classes.
    Labels {
        /// Whether labels are names too, and not only codes.
        names: bool,
        /// How labels tell broader ones.
        rule: Option<HierarchyRule>,
    },
}

impl UnmatchedVocabulary {
    /// The vocabulary for `classes`, and all that is wrong with it.
    pub fn for_classes(self, classes: &ClassNames) -> Result<(ClassVocabulary, Defects)> {
        let (mut vocabulary, mut defects) = match self {
            Self::Read(vocabulary, defects) => (*vocabulary, defects),
            Self::Labels { names, rule } => from_labels(classes, names, rule.as_ref())?,
        };
        vocabulary.attach(classes, &mut defects);
        Ok((vocabulary, defects))
    }
}

fn from_labels(
    classes: &ClassNames,
    names: bool,
    rule: Option<&HierarchyRule>,
) -> Result<(ClassVocabulary, Defects)> {
    let mut builder = VocabularyBuilder::new();
    for label in classes.iter() {
        let concept = builder.concept(label);
        builder.describe(concept);
        if names {
            builder.term(concept, TermKind::Name, "", label)?;
        }
    }
    if let Some(rule) = rule {
        rule.apply(&mut builder)?;
    }
    builder.finish(&BuilderOptions::default())
}
