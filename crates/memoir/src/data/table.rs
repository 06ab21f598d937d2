//! Tables with a header line: comma-separated values, where a quoted field may hold commas, line ends and
//! doubled quotes, and tab-separated values, where quotes are characters like others.
//!
//! Text and labels are found by the names of their columns. Without options these are `text`, and `label` or
//! `labels`; in a table of two columns of which one is known, the other one is the other. An empty label
//! field is a row without labels. Every row must have as many columns as the header. Lines that begin with
//! `#` and have one field are comments.

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::Format;
use super::lines::valid_text;
use super::options::ReadOptions;
use super::parsed::{Parsed, Problem, read_weight, shown, split_labels};
use super::quotes::{BadQuote, QuoteScanner};

/// Parses blocks of whole records.
#[derive(Debug, Clone)]
pub(super) struct TableParser {
    delimiter: u8,
    quoted: bool,
    /// Number of columns.
    width: usize,
    text: usize,
    label: Option<usize>,
    weight: Option<usize>,
    separator: Option<String>,
    skip_bad_rows: bool,
    /// Which column was taken only because the other one is known.
    note: Option<String>,
}

/// Whether a record is a line that begins with `#` and has no second field, as no row of a table has.
fn is_comment(record: &ByteRecord) -> bool {
    record.len() == 1 && record[0].starts_with(b"#") && !record[0].contains(&b'\n')
}

/// The delimiter of a table format.
pub(super) fn delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

impl TableParser {
    /// Reads the header at the start of `bytes`: the parser, and the length of the header.
    pub(super) fn open(
        format: Format,
        bytes: &[u8],
        options: &ReadOptions,
        labels_needed: bool,
    ) -> Result<(Self, usize), Problem> {
        let separator = options.label_separator.clone().unwrap_or_else(|| "|".to_owned());
        let mut parser = Self {
            delimiter: delimiter(format),
            quoted: format == Format::Csv,
            width: 0,
            text: 0,
            label: None,
            weight: None,
            separator: (!options.single_label && !separator.is_empty()).then_some(separator),
            skip_bad_rows: options.skip_bad_rows,
            note: None,
        };
        let mut reader = parser.reader(bytes);
        let mut record = ByteRecord::new();
        let mut start = 0;
        // The header stands behind comments and blank lines.
        loop {
            let found = reader
                .read_byte_record(&mut record)
                .map_err(|reason| Problem::new(0, reason.to_string()))?;
            if !found {
                return Err(Problem::new(
                    0,
                    "expected a header with the names of the columns, found nothing",
                ));
            }
            if !is_comment(&record) {
                break;
            }
            start = reader.position().byte() as usize;
        }
        let end = reader.position().byte() as usize;
        start += bytes[start..end]
            .iter()
            .take_while(|byte| matches!(byte, b'\n' | b'\r'))
            .count();
        let lines = memchr::memchr_iter(b'\n', &bytes[..start]).count() as u64;
        parser
            .read_header(&bytes[start..end], &record, options, labels_needed)
            .map_err(|problem| Problem {
                line: lines + problem.line,
                ..problem
            })?;
        Ok((parser, end))
    }

    /// Learns from the header, `raw`, where what is.
    fn read_header(
        &mut self,
        raw: &[u8],
        record: &ByteRecord,
        options: &ReadOptions,
        labels_needed: bool,
    ) -> Result<(), Problem> {
        self.check_quotes(raw)?;
        let mut names = Vec::with_capacity(record.len());
        for (field, name) in record.iter().enumerate() {
            let name = valid_text(name).map_err(|problem| self.inside_field(raw, field, problem))?;
            names.push(name.trim());
        }
        self.width = names.len();
        self.choose_columns(&names, options, labels_needed)
    }

