//! The library's errors as Python's exceptions: what a caller can catch by type.

use memoir::Error;
use pyo3::exceptions::{PyConnectionError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// The exception that fits `error`, with the library's message.
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        // With its number Python chooses the subclass: FileNotFoundError, PermissionError …
        Error::Io { path, what, source } => match number_of(&source) {
            Some(number) => PyOSError::new_err((
                number,
                format!("{what}: {}", plain(&source)),
                path.into_os_string(),
            )),
            None => PyOSError::new_err(format!("{}: {what}: {source}", path.display())),
        },
        Error::Cancelled => PyKeyboardInterrupt::new_err("stopped on request"),
        Error::Exchange(message) => PyConnectionError::new_err(message),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The system's number of an error; that of its kind where the number was lost on the way.
fn number_of(source: &std::io::Error) -> Option<i32> {
    source.raw_os_error().or(match source.kind() {
        std::io::ErrorKind::NotFound => Some(2),
        std::io::ErrorKind::PermissionDenied => Some(13),
        _ => None,
    })
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
