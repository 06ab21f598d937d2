//! Zip archives of one file, read as a stream: its header, then its content.

use std::io::{self, Read};

use flate2::bufread::DeflateDecoder;

/// What comes before a file in an archive.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// Bytes of that header with the magic, before the name.
const HEADER: usize = 30;

/// Methods of compression.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Set if sizes stand behind the content.
const SIZES_FOLLOW: u16 = 1 << 3;
const ENCRYPTED: u16 = 1;

/// The first file of the archive `reader`. What else is in it is found when that file ends.
pub(super) fn open(mut reader: impl io::BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut header = [0; HEADER];
    reader.read_exact(&mut header)?;
    let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let (flags, method) = (short(6), short(8));
    let size = u32::from_le_bytes([header[18], header[19], header[20], header[21]]);
    let behind = u64::from(short(26)) + u64::from(short(28));
    io::copy(&mut (&mut reader).take(behind), &mut io::sink())?;
    if flags & ENCRYPTED != 0 {
        return Err(unsupported("it is encrypted"));
    }
    match method {
        DEFLATED => Ok(Box::new(Deflated(DeflateDecoder::new(reader)))),
        STORED if flags & SIZES_FOLLOW == 0 && size != u32::MAX => Ok(Box::new(reader.take(u64::from(size)))),
        _ => Err(unsupported(&format!(
            "its file is stored by method {method}; expected the usual one, deflate"
        ))),
    }
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}

/// A deflated file; fails at its end if another one follows.
struct Deflated<R>(DeflateDecoder<R>);

impl<R: io::BufRead> Read for Deflated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            let mut rest = Vec::new();
            // Sizes may stand between the files.
            self.0.get_mut().take(64).read_to_end(&mut rest)?;
            if rest.is_empty() {
                // The directory of the archive is missing, and perhaps more.
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if rest.windows(MAGIC.len()).any(|bytes| bytes == MAGIC) {
                return Err(unsupported("it holds several files; expected one"));
            }
        }
        Ok(count)
    }
}
