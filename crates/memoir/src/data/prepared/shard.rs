//! Reads the shards of a prepared set, block by block, and checks them before anything of them is used.
//! Nothing is mapped: pages of a file that were touched would count as memory of the program, a shard at a
//! time, whatever the budget is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::block::{BlockEntry, decode};
use super::bytes::{Damaged, Taken};
use super::manifest::{Manifest, ShardEntry};
use crate::data::Parsed;
use crate::dataset::ClassNames;
use crate::{Error, Result};

/// First bytes of a shard.
pub(super) const MAGIC: &[u8; 8] = b"memoirPS";

/// A prepared set that can be read.
#[derive(Debug)]
pub(crate) struct PreparedSet {
    folder: PathBuf,
    pub(crate) manifest: Manifest,
    /// All classes, in the order of their numbers.
    pub(crate) classes: ClassNames,
    /// All words, in the order of their numbers, until somebody takes them.
    pub(crate) words: Vec<String>,
    /// Whether texts are left out of what is decoded: their words are enough.
    pub(crate) without_texts: bool,
    /// The blocks of each shard.
    blocks: Vec<Vec<BlockEntry>>,
}

/// A shard whose blocks can be decoded.
pub(super) struct Shard<'s> {
    set: &'s PreparedSet,
    name: String,
    file: Mutex<File>,
    /// Bytes before its footer.
    bytes: u64,
    blocks: &'s [BlockEntry],
}

impl PreparedSet {
    /// Opens the set in `folder`, which must be complete.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let set = Self::open_unfinished(folder)?;
        if !set.manifest.complete {
            return Err(Error::input(
                folder.display().to_string(),
                "is not prepared to its end; run `prepare` once more to go on where it was",
            ));
        }
        Ok(set)
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes of the largest block, as it is decoded.
    pub(crate) fn largest_block(&self) -> u64 {
        let blocks = self.blocks.iter().flatten();
        blocks
            .map(|block| u64::from(block.plain_bytes))
            .max()
            .unwrap_or(0)
    }

    /// Bytes of all blocks, as they are decoded.
    pub(crate) fn plain_bytes(&self) -> u64 {
        let blocks = self.blocks.iter().flatten();
        blocks.map(|block| u64::from(block.plain_bytes)).sum()
    }

    /// A hash of all rows.
    pub(crate) fn fingerprint(&self) -> u64 {
        let shards = self.manifest.shards.iter();
        shards.fold(0, |hash, shard| {
            xxh3_64(format!("{hash} {} {}", shard.checksum, shard.footer_checksum).as_bytes())
        })
    }

    /// Opens what there is of the set in `folder`.
    pub(super) fn open_unfinished(folder: &Path) -> Result<Self> {
        let mut set = Self {
            folder: folder.to_owned(),
            manifest: Manifest::load(folder)?,
            classes: ClassNames::new(),
            words: Vec::new(),
            without_texts: false,
            blocks: Vec::new(),
        };
        for number in 0..set.manifest.shards.len() {
            let entry = set.manifest.shards[number].clone();
            let (name, mut file) = set.open_shard(&entry)?;
            let footer = read_at(&mut file, entry.footer, entry.bytes - entry.footer)
                .map_err(|reason| unreadable(&name, reason))?;
            check(&name, xxh3_64(&footer), &entry.footer_checksum)?;
            set.add_footer(&footer, &entry)
                .map_err(|Damaged| Damaged::error(&name))?;
        }
        if !set.has_what_it_claims() {
            return Err(Damaged::error(&folder.display().to_string()));
        }
        Ok(set)
    }

    /// Whether the totals can be true: room is made by them before anything is read. A label and an entry
    /// take a byte at least.
    fn has_what_it_claims(&self) -> bool {
        let (claimed, bytes) = (&self.manifest, self.plain_bytes());
        (self.classes.len() as u64, self.words.len() as u64) == (claimed.classes, claimed.words)
            && claimed.labels <= bytes
            && claimed.entries <= bytes
    }

    /// Opens the file of a shard, whose size must be right.
    fn open_shard(&self, entry: &ShardEntry) -> Result<(String, File)> {
        let path = self.folder.join(&entry.file);
        let fail = |reason| Error::io(&path, "cannot open the shard", reason);
        let file = File::open(&path).map_err(fail)?;
        let bytes = file.metadata().map_err(fail)?.len();
        let name = path.display().to_string();
        if bytes != entry.bytes || entry.footer > entry.bytes {
            return Err(Error::input(
                name,
                format!(
                    "the shard is damaged: it has {bytes} bytes, expected {}; prepare the data again",
                    entry.bytes
                ),
            ));
        }
        Ok((name, file))
    }

