//! Parquet, Arrow and Excel files: rows for memoir, and tables of answers.
//!
//! A file is read by a thread of its own that writes it as CSV into a pipe, from which memoir reads as from
//! any other source. So the same rows give the same model, whatever file they come from, and memory does not
//! grow with their number.

mod arrow;
mod arrow_claims;
mod excel;
mod excel_codes;
mod pipe;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use memoir::data::Source;
use memoir::{Error, Result};
use memoir_report::table::{Column, TableWriter};

/// Name of the threads that read tables. A panic in one of them becomes an error, so nobody need tell it.
pub const TABLE_THREAD: &str = "memoir-table";

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFile {
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow, as a file (Feather) or a stream.
    Arrow,
    /// Excel; the first sheet, or the one named behind the file as in `book.xlsx#Sheet2`.
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

    /// The kind of the file at `path`: by its first bytes, or else by its name.
    pub fn at(path: &Path) -> Option<Self> {
        let (path, _) = and_sheet(path);
        Self::of_content(&head(path)).or_else(|| Self::of(path))
    }

    fn of_content(head: &[u8]) -> Option<Self> {
        // Excel files are zip archives, and not the only ones.
        let in_archive = head
            .strip_prefix(b"PK\x03\x04")
            .and_then(|header| header.get(26..));
        let is_excel = |name: &[u8]| {
            let beginnings: [&[u8]; 4] = [b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/"];
            beginnings.iter().any(|beginning| name.starts_with(beginning))
        };
        if head.starts_with(b"PAR1") && head.get(4).is_some_and(u8::is_ascii_control) {
            Some(Self::Parquet)
        } else if head.starts_with(b"ARROW1\0") || is_arrow_stream(head) {
            Some(Self::Arrow)
        } else {
            in_archive.is_some_and(is_excel).then_some(Self::Excel)
        }
    }

    /// The rows of the file at `path`.
    pub fn source(self, path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let (path, sheet) = and_sheet(path);
        let file = File::open(path).map_err(|reason| Error::io(path, "cannot open", reason))?;
        let found = head(path);
        if self == Self::Excel && found.starts_with(b"\xd0\xcf\x11\xe0") {
            return Err(Error::input(
                name,
                "is an Excel file of the old kind, or one with a password; save it as .xlsx without a password",
            ));
        }
        if self == Self::Excel && !found.is_empty() && !found.starts_with(b"PK") {
            return Err(Error::input(
                name,
                "is no Excel file, whatever its name says; if it is a table of text, call it .csv",
            ));
        }
        if found.starts_with(b"FEA1") {
            return Err(Error::input(
                name,
                "is a Feather file of version 1; write it as version 2, which is an Arrow file",
            ));
        }
        let mut note = None;
        let reader = match self {
            Self::Parquet => pipe::read(move |out| arrow::read_parquet(file, out)),
            Self::Arrow => pipe::read(move |out| arrow::read_ipc(file, out)),
            Self::Excel => {
                let book = pipe::open(|| excel::open(file, &name, sheet));
                let mut book =
                    book.map_err(|reason| Error::io(path, "cannot read", io::Error::other(reason)))?;
                note = book.note.take();
                pipe::read(move |out| excel::read(book, out))
            }
        };
        let reader = reader.map_err(|reason| Error::io(path, "cannot open", reason))?;
        let source = Source::from_table(name, reader).with_note(note);
        Ok(match self {
            Self::Parquet | Self::Arrow => source.with_named_columns(),
            Self::Excel => source,
        })
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

/// Whether a stream of Arrow begins so: with the mark of a message and the length of the schema.
fn is_arrow_stream(head: &[u8]) -> bool {
    let length = head.strip_prefix(&[0xff; 4]).and_then(|rest| rest.first_chunk());
    length.is_some_and(|length| (1..1 << 24).contains(&u32::from_le_bytes(*length)))
}

/// The file that `path` names, and the sheet behind a `#`, unless that belongs to the file's name.
fn and_sheet(path: &Path) -> (&Path, Option<&str>) {
    let parts = path.to_str().and_then(|name| name.rsplit_once('#'));
    match parts {
        Some((file, sheet)) if !path.exists() && TableFile::of(Path::new(file)) == Some(TableFile::Excel) => {
            (Path::new(file), Some(sheet))
        }
        _ => (path, None),
    }
}

/// The first bytes of the file at `path`; none if it is no plain file, or cannot be read.
fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        // What cannot be read is told by whoever reads on.
        let _ = file.take(64).read_to_end(&mut head);
    }
    head
}
