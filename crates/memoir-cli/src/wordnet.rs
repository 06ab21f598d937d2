//! WordNet's database files: what a word means, and what it is a kind of.
//!
//! A line of `data.noun` or `data.verb` is `offset file kind words… pointers… | meaning`: the words preceded
//! by their number (hexadecimal), the pointers by theirs (decimal), four fields each. The pointers `@` and
//! `@i` lead to what the word is a kind, or an instance, of.

use std::collections::HashMap;

use anyhow::{Context as _, bail};
use xxhash_rust::xxh3::xxh3_64;

/// A meaning, and the name of what it is a kind of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    /// Unique within WordNet, and the same in every build of it: decides the part the row goes to.
    id: String,
    pub(crate) text: String,
    pub(crate) label: String,
}

/// Parts of a data set.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) train: Vec<Definition>,
    pub(crate) valid: Vec<Definition>,
    pub(crate) test: Vec<Definition>,
}

/// A line of a database file.
pub(crate) struct Entry<'a> {
    pub(crate) offset: &'a str,
    pub(crate) word: &'a str,
    /// All words of the meaning, the first of which is `word`.
    pub(crate) words: Vec<&'a str>,
    parent: Option<&'a str>,
    /// Everything that it is a kind, or an instance, of.
    pub(crate) parents: Vec<&'a str>,
    pub(crate) text: String,
}

/// Reads one database file; `kind` is its letter, such as `n`. Lines that begin with blanks are its licence.
pub(crate) fn parse(file: &str, kind: char, name: &str) -> anyhow::Result<Vec<Definition>> {
    let entries = entries(file, kind, name)?;
    let words: HashMap<_, _> = entries.iter().map(|entry| (entry.offset, entry.word)).collect();
    let mut definitions = Vec::new();
    for entry in &entries {
        let Some(parent) = entry.parent else { continue };
        let Some(word) = words.get(parent) else {
            bail!(
                "{name}: `{}` is a kind of {parent}, which is not there",
                entry.word
            );
        };
        if entry.text.is_empty() {
            continue;
        }
        definitions.push(Definition {
            id: format!("{kind}{}", entry.offset),
            text: entry.text.clone(),
            // Words have several meanings: the number keeps their classes apart.
            label: format!("{word}.{kind}.{parent}"),
        });
    }
    Ok(definitions)
}

/// The entries of a database file.
pub(crate) fn entries<'a>(file: &'a str, kind: char, name: &str) -> anyhow::Result<Vec<Entry<'a>>> {
    let lines = file
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with("  "));
    let entries = lines.map(|(number, line)| {
        entry(line, kind).map_err(|problem| anyhow::anyhow!("{name}:{}:1: {problem}", number + 1))
    });
    entries.collect()
}

fn entry(line: &str, kind: char) -> anyhow::Result<Entry<'_>> {
    let (head, meaning) = line
        .split_once(" | ")
        .context("expected ` | ` before the meaning")?;
    let fields: Vec<_> = head.split_ascii_whitespace().collect();
    let field = |index: usize| fields.get(index).copied().context("the line ends too early");
    let words = usize::from_str_radix(field(3)?, 16).context("expected the number of words")?;
    let start = 4 + 2 * words;
    let pointers: usize = field(start)?.parse().context("expected the number of pointers")?;
    let mut parents = Vec::new();
    for pointer in 0..pointers {
        let index = start + 1 + 4 * pointer;
        let is_parent = matches!(field(index)?, "@" | "@i");
        let target = field(index + 1)?;
        if is_parent && field(index + 2)?.starts_with(kind) {
            parents.push(target);
        }
    }
    Ok(Entry {
        offset: field(0)?,
        word: field(4)?,
        words: (0..words)
            .map(|word| field(4 + 2 * word))
            .collect::<anyhow::Result<_>>()?,
        parent: parents.first().copied(),
        parents,
        text: without_examples(meaning),
    })
}

/// Examples of use, in quotation marks, are no part of a definition.
fn without_examples(meaning: &str) -> String {
    let parts = meaning.split(';').map(str::trim);
    let mut kept = Vec::new();
    let mut is_quoted = false;
    for part in parts {
        let marks = part.matches('"').count();
        if !is_quoted && marks == 0 && !part.is_empty() {
            kept.push(part);
        }
        is_quoted ^= marks % 2 == 1;
    }
    kept.join("; ")
}

