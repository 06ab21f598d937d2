//! What a model tells of its answers, as JSON.

use memoir::{Error, Model, Result, Rows};
use pyo3::prelude::*;

use crate::errors::{exception, value_error};
use crate::rows::{Held, RowScratch};
use crate::running::Running;

/// Why the only one of `rows` gets its answer, by the `count` features that decide most.
pub(crate) fn explained(
    model: &Model,
    py: Python<'_>,
    rows: &Bound<'_, PyAny>,
    count: usize,
    running: &Running<'_>,
) -> PyResult<String> {
    let held = Held::of(rows)?;
    let shared = held.share()?;
    if shared.len() != 1 {
        return Err(value_error(format!(
            "expected one row to explain, got {}",
            shared.len()
        )));
    }
    let explain = |mut scratch: RowScratch| {
        let mut rows = Rows::new();
        shared.prepare(0, model.preprocessing(), &mut scratch, &mut rows)?;
        let mut explanation = model.explain_row(rows.row(0))?;
        explanation.shorten(count);
        json(&explanation)
    };
    if shared.is_short() {
        // Too little work for a thread of its own.
        return py.detach(|| explain(RowScratch::default())).map_err(exception);
    }
    running.run(py, |session| explain(RowScratch::stopped_by(session.cancel())))
}

/// `value` as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|reason| Error::Mismatch(format!("cannot be told: {reason}")))
}
