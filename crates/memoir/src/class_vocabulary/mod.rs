//! What the classes are called and how they are related: identifiers, notations, names in several languages,
//! synonyms, definitions, and broader concepts. Known to users as the vocabulary (a thesaurus, a
//! classification, a product tree).
//!
//! A vocabulary has *concepts*. Some of them are classes of the model, others are only their ancestors, or
//! nothing the model knows yet. Everything lies in flat arrays, so a model file holds a million concepts and
//! opens without reading more than where they end.

mod attach;
mod builder;
mod cycles;
mod defects;
mod evidence;
mod hierarchy;
mod rule;
mod search;
mod storage;
mod table;
mod unmatched;

use crate::sparse::Storage;

pub use builder::{BuilderOptions, VocabularyBuilder};
pub use defects::{Defect, Defects};
pub use hierarchy::{Hierarchy, NodeProbability};
pub use rule::HierarchyRule;
pub use search::{Found, MatchKind, VocabularySearch};
pub use table::read_table;
pub use unmatched::UnmatchedVocabulary;

/// The concept of a class that the vocabulary lacks, and the replacement of a concept that has none.
pub(crate) const NONE: u32 = u32::MAX;

/// Shown for a text that is damaged in the file.
const UNREADABLE: &str = "\u{FFFD}";

/// What a term says of its concept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TermKind {
    /// What identifies the concept: an IRI, a number, a code.
    Id = 0,
    /// A code that people write, such as `512.55`.
    Notation = 1,
    /// The preferred name in a language.
    Name = 2,
    /// Another name.
    Alternative = 3,
    /// A name to be found by but not shown, such as a frequent misspelling.
    Hidden = 4,
    /// What the concept means.
    Definition = 5,
}

impl TermKind {
    const ALL: [Self; 6] = [
        Self::Id,
        Self::Notation,
        Self::Name,
        Self::Alternative,
        Self::Hidden,
        Self::Definition,
    ];

    /// Whether the term is a name of any kind.
    pub fn is_name(self) -> bool {
        matches!(self, Self::Name | Self::Alternative | Self::Hidden)
    }
}

/// One text about a concept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term<'a> {
    /// What it says.
    pub kind: TermKind,
    /// Language tag, or empty if the source gave none.
    pub language: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Concepts with their terms and broader concepts, and which of them are classes of a model.
#[derive(Debug)]
pub struct ClassVocabulary {
    /// Language tags of the terms, the preferred one first. A term's language is one more than the index
    /// here; 0: none.
    languages: Vec<String>,
    /// All texts, one after the other.
    text: Storage<u8>,
    /// Where each term ends in `text`.
    term_ends: Storage<u32>,
    term_kinds: Storage<u8>,
    term_languages: Storage<u8>,
    /// Where the terms of each concept end; the first of them is its id.
    concept_ends: Storage<u32>,
    /// Where the broader concepts of each concept end in `broader`.
    broader_ends: Storage<u32>,
    broader: Storage<u32>,
    /// 1 for a concept that should no longer be used.
    deprecated: Storage<u8>,
    /// What replaces each concept, or [`NONE`]. Empty if nothing is replaced.
    replaced_by: Storage<u32>,
    /// The concept of each class, or [`NONE`].
    class_concepts: Storage<u32>,
}

impl Clone for ClassVocabulary {
    /// A copy in memory, also of what is mapped from a file.
    fn clone(&self) -> Self {
        Self {
            languages: self.languages.clone(),
            text: self.text.to_vec().into(),
            term_ends: self.term_ends.to_vec().into(),
            term_kinds: self.term_kinds.to_vec().into(),
            term_languages: self.term_languages.to_vec().into(),
            concept_ends: self.concept_ends.to_vec().into(),
            broader_ends: self.broader_ends.to_vec().into(),
            broader: self.broader.to_vec().into(),
            deprecated: self.deprecated.to_vec().into(),
            replaced_by: self.replaced_by.to_vec().into(),
            class_concepts: self.class_concepts.to_vec().into(),
        }
    }
}

/// The part of an array of ends that belongs to `index`; empty where a damaged file makes no sense.
fn part(ends: &[u32], index: u32) -> std::ops::Range<usize> {
    let index = index as usize;
    let Some(&end) = ends.get(index) else {
        return 0..0;
    };
    let start = match index.checked_sub(1) {
        Some(before) => ends[before],
        None => 0,
    };
    if start <= end {
        start as usize..end as usize
    } else {
        0..0
    }
}

