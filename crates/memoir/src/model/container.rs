//! The container of a model file, as bytes: a safetensors header, arrays, checksums. Knows nothing of what
//! they mean.
//!
//! `docs/model-file.md` specifies it. Everything in a file is hostile until checked here: lengths, text,
//! offsets, types.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};
use rayon::prelude::*;
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use xxhash_rust::xxh3::xxh3_64;

use super::TensorSource;
use super::opened::OpenedFile;
use super::tensors::{are_finite_f16, are_finite_f32, not_finite};
use crate::{Error, Result, Session};

#[cfg(target_endian = "big")]
compile_error!("model files are little-endian and are used as they lie in memory");

mod arrays;

/// The version of the format that this program writes, and the newest that it reads.
pub(super) const VERSION: u64 = 1;

/// Name of the last array, which holds the checksums.
pub(super) const CHECKSUMS: &str = "checksums";

/// Largest header that is read. Real ones have a few kilobytes.
const LONGEST_HEADER: usize = 16 << 20;

/// Files up to this size are checked wholly when opened.
const CHECKED_AT_ONCE: usize = 64 << 20;

/// In larger files, a scorer's arrays beyond this size are left to [`Container::verify`].
const LEFT_FOR_LATER: usize = 1 << 20;

/// Prefixes of the arrays that are checked in a file of any size: small, and read when it is opened anyway.
const ALWAYS_CHECKED: [&str; 4] = ["classes.", "input.", "text.", "weighting."];

/// An open model file.
#[derive(Clone)]
pub(super) struct Container {
    path: PathBuf,
    bytes: Arc<Mmap>,
    tensors: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
    shape: (usize, usize),
    /// Length of the header, with its length in front.
    header: usize,
    /// The file, if it is mapped.
    file: Option<Arc<OpenedFile>>,
}

#[derive(Clone)]
struct Entry {
    dtype: Dtype,
    /// Where it lies in the file.
    range: Range<usize>,
    /// What its bytes must hash to.
    checksum: u64,
}

impl Container {
    /// Maps the file at `path` and checks all that can be checked without reading long arrays.
    pub(super) fn open(path: &Path) -> Result<Self> {
        Self::open_checking(path, CHECKED_AT_ONCE, LEFT_FOR_LATER)
    }

