//! Drives a read: settles the format, has blocks parsed in parallel and hands them on in order, with exact
//! places of whatever is wrong.

use super::dialect::Dialect;
use super::feed::{Feed, RawBlock};
use super::format::{preamble, without_comment};
use super::header::Header;
use super::jsonl::JsonParser;
use super::libsvm::VectorParser;
use super::parsed::{Parsed, Problem, TOLD_BAD_ROWS};
use super::settle::{Settled, Settling};
use super::table::TableParser;
use super::{Content, Format, KeepColumns, ReadOptions, ReadReport, Source};
use super::{fasttext, lines};
use crate::{Error, Result, Session};

/// What the only column of raw lines is called in the output.
const TEXT: &str = "text";

/// A parser of one format, ready for blocks.
enum Parser {
    Vectors(VectorParser),
    FastText { keep: bool },
    Table(TableParser),
    Json(JsonParser),
    RawLines { keep: bool },
}

impl Parser {
    /// The parser for `format`, and the length of the header in front of `bytes`, the first block.
    fn new(
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
            Format::Libsvm => (Self::Vectors(VectorParser::libsvm(options)), 0),
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
            Format::Jsonl => (Self::Json(JsonParser::new(options, bytes, labels_needed)), 0),
            Format::Lines => (Self::RawLines { keep }, 0),
        })
    }

    fn parse(&self, bytes: &[u8], skip_bad_rows: bool, parsed: &mut Parsed) {
        match self {
            Self::Vectors(parser) => parser.parse(bytes, parsed),
            Self::FastText { keep } => fasttext::parse(bytes, skip_bad_rows, *keep, parsed),
            Self::Table(parser) => parser.parse(bytes, parsed),
            Self::Json(parser) => parser.parse(bytes, parsed),
            Self::RawLines { keep } => lines::parse_raw(bytes, skip_bad_rows, *keep, parsed),
        }
    }

    /// Names of the columns that go to the output, and whether their cells are JSON.
    fn kept_columns(&self) -> (Vec<String>, bool) {
        match self {
            Self::Table(parser) => (parser.kept_columns().to_vec(), false),
            Self::Json(parser) => (parser.kept_columns().to_vec(), true),
            Self::FastText { keep: true } | Self::RawLines { keep: true } => (vec![TEXT.to_owned()], false),
            _ => (Vec::new(), false),
        }
    }

    /// What was guessed and may be wrong.
    fn note(&self) -> Option<&str> {
        match self {
            Self::Table(parser) => parser.note(),
            _ => None,
        }
    }

    /// The column of the labels, where it was guessed.
    fn guessed_label(&self) -> Option<&str> {
        match self {
            Self::Table(parser) => parser.guessed_label(),
            Self::Json(parser) => parser.guessed_label(),
            _ => None,
        }
    }

    /// What the header of an xmc file promises.
    fn header(&self) -> Option<Header> {
        match self {
            Self::Vectors(parser) => parser.header(),
            _ => None,
        }
    }
}

/// What a read is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Training or evaluation: a table must have a column of labels.
    Labelled,
    /// Evaluation of a model: the same, and where nothing tells the format, it is this one.
    Measurement(Format),
    /// Prediction; where nothing tells the format, it is this one.
    Prediction(Format),
}

/// A read in progress.
pub(crate) struct Reader<'s, 'o> {
    session: &'s Session<'o>,
    feed: Feed,
    parser: Parser,
    content: Content,
    /// The first block, read to learn the format, without its header.
    first: Option<RawBlock>,
    /// A problem that comes after the blocks read so far.
    pending: Option<Error>,
    met: Met,
}

/// What a read came across so far.
struct Met {
    /// What messages call the source.
    name: String,
    /// Lines before the next block.
    lines: u64,
    skip_bad_rows: bool,
    report: ReadReport,
}

