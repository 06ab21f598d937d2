//! WordNet as a vocabulary: every meaning with its words, its definition, and what it is a kind of.

use std::collections::HashMap;
use std::path::Path;

use memoir::Error;
use memoir::model::write_beside;

use crate::wordnet::{self, Entry};

/// Writes the meanings of the database files, given as (content, letter, name), to a table that
/// `--vocabulary` takes.
pub(crate) fn write(path: &Path, files: &[(String, char, String)]) -> anyhow::Result<usize> {
    let mut entries = Vec::new();
    for (content, kind, name) in files {
        entries.extend(
            wordnet::entries(content, *kind, name)?
                .into_iter()
                .map(|entry| (*kind, entry)),
        );
    }
    let ids: HashMap<(char, &str), String> = entries
        .iter()
        .map(|(kind, entry)| ((*kind, entry.offset), id(*kind, entry)))
        .collect();
    write_beside(path, |out| {
        let fail = |problem: csv::Error| Error::io(path, "cannot write", problem.into());
        let mut table = csv::Writer::from_writer(out);
        let header = ["id", "name", "alternative", "definition", "broader"];
        table.write_record(header).map_err(fail)?;
        for (kind, entry) in &entries {
            let mut words = entry.words.iter().map(|word| word.replace('_', " "));
            let name = words.next().unwrap_or_default();
            let others: Vec<String> = words.collect();
            let parents = entry
                .parents
                .iter()
                .filter_map(|parent| ids.get(&(*kind, *parent)));
            let parents: Vec<&str> = parents.map(String::as_str).collect();
            let record = [
                &ids[&(*kind, entry.offset)],
                &name,
                &others.join("|"),
                &entry.text,
                &parents.join("|"),
            ];
            table.write_record(record).map_err(fail)?;
        }
        table
            .flush()
            .map_err(|reason| Error::io(path, "cannot write", reason))
    })?;
    Ok(entries.len())
}

/// The same as the label of rows whose meaning is a kind of this one.
fn id(kind: char, entry: &Entry<'_>) -> String {
    format!("{}.{kind}.{}", entry.word, entry.offset)
}
