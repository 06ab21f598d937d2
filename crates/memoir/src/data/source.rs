//! Where data comes from: opens files and streams, sees through compression, and says clearly why it cannot.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use liblzma::stream::{CONCATENATED, Stream};

use encoding_rs::{Encoding, UTF_8};

use super::archive;
use super::cells::TableOfCells;
use super::encoding::Utf8Reader;
use super::files::files_at;
use super::format::{Format, NamedFormat};
use super::prepared::{Manifest, SourceState};
use crate::{Error, Result};

/// Memory that an xz archive may ask for; `xz -9` needs 65 MiB.
const XZ_MEMORY_LIMIT: u64 = 1 << 30;

/// A file, standard input, or any other reader. Compressed content (gzip, zstd, xz, bzip2, zip) is
/// recognised by its first bytes.
pub struct Source {
    name: String,
    origin: Origin,
    /// Whether it is a table of another kind, in CSV.
    table: Option<TableOfCells>,
    /// What whoever reads it should know.
    note: Option<String>,
}

enum Origin {
    File(PathBuf),
    Stdin,
    Reader(Box<dyn Read + Send>),
    /// Sources that are read one after the other.
    Several(Vec<Source>),
}

impl Source {
    /// The file at `path`, the files of a folder or of a pattern such as `2026-*.csv` ([`files_at`]), or
    /// standard input if it is `-`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Self {
                name: "<stdin>".to_owned(),
                origin: Origin::Stdin,
                table: None,
                note: None,
            };
        }
        Self {
            name: path.display().to_string(),
            origin: Origin::File(path.to_owned()),
            table: None,
            note: None,
        }
    }

    /// A reader of any kind; `name` stands for it in messages and tells the format, as a file's name would.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self {
            name: name.into(),
            origin: Origin::Reader(Box::new(reader)),
            table: None,
            note: None,
        }
    }

    /// A table of another kind that `reader` gives as CSV in UTF-8, with commas and a record for each row; a
    /// blank line is a blank row. Items of lists begin with [`LIST_ITEM`](super::LIST_ITEM). `name` stands
    /// for it in messages, which count rows and columns, not lines and bytes.
    pub fn from_table(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self {
            table: Some(TableOfCells::default()),
            ..Self::from_reader(name, reader)
        }
    }

    /// The same table, whose columns always have names: the option that says otherwise is refused.
    #[must_use]
    pub fn with_named_columns(self) -> Self {
        Self {
            table: Some(TableOfCells { is_named: true }),
            ..self
        }
    }

    /// What is known of it, if it is a table of another kind.
    pub(super) fn table(&self) -> Option<TableOfCells> {
        self.table
    }

    /// All rows of `parts`, which must be of one kind and have the same columns; `name` stands for all of
    /// them in messages.
    pub fn several(name: impl Into<String>, parts: Vec<Self>) -> Self {
        Self {
            name: name.into(),
            origin: Origin::Several(parts),
            table: None,
            note: None,
        }
    }

    /// The same, with something that the user should know when it is read.
    #[must_use]
    pub fn with_note(self, note: Option<String>) -> Self {
        Self { note, ..self }
    }

    pub(super) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder, if it is one of prepared data.
    pub(crate) fn prepared_folder(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) if Manifest::is_in(path) => Some(path),
            _ => None,
        }
    }

    /// What tells whether it is still the same when it is read once more: the size of all its files, and
    /// when the last of them was changed.
    pub(crate) fn state(&self) -> SourceState {
        let of_file = |path: &PathBuf| {
            let about = path.metadata().ok();
            let modified = about.as_ref().and_then(|about| about.modified().ok());
            let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            SourceState {
                bytes: about.map_or(0, |about| about.len()),
                modified: since.map_or(0, |since| since.as_secs()),
            }
        };
        let states: Vec<SourceState> = match &self.origin {
            Origin::File(path) => files_at(path).iter().flatten().map(of_file).collect(),
            Origin::Several(parts) => parts.iter().map(Self::state).collect(),
            Origin::Stdin | Origin::Reader(_) => Vec::new(),
        };
        SourceState {
            bytes: states.iter().map(|state| state.bytes).sum(),
            modified: states.iter().map(|state| state.modified).max().unwrap_or(0),
        }
    }

    /// The format that its name stands for.
    pub(crate) fn format(&self) -> NamedFormat {
        match &self.origin {
            _ if self.table.is_some() => NamedFormat::Sure(Format::Csv),
            Origin::Stdin => NamedFormat::Nameless,
            Origin::Several(parts) => parts.first().map_or(NamedFormat::Nameless, Self::format),
            Origin::File(path) => {
                let inside = match Format::from_path(path) {
                    None => archive::name_inside(path),
                    Some(_) => None,
                };
                NamedFormat::of(inside.as_deref().map_or(path.as_path(), Path::new))
            }
            Origin::Reader(_) => NamedFormat::of(Path::new(&self.name)),
        }
    }

    /// The sources that it is made of: several, or the files of a folder or pattern.
    pub(super) fn into_parts(self) -> Result<Vec<Self>> {
        match self.origin {
            Origin::Several(parts) => {
                let parts: Result<Vec<Vec<Self>>> = parts.into_iter().map(Self::into_parts).collect();
                Ok(parts?.into_iter().flatten().collect())
            }
            Origin::File(path) => Ok(files_at(&path)?.into_iter().map(Self::new).collect()),
            Origin::Stdin | Origin::Reader(_) => Ok(vec![self]),
        }
    }

    /// Its size in bytes as stored, or 0 if unknown.
    pub(crate) fn stored_size(&self) -> u64 {
        match &self.origin {
            Origin::File(path) => match std::fs::metadata(path) {
                Ok(about) if about.is_file() => about.len(),
                _ => 0,
            },
            Origin::Stdin | Origin::Reader(_) | Origin::Several(_) => 0,
        }
    }

    /// Opens it as a plain reader of its uncompressed text, in UTF-8.
    pub fn into_reader(self) -> Result<Box<dyn Read + Send>> {
        Ok(self.open(None)?.reader)
    }

    /// Opens it, looks through its compression and decodes its text, which is in `encoding` or else in one
    /// that is recognised.
    pub(super) fn open(self, encoding: Option<&'static Encoding>) -> Result<OpenSource> {
        let Self {
            name, origin, table, ..
        } = self;
        let encoding = if table.is_some() { Some(UTF_8) } else { encoding };
        let (raw, size, patient): (Box<dyn Read + Send>, u64, bool) = match origin {
            Origin::File(path) => {
                let file = File::open(&path).map_err(|reason| Error::io(&path, "cannot open", reason))?;
                let about = file
                    .metadata()
                    .map_err(|reason| Error::io(&path, "cannot open", reason))?;
                if about.is_dir() {
                    return Err(Error::input(
                        name,
                        "is a directory; expected a file or `-` for standard input",
                    ));
                }
                let size = if about.is_file() { about.len() } else { 0 };
                (Box::new(file), size, about.is_file())
            }
            Origin::Stdin => (Box::new(io::stdin()), 0, false),
            Origin::Reader(reader) => (reader, 0, false),
            Origin::Several(_) => return Err(Error::input(name, "is several files; expected one")),
        };
        let position = Arc::new(AtomicU64::new(0));
        let counted = Counted {
            inner: raw,
            position: Arc::clone(&position),
        };
        let mut source = OpenSource {
            name,
            reader: Box::new(io::empty()),
            compression: None,
            recognised: Arc::default(),
            size,
            position,
            patient,
        };
        source.look_through(counted)?;
        let reader = std::mem::replace(&mut source.reader, Box::new(io::empty()));
        source.reader = Box::new(Utf8Reader::new(reader, encoding, Arc::clone(&source.recognised)));
        Ok(source)
    }
}

