//! The library's tables of algorithms and parameters, for Python to build its signatures from.

use memoir::Catalogue;
use memoir::params::{Kind, Parameters, Spec};
use memoir::text::TextSettings;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Every algorithm of the library and the baselines, as the command line has them.
pub(crate) fn all() -> Catalogue {
    Catalogue::new().with(memoir_baselines::ALGORITHMS, memoir_baselines::SCORERS)
}

/// Name, summary and parameters of each algorithm.
#[pyfunction]
pub(crate) fn algorithms(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    for algorithm in all().algorithms() {
        let about = PyDict::new(py);
        about.set_item("summary", algorithm.summary)?;
        about.set_item("parameters", table(py, algorithm.params)?)?;
        result.set_item(algorithm.name, about)?;
    }
    Ok(result)
}

/// The parameters of the text pipeline.
#[pyfunction]
pub(crate) fn text_parameters(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    table(py, TextSettings::SPECS)
}

fn table<'py>(py: Python<'py>, specs: &[Spec]) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for spec in specs {
        let row = PyDict::new(py);
        row.set_item("name", spec.name)?;
        row.set_item(
            "kind",
            match spec.kind {
                Kind::Integer(..) => "integer",
                Kind::Number(..) => "number",
                Kind::Choice(_) => "choice",
                Kind::Text(_) => "text",
            },
        )?;
        row.set_item("default", spec.default)?;
        row.set_item("legal", spec.legal())?;
        row.set_item("help", spec.help)?;
        rows.append(row)?;
    }
    Ok(rows)
}
