//! Models that are made of other models: smaller, or with other classes.

use memoir::model::Precision;
use memoir::{Model, Result, Session};
use pyo3::prelude::*;

use crate::catalogue;
use crate::errors::value_error;
use crate::labels::remember_kind;
use crate::running::Running;

/// What `change` makes of a copy of `model`, whose labels are of the kind `label_kind` afterwards. A model
/// does not copy itself, but its file is one.
pub(crate) fn changed(
    model: &Model,
    py: Python<'_>,
    running: &Running<'_>,
    label_kind: &str,
    change: impl FnOnce(Model, &Session<'_>) -> Result<Model> + Send,
) -> PyResult<Model> {
    running.run(py, |session| {
        let copy = Model::from_bytes(&model.to_bytes()?, &catalogue::all())?;
        let mut changed = change(copy, session)?;
        remember_kind(&mut changed, Some(label_kind));
        Ok(changed)
    })
}

/// How weights of a compact model are stored.
pub(crate) fn stored_precision(name: &str) -> PyResult<Precision> {
    match name {
        "f16" => Ok(Precision::F16),
        "int8" => Ok(Precision::Int8),
        other => Err(value_error(format!(
            "`precision` must be one of \"f16\", \"int8\", but is {other:?}"
        ))),
    }
}
