//! The formats that data comes in, and how they are told apart.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::{Error, Result};

/// A format of data files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `label index:value …`, several labels as `l1,l2`; indices count from 1 (or from 0 if the options say so).
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

    /// The format that a file's name stands for; endings of compressed files (`.gz`, `.zst`, `.xz`) are looked through.
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

    /// The format of a file whose name does not settle it (`.txt`, or no name at all), from its first line: three
    /// whole numbers are an xmc header, which no libsvm row can be; `__label__` begins fastText.
    pub(super) fn from_first_line(line: &[u8]) -> Option<Self> {
        if line.trim_ascii_start().starts_with(b"__label__") {
            return Some(Self::FastText);
        }
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let numbers = words
            .by_ref()
            .take(3)
            .filter(|word| word.iter().all(u8::is_ascii_digit))
            .count();
        (numbers == 3 && words.next().is_none()).then_some(Self::Xmc)
    }
}

/// Whether the name leaves the format to the content.
pub(super) fn is_vague(path: &Path) -> bool {
    extension(path).is_some_and(|ending| ending == "txt")
}

/// The ending of a file's name in lower case, without those of compression.
fn extension(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = [".gz", ".zst", ".xz"]
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
        assert_eq!(Format::from_first_line(b"10 20 3\r\n"), Some(Format::Xmc));
        assert_eq!(Format::from_first_line(b"10 20:3 3"), None);
        assert_eq!(Format::from_first_line(b"10 20 3 4"), None);
        assert_eq!(Format::from_first_line(b"10 20"), None);
        assert_eq!(
            Format::from_first_line(b"__label__a text"),
            Some(Format::FastText)
        );
        assert_eq!(Format::from_first_line(b""), None);
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
