//! `memoir split`: labelled rows apart into training, held-out and test rows.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use memoir::data::{Content, KeepColumns, ReadOptions};
use memoir::model::write_beside;
use memoir::prepare::{UnpreparedRows, stream_unprepared};
use memoir::{ClassNames, Error, LabelSets, Result, Session};
use memoir_report::sizes::show_counted;
use memoir_report::table::{Cell, CellKind, Column, JsonLines, Separated, TableWriter};

use crate::Context;
use crate::arguments::{Reading, Running};
use crate::output::print;
use crate::progress::Progress;

#[derive(Debug, Args)]
#[command(after_long_help = "\
A row's place follows from a hash of its text, so equal texts (but for capital letters and white space)
stay together, and a row keeps its place when others are added. A class whose rows would all be left
out of training gets one of them back. Tables are written as CSV, JSON as JSON, vectors in libsvm form.

Example:
  memoir split tickets.csv --valid 0.1 --test 0.1 --out parts
  memoir train parts/train.csv --valid parts/valid.csv --model tickets.memoir
  memoir evaluate tickets.memoir parts/test.csv")]
pub(crate) struct Arguments {
    /// Labelled rows: files, folders or patterns of names
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Share of the rows to hold out while training
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = parse_share)]
    valid: f64,
    /// Share of the rows to test with
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = parse_share)]
    test: f64,
    /// Folder for train, valid and test
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

/// The parts, in the order of their files.
const PARTS: [&str; 3] = ["train", "valid", "test"];
const TRAIN: usize = 0;

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    if crate::sources::has_stdin(&arguments.data) {
        bail!("rows are read twice to be split, so standard input will not do; expected a file");
    }
    if arguments.valid + arguments.test >= 1.0 {
        bail!(
            "`--valid` and `--test` together leave nothing to train on: {} and {}",
            arguments.valid,
            arguments.test
        );
    }
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let options = ReadOptions {
        keep_columns: KeepColumns::All,
        ..arguments.reading.options()
    };
    let plan = Plan::new(arguments, &options, &session)?;
    std::fs::create_dir_all(&arguments.out)
        .map_err(|reason| Error::io(&arguments.out, "cannot make the folder", reason))?;
    let mut report = String::new();
    for (part, name) in PARTS.iter().enumerate() {
        let rows = plan
            .parts
            .iter()
            .filter(|&&row_part| row_part == part as u16)
            .count();
        if rows == 0 {
            continue;
        }
        let path = arguments.out.join(format!("{name}.{}", plan.ending));
        write_beside(&path, |out| {
            plan.write(part, arguments, &options, &path, out, &session)
        })?;
        let _ = writeln!(report, "{}: {}", path.display(), show_counted(rows as u64, "row"));
    }
    progress.clear();
    print(&report)
}

/// Where each row goes.
struct Plan {
    parts: Vec<u16>,
    ending: &'static str,
}

impl Plan {
    fn new(arguments: &Arguments, options: &ReadOptions, session: &Session<'_>) -> anyhow::Result<Self> {
        let (mut hashes, mut labels, mut names) = (Vec::new(), LabelSets::new(), ClassNames::new());
        let mut is_json = false;
        let source = crate::sources::open(&arguments.data)?;
        let (content, _) = stream_unprepared(source, options, session, |rows| {
            hashes.extend_from_slice(&rows.hashes);
            is_json = rows.kept.is_json();
            let numbers: Vec<u32> = rows.classes.iter().map(|name| names.intern(name)).collect();
            for set in rows.labels.iter() {
                labels.push(set.iter().map(|&label| numbers[label as usize]));
            }
            Ok(())
        })?;
        Ok(Self {
            parts: parts(&hashes, &labels, names.len(), arguments.valid, arguments.test),
            ending: match content {
                Content::Vectors => "svm",
                Content::Text if is_json => "jsonl",
                Content::Text => "csv",
            },
        })
    }