/// Which rows a data set has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Those of classes with at least two rows, one of which always goes to train.
    RepeatedClasses,
    /// All of them. A class of one row may be in valid or test only.
    EveryClass,
}

/// Splits the definitions: a tenth each for valid and test. Chosen by what the row is, not by chance or
/// order: every machine gets the same parts.
pub(crate) fn split(definitions: &[Definition], rows: Rows) -> Parts {
    let mut by_class: HashMap<&str, Vec<&Definition>> = HashMap::new();
    for definition in definitions {
        by_class.entry(&definition.label).or_default().push(definition);
    }
    let mut parts = Parts::default();
    for definition in definitions {
        let class = &by_class[definition.label.as_str()];
        let hash = |definition: &Definition| xxh3_64(definition.id.as_bytes());
        let is_kept = match rows {
            Rows::RepeatedClasses if class.len() < 2 => continue,
            Rows::RepeatedClasses => class.iter().map(|other| hash(other)).min() == Some(hash(definition)),
            Rows::EveryClass => false,
        };
        let part = match hash(definition) % 10 {
            0 if !is_kept => &mut parts.test,
            1 if !is_kept => &mut parts.valid,
            _ => &mut parts.train,
        };
        part.push(definition.clone());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "  1 licence\n\
        00000001 03 n 01 thing 0 001 ~ 00000002 n 0000 | what there is; \"a thing; of beauty\"  \n\
        00000002 05 n 02 dog 0 hound 1 002 @ 00000001 n 0000 + 00000009 v 0101 | it barks; and bites; \"a dog barks\"  \n\
        00000003 05 n 01 Rex 0 001 @i 00000002 n 0000 | \"only an example\"  \n";

    #[test]
    fn definitions_lead_to_what_they_are_kinds_of() {
        let found = parse(FILE, 'n', "data.noun").unwrap();
        assert_eq!(
            found.len(),
            1,
            "the root has no parent, an example is no definition"
        );
        assert_eq!(found[0].text, "it barks; and bites");
        assert_eq!(found[0].label, "thing.n.00000001");
    }

    #[test]
    fn damaged_lines_are_named() {
        for line in [
            "nonsense",
            "1 2 n zz | x",
            "1 2 n 01 dog 0 005 @ | x",
            "1 2 n 01 dog 0 | x",
        ] {
            let problem = parse(&format!("  licence\n{line}\n"), 'n', "f")
                .unwrap_err()
                .to_string();
            assert!(problem.starts_with("f:2:1: "), "{problem}");
        }
        let orphan = parse("1 03 n 01 dog 0 001 @ 7 n 0000 | barks\n", 'n', "f").unwrap_err();
        assert_eq!(orphan.to_string(), "f: `dog` is a kind of 7, which is not there");
    }

    #[test]
    fn every_class_keeps_a_training_row_and_the_order_does_not_matter() {
        let make = |id: usize| Definition {
            id: format!("n{id}"),
            text: String::new(),
            label: format!("{}", id % 70),
        };
        let mut definitions: Vec<_> = (0..200).map(make).collect();
        definitions.push(Definition {
            label: "alone".to_owned(),
            ..make(1000)
        });
        let parts = split(&definitions, Rows::RepeatedClasses);
        assert_eq!(parts.train.len() + parts.valid.len() + parts.test.len(), 200);
        assert!(parts.test.len() > 5 && parts.valid.len() > 5);
        let known = |row: &Definition| parts.train.iter().any(|other| other.label == row.label);
        assert!(parts.test.iter().chain(&parts.valid).all(known));
        definitions.reverse();
        let every = split(&definitions, Rows::EveryClass);
        assert_eq!(every.train.len() + every.valid.len() + every.test.len(), 201);
        assert!(every.test.len() >= parts.test.len() && every.valid.len() >= parts.valid.len());
        let mut backwards = split(&definitions, Rows::RepeatedClasses);
        backwards.test.reverse();
        assert_eq!(backwards.test, parts.test);
    }
}
