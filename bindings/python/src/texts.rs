//! Texts as Python has them: lists of strings, or the buffers of an Arrow array. Neither is copied.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::errors::value_error;

/// Texts borrowed from Python.
pub(crate) enum Texts<'py> {
    /// Strings, held so that nobody frees them while threads read them.
    Strings(Vec<Bound<'py, PyString>>),
    /// The offsets and the bytes of an Arrow array of large strings.
    Arrow(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u8>),
}

impl<'py> Texts<'py> {
    /// A list of strings, or a pair (offsets, bytes).
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(pair) = object.cast::<PyTuple>() {
            let (offsets, bytes) = pair.extract()?;
            return Ok(Self::Arrow(offsets, bytes));
        }
        let list = object.cast::<PyList>()?;
        let mut strings = Vec::with_capacity(list.len());
        for (row, item) in list.iter().enumerate() {
            match item.cast_into::<PyString>() {
                Ok(text) => strings.push(text),
                Err(other) => {
                    return Err(value_error(format!(
                        "row {row} of X is {}, expected a string",
                        other.into_inner().get_type().name()?
                    )));
                }
            }
        }
        Ok(Self::Strings(strings))
    }

    /// The texts, for threads to read.
    pub(crate) fn slices(&self) -> PyResult<Vec<&str>> {
        match self {
            Self::Strings(strings) => strings
                .iter()
                .enumerate()
                .map(|(row, text)| {
                    text.to_str()
                        .map_err(|_| value_error(format!("row {row} of X is not valid Unicode")))
                })
                .collect(),
            Self::Arrow(offsets, bytes) => {
                let (offsets, bytes) = (offsets.as_slice()?, bytes.as_slice()?);
                let part = |row: usize| {
                    let (start, end) = (
                        usize::try_from(offsets[row]).ok()?,
                        usize::try_from(offsets[row + 1]).ok()?,
                    );
                    std::str::from_utf8(bytes.get(start..end)?).ok()
                };
                (0..offsets.len().saturating_sub(1))
                    .map(|row| {
                        part(row).ok_or_else(|| value_error(format!("row {row} of X is not valid UTF-8")))
                    })
                    .collect()
            }
        }
    }
}