    /// Writes the rows of a part.
    fn write(
        &self,
        part: usize,
        arguments: &Arguments,
        options: &ReadOptions,
        path: &Path,
        out: &mut (dyn Write + Send),
        session: &Session<'_>,
    ) -> Result<()> {
        let fail = |reason| Error::io(path, "cannot write", reason);
        let source = crate::sources::open(&arguments.data)?;
        let mut parts = self.parts.iter();
        let mut out = Some(out);
        let mut table: Option<Box<dyn TableWriter + '_>> = None;
        stream_unprepared(source, options, session, |rows| {
            if self.ending == "svm" {
                let Some(out) = &mut out else { return Ok(()) };
                let lines = vector_lines(&rows, |_| parts.next() == Some(&(part as u16)));
                return out.write_all(lines.as_bytes()).map_err(fail);
            }
            if let Some(out) = out.take() {
                let names = rows.kept.columns().iter();
                let columns: Vec<_> = names.map(|name| Column::new(name, CellKind::Text)).collect();
                table = Some(if self.ending == "jsonl" {
                    Box::new(JsonLines::new(&columns, out).map_err(fail)?)
                } else {
                    Box::new(Separated::new(b',', &columns, out).map_err(fail)?)
                });
            }
            let cell = if rows.kept.is_json() {
                Cell::Json
            } else {
                Cell::Text
            };
            for row in 0..rows.hashes.len() {
                if let (Some(table), Some(row_part)) = (&mut table, parts.next())
                    && usize::from(*row_part) == part
                {
                    let cells: Vec<Cell<'_>> = rows.kept.row(row).map(cell).collect();
                    table.write(&cells).map_err(fail)?;
                }
            }
            Ok(())
        })?;
        match table {
            Some(table) => table.finish().map_err(fail),
            None => Ok(()),
        }
    }
}

/// The part of each row.
fn parts(hashes: &[u64], labels: &LabelSets, classes: usize, valid: f64, test: f64) -> Vec<u16> {
    // A hash as a number from 0 to 1.
    let part = |hash: u64| match (hash >> 11) as f64 / (1u64 << 53) as f64 {
        share if share < test => 2,
        share if share < test + valid => 1,
        _ => TRAIN as u16,
    };
    let mut trained = vec![false; classes];
    for (&hash, set) in hashes.iter().zip(labels.iter()) {
        for &label in set {
            trained[label as usize] |= part(hash) == TRAIN as u16;
        }
    }
    // The last hash of a class that has no training row yet is that of the row it gets.
    let mut highest: Vec<Option<u64>> = vec![None; classes];
    for (&hash, set) in hashes.iter().zip(labels.iter()) {
        for &label in set.iter().filter(|&&label| !trained[label as usize]) {
            let of_class = &mut highest[label as usize];
            *of_class = (*of_class).max(Some(hash));
        }
    }
    let moved: std::collections::HashSet<u64> = highest.into_iter().flatten().collect();
    let hashes = hashes.iter();
    hashes
        .map(|hash| {
            if moved.contains(hash) {
                TRAIN as u16
            } else {
                part(*hash)
            }
        })
        .collect()
}

/// The rows that are `wanted` as lines of a libsvm file, whose features count from 1. `write!` to a `String`
/// cannot fail.
fn vector_lines(rows: &UnpreparedRows, mut wanted: impl FnMut(usize) -> bool) -> String {
    let mut lines = String::new();
    for (row, vector) in rows.vectors.iter().enumerate() {
        if !wanted(row) {
            continue;
        }
        let labels = rows.labels.row(row).iter();
        let names: Vec<&str> = labels.map(|&label| rows.classes.name(label)).collect();
        lines += &names.join(",");
        for (index, value) in vector.iter() {
            let _ = write!(lines, " {}:{value}", index + 1);
        }
        if let Some(weights) = &rows.weights {
            let _ = write!(lines, " # weight={}", weights[row]);
        }
        lines.push('\n');
    }
    lines
}

fn parse_share(text: &str) -> std::result::Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| (0.0..1.0).contains(share));
    share.ok_or_else(|| "expected a share of the rows, such as 0.1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_keeps_a_training_row_and_equal_rows_stay_together() {
        // Evenly spread hashes; class 1 has test rows only, two of them alike.
        let hashes: Vec<u64> = (0..1000u64)
            .map(|row| row << 54)
            .chain([1 << 50, 1 << 50, 1 << 40])
            .collect();
        let mut labels = LabelSets::new();
        for row in 0..hashes.len() {
            labels.push([u32::from(row >= 1000)]);
        }
        let parts = parts(&hashes, &labels, 2, 0.2, 0.1);
        let count = |part: u16| parts.iter().filter(|&&row_part| row_part == part).count();
        assert!(
            (95..=108).contains(&count(2)) && (195..=205).contains(&count(1)),
            "{} {}",
            count(1),
            count(2)
        );
        assert_eq!(parts[1000..], [0, 0, 2]);
    }
}
