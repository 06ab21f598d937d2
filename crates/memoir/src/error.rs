//! Everything that can go wrong, said so that the reader knows where to look and what to do.

use std::path::{Path, PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done. The message is one line, complete and fit for an end user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input data is wrong at a known place.
    #[error("{file}:{line}:{column}: {message}")]
    Data {
        /// Path of the file as the user gave it (`<stdin>` for standard input).
        file: String,
        /// 1-based line number.
        line: u64,
        /// 1-based column, counted in bytes.
        column: u64,
        /// What was found and what was expected.
        message: String,
    },
    /// The input as a whole is wrong (empty, a directory, an unknown format …).
    #[error("{file}: {message}")]
    Input {
        /// Path of the file as the user gave it.
        file: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A file could not be opened, read or written.
    #[error("{}: {what}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done ("cannot open", "cannot write").
        what: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A model file is damaged, foreign, or of a version this program does not know.
    #[error("{}: not a usable model file: {message}", path.display())]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What exactly is wrong with it.
        message: String,
    },
    /// A parameter is out of its legal range, unknown, or does not fit the algorithm.
    #[error("{0}")]
    Parameter(String),
    /// Two things that must fit do not: a text model and vectors, a model and data of other width …
    #[error("{0}")]
    Mismatch(String),
    /// The data cannot be learned from (no rows, no classes …).
    #[error("{0}")]
    Unlearnable(String),
    /// The shards of a training cannot talk to each other: one is gone, or is not what it should be.
    #[error("{0}")]
    Exchange(String),
    /// The caller's cancel flag was raised.
    #[error("stopped on request")]
    Cancelled,
}

impl Error {
    /// An [`Error::Io`] about `path`.
    pub fn io(path: &Path, what: &'static str, source: std::io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            what,
            source,
        }
    }

    /// An [`Error::Input`] about `file`.
    pub fn input(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Input {
            file: file.into(),
            message: message.into(),
        }
    }
}