impl ClassVocabulary {
    /// Number of concepts.
    pub fn len(&self) -> usize {
        self.concept_ends.len()
    }

    /// Whether there are no concepts.
    pub fn is_empty(&self) -> bool {
        self.concept_ends.is_empty()
    }

    /// Number of terms of all concepts.
    pub fn term_count(&self) -> usize {
        self.term_ends.len()
    }

    /// Number of relations to broader concepts.
    pub fn relation_count(&self) -> usize {
        self.broader.len()
    }

    /// The languages of the terms, the preferred one first.
    pub fn languages(&self) -> &[String] {
        &self.languages
    }

    /// Whether some concept has a broader one.
    pub fn has_hierarchy(&self) -> bool {
        !self.broader.is_empty()
    }

    /// Whether some concept has a name of any kind.
    pub fn has_names(&self) -> bool {
        self.term_kinds
            .iter()
            .any(|&kind| (TermKind::Name as u8..=TermKind::Hidden as u8).contains(&kind))
    }

    /// The terms of a concept: its id first, the others by kind and preferred language.
    pub fn terms(&self, concept: u32) -> impl Iterator<Item = Term<'_>> {
        part(&self.concept_ends, concept).filter_map(|term| self.term(term))
    }

    fn term(&self, term: usize) -> Option<Term<'_>> {
        let range = part(&self.term_ends, term as u32);
        let bytes = self.text.get(range)?;
        let kind = TermKind::ALL.get(*self.term_kinds.get(term)? as usize)?;
        let language = usize::from(*self.term_languages.get(term)?);
        Some(Term {
            kind: *kind,
            language: language
                .checked_sub(1)
                .and_then(|index| self.languages.get(index))
                .map_or("", String::as_str),
            text: std::str::from_utf8(bytes).unwrap_or(UNREADABLE),
        })
    }

    /// What identifies the concept.
    pub fn id(&self, concept: u32) -> &str {
        self.first(concept, TermKind::Id).unwrap_or(UNREADABLE)
    }

    /// The code that people write for the concept.
    pub fn notation(&self, concept: u32) -> Option<&str> {
        self.first(concept, TermKind::Notation)
    }

    /// What the concept means, in the preferred language.
    pub fn definition(&self, concept: u32) -> Option<&str> {
        self.first(concept, TermKind::Definition)
    }

    /// The preferred name in the preferred language that has one.
    pub fn name(&self, concept: u32) -> Option<&str> {
        self.first(concept, TermKind::Name)
    }

    /// The preferred name in the first of `languages` that has one, or in any.
    pub fn name_in(&self, concept: u32, languages: &[String]) -> Option<&str> {
        let in_language = |language: &String| {
            let mut names = self.terms(concept).filter(|term| term.kind == TermKind::Name);
            names.find(|term| speaks(term.language, language))
        };
        match languages.iter().find_map(in_language) {
            Some(term) => Some(term.text),
            None => self.name(concept),
        }
    }

    fn first(&self, concept: u32, kind: TermKind) -> Option<&str> {
        let mut terms = self.terms(concept);
        terms.find(|term| term.kind == kind).map(|term| term.text)
    }

    /// The broader concepts of a concept.
    pub fn broader(&self, concept: u32) -> &[u32] {
        self.broader.get(part(&self.broader_ends, concept)).unwrap_or(&[])
    }

    /// Whether the concept should no longer be used.
    pub fn is_deprecated(&self, concept: u32) -> bool {
        self.deprecated.get(concept as usize) == Some(&1)
    }

    /// The concept that replaces this one.
    pub fn replaced_by(&self, concept: u32) -> Option<u32> {
        let by = *self.replaced_by.get(concept as usize)?;
        (by as usize).lt(&self.len()).then_some(by)
    }

    /// The concept that class `class` of the model stands for.
    pub fn concept_of_class(&self, class: u32) -> Option<u32> {
        let concept = *self.class_concepts.get(class as usize)?;
        (concept as usize).lt(&self.len()).then_some(concept)
    }

    /// Number of classes that have been matched with the vocabulary, whether or not it knows them.
    pub fn attached_classes(&self) -> usize {
        self.class_concepts.len()
    }
}

/// Whether a term tagged `tag` is in `language`: `en-GB` is in `en`.
fn speaks(tag: &str, language: &str) -> bool {
    let primary = tag.split('-').next().unwrap_or(tag);
    tag.eq_ignore_ascii_case(language) || primary.eq_ignore_ascii_case(language)
}

#[cfg(test)]
mod tests;
