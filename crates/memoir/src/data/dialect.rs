//! How a table is written: what separates its columns, and whether quotes mean something. The header and the
//! first row tell, by the same rule for every verb.

use csv::{ByteRecord, ReaderBuilder};

use super::Format;
use super::format::preamble;
use super::options::ReadOptions;
use super::quotes::{BadQuote, QuoteScanner};
use super::table::is_comment;

/// What may separate columns.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// Whether a quoted field may hold delimiters and line ends; otherwise quotes are characters.
    pub(super) quoted: bool,
    /// Whether it was a table of cells before: a record is a row there, without comments, and cells may be
    /// lists.
    pub(super) cells: bool,
}

/// What the first rows say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// More bytes are needed to tell.
    MoreNeeded,
    /// The table is written like this.
    Table(Dialect),
    /// No candidate splits the header into several columns.
    OneColumn,
    /// Two delimiters explain the header and the first row equally well.
    Unclear(u8, u8),
}

impl Dialect {
    /// That of tables of another kind.
    pub(super) const CELLS: Self = Self {
        delimiter: b',',
        quoted: true,
        cells: true,
    };

    /// The usual one of `format`.
    pub(super) fn usual(format: Format) -> Self {
        let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
        Self::new(format, delimiter)
    }

    /// As `format`, with this delimiter. In `tsv` quotes mean nothing, as long as tabs separate the columns.
    pub(super) fn new(format: Format, delimiter: u8) -> Self {
        Self {
            delimiter,
            quoted: !(format == Format::Tsv && delimiter == b'\t'),
            cells: false,
        }
    }

    /// How many lines `raw` has, where that is a whole record with the blank lines in front of it; of cells,
    /// how many rows.
    pub(super) fn lines(self, raw: &[u8]) -> u64 {
        let blank = raw.iter().take_while(|&&byte| byte == b'\n').count();
        if self.cells {
            (blank + usize::from(blank < raw.len())) as u64
        } else {
            memchr::memchr_iter(b'\n', raw).count() as u64
        }
    }

    /// A reader of records in this dialect.
    pub(super) fn reader(self, bytes: &[u8]) -> csv::Reader<&[u8]> {
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quoting(self.quoted)
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes)
    }

    /// Looks at the header and the first row of `bytes`, and at nothing behind them, so that the verdict
    /// does not depend on how much has come in. The delimiter that shows the most of the wanted columns is
    /// right; among equals one that gives the first row as many columns as the header, then the one with
    /// the most columns.
    pub(super) fn sniff(format: Format, bytes: &[u8], at_end: bool, options: &ReadOptions) -> Verdict {
        let declared = declared_delimiter(bytes);
        let format = match format {
            Format::Tsv if begins_quoted(bytes) => Format::Csv,
            _ => format,
        };
        if let Some(delimiter) = options.delimiter.or(declared.map(|(delimiter, _)| delimiter)) {
            return Verdict::Table(Self::new(format, delimiter));
        }
        let mut looks = Vec::new();
        for delimiter in DELIMITERS {
            let dialect = Self::new(format, delimiter);
            match Look::at(dialect, bytes, at_end, options) {
                None => return Verdict::MoreNeeded,
                Some(look) if look.columns > 1 => looks.push(look),
                Some(_) => {}
            }
        }
        let most_wanted = looks.iter().map(|look| look.wanted).max().unwrap_or(0);
        looks.retain(|look| look.wanted == most_wanted);
        match looks[..] {
            [] => return Verdict::OneColumn,
            [only] => return Verdict::Table(only.dialect),
            _ if looks.iter().any(|look| look.fits_row.is_none()) && !at_end => return Verdict::MoreNeeded,
            _ => {}
        }
        let rank = |look: &Look| (look.fits_row != Some(false), look.columns);
        looks.sort_by_key(|look| std::cmp::Reverse(rank(look)));
        if rank(&looks[0]) == rank(&looks[1]) {
            return Verdict::Unclear(looks[0].dialect.delimiter, looks[1].dialect.delimiter);
        }
        Verdict::Table(looks[0].dialect)
    }

    /// Whether text without a name that would say so is a table nevertheless: its first line has a wanted
    /// column, and other columns beside it.
    pub(super) fn of_nameless(bytes: &[u8], at_end: bool, options: &ReadOptions) -> Option<Self> {
        let dialects = DELIMITERS.map(|delimiter| Self::new(Format::Csv, delimiter));
        let looks = dialects.iter().filter_map(|dialect| {
            let look = Look::at(*dialect, bytes, at_end, options)?;
            (look.columns > 1 && look.wanted > 0).then_some(look)
        });
        looks
            .max_by_key(|look| (look.wanted, look.columns))
            .map(|look| look.dialect)
    }

    /// What raw text would be as a table, if its first two lines look like one: the same number of columns,
    /// different words in the first line, and no blank behind the delimiter, as prose has it.
    pub(super) fn suspected(bytes: &[u8], at_end: bool, options: &ReadOptions) -> Suspicion {
        let mut waiting = false;
        for delimiter in DELIMITERS {
            let dialect = Self::new(Format::Csv, delimiter);
            let mut records = Records::new(dialect, bytes);
            let Some(header) = records.next(at_end) else {
                continue;
            };
            if header.len() < 2 || !is_header(&header) {
                continue;
            }
            match Look::at(dialect, bytes, at_end, options).map(|look| look.fits_row) {
                Some(Some(true)) => return Suspicion::Table(dialect, names(&header)),
                Some(None) if !at_end => waiting = true,
                _ => {}
            }
        }
        if waiting {
            Suspicion::MoreNeeded
        } else {
            Suspicion::None
        }
    }
}