    /// Reads the file at `path` into memory and checks all of it.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let (mut file, about) = regular_file(path)?;
        let fail = |reason| Error::io(path, "cannot read", reason);
        let size = usize::try_from(about.len()).map_err(|_| fail(std::io::ErrorKind::OutOfMemory.into()))?;
        let mut bytes = MmapMut::map_anon(size).map_err(fail)?;
        file.read_exact(&mut bytes).map_err(fail)?;
        Self::of_bytes(path, bytes.make_read_only().map_err(fail)?, usize::MAX, 0)
    }

    /// Maps the file at `path`, which shall become `target`, and checks what arrays it has, not what is in
    /// long ones.
    pub(super) fn open_unfinished(path: &Path, target: &Path) -> Result<Self> {
        let (file, _) = regular_file(path)?;
        let bytes = map(&file).map_err(|reason| Error::io(target, "cannot map into memory", reason))?;
        Self::of_bytes(target, bytes, 0, 0)
    }

    fn open_checking(path: &Path, checked_at_once: usize, left_for_later: usize) -> Result<Self> {
        let (file, about) = regular_file(path)?;
        let bytes = map(&file).map_err(|reason| Error::io(path, "cannot map into memory", reason))?;
        let mut container = Self::of_bytes(path, bytes, checked_at_once, left_for_later)?;
        let (header, checksums) = (container.header, 8 * (container.tensors.len() + 1));
        let opened = OpenedFile::new(path, &about, Arc::clone(&container.bytes), header, checksums);
        container.file = Some(Arc::new(opened));
        Ok(container)
    }

    /// The file, if it is mapped.
    pub(super) fn file(&self) -> Option<Arc<OpenedFile>> {
        self.file.clone()
    }

    /// The same for a file's content that is in memory. It is checked wholly.
    pub(super) fn from_bytes(content: &[u8]) -> Result<Self> {
        let path = Path::new("<bytes>");
        let fail = |reason| Error::io(path, "cannot get memory", reason);
        // Anonymous memory is aligned as a mapped file is, which a plain buffer need not be.
        let mut bytes = MmapMut::map_anon(content.len().max(1)).map_err(fail)?;
        bytes[..content.len()].copy_from_slice(content);
        if content.is_empty() {
            return Err(invalid(path, "it is empty".to_owned()));
        }
        Self::of_bytes(path, bytes.make_read_only().map_err(fail)?, usize::MAX, 0)
    }

    fn of_bytes(path: &Path, bytes: Mmap, checked_at_once: usize, left_for_later: usize) -> Result<Self> {
        let mut container = Self {
            path: path.to_owned(),
            bytes: Arc::new(bytes),
            tensors: BTreeMap::new(),
            metadata: BTreeMap::new(),
            shape: (0, 0),
            header: 0,
            file: None,
        };
        container.read_header()?;
        let everything = container.bytes.len() <= checked_at_once;
        container.check_arrays(|name, size| {
            everything
                || size <= left_for_later
                || ALWAYS_CHECKED.iter().any(|prefix| name.starts_with(prefix))
        })?;
        Ok(container)
    }

    /// Checks the checksum of every array, in the pool that this is called from.
    pub(super) fn verify(&self, session: &Session<'_>) -> Result<()> {
        let arrays = self.tensors.par_iter();
        let found: Vec<Result<()>> = arrays
            .map(|(name, entry)| {
                session.check()?;
                self.check_array(name, entry)
            })
            .collect();
        // The first of several damaged ones, whichever was found first.
        found.into_iter().collect()
    }

    /// Whether there is a text called `name` in the header.
    pub(super) fn has_text(&self, name: &str) -> bool {
        self.metadata.contains_key(name)
    }

    /// The text called `name` in the header.
    pub(super) fn text(&self, name: &str) -> Result<&str> {
        let text = self.metadata.get(name).map(String::as_str);
        text.ok_or_else(|| self.invalid(format!("its header lacks `{name}`")))
    }

    fn read_header(&mut self) -> Result<()> {
        let bytes = Arc::clone(&self.bytes);
        let header = self.header_bytes(&bytes)?;
        let text = std::str::from_utf8(header)
            .map_err(|_| self.invalid("its header is not UTF-8 text".to_owned()))?;
        // Checks as it parses: arrays follow each other without gaps or overlaps, and shapes fit sizes.
        let parsed: Metadata = serde_json::from_str(text)
            .map_err(|reason| self.invalid(format!("its header cannot be understood: {reason}")))?;
        self.metadata = parsed
            .metadata()
            .clone()
            .unwrap_or_default()
            .into_iter()
            .collect();
        if self.metadata.get("format").map(String::as_str) != Some("memoir") {
            return Err(self.invalid("it is a safetensors file, but does not hold a memoir model".to_owned()));
        }
        let version = self.number("version")?;
        if version != VERSION {
            return Err(self.invalid(format!(
                "it is of format version {version}, and this program knows version {VERSION}{}",
                if version > VERSION {
                    ": use a newer program"
                } else {
                    ""
                }
            )));
        }
        let start = 8 + header.len();
        let declared = start.checked_add(parsed.data_len());
        if declared != Some(bytes.len()) {
            return Err(self.invalid(format!(
                "its header declares {} bytes, but it has {} ({})",
                declared.map_or_else(|| "impossibly many".to_owned(), |declared| declared.to_string()),
                bytes.len(),
                if declared.is_some_and(|declared| declared < bytes.len()) {
                    "something was appended"
                } else {
                    "it was cut off"
                }
            )));
        }
        self.shape = (self.count("classes")?, self.count("features")?);
        self.header = start;
        self.list_arrays(&parsed, start)
    }

    /// The header's text, in a file that is long enough to hold it.
    fn header_bytes<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8]> {
        let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
            let count = bytes.len();
            let unit = if count == 1 { "byte" } else { "bytes" };
            return Err(self.invalid(format!("it has only {count} {unit}")));
        };
        let length = u64::from_le_bytes(*length);
        if rest.first() != Some(&b'{') || length > LONGEST_HEADER as u64 {
            return Err(
                self.invalid("it does not start like one (it is something else, or damaged)".to_owned())
            );
        }
        rest.get(..length as usize).ok_or_else(|| {
            self.invalid(format!(
                "its header has {length} bytes, but only {} follow (it was cut off)",
                rest.len()
            ))
        })
    }

    /// Takes down where each array lies and what it must hash to, once the header is known to be undamaged.
    fn list_arrays(&mut self, parsed: &Metadata, start: usize) -> Result<()> {
        let bytes = &*self.bytes;
        let names = parsed.offset_keys();
        let locate = |name: &str| {
            let info = parsed.info(name)?;
            let range = start + info.data_offsets.0..start + info.data_offsets.1;
            Some((info.dtype, range))
        };
        let checksums = names.split_last().filter(|(last, _)| *last == CHECKSUMS);
        let found = checksums.and_then(|(last, others)| Some((&bytes[locate(last)?.1], others)));
        let Some((checksums, others)) = found.filter(|(sums, others)| sums.len() == 8 * (others.len() + 1))
        else {
            return Err(self.invalid(format!(
                "it should end with an array `{CHECKSUMS}` of 8 bytes for each of the {} arrays",
                names.len()
            )));
        };
        let mut sums = checksums.as_chunks().0.iter().map(|sum| u64::from_le_bytes(*sum));
        let mut entries = BTreeMap::new();
        for name in others {
            if let (Some((dtype, range)), Some(checksum)) = (locate(name), sums.next()) {
                let entry = Entry {
                    dtype,
                    range,
                    checksum,
                };
                entries.insert(name.clone(), entry);
            }
        }
        if sums.next() != Some(xxh3_64(&bytes[..start])) {
            return Err(self.invalid("its header is damaged: the checksum does not match".to_owned()));
        }
        self.tensors = entries;
        Ok(())
    }

    fn check_arrays(&self, chosen: impl Fn(&str, usize) -> bool) -> Result<()> {
        let chosen = |(name, entry): &(&String, &Entry)| chosen(name, entry.range.len());
        let mut arrays = self.tensors.iter().filter(chosen);
        arrays.try_for_each(|(name, entry)| self.check_array(name, entry))
    }

    fn check_array(&self, name: &str, entry: &Entry) -> Result<()> {
        let bytes = &self.bytes[entry.range.clone()];
        if xxh3_64(bytes) != entry.checksum {
            return Err(self.invalid(format!(
                "its array `{name}` is damaged: the checksum does not match"
            )));
        }
        let is_finite = match entry.dtype {
            Dtype::F32 => are_finite_f32(bytes),
            Dtype::F16 => are_finite_f16(bytes),
            _ => true,
        };
        if !is_finite {
            return Err(self.invalid(not_finite(name)));
        }
        Ok(())
    }

    /// A whole number in the header.
    fn number(&self, name: &str) -> Result<u64> {
        let text = self.text(name)?;
        text.parse().map_err(|_| {
            self.invalid(format!(
                "`{name}` in its header should be a whole number, but is `{text}`"
            ))
        })
    }

    /// A number of classes or features; what class and feature numbers can express.
    fn count(&self, name: &str) -> Result<usize> {
        let number = self.number(name)?;
        if number > u64::from(u32::MAX) {
            return Err(self.invalid(format!("it declares {number} {name}, more than there can be")));
        }
        Ok(number as usize)
    }
}

