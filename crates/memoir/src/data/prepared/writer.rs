//! Writes a prepared set, shard after shard. What is in finished shards is safe: a run that is stopped goes
//! on behind them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::block::{BlockEntry, EncodedBlock};
use super::bytes::{put_names, put_u32, put_u64};
use super::manifest::{Manifest, ShardEntry};
use super::shard::{MAGIC, PreparedSet, checksum};
use crate::data::{Content, Parsed};
use crate::dataset::ClassNames;
use crate::{Error, Result, Session};

/// A set that rows are added to.
pub(crate) struct SetWriter {
    folder: PathBuf,
    pub(crate) manifest: Manifest,
    classes: ClassNames,
    /// Words have numbers as classes have, in a table of their own.
    words: ClassNames,
    /// What comes from here on is new in the shard being written.
    first_new_class: usize,
    first_new_word: usize,
    /// Shards are closed when they have this size.
    shard_bytes: u64,
    open: Option<OpenShard>,
}

struct OpenShard {
    file: BufWriter<File>,
    path: PathBuf,
    hash: Xxh3Default,
    bytes: u64,
    rows: u64,
    blocks: Vec<BlockEntry>,
}

impl SetWriter {
    /// Begins a set in `folder`, which is made if it is not there.
    pub(crate) fn create(folder: &Path, content: Content, shard_bytes: u64) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|reason| Error::io(folder, "cannot make the folder", reason))?;
        Ok(Self::new(
            folder,
            Manifest::new(content),
            ClassNames::new(),
            ClassNames::new(),
            shard_bytes,
        ))
    }

    /// Goes on with the set in `folder`, complete or not.
    pub(crate) fn open(folder: &Path, shard_bytes: u64) -> Result<Self> {
        let set = PreparedSet::open_unfinished(folder)?;
        let words = set.words.iter().collect();
        Ok(Self::new(folder, set.manifest, set.classes, words, shard_bytes))
    }

    fn new(
        folder: &Path,
        manifest: Manifest,
        classes: ClassNames,
        words: ClassNames,
        shard_bytes: u64,
    ) -> Self {
        Self {
            folder: folder.to_owned(),
            manifest,
            first_new_class: classes.len(),
            classes,
            first_new_word: words.len(),
            words,
            shard_bytes,
            open: None,
        }
    }

    /// Hands all rows that are there to `take`.
    pub(crate) fn for_each_block(&self, session: &Session<'_>, mut take: impl FnMut(&Parsed)) -> Result<()> {
        if self.manifest.shards.is_empty() {
            return Ok(());
        }
        let set = PreparedSet::open_unfinished(&self.folder)?;
        let mut parsed = Parsed::default();
        for shard in set.shards() {
            let shard = shard?;
            for block in shard.blocks() {
                session.check()?;
                parsed.clear();
                shard.decode(block, &mut parsed)?;
                take(&parsed);
            }
        }
        Ok(())
    }

    /// Adds a block, whose classes are called `names`. `words` gives the number over all blocks of each of
    /// its words; it is told the number of a name.
    pub(crate) fn add(
        &mut self,
        block: &EncodedBlock,
        names: &ClassNames,
        words: impl FnOnce(&mut dyn FnMut(&str) -> u32) -> Vec<u32>,
    ) -> Result<()> {
        if block.rows == 0 {
            return Ok(());
        }
        let mut maps = Vec::new();
        put_u32(&mut maps, names.iter().map(|name| self.classes.intern(name)));
        let class_count = names.len();
        let words = words(&mut |word| self.words.intern(word));
        let word_count = words.len();
        put_u32(&mut maps, words);
        let fail = |reason| Error::io(&self.folder, "cannot write a shard here", reason);
        let shard = match &mut self.open {
            Some(open) => open,
            none => none.insert(OpenShard::create(&self.folder, self.manifest.shards.len()).map_err(fail)?),
        };
        shard.blocks.push(BlockEntry {
            offset: shard.bytes,
            rows: block.rows as u32,
            classes: class_count as u32,
            words: word_count as u32,
            stored_bytes: block.payload.len() as u32,
            plain_bytes: block.plain_bytes as u32,
        });
        shard.write(&maps).map_err(fail)?;
        shard.write(&block.payload).map_err(fail)?;
        shard.rows += block.rows as u64;
        let manifest = &mut self.manifest;
        manifest.rows += block.rows as u64;
        manifest.labels += block.labels;
        manifest.entries += block.entries;
        manifest.width = manifest.width.max(block.width as u64);
        manifest.counts &= block.counts;
        manifest.weights |= block.weights;
        Ok(())
    }

    /// Whether the shard being written is large enough.
    pub(crate) fn is_full(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| open.bytes >= self.shard_bytes)
    }

    /// Finishes the shard being written, if there is one, and notes it in the manifest.
    pub(crate) fn commit(&mut self) -> Result<()> {
        if let Some(shard) = self.open.take() {
            let new_classes = (self.first_new_class..self.classes.len()).map(|class| class as u32);
            let mut footer = Vec::new();
            put_u32(&mut footer, [shard.blocks.len() as u32]);
            for block in &shard.blocks {
                put_u64(&mut footer, [block.offset]);
                put_u32(
                    &mut footer,
                    [
                        block.rows,
                        block.classes,
                        block.words,
                        block.stored_bytes,
                        block.plain_bytes,
                    ],
                );
            }
            put_u32(&mut footer, [new_classes.len() as u32]);
            put_names(&mut footer, new_classes.map(|class| self.classes.name(class)));
            let new_words = (self.first_new_word..self.words.len()).map(|word| word as u32);
            put_u32(&mut footer, [new_words.len() as u32]);
            put_names(&mut footer, new_words.map(|word| self.words.name(word)));
            let entry = shard
                .finish(&footer, self.manifest.shards.len())
                .map_err(|reason| Error::io(&self.folder, "cannot write a shard here", reason))?;
            self.manifest.shards.push(entry);
            self.first_new_class = self.classes.len();
            self.first_new_word = self.words.len();
        }
        self.manifest.classes = self.classes.len() as u64;
        self.manifest.words = self.words.len() as u64;
        self.manifest.save(&self.folder)
    }
}

fn file_name(number: usize) -> String {
    format!("shard-{number:06}.bin")
}

impl OpenShard {
    fn create(folder: &Path, number: usize) -> std::io::Result<Self> {
        let path = folder.join(file_name(number));
        let mut shard = Self {
            file: BufWriter::with_capacity(1 << 20, File::create(path.with_extension("partial"))?),
            path,
            hash: Xxh3Default::new(),
            bytes: 0,
            rows: 0,
            blocks: Vec::new(),
        };
        shard.write(MAGIC)?;
        Ok(shard)
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn finish(mut self, footer: &[u8], number: usize) -> std::io::Result<ShardEntry> {
        let entry = ShardEntry {
            file: file_name(number),
            rows: self.rows,
            bytes: self.bytes + footer.len() as u64,
            footer: self.bytes,
            checksum: checksum(self.hash.digest()),
            footer_checksum: checksum(xxh3_64(footer)),
        };
        self.file.write_all(footer)?;
        let file = self.file.into_inner()?;
        file.sync_data()?;
        fs::rename(self.path.with_extension("partial"), &self.path)?;
        Ok(entry)
    }
}