/// A source whose bytes can be read, uncompressed.
pub(super) struct OpenSource {
    /// What messages call it.
    pub(super) name: String,
    reader: Box<dyn Read + Send>,
    compression: Option<Compression>,
    /// The encoding of its text, if it is not UTF-8 and nobody named it.
    pub(super) recognised: Arc<OnceLock<&'static str>>,
    /// Size in bytes as stored, or 0 if unknown.
    pub(super) size: u64,
    /// How many of these bytes have been read.
    pub(super) position: Arc<AtomicU64>,
    /// Whether reading never waits for someone to write, so that large blocks cost no time.
    pub(super) patient: bool,
}

impl OpenSource {
    /// Reads some bytes; 0 means the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Ok(count) => return Ok(count),
                Err(reason) if reason.kind() == io::ErrorKind::Interrupted => {}
                Err(reason) => return Err(self.explain(reason)),
            }
        }
    }

    fn look_through(&mut self, mut counted: Counted) -> Result<()> {
        let mut head = Vec::with_capacity(8);
        // Byte by byte, and no further than needed: someone may be typing.
        while head.len() < 8 && Compression::may_begin(&head) {
            let mut byte = [0];
            match counted.read(&mut byte) {
                Ok(0) => break,
                Ok(_) => head.push(byte[0]),
                Err(reason) if reason.kind() == io::ErrorKind::Interrupted => {}
                Err(reason) => return Err(self.explain(reason)),
            }
        }
        let kind = Compression::of(&head);
        let raw = io::Cursor::new(head).chain(counted);
        self.reader = match kind {
            None => Box::new(raw),
            Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(raw))),
            Some(Compression::Zstd) => {
                let decoder = zstd::stream::read::Decoder::with_buffer(buffered(raw));
                Box::new(decoder.map_err(|reason| self.explain(reason))?)
            }
            Some(Compression::Xz) => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY_LIMIT, CONCATENATED);
                let stream = stream.map_err(|reason| self.explain(reason.into()))?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(buffered(raw), stream))
            }
            Some(Compression::Bzip2) => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(raw))),
            Some(Compression::Zip) => {
                self.compression = kind;
                archive::open(buffered(raw)).map_err(|reason| self.explain(reason))?
            }
        };
        self.compression = kind;
        Ok(())
    }

    fn explain(&self, reason: io::Error) -> Error {
        let Some(compression) = self.compression else {
            return Error::io(Path::new(&self.name), "cannot read", reason);
        };
        let kind = compression.name();
        let message = match reason.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("the {kind} archive ends too early: it is cut off, or something else follows it")
            }
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
                format!("the {kind} archive is damaged: {reason}")
            }
            _ => return Error::io(Path::new(&self.name), "cannot read", reason),
        };
        Error::input(&self.name, message)
    }
}

