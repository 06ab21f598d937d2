//! Measuring a model on labelled rows.

use memoir::eval::{Evaluation, Report};
use memoir::{ClassNames, Error, LabelSets, Model, Result, Scored, Session};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;
use crate::labels::Labels;
use crate::predict::{self, Measure};
use crate::rows::{Held, Shared};
use crate::running::Running;
use crate::telling::json;

/// The report of `memoir evaluate --json` on `rows` with these labels.
pub(crate) fn evaluated(
    model: &Model,
    py: Python<'_>,
    rows: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyDict>,
    running: &Running<'_>,
) -> PyResult<String> {
    let held = Held::of(rows)?;
    let shared = held.share()?;
    let (sets, names) = Labels::take_over(labels)?;
    if sets.len() != shared.len() {
        return Err(value_error(format!(
            "there are {} rows and labels for {} of them",
            shared.len(),
            sets.len()
        )));
    }
    running.run(py, |session| {
        json(&report(model, &shared, sets, &names, session)?)
    })
}

/// The report on `rows`, whose labels are `sets` of the classes called `names`.
fn report(
    model: &Model,
    rows: &Shared<'_>,
    sets: LabelSets,
    names: &ClassNames,
    session: &Session<'_>,
) -> Result<Report> {
    let mut known = model.classes().clone();
    let sets = {
        let numbers: Vec<u32> = names.iter().map(|name| known.intern(name)).collect();
        sets.renumbered(&numbers)
    };
    let k = Evaluation::DEPTH.min(model.scorer().classes());
    let (classes, scores) = predict::many(model, rows, k, Measure::OwnScore, session)?;
    let mut evaluation = Evaluation::new();
    let mut best = Vec::new();
    for row in 0..sets.len() {
        let range = row * k..(row + 1) * k;
        let ranked = classes[range.clone()].iter().zip(&scores[range]);
        best.clear();
        best.extend(ranked.map(|(&class, &score)| Scored { class, score }));
        evaluation.add(sets.row(row), &best);
    }
    if evaluation.rows() == 0 {
        return Err(Error::Unlearnable(
            "no row has a label; an evaluation needs them".to_owned(),
        ));
    }
    Ok(evaluation.report(&known, &model.origin().class_counts))
}
