//! Vectors as text: `label index:value …` (libsvm) and the same behind a header `rows features classes`
//! (xmc).
//!
//! - Several labels are separated by commas, behind which blanks may stand (`3, 17 5:1`), as in files of
//!   the LSHTC challenges. A line that begins with a blank, or with an `index:value`, has no label.
//! - `#` begins a comment; `# weight=0.5` in it is the weight of the row.
//! - Indices may come in any order; values of a repeated index are added up; zeros are not kept.
//! - Lines without anything are passed over (in xmc, a line of blanks is a row without labels and features).

use super::Parsed;
use super::header::Header;
use super::number::{BadValue, leading_digits, plain_decimal, whole_value};
use super::options::{MAX_FEATURES, ReadOptions};
use super::parsed::{Problem, read_weight, shown};
use crate::dataset::ClassNames;

/// Parses blocks of rows.
#[derive(Debug, Clone)]
pub(super) struct VectorParser {
    /// The smallest index: 0 or 1.
    first_index: u64,
    header: Option<Header>,
    /// What separates labels, unless the label field is one label.
    separator: Option<String>,
    skip_bad_rows: bool,
}

/// The row being read; kept from row to row for its memory.
#[derive(Default)]
struct Draft {
    /// Length of the label field, with which the line begins; 0 if there is none.
    label_length: usize,
    indices: Vec<u32>,
    values: Vec<f32>,
    increasing: bool,
    /// One more than the largest index.
    width: usize,
    weight: Option<f32>,
    /// Whether the line holds a row.
    present: bool,
    entries: Vec<(u32, f32)>,
    label_ends: Vec<(usize, usize)>,
    classes: Vec<u32>,
}

const NO_LABEL: &str = "expected a label, found nothing between separators";

fn ends_value(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'#')
}

/// The part of `bytes` before the next blank or line end.
fn token(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().position(u8::is_ascii_whitespace);
    &bytes[..length.unwrap_or(bytes.len())]
}

impl VectorParser {
    pub(super) fn libsvm(options: &ReadOptions) -> Self {
        let separator = options.separator().unwrap_or(",").to_owned();
        Self {
            first_index: u64::from(!options.zero_based),
            header: None,
            separator: (!options.is_single_label() && !separator.is_empty()).then_some(separator),
            skip_bad_rows: options.skip_bad_rows,
        }
    }

    pub(super) fn xmc(options: &ReadOptions, header: Header) -> Self {
        Self {
            first_index: 0,
            header: Some(header),
            ..Self::libsvm(options)
        }
    }

    /// What the header says, in files that have one.
    pub(super) fn header(&self) -> Option<Header> {
        self.header
    }

    /// The smallest index: 0 or 1.
    pub(super) fn first_index(&self) -> u32 {
        self.first_index as u32
    }