impl Met {
    /// Adds what was met in a block; a bad row is an error unless bad rows are skipped.
    fn count(&mut self, parsed: &mut Parsed) -> Result<()> {
        let tally = std::mem::take(&mut parsed.tally);
        for bad in tally.told {
            let problem = located(&self.name, self.lines + bad.line + 1, bad.problem);
            if !self.skip_bad_rows {
                return Err(problem);
            }
            if self.report.bad_row_messages.len() < TOLD_BAD_ROWS {
                self.report.bad_row_messages.push(problem.to_string());
            }
        }
        self.lines += tally.lines;
        self.report.bad_rows += tally.bad_rows;
        self.report.rows += parsed.labels.len() as u64;
        Ok(())
    }
}

/// How far a read is, in bytes of the source as stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(crate) done: u64,
    /// 0 if unknown.
    pub(crate) total: u64,
    /// Lines before the block.
    pub(crate) lines: u64,
}

impl<'s, 'o> Reader<'s, 'o> {
    /// Opens `source` and settles its format.
    pub(crate) fn open(
        source: Source,
        options: &ReadOptions,
        purpose: Purpose,
        session: &'s Session<'o>,
    ) -> Result<Self> {
        let name = source.name().to_owned();
        let (named, vague) = source.format();
        let by_name = match purpose {
            Purpose::Prediction(fallback) | Purpose::Measurement(fallback) if vague => Some(fallback),
            _ => named,
        };
        let labelled = !matches!(purpose, Purpose::Prediction(_));
        let settling = Settling {
            name: name.clone(),
            likely: options.format.or(by_name),
            open: options.format.is_none() && vague,
            labelled,
            options: options.clone(),
        };
        let feed = Feed::start(source, settling, options.block_size, session.threads())?;
        let empty = || Error::input(&name, "is empty; expected rows of data");
        let mut first = feed.next_block(session)?.ok_or_else(empty)?;
        let Settled { format, dialect } = feed.settled().ok_or_else(empty)?;
        // The columns of a table come behind comments.
        while !matches!(format, Format::Lines | Format::FastText) && holds_no_row(&first.bytes) {
            let Some(next) = feed.next_block(session)? else {
                break;
            };
            first.bytes.extend_from_slice(&next.bytes);
            first.position = next.position;
            feed.give_back(next);
        }
        let (parser, header) = Parser::new(format, dialect, &first.bytes, options, labelled)
            .map_err(|problem| located(&name, 1, problem))?;
        if let Some(note) = parser.note() {
            session.note(format!("{name}: {note}"));
        }
        let lines = memchr::memchr_iter(b'\n', &first.bytes[..header]).count() as u64;
        first.bytes.drain(..header);
        Ok(Self {
            session,
            feed,
            parser,
            content: format.content(),
            first: Some(first),
            pending: None,
            met: Met {
                name,
                lines,
                skip_bad_rows: options.skip_bad_rows,
                report: ReadReport::default(),
            },
        })
    }

    /// What messages call the source.
    pub(crate) fn name(&self) -> &str {
        &self.met.name
    }

    /// What reading came across, which is then forgotten.
    pub(crate) fn take_report(&mut self) -> ReadReport {
        self.met.report.encoding = self.feed.encoding();
        std::mem::take(&mut self.met.report)
    }

    /// Names of the columns that go to the output, and whether their cells are JSON.
    pub(crate) fn kept_columns(&self) -> (Vec<String>, bool) {
        self.parser.kept_columns()
    }

    /// What the rows hold.
    pub(crate) fn content(&self) -> Content {
        self.content
    }

    /// The column of the labels, where no option names it.
    pub(crate) fn guessed_label(&self) -> Option<&str> {
        self.parser.guessed_label()
    }

    /// The number of features that a header promises.
    pub(crate) fn promised_features(&self) -> Option<usize> {
        self.parser.header().map(|header| header.features as usize)
    }

    /// The number that vectors in this source give to the first feature.
    pub(crate) fn first_index(&self) -> u32 {
        match &self.parser {
            Parser::Vectors(parser) => parser.first_index(),
            _ => 0,
        }
    }

