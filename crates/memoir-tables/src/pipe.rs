//! A pipe that a thread fills with CSV, and that ends with an error if the thread met one.

use std::io::{self, BufWriter, PipeReader, PipeWriter, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// What a thread writes its rows to, one line or more each. All fields are quoted, so nothing in them can be
/// taken for a delimiter. They are bytes: what is no text matters only where it is read.
pub(crate) struct CsvPipe {
    out: BufWriter<PipeWriter>,
    is_in_row: bool,
}

impl CsvPipe {
    /// Writes the next cell of the row.
    pub(crate) fn write_cell(&mut self, cell: &[u8]) -> io::Result<()> {
        let opening: &[u8] = if self.is_in_row { b",\"" } else { b"\"" };
        self.is_in_row = true;
        self.out.write_all(opening)?;
        for part in cell.split_inclusive(|&byte| byte == b'"') {
            self.out.write_all(part)?;
            if part.ends_with(b"\"") {
                self.out.write_all(b"\"")?;
            }
        }
        self.out.write_all(b"\"")
    }

    /// Ends the row. One without a cell is a blank line, which counts where places are told.
    pub(crate) fn end_row(&mut self) -> io::Result<()> {
        self.is_in_row = false;
        self.out.write_all(b"\n")
    }
}

/// Reads what `fill` writes, in a thread of its own.
pub(crate) fn read(
    fill: impl FnOnce(&mut CsvPipe) -> Result<(), String> + Send + 'static,
) -> io::Result<Filled> {
    let (reader, writer) = io::pipe()?;
    let failure = Arc::new(Mutex::new(None));
    let fails = Arc::clone(&failure);
    std::thread::Builder::new()
        .name("memoir-table".to_owned())
        .spawn(move || {
            let mut out = CsvPipe {
                out: BufWriter::with_capacity(1 << 16, writer),
                is_in_row: false,
            };
            let filled = fill(&mut out).and_then(|()| out.out.flush().map_err(|reason| reason.to_string()));
            // The reader looks at it when the pipe has ended, which is when `out` goes.
            *fails.lock().unwrap_or_else(PoisonError::into_inner) = filled.err();
            drop(out);
        })?;
    Ok(Filled { reader, failure })
}

/// What was written so far, and then the error, if there is one.
pub(crate) struct Filled {
    reader: PipeReader,
    failure: Arc<Mutex<Option<String>>>,
}

impl Read for Filled {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(message) = failure.take() {
                return Err(io::Error::other(message));
            }
        }
        Ok(count)
    }
}