/// The delimiter that Excel is told by a first line such as `sep=;`, and the length of that line.
pub(super) fn declared_delimiter(bytes: &[u8]) -> Option<(u8, usize)> {
    let line = bytes.split_inclusive(|&byte| byte == b'\n').next()?;
    let content = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let content = content.strip_suffix(b"\n")?;
    let content = content.strip_suffix(b"\r").unwrap_or(content);
    let content = content
        .strip_prefix(b"\"")
        .and_then(|inside| inside.strip_suffix(b"\""))
        .unwrap_or(content);
    match content {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] if delimiter.is_ascii() => {
            Some((*delimiter, line.len()))
        }
        _ => None,
    }
}

/// Whether the first line of tab-separated values quotes a name, as R does it: then quotes mean something in
/// the rows, too.
fn begins_quoted(bytes: &[u8]) -> bool {
    let first = bytes[preamble(bytes)..].split(|&byte| byte == b'\n').next();
    let name = first.and_then(|line| line.trim_ascii().split(|&byte| byte == b'\t').next());
    name.is_some_and(|name| name.len() > 2 && name.starts_with(b"\"") && name.ends_with(b"\""))
}

/// Whether raw text may be a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Suspicion {
    None,
    MoreNeeded,
    /// It may be one in this dialect, with these columns.
    Table(Dialect, Vec<String>),
}

/// How a delimiter does.
#[derive(Debug, Clone, Copy)]
struct Look {
    dialect: Dialect,
    columns: usize,
    /// How many of the header's columns are wanted ones.
    wanted: usize,
    /// Whether the first row has as many columns as the header; nothing if there is no row yet.
    fits_row: Option<bool>,
}

impl Look {
    /// `None` if the header is not complete yet.
    fn at(dialect: Dialect, bytes: &[u8], at_end: bool, options: &ReadOptions) -> Option<Self> {
        let mut records = Records::new(dialect, bytes);
        let header = records.next(at_end)?;
        Some(Self {
            dialect,
            columns: header.len(),
            wanted: header.iter().filter(|name| options.wants(name)).count(),
            fits_row: records.next(at_end).map(|row| row.len() == header.len()),
        })
    }
}

/// The whole records at the start of a table, without comments.
struct Records<'b> {
    dialect: Dialect,
    reader: csv::Reader<&'b [u8]>,
    bytes: &'b [u8],
}

impl<'b> Records<'b> {
    fn new(dialect: Dialect, bytes: &'b [u8]) -> Self {
        Self {
            dialect,
            reader: dialect.reader(bytes),
            bytes,
        }
    }

    /// The next record, unless its end has not come in yet.
    fn next(&mut self, at_end: bool) -> Option<ByteRecord> {
        let mut record = ByteRecord::new();
        loop {
            let start = self.reader.position().byte() as usize;
            if !self.reader.read_byte_record(&mut record).unwrap_or(false) {
                return None;
            }
            let end = self.reader.position().byte() as usize;
            if !at_end && !self.is_whole(start, end) {
                return None;
            }
            if !is_comment(&record) {
                return Some(record);
            }
        }
    }

