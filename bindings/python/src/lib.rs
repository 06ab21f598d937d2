//! What Python sees of the library: the module `memoir._memoir`, which the package's own Python code builds
//! upon.
//!
//! Everything here is a thin translation: matrices, texts and labels come in (`matrix`, `texts`,
//! `labels`), the library works in threads of its own while Python stays responsive (`running`), its
//! errors become Python's (`errors`). What an estimator is to a user is decided in Python.

mod catalogue;
mod changing;
mod errors;
mod evaluating;
mod labels;
mod matrix;
mod model;
mod options;
mod predict;
mod rows;
mod running;
mod shard;
mod telling;
mod texts;
mod training;

use pyo3::prelude::*;

/// The native part of the package `memoir`.
#[pymodule(gil_used = false)]
fn _memoir(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<shard::Shard>()?;
    module.add_function(wrap_pyfunction!(catalogue::algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::text_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(labels::number_labels, module)?)?;
    Ok(())
}
