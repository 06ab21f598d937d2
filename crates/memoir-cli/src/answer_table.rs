//! Answers as a file that people go on with: the columns of the input, and the answers beside them.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use clap::ValueEnum;
use memoir::data::{KeepColumns, Kept};
use memoir::{Error, Result};
use memoir_report::table::{Cell, CellKind, Column, JsonLines, Separated, TableWriter};

use crate::answers::Shown;

/// How answers stand in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Layout {
    // Not doc comments: those would make the help of `predict` twice as long. Its last part says the same.
    // A row per row of the input: class_1, probability_1, class_2, ...
    #[default]
    Wide,
    // A row per answer: row, rank, class, probability.
    Long,
}

/// The endings of files that can be written.
#[cfg(feature = "tables")]
const ENDINGS: &str = ".csv, .tsv, .jsonl, .xlsx, .parquet or .arrow";
#[cfg(not(feature = "tables"))]
const ENDINGS: &str = ".csv, .tsv or .jsonl";

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableFile {
    Csv,
    Tsv,
    Jsonl,
    #[cfg(feature = "tables")]
    Other(memoir_tables::TableFile),
}

impl TableFile {
    /// The kind that a file's name stands for.
    pub(crate) fn of(path: &Path) -> anyhow::Result<Self> {
        #[cfg(feature = "tables")]
        if let Some(kind) = memoir_tables::TableFile::of(path) {
            return Ok(Self::Other(kind));
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        Ok(match ending.unwrap_or_default().to_ascii_lowercase().as_str() {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "jsonl" | "ndjson" => Self::Jsonl,
            _ => bail!(
                "{}: cannot tell the kind of file from the name; expected one that ends in {ENDINGS}",
                path.display()
            ),
        })
    }

    /// Begins to write a table with these columns.
    pub(crate) fn writer<'w>(
        self,
        columns: &[Column],
        out: &'w mut (dyn Write + Send),
    ) -> std::io::Result<Box<dyn TableWriter + 'w>> {
        Ok(match self {
            Self::Csv => Box::new(Separated::new(b',', columns, out)?),
            Self::Tsv => Box::new(Separated::new(b'\t', columns, out)?),
            Self::Jsonl => Box::new(JsonLines::new(columns, out)?),
            #[cfg(feature = "tables")]
            Self::Other(kind) => return kind.writer(columns, out),
        })
    }
}

/// Reads what `--keep-columns` says.
pub(crate) fn parse_columns(text: &str) -> std::result::Result<KeepColumns, String> {
    if text.split(',').any(|name| name.trim().is_empty()) {
        return Err("expected all, none, or names separated by commas".to_owned());
    }
    Ok(match text {
        "all" => KeepColumns::All,
        "none" => KeepColumns::None,
        names => KeepColumns::Named(names.split(',').map(|name| name.trim().to_owned()).collect()),
    })
}

/// What a table of answers looks like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) file: TableFile,
    pub(crate) layout: Layout,
    /// Answers of a row at most.
    pub(crate) answers: usize,
    /// Whether notations and names are shown.
    pub(crate) names: bool,
    /// What scores are called: `probability` or `score`.
    pub(crate) measure: &'static str,
    /// Whether a column says which answers overrides decide.
    pub(crate) marks_overrides: bool,
}

impl Shape {
    /// The columns behind those of the input.
    fn columns(&self) -> Vec<Column> {
        match self.layout {
            Layout::Wide => {
                let answers = (1..=self.answers).flat_map(|rank| self.answer_columns(&format!("_{rank}")));
                answers.chain(self.override_column()).collect()
            }
            Layout::Long => {
                let position = ["row", "rank"].map(|name| Column::new(name, CellKind::Whole));
                let answer = position.into_iter().chain(self.answer_columns(""));
                answer.chain(self.override_column()).collect()
            }
        }
    }
}

impl Shape {
    fn override_column(&self) -> Option<Column> {
        self.marks_overrides
            .then(|| Column::new("override", CellKind::Text))
    }

