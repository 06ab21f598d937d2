//! Files that name many classes at once, for `memoir classes rename|merge|retire --file`.

use std::collections::HashMap;
use std::io::{self, Read as _, Write};
use std::path::Path;

use anyhow::bail;
use memoir::{ClassNames, Error};
use memoir_report::names::on_one_line;
use memoir_report::sizes::{show_count, show_counted};

use crate::sources;

/// The column of the class that is changed.
const CLASS: &str = "class";

/// A row of a file: a class, and the name that it gets, if the change gives one.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    line: u64,
    class: String,
    target: Option<String>,
}

/// Reads (class, name) pairs; `column` is the header of the second one.
pub(crate) fn read_pairs(
    path: &Path,
    column: &str,
    classes: &ClassNames,
) -> anyhow::Result<Vec<(String, String)>> {
    let entries = known(path, read(path, Some(column))?, classes)?;
    let pairs = entries
        .into_iter()
        .map(|entry| (entry.class, entry.target.unwrap_or_default()));
    Ok(pairs.collect())
}

/// Reads names of classes.
pub(crate) fn read_names(path: &Path, classes: &ClassNames) -> anyhow::Result<Vec<String>> {
    let entries = known(path, read(path, None)?, classes)?;
    Ok(entries.into_iter().map(|entry| entry.class).collect())
}

/// The entries whose class the model has. The others are reported on standard error; if none is left,
/// that is an error.
fn known(path: &Path, entries: Vec<Entry>, classes: &ClassNames) -> anyhow::Result<Vec<Entry>> {
    let mut first_lines: HashMap<&str, u64> = HashMap::new();
    for entry in &entries {
        if let Some(first) = first_lines.insert(&entry.class, entry.line) {
            bail!(
                "{}:{}:1: class `{}` is named again; it stands in line {first} already",
                path.display(),
                entry.line,
                on_one_line(&entry.class)
            );
        }
    }
    let rows = entries.len() as u64;
    let (known, unknown): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|entry| classes.find(&entry.class).is_some());
    if known.is_empty() {
        bail!(
            "{}: none of {} names a class of this model",
            path.display(),
            show_counted(rows, "row")
        );
    }
    let mut errors = io::stderr().lock();
    for entry in &unknown {
        let class = on_one_line(&entry.class);
        writeln!(errors, "{}:{}: no class `{class}`", path.display(), entry.line)?;
    }
    if !unknown.is_empty() {
        let unknown = show_count(unknown.len() as u64);
        writeln!(
            errors,
            "{unknown} of {} named no class of this model",
            show_counted(rows, "row")
        )?;
    }
    Ok(known)
}

fn read(path: &Path, column: Option<&str>) -> anyhow::Result<Vec<Entry>> {
    let mut text = String::new();
    sources::open(&[path])?
        .into_reader()?
        .read_to_string(&mut text)
        .map_err(|reason| Error::io(path, "cannot read", reason))?;
    parse(
        &path.display().to_string(),
        text.trim_start_matches('\u{feff}'),
        column,
    )
}

/// Rows separated by commas, semicolons or tabs, whichever the first line has most of. A first row with
/// the word `class` in it names the columns; without one, the class is first.
fn parse(name: &str, text: &str, column: Option<&str>) -> anyhow::Result<Vec<Entry>> {
    let first_line = text.lines().next().unwrap_or_default();
    let count = |byte: &u8| first_line.bytes().filter(|other| other == byte).count();
    let delimiter = [b',', b';', b'\t'].into_iter().rev().max_by_key(count);
    let mut table = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter.unwrap_or(b','))
        .from_reader(text.as_bytes());
    let wanted: Vec<&str> = std::iter::once(CLASS).chain(column).collect();
    let mut columns: Option<Vec<usize>> = None;
    let mut entries = Vec::new();
    for (row, record) in table.records().enumerate() {
        let record = record.map_err(|problem| anyhow::anyhow!("{name}: {problem}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        if row == 0 {
            let find = |name: &&str| {
                record
                    .iter()
                    .position(|field| field.trim().eq_ignore_ascii_case(name))
            };
            if find(&CLASS).is_some() {
                let found: Option<Vec<usize>> = wanted.iter().map(find).collect();
                let Some(found) = found else {
                    bail!(
                        "{name}:1:1: expected the columns `{}`, found `{first_line}`",
                        wanted.join("`, `")
                    );
                };
                columns = Some(found);
                continue;
            }
        }
        if columns.is_none() && record.len() != wanted.len() {
            bail!(
                "{name}:{line}:1: expected {} (`{}`), or a first row that names the columns, found {}",
                show_counted(wanted.len() as u64, "field"),
                wanted.join("`, `"),
                show_counted(record.len() as u64, "field")
            );
        }
        let field = |index: usize| {
            let at = columns.as_ref().map_or(index, |columns| columns[index]);
            record.get(at).filter(|field| !field.is_empty())
        };
        let fields: Option<Vec<&str>> = (0..wanted.len()).map(field).collect();
        let Some(fields) = fields else {
            bail!(
                "{name}:{line}:1: expected `{}`, found an empty field",
                wanted.join("` and `")
            );
        };
        entries.push(Entry {
            line,
            class: fields[0].to_owned(),
            target: fields.get(1).map(|&target| target.to_owned()),
        });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, column: Option<&str>) -> Vec<(u64, String, Option<String>)> {
        let entries = parse("f", text, column).unwrap();
        let parts = entries
            .into_iter()
            .map(|entry| (entry.line, entry.class, entry.target));
        parts.collect()
    }

    fn refused(text: &str, column: Option<&str>) -> String {
        parse("f", text, column).unwrap_err().to_string()
    }

    #[test]
    fn a_first_row_names_columns_in_any_order() {
        let renamed = [(2, "a, b".to_owned(), Some("c".to_owned()))];
        for text in [
            "note,New,Class\nx,c,\"a, b\"\n",
            "new;class\nc;a, b\n",
            "class\tnew\na, b\tc\n",
        ] {
            assert_eq!(parsed(text, Some("new")), renamed, "{text}");
        }
    }

    #[test]
    fn without_names_the_class_is_first() {
        assert_eq!(
            parsed("a\tb\nc\td e\n", Some("new")),
            [
                (1, "a".to_owned(), Some("b".to_owned())),
                (2, "c".to_owned(), Some("d e".to_owned()))
            ]
        );
        assert_eq!(parsed("a\nb c\n", None)[1], (2, "b c".to_owned(), None));
    }

    #[test]
    fn rows_that_do_not_fit_are_located() {
        assert_eq!(
            refused("a,b\nc\n", Some("new")),
            "f:2:1: expected 2 fields (`class`, `new`), or a first row that names the columns, found 1 field"
        );
        assert_eq!(
            refused("class,name\na,b\n", Some("new")),
            "f:1:1: expected the columns `class`, `new`, found `class,name`"
        );
        assert_eq!(
            refused("class,new\na,\n", Some("new")),
            "f:2:1: expected `class` and `new`, found an empty field"
        );
    }

    #[test]
    fn a_class_may_be_named_once() {
        let classes: ClassNames = ["a"].into_iter().collect();
        let entries = parse("f", "class,into\na,x\na,y\n", Some("into")).unwrap();
        let error = known(Path::new("f"), entries, &classes).unwrap_err().to_string();
        assert_eq!(
            error,
            "f:3:1: class `a` is named again; it stands in line 2 already"
        );
        let entries = parse("f", "b,x\n", Some("into")).unwrap();
        let error = known(Path::new("f"), entries, &classes).unwrap_err().to_string();
        assert_eq!(error, "f: none of 1 row names a class of this model");
    }
}
