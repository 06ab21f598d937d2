//! A pipe that a thread fills with CSV, and that ends with an error if the thread met one.
//!
//! The crates that read Parquet, Arrow and Excel panic on some damaged files. Such a file is refused like
//! others: rows that were lost must not look like the end of the file.

use std::any::Any;
use std::io::{self, BufWriter, PipeReader, PipeWriter, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::TABLE_THREAD;

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
        .name(TABLE_THREAD.to_owned())
        .spawn(move || {
            let mut out = CsvPipe {
                out: BufWriter::with_capacity(1 << 16, writer),
                is_in_row: false,
            };
            let filled = catch_unwind(AssertUnwindSafe(|| fill(&mut out)))
                .unwrap_or_else(|panic| Err(damaged(&*panic)))
                .and_then(|()| out.out.flush().map_err(|reason| reason.to_string()));
            // The reader looks at it when the pipe has ended, which is when `out` goes.
            *fails.lock().unwrap_or_else(PoisonError::into_inner) = filled.err();
            drop(out);
        })?;
    Ok(Filled { reader, failure })
}

/// What `open` gives, in a thread of the same name; a panic is an error.
pub(crate) fn open<T: Send>(open: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(TABLE_THREAD.to_owned());
        let opening = thread
            .spawn_scoped(scope, open)
            .map_err(|reason| reason.to_string())?;
        opening.join().unwrap_or_else(|panic| Err(damaged(&*panic)))
    })
}

/// What is said of a file whose reader panicked.
fn damaged(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the file is damaged: {}", said.unwrap_or("its reader failed"))
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
