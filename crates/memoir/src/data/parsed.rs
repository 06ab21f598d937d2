//! What parsing one block yields, whatever the format.

use super::kept::Cells;
use super::number::whole_value;
use super::prepared::StoredWords;
use crate::Error;
use crate::dataset::{ClassNames, LabelSets};
use crate::sparse::Rows;

/// How many bad rows a report tells in full.
pub(super) const TOLD_BAD_ROWS: usize = 5;

/// Something wrong in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// Lines below the one where the row begins.
    pub(super) line: u64,
    /// Bytes behind the start of that line.
    pub(super) column: usize,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(column: usize, message: impl Into<String>) -> Self {
        Self {
            line: 0,
            column,
            message: message.into(),
        }
    }

    /// A problem at the byte `place` of a row that may have several lines.
    pub(super) fn inside(row: &[u8], offset: usize, message: impl Into<String>) -> Self {
        let before = &row[..offset.min(row.len())];
        Self {
            line: memchr::memchr_iter(b'\n', before).count() as u64,
            column: memchr::memrchr(b'\n', before).map_or(before.len(), |end| before.len() - end - 1),
            message: message.into(),
        }
    }

    /// The error for a problem in a row of the file `name` that begins in this line.
    pub(super) fn located(self, name: &str, line: u64) -> Error {
        Error::Data {
            file: name.to_owned(),
            line: line + self.line,
            column: self.column as u64 + 1,
            message: self.message,
        }
    }
}

/// A problem and the number of its line in the block, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadRow {
    pub(super) line: u64,
    pub(super) problem: Problem,
}

/// Raw texts, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    /// The texts that end at `ends` in `text`; these rise and are boundaries of characters.
    pub(super) fn new(text: String, ends: Vec<usize>) -> Self {
        Self { text, ends }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.ends.len()).map(|index| {
            let start = if index == 0 { 0 } else { self.ends[index - 1] };
            &self.text[start..self.ends[index]]
        })
    }
}

/// The rows of one block. Class numbers are those of `names`, in the order of first appearance in the block.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parsed {
    /// Number of the block in all that is read.
    pub(crate) number: usize,
    /// The vectors, in formats that hold vectors.
    pub(crate) rows: Rows,
    /// One more than the largest feature number met, even where its value is zero and not kept.
    pub(crate) width: usize,
    /// The texts, in formats that hold text.
    pub(crate) texts: Texts,
    /// Their words, where these were cut before (prepared data).
    pub(crate) words: Option<StoredWords>,
    pub(crate) labels: LabelSets,
    pub(crate) names: ClassNames,
    /// The cells of all rows that are kept for the output.
    pub(crate) kept: Cells,
    /// Weights of all rows as soon as one of them has one.
    pub(crate) weights: Option<Vec<f32>>,
    /// The line in the block, counted from 0, where each row begins.
    pub(crate) row_lines: Vec<u32>,
    /// The line in the block where each bad row begins.
    pub(crate) bad_lines: Vec<u32>,
    pub(super) tally: Tally,
}

/// What was met in a block besides its rows.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// Number of lines.
    pub(super) lines: u64,
    pub(super) bad_rows: u64,
    /// The first of them.
    pub(super) told: Vec<BadRow>,
}

impl Parsed {
    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.width = 0;
        self.texts.text.clear();
        self.texts.ends.clear();
        self.words = None;
        self.labels.clear();
        self.names.clear();
        self.kept.clear();
        self.weights = None;
        self.row_lines.clear();
        self.bad_lines.clear();
        self.tally = Tally::default();
    }

    /// Notes what every row has; its vector or text is pushed by the format.
    pub(super) fn push_row(&mut self, line: u64, labels: impl Iterator<Item = u32>, weight: Option<f32>) {
        self.labels.push(labels);
        let before = self.row_lines.len();
        self.row_lines.push(line as u32);
        match (&mut self.weights, weight) {
            (Some(weights), weight) => weights.push(weight.unwrap_or(1.0)),
            (empty @ None, Some(weight)) => {
                let mut weights = vec![1.0; before];
                weights.push(weight);
                *empty = Some(weights);
            }
            (None, None) => {}
        }
    }

    /// The rows of which `keep` is true, with the classes that occur in them.
    pub(crate) fn filtered(&self, keep: &[bool]) -> Self {
        let mut kept = Self {
            width: self.width,
            ..Self::default()
        };
        for (row, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
            let names = self.labels.row(row).iter().map(|&label| self.names.name(label));
            let labels: Vec<u32> = names.map(|name| kept.names.intern(name)).collect();
            let weight = self.weights.as_ref().map(|weights| weights[row]);
            kept.push_row(u64::from(self.row_lines[row]), labels.into_iter(), weight);
            if !self.rows.is_empty() {
                kept.rows.push(self.rows.row(row));
            }
        }
        for (text, _) in self.texts.iter().zip(keep).filter(|(_, keep)| **keep) {
            kept.texts.push(text);
        }
        kept
    }

    /// Notes a bad row.
    pub(super) fn push_bad(&mut self, line: u64, problem: Problem) {
        self.tally.bad_rows += 1;
        self.bad_lines.push(line as u32);
        if self.tally.told.len() < TOLD_BAD_ROWS {
            self.tally.told.push(BadRow { line, problem });
        }
    }
}

/// `token` as messages show it: quoted, on one line, not too long.
pub(super) fn shown(token: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&token[..token.len().min(4 * LONGEST)]);
    let short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(LONGEST).is_some() {
        "…"
    } else {
        ""
    };
    format!("`{short}{more}`")
}

/// Weights beyond these drown all other rows, or drown in them.
const WEIGHTS: std::ops::RangeInclusive<f32> = 1e-6..=1e6;

/// Reads the weight of a row.
pub(super) fn read_weight(text: &[u8]) -> Result<f32, String> {
    match whole_value(text) {
        Ok(weight) if WEIGHTS.contains(&weight) => Ok(weight),
        _ => Err(format!(
            "expected a number from 0.000001 to 1000000 as the weight, found {}",
            shown(text)
        )),
    }
}

/// Whether this is what a spreadsheet shows in place of a value.
pub(super) fn is_failed_formula(cell: &str) -> bool {
    const ERRORS: [&str; 8] = [
        "#N/A", "#REF!", "#DIV/0!", "#NAME?", "#VALUE!", "#NULL!", "#NUM!", "#SPILL!",
    ];
    let cell = cell.trim();
    cell.starts_with('#') && ERRORS.contains(&cell)
}

/// The numbers of the labels in a field, which are separated by `separator` or else one label. A blank field
/// has none.
pub(super) fn split_labels(
    field: &str,
    separator: Option<&str>,
    names: &mut ClassNames,
    classes: &mut Vec<u32>,
) -> Result<(), String> {
    let field = field.trim();
    let mut parts = field.split(separator.unwrap_or("\n"));
    if let Some(failed) = parts.find(|label| is_failed_formula(label)) {
        return Err(format!(
            "expected a label, found {}, which a spreadsheet writes where a formula failed",
            shown(failed.trim().as_bytes())
        ));
    }
    match separator {
        _ if field.is_empty() => {}
        None => classes.push(names.intern(field)),
        Some(separator) => {
            // All are checked before the first gets a number: a bad row leaves no class behind.
            if field.split(separator).any(|label| label.trim().is_empty()) {
                return Err(format!(
                    "expected labels separated by `{separator}`, found an empty one in {}",
                    shown(field.as_bytes())
                ));
            }
            classes.extend(field.split(separator).map(|label| names.intern(label.trim())));
        }
    }
    Ok(())
}
