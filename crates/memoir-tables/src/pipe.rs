//! A pipe that a thread fills with CSV, and that ends with an error if the thread met one.

use std::io::{self, BufWriter, PipeReader, PipeWriter, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// What a thread writes its rows to. All fields are quoted, so nothing in them can be taken for a delimiter.
pub(crate) type CsvPipe = csv::Writer<BufWriter<PipeWriter>>;

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
            let mut out = csv::WriterBuilder::new()
                .quote_style(csv::QuoteStyle::Always)
                .flexible(true)
                .from_writer(BufWriter::with_capacity(1 << 16, writer));
            let filled = fill(&mut out).and_then(|()| out.flush().map_err(|reason| reason.to_string()));
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
