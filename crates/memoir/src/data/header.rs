//! The first line of an xmc file: `rows features classes`.

use super::number::leading_digits;
use super::options::MAX_FEATURES;
use super::parsed::{Problem, shown};

/// What the first line of an xmc file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) rows: u64,
    pub(super) features: u64,
    pub(super) classes: u64,
}

impl Header {
    /// Reads the first line.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Problem> {
        let wrong = || {
            let found = shown(line.trim_ascii());
            Problem::new(
                0,
                format!("expected a header of three whole numbers (rows, features, classes), found {found}"),
            )
        };
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let mut number = || {
            let word = words.next().ok_or_else(wrong)?;
            let (number, length) = leading_digits(word);
            if length < word.len() {
                Err(wrong())
            } else {
                Ok(number)
            }
        };
        let header = Self {
            rows: number()?,
            features: number()?,
            classes: number()?,
        };
        if words.next().is_some() {
            return Err(wrong());
        }
        if header.features > MAX_FEATURES as u64 {
            let found = header.features;
            return Err(Problem::new(
                0,
                format!("the header says {found} features; at most {MAX_FEATURES} are supported"),
            ));
        }
        Ok(header)
    }
}
