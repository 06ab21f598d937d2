//! A parser of one format, with what its header says.

use super::dialect::Dialect;
use super::format::{preamble, without_comment};
use super::header::Header;
use super::jsonl::JsonParser;
use super::libsvm::VectorParser;
use super::parsed::{Parsed, Problem};
use super::table::TableParser;
use super::{Format, KeepColumns, ReadOptions};
use super::{fasttext, lines};

/// What the only column of raw lines is called in the output.
const TEXT: &str = "text";

/// A parser of one format, ready for blocks.
pub(super) enum Parser {
    Vectors(VectorParser),
    FastText { keep: bool },
    Table(TableParser),
    Json(JsonParser),
    RawLines { keep: bool },
}

impl Parser {
    /// The parser for `format`, and the length of the header in front of `bytes`, the first block.
    pub(super) fn new(
        format: Format,
        dialect: Dialect,
        bytes: &[u8],
        options: &ReadOptions,
        labels_needed: bool,
    ) -> Result<(Self, usize), Problem> {
        // What has no columns has a text.
        let keep = match &options.keep_columns {
            KeepColumns::None => false,
            KeepColumns::All => true,
            KeepColumns::Named(names) => names.iter().any(|name| name == TEXT),
        };
        Ok(match format {
            Format::Libsvm => (
                Self::Vectors(VectorParser::libsvm(options)),
                challenge_header(bytes),
            ),
            Format::Xmc => {
                let before = preamble(bytes);
                let line = first_line(&bytes[before..]);
                let header = Header::parse(without_comment(line)).map_err(|problem| Problem {
                    line: memchr::memchr_iter(b'\n', &bytes[..before]).count() as u64,
                    ..problem
                })?;
                (
                    Self::Vectors(VectorParser::xmc(options, header)),
                    before + line.len(),
                )
            }
            Format::FastText => (Self::FastText { keep }, 0),
            Format::Csv | Format::Tsv => {
                let (parser, length) = TableParser::open(dialect, bytes, options, labels_needed)?;
                (Self::Table(parser), length)
            }
            Format::Jsonl => (Self::Json(JsonParser::new(options, bytes, labels_needed)?), 0),
            Format::Lines => (Self::RawLines { keep }, 0),
        })
    }

    pub(super) fn parse(&self, bytes: &[u8], skip_bad_rows: bool, parsed: &mut Parsed) {
        match self {
            Self::Vectors(parser) => parser.parse(bytes, parsed),
            Self::FastText { keep } => fasttext::parse(bytes, skip_bad_rows, *keep, parsed),
            Self::Table(parser) => parser.parse(bytes, parsed),
            Self::Json(parser) => parser.parse(bytes, parsed),
            Self::RawLines { keep } => lines::parse_raw(bytes, skip_bad_rows, *keep, parsed),
        }
    }

    /// Names of the columns that go to the output, and whether their cells are JSON.
    pub(super) fn kept_columns(&self) -> (Vec<String>, bool) {
        match self {
            Self::Table(parser) => (parser.kept_columns().to_vec(), false),
            Self::Json(parser) => (parser.kept_columns().to_vec(), true),
            Self::FastText { keep: true } | Self::RawLines { keep: true } => (vec![TEXT.to_owned()], false),
            _ => (Vec::new(), false),
        }
    }

    /// What was guessed and may be wrong.
    pub(super) fn note(&self) -> Option<&str> {
        match self {
            Self::Table(parser) => parser.note(),
            _ => None,
        }
    }

    /// The column of the labels, where it was guessed.
    pub(super) fn guessed_label(&self) -> Option<&str> {
        match self {
            Self::Table(parser) => parser.guessed_label(),
            Self::Json(parser) => parser.guessed_label(),
            _ => None,
        }
    }

    /// What the header of an xmc file promises.
    pub(super) fn header(&self) -> Option<Header> {
        match self {
            Self::Vectors(parser) => parser.header(),
            _ => None,
        }
    }

    /// The number that vectors give to the first feature.
    pub(super) fn first_index(&self) -> u32 {
        match self {
            Self::Vectors(parser) => parser.first_index(),
            _ => 0,
        }
    }

    /// What a file must have in common with the ones that it is read together with, where that is not the
    /// same: what was found, and what was expected.
    pub(super) fn difference(&self, first: &Self) -> Option<(String, String)> {
        let promise = |parser: &Self| parser.header().map(|header| (header.features, header.classes));
        let (found, expected) = match (self, first) {
            (Self::Table(found), Self::Table(expected)) => (found.used_columns(), expected.used_columns()),
            _ if promise(self) != promise(first) => {
                let shown = |parser| match promise(parser) {
                    Some((features, classes)) => {
                        format!("a header with {features} features and {classes} classes")
                    }
                    None => "no header".to_owned(),
                };
                (shown(self), shown(first))
            }
            _ => return None,
        };
        (found != expected).then_some((found, expected))
    }
}

/// Length of the line `Data` that some files of the LSHTC challenges begin with; 0 if there is none.
fn challenge_header(bytes: &[u8]) -> usize {
    let line = first_line(bytes);
    if line.trim_ascii() == b"Data" {
        line.len()
    } else {
        0
    }
}

/// The first line of `bytes`, with its end.
fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)]
}
