//! Finds the concept of each class of a model.

use super::{ClassVocabulary, Defect, Defects, NONE, TermKind};
use crate::dataset::ClassNames;

/// How a class was matched; a lower number is a better match.
#[derive(Clone, Copy)]
struct Match {
    rank: u8,
    concept: u32,
    ambiguous: bool,
}

/// The part of an IRI behind its last `/` or `#`: data often has `p10` for `http://www.yso.fi/onto/yso/p10`.
fn local_name(id: &str) -> Option<&str> {
    if !id.contains("://") {
        return None;
    }
    let (_, local) = id.rsplit_once(['/', '#'])?;
    (!local.is_empty()).then_some(local)
}

impl ClassVocabulary {
    /// Matches `classes` with concepts: by id, by the last part of an id that is an IRI, by notation, by
    /// preferred name, in this order. Between concepts that fit alike, one that is not deprecated wins; if
    /// several are left, the class gets none of them. Adds to `defects` which classes have no concept.
    pub fn attach(&mut self, classes: &ClassNames, defects: &mut Defects) {
        let mut matches: Vec<Option<Match>> = vec![None; classes.len()];
        for concept in 0..self.len() as u32 {
            let deprecated = u8::from(self.is_deprecated(concept));
            let mut offer = |key: &str, rank: u8| {
                let Some(class) = classes.find(key) else { return };
                let rank = 2 * rank + deprecated;
                match &mut matches[class as usize] {
                    Some(held) if held.rank < rank => {}
                    Some(held) if held.rank == rank => held.ambiguous |= held.concept != concept,
                    held => {
                        *held = Some(Match {
                            rank,
                            concept,
                            ambiguous: false,
                        });
                    }
                }
            };
            for term in self.terms(concept) {
                match term.kind {
                    TermKind::Id => {
                        offer(term.text, 0);
                        if let Some(local) = local_name(term.text) {
                            offer(local, 1);
                        }
                    }
                    TermKind::Notation => offer(term.text, 2),
                    TermKind::Name => offer(term.text, 3),
                    _ => {}
                }
            }
        }
        let mut concepts = Vec::with_capacity(classes.len());
        for (class, held) in (0u32..).zip(&matches) {
            let name = || classes.name(class).to_owned();
            let concept = match held {
                None => {
                    defects.add(Defect::UnknownClass, name);
                    NONE
                }
                Some(held) if held.ambiguous => {
                    defects.add(Defect::AmbiguousClass, name);
                    NONE
                }
                Some(held) => {
                    if self.is_deprecated(held.concept) {
                        let by = self.replaced_by(held.concept);
                        let by = by.map_or(String::new(), |by| format!(" (replaced by {})", self.id(by)));
                        defects.add(Defect::DeprecatedClass, || name() + &by);
                    }
                    held.concept
                }
            };
            concepts.push(concept);
        }
        self.class_concepts = concepts.into();
    }

    /// Makes classes of the concepts that are none yet and have a name, unless they are deprecated. A class
    /// is called what most classes so far are called: by id, by the last part of an id that is an IRI, by
    /// notation, or by name.
    pub(crate) fn add_unseen_classes(&mut self, classes: &mut ClassNames) {
        let mut votes = [0usize; 4];
        let mut is_class = vec![false; self.len()];
        for class in 0..self.attached_classes() as u32 {
            if let Some(concept) = self.concept_of_class(class) {
                is_class[concept as usize] = true;
                let keys = self.keys(concept);
                if let Some(key) = keys.iter().position(|key| *key == Some(classes.name(class))) {
                    votes[key] += 1;
                }
            }
        }
        let most = votes.iter().max().copied().unwrap_or(0);
        let preferred = votes.iter().position(|&count| count == most).unwrap_or(0);
        let mut concepts = self.class_concepts.to_vec();
        for concept in 0..self.len() as u32 {
            if is_class[concept as usize] || self.is_deprecated(concept) || self.name(concept).is_none() {
                continue;
            }
            let label = self.keys(concept)[preferred].unwrap_or_else(|| self.id(concept));
            let class = classes.intern(label);
            if class as usize == concepts.len() {
                concepts.push(concept);
            }
        }
        self.class_concepts = concepts.into();
    }

    /// What classes may call a concept, in the order of preference.
    fn keys(&self, concept: u32) -> [Option<&str>; 4] {
        let id = self.id(concept);
        [
            Some(id),
            local_name(id),
            self.notation(concept),
            self.name(concept),
        ]
    }

    /// A copy for a model that knows the same classes and perhaps more, which are matched as by
    /// [`ClassVocabulary::attach`].
    pub fn for_more_classes(&self, classes: &ClassNames) -> Self {
        let mut copy = self.clone();
        copy.attach(classes, &mut Defects::default());
        // A class that was renamed is still matched with what it stood for.
        let mut concepts = copy.class_concepts.to_vec();
        let known = self.class_concepts.len().min(concepts.len());
        concepts[..known].copy_from_slice(&self.class_concepts[..known]);
        copy.class_concepts = concepts.into();
        copy
    }

    /// Renumbers the classes: `olds` gives, for each class there is now, those that it was made of. It gets
    /// the concept of the first of them that has one.
    pub(crate) fn renumber_classes(&mut self, olds: &[Vec<u32>]) {
        let concept = |members: &Vec<u32>| {
            let mut known = members.iter().filter_map(|&class| self.concept_of_class(class));
            known.next().unwrap_or(NONE)
        };
        self.class_concepts = olds.iter().map(concept).collect::<Vec<u32>>().into();
    }
}
