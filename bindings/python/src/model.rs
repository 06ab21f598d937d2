//! A trained model in Python's hands.

use std::path::PathBuf;

use memoir::{Result, Session};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{exception, value_error};
use crate::options::Training;
use crate::predict::{self, Measure};
use crate::rows::Held;
use crate::running::Running;
use crate::telling::json;
use crate::training::{self, Given};
use crate::{catalogue, changing, evaluating, telling};

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
        let before = before.map(Self::unchanged).transpose()?;
        let given = Given {
            rows,
            labels,
            weights,
            valid,
            label_kind,
        };
        let inner = training::on_rows(py, given, before, &options, &running)?;
        Ok(Self { inner })
    }

    /// Learns from a file, as `memoir train` does; `format` is that of `--format`.
    #[staticmethod]
    #[pyo3(signature = (path, options, running, format=None, label_kind=None))]
    fn train_file(
        py: Python<'_>,
        path: PathBuf,
        options: Training,
        running: Running<'_>,
        format: Option<&str>,
        label_kind: Option<String>,
    ) -> PyResult<Self> {
        let inner = training::on_file(py, path, &options, &running, format, label_kind.as_deref())?;
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
        evaluating::evaluated(self.unchanged()?, py, rows, labels, &running)
    }

    /// Why the first of the rows gets its answer, by the `count` features that decide most.
    fn explain(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        count: usize,
        running: Running<'_>,
    ) -> PyResult<String> {
        telling::explained(self.unchanged()?, py, rows, count, &running)
    }

    /// The features that speak most for a class.
    fn class_features(
        &self,
        py: Python<'_>,
        class: u32,
        count: usize,
        running: Running<'_>,
    ) -> PyResult<String> {
        let model = self.unchanged()?;
        running.run(py, |session| json(&model.class_features(class, count, session)?))
    }

    /// What is in the model: the object of `memoir inspect --json`.
    fn summary(&self) -> PyResult<String> {
        let summary = self.unchanged()?.summary();
        summary.and_then(|summary| json(&summary)).map_err(exception)
    }

    /// The names of the classes, in the order of their numbers.
    fn class_names(&self) -> Vec<&str> {
        self.inner.classes().iter().collect()
    }

    /// What the vocabulary calls the classes, in the order of their numbers, in the first of `languages`
    /// that has a name; nothing where it has none.
    fn vocabulary_names(&self, languages: Vec<String>) -> PyResult<Vec<Option<&str>>> {
        let model = self.unchanged()?;
        let classes = 0..model.classes().len() as u32;
        Ok(classes
            .map(|class| model.name_of_class(class, &languages))
            .collect())
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
    fn overridden(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        running: Running<'_>,
    ) -> PyResult<Vec<bool>> {
        let model = self.unchanged()?;
        let held = Held::of(rows)?;
        let shared = held.share()?;
        running.run(py, |session| shared.overridden(model, session))
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
        let preprocessing = self.unchanged()?.preprocessing();
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

    /// The same model in a smaller file: `memoir compact`. `label_kind` says what labels are in Python, here
    /// and below.
    #[pyo3(signature = (running, label_kind, precision=None, max_size=None, finally=false))]
    fn compact(
        &self,
        py: Python<'_>,
        running: Running<'_>,
        label_kind: &str,
        precision: Option<&str>,
        max_size: Option<u64>,
        finally: bool,
    ) -> PyResult<Self> {
        let precision = precision.map(changing::stored_precision).transpose()?;
        self.changed(py, &running, label_kind, |mut model, session| {
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
        })
    }

    /// The same model with other names of classes; pairs of old and new names.
    fn rename(
        &self,
        py: Python<'_>,
        running: Running<'_>,
        label_kind: &str,
        names: Vec<(String, String)>,
    ) -> PyResult<Self> {
        self.changed(py, &running, label_kind, |mut model, _| {
            model.rename_classes(names)?;
            Ok(model)
        })
    }

    /// The same model with one class, called `into`, in place of several.
    fn merge(
        &self,
        py: Python<'_>,
        running: Running<'_>,
        label_kind: &str,
        names: Vec<String>,
        into: &str,
    ) -> PyResult<Self> {
        self.changed(py, &running, label_kind, |model, _| {
            model.merge_classes(&names, into)
        })
    }

    /// The same model without some classes.
    fn retire(
        &self,
        py: Python<'_>,
        running: Running<'_>,
        label_kind: &str,
        names: Vec<String>,
    ) -> PyResult<Self> {
        self.changed(py, &running, label_kind, |model, _| model.retire_classes(&names))
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
    fn save(&self, py: Python<'_>, path: PathBuf, running: Running<'_>) -> PyResult<()> {
        running.run(py, |session| self.inner.save_in(&path, session))
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
    /// The model, if the file that it is mapped from is what it was: everything that reads arrays asks
    /// first.
    fn unchanged(&self) -> PyResult<&memoir::Model> {
        self.inner.check_unchanged().map_err(exception)?;
        Ok(&self.inner)
    }

    fn changed(
        &self,
        py: Python<'_>,
        running: &Running<'_>,
        label_kind: &str,
        change: impl FnOnce(memoir::Model, &Session<'_>) -> Result<memoir::Model> + Send,
    ) -> PyResult<Self> {
        let inner = changing::changed(&self.inner, py, running, label_kind, change)?;
        Ok(Self { inner })
    }

    fn ranked<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        k: usize,
        measure: Measure,
        running: &Running<'py>,
    ) -> PyResult<Ranking<'py>> {
        let model = self.unchanged()?;
        let held = Held::of(rows)?;
        let shared = held.share()?;
        let k = k.min(model.scorer().classes());
        let (classes, scores) = if shared.is_short() {
            // Too little work for threads of its own.
            py.detach(|| predict::few(model, &shared, k, measure))
                .map_err(exception)?
        } else {
            running.run(py, |session| predict::many(model, &shared, k, measure, session))?
        };
        let shape = [shared.len(), k];
        Ok((
            classes.into_pyarray(py).reshape(shape)?,
            scores.into_pyarray(py).reshape(shape)?,
        ))
    }
}
