//! A trained model in Python's hands.

use std::path::PathBuf;

use memoir::data::{ReadOptions, Source};
use memoir::prepare::{Examples, WeightingChoice};
use memoir::text::WeightingScheme;
use memoir::{Dataset, Error, Result, Rows};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{exception, value_error};
use crate::labels::Labels;
use crate::options::Training;
use crate::predict::{self, Measure};
use crate::rows::{Held, RowScratch};
use crate::running::Running;
use crate::{catalogue, changing, evaluating};

/// A trained model. Immutable: any number of threads may use it at once.
#[pyclass(frozen, module = "memoir._memoir")]
pub(crate) struct Model {
    inner: memoir::Model,
}

/// Class numbers and scores, one line per row.
type Ranking<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<f32>>);

#[pymethods]
impl Model {
    /// Learns from rows and their labels; in addition to what `before` knows, if it is given.
    #[staticmethod]
    #[pyo3(signature = (rows, labels, options, running, weights=None, valid=None, before=None, label_kind=None))]
    #[allow(clippy::too_many_arguments)] // Python calls it, once, by name.
    fn train(
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyDict>,
        options: Training,
        running: Running<'_>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        valid: Option<(Bound<'_, PyAny>, Bound<'_, PyDict>)>,
        before: Option<&Self>,
        label_kind: Option<String>,
    ) -> PyResult<Self> {
        let checked = options.check(&catalogue::all()).map_err(exception)?;
        let held = Held::of(rows)?;
        let shared = held.share()?;
        let (sets, names) = Labels::take_over(labels)?;
        let before = before.map(|before| &before.inner);
        let about = Dataset {
            labels: sets,
            classes: names,
            weights: weights
                .map(|weights| weights.as_slice().map(<[f32]>::to_vec))
                .transpose()?,
            ..Dataset::default()
        };
        let valid_rows = valid.as_ref().map(|(rows, _)| Held::of(rows)).transpose()?;
        let valid = match (&valid_rows, valid) {
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
        let mut inner = running.run(py, |session| {
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
        inner.remember_label_kind(label_kind);
        Ok(Self { inner })
    }

    /// Learns from a file, as `memoir train` does; `format` is that of `--format`.
    #[staticmethod]
    #[pyo3(signature = (path, options, running, format=None))]
    fn train_file(
        py: Python<'_>,
        path: PathBuf,
        options: Training,
        running: Running<'_>,
        format: Option<&str>,
    ) -> PyResult<Self> {
        let checked = options.check(&catalogue::all()).map_err(exception)?;
        let reading = ReadOptions {
            format: format.map(str::parse).transpose().map_err(exception)?,
            ..ReadOptions::default()
        };
        let inner = running.run(py, |session| {
            let examples = Examples::Read {
                source: Source::new(&path),
                options: &reading,
            };
            options.fit(examples, None, None, &checked, session)
        })?;
        Ok(Self { inner })
    }

    /// The `k` best classes of each row with their scores, best first. Classes that a model does not score
    /// for a row come last, with minus infinity.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        k: usize,
        running: Running<'py>,
    ) -> PyResult<Ranking<'py>> {
        self.ranked(py, rows, k, Measure::Score, &running)
    }

    /// The same with probabilities in place of scores. Classes that a model does not score for a row have 0.
    fn predict_probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        k: usize,
        running: Running<'py>,
    ) -> PyResult<Ranking<'py>> {
        self.ranked(py, rows, k, Measure::Probability, &running)
    }

    /// Measures the model on labelled rows: the report of `memoir evaluate --json`.
    fn evaluate(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyDict>,
        running: Running<'_>,
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
            json(&evaluating::report(&self.inner, &shared, sets, &names, session)?)
        })
    }

    /// Why the first of the rows gets its answer.
    fn explain(&self, rows: &Bound<'_, PyAny>) -> PyResult<String> {
        let held = Held::of(rows)?;
        let shared = held.share()?;
        if shared.len() != 1 {
            return Err(value_error(format!(
                "expected one row to explain, got {}",
                shared.len()
            )));
        }
        let mut rows = Rows::new();
        let mut scratch = RowScratch::default();
        let explained = shared
            .prepare(0, self.inner.preprocessing(), &mut scratch, &mut rows)
            .and_then(|()| json(&self.inner.explain_row(rows.row(0))?));
        explained.map_err(exception)
    }

    /// The features that speak most for a class.
    fn class_features(
        &self,
        py: Python<'_>,
        class: u32,
        count: usize,
        running: Running<'_>,
    ) -> PyResult<String> {
        running.run(py, |session| {
            json(&self.inner.class_features(class, count, session)?)
        })
    }

    /// What is in the model: the object of `memoir inspect --json`.
    fn summary(&self) -> PyResult<String> {
        let summary = self.inner.summary();
        summary.and_then(|summary| json(&summary)).map_err(exception)
    }

    /// The names of the classes, in the order of their numbers.
    fn class_names(&self) -> Vec<&str> {
        self.inner.classes().iter().collect()
    }

    /// What the vocabulary calls the classes, in the order of their numbers, in the first of `languages`
    /// that has a name; nothing where it has none.
    fn vocabulary_names(&self, languages: Vec<String>) -> Vec<Option<&str>> {
        let classes = 0..self.inner.classes().len() as u32;
        classes
            .map(|class| self.inner.name_of_class(class, &languages))
            .collect()
    }

    /// What labels were where the model was trained, if their names do not tell it.
    #[getter]
    fn label_kind(&self) -> Option<&str> {
        self.inner.origin().label_kind.as_deref()
    }

    /// Training rows of each class.
    fn class_counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.inner.origin().class_counts.clone().into_pyarray(py)
    }

    /// Whether some texts always get a class.
    #[getter]
    fn has_overrides(&self) -> bool {
        self.inner.overrides().is_some()
    }

    /// Which of the texts always get their class.
    fn overridden(&self, rows: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
        Ok(Held::of(rows)?.share()?.overridden(&self.inner))
    }

    /// Whether rows had several labels, as far as the file tells: more labels than rows, or so it says.
    #[getter]
    fn several_labels(&self) -> bool {
        let origin = self.inner.origin();
        let labels: u64 = origin.class_counts.iter().map(|&count| u64::from(count)).sum();
        labels > origin.rows
            || self
                .inner
                .calibration()
                .is_some_and(|calibration| calibration.several_labels)
    }

    /// The words that are features, in the order of their numbers, and the number of training rows that hold
    /// each, as far as the file tells it.
    fn words<'py>(&self, py: Python<'py>) -> PyResult<(Vec<&str>, Bound<'py, PyArray1<u32>>)> {
        let preprocessing = self.inner.preprocessing();
        let text = preprocessing.text();
        let text = text.ok_or_else(|| value_error("this model was trained on vectors and knows no words"))?;
        let words = (0..text.vocabulary.len() as u32).map(|number| text.vocabulary.name(number));
        let rows = preprocessing.weighting.document_frequency.to_vec();
        Ok((words.collect(), rows.into_pyarray(py)))
    }

    /// Number of features of the input.
    #[getter]
    fn input_features(&self) -> usize {
        self.inner.preprocessing().input_features()
    }

    /// The same model in a smaller file: `memoir compact`.
    #[pyo3(signature = (running, precision=None, max_size=None, finally=false))]
    fn compact(
        &self,
        py: Python<'_>,
        running: Running<'_>,
        precision: Option<&str>,
        max_size: Option<u64>,
        finally: bool,
    ) -> PyResult<Self> {
        let precision = precision.map(changing::stored_precision).transpose()?;
        let inner = changing::changed(&self.inner, py, &running, |mut model, session| {
            if finally {
                model.finalize();
            }
            if let Some(precision) = precision {
                model = model.with_precision(precision)?;
            }
            match max_size {
                Some(size) => model.shrink(size, session),
                None => Ok(model),
            }
        })?;
        Ok(Self { inner })
    }

    /// The same model with other names of classes; pairs of old and new names.
    fn rename(&self, py: Python<'_>, running: Running<'_>, names: Vec<(String, String)>) -> PyResult<Self> {
        let inner = changing::changed(&self.inner, py, &running, |mut model, _| {
            model.rename_classes(names)?;
            Ok(model)
        })?;
        Ok(Self { inner })
    }

    /// The same model with one class, called `into`, in place of several.
    fn merge(&self, py: Python<'_>, running: Running<'_>, names: Vec<String>, into: &str) -> PyResult<Self> {
        let merge = |model: memoir::Model, _: &memoir::Session<'_>| model.merge_classes(&names, into);
        let inner = changing::changed(&self.inner, py, &running, merge)?;
        Ok(Self { inner })
    }

    /// The same model without some classes.
    fn retire(&self, py: Python<'_>, running: Running<'_>, names: Vec<String>) -> PyResult<Self> {
        let retire = |model: memoir::Model, _: &memoir::Session<'_>| model.retire_classes(&names);
        let inner = changing::changed(&self.inner, py, &running, retire)?;
        Ok(Self { inner })
    }

    /// From which probability on a class is one of a row's labels, if that was measured.
    #[getter]
    fn threshold(&self) -> Option<f32> {
        self.inner
            .calibration()
            .and_then(|calibration| calibration.threshold)
    }

    /// Whether probabilities are calibrated.
    #[getter]
    fn is_calibrated(&self) -> bool {
        self.inner.calibration().is_some()
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.save(&path)).map_err(exception)
    }

    /// Opens a model file: maps it, or reads it into memory.
    #[staticmethod]
    #[pyo3(signature = (path, mapped=true))]
    fn load(py: Python<'_>, path: PathBuf, mapped: bool) -> PyResult<Self> {
        let open = if mapped {
            memoir::Model::load
        } else {
            memoir::Model::read
        };
        let inner = py.detach(|| open(&path, &catalogue::all()));
        inner.map(|inner| Self { inner }).map_err(exception)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.to_bytes()).map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The model whose file has these bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let inner = py.detach(|| memoir::Model::from_bytes(bytes, &catalogue::all()));
        inner.map(|inner| Self { inner }).map_err(exception)
    }

    /// Pickles are model files: nothing in them can run code.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }
}

impl Model {
    fn ranked<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        k: usize,
        measure: Measure,
        running: &Running<'py>,
    ) -> PyResult<Ranking<'py>> {
        self.inner.check_unchanged().map_err(exception)?;
        let held = Held::of(rows)?;
        let shared = held.share()?;
        let k = k.min(self.inner.scorer().classes());
        let (classes, scores) = if shared.is_short() {
            // Too little work for threads of its own.
            py.detach(|| predict::few(&self.inner, &shared, k, measure))
                .map_err(exception)?
        } else {
            running.run(py, |session| {
                predict::many(&self.inner, &shared, k, measure, session)
            })?
        };
        let shape = [shared.len(), k];
        Ok((
            classes.into_pyarray(py).reshape(shape)?,
            scores.into_pyarray(py).reshape(shape)?,
        ))
    }
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|reason| Error::Mismatch(format!("cannot be told: {reason}")))
}