fn buffered(raw: impl Read) -> BufReader<impl Read> {
    BufReader::with_capacity(1 << 16, raw)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    Zip,
}

impl Compression {
    /// First bytes; `?` is any byte. Long enough not to be taken for the start of a text.
    const MAGIC: [(&'static [u8], Self); 5] = [
        (&[0x1f, 0x8b], Self::Gzip),
        (&[0x28, 0xb5, 0x2f, 0xfd], Self::Zstd),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], Self::Xz),
        (b"BZh?1AY&", Self::Bzip2),
        (archive::MAGIC, Self::Zip),
    ];

    /// Whether a longer head could still turn out to be compressed.
    fn may_begin(head: &[u8]) -> bool {
        Self::MAGIC
            .iter()
            .any(|(magic, _)| agree(magic, head) && magic.len() > head.len())
    }

    fn of(head: &[u8]) -> Option<Self> {
        Self::MAGIC
            .iter()
            .find(|(magic, _)| agree(magic, head) && magic.len() <= head.len())
            .map(|(_, kind)| *kind)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Zip => "zip",
        }
    }
}

/// Whether a magic and the start of a file are the same as far as both go.
fn agree(magic: &[u8], head: &[u8]) -> bool {
    magic
        .iter()
        .zip(head)
        .all(|(magic, byte)| magic == byte || *magic == b'?')
}

/// Counts the bytes that were read, for progress.
struct Counted {
    inner: Box<dyn Read + Send>,
    position: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.position.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
