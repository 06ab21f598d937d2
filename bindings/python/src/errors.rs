//! The library's errors as Python's exceptions: what a caller can catch by type.

use memoir::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// The exception that fits `error`, with the library's message.
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        // With its number Python chooses the subclass: FileNotFoundError, PermissionError …
        Error::Io { path, what, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((
                number,
                format!("{what}: {}", plain(&source)),
                path.into_os_string(),
            )),
            None => PyOSError::new_err(format!("{}: {what}: {source}", path.display())),
        },
        Error::Cancelled => PyKeyboardInterrupt::new_err("stopped on request"),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The system's message without the number, which Python prints itself.
fn plain(source: &std::io::Error) -> String {
    let text = source.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// A wrong value from Python.
pub(crate) fn value_error(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
