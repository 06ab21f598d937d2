//! Drives a read: settles the format, has blocks parsed in parallel and hands them on in order, with exact
//! places of whatever is wrong.

use std::vec::IntoIter;

use super::feed::{Feed, RawBlock};
use super::format::{NamedFormat, preamble};
use super::parsed::{Parsed, Problem, TOLD_BAD_ROWS};
use super::parser::Parser;
use super::settle::{Settled, Settling};
use super::{Content, Format, ReadOptions, ReadReport, Source};
use crate::{Error, Result, Session};

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

/// A read in progress, of one source or of several, one after the other.
pub(crate) struct Reader<'s, 'o> {
    session: &'s Session<'o>,
    options: ReadOptions,
    purpose: Purpose,
    /// What messages call all of it.
    name: String,
    /// The source that is being read.
    part: Part,
    /// Those that come after it.
    waiting: IntoIter<Source>,
    /// Bytes of those that came before it.
    done_before: u64,
    /// Bytes of all as stored, or 0 if unknown.
    total: u64,
    met: Met,
}

/// One source.
struct Part {
    feed: Feed,
    parser: Parser,
    format: Format,
    /// The first block, read to learn the format, without its header; `None` if it is taken or empty.
    first: Option<RawBlock>,
    /// A problem that comes after the blocks read so far.
    pending: Option<Error>,
    /// Lines of the header.
    header_lines: u64,
}

/// What a read came across so far.
struct Met {
    /// What messages call the source that is being read.
    name: String,
    /// Lines of it before the next block.
    lines: u64,
    /// Rows, good and bad, of the sources before it.
    rows_before: u64,
    /// Blocks of all sources so far.
    blocks: usize,
    skip_bad_rows: bool,
    report: ReadReport,
}