    /// Parses whole lines, up to the first bad row unless those are skipped.
    pub(super) fn parse(&self, bytes: &[u8], parsed: &mut Parsed) {
        let mut draft = Draft::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let line = parsed.tally.lines;
            parsed.tally.lines += 1;
            match self.read_row(rest, &mut draft).and_then(|length| {
                self.keep_row(&rest[..length], line, &mut draft, parsed)?;
                Ok(length)
            }) {
                Ok(length) => rest = &rest[length..],
                Err(problem) => {
                    parsed.push_bad(line, problem);
                    if !self.skip_bad_rows {
                        break;
                    }
                    let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |offset| offset + 1);
                    rest = &rest[end..];
                }
            }
        }
    }

    /// Reads the line at the start of `bytes` into `draft`; returns its length with the line end.
    fn read_row(&self, bytes: &[u8], draft: &mut Draft) -> Result<usize, Problem> {
        draft.label_length = 0;
        draft.indices.clear();
        draft.values.clear();
        draft.increasing = true;
        draft.width = 0;
        draft.weight = None;
        draft.present = false;
        let at = |offset: usize| bytes.get(offset).copied().unwrap_or(b'\n');
        let mut offset = self.read_label(bytes, draft)?;
        let mut previous = 0;
        loop {
            match at(offset) {
                b' ' | b'\t' | b'\r' => {
                    offset += 1;
                    continue;
                }
                b'\n' => return Ok((offset + 1).min(bytes.len())),
                b'#' => return Self::read_comment(bytes, offset, draft),
                _ => {}
            }
            let (index, digits) = leading_digits(&bytes[offset..]);
            if digits == 0 || at(offset + digits) != b':' {
                return Err(Self::explain_token(token(&bytes[offset..]), offset));
            }
            // Numbered from 0 from here on; an index 0 of a 1-based file turns out too large.
            let feature = index.wrapping_sub(self.first_index);
            if feature >= self.header.map_or(MAX_FEATURES as u64, |header| header.features) {
                return Err(self.explain_index(index, offset));
            }
            let value_offset = offset + digits + 1;
            let digit = at(value_offset).wrapping_sub(b'0');
            let (value, length) = if digit <= 9 && ends_value(at(value_offset + 1)) {
                // Most values are small counts.
                (f32::from(digit), 1)
            } else if let Some(plain) = plain_decimal(&bytes[value_offset..], ends_value) {
                plain
            } else {
                Self::read_odd_value(&bytes[value_offset..], index, value_offset)?
            };
            offset = value_offset + length;
            let width = feature as usize + 1;
            draft.width = draft.width.max(width);
            if value != 0.0 {
                draft.increasing &= width > previous;
                previous = width;
                draft.indices.push(feature as u32);
                draft.values.push(value);
            }
            draft.present = true;
        }
    }

    /// Reads the label field, if there is one; returns where the features begin.
    fn read_label(&self, bytes: &[u8], draft: &mut Draft) -> Result<usize, Problem> {
        let field = token(bytes);
        if field.is_empty() {
            draft.present =
                self.header.is_some() && bytes.first().is_some_and(|&byte| byte == b' ' || byte == b'\t');
            return Ok(0);
        }
        let (_, digits) = leading_digits(field);
        if field[0] == b'#' || (digits > 0 && field.get(digits) == Some(&b':')) {
            return Ok(0);
        }
        if field.starts_with(b"qid:") {
            return Err(Self::explain_token(field, 0));
        }
        let length = self.label_field(bytes, field.len())?;
        draft.label_length = length;
        draft.present = true;
        Ok(length)
    }

    /// Length of the label field whose first word has `length` bytes: a separator at the end of a word goes
    /// on with the next one, unless that is a feature or the line ends.
    fn label_field(&self, bytes: &[u8], mut length: usize) -> Result<usize, Problem> {
        let Some(separator) = &self.separator else {
            return Ok(length);
        };
        while bytes[..length].ends_with(separator.as_bytes()) {
            let blanks = bytes[length..].iter().take_while(|&&byte| byte == b' ').count();
            let next = token(&bytes[length + blanks..]);
            let (_, digits) = leading_digits(next);
            let is_feature = digits > 0 && next.get(digits) == Some(&b':');
            if next.is_empty() || next[0] == b'#' || is_feature {
                return Err(Problem::new(length, NO_LABEL));
            }
            length += blanks + next.len();
        }
        Ok(length)
    }

    /// Reads what follows `#` at `place`; returns the length of the line.
    fn read_comment(bytes: &[u8], offset: usize, draft: &mut Draft) -> Result<usize, Problem> {
        let end = memchr::memchr(b'\n', &bytes[offset..]).map_or(bytes.len(), |length| offset + length);
        let mut start = offset + 1;
        for word in bytes[start..end].split(u8::is_ascii_whitespace) {
            if let Some(number) = word.strip_prefix(b"weight=") {
                draft.weight = Some(read_weight(number).map_err(|message| Problem::new(start + 7, message))?);
            }
            start += word.len() + 1;
        }
        Ok((end + 1).min(bytes.len()))
    }

    /// Reads a value that is not a plain decimal.
    fn read_odd_value(bytes: &[u8], index: u64, column: usize) -> Result<(f32, usize), Problem> {
        let length = bytes
            .iter()
            .position(|&byte| ends_value(byte))
            .unwrap_or(bytes.len());
        let text = &bytes[..length];
        match whole_value(text) {
            Ok(value) => Ok((value, length)),
            Err(_) if text.is_empty() => Err(Problem::new(
                column,
                format!("expected a number as the value of feature {index}, found nothing"),
            )),
            Err(reason) => Err(Problem::new(
                column,
                format!(
                    "expected {} as the value of feature {index}, found {}",
                    expected_value(reason),
                    shown(text)
                ),
            )),
        }
    }

    fn explain_token(token: &[u8], column: usize) -> Problem {
        if token.starts_with(b"qid:") {
            return Problem::new(
                column,
                format!(
                    "found {}: query ids are for ranking and not supported; remove them",
                    shown(token)
                ),
            );
        }
        Problem::new(column, format!("expected `index:value`, found {}", shown(token)))
    }

    fn explain_index(&self, index: u64, column: usize) -> Problem {
        let message = if index < self.first_index {
            "expected indices that count from 1, found 0; if yours count from 0, give the parameter `zero-based`"
                .to_owned()
        } else if let Some(header) = self.header {
            let features = header.features;
            format!("expected an index below {features}, the header's number of features, found {index}")
        } else {
            format!("expected an index of at most {MAX_FEATURES}, the largest supported, found {index}")
        };
        Problem::new(column, message)
    }

    /// Adds the row in `draft`, which was read from `line`, to `parsed`.
    fn keep_row(
        &self,
        line: &[u8],
        number: u64,
        draft: &mut Draft,
        parsed: &mut Parsed,
    ) -> Result<(), Problem> {
        if !draft.present {
            return Ok(());
        }
        if !draft.increasing {
            draft.entries.clear();
            draft
                .entries
                .extend(draft.indices.iter().copied().zip(draft.values.iter().copied()));
            add_up_repeats(&mut draft.entries);
            draft.indices.clear();
            draft.values.clear();
            for &(index, value) in &draft.entries {
                draft.indices.push(index);
                draft.values.push(value);
            }
        }
        draft.classes.clear();
        if draft.label_length > 0 {
            self.read_labels(&line[..draft.label_length], draft, &mut parsed.names)?;
        }
        parsed.rows.push(crate::sparse::RowView {
            indices: &draft.indices,
            values: &draft.values,
        });
        parsed.width = parsed.width.max(draft.width);
        parsed.push_row(number, draft.classes.iter().copied(), draft.weight);
        Ok(())
    }

    fn read_labels(&self, field: &[u8], draft: &mut Draft, names: &mut ClassNames) -> Result<(), Problem> {
        let text = std::str::from_utf8(field).map_err(|reason| {
            let offset = reason.valid_up_to();
            Problem::new(
                offset,
                format!("expected UTF-8 text, found the byte 0x{:02x}", field[offset]),
            )
        })?;
        // All are checked before the first gets a number: a bad row leaves no class behind.
        draft.label_ends.clear();
        let mut start = 0;
        while let Some(length) = self.label_length(&text[start..]) {
            self.check_label(&text[start..start + length], start)?;
            draft.label_ends.push((start, start + length));
            start += length + self.separator.as_ref().map_or(0, String::len);
            start += text[start..].len() - text[start..].trim_start_matches(' ').len();
        }
        self.check_label(&text[start..], start)?;
        draft.label_ends.push((start, text.len()));
        let labels = draft.label_ends.iter().map(|&(start, end)| &text[start..end]);
        draft.classes.extend(labels.map(|label| names.intern(label)));
        Ok(())
    }

    /// Length of the first label in `text`, unless it is the last.
    fn label_length(&self, text: &str) -> Option<usize> {
        let separator = self.separator.as_deref()?;
        if let [byte] = *separator.as_bytes() {
            // Label fields are so short that a plain loop beats every search made for long texts.
            return text.bytes().position(|other| other == byte);
        }
        text.find(separator)
    }

    fn check_label(&self, label: &str, column: usize) -> Result<(), Problem> {
        if label.is_empty() {
            return Err(Problem::new(column, NO_LABEL));
        }
        if let Some(offset) = label.find(char::is_control) {
            let found = shown(label.as_bytes());
            return Err(Problem::new(
                column + offset,
                format!("expected a label, found control characters in {found}"),
            ));
        }
        let Some(header) = self.header else { return Ok(()) };
        let (number, digits) = leading_digits(label.as_bytes());
        if digits < label.len() || number >= header.classes {
            let classes = header.classes;
            let found = shown(label.as_bytes());
            return Err(Problem::new(
                column,
                format!("expected a label below {classes}, the header's number of classes, found {found}"),
            ));
        }
        Ok(())
    }
}

/// What should have been there instead of a bad value.
fn expected_value(reason: BadValue) -> &'static str {
    match reason {
        BadValue::NotANumber => "a number",
        BadValue::NotFinite => "a finite number",
        BadValue::TooLarge => "a number between -1e16 and 1e16",
    }
}

/// Sorts `entries` and adds up repeats, in the order in which they came.
fn add_up_repeats(entries: &mut Vec<(u32, f32)>) {
    entries.sort_by_key(|entry| entry.0);
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    entries.retain(|(_, value)| *value != 0.0);
}
