//! Settles what a source is, by its name, the options and its first bytes: the format, and how a table is
//! written. Where that stays open, an error says which option settles it.

use super::Format;
use super::blocks::RecordEnds;
use super::cells::TableOfCells;
use super::dialect::{Dialect, Suspicion, Verdict, declared_delimiter, shown_delimiter};
use super::format::preamble;
use super::options::ReadOptions;
use super::parsed::shown;
use super::quotes::QuoteScanner;
use crate::{Error, Result};

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) format: Format,
    /// How it is written, if it is a table.
    pub(super) dialect: Dialect,
}

impl Settled {
    fn other(format: Format) -> Self {
        Self {
            format,
            dialect: Dialect::usual(format),
        }
    }

    /// What ends its records.
    pub(super) fn record_ends(self) -> RecordEnds {
        match self.format {
            Format::Csv | Format::Tsv if self.dialect.quoted => {
                RecordEnds::Quoted(QuoteScanner::new(self.dialect.delimiter))
            }
            _ => RecordEnds::Lines,
        }
    }
}

/// What is known of a source before its first byte.
pub(super) struct Settling {
    /// What messages call it.
    pub(super) name: String,
    /// The format by options or name, or what it is where nothing tells.
    pub(super) likely: Option<Format>,
    /// Whether the content may overrule that.
    pub(super) open: bool,
    /// Whether the rows must have labels.
    pub(super) labelled: bool,
    /// Whether it is a table of another kind.
    pub(super) table: Option<TableOfCells>,
    pub(super) options: ReadOptions,
}

impl Settling {
    /// What the source is that begins with `bytes`; `None` if more of it must be seen.
    pub(super) fn settle(&self, bytes: &[u8], at_end: bool) -> Result<Option<Settled>> {
        if let Some(table) = self.table {
            return self.settle_table(table).map(Some);
        }
        if let Some(what) = no_text(bytes) {
            return Err(self.problem(what));
        }
        // What tells comes behind comments; a raw line may begin with `#` too.
        let comments = match self.likely {
            Some(Format::Lines | Format::FastText) => 0,
            _ => preamble(bytes),
        };
        if !at_end && memchr::memchr(b'\n', &bytes[comments..]).is_none() {
            return Ok(None);
        }
        let format = match self.by_content(bytes, at_end)? {
            ByContent::MoreNeeded => return Ok(None),
            ByContent::Table(dialect) => {
                return Ok(Some(Settled {
                    format: Format::Csv,
                    dialect,
                }));
            }
            ByContent::Format(format) => format,
        };
        if format == Format::Lines && self.labelled {
            return Err(self.problem(
                "raw lines have no labels; give the parameter `format` if this is another format, such as csv",
            ));
        }
        if !matches!(format, Format::Csv | Format::Tsv) {
            return Ok(Some(Settled::other(format)));
        }
        match Dialect::sniff(format, bytes, at_end, &self.options) {
            Verdict::MoreNeeded => Ok(None),
            Verdict::OneColumn => Ok(Some(Settled::other(format))),
            Verdict::Table(dialect) => Ok(Some(Settled { format, dialect })),
            Verdict::Unclear(one, other) => Err(self.problem(format!(
                "cannot tell whether {} or {} separates the columns; give the parameter `delimiter`",
                shown_delimiter(one),
                shown_delimiter(other)
            ))),
        }
    }

    /// A table of another kind is what it is: only an option could contradict.
    fn settle_table(&self, table: TableOfCells) -> Result<Settled> {
        if table.is_named && self.options.no_header {
            return Err(self.problem("has names of its columns; leave the parameter `no-header` out"));
        }
        match self.options.format {
            None | Some(Format::Csv | Format::Tsv) => Ok(Settled {
                format: Format::Csv,
                dialect: Dialect::CELLS,
            }),
            Some(other) => Err(self.problem(format!(
                "is a table with columns; leave the parameter `format` with {other} out"
            ))),
        }
    }

