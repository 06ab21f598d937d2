//! Files become prepared data: parsed, cut into words, and written in a form that is read without either.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::unprepared::{text_hash, vector_hash};
use crate::data::prepared::{EncodedBlock, SetWriter, encode};
use crate::data::{Content, Manifest, Parsed, Purpose, ReadOptions, Reader, Source, SourceEntry};
use crate::per_thread::PerThread;
use crate::text::{Analyzer, CountedBlock, KnownWords, TextParams};
use crate::{Error, Result, Session};

/// Bytes of a shard, about: few files, and little work lost when a run is stopped.
const SHARD_BYTES: u64 = 64 << 20;

/// Bytes of a block of texts at most: each thread holds a few.
const LARGEST_TEXT_BLOCK: usize = 1 << 21;

/// How data is prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskOptions {
    /// Add to a set that is there.
    pub append: bool,
    /// Leave out rows whose text (but for capital letters and white space) or vector and whose labels came
    /// before.
    pub deduplicate: bool,
    /// Compress blocks: smaller files, slower to read.
    pub compress: bool,
    /// Size from which on a shard is closed.
    pub shard_bytes: u64,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self {
            append: false,
            deduplicate: false,
            compress: false,
            shard_bytes: SHARD_BYTES,
        }
    }
}

/// Writes the labelled rows of `source` to the folder `out` as prepared data, which every reader takes in
/// place of a file. A run that was stopped goes on behind its last shard when it is started once more with
/// the same source and options.
///
/// Memory: the names of classes and words, a shard's maps, and with `deduplicate` 8 to 16 bytes a row.
pub fn prepare_to_disk(
    source: Source,
    options: &ReadOptions,
    out: &Path,
    how: &DiskOptions,
    session: &Session<'_>,
) -> Result<Manifest> {
    let began = if Manifest::is_in(out) {
        Began::After(Box::new(Manifest::load(out)?))
    } else {
        Began::Anew
    };
    let result = write(source, options, out, how, &began, session);
    if let Err(Error::Data { .. } | Error::Input { .. }) = &result {
        // What cannot be read to its end is of no use.
        began.restore(out)?;
    }
    result
}

/// What was there before.
enum Began {
    Anew,
    After(Box<Manifest>),
}

impl Began {
    /// Takes back what was added; an unfinished set stays.
    fn restore(&self, out: &Path) -> Result<()> {
        if !Manifest::is_in(out) {
            return Ok(());
        }
        match self {
            Self::Anew => Manifest::remove_all(out),
            Self::After(manifest) if manifest.complete => manifest.remove_others(out),
            Self::After(_) => Ok(()),
        }
    }
}

fn write(
    source: Source,
    options: &ReadOptions,
    out: &Path,
    how: &DiskOptions,
    began: &Began,
    session: &Session<'_>,
) -> Result<Manifest> {
    let (name, state) = (source.name().to_owned(), source.state());
    let folder = out.display().to_string();
    if source.prepared_folder().is_some() {
        return Err(Error::input(name, "is prepared already; expected files of rows"));
    }
    let mut skip = 0;
    if let Began::After(manifest) = began {
        let last = manifest.sources.last().filter(|_| !manifest.complete);
        match last {
            Some(last) if (&last.name, &last.state) != (&name, &state) => {
                return Err(Error::input(
                    folder,
                    format!(
                        "was not prepared to its end, and {name} is not the file it was made of, or was changed \
                         (expected {}); remove the folder to start anew",
                        last.name
                    ),
                ));
            }
            Some(last) => skip = last.rows,
            None if !how.append => {
                return Err(Error::input(
                    folder,
                    "is prepared data already; append to it, or name another folder",
                ));
            }
            None => {}
        }
        if (manifest.compressed, manifest.deduplicated) != (how.compress, how.deduplicate) {
            return Err(Error::input(
                folder,
                "was prepared with other options; expected `compress` and `deduplicate` as they were",
            ));
        }
    }
    let blocks = ReadOptions {
        block_size: options.block_size.or_else(|| text_block_size(&source, options)),
        ..options.clone()
    };
    let mut reader = Reader::open(source, &blocks, Purpose::Labelled, session)?;
    let content = reader.content();
    let mut writer = match began {
        Began::Anew => SetWriter::create(out, content, how.shard_bytes)?,
        Began::After(_) => SetWriter::open(out, how.shard_bytes)?,
    };
    let manifest = &mut writer.manifest;
    if manifest.content() != content {
        return Err(Error::input(
            name,
            format!("holds {content}, but {folder} holds {}", manifest.content()),
        ));
    }
    if manifest.sources.is_empty() {
        manifest.first_index = reader.first_index();
        manifest.reading = options.to_remember().unwrap_or_default();
        (manifest.compressed, manifest.deduplicated) = (how.compress, how.deduplicate);
        manifest.guessed_label = reader.guessed_label().map(str::to_owned);
    } else if manifest.first_index != reader.first_index() {
        return Err(Error::input(
            name,
            format!(
                "counts features from {}, but {folder} from {}",
                reader.first_index(),
                manifest.first_index
            ),
        ));
    }
    let promised = reader.promised_features().map(|features| features as u64);
    manifest.promised_features = manifest.promised_features.max(promised);
    let resumed = matches!(began, Began::After(before) if !before.complete);
    if !resumed {
        manifest.complete = false;
        manifest.sources.push(SourceEntry {
            name: name.clone(),
            state,
            rows: 0,
            bad_rows: 0,
            duplicates: 0,
        });
    }
    writer.commit()?;
    let mut seen = Seen::new(how.deduplicate, &writer, session)?;
    let analyzer = Analyzer::new(&TextParams::default())?;
    let known = PerThread::new(session, KnownWords::default);
    let make = |parsed: &Parsed| {
        let counting = (&analyzer, &mut *known.of_this_thread());
        Made::new(parsed, content, counting, how.compress)
    };
    let rows_read = AtomicU64::new(0);
    reader.run(
        // Rows that are there already are parsed, to find the place behind them, but no more.
        |parsed| (rows_read.load(Ordering::Relaxed) >= skip && !how.deduplicate).then(|| make(parsed)),
        |parsed, made, _| {
            let before = rows_read.load(Ordering::Relaxed);
            let rows = parsed.labels.len() as u64;
            rows_read.store(before + rows, Ordering::Relaxed);
            let there_already = skip.saturating_sub(before).min(rows);
            if there_already == rows {
                return Ok(());
            }
            let mut keep = vec![true; rows as usize];
            keep[..there_already as usize].fill(false);
            seen.sort_out(parsed, &mut keep);
            let kept = keep.iter().filter(|keep| **keep).count() as u64;
            if kept == rows {
                made.unwrap_or_else(|| make(parsed)).add_to(&mut writer, parsed)?;
            } else {
                let parsed = parsed.filtered(&keep);
                make(&parsed).add_to(&mut writer, &parsed)?;
            }
            if let Some(entry) = writer.manifest.sources.last_mut() {
                entry.rows = before + rows;
                entry.duplicates += rows - there_already - kept;
            }
            if writer.is_full() {
                writer.commit()?;
            }
            Ok(())
        },
    )?;
    let report = reader.take_report();
    report.tell(&name, session);
    if let Some(entry) = writer.manifest.sources.last_mut() {
        entry.bad_rows = report.bad_rows;
    }
    writer.manifest.complete = true;
    writer.commit()?;
    Ok(writer.manifest)
}

