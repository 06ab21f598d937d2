//! Hierarchies that are written in the codes of the classes: `512.55` lies under `512`, `51` and `5`.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::VocabularyBuilder;
use crate::{Error, Result};

/// How the code of a class tells its broader classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HierarchyRule {
    /// The first so many letters and digits of a code are broader codes: `prefix:2,4,6`. Other characters
    /// are not counted.
    Prefix(Vec<usize>),
    /// Codes are paths: `separator:/`.
    Separator(String),
}

impl HierarchyRule {
    /// Reads `prefix:1,2,4` or `separator:/`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::Parameter(format!(
                "a hierarchy is `prefix:` with rising lengths, such as `prefix:2,4,6`, or `separator:` with what separates \
                 the parts of a path, such as `separator:/`, but is `{text}`"
            ))
        };
        match text.split_once(':') {
            Some(("prefix", lengths)) => {
                let lengths: Option<Vec<usize>> = lengths
                    .split(',')
                    .map(|length| length.trim().parse().ok())
                    .collect();
                let lengths = lengths.ok_or_else(wrong)?;
                if lengths.first().is_none_or(|&first| first == 0) || !lengths.is_sorted_by(|a, b| a < b) {
                    return Err(wrong());
                }
                Ok(Self::Prefix(lengths))
            }
            Some(("separator", separator)) if !separator.is_empty() => {
                Ok(Self::Separator(separator.to_owned()))
            }
            _ => Err(wrong()),
        }
    }

    /// The broader codes of `code`, the broadest first, without the code itself.
    pub fn broader_codes<'c>(&self, code: &'c str) -> Vec<&'c str> {
        let mut broader = Vec::new();
        match self {
            Self::Prefix(lengths) => {
                let counted = code.char_indices().filter(|(_, c)| c.is_alphanumeric());
                let ends: Vec<usize> = counted.map(|(at, c)| at + c.len_utf8()).collect();
                for &length in lengths.iter().filter(|&&length| length < ends.len()) {
                    broader.push(&code[..ends[length - 1]]);
                }
            }
            Self::Separator(separator) => {
                for (at, _) in code.match_indices(separator.as_str()) {
                    if !code[..at].trim().is_empty() {
                        broader.push(&code[..at]);
                    }
                }
            }
        }
        broader
    }

    /// Adds the relations that the codes of the concepts in `builder` tell, and concepts for codes that it
    /// lacks. The code of a concept is its notation, or its id if it has none.
    pub fn apply(&self, builder: &mut VocabularyBuilder) -> Result<()> {
        let codes = builder.codes();
        let mut concepts: FxHashMap<&str, u32> = FxHashMap::default();
        for (concept, code) in &codes {
            concepts.entry(code).or_insert(*concept);
        }
        for (concept, code) in &codes {
            let mut above: Option<u32> = None;
            for broader in self.broader_codes(code) {
                let number = match concepts.entry(broader) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => *new.insert(builder.concept_for_code(broader)?),
                };
                if let Some(above) = above.filter(|&above| above != number) {
                    builder.broader(number, above);
                }
                above = Some(number);
            }
            if let Some(above) = above.filter(|above| above != concept) {
                builder.broader(*concept, above);
            }
        }
        Ok(())
    }
}