    fn by_content(&self, bytes: &[u8], at_end: bool) -> Result<ByContent> {
        let likely = || self.likely.map(ByContent::Format).ok_or_else(|| self.unknown());
        if !self.open {
            return likely();
        }
        if let Some(what) = markup(bytes) {
            return Err(self.problem(what));
        }
        if declared_delimiter(bytes).is_some() {
            return Ok(ByContent::Format(Format::Csv));
        }
        let shown_format = Format::from_content(bytes);
        if let Some(format @ (Format::FastText | Format::Jsonl | Format::Xmc)) = shown_format {
            return Ok(ByContent::Format(format));
        }
        if begins_like_json(bytes) {
            return Err(self.problem("looks like JSON over several lines; expected one JSON object per line"));
        }
        let is_text = !matches!(shown_format, Some(Format::Libsvm));
        if is_text && self.options.names_columns() {
            return Ok(ByContent::Format(Format::Csv));
        }
        if let Some(dialect) = Dialect::of_nameless(bytes, at_end, &self.options) {
            return Ok(ByContent::Table(dialect));
        }
        let mut lines = bytes[preamble(bytes)..].split(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default().trim_ascii();
        if self.options.wants(first) {
            // One line that says `text` is a text; with lines behind it, it is the name of their column.
            match (lines.any(|line| !line.trim_ascii().is_empty()), at_end) {
                (true, _) => return Ok(ByContent::Format(Format::Csv)),
                (false, false) => return Ok(ByContent::MoreNeeded),
                (false, true) => {}
            }
        }
        match shown_format {
            // Text where vectors are expected is a bad row, and those may be skipped.
            Some(Format::Lines) if !self.options.skip_bad_rows || self.likely == Some(Format::Lines) => {
                match Dialect::suspected(bytes, at_end, &self.options) {
                    Suspicion::MoreNeeded => Ok(ByContent::MoreNeeded),
                    Suspicion::Table(dialect, columns) => Err(self.suspicious(dialect, &columns)),
                    Suspicion::None => Ok(ByContent::Format(Format::Lines)),
                }
            }
            Some(Format::Lines) | None => likely(),
            Some(format) => Ok(ByContent::Format(format)),
        }
    }

    fn problem(&self, message: impl Into<String>) -> Error {
        Error::input(&self.name, message)
    }

    fn suspicious(&self, dialect: Dialect, columns: &[String]) -> Error {
        let columns: Vec<String> = columns.iter().map(|name| shown(name.as_bytes())).collect();
        self.problem(format!(
            "looks like a table with the columns {} (separated by {}); if it is one, give the parameter \
             `text-column`, and if every line is a text, the parameter `format` with lines",
            columns.join(", "),
            shown_delimiter(dialect.delimiter)
        ))
    }

    fn unknown(&self) -> Error {
        let formats = Format::ALL.map(Format::name).join(", ");
        self.problem(format!(
            "cannot tell the format from the name or the first lines; give the parameter `format` with one of {formats}"
        ))
    }
}

/// What the first bytes show.
enum ByContent {
    MoreNeeded,
    Table(Dialect),
    Format(Format),
}

/// What well-known files without lines of text begin with, decoded already: what is no UTF-8 was taken for
/// Windows-1252.
const NO_TEXT: [(&str, &str); 14] = [
    ("ARROW1\0", "an Arrow file"),
    ("\u{ff}\u{ff}\u{ff}\u{ff}", "an Arrow stream"),
    ("FEA1", "a Feather file of version 1"),
    (
        "\u{d0}\u{cf}\u{11}\u{e0}",
        "an Excel file of the old kind, or one with a password",
    ),
    ("SQLite format 3\0", "an SQLite database"),
    ("%PDF-", "a PDF"),
    ("{\\rtf", "a document in rich text"),
    ("\u{2030}PNG\r\n", "a picture"),
    ("\u{ff}\u{d8}\u{ff}", "a picture"),
    ("GIF8", "a picture"),
    ("7z\u{bc}\u{af}", "a 7-zip archive"),
    ("Rar!\u{1a}", "a RAR archive"),
    ("\u{201c}NUMPY", "an array of NumPy"),
    ("\u{7f}ELF", "a program"),
];

/// What to say if `bytes` are the beginning of a file without lines of text. No more than the first line
/// counts, so that it does not matter how much has come in.
fn no_text(bytes: &[u8]) -> Option<String> {
    let is_parquet = bytes.starts_with(b"PAR1") && bytes.get(4).is_some_and(u8::is_ascii_control);
    let known = NO_TEXT
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic.as_bytes()));
    let what = if is_parquet {
        "a Parquet file"
    } else if let Some((_, what)) = known {
        what
    } else {
        let first = bytes.split(|&byte| byte == b'\n').next()?;
        return memchr::memchr(0, first).map(|_| {
            "holds zero bytes in its first line, so it is no text, or in another encoding; save it as UTF-8".to_owned()
        });
    };
    let hint = match what {
        "a Parquet file" | "an Arrow file" | "an Arrow stream" => {
            "expected text, or the name of the file instead of its content"
        }
        "a Feather file of version 1" => "write it as version 2, and give the name of the file",
        "an Excel file of the old kind, or one with a password" => "save it as .xlsx without a password",
        _ => "expected rows of text",
    };
    Some(format!("is {what}; {hint}"))
}

/// What to say if the first line opens a page or a document.
fn markup(bytes: &[u8]) -> Option<&'static str> {
    let first = bytes.trim_ascii_start();
    let begins = |tag: &str| {
        let start = first.get(..tag.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
    };
    if begins("<!doctype html") || begins("<html") {
        Some("is a web page; expected rows of text, or a table that is saved as CSV")
    } else if begins("<?xml") {
        Some("is XML; expected rows of text, or a table that is saved as CSV")
    } else {
        None
    }
}

/// Whether the first line opens an array or an object that goes on in the next one.
fn begins_like_json(bytes: &[u8]) -> bool {
    let first = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = first.filter(|line| !line.is_empty()).take(1);
    first
        .into_iter()
        .any(|line| matches!(line, b"{" | b"[") || line.starts_with(b"[{"))
}