    /// What was guessed and may be wrong.
    pub(super) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    fn reader<'b>(&self, bytes: &'b [u8]) -> Reader<&'b [u8]> {
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quoting(self.quoted)
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes)
    }

    fn choose_columns(
        &mut self,
        names: &[&str],
        options: &ReadOptions,
        labels_needed: bool,
    ) -> Result<(), Problem> {
        let find = |wanted: &str| names.iter().position(|&name| name == wanted);
        let listed = || {
            names
                .iter()
                .map(|name| shown(name.as_bytes()))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let given = |wanted: &Option<String>, what: &str| match wanted {
            None => Ok(None),
            Some(name) => find(name).map(Some).ok_or_else(|| {
                Problem::new(
                    0,
                    format!(
                        "expected a column {} for the {what}, found {}",
                        shown(name.as_bytes()),
                        listed()
                    ),
                )
            }),
        };
        if let Some((_, name)) = names
            .iter()
            .enumerate()
            .find(|(index, name)| find(name) != Some(*index))
        {
            return Err(Problem::new(
                0,
                format!(
                    "expected different columns, found {} twice",
                    shown(name.as_bytes())
                ),
            ));
        }
        self.weight = given(&options.weight_column, "weight")?;
        let text = given(&options.text_column, "text")?.or_else(|| find("text"));
        let label = given(&options.label_column, "labels")?
            .or_else(|| find("label"))
            .or_else(|| find("labels"));
        let other = |one: usize| (names.len() == 2 && self.weight.is_none()).then(|| 1 - one);
        self.text = match text {
            Some(index) => index,
            None => match label {
                Some(index) => other(index),
                None => (names.len() == 1 && !labels_needed).then_some(0),
            }
            .ok_or_else(|| {
                let message = match names {
                    [name] if name.contains([';', '\t']) => format!(
                        "expected columns separated by {}, found {}",
                        if self.quoted { "commas" } else { "tabs" },
                        listed()
                    ),
                    _ => format!(
                        "expected a column `text`, found {}; give the parameter `text-column`",
                        listed()
                    ),
                };
                Problem::new(0, message)
            })?,
        };
        self.label = label.or_else(|| other(self.text));
        self.note = match (text, label, self.label) {
            (None, Some(_), _) => Some(format!(
                "the text is taken from {}",
                shown(names[self.text].as_bytes())
            )),
            (Some(_), None, Some(label)) if labels_needed => Some(format!(
                "labels are taken from {}",
                shown(names[label].as_bytes())
            )),
            _ => None,
        };
        if self.label.is_none() && labels_needed {
            let message = format!(
                "expected a column `label` or `labels`, found {}; give the parameter `label-column`",
                listed()
            );
            return Err(Problem::new(0, message));
        }
        if self.label == Some(self.text) {
            let message = format!(
                "expected text and labels in different columns, found both in {}",
                shown(names[self.text].as_bytes())
            );
            return Err(Problem::new(0, message));
        }
        Ok(())
    }

    /// Parses whole records. Of a record with malformed quotes, the first line is a bad row, and what
    /// follows it are records of their own.
    pub(super) fn parse(&self, bytes: &[u8], parsed: &mut Parsed) {
        let mut start = 0;
        while let Some(length) = self.parse_well_quoted(&bytes[start..], parsed) {
            start += length;
        }
    }

    /// Parses records up to the first whose quotes are malformed and that has several lines; of that, the
    /// first line. The length of what was parsed, or `None` if that was all or a bad row ends the run.
    fn parse_well_quoted(&self, bytes: &[u8], parsed: &mut Parsed) -> Option<usize> {
        let mut reader = self.reader(bytes);
        let mut record = ByteRecord::new();
        let mut start = 0;
        let mut classes = Vec::new();
        // Reading from memory with a flexible number of columns cannot fail.
        while reader.read_byte_record(&mut record).unwrap_or(false) {
            let end = reader.position().byte() as usize;
            // Blank lines in front of a record are passed over together with it.
            while start < end && matches!(bytes[start], b'\n' | b'\r') {
                parsed.tally.lines += u64::from(bytes[start] == b'\n');
                start += 1;
            }
            let raw = &bytes[start..end];
            if self.width > 1 && is_comment(&record) {
                parsed.tally.lines += memchr::memchr_iter(b'\n', raw).count() as u64;
                start = end;
                continue;
            }
            let line = parsed.tally.lines;
            let quotes = self.check_quotes(raw);
            let malformed = quotes.is_err();
            let row = quotes.and_then(|()| self.read_row(raw, &record, line, &mut classes, parsed));
            if let Err(problem) = row {
                parsed.push_bad(line, problem);
                if !self.skip_bad_rows {
                    return None;
                }
                if let Some(length) = memchr::memchr(b'\n', raw).filter(|_| malformed) {
                    parsed.tally.lines += 1;
                    return Some(start + length + 1);
                }
            }
            parsed.tally.lines += memchr::memchr_iter(b'\n', raw).count() as u64;
            start = end;
        }
        parsed.tally.lines += memchr::memchr_iter(b'\n', &bytes[start..]).count() as u64;
        None
    }

    fn read_row(
        &self,
        raw: &[u8],
        record: &ByteRecord,
        line: u64,
        classes: &mut Vec<u32>,
        parsed: &mut Parsed,
    ) -> Result<(), Problem> {
        let at_field = |field, message: String| Problem::inside(raw, self.field_start(raw, field), message);
        if record.len() != self.width {
            let message = format!(
                "expected {} column{}, as in the header, found {}",
                self.width,
                if self.width == 1 { "" } else { "s" },
                record.len()
            );
            return Err(at_field(
                if record.len() > self.width { self.width } else { 0 },
                message,
            ));
        }
        let field = |field: usize| {
            valid_text(&record[field]).map_err(|problem| self.inside_field(raw, field, problem))
        };
        let text = field(self.text)?;
        let weight = match self.weight {
            None => None,
            Some(index) => {
                Some(read_weight(record[index].trim_ascii()).map_err(|message| at_field(index, message))?)
            }
        };
        classes.clear();
        if let Some(index) = self.label {
            let labels = field(index)?;
            split_labels(labels, self.separator.as_deref(), &mut parsed.names, classes)
                .map_err(|message| at_field(index, message))?;
        }
        parsed.texts.push(text);
        parsed.push_row(line, classes.iter().copied(), weight);
        Ok(())
    }

    /// Where in a record a field stops being text.
    fn inside_field(&self, raw: &[u8], field: usize, problem: Problem) -> Problem {
        let start = self.field_start(raw, field);
        let index = valid_text(&raw[start..]).map_or_else(|found| found.column, |_| problem.column);
        Problem::inside(raw, start + index, problem.message)
    }

    fn field_start(&self, raw: &[u8], field: usize) -> usize {
        if self.quoted {
            return QuoteScanner::field_start(self.delimiter, raw, field);
        }
        let before = raw.split(|&byte| byte == self.delimiter).take(field);
        before.map(|part| part.len() + 1).sum::<usize>().min(raw.len())
    }

    fn check_quotes(&self, raw: &[u8]) -> Result<(), Problem> {
        if !self.quoted {
            return Ok(());
        }
        QuoteScanner::check(self.delimiter, raw).map_err(|bad| match bad {
            BadQuote::Unclosed(index) => {
                Problem::inside(raw, index, "expected a closing quote that ends the field, found none")
            }
            BadQuote::TextAfter(index) => Problem::inside(
                raw,
                index,
                "expected a comma or the line's end behind a closing quote, found text; a quote in a quoted field is written twice",
            ),
        })
    }
}
