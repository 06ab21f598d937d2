//! Finds concepts by what people type: a name, a synonym, the beginning of a word, a code.
//!
//! All names lie in one buffer in their folded form (NFKC, lower case), and a query looks for its words in
//! it as plain substrings: some milliseconds for 200,000 classes, without an index to build or store.

use memchr::memmem;

use super::{ClassVocabulary, TermKind};
use crate::text::fold;

/// How well a concept fits a query, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchKind {
    /// A term is the query.
    Whole,
    /// A term begins with the query.
    Beginning,
    /// Every word of the query begins a word of a term.
    Words,
    /// Every word of the query is somewhere in a term.
    Inside,
}

/// A concept that fits a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'v> {
    /// The concept.
    pub concept: u32,
    /// How well it fits.
    pub kind: MatchKind,
    /// What the term is by which it was found.
    pub term: TermKind,
    /// That term.
    pub text: &'v str,
}

/// The names of a vocabulary, ready to be searched many times.
#[derive(Debug)]
pub struct VocabularySearch<'v> {
    vocabulary: &'v ClassVocabulary,
    /// The searchable terms in folded form, each followed by a line break.
    folded: String,
    /// Where each ends in `folded`, behind its line break.
    ends: Vec<u32>,
    /// Concept and number of the term behind each.
    terms: Vec<(u32, u32)>,
}

impl<'v> VocabularySearch<'v> {
    /// Makes the names of `vocabulary` ready. With `classes` only concepts that are classes are found.
    pub fn new(vocabulary: &'v ClassVocabulary, only_classes: bool) -> Self {
        let mut wanted = vec![!only_classes; vocabulary.len()];
        for class in 0..vocabulary.attached_classes() as u32 {
            if let Some(concept) = vocabulary.concept_of_class(class) {
                wanted[concept as usize] = true;
            }
        }
        let mut search = Self {
            vocabulary,
            folded: String::new(),
            ends: Vec::new(),
            terms: Vec::new(),
        };
        let searchable = |kind: TermKind| kind != TermKind::Definition;
        for concept in (0..vocabulary.len() as u32).filter(|&concept| wanted[concept as usize]) {
            let found = vocabulary.terms(concept).enumerate();
            for (number, term) in found.filter(|(_, term)| searchable(term.kind)) {
                fold(term.text, &mut search.folded);
                search.folded.push('\n');
                search.ends.push(search.folded.len() as u32);
                search.terms.push((concept, number as u32));
            }
        }
        search
    }

    /// The concepts that fit `query`, best first, at most `most` of them. Among equally good ones preferred
    /// names come before others, and short ones before long ones.
    pub fn find(&self, query: &str, most: usize) -> Vec<Found<'v>> {
        let mut folded = String::new();
        fold(query.trim(), &mut folded);
        let words: Vec<&str> = folded.split_whitespace().collect();
        let Some(longest) = words.iter().max_by_key(|word| word.len()) else {
            return Vec::new();
        };
        // (kind of match, kind of term, length, place): sorts as wanted.
        let mut hits: Vec<(MatchKind, TermKind, u32, usize)> = Vec::new();
        let finder = memmem::Finder::new(longest.as_bytes());
        let mut from = 0;
        while let Some(at) = finder.find(&self.folded.as_bytes()[from..]) {
            let term_index = self.ends.partition_point(|&end| end as usize <= from + at);
            let start = if term_index == 0 {
                0
            } else {
                self.ends[term_index - 1] as usize
            };
            let end = self.ends[term_index] as usize;
            from = end;
            let text = self.folded[start..end].trim_end_matches('\n');
            if let (Some(kind), Some(term)) = (compare(text, &folded, &words), self.term(term_index)) {
                hits.push((kind, term.kind, text.len() as u32, term_index));
            }
        }
        hits.sort_unstable();
        let mut found: Vec<Found<'v>> = Vec::new();
        let mut taken = rustc_hash::FxHashSet::default();
        for (kind, term_kind, _, term_index) in hits {
            let (concept, _) = self.terms[term_index];
            if found.len() == most {
                break;
            }
            if taken.insert(concept)
                && let Some(term) = self.term(term_index)
            {
                found.push(Found {
                    concept,
                    kind,
                    term: term_kind,
                    text: term.text,
                });
            }
        }
        found
    }

    fn term(&self, term_index: usize) -> Option<super::Term<'v>> {
        let &(concept, number) = self.terms.get(term_index)?;
        self.vocabulary.terms(concept).nth(number as usize)
    }
}

/// How the folded `text` fits the folded query and its words.
fn compare(text: &str, query: &str, words: &[&str]) -> Option<MatchKind> {
    if text == query {
        return Some(MatchKind::Whole);
    }
    if text.starts_with(query) {
        return Some(MatchKind::Beginning);
    }
    let begins_a_word = |word: &str| {
        let mut matches = text.match_indices(word);
        matches.any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
    };
    if words.iter().all(|word| begins_a_word(word)) {
        return Some(MatchKind::Words);
    }
    words
        .iter()
        .all(|word| text.contains(word))
        .then_some(MatchKind::Inside)
}
