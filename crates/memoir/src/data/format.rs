//! The formats that data comes in, and how they are told apart.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::de::IgnoredAny;

use super::number::{leading_digits, whole_value};
use crate::{Error, Result};

/// A format of data files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `label index:value …`, several labels as `l1,l2`; indices count from 1 (or from 0 if the options say
    /// so).
    Libsvm,
    /// As libsvm behind a first line `rows features classes`; indices count from 0.
    Xmc,
    /// `__label__a __label__b text …`.
    FastText,
    /// Comma-separated values with a header line.
    Csv,
    /// Tab-separated values with a header line.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// Raw text, one row per line (blank lines too), without labels: for prediction only.
    Lines,
}

/// What the rows of a format hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Sparse vectors.
    Vectors,
    /// Raw text.
    Text,
}

impl Content {
    /// The formats that give it, for messages.
    pub fn formats(self) -> &'static str {
        match self {
            Self::Vectors => "libsvm, xmc",
            Self::Text => "fasttext, csv, tsv, jsonl, lines",
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vectors => "vectors",
            Self::Text => "text",
        })
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::Libsvm,
        Self::Xmc,
        Self::FastText,
        Self::Csv,
        Self::Tsv,
        Self::Jsonl,
        Self::Lines,
    ];

    /// Name as in `--format NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Libsvm => "libsvm",
            Self::Xmc => "xmc",
            Self::FastText => "fasttext",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Jsonl => "jsonl",
            Self::Lines => "lines",
        }
    }

    /// What its rows hold.
    pub fn content(self) -> Content {
        match self {
            Self::Libsvm | Self::Xmc => Content::Vectors,
            Self::FastText | Self::Csv | Self::Tsv | Self::Jsonl | Self::Lines => Content::Text,
        }
    }

    /// The format that a file's name stands for; endings of compressed files (`.gz`, `.zst`, `.xz`,
    /// `.bz2`, `.zip`) are looked through.
    pub fn from_path(path: &Path) -> Option<Self> {
        match extension(path)?.as_str() {
            "svm" | "libsvm" | "txt" => Some(Self::Libsvm),
            "xmc" => Some(Self::Xmc),
            "ft" | "fasttext" => Some(Self::FastText),
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            _ => None,
        }
    }

    /// The format of data whose name does not settle it (`.txt`, or no name at all), where its first rows
    /// leave no doubt: three whole numbers are an xmc header, which no libsvm row can be; `__label__` begins
    /// fastText; an object is JSON. Rows are vectors or raw text if they cannot be the other.
    pub(super) fn from_content(bytes: &[u8]) -> Option<Self> {
        let bytes = &bytes[preamble(bytes)..];
        let first = bytes.split(|&byte| byte == b'\n').next()?.trim_ascii();
        if first.starts_with(b"__label__") {
            return Some(Self::FastText);
        }
        if first.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(first).is_ok() {
            return Some(Self::Jsonl);
        }
        let header = words(without_comment(first));
        if header.len() == 3 && header.iter().all(|word| word.iter().all(u8::is_ascii_digit)) {
            return Some(Self::Xmc);
        }
        let (mut pairs, mut letters, mut are_vectors) = (0, false, true);
        let rows = bytes
            .split(|&byte| byte == b'\n')
            .map(|line| words(without_comment(line)));
        for row in rows.filter(|row| !row.is_empty()).take(JUDGED_ROWS) {
            let indices: Vec<Option<u64>> = row.iter().map(|word| index_of_pair(word)).collect();
            let behind_label = &indices[usize::from(indices[0].is_none())..];
            are_vectors &= behind_label.iter().all(Option::is_some)
                && behind_label.is_sorted_by(|index, next| index < next);
            pairs += indices.iter().flatten().count();
            letters |= row.iter().any(|word| word.iter().any(u8::is_ascii_alphabetic));
        }
        match pairs {
            0 if letters => Some(Self::Lines),
            SURE_PAIRS.. if are_vectors => Some(Self::Libsvm),
            _ => None,
        }
    }
}

/// How far the name of a source tells the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedFormat {
    /// It is this one.
    Sure(Format),
    /// It may be this one; the content may overrule that.
    Likely(Format),
    /// The content must tell.
    Unknown,
    /// There is no name; where the content does not tell, it is what is usual.
    Nameless,
}

impl NamedFormat {
    pub(super) fn of(path: &Path) -> Self {
        match Format::from_path(path) {
            Some(format) if is_vague(path) => Self::Likely(format),
            Some(format) => Self::Sure(format),
            None => Self::Unknown,
        }
    }

    /// What it is where the content does not tell: the format of the name, or else the `usual` one.
    pub(super) fn likely(self, usual: Option<Format>) -> Option<Format> {
        match self {
            Self::Likely(_) | Self::Nameless if usual.is_some() => usual,
            _ => self.format(),
        }
    }

    /// The format, as far as the name tells it.
    pub(crate) fn format(self) -> Option<Format> {
        match self {
            Self::Sure(format) | Self::Likely(format) => Some(format),
            Self::Unknown | Self::Nameless => None,
        }
    }
}

