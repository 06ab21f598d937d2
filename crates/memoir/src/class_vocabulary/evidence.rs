//! Texts about classes that training can learn from: names and other names. Definitions did harm: they made
//! classes of words that rows of many classes have.

use super::{ClassVocabulary, TermKind};

/// A text about a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassText {
    /// The class.
    pub(crate) class: u32,
    /// What the text is: [`TermKind::Name`] or [`TermKind::Alternative`].
    pub(crate) kind: TermKind,
    /// The text.
    pub(crate) text: String,
}

impl ClassVocabulary {
    /// The texts about all classes: for each language the preferred name, and the other names in one text.
    pub(crate) fn class_texts(&self) -> Vec<ClassText> {
        let mut texts: Vec<ClassText> = Vec::new();
        for class in 0..self.attached_classes() as u32 {
            let Some(concept) = self.concept_of_class(class) else {
                continue;
            };
            let start = texts.len();
            let mut last = None;
            for term in self.terms(concept) {
                let kind = match term.kind {
                    TermKind::Id | TermKind::Notation | TermKind::Definition => continue,
                    TermKind::Hidden => TermKind::Alternative,
                    kind => kind,
                };
                let goes_on = last == Some((kind, term.language)) && kind == TermKind::Alternative;
                if let Some(text) = texts.last_mut().filter(|_| goes_on) {
                    // Other names of a language are one text: a class with many of them must not outweigh
                    // its rows.
                    text.text.push(' ');
                    text.text.push_str(term.text);
                } else if texts[start..].iter().all(|known| known.text != term.text) {
                    texts.push(ClassText {
                        class,
                        kind,
                        text: term.text.to_owned(),
                    });
                } else {
                    continue;
                }
                last = Some((kind, term.language));
            }
        }
        texts
    }
}
