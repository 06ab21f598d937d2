//! Drives a read: settles the format, has blocks parsed in parallel and hands them on in order, with exact places of
//! whatever is wrong.

use rayon::prelude::*;

use super::blocks::RecordEnds;
use super::feed::{Feed, RawBlock};
use super::libsvm::{Header, VectorParser};
use super::parsed::{Parsed, Problem, TOLD_BAD_ROWS, Tally};
use super::{Content, Format, ReadOptions, ReadReport, Source};
use crate::{Error, Result, Session};

/// Best size of blocks: enough rows to be worth a task, small enough for memory to hold many.
const BLOCK_SIZE: usize = 1 << 18;

/// A parser of one format, ready for blocks.
enum Parser {
    Vectors(VectorParser),
}

impl Parser {
    fn parse(&self, bytes: &[u8]) -> Parsed {
        match self {
            Self::Vectors(parser) => parser.parse(bytes),
        }
    }

    /// What the file's header promises, in formats that have one.
    fn header(&self) -> Option<Header> {
        match self {
            Self::Vectors(parser) => parser.header(),
        }
    }
}

/// A read in progress.
pub(super) struct Reader<'s, 'o> {
    session: &'s Session<'o>,
    name: String,
    feed: Feed,
    parser: Parser,
    content: Content,
    /// The first block, read to learn the format, without its header.
    first: Option<RawBlock>,
    /// A problem that comes after the blocks read so far.
    pending: Option<Error>,
    /// Lines before the next block.
    lines: u64,
    skip_bad_rows: bool,
    pub(super) report: ReadReport,
}

/// How far a read is, in bytes of the source as stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub(super) done: u64,
    /// 0 if unknown.
    pub(super) total: u64,
    /// Lines before the block.
    pub(super) lines: u64,
}

impl<'s, 'o> Reader<'s, 'o> {
    /// Opens `source` and settles its format. `fallback` is the format where neither options, name nor content tell.
    pub(super) fn open(
        source: Source,
        options: &ReadOptions,
        fallback: Option<Format>,
        session: &'s Session<'o>,
    ) -> Result<Self> {
        let name = source.name().to_owned();
        let (named, vague) = source.format();
        let by_name = options.format.or(if vague { fallback.or(named) } else { named });
        let ahead = session.threads() + 1;
        let size = options.block_size.unwrap_or(BLOCK_SIZE);
        let feed = Feed::start(source, RecordEnds::Lines, size, ahead)?;
        let mut first = feed
            .next_block(session)?
            .ok_or_else(|| Error::input(&name, "is empty; expected rows of data"))?;
        let end = memchr::memchr(b'\n', &first.bytes).map_or(first.bytes.len(), |place| place + 1);
        let line = &first.bytes[..end];
        let by_content = if vague && options.format.is_none() {
            Format::from_first_line(line)
        } else {
            None
        };
        let format = by_content.or(by_name).ok_or_else(|| unknown_format(&name))?;
        let at_first_line = |problem| located(&name, 1, problem);
        let mut lines = 0;
        let parser = match format {
            Format::Libsvm => Parser::Vectors(VectorParser::libsvm(options)),
            Format::Xmc => {
                let header = Header::parse(line).map_err(at_first_line)?;
                lines = 1;
                first.bytes.drain(..end);
                Parser::Vectors(VectorParser::xmc(options, header))
            }
            _ => return Err(Error::input(&name, format!("cannot read {format} yet"))),
        };
        Ok(Self {
            session,
            name,
            feed,
            parser,
            content: format.content(),
            first: Some(first),
            pending: None,
            lines,
            skip_bad_rows: options.skip_bad_rows,
            report: ReadReport::default(),
        })
    }

    /// What messages call the source.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What the rows hold.
    pub(super) fn content(&self) -> Content {
        self.content
    }

    /// The number of features that a header promises.
    pub(super) fn promised_features(&self) -> Option<usize> {
        self.parser.header().map(|header| header.features as usize)
    }

    /// Reads everything: `work` is done to each parsed block in the session's pool, `take` gets the results in order.
    pub(super) fn run<T: Send>(
        &mut self,
        work: impl Fn(Parsed) -> T + Sync,
        mut take: impl FnMut(T, Position) -> Result<()>,
    ) -> Result<()> {
        while let Some(batch) = self.next_batch()? {
            let parser = &self.parser;
            let finish = |block: RawBlock| {
                let mut parsed = parser.parse(&block.bytes);
                drop(block.bytes);
                let rows = parsed.labels.len() as u64;
                (
                    std::mem::take(&mut parsed.tally),
                    rows,
                    work(parsed),
                    block.position,
                )
            };
            let results: Vec<_> = self.session.run(|| batch.into_par_iter().map(finish).collect());
            for (tally, rows, result, done) in results {
                let lines = self.lines;
                self.count(tally, rows)?;
                let total = self.feed.size();
                take(result, Position { done, total, lines })?;
                self.session.progress("reading", done, total, "bytes");
            }
        }
        self.check_end()
    }

    /// All blocks that are there, up to two for each thread; waits for the first.
    fn next_batch(&mut self) -> Result<Option<Vec<RawBlock>>> {
        if let Some(problem) = self.pending.take() {
            return Err(problem);
        }
        let first = match self.first.take() {
            Some(block) => block,
            None => match self.feed.next_block(self.session)? {
                Some(block) => block,
                None => return Ok(None),
            },
        };
        let mut batch = vec![first];
        while batch.len() < 2 * self.session.threads() {
            match self.feed.ready_block() {
                Ok(Some(block)) => batch.push(block),
                Ok(None) => break,
                Err(problem) => {
                    // The rows before it come first: what is reported must not depend on what was ready when.
                    self.pending = Some(problem);
                    break;
                }
            }
        }
        Ok(Some(batch))
    }

    /// Adds what was met in a block to the report; a bad row is an error unless bad rows are skipped.
    fn count(&mut self, tally: Tally, rows: u64) -> Result<()> {
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
        self.report.rows += rows;
        Ok(())
    }

    /// Checks what can be known at the end only.
    fn check_end(&self) -> Result<()> {
        let ReadReport { rows, bad_rows, .. } = self.report;
        if let Some(header) = self
            .parser
            .header()
            .filter(|header| header.rows != rows + bad_rows)
        {
            let message = format!("the header says {} rows, found {}", header.rows, rows + bad_rows);
            return Err(located(&self.name, 1, Problem::new(0, message)));
        }
        match self.report.bad_row_messages.first() {
            _ if rows > 0 => Ok(()),
            None => Err(Error::input(&self.name, "has no rows; expected at least one")),
            Some(first) => Err(Error::input(
                &self.name,
                format!("has no good rows; the first of {bad_rows} bad ones: {first}"),
            )),
        }
    }
}

fn located(name: &str, line: u64, problem: Problem) -> Error {
    Error::Data {
        file: name.to_owned(),
        line,
        column: problem.column as u64 + 1,
        message: problem.message,
    }
}

fn unknown_format(name: &str) -> Error {
    let formats = Format::ALL.map(Format::name).join(", ");
    Error::input(
        name,
        format!("cannot tell the format from the name; say `--format` with one of {formats}"),
    )
}
