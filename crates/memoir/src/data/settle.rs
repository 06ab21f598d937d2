//! Settles what a source is, by its name, the options and its first bytes: the format, and how a table is
//! written. Where that stays open, an error says which option settles it.

use super::Format;
use super::blocks::RecordEnds;
use super::dialect::{Dialect, Suspicion, Verdict, shown_delimiter};
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
    pub(super) options: ReadOptions,
}

impl Settling {
    /// What the source is that begins with `bytes`; `None` if more of it must be seen.
    pub(super) fn settle(&self, bytes: &[u8], at_end: bool) -> Result<Option<Settled>> {
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

    fn by_content(&self, bytes: &[u8], at_end: bool) -> Result<ByContent> {
        let likely = || self.likely.map(ByContent::Format).ok_or_else(|| self.unknown());
        if !self.open {
            return likely();
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
            "cannot tell the format from the name; give the parameter `format` with one of {formats}"
        ))
    }
}

/// What the first bytes show.
enum ByContent {
    MoreNeeded,
    Table(Dialect),
    Format(Format),
}

/// What `bytes` are the beginning of, if that is a well-known kind of file without lines of text. They are
/// decoded already: what is no UTF-8 was taken for Windows-1252.
fn no_text(bytes: &[u8]) -> Option<&'static str> {
    let is_control = |byte: Option<&u8>| byte.is_some_and(|byte| *byte < b'\t');
    let is = |magic: &str| bytes.starts_with(magic.as_bytes());
    if is("PAR1") && bytes.get(4).is_some_and(u8::is_ascii_control) {
        Some("is a Parquet file; expected text, or the name of the file instead of its content")
    } else if is("ARROW1") && is_control(bytes.get(6)) {
        Some("is an Arrow file; expected text, or the name of the file instead of its content")
    } else if is("\u{d0}\u{cf}\u{11}\u{e0}") {
        Some("is an Excel file of the old kind, or one with a password; save it as .xlsx without a password")
    } else if is("%PDF-") {
        Some("is a PDF; expected rows of text")
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