impl Met {
    /// Adds what was met in a block; a bad row is an error unless bad rows are skipped.
    fn count(&mut self, parsed: &mut Parsed) -> Result<()> {
        let tally = std::mem::take(&mut parsed.tally);
        for bad in tally.told {
            let problem = bad.problem.located(&self.name, self.lines + bad.line + 1);
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

impl Part {
    /// Opens `source` and settles its format; `None` if it is empty.
    fn open(
        source: Source,
        options: &ReadOptions,
        purpose: Purpose,
        session: &Session<'_>,
    ) -> Result<Option<Self>> {
        let name = source.name().to_owned();
        let named = source.format();
        let usual = match purpose {
            Purpose::Prediction(format) | Purpose::Measurement(format) => Some(format),
            Purpose::Labelled => None,
        };
        let labelled = !matches!(purpose, Purpose::Prediction(_));
        if let Some(note) = source.note() {
            session.note(format!("{name}: {note}"));
        }
        let settling = Settling {
            name: name.clone(),
            likely: options.format.or(named.likely(usual)),
            open: options.format.is_none() && !matches!(named, NamedFormat::Sure(_)),
            labelled,
            table: source.table(),
            options: options.clone(),
        };
        let feed = Feed::start(source, settling, options.block_size, session.threads())?;
        let Some(mut first) = feed.next_block(session)? else {
            return Ok(None);
        };
        let Some(Settled { format, dialect }) = feed.settled() else {
            return Ok(None);
        };
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
            .map_err(|problem| problem.located(&name, 1))?;
        let header_lines = dialect.lines(&first.bytes[..header]);
        first.bytes.drain(..header);
        Ok(Some(Self {
            feed,
            parser,
            format,
            first: Some(first),
            pending: None,
            header_lines,
        }))
    }

    /// A block for each thread. Of a file, as many as there are; of other sources, what has come so far,
    /// after a wait for the first if `wait`.
    fn next_batch(&mut self, wait: bool, session: &Session<'_>) -> Result<Vec<RawBlock>> {
        let mut batch: Vec<RawBlock> = self.first.take().into_iter().collect();
        while self.pending.is_none() && batch.len() < session.threads() {
            let block = if self.feed.size() > 0 || (wait && batch.is_empty()) {
                self.feed.next_block(session)
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

    /// Fails if it, called `name`, is of another kind than `first`.
    fn check_like(&self, name: &str, first: &Self) -> Result<()> {
        if self.format != first.format {
            return Err(Error::input(
                name,
                format!(
                    "files that are read together must be of one kind: found {}, expected {} as before",
                    self.format, first.format
                ),
            ));
        }
        match self.parser.difference(&first.parser) {
            None => Ok(()),
            Some((found, expected)) => Err(Error::input(
                name,
                format!("files that are read together must be alike: found {found}, expected {expected}"),
            )),
        }
    }
}

impl<'s, 'o> Reader<'s, 'o> {
    /// Opens `source` and settles its format.
    pub(crate) fn open(
        source: Source,
        options: &ReadOptions,
        purpose: Purpose,
        session: &'s Session<'o>,
    ) -> Result<Self> {
        let whole = source.name().to_owned();
        let parts = source.into_parts()?;
        let sizes: Vec<u64> = parts.iter().map(Source::stored_size).collect();
        let total = if sizes.contains(&0) { 0 } else { sizes.iter().sum() };
        let mut waiting = parts.into_iter();
        while let Some(source) = waiting.next() {
            let name = source.name().to_owned();
            let Some(part) = Part::open(source, options, purpose, session)? else {
                continue;
            };
            if let Some(note) = part.parser.note() {
                session.note(format!("{name}: {note}"));
            }
            return Ok(Self {
                session,
                options: options.clone(),
                purpose,
                name: whole,
                met: Met {
                    name,
                    lines: part.header_lines,
                    rows_before: 0,
                    blocks: 0,
                    skip_bad_rows: options.skip_bad_rows,
                    report: ReadReport::default(),
                },
                part,
                waiting,
                done_before: 0,
                total,
            });
        }
        Err(Error::input(whole, "is empty; expected rows of data"))
    }

    /// What messages call all of it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What reading came across, which is then forgotten.
    pub(crate) fn take_report(&mut self) -> ReadReport {
        std::mem::take(&mut self.met.report)
    }

    /// Names of the columns that go to the output, and whether their cells are JSON.
    pub(crate) fn kept_columns(&self) -> (Vec<String>, bool) {
        self.part.parser.kept_columns()
    }

    /// What the rows hold.
    pub(crate) fn content(&self) -> Content {
        self.part.format.content()
    }

    /// The column of the labels, where no option names it.
    pub(crate) fn guessed_label(&self) -> Option<&str> {
        self.part.parser.guessed_label()
    }

    /// The number of features that a header promises.
    pub(crate) fn promised_features(&self) -> Option<usize> {
        let header = self.part.parser.header();
        header.map(|header| header.features as usize)
    }

    /// The number that vectors in this source give to the first feature.
    pub(crate) fn first_index(&self) -> u32 {
        self.part.parser.first_index()
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
        loop {
            self.run_part(&mut spare, &work, &mut take)?;
            if !self.next_part()? {
                return self.check_end();
            }
        }
    }

    /// Goes on to the next source that is not empty; `false` if there is none.
    fn next_part(&mut self) -> Result<bool> {
        self.check_part_end()?;
        self.met.report.encoding = self.met.report.encoding.or(self.part.feed.encoding());
        for source in self.waiting.by_ref() {
            let name = source.name().to_owned();
            let Some(mut part) = Part::open(source, &self.options, self.purpose, self.session)? else {
                continue;
            };
            part.check_like(&name, &self.part)?;
            // Keys that go to the output are those of the first object.
            if part.format == Format::Jsonl {
                std::mem::swap(&mut part.parser, &mut self.part.parser);
            }
            self.done_before += self.part.feed.size();
            self.met.name = name;
            self.met.lines = part.header_lines;
            self.met.rows_before = self.met.report.rows + self.met.report.bad_rows;
            self.part = part;
            return Ok(true);
        }
        Ok(false)
    }

    fn run_part<T: Send>(
        &mut self,
        spare: &mut Vec<Parsed>,
        work: &(impl Fn(&mut Parsed) -> T + Sync),
        take: &mut impl FnMut(&mut Parsed, T, Position) -> Result<()>,
    ) -> Result<()> {
        let mut ready: Vec<(u64, Parsed, T)> = Vec::new();
        loop {
            // What is parsed is handed on before a wait for more: input may come in slowly.
            let batch = self.part.next_batch(ready.is_empty(), self.session)?;
            if ready.is_empty() && batch.is_empty() {
                return Ok(());
            }
            let mut parsing = Vec::with_capacity(batch.len());
            for block in batch {
                let mut parsed = spare.pop().unwrap_or_default();
                parsed.number = self.met.blocks;
                self.met.blocks += 1;
                parsing.push((block, parsed, None));
            }
            let (parser, skip_bad_rows) = (&self.part.parser, self.met.skip_bad_rows);
            let pieces = parsing.iter_mut().map(|(block, parsed, result)| {
                move || {
                    parsed.clear();
                    parser.parse(&block.bytes, skip_bad_rows, parsed);
                    *result = Some(work(parsed));
                }
            });
            self.session.run_beside(pieces, || {
                for (position, mut parsed, result) in ready.drain(..) {
                    let (lines, done, total) = (self.met.lines, self.done_before + position, self.total);
                    self.met.count(&mut parsed)?;
                    take(&mut parsed, result, Position { done, total, lines })?;
                    self.session.progress("reading", done, total, "bytes");
                    spare.push(parsed);
                }
                Ok(())
            })?;
            for (block, parsed, result) in parsing {
                ready.extend(result.map(|result| (block.position, parsed, result)));
                self.part.feed.give_back(block);
            }
        }
    }

    /// Checks what can be known at the end of a source only.
    fn check_part_end(&self) -> Result<()> {
        let found = self.met.report.rows + self.met.report.bad_rows - self.met.rows_before;
        match self.part.parser.header() {
            Some(header) if header.rows != found => {
                let message = format!("the header says {} rows, found {found}", header.rows);
                Err(Problem::new(0, message).located(&self.met.name, 1))
            }
            _ => Ok(()),
        }
    }

    /// Checks what can be known at the end only.
    fn check_end(&self) -> Result<()> {
        let ReadReport { rows, bad_rows, .. } = self.met.report;
        match self.met.report.bad_row_messages.first() {
            _ if rows > 0 => Ok(()),
            None => Err(Error::input(&self.name, "has no rows; expected at least one")),
            Some(first) => Err(Error::input(
                &self.name,
                format!("has no good rows; the first of {bad_rows} bad ones: {first}"),
            )),
        }
    }
}

/// Whether all lines are blank or comments.
fn holds_no_row(bytes: &[u8]) -> bool {
    preamble(bytes) == bytes.len()
}
