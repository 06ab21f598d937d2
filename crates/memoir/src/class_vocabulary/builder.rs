//! Puts a vocabulary together from descriptions that come in any order.

use super::cycles::remove_cycles;
use super::{ClassVocabulary, Defect, Defects, NONE, TermKind, speaks};
use crate::dataset::ClassNames;
use crate::{Error, Result};

/// Most languages that a vocabulary can have.
const MOST_LANGUAGES: usize = 255;

/// What is kept of a vocabulary.
#[derive(Debug, Clone, Default)]
pub struct BuilderOptions {
    /// Languages to keep, the preferred one first; none: all of them, the one with the most names first.
    /// Terms without a language stay, and so does the first name of a concept that has none in these
    /// languages.
    pub languages: Vec<String>,
}

/// Gathers concepts, in any order, for a [`ClassVocabulary`].
#[derive(Debug, Default)]
pub struct VocabularyBuilder {
    ids: ClassNames,
    /// Whether each concept was described, or only mentioned.
    described: Vec<bool>,
    excluded: Vec<bool>,
    deprecated: Vec<u8>,
    languages: ClassNames,
    text: String,
    terms: Vec<RawTerm>,
    broader: Vec<(u32, u32)>,
    replaced_by: Vec<(u32, u32)>,
    defects: Defects,
}

#[derive(Debug, Clone, Copy)]
struct RawTerm {
    concept: u32,
    start: u32,
    end: u32,
    language: u16,
    kind: TermKind,
}

