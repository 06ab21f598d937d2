//! `memoir audit`: rows whose label is probably wrong, and classes that are probably one.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use memoir::audit::{Audit, Doubt, audit};
use memoir::data::{KeepColumns, ReadOptions};
use memoir::model::write_beside;
use memoir::prepare::{PrepOptions, read_training, stream_unprepared};
use memoir::{ClassNames, Error, Result, Session};
use memoir_report::sizes::{show_count, show_counted};
use memoir_report::table::{Cell, CellKind, Column};

use crate::Context;
use crate::answer_table::TableFile;
use crate::arguments::{Reading, Running, check_apart_from_data, parse_positive};
use crate::output::print;
use crate::progress::Progress;
use crate::sources;

/// What is said of a row, in front of its columns.
const ROW_COLUMNS: [(&str, CellKind); 5] = [
    ("row_number", CellKind::Whole),
    ("given_class", CellKind::Text),
    ("likely_class", CellKind::Text),
    ("given_probability", CellKind::Number),
    ("likely_probability", CellKind::Number),
];

#[derive(Debug, Args)]
#[command(after_long_help = "\
Every row is answered by a model that was not trained on it, nor on rows of the same text. A row whose
answer is not its label is doubted; those come first whose answer is most probable, and whose label is
least. Probabilities are shares of the models' scores. Two classes may be one if rows of each get the
other as their answer.

Example:
  memoir audit tickets.csv --out doubts.csv --classes twins.csv")]
pub(crate) struct Arguments {
    /// Labelled rows: files, folders or patterns of names
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Table of the doubted rows with their columns: .csv, .tsv, .jsonl, .xlsx, .parquet or .arrow
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Table of pairs of classes that are probably one
    #[arg(long, value_name = "FILE")]
    classes: Option<PathBuf>,
    /// How many rows to tell at most
    #[arg(long, value_name = "N", default_value = "1000", value_parser = parse_positive)]
    most: NonZeroUsize,
    /// Number of models, each trained on the rows that the others leave out
    #[arg(long, value_name = "N", default_value = "5")]
    folds: usize,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    if sources::has_stdin(&arguments.data) {
        bail!("rows are read twice to be audited, so standard input will not do; expected a file");
    }
    for path in [Some(&arguments.out), arguments.classes.as_ref()]
        .into_iter()
        .flatten()
    {
        TableFile::of(path)?;
        check_apart_from_data(path, &arguments.data)?;
    }
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let algorithm = context.catalogue.find(memoir::Catalogue::DEFAULT_ALGORITHM)?;
    let method = algorithm.configure([])?;
    let options = arguments.reading.options();
    let prep = PrepOptions {
        needs: method.trainer().row_needs(),
        ..PrepOptions::default()
    };
    let data = read_training(sources::open(&arguments.data)?, &options, &prep, &session)?.data;
    let Audit { mut doubts, twins } = audit(&data, &method, arguments.folds, &session)?;
    let found = doubts.len();
    doubts.truncate(arguments.most.get());
    write_doubts(arguments, &doubts, &data.classes, &session)?;
    if let Some(path) = &arguments.classes {
        let columns = [
            ("class", CellKind::Text),
            ("other_class", CellKind::Text),
            ("confused_rows", CellKind::Whole),
            ("rows", CellKind::Whole),
        ];
        let columns = columns.map(|(name, kind)| Column::new(name, kind));
        let rows = twins.iter().map(|pair| {
            vec![
                Cell::Text(data.classes.name(pair.one)),
                Cell::Text(data.classes.name(pair.other)),
                Cell::Whole(pair.confused),
                Cell::Whole(pair.rows),
            ]
        });
        write_table(path, &columns, rows)?;
    }
    progress.clear();
    print(&format!(
        "{} of {} doubted, {} of classes that are probably one\n",
        show_count(found as u64),
        show_counted(data.len() as u64, "row"),
        show_counted(twins.len() as u64, "pair")
    ))
}

/// Writes the doubted rows with all their columns, for which the data is read again.
fn write_doubts(
    arguments: &Arguments,
    doubts: &[Doubt],
    names: &ClassNames,
    session: &Session<'_>,
) -> anyhow::Result<()> {
    let options = ReadOptions {
        keep_columns: KeepColumns::All,
        ..arguments.reading.options()
    };
    let mut cells: HashMap<usize, Vec<String>> = doubts.iter().map(|doubt| (doubt.row, vec![])).collect();
    let (mut columns, mut is_json, mut first) = (Vec::new(), false, 0);
    stream_unprepared(sources::open(&arguments.data)?, &options, session, |rows| {
        columns = rows.kept.columns().to_vec();
        is_json = rows.kept.is_json();
        for row in 0..rows.hashes.len() {
            if let Some(cells) = cells.get_mut(&(first + row)) {
                cells.extend(rows.kept.row(row).map(str::to_owned));
            }
        }
        first += rows.hashes.len();
        Ok(())
    })?;
    let own = ROW_COLUMNS.map(|(name, kind)| Column::new(name, kind));
    let kept = columns.iter().map(|name| Column::new(name, CellKind::Text));
    let columns: Vec<Column> = own.into_iter().chain(kept).collect();
    let rows = doubts.iter().map(|doubt| {
        let own = [
            Cell::Whole(doubt.row as u64 + 1),
            Cell::Text(names.name(doubt.label)),
            Cell::Text(names.name(doubt.likely)),
            Cell::Number(doubt.label_probability),
            Cell::Number(doubt.likely_probability),
        ];
        let kept = cells.get(&doubt.row).into_iter().flatten();
        let kept = kept.map(|cell| {
            if is_json {
                Cell::Json(cell)
            } else {
                Cell::Text(cell)
            }
        });
        own.into_iter().chain(kept).collect()
    });
    write_table(&arguments.out, &columns, rows)
}

fn write_table<'c>(
    path: &Path,
    columns: &[Column],
    rows: impl Iterator<Item = Vec<Cell<'c>>>,
) -> anyhow::Result<()> {
    let kind = TableFile::of(path)?;
    let written: Result<()> = write_beside(path, |out| {
        let fail = |reason| Error::io(path, "cannot write", reason);
        let mut table = kind.writer(columns, out).map_err(fail)?;
        for row in rows {
            table.write(&row).map_err(fail)?;
        }
        table.finish().map_err(fail)
    });
    Ok(written?)
}
