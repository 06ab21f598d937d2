//! Labels become class numbers in the order of their first appearance, as they do where files are read.

use memoir::{ClassNames, LabelSets, Model};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use rustc_hash::FxHashMap;

use crate::errors::value_error;

/// The number of each label, and the labels that were met, in the order of their numbers.
///
/// Takes a list of strings or an array of int64; the labels that were met come back as the same kind.
#[pyfunction]
pub(crate) fn number_labels<'py>(
    py: Python<'py>,
    labels: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyAny>)> {
    if let Ok(whole) = labels.extract::<PyReadonlyArray1<'py, i64>>() {
        let mut known = FxHashMap::default();
        let mut met = Vec::new();
        let numbers: Vec<u32> = whole
            .as_array()
            .iter()
            .map(|&label| {
                *known.entry(label).or_insert_with(|| {
                    met.push(label);
                    met.len() as u32 - 1
                })
            })
            .collect();
        return Ok((numbers.into_pyarray(py), met.into_pyarray(py).into_any()));
    }
    let mut names = ClassNames::new();
    let met = PyList::empty(py);
    let mut numbers = Vec::new();
    for (row, item) in labels.cast::<PyList>()?.iter().enumerate() {
        let text = item
            .cast::<PyString>()
            .map_err(|_| value_error(format!("label {row} is not a string, while others are")))?;
        let name = text
            .to_str()
            .map_err(|_| value_error(format!("label {row} is not valid Unicode")))?;
        let number = names.intern(name);
        if number as usize == met.len() {
            met.append(text)?;
        }
        numbers.push(number);
    }
    Ok((numbers.into_pyarray(py), met.into_any()))
}

/// Has `model` keep that its labels are of the kind `kind` in Python (`text`, `whole`, `real`, `truth`),
/// where the names of its classes would be taken for others.
pub(crate) fn remember_kind(model: &mut Model, kind: Option<&str>) {
    let is_whole = |name: &str| name.parse::<i64>().is_ok_and(|label| label.to_string() == name);
    let seems = if model.classes().iter().all(is_whole) {
        "whole"
    } else {
        "text"
    };
    model.remember_label_kind(kind.filter(|&kind| kind != seems).map(str::to_owned));
}

/// The labels of rows as Python hands them over: class numbers of all rows, and where each row's end.
#[derive(FromPyObject)]
pub(crate) struct Labels<'py> {
    #[pyo3(item)]
    numbers: PyReadonlyArray1<'py, u32>,
    /// None if each row has exactly one label.
    #[pyo3(item)]
    ends: Option<PyReadonlyArray1<'py, i64>>,
    #[pyo3(item)]
    names: Vec<String>,
}

impl Labels<'_> {
    /// The label sets, and the names of the classes. What Python handed over is emptied: training must not
    /// hold it, too.
    pub(crate) fn take_over(handed: &Bound<'_, PyDict>) -> PyResult<(LabelSets, ClassNames)> {
        let taken = handed.extract::<Labels<'_>>()?.converted()?;
        handed.clear();
        Ok(taken)
    }

    fn converted(self) -> PyResult<(LabelSets, ClassNames)> {
        let numbers = self.numbers.as_slice()?;
        let mut sets = LabelSets::new();
        match &self.ends {
            None => {
                sets.make_room(numbers.len(), numbers.len());
                for &number in numbers {
                    sets.push([number]);
                }
            }
            Some(ends) => {
                let mut start = 0;
                for &end in ends.as_slice()? {
                    let part = usize::try_from(end).ok().and_then(|end| numbers.get(start..end));
                    let part =
                        part.ok_or_else(|| value_error("the ends of label sets do not fit the labels"))?;
                    sets.push(part.iter().copied());
                    start += part.len();
                }
            }
        }
        let names: ClassNames = self.names.iter().map(String::as_str).collect();
        if names.len() != self.names.len() || numbers.iter().any(|&number| number as usize >= names.len()) {
            return Err(value_error("two classes have the same name as text"));
        }
        Ok((sets, names))
    }
}