impl VocabularyBuilder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The concept called `id`, new or known. It must be described by [`VocabularyBuilder::describe`] to
    /// stay.
    pub fn concept(&mut self, id: &str) -> u32 {
        let concept = self.ids.intern(id);
        if concept as usize == self.described.len() {
            self.described.push(false);
            self.excluded.push(false);
            self.deprecated.push(0);
        }
        concept
    }

    /// Says that the concept is there in its own right. Returns whether that was said before.
    pub fn describe(&mut self, concept: u32) -> bool {
        std::mem::replace(&mut self.described[concept as usize], true)
    }

    /// Notes that the source describes `concept` twice.
    pub fn note_repeated(&mut self, concept: u32) {
        let name = self.ids.name(concept).to_owned();
        self.defects.add(Defect::RepeatedId, || name);
    }

    /// Says that what is described is no concept (a list of concepts, say).
    pub fn exclude(&mut self, concept: u32) {
        self.excluded[concept as usize] = true;
    }

    /// Adds a text about `concept`. Blank around it is dropped, and so is an empty one.
    pub fn term(&mut self, concept: u32, kind: TermKind, language: &str, text: &str) -> Result<()> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let start = self.text.len();
        self.text.push_str(text);
        let Ok(end) = u32::try_from(self.text.len()) else {
            return Err(Error::Parameter(
                "a vocabulary can hold 4 GiB of text, and this one has more; choose fewer languages"
                    .to_owned(),
            ));
        };
        let language = if language.is_empty() {
            0
        } else {
            let number = self.languages.intern(&language.to_ascii_lowercase()) + 1;
            u16::try_from(number).unwrap_or(u16::MAX)
        };
        self.terms.push(RawTerm {
            concept,
            start: start as u32,
            end,
            language,
            kind,
        });
        Ok(())
    }

    /// Says that `broader` is a broader concept of `concept`.
    pub fn broader(&mut self, concept: u32, broader: u32) {
        self.broader.push((concept, broader));
    }

    /// Says that `concept` should no longer be used.
    pub fn deprecate(&mut self, concept: u32) {
        self.deprecated[concept as usize] = 1;
    }

    /// Says that `by` replaces `concept`.
    pub fn replace(&mut self, concept: u32, by: u32) {
        self.replaced_by.push((concept, by));
    }

    /// A new concept for a code. Its id is the code, unless that is the id of something else: ids may be
    /// running numbers, and codes too.
    pub(super) fn concept_for_code(&mut self, code: &str) -> Result<u32> {
        let mut id = code.to_owned();
        while let Some(taken) = self.ids.find(&id)
            && self.described[taken as usize]
        {
            id.push('*');
        }
        let concept = self.concept(&id);
        self.describe(concept);
        if id != code {
            self.term(concept, TermKind::Notation, "", code)?;
        }
        Ok(concept)
    }

    /// The id and the notation of each described concept, to make relations from.
    pub(super) fn codes(&self) -> Vec<(u32, String)> {
        let mut codes: Vec<Option<&str>> = vec![None; self.ids.len()];
        for term in self.terms.iter().filter(|term| term.kind == TermKind::Notation) {
            let code = &mut codes[term.concept as usize];
            *code = code.or(Some(&self.text[term.start as usize..term.end as usize]));
        }
        let described = (0..self.ids.len() as u32).filter(|&concept| self.described[concept as usize]);
        described
            .map(|concept| {
                let code = codes[concept as usize].unwrap_or_else(|| self.ids.name(concept));
                (concept, code.to_owned())
            })
            .collect()
    }

    /// The vocabulary, and what was wrong with it.
    pub fn finish(mut self, options: &BuilderOptions) -> Result<(ClassVocabulary, Defects)> {
        if self.ids.len() >= NONE as usize {
            return Err(Error::Parameter("a vocabulary has too many concepts".to_owned()));
        }
        let numbers = self.number_concepts();
        let languages = self.order_languages(&numbers, options)?;
        let broader = self.relations(&numbers);
        let mut replaced_by = vec![NONE; broader.len()];
        for &(concept, by) in &self.replaced_by {
            let (from, to) = (numbers[concept as usize], numbers[by as usize]);
            if from != NONE && to != NONE {
                replaced_by[from as usize] = to;
            } else if from != NONE {
                let name = self.ids.name(by).to_owned();
                self.defects.add(Defect::MissingReplacement, || name);
            }
        }
        if replaced_by.iter().all(|&by| by == NONE) {
            replaced_by.clear();
        }
        let kept = |concept: usize| numbers[concept] != NONE;
        let deprecated: Vec<u8> = (0..self.ids.len())
            .filter(|&concept| kept(concept))
            .map(|concept| self.deprecated[concept])
            .collect();
        let mut ends = Vec::with_capacity(broader.len());
        let mut flat = Vec::new();
        for parents in broader {
            flat.extend(parents);
            ends.push(flat.len() as u32);
        }
        let mut vocabulary = self.lay_out(&numbers, languages, options)?;
        vocabulary.broader_ends = ends.into();
        vocabulary.broader = flat.into();
        vocabulary.deprecated = deprecated.into();
        vocabulary.replaced_by = replaced_by.into();
        Ok((vocabulary, self.defects))
    }

    /// New numbers of the concepts that stay.
    fn number_concepts(&self) -> Vec<u32> {
        let mut next = 0;
        let states = self.described.iter().zip(&self.excluded);
        let number = states.map(|(&described, &excluded)| {
            if described && !excluded {
                next += 1;
                next - 1
            } else {
                NONE
            }
        });
        number.collect()
    }

    /// The broader concepts of each concept that stays, without cycles.
    fn relations(&mut self, numbers: &[u32]) -> Vec<Vec<u32>> {
        let count = numbers.iter().filter(|&&number| number != NONE).count();
        let mut broader: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut reported = vec![false; numbers.len()];
        for &(concept, parent) in &self.broader {
            let (from, to) = (numbers[concept as usize], numbers[parent as usize]);
            if from == NONE {
                continue;
            }
            if to == NONE {
                let excluded = self.excluded[parent as usize];
                if !excluded && !std::mem::replace(&mut reported[parent as usize], true) {
                    let name = self.ids.name(parent).to_owned();
                    self.defects.add(Defect::MissingBroader, || name);
                }
            } else if !broader[from as usize].contains(&to) {
                broader[from as usize].push(to);
            }
        }
        for parents in &mut broader {
            parents.sort_unstable();
        }
        let removed = remove_cycles(&mut broader);
        if !removed.is_empty() {
            let kept = (0..numbers.len() as u32).filter(|&concept| numbers[concept as usize] != NONE);
            let olds: Vec<u32> = kept.collect();
            for (concept, _) in removed {
                let name = self.ids.name(olds[concept as usize]).to_owned();
                self.defects.add(Defect::Cycle, || name);
            }
        }
        broader
    }

    /// The language tags in order of preference, as numbers of `self.languages`.
    fn order_languages(&self, numbers: &[u32], options: &BuilderOptions) -> Result<Vec<u32>> {
        let mut names = vec![0u64; self.languages.len()];
        for term in &self.terms {
            if term.kind == TermKind::Name && numbers[term.concept as usize] != NONE && term.language > 0 {
                names[usize::from(term.language) - 1] += 1;
            }
        }
        let mut order: Vec<u32> = (0..self.languages.len() as u32).collect();
        let preference = |language: u32| {
            let tag = self.languages.name(language);
            let wanted = options.languages.iter();
            wanted
                .clone()
                .position(|wanted| speaks(tag, wanted))
                .unwrap_or(wanted.len())
        };
        order.sort_by_key(|&language| {
            (
                preference(language),
                std::cmp::Reverse(names[language as usize]),
                self.languages.name(language),
            )
        });
        if order.len() > MOST_LANGUAGES {
            return Err(Error::Parameter(format!(
                "a vocabulary can have {MOST_LANGUAGES} languages, and this one has {}: choose some of them",
                order.len()
            )));
        }
        Ok(order)
    }

    /// Terms in the order of their concepts, in flat arrays.
    fn lay_out(
        &mut self,
        numbers: &[u32],
        order: Vec<u32>,
        options: &BuilderOptions,
    ) -> Result<ClassVocabulary> {
        let mut ranks = vec![0u8; order.len() + 1];
        for (rank, &language) in order.iter().enumerate() {
            ranks[language as usize + 1] = rank as u8 + 1;
        }
        let wanted_ranks = if options.languages.is_empty() {
            order.len()
        } else {
            let tags = order.iter().map(|&language| self.languages.name(language));
            let wanted = |tag: &str| options.languages.iter().any(|language| speaks(tag, language));
            tags.take_while(|tag| wanted(tag)).count()
        };
        let terms = &mut self.terms;
        terms.retain(|term| numbers[term.concept as usize] != NONE);
        // Stable, so that of several terms the source's first one comes first.
        terms.sort_by_key(|term| {
            let rank = ranks[usize::from(term.language)];
            (numbers[term.concept as usize], term.kind, rank)
        });
        let mut text = Vec::with_capacity(self.text.len());
        let (mut term_ends, mut kinds, mut languages) = (Vec::new(), Vec::new(), Vec::new());
        let mut concept_ends = Vec::new();
        let mut push = |bytes: &[u8], kind: TermKind, rank: u8| {
            text.extend_from_slice(bytes);
            term_ends.push(u32::try_from(text.len()).ok()?);
            kinds.push(kind as u8);
            languages.push(rank);
            Some(term_ends.len() as u32)
        };
        let too_long =
            || Error::Parameter("a vocabulary can hold 4 GiB of text, and this one has more".to_owned());
        let mut rest = terms.as_slice();
        for (old, _) in numbers.iter().enumerate().filter(|(_, number)| **number != NONE) {
            let count = rest
                .iter()
                .take_while(|term| term.concept as usize == old)
                .count();
            let (own, others) = rest.split_at(count);
            rest = others;
            let mut end = push(self.ids.name(old as u32).as_bytes(), TermKind::Id, 0);
            let is_wanted = |term: &RawTerm| usize::from(ranks[usize::from(term.language)]) <= wanted_ranks;
            let has_name = own
                .iter()
                .any(|term| term.kind == TermKind::Name && is_wanted(term));
            let mut borrowed = has_name;
            let mut last: Option<(TermKind, u8, &str)> = None;
            for term in own {
                let rank = ranks[usize::from(term.language)];
                let content = &self.text[term.start as usize..term.end as usize];
                let borrow = !borrowed && term.kind == TermKind::Name;
                let repeated = last == Some((term.kind, rank, content));
                if repeated || !(is_wanted(term) || borrow) {
                    continue;
                }
                borrowed |= borrow;
                last = Some((term.kind, rank, content));
                end = push(content.as_bytes(), term.kind, rank);
            }
            concept_ends.push(end.ok_or_else(too_long)?);
        }
        Ok(ClassVocabulary {
            languages: order
                .iter()
                .map(|&language| self.languages.name(language).to_owned())
                .collect(),
            text: text.into(),
            term_ends: term_ends.into(),
            term_kinds: kinds.into(),
            term_languages: languages.into(),
            concept_ends: concept_ends.into(),
            broader_ends: Vec::new().into(),
            broader: Vec::new().into(),
            deprecated: Vec::new().into(),
            replaced_by: Vec::new().into(),
            class_concepts: Vec::new().into(),
        })
    }
}