    fn override_cell<'s>(&self, shown: Option<&Shown<'s>>) -> Option<Cell<'s>> {
        let is_override = shown.is_some_and(|shown| shown.is_override);
        self.marks_overrides
            .then_some(Cell::Text(if is_override { "true" } else { "false" }))
    }

    /// The columns of one answer.
    fn answer_columns(&self, ending: &str) -> Vec<Column> {
        let text = |name: &str| Column::new(format!("{name}{ending}"), CellKind::Text);
        let mut columns = vec![text("class")];
        if self.names {
            columns.extend([text("notation"), text("name")]);
        }
        columns.push(Column::new(format!("{}{ending}", self.measure), CellKind::Number));
        columns
    }

    /// The cells of one answer.
    fn answer_cells<'s>(&self, shown: &Shown<'s>) -> Vec<Cell<'s>> {
        let text = |text: &'s str| {
            if text.is_empty() {
                Cell::Empty
            } else {
                Cell::Text(text)
            }
        };
        let mut cells = vec![Cell::Text(shown.class)];
        if self.names {
            cells.extend([text(shown.notation), text(shown.name)]);
        }
        cells.push(Cell::Number(shown.score));
        cells
    }
}

/// A table of answers in the making.
pub(crate) struct AnswerTable<'w> {
    shape: Shape,
    path: &'w Path,
    writer: Box<dyn TableWriter + 'w>,
    /// Number of kept columns.
    kept: usize,
    rows: u64,
}

impl<'w> AnswerTable<'w> {
    /// Begins a table with the columns of `kept` in front.
    pub(crate) fn new(
        shape: Shape,
        path: &'w Path,
        kept: &Kept,
        out: &'w mut (dyn Write + Send),
    ) -> Result<Self> {
        let own = shape.columns();
        if let Some(column) = own.iter().find(|column| kept.columns().contains(&column.name)) {
            return Err(Error::Mismatch(format!(
                "the input has a column `{0}`, and so has the output; leave it out with the parameter `keep-columns`",
                column.name
            )));
        }
        let columns = kept
            .columns()
            .iter()
            .map(|name| Column::new(name, CellKind::Text));
        let columns: Vec<Column> = columns.chain(own).collect();
        let writer = shape.file.writer(&columns, out);
        Ok(Self {
            writer: writer.map_err(|reason| Error::io(path, "cannot write", reason))?,
            kept: kept.columns().len(),
            shape,
            path,
            rows: 0,
        })
    }

    /// Writes `answers` for `row` of `kept`, or for a row that could not be read.
    pub(crate) fn write(&mut self, kept: Option<(&Kept, usize)>, answers: &[Shown<'_>]) -> Result<()> {
        self.rows += 1;
        let mut cells: Vec<Cell<'_>> = match kept {
            Some((kept, row)) if kept.is_json() => kept.row(row).map(Cell::Json).collect(),
            Some((kept, row)) => kept.row(row).map(Cell::Text).collect(),
            None => vec![Cell::Empty; self.kept],
        };
        let written = match self.shape.layout {
            Layout::Wide => {
                for shown in answers.iter().take(self.shape.answers) {
                    cells.extend(self.shape.answer_cells(shown));
                }
                let width = self.shape.answer_columns("").len();
                cells.resize(self.kept + width * self.shape.answers, Cell::Empty);
                cells.extend(self.shape.override_cell(answers.first()));
                self.writer.write(&cells)
            }
            Layout::Long => (1..).zip(answers).try_for_each(|(rank, shown)| {
                cells.truncate(self.kept);
                cells.extend([Cell::Whole(self.rows), Cell::Whole(rank)]);
                cells.extend(self.shape.answer_cells(shown));
                cells.extend(self.shape.override_cell(Some(shown)));
                self.writer.write(&cells)
            }),
        };
        written.map_err(|reason| Error::io(self.path, "cannot write", reason))
    }

    /// Writes what is left to write.
    pub(crate) fn finish(self) -> Result<()> {
        let path = self.path;
        let written = self.writer.finish();
        written.map_err(|reason| Error::io(path, "cannot write", reason))
    }
}