/// Rows that are looked at.
const JUDGED_ROWS: usize = 8;

/// So many `index:value`, behind labels and with rising indices, are vectors: times of day in a text hardly
/// come like that.
const SURE_PAIRS: usize = 3;

/// Length of the blank lines and comments that `bytes` begins with.
pub(super) fn preamble(bytes: &[u8]) -> usize {
    let mut length = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let content = line.trim_ascii_start();
        if !content.is_empty() && content[0] != b'#' {
            break;
        }
        length += line.len();
    }
    length
}

/// A line up to its comment.
pub(super) fn without_comment(line: &[u8]) -> &[u8] {
    &line[..memchr::memchr(b'#', line).unwrap_or(line.len())]
}

fn words(line: &[u8]) -> Vec<&[u8]> {
    let words = line.split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty()).collect()
}

/// The index of an `index:value`.
fn index_of_pair(word: &[u8]) -> Option<u64> {
    let (index, digits) = leading_digits(word);
    let value = word.get(digits..)?.strip_prefix(b":")?;
    (digits > 0 && whole_value(value).is_ok()).then_some(index)
}

/// Whether the name leaves the format to the content.
fn is_vague(path: &Path) -> bool {
    extension(path).is_some_and(|ending| ending == "txt")
}

/// The ending of a file's name in lower case, without those of compression.
fn extension(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = [".gz", ".zst", ".xz", ".bz2", ".zip"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    Some(name.rsplit_once('.')?.1.to_owned())
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                Error::Parameter(format!("there is no format `{text}`; there are: {names}"))
            })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats_through_compression() {
        let format = |name: &str| Format::from_path(Path::new(name));
        assert_eq!(format("a/train.svm"), Some(Format::Libsvm));
        assert_eq!(format("train.xmc.gz"), Some(Format::Xmc));
        assert_eq!(format("Train.CSV.ZST"), Some(Format::Csv));
        assert_eq!(format("x.tsv"), Some(Format::Tsv));
        assert_eq!(format("x.fasttext"), Some(Format::FastText));
        assert_eq!(format("x.ndjson.xz"), Some(Format::Jsonl));
        assert_eq!(format("x.gz"), None);
        assert_eq!(format("svm"), None);
        assert!(is_vague(Path::new("x.txt.gz")) && !is_vague(Path::new("x.svm")));
    }

    #[test]
    fn first_lines_tell_formats() {
        let format = |content: &str| Format::from_content(content.as_bytes());
        assert_eq!(format("10 20 3\r\n"), Some(Format::Xmc));
        assert_eq!(format("__label__a text"), Some(Format::FastText));
        assert_eq!(format("10 20:3 3"), None);
        assert_eq!(format("10 20 3 4"), None);
        assert_eq!(format("10 20"), None);
        assert_eq!(format(""), None);
        assert_eq!(format("\n# \n"), None);
    }

    #[test]
    fn vectors_and_text_are_told_apart_where_no_doubt_is_left() {
        let format = |content: &str| Format::from_content(content.as_bytes());
        assert_eq!(format("a,b 3:1 17:0.5 20:1e3\n"), Some(Format::Libsvm));
        assert_eq!(format("# from April\n\n 3:1 17:0.5 20:1\n"), Some(Format::Libsvm));
        assert_eq!(format("a 3:1 17:0.5\nb\nc 4:1 # last\n"), Some(Format::Libsvm));
        assert_eq!(format("a 3:1 17:0.5\n"), None, "two may be anything");
        assert_eq!(format("open 8:00 7:30 9:15\n"), None, "no vector goes down");
        assert_eq!(format("open 8:00 to 9:15 or 9:30\n"), None, "a bad row or a text");
        assert_eq!(format("printer out of toner\n"), Some(Format::Lines));
        assert_eq!(format("printer\n"), Some(Format::Lines));
        assert_eq!(format("text,label\ntea,a\n"), Some(Format::Lines));
        assert_eq!(
            format("printer out of toner\nx 1:1\n"),
            None,
            "a bad row or a text"
        );
        assert_eq!(format("{\"text\": \"3:1\"}\n"), Some(Format::Jsonl));
        assert_eq!(format("{tea}\n"), Some(Format::Lines));
        assert_eq!(format("7 8 9 10\n"), None, "a bad row or a text");
    }

    #[test]
    fn what_comes_before_the_first_row_is_passed_over() {
        let format = |content: &str| Format::from_content(content.as_bytes());
        assert_eq!(
            format("# c\n\n10 20 3 # rows, features, classes\n"),
            Some(Format::Xmc)
        );
        assert_eq!(format("\n__label__a tea"), Some(Format::FastText));
        assert_eq!(preamble(b"\n # c\r\n\na # b\n# c\n"), 8);
    }

    #[test]
    fn every_name_is_read_back() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
        assert_eq!(
            "arff".parse::<Format>().unwrap_err().to_string(),
            "there is no format `arff`; there are: libsvm, xmc, fasttext, csv, tsv, jsonl, lines"
        );
    }
}
