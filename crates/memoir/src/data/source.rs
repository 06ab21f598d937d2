//! Where data comes from: opens files and streams, sees through compression, and says clearly why it cannot.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use liblzma::stream::{CONCATENATED, Stream};

use super::format::{Format, is_vague};
use crate::{Error, Result};

/// Memory that an xz archive may ask for; `xz -9` needs 65 MiB.
const XZ_MEMORY_LIMIT: u64 = 1 << 30;

/// A file, standard input, or any other reader. Compressed content (gzip, zstd, xz) is recognised by its
/// first bytes.
pub struct Source {
    name: String,
    origin: Origin,
}

enum Origin {
    File(PathBuf),
    Stdin,
    Reader(Box<dyn Read + Send>),
}

impl Source {
    /// The file at `path`, or standard input if it is `-`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Self {
                name: "<stdin>".to_owned(),
                origin: Origin::Stdin,
            };
        }
        Self {
            name: path.display().to_string(),
            origin: Origin::File(path.to_owned()),
        }
    }

    /// A reader of any kind; `name` stands for it in messages and tells the format, as a file's name would.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self {
            name: name.into(),
            origin: Origin::Reader(Box::new(reader)),
        }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format that its name stands for, and whether the content may still overrule that.
    pub(super) fn format(&self) -> (Option<Format>, bool) {
        match &self.origin {
            Origin::Stdin => (None, true),
            Origin::File(path) => (Format::from_path(path), is_vague(path)),
            Origin::Reader(_) => {
                let path = Path::new(&self.name);
                (Format::from_path(path), is_vague(path))
            }
        }
    }

    /// Opens it as a plain reader of its uncompressed bytes.
    pub fn into_reader(self) -> Result<Box<dyn Read + Send>> {
        Ok(self.open()?.reader)
    }

    /// Opens it and looks through its compression.
    pub(super) fn open(self) -> Result<OpenSource> {
        let Self { name, origin } = self;
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
            size,
            position,
            patient,
        };
        source.look_through(counted)?;
        Ok(source)
    }
}

/// A source whose bytes can be read, uncompressed.
pub(super) struct OpenSource {
    /// What messages call it.
    pub(super) name: String,
    reader: Box<dyn Read + Send>,
    compression: Option<Compression>,
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
            Some(Compression::Unknown(what)) => {
                return Err(Error::input(
                    &self.name,
                    format!("is compressed with {what}; expected plain data, gzip, zstd or xz"),
                ));
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
    Unknown(&'static str),
}

impl Compression {
    /// First bytes; `?` is any byte. Long enough not to be taken for the start of a text.
    const MAGIC: [(&'static [u8], Self); 5] = [
        (&[0x1f, 0x8b], Self::Gzip),
        (&[0x28, 0xb5, 0x2f, 0xfd], Self::Zstd),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], Self::Xz),
        (b"BZh?1AY&", Self::Unknown("bzip2")),
        (b"PK\x03\x04", Self::Unknown("zip")),
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
            Self::Unknown(name) => name,
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
