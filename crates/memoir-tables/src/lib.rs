//! Parquet, Arrow and Excel files: rows for memoir, and tables of answers.
//!
//! A file is read by a thread of its own that writes it as CSV into a pipe, from which memoir reads as from
//! any other source. So the same rows give the same model, whatever file they come from, and memory does not
//! grow with their number.

mod arrow;
mod excel;
mod pipe;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::Path;

use memoir::data::Source;
use memoir::{Error, Result};
use memoir_report::table::{Column, TableWriter};

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFile {
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow, as a file (Feather) or a stream.
    Arrow,
    /// Excel; the first sheet.
    Excel,
}

impl TableFile {
    /// The kind that a file's name stands for.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "parquet" => Self::Parquet,
            "arrow" | "arrows" | "feather" => Self::Arrow,
            "xlsx" => Self::Excel,
            _ => return None,
        })
    }

    /// The rows of the file at `path`.
    pub fn source(self, path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let file = std::fs::File::open(path).map_err(|reason| Error::io(path, "cannot open", reason))?;
        let reader = match self {
            Self::Parquet => pipe::read(move |out| arrow::read_parquet(file, out)),
            Self::Arrow => pipe::read(move |out| arrow::read_ipc(file, out)),
            Self::Excel => pipe::read(move |out| excel::read(file, out)),
        };
        let reader = reader.map_err(|reason| Error::io(path, "cannot open", reason))?;
        Ok(Source::from_table(name, reader))
    }

    /// Begins to write a table with these columns to `out`.
    pub fn writer<'w>(
        self,
        columns: &[Column],
        out: &'w mut (dyn Write + Send),
    ) -> io::Result<Box<dyn TableWriter + 'w>> {
        Ok(match self {
            Self::Parquet => arrow::parquet_table(columns, out)?,
            Self::Arrow => arrow::arrow_table(columns, out)?,
            Self::Excel => Box::new(excel::Sheet::new(columns, out)?),
        })
    }
}
