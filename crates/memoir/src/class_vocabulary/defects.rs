//! What is wrong with a vocabulary: counted, with the first few of each kind, so that a user can mend it.

use std::fmt;

/// How many cases of each kind are named.
const NAMED: usize = 5;

/// A way in which a vocabulary can be wrong. None of them keeps it from being used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Defect {
    /// A concept is described twice under one id; the descriptions are joined.
    RepeatedId,
    /// A broader concept is not described anywhere; the relation is dropped.
    MissingBroader,
    /// Broader concepts lead back to where they began; one relation of each such cycle is dropped.
    Cycle,
    /// A concept is replaced by one that is not described; the replacement is dropped.
    MissingReplacement,
    /// A class of the data has no concept.
    UnknownClass,
    /// A class of the data fits several concepts, by their notation or name; it gets none.
    AmbiguousClass,
    /// A class of the data stands for a concept that should no longer be used.
    DeprecatedClass,
}

impl Defect {
    const ALL: [Self; 7] = [
        Self::RepeatedId,
        Self::MissingBroader,
        Self::Cycle,
        Self::MissingReplacement,
        Self::UnknownClass,
        Self::AmbiguousClass,
        Self::DeprecatedClass,
    ];

    /// What happened to one case, and to several.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::RepeatedId => ("id is described twice", "ids are described more than once"),
            Self::MissingBroader => ("broader concept is missing", "broader concepts are missing"),
            Self::Cycle => (
                "concept is broader than itself",
                "concepts are broader than themselves",
            ),
            Self::MissingReplacement => ("replacement is missing", "replacements are missing"),
            Self::UnknownClass => (
                "class of the data is not in the vocabulary",
                "classes of the data are not in the vocabulary",
            ),
            Self::AmbiguousClass => (
                "class of the data fits several concepts",
                "classes of the data fit several concepts",
            ),
            Self::DeprecatedClass => (
                "class of the data is deprecated",
                "classes of the data are deprecated",
            ),
        }
    }
}

/// The defects of a vocabulary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defects {
    counts: [u64; Defect::ALL.len()],
    named: [Vec<String>; Defect::ALL.len()],
}

impl Defects {
    pub(super) fn add(&mut self, defect: Defect, name: impl FnOnce() -> String) {
        let index = defect as usize;
        self.counts[index] += 1;
        if self.named[index].len() < NAMED {
            self.named[index].push(name());
        }
    }

    /// How many cases of `defect` there are.
    pub fn count(&self, defect: Defect) -> u64 {
        self.counts[defect as usize]
    }

    /// The first few cases of `defect`.
    pub fn first(&self, defect: Defect) -> &[String] {
        &self.named[defect as usize]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|&count| count == 0)
    }

    /// One line for each kind of defect that occurs, with its first few cases.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let occurring = Defect::ALL.into_iter().filter(|&defect| self.count(defect) > 0);
        occurring.map(|defect| {
            let count = self.count(defect);
            let (one, several) = defect.words();
            let words = if count == 1 { one } else { several };
            let more = if count > NAMED as u64 { ", …" } else { "" };
            format!("{count} {words}: {}{more}", self.first(defect).join(", "))
        })
    }
}

impl fmt::Display for Defects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.lines().collect();
        f.write_str(&lines.join("; "))
    }
}
