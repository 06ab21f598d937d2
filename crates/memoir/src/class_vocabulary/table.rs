//! Reads a vocabulary from a table: CSV or TSV with a header.

use std::io::{BufRead as _, BufReader, Cursor, Read as _};
use std::path::Path;

use super::{TermKind, VocabularyBuilder};
use crate::data::Source;
use crate::{Error, Result};

/// What a column of the table holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Id,
    Term(TermKind, String),
    Broader,
    Language,
    Deprecated,
    ReplacedBy,
    Other,
}

/// Column names that are understood, in lower case. Names may end in a language, as in `name@sv`.
const COLUMNS: [(&str, Column); 20] = [
    ("id", Column::Id),
    ("code", Column::Id),
    ("uri", Column::Id),
    ("notation", Column::Term(TermKind::Notation, String::new())),
    ("name", Column::Term(TermKind::Name, String::new())),
    ("preflabel", Column::Term(TermKind::Name, String::new())),
    ("title", Column::Term(TermKind::Name, String::new())),
    ("alternative", Column::Term(TermKind::Alternative, String::new())),
    ("alternatives", Column::Term(TermKind::Alternative, String::new())),
    (
        "alternative names",
        Column::Term(TermKind::Alternative, String::new()),
    ),
    ("altlabel", Column::Term(TermKind::Alternative, String::new())),
    ("synonyms", Column::Term(TermKind::Alternative, String::new())),
    ("also", Column::Term(TermKind::Alternative, String::new())),
    ("definition", Column::Term(TermKind::Definition, String::new())),
    ("description", Column::Term(TermKind::Definition, String::new())),
    ("broader", Column::Broader),
    ("parent", Column::Broader),
    ("language", Column::Language),
    ("deprecated", Column::Deprecated),
    ("replaced by", Column::ReplacedBy),
];

fn column(name: &str) -> Column {
    let name = name
        .trim()
        .trim_start_matches('\u{FEFF}')
        .to_lowercase()
        .replace('_', " ");
    let (plain, language) = name.split_once('@').unwrap_or((&name, ""));
    match COLUMNS.iter().find(|(known, _)| *known == plain) {
        Some((_, Column::Term(kind, _))) => Column::Term(*kind, language.to_owned()),
        Some((_, column)) => column.clone(),
        None => Column::Other,
    }
}

/// Reads the table `source` into `builder`. The header tells the columns: `id` (needed), `notation`, `name`,
/// `alternative`, `definition`, `broader`, `language`, `deprecated`, `replaced_by`, of which names and
/// definitions may end in a language (`name@sv`). Several alternative names or broader concepts in a field
/// are separated by `|`. A concept may have several lines in different languages.
pub fn read_table(source: Source, builder: &mut VocabularyBuilder) -> Result<()> {
    let file = source.name().to_owned();
    let mut reader = BufReader::new(source.into_reader()?);
    let mut head = Vec::new();
    reader
        .read_until(b'\n', &mut head)
        .map_err(|reason| Error::io(Path::new(&file), "cannot read", reason))?;
    let mut table = csv::ReaderBuilder::new()
        .delimiter(delimiter(&head))
        .flexible(true)
        .from_reader(Cursor::new(head).chain(reader));
    let bad = |reason: csv::Error| located(&file, &reason);
    let columns: Vec<Column> = table.headers().map_err(bad)?.iter().map(column).collect();
    let Some(id) = columns.iter().position(|column| *column == Column::Id) else {
        let found: Vec<&str> = table.headers().map_err(bad)?.iter().collect();
        return Err(Error::Data {
            file,
            line: 1,
            column: 1,
            message: format!(
                "the header of a vocabulary needs a column `id`; found `{}`",
                found.join("`, `")
            ),
        });
    };
    let language = columns.iter().position(|column| *column == Column::Language);
    // Concept and language of the lines so far: the same twice is a defect, another language is not.
    let mut seen = rustc_hash::FxHashSet::default();
    let mut record = csv::StringRecord::new();
    loop {
        let position = table.position().clone();
        if !table.read_record(&mut record).map_err(bad)? {
            break;
        }
        let id = record.get(id).unwrap_or("").trim();
        if id.is_empty() {
            return Err(Error::Data {
                file,
                line: position.line(),
                column: 1,
                message: "the concept has no id".to_owned(),
            });
        }
        let concept = builder.concept(id);
        builder.describe(concept);
        let row_language = language.and_then(|index| record.get(index)).unwrap_or("").trim();
        if !seen.insert((concept, row_language.to_owned())) {
            builder.note_repeated(concept);
        }
        for (column, field) in columns.iter().zip(record.iter()) {
            read_field(builder, concept, column, field, row_language)?;
        }
    }
    Ok(())
}

fn read_field(
    builder: &mut VocabularyBuilder,
    concept: u32,
    column: &Column,
    field: &str,
    row_language: &str,
) -> Result<()> {
    let parts = || field.split('|').map(str::trim).filter(|part| !part.is_empty());
    match column {
        Column::Term(kind, language) => {
            let language = match kind {
                TermKind::Notation => "",
                _ if language.is_empty() => row_language,
                _ => language,
            };
            if *kind == TermKind::Alternative {
                for part in parts() {
                    builder.term(concept, *kind, language, part)?;
                }
            } else {
                builder.term(concept, *kind, language, field)?;
            }
        }
        Column::Broader => {
            for part in parts() {
                let broader = builder.concept(part);
                builder.broader(concept, broader);
            }
        }
        Column::Deprecated => {
            if matches!(field.trim().to_lowercase().as_str(), "true" | "yes" | "1") {
                builder.deprecate(concept);
            }
        }
        Column::ReplacedBy => {
            for part in parts() {
                let by = builder.concept(part);
                builder.replace(concept, by);
            }
        }
        Column::Id | Column::Language | Column::Other => {}
    }
    Ok(())
}

/// What separates the fields of a table whose first line is this: of tab, semicolon and comma the one that
/// it has most of.
fn delimiter(line: &[u8]) -> u8 {
    let count = |delimiter: u8| line.split(|&byte| byte == delimiter).count();
    // Of equals the last one is taken: a table of one column has none of them, and is CSV.
    let most = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|&delimiter| count(delimiter));
    most.unwrap_or(b',')
}

fn located(file: &str, reason: &csv::Error) -> Error {
    match reason.position() {
        Some(position) => Error::Data {
            file: file.to_owned(),
            line: position.line(),
            column: 1,
            message: reason.to_string(),
        },
        None => Error::input(file, reason.to_string()),
    }
}