    fn add_footer(&mut self, footer: &[u8], entry: &ShardEntry) -> Result<(), Damaged> {
        let mut taken = Taken::new(footer);
        let mut blocks = Vec::new();
        for _ in 0..taken.u32()? {
            let offset = taken.u64s(1)?.next().ok_or(Damaged)?;
            blocks.push(BlockEntry {
                offset,
                rows: taken.u32()?,
                classes: taken.u32()?,
                words: taken.u32()?,
                stored_bytes: taken.u32()?,
                plain_bytes: taken.u32()?,
            });
        }
        let rows: u64 = blocks.iter().map(|block| u64::from(block.rows)).sum();
        if rows != entry.rows {
            return Err(Damaged);
        }
        self.blocks.push(blocks);
        let count = taken.u32()? as usize;
        for (number, name) in (self.classes.len()..).zip(taken.names(count)?) {
            if self.classes.intern(name) as usize != number {
                return Err(Damaged);
            }
        }
        let count = taken.u32()? as usize;
        self.words
            .extend(taken.names(count)?.into_iter().map(str::to_owned));
        Ok(())
    }

    /// The shards in order, each checked as it comes.
    pub(super) fn shards(&self) -> impl Iterator<Item = Result<Shard<'_>>> {
        let entries = self.manifest.shards.iter().zip(&self.blocks);
        entries.map(|(entry, blocks)| {
            let (name, file) = self.open_shard(entry)?;
            let hash = hash_of(&file, entry.footer).map_err(|reason| unreadable(&name, reason))?;
            check(&name, hash, &entry.checksum)?;
            Ok(Shard {
                set: self,
                name,
                file: Mutex::new(file),
                bytes: entry.footer,
                blocks,
            })
        })
    }
}

impl<'s> Shard<'s> {
    pub(super) fn blocks(&self) -> &'s [BlockEntry] {
        self.blocks
    }

    /// Rebuilds the rows of a block.
    pub(super) fn decode(&self, entry: &BlockEntry, parsed: &mut Parsed) -> Result<()> {
        let length = 4 * (u64::from(entry.classes) + u64::from(entry.words)) + u64::from(entry.stored_bytes);
        let end = entry.offset.checked_add(length);
        let bytes = if end.is_some_and(|end| end <= self.bytes) {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(read_at(&mut file, entry.offset, length).map_err(|reason| unreadable(&self.name, reason))?)
        } else {
            Err(Damaged)
        };
        let (classes, words) = (&self.set.classes, self.set.manifest.words as usize);
        let texts = !self.set.without_texts;
        let decoded = bytes.and_then(|bytes| {
            decode(&bytes, entry, (classes, words), texts, parsed)?;
            // Blocks say for themselves whether they hold texts, and could contradict the manifest.
            if parsed.words.is_some() == self.set.manifest.text {
                Ok(())
            } else {
                Err(Damaged)
            }
        });
        decoded.map_err(|Damaged| Damaged::error(&self.name))
    }
}

fn check(name: &str, hash: u64, expected: &str) -> Result<()> {
    let found = checksum(hash);
    if found == expected {
        return Ok(());
    }
    Err(Error::input(
        name,
        format!("the shard is damaged: its checksum is {found}, expected {expected}; prepare the data again"),
    ))
}

/// A checksum as the manifest writes it.
pub(super) fn checksum(hash: u64) -> String {
    format!("{hash:016x}")
}

/// So many bytes from `offset` on. They must be there: memory is taken for them first.
fn read_at(file: &mut File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The hash of the first `length` bytes.
fn hash_of(file: &File, length: u64) -> io::Result<u64> {
    let mut hash = Xxh3Default::new();
    let mut rest = file.take(length);
    let mut part = vec![0; 1 << 18];
    loop {
        match rest.read(&mut part)? {
            0 => return Ok(hash.digest()),
            count => hash.update(&part[..count]),
        }
    }
}

fn unreadable(name: &str, reason: io::Error) -> Error {
    Error::io(Path::new(name), "cannot read the shard", reason)
}
