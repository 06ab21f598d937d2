//! Reads a prepared set as a file would be read: blocks in order, decoded in parallel.

use super::shard::PreparedSet;
use crate::data::{Content, KeepColumns, Parsed, Position, ReadOptions, ReadReport};
use crate::{Error, Result, Session};
use std::path::Path;

/// Columns that rows of text have.
const COLUMNS: [&str; 2] = ["label", "text"];

/// What separates several labels in a kept column.
const LABEL_SEPARATOR: &str = "|";

/// A read of a prepared set.
pub(crate) struct PreparedReader<'s, 'o> {
    session: &'s Session<'o>,
    name: String,
    set: PreparedSet,
    /// The columns that are kept, by number.
    kept: Vec<usize>,
    report: ReadReport,
}

impl<'s, 'o> PreparedReader<'s, 'o> {
    pub(in crate::data) fn open(
        folder: &Path,
        options: &ReadOptions,
        session: &'s Session<'o>,
    ) -> Result<Self> {
        let name = folder.display().to_string();
        let set = PreparedSet::open_for(folder, options)?;
        let columns = if set.manifest.text { &COLUMNS[..] } else { &[] };
        let kept = match &options.keep_columns {
            KeepColumns::None => Vec::new(),
            KeepColumns::All => (0..columns.len()).collect(),
            KeepColumns::Named(names) => {
                let find = |wanted: &String| {
                    let found = columns.iter().position(|column| column == wanted);
                    found.ok_or_else(|| {
                        Error::input(
                            &name,
                            format!(
                                "prepared data has no column `{wanted}`; rows of text keep {}",
                                COLUMNS.join(" and ")
                            ),
                        )
                    })
                };
                names.iter().map(find).collect::<Result<_>>()?
            }
        };
        Ok(Self {
            session,
            name,
            set,
            kept,
            report: ReadReport::default(),
        })
    }

    pub(in crate::data) fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::data) fn take_report(&mut self) -> ReadReport {
        std::mem::take(&mut self.report)
    }

    pub(in crate::data) fn kept_columns(&self) -> (Vec<String>, bool) {
        let names = self.kept.iter().map(|&column| COLUMNS[column].to_owned());
        (names.collect(), false)
    }

    pub(in crate::data) fn content(&self) -> Content {
        self.set.manifest.content()
    }

    pub(in crate::data) fn guessed_label(&self) -> Option<&str> {
        self.set.manifest.guessed_label.as_deref()
    }

    pub(in crate::data) fn promised_features(&self) -> Option<usize> {
        self.set
            .manifest
            .promised_features
            .map(|features| features as usize)
    }

    pub(in crate::data) fn first_index(&self) -> u32 {
        self.set.manifest.first_index
    }

    /// All words of the texts, in the order of their numbers.
    pub(in crate::data) fn words(&self) -> &[String] {
        &self.set.words
    }

    /// As the reader of files does it.
    pub(in crate::data) fn run<T: Send>(
        &mut self,
        work: impl Fn(&mut Parsed) -> T + Sync,
        take: impl FnMut(&mut Parsed, T, Position) -> Result<()>,
    ) -> Result<()> {
        let kept = &self.kept;
        let with_columns = |parsed: &mut Parsed| {
            keep_columns(parsed, kept);
            work(parsed)
        };
        self.set.run(with_columns, take, self.session)?;
        self.report.rows = self.set.manifest.rows;
        Ok(())
    }
}

fn keep_columns(parsed: &mut Parsed, kept: &[usize]) {
    if kept.is_empty() {
        return;
    }
    for (labels, text) in parsed.labels.iter().zip(parsed.texts.iter()) {
        for &column in kept {
            if COLUMNS[column] == "text" {
                parsed.kept.push(text);
            } else {
                let names: Vec<&str> = labels.iter().map(|&label| parsed.names.name(label)).collect();
                parsed.kept.push(&names.join(LABEL_SEPARATOR));
            }
        }
    }
}

impl PreparedSet {
    /// Opens the set in `folder`, of which `options` must not ask for what is settled.
    pub(crate) fn open_for(folder: &Path, options: &ReadOptions) -> Result<Self> {
        if options.format.is_some() || options.names_columns() || options.label_separator.is_some() {
            return Err(Error::input(
                folder.display().to_string(),
                "is prepared data, and how its rows were read is settled; give options for reading to `prepare`",
            ));
        }
        Self::open(folder)
    }

    /// Reads everything: `work` is done to each block in the session's pool, `take` gets blocks and results
    /// in order. What they leave of a block is used again for its memory.
    pub(crate) fn run<T: Send>(
        &self,
        work: impl Fn(&mut Parsed) -> T + Sync,
        mut take: impl FnMut(&mut Parsed, T, Position) -> Result<()>,
        session: &Session<'_>,
    ) -> Result<()> {
        let total = self.manifest.bytes();
        let (mut done, mut rows, mut numbers) = (0, 0, 0..);
        let mut places: Vec<Parsed> = Vec::new();
        let mut ready: Vec<(u64, Parsed, T)> = Vec::new();
        let mut hand_on = |ready: &mut Vec<(u64, Parsed, T)>, places: &mut Vec<Parsed>| {
            for (done, mut parsed, result) in ready.drain(..) {
                session.check()?;
                let (more, lines) = (parsed.labels.len() as u64, rows);
                take(&mut parsed, result, Position { done, total, lines })?;
                rows += more;
                session.progress("reading", done, total, "bytes");
                places.push(parsed);
            }
            Ok(())
        };
        for shard in self.shards() {
            let shard = shard?;
            for stored in shard.blocks().chunks(session.threads()) {
                let mut decoding: Vec<_> = stored
                    .iter()
                    .zip(&mut numbers)
                    .map(|(block, number)| {
                        let mut parsed = places.pop().unwrap_or_default();
                        parsed.number = number;
                        (block, parsed, None)
                    })
                    .collect();
                let (shard, work) = (&shard, &work);
                let pieces = decoding.iter_mut().map(|(block, parsed, result)| {
                    move || {
                        parsed.clear();
                        *result = Some(shard.decode(block, parsed).map(|()| work(parsed)));
                    }
                });
                session.run_beside(pieces, || hand_on(&mut ready, &mut places))?;
                for (block, parsed, result) in decoding {
                    done += u64::from(block.stored_bytes);
                    if let Some(result) = result {
                        ready.push((done, parsed, result?));
                    }
                }
            }
        }
        hand_on(&mut ready, &mut places)
    }
}
