//! Zip archives of one file, read as a stream: its header, then its content.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::bufread::DeflateDecoder;

/// What comes before a file in an archive.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// Bytes of that header with the magic, before the name.
const HEADER: usize = 30;

/// Bytes behind the file, at most: its directory, and what macOS adds. More are another file.
const MOST_BEHIND: u64 = 1 << 16;

/// Methods of compression.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Set if sizes stand behind the content.
const SIZES_FOLLOW: u16 = 1 << 3;
const ENCRYPTED: u16 = 1;

/// The name of the first file in the archive at `path`, if it is one.
pub(super) fn name_inside(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok().filter(|_| path.is_file())?;
    let mut header = [0; HEADER];
    file.read_exact(&mut header).ok()?;
    if !header.starts_with(MAGIC) {
        return None;
    }
    let mut name = vec![0; usize::from(u16::from_le_bytes([header[26], header[27]]))];
    file.read_exact(&mut name).ok()?;
    String::from_utf8(name).ok()
}

/// The first file of the archive `reader`. What else is in it is found when that file ends.
pub(super) fn open(mut reader: impl io::BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut header = [0; HEADER];
    reader.read_exact(&mut header)?;
    let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let (flags, method) = (short(6), short(8));
    let size = u32::from_le_bytes([header[18], header[19], header[20], header[21]]);
    let mut name = vec![0; usize::from(short(26))];
    reader.read_exact(&mut name)?;
    io::copy(&mut (&mut reader).take(u64::from(short(28))), &mut io::sink())?;
    if is_of_office(&name) {
        return Err(unsupported(
            "it is an Excel file, or one of another office program; expected text, or the name of an .xlsx file",
        ));
    }
    if flags & ENCRYPTED != 0 {
        return Err(unsupported("it is encrypted"));
    }
    match method {
        DEFLATED => Ok(Box::new(Content {
            file: DeflateDecoder::new(reader),
            archive: DeflateDecoder::get_mut,
            is_over: false,
        })),
        STORED if flags & SIZES_FOLLOW == 0 && size != u32::MAX => Ok(Box::new(Content {
            file: reader.take(u64::from(size)),
            archive: io::Take::get_mut,
            is_over: false,
        })),
        _ => Err(unsupported(&format!(
            "its file is stored by method {method}; expected the usual one, deflate"
        ))),
    }
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}

/// The content of the first file; fails at its end if there are others in the archive.
struct Content<F, R> {
    file: F,
    /// What the file is read from.
    archive: fn(&mut F) -> &mut R,
    is_over: bool,
}

impl<F: Read, R: Read> Read for Content<F, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        if count == 0 && !buffer.is_empty() && !self.is_over {
            self.is_over = true;
            let mut rest = Vec::new();
            let archive = (self.archive)(&mut self.file);
            archive.take(MOST_BEHIND + 1).read_to_end(&mut rest)?;
            if rest.is_empty() {
                // The directory of the archive is missing, and perhaps more.
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if rest.len() as u64 > MOST_BEHIND || another_file(&rest) {
                return Err(unsupported("it holds several files; expected one"));
            }
        }
        Ok(count)
    }
}

/// Whether an archive whose first file has this name is a document of an office program: those are zip
/// archives, too.
fn is_of_office(name: &[u8]) -> bool {
    let beginnings: [&[u8]; 5] = [
        b"[Content_Types].xml",
        b"_rels/",
        b"docProps/",
        b"xl/",
        b"mimetype",
    ];
    beginnings.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether another file follows in `rest`, the end of an archive. Folders do not count, nor what macOS
/// writes beside each file.
fn another_file(rest: &[u8]) -> bool {
    memchr::memmem::find_iter(rest, MAGIC).any(|header| {
        let name = rest.get(header + 26..header + 28).and_then(|length| {
            let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
            rest.get(header + HEADER..)?.get(..length)
        });
        name.is_none_or(|name| !name.ends_with(b"/") && !name.starts_with(b"__MACOSX/"))
    })
}
