//! Learning from rows that Python holds, or from a file.

use std::path::PathBuf;

use memoir::data::{ReadOptions, Source};
use memoir::prepare::{Examples, WeightingChoice};
use memoir::text::WeightingScheme;
use memoir::{Dataset, Model};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::catalogue;
use crate::errors::exception;
use crate::labels::{Labels, remember_kind};
use crate::options::Training;
use crate::rows::Held;
use crate::running::Running;

/// What to learn from.
pub(crate) struct Given<'a, 'py> {
    pub(crate) rows: &'a Bound<'py, PyAny>,
    pub(crate) labels: &'a Bound<'py, PyDict>,
    pub(crate) weights: Option<PyReadonlyArray1<'py, f32>>,
    /// Rows to choose by when to stop, with their labels.
    pub(crate) valid: Option<(Bound<'py, PyAny>, Bound<'py, PyDict>)>,
    /// What labels are in Python.
    pub(crate) label_kind: Option<String>,
}

/// Learns from rows and their labels; in addition to what `before` knows, if it is given.
pub(crate) fn on_rows(
    py: Python<'_>,
    given: Given<'_, '_>,
    before: Option<&Model>,
    options: &Training,
    running: &Running<'_>,
) -> PyResult<Model> {
    let checked = options.check(&catalogue::all()).map_err(exception)?;
    let held = Held::of(given.rows)?;
    let shared = held.share()?;
    let (sets, names) = Labels::take_over(given.labels)?;
    let about = Dataset {
        labels: sets,
        classes: names,
        weights: given
            .weights
            .map(|weights| weights.as_slice().map(<[f32]>::to_vec))
            .transpose()?,
        ..Dataset::default()
    };
    let valid_rows = given.valid.as_ref().map(|(rows, _)| Held::of(rows)).transpose()?;
    let valid = match (&valid_rows, given.valid) {
        (Some(held), Some((_, labels))) => {
            let (labels, classes) = Labels::take_over(&labels)?;
            let about = Dataset {
                labels,
                classes,
                ..Dataset::default()
            };
            Some((held.share()?, about))
        }
        _ => None,
    };
    let mut model = running.run(py, |session| {
        let (method, preparation) = &checked;
        let spare = usize::from(method.trainer().row_needs().constant);
        let scheme = match (before, preparation.weighting) {
            (Some(before), _) => before.preprocessing().weighting.scheme,
            (None, WeightingChoice::Raw) => WeightingScheme::Raw,
            // Every other choice scales rows.
            (None, _) => WeightingScheme::Unit,
        };
        let examples = shared.examples(about, scheme, spare, session)?;
        let held_out = match &valid {
            None => None,
            Some((rows, about)) => Some(rows.examples(about.clone(), scheme, 0, session)?),
        };
        options.fit(examples, held_out, before, &checked, session)
    })?;
    remember_kind(&mut model, given.label_kind.as_deref());
    Ok(model)
}

/// Learns from a file, as `memoir train` does.
pub(crate) fn on_file(
    py: Python<'_>,
    path: PathBuf,
    options: &Training,
    running: &Running<'_>,
    format: Option<&str>,
    label_kind: Option<&str>,
) -> PyResult<Model> {
    let checked = options.check(&catalogue::all()).map_err(exception)?;
    let reading = ReadOptions {
        format: format.map(str::parse).transpose().map_err(exception)?,
        ..ReadOptions::default()
    };
    let mut model = running.run(py, |session| {
        let examples = Examples::Read {
            source: Source::new(&path),
            options: &reading,
        };
        options.fit(examples, None, None, &checked, session)
    })?;
    remember_kind(&mut model, label_kind);
    Ok(model)
}