impl Container {
    /// The same file for a scorer that has more classes than it declares, because some were merged.
    pub(super) fn with_classes(&self, classes: usize) -> Self {
        Self {
            shape: (classes, self.shape.1),
            ..self.clone()
        }
    }

    /// The arrays whose names begin with `prefix`, without it: those of a scorer with `classes` classes.
    pub(super) fn part(&self, prefix: &str, classes: usize) -> Self {
        let arrays = self.tensors.iter();
        let own =
            arrays.filter_map(|(name, entry)| Some((name.strip_prefix(prefix)?.to_owned(), entry.clone())));
        Self {
            shape: (classes, self.shape.1),
            tensors: own.collect(),
            ..self.clone()
        }
    }
}

/// Opens a file that can be mapped: a regular one with something in it.
fn regular_file(path: &Path) -> Result<(File, fs::Metadata)> {
    let file = File::open(path).map_err(|reason| Error::io(path, "cannot open", reason))?;
    let about = file
        .metadata()
        .map_err(|reason| Error::io(path, "cannot open", reason))?;
    let problem = if about.is_dir() {
        "it is a directory"
    } else if !about.is_file() {
        "it is not a regular file, so it cannot be mapped into memory"
    } else if about.len() == 0 {
        "it is empty"
    } else {
        return Ok((file, about));
    };
    Err(invalid(path, problem.to_owned()))
}

fn invalid(path: &Path, message: String) -> Error {
    Error::ModelFile {
        path: path.to_owned(),
        message,
    }
}

/// Maps a file into memory, read-only.
#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is undefined behaviour only if the file changes while it is used. This program never
    // writes into a model file: it writes beside and renames, which leaves the mapped file as it was. Every
    // number in it may have any value (all types are plain numbers), and sizes are checked against the map's
    // length once, which does not change. A foreign process that cuts the file ends this one by a signal,
    // not by misuse; `OpenedFile` notices most of these before they do harm.
    unsafe { memmap2::MmapOptions::new().map(file) }
}

#[cfg(test)]
mod tests;
