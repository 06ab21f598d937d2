//! Tables with a header line: comma-separated values, where a quoted field may hold commas, line ends and
//! doubled quotes, and tab-separated values, where quotes are characters like others.
//!
//! Text and labels are found by the names of their columns ([`columns`](super::columns)). An empty label
//! field is a row without labels. Every row must have as many columns as the header. Lines that begin with
//! `#` and have one field are comments.

use std::borrow::Cow;

use csv::ByteRecord;

use super::cells::LIST_ITEM;
use super::columns::Columns;
use super::dialect::{Dialect, declared_delimiter, shown_delimiter};
use super::lines::valid_text;
use super::options::ReadOptions;
use super::parsed::{Parsed, Problem, is_failed_formula, read_weight, split_labels};
use super::quotes::{BadQuote, QuoteScanner};
use crate::dataset::ColumnText;

/// Parses blocks of whole records.
#[derive(Debug, Clone)]
pub(super) struct TableParser {
    dialect: Dialect,
    columns: Columns,
    /// Names of the columns that go to the output.
    kept_names: Vec<String>,
    /// The header, where a row like it can only be the header of another table that was appended.
    header: Option<ByteRecord>,
    /// What messages say of the columns that are read.
    used: String,
    separator: Option<String>,
    /// Whether rows are of no use without labels.
    labels_needed: bool,
    skip_bad_rows: bool,
}

/// Whether a record is a line that begins with `#` and has no second field, as no row of a table has.
pub(super) fn is_comment(record: &ByteRecord) -> bool {
    record.len() == 1 && record[0].starts_with(b"#") && !record[0].contains(&b'\n')
}

