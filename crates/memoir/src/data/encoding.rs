//! Bytes of any encoding become UTF-8.
//!
//! UTF-16 is known by its byte-order mark, or by the zero bytes of its first characters. Text whose first
//! byte beyond ASCII is no UTF-8 is read as Windows-1252, of which Latin-1 is a part: nothing before that
//! byte depends on the choice. Where good UTF-8 came first, a bad byte stays what it is, and is reported.

use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes that are decoded at a time.
const CHUNK: usize = 1 << 16;

/// Gives the text of a reader as UTF-8.
pub(super) struct Utf8Reader<R> {
    inner: R,
    mode: Mode,
    /// Bytes that were read and not handed on: an incomplete character.
    pending: Vec<u8>,
    /// Text that was decoded and not handed on, and how much of it was.
    decoded: Vec<u8>,
    taken: usize,
    ended: bool,
    /// Whether `pending` holds bytes that were not looked at yet.
    fresh: bool,
    /// The encoding, if it is not UTF-8 and nobody named it.
    recognised: Arc<OnceLock<&'static str>>,
}

enum Mode {
    /// Nothing has been read.
    Start,
    /// All that came is ASCII (`false`), or some of it is UTF-8 beyond it.
    Utf8 {
        beyond_ascii: bool,
    },
    /// Bytes are handed on as they are.
    AsIs,
    Decoding(Decoder),
}

impl<R: Read> Utf8Reader<R> {
    /// Reads `inner`, whose encoding is `given` or else recognised.
    pub(super) fn new(
        inner: R,
        given: Option<&'static Encoding>,
        recognised: Arc<OnceLock<&'static str>>,
    ) -> Self {
        let mode = match given {
            None => Mode::Start,
            Some(encoding) if encoding == UTF_8 => Mode::AsIs,
            Some(encoding) => Mode::Decoding(encoding.new_decoder()),
        };
        Self {
            inner,
            mode,
            pending: Vec::new(),
            decoded: Vec::new(),
            taken: 0,
            ended: false,
            fresh: false,
            recognised,
        }
    }

    /// Reads enough to know UTF-16.
    fn start(&mut self) -> io::Result<()> {
        // Byte by byte, and no further than needed: someone may be typing.
        while self.pending.len() < 4 && !self.pending.contains(&b'\n') && !self.ended {
            let mut byte = [0];
            self.ended = self.inner.read(&mut byte)? == 0;
            self.pending.extend((!self.ended).then_some(byte[0]));
        }
        // What has come is handed on before a wait for more.
        self.fresh = !self.pending.is_empty();
        let utf16 = match self.pending[..] {
            [0xff, 0xfe, ..] | [1..=255, 0, 1..=255, 0] => Some(UTF_16LE),
            [0xfe, 0xff, ..] | [0, 1..=255, 0, 1..=255] => Some(UTF_16BE),
            _ => None,
        };
        match utf16 {
            Some(encoding) => self.decode_with(encoding),
            None => self.mode = Mode::Utf8 { beyond_ascii: false },
        }
        Ok(())
    }

    fn decode_with(&mut self, encoding: &'static Encoding) {
        self.mode = Mode::Decoding(encoding.new_decoder());
        self.recognised.get_or_init(|| encoding.name());
    }

    /// Reads a chunk and puts what it means behind `decoded`.
    fn next_chunk(&mut self) -> io::Result<()> {
        let start = self.pending.len();
        if !self.ended && !std::mem::take(&mut self.fresh) {
            self.pending.resize(start + CHUNK, 0);
            let count = self.inner.read(&mut self.pending[start..])?;
            self.pending.truncate(start + count);
            self.ended = count == 0;
        }
        if let Mode::Utf8 { beyond_ascii } = &mut self.mode {
            let (valid, is_bad) = match std::str::from_utf8(&self.pending) {
                Ok(_) => (self.pending.len(), false),
                Err(bad) => (bad.valid_up_to(), bad.error_len().is_some() || self.ended),
            };
            *beyond_ascii |= !self.pending[..valid].is_ascii();
            let is_utf8 = *beyond_ascii;
            self.decoded.extend(self.pending.drain(..valid));
            if !is_bad {
                return Ok(());
            }
            if is_utf8 {
                self.mode = Mode::AsIs;
            } else {
                self.decode_with(WINDOWS_1252);
            }
        }
        match &mut self.mode {
            Mode::Decoding(decoder) => {
                let most = decoder.max_utf8_buffer_length(self.pending.len());
                let mut text = String::with_capacity(most.unwrap_or(4 * CHUNK));
                let (_, read, _) = decoder.decode_to_string(&self.pending, &mut text, self.ended);
                self.pending.drain(..read);
                self.decoded.extend_from_slice(text.as_bytes());
            }
            _ => self.decoded.append(&mut self.pending),
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if matches!(self.mode, Mode::Start) {
            self.start()?;
        }
        if matches!(self.mode, Mode::AsIs) && self.taken == self.decoded.len() && self.pending.is_empty() {
            return self.inner.read(buffer);
        }
        while self.taken == self.decoded.len() {
            if self.ended && self.pending.is_empty() {
                return Ok(0);
            }
            self.decoded.clear();
            self.taken = 0;
            self.next_chunk()?;
            if self.ended && self.decoded.is_empty() {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.decoded.len() - self.taken);
        buffer[..count].copy_from_slice(&self.decoded[self.taken..][..count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(1);
            self.0.read(&mut buffer[..count])
        }
    }

    fn read(bytes: &[u8]) -> (Vec<u8>, Option<&'static str>) {
        let mut results = Vec::new();
        let readers: [Box<dyn Read>; 2] = [Box::new(bytes), Box::new(Drip(bytes))];
        for reader in readers {
            let recognised = Arc::new(OnceLock::new());
            let mut text = Vec::new();
            Utf8Reader::new(reader, None, Arc::clone(&recognised))
                .read_to_end(&mut text)
                .unwrap();
            results.push((text, recognised.get().copied()));
        }
        assert_eq!(results[0], results[1], "however bytes come in");
        results.swap_remove(0)
    }

    #[test]
    fn encodings_are_recognised() {
        let utf16 = |text: &str, mark: &[u16], order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let units = mark.iter().copied().chain(text.encode_utf16());
            units.flat_map(order).collect()
        };
        let text = "téxt,läbel\n茶,€😀\n";
        let expected = |name| (text.as_bytes().to_vec(), name);
        assert_eq!(read(text.as_bytes()), expected(None));
        assert_eq!(
            read(&utf16(text, &[0xfeff], u16::to_le_bytes)),
            expected(Some("UTF-16LE"))
        );
        assert_eq!(
            read(&utf16(text, &[0xfeff], u16::to_be_bytes)),
            expected(Some("UTF-16BE"))
        );
        let (_, name) = read(&utf16("text", &[], u16::to_le_bytes));
        assert_eq!(name, Some("UTF-16LE"));
        assert_eq!(
            read(b"text,label\nth\xe9,\x80\n"),
            ("text,label\nthé,€\n".as_bytes().to_vec(), Some("windows-1252"))
        );
        assert_eq!(read(b""), (vec![], None));
    }

    #[test]
    fn a_bad_byte_in_utf8_stays_bad() {
        let bytes = "thé\n".as_bytes().iter().chain(b"th\xe9\n");
        let bytes: Vec<u8> = bytes.copied().collect();
        assert_eq!(read(&bytes), (bytes.clone(), None));
    }
}