/// Size of the blocks of a source of texts. The larger they are, the fewer words are new in each: cutting
/// words and numbering them take most of the time. Vectors gain nothing.
fn text_block_size(source: &Source, options: &ReadOptions) -> Option<usize> {
    let format = options.format.or(source.format().format());
    let is_text = format.is_some_and(|format| format.content() == Content::Text);
    is_text.then(|| match source.stored_size() {
        0 => LARGEST_TEXT_BLOCK / 2,
        known => (known / 32).clamp(1 << 15, LARGEST_TEXT_BLOCK as u64) as usize,
    })
}

/// A block that is ready to be added.
struct Made {
    block: EncodedBlock,
    counted: CountedBlock,
}

impl Made {
    fn new(
        parsed: &Parsed,
        content: Content,
        (analyzer, known): (&Analyzer, &mut KnownWords),
        compress: bool,
    ) -> Self {
        let is_text = content == Content::Text;
        let counted = CountedBlock::count_with(known, analyzer, parsed.texts.iter().filter(|_| is_text));
        let words = is_text.then(|| counted.numbers());
        Self {
            block: encode(parsed, words, compress),
            counted,
        }
    }

    fn add_to(&self, writer: &mut SetWriter, parsed: &Parsed) -> Result<()> {
        writer.add(&self.block, &parsed.names, |intern| {
            self.counted.numbers_overall(intern)
        })
    }
}

/// The rows that came before, by their hashes, if equal ones are to be left out.
struct Seen(Option<HashSet<u64>>);

impl Seen {
    fn new(deduplicate: bool, writer: &SetWriter, session: &Session<'_>) -> Result<Self> {
        let mut seen = Self(deduplicate.then(HashSet::new));
        if deduplicate {
            writer.for_each_block(session, |parsed| {
                seen.sort_out(parsed, &mut vec![true; parsed.labels.len()]);
            })?;
        }
        Ok(seen)
    }

    /// Clears `keep` for rows that came before.
    fn sort_out(&mut self, parsed: &Parsed, keep: &mut [bool]) {
        let Some(seen) = &mut self.0 else { return };
        let texts: Vec<&str> = parsed.texts.iter().collect();
        for (row, keep) in keep.iter_mut().enumerate().filter(|(_, keep)| **keep) {
            let hash = match texts.get(row) {
                Some(text) => text_hash(text),
                None => vector_hash(parsed.rows.row(row)),
            };
            let mut names: Vec<&str> = parsed
                .labels
                .row(row)
                .iter()
                .map(|&label| parsed.names.name(label))
                .collect();
            // The order of labels depends on the block they are in.
            names.sort_unstable();
            let hash = names.iter().fold(hash, |hash, name| {
                xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), hash)
            });
            *keep = seen.insert(hash);
        }
    }
}