impl TableParser {
    /// Reads the header at the start of `bytes`: the parser, and the length of the header.
    pub(super) fn open(
        dialect: Dialect,
        bytes: &[u8],
        options: &ReadOptions,
        labels_needed: bool,
    ) -> Result<(Self, usize), Problem> {
        let separator = options.separator().unwrap_or("|").to_owned();
        let mut parser = Self {
            dialect,
            columns: Columns::default(),
            kept_names: Vec::new(),
            header: None,
            used: String::new(),
            separator: (!options.is_single_label() && !separator.is_empty()).then_some(separator),
            labels_needed,
            skip_bad_rows: options.skip_bad_rows,
        };
        let told = if dialect.cells {
            None
        } else {
            declared_delimiter(bytes)
        };
        let told = told.map_or(0, |(_, length)| length);
        let mut reader = dialect.reader(&bytes[told..]);
        let mut record = ByteRecord::new();
        let mut start = told;
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
            if dialect.cells || !is_comment(&record) {
                break;
            }
            start = told + reader.position().byte() as usize;
        }
        let end = told + reader.position().byte() as usize;
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
        Ok((parser, if options.no_header { start } else { end }))
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
        let numbers: Vec<String> = (1..=record.len()).map(|number| number.to_string()).collect();
        for (field, name) in record.iter().enumerate() {
            let name = valid_text(name).map_err(|problem| self.inside_field(raw, field, problem))?;
            names.push(if options.no_header {
                numbers[field].as_str()
            } else {
                name.trim()
            });
        }
        self.columns = Columns::choose(&names, options, labels_needed)?;
        let kept = self.columns.kept.iter();
        self.kept_names = names_apart(kept.map(|&column| names[column]));
        self.used = self.columns.described(&names);
        // A single word may well be a text.
        self.header = (record.len() > 1 && !options.no_header).then(|| record.clone());
        Ok(())
    }

    /// What was guessed and may be wrong.
    pub(super) fn note(&self) -> Option<&str> {
        self.columns.note.as_deref()
    }

    /// The columns that are read, for messages and to compare files by.
    pub(super) fn used_columns(&self) -> String {
        self.used.clone()
    }

    /// Names of the columns that go to the output.
    pub(super) fn kept_columns(&self) -> &[String] {
        &self.kept_names
    }

    /// The column of the labels, unless an option names it.
    pub(super) fn guessed_label(&self) -> Option<&str> {
        self.columns.guessed_label.as_deref()
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
        let mut reader = self.dialect.reader(bytes);
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
            if self.columns.width > 1 && !self.dialect.cells && is_comment(&record) {
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
            parsed.tally.lines += self.dialect.lines(raw);
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
        let at_field = |field, message: String| self.at_field(raw, field, message);
        let width = self.columns.width;
        if record.len() != width {
            let message = format!(
                "expected {width} column{}, as in the header, found {}",
                if width == 1 { "" } else { "s" },
                record.len()
            );
            let field = if record.len() > width { width } else { 0 };
            return Err(at_field(field, message));
        }
        if self.header.as_ref() == Some(record) {
            let message =
                "expected a row, found the header again: another table was appended with its header";
            return Err(at_field(0, message.to_owned()));
        }
        let field = |field: usize| {
            valid_text(&record[field]).map_err(|problem| self.inside_field(raw, field, problem))
        };
        let texts = &self.columns.texts;
        let joined;
        let part = |column: usize| field(column).map(|cell| self.text_of(cell));
        let single;
        let text = if let [column] = texts[..] {
            single = part(column)?;
            single.as_ref()
        } else {
            let cells: Result<Vec<Cow<'_, str>>, Problem> =
                texts.iter().map(|&column| part(column)).collect();
            let mut row = ColumnText::new();
            let written = self.columns.row.write(cells?.iter().map(AsRef::as_ref), &mut row);
            written.map_err(|(column, message)| at_field(texts[column], message))?;
            joined = row;
            joined.as_str()
        };
        let weight = match self.columns.weight {
            None => None,
            Some(index) => {
                Some(read_weight(record[index].trim_ascii()).map_err(|message| at_field(index, message))?)
            }
        };
        for &column in &self.columns.kept {
            // Checked first: a bad row leaves no cell behind.
            field(column).map_err(|problem| Problem {
                message: format!(
                    "{}; leave its column out of the output with the parameter `keep-columns`",
                    problem.message
                ),
                ..problem
            })?;
        }
        classes.clear();
        if let Some(index) = self.columns.label {
            let labels = match field(index)? {
                failed if is_failed_formula(failed) && !self.labels_needed => "",
                labels => labels,
            };
            let separator = self.separator.as_deref();
            match self.items(labels) {
                Some(mut items) => {
                    items.try_for_each(|item| split_labels(item, None, &mut parsed.names, classes))
                }
                None => split_labels(labels, separator, &mut parsed.names, classes),
            }
            .map_err(|message| at_field(index, message))?;
        }
        for &column in &self.columns.kept {
            parsed.kept.push(&self.plain(field(column)?));
        }
        parsed.texts.push(text);
        parsed.push_row(line, classes.iter().copied(), weight);
        Ok(())
    }

    /// The items of a cell that is a list.
    fn items<'c>(&self, cell: &'c str) -> Option<impl Iterator<Item = &'c str>> {
        let list = cell.strip_prefix(LIST_ITEM).filter(|_| self.dialect.cells);
        list.map(|list| list.split(LIST_ITEM))
    }

    /// A cell as text: the items of a list are separated.
    fn plain<'c>(&self, cell: &'c str) -> Cow<'c, str> {
        match self.items(cell) {
            Some(items) => Cow::Owned(items.collect::<Vec<_>>().join("|")),
            None => Cow::Borrowed(cell),
        }
    }

    /// A cell as a text to learn from: that a formula failed is none.
    fn text_of<'c>(&self, cell: &'c str) -> Cow<'c, str> {
        if is_failed_formula(cell) {
            Cow::Borrowed("")
        } else {
            self.plain(cell)
        }
    }

    fn at_field(&self, raw: &[u8], field: usize, message: String) -> Problem {
        if self.dialect.cells {
            return Problem::new(field, message);
        }
        Problem::inside(raw, self.field_start(raw, field), message)
    }

    /// Where in a record a field stops being text.
    fn inside_field(&self, raw: &[u8], field: usize, problem: Problem) -> Problem {
        if self.dialect.cells {
            return Problem::new(field, problem.message);
        }
        let start = self.field_start(raw, field);
        let index = valid_text(&raw[start..]).map_or_else(|found| found.column, |_| problem.column);
        Problem::inside(raw, start + index, problem.message)
    }

    fn field_start(&self, raw: &[u8], field: usize) -> usize {
        if self.dialect.quoted {
            return QuoteScanner::field_start(self.dialect.delimiter, raw, field);
        }
        let before = raw.split(|&byte| byte == self.dialect.delimiter).take(field);
        before.map(|part| part.len() + 1).sum::<usize>().min(raw.len())
    }

    fn check_quotes(&self, raw: &[u8]) -> Result<(), Problem> {
        if !self.dialect.quoted {
            return Ok(());
        }
        QuoteScanner::check(self.dialect.delimiter, raw).map_err(|bad| match bad {
            BadQuote::Unclosed(index) => {
                Problem::inside(raw, index, "expected a closing quote that ends the field, found none")
            }
            BadQuote::TextAfter(index) => Problem::inside(
                raw,
                index,
                format!(
                    "expected {} or the line's end behind a closing quote, found text; a quote in a quoted field is written twice",
                    shown_delimiter(self.dialect.delimiter)
                ),
            ),
        })
    }
}
/// `names`, where a name that came before gets a number: files that are written have different columns.
fn names_apart<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut apart: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut wanted = std::iter::once(name.to_owned()).chain(numbered);
        apart.extend(wanted.find(|name| !apart.contains(name)));
    }
    apart
}