    /// Reads everything: `work` is done to each parsed block in the session's pool, `take` gets blocks and
    /// results in order, while the next ones are parsed. What they leave of a block is used again for its
    /// memory.
    pub(crate) fn run<T: Send>(
        &mut self,
        work: impl Fn(&mut Parsed) -> T + Sync,
        mut take: impl FnMut(&mut Parsed, T, Position) -> Result<()>,
    ) -> Result<()> {
        let mut spare: Vec<Parsed> = Vec::new();
        let mut ready: Vec<(u64, Parsed, T)> = Vec::new();
        loop {
            // What is parsed is handed on before a wait for more: input may come in slowly.
            let batch = self.next_batch(ready.is_empty())?;
            if ready.is_empty() && batch.is_empty() {
                return self.check_end();
            }
            let mut parsing: Vec<_> = batch
                .into_iter()
                .map(|block| (block, spare.pop().unwrap_or_default(), None))
                .collect();
            let (parser, skip_bad_rows, work) = (&self.parser, self.met.skip_bad_rows, &work);
            let pieces = parsing.iter_mut().map(|(block, parsed, result)| {
                move || {
                    parsed.clear();
                    parser.parse(&block.bytes, skip_bad_rows, parsed);
                    *result = Some(work(parsed));
                }
            });
            self.session.run_beside(pieces, || {
                for (done, mut parsed, result) in ready.drain(..) {
                    let (lines, total) = (self.met.lines, self.feed.size());
                    self.met.count(&mut parsed)?;
                    take(&mut parsed, result, Position { done, total, lines })?;
                    self.session.progress("reading", done, total, "bytes");
                    spare.push(parsed);
                }
                Ok(())
            })?;
            for (block, parsed, result) in parsing {
                ready.extend(result.map(|result| (block.position, parsed, result)));
                self.feed.give_back(block);
            }
        }
    }

    /// A block for each thread. Of a file, as many as there are; of other sources, what has come so far,
    /// after a wait for the first if `wait`.
    fn next_batch(&mut self, wait: bool) -> Result<Vec<RawBlock>> {
        let mut batch: Vec<RawBlock> = self.first.take().into_iter().collect();
        while self.pending.is_none() && batch.len() < self.session.threads() {
            let block = if self.feed.size() > 0 || (wait && batch.is_empty()) {
                self.feed.next_block(self.session)
            } else {
                self.feed.ready_block()
            };
            match block {
                Ok(Some(block)) => batch.push(block),
                Ok(None) => break,
                // The rows before it come first: what is reported must not depend on what was ready when.
                Err(problem) => self.pending = Some(problem),
            }
        }
        match self.pending.take() {
            Some(problem) if wait && batch.is_empty() => Err(problem),
            later => {
                self.pending = later;
                Ok(batch)
            }
        }
    }

    /// Checks what can be known at the end only.
    fn check_end(&self) -> Result<()> {
        let ReadReport { rows, bad_rows, .. } = self.met.report;
        if let Some(header) = self
            .parser
            .header()
            .filter(|header| header.rows != rows + bad_rows)
        {
            let message = format!("the header says {} rows, found {}", header.rows, rows + bad_rows);
            return Err(located(&self.met.name, 1, Problem::new(0, message)));
        }
        match self.met.report.bad_row_messages.first() {
            _ if rows > 0 => Ok(()),
            None => Err(Error::input(&self.met.name, "has no rows; expected at least one")),
            Some(first) => Err(Error::input(
                &self.met.name,
                format!("has no good rows; the first of {bad_rows} bad ones: {first}"),
            )),
        }
    }
}

fn located(name: &str, line: u64, problem: Problem) -> Error {
    Error::Data {
        file: name.to_owned(),
        line: line + problem.line,
        column: problem.column as u64 + 1,
        message: problem.message,
    }
}

/// The first line of `bytes`, with its end.
fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)]
}

/// Whether all lines are blank or comments.
fn holds_no_row(bytes: &[u8]) -> bool {
    preamble(bytes) == bytes.len()
}