    /// Whether the record at these bytes has ended: with a line end, and not inside quotes. The reader stops
    /// between the two characters of a line end that has two.
    fn is_whole(&self, start: usize, end: usize) -> bool {
        let raw = &self.bytes[start..end];
        let has_ended = raw.ends_with(b"\n") || (raw.ends_with(b"\r") && self.bytes.get(end) == Some(&b'\n'));
        let is_open = || {
            let quotes = QuoteScanner::check(self.dialect.delimiter, raw);
            matches!(quotes, Err(BadQuote::Unclosed(_)))
        };
        has_ended && !(self.dialect.quoted && is_open())
    }
}

fn names(header: &ByteRecord) -> Vec<String> {
    let names = header.iter();
    names
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect()
}

/// Whether a line's parts may be the names of columns.
fn is_header(record: &ByteRecord) -> bool {
    let parts: Vec<&[u8]> = record.iter().collect();
    let is_name = |part: &&[u8]| !part.is_empty() && part.len() <= 40 && !part.starts_with(b" ");
    let differ = |index: usize| !parts[..index].contains(&parts[index]);
    parts.iter().all(is_name) && (0..parts.len()).all(differ)
}

/// A delimiter as messages show it.
pub(super) fn shown_delimiter(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        other => format!("`{}`", char::from(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniff(text: &str) -> Verdict {
        Dialect::sniff(Format::Csv, text.as_bytes(), true, &ReadOptions::default())
    }

    fn delimiter(text: &str) -> Option<char> {
        match sniff(text) {
            Verdict::Table(dialect) => Some(char::from(dialect.delimiter)),
            _ => None,
        }
    }

    #[test]
    fn the_header_tells_the_delimiter() {
        assert_eq!(delimiter("text,label\na,b\n"), Some(','));
        assert_eq!(delimiter("text;label\na, b;c\n"), Some(';'));
        assert_eq!(delimiter("# c\n\nText\tLABEL\na\tb\n"), Some('\t'));
        assert_eq!(delimiter("text|label\na|b\n"), Some('|'));
        assert_eq!(delimiter("\"text\";\"a,b,c\"\nx;y\n"), Some(';'));
        assert_eq!(delimiter("id;title, long;code\n1;a, b;2\n"), Some(';'));
        assert_eq!(delimiter("id,title;code\n1,x;y\n"), None);
        assert_eq!(sniff("id,title;code\n1,x;y\n"), Verdict::Unclear(b',', b';'));
        assert_eq!(sniff("text\na\n"), Verdict::OneColumn);
    }

    #[test]
    fn the_verdict_does_not_depend_on_how_much_has_come_in() {
        for text in [
            "text;label\na;b\nc;d\n",
            "id;title, long;code\n1;a, b;2\n3,4,5,6\n",
            "id,title;code\n1,x;y\n",
            "\"a\nb\";c,d\n1;2\n",
        ] {
            let whole = sniff(text);
            for end in 0..text.len() {
                let part = &text.as_bytes()[..end];
                let verdict = Dialect::sniff(Format::Csv, part, false, &ReadOptions::default());
                assert!(
                    verdict == whole || verdict == Verdict::MoreNeeded,
                    "{verdict:?} {end} {text:?}"
                );
            }
        }
    }

    #[test]
    fn the_first_lines_settle_it_whatever_ends_them() {
        // Else the whole file would be read before the first row is parsed.
        for text in [
            "text,label\na,b\nc",
            "text,label\r\na,b\r\nc",
            "\"text\",\"label\"\r\n\"a\",\"b\"\r\nc",
            "id,title;code\r\n1,x;y\r\nc",
        ] {
            let verdict = Dialect::sniff(Format::Csv, text.as_bytes(), false, &ReadOptions::default());
            assert_ne!(verdict, Verdict::MoreNeeded, "{text:?}");
        }
    }

    #[test]
    fn prose_is_no_table() {
        let suspected = |text: &str| {
            let suspicion = Dialect::suspected(text.as_bytes(), true, &ReadOptions::default());
            matches!(suspicion, Suspicion::Table(..))
        };
        assert!(suspected("id,title\n1,cook\n"));
        assert!(suspected("1\tcook\n2\tchef\n"));
        assert!(!suspected("cook, chef\nwaiter, steward\n"));
        assert!(!suspected("cook,chef\n"));
        assert!(!suspected("cook,chef\nwaiter\n"));
        assert!(!suspected("cook\nwaiter\n"));
    }
}
