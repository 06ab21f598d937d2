//! What rows can be: vectors or texts. To the rest of this crate they are alike.

use memoir::sparse::Rows;
use memoir::text::{Preprocessing, TextScratch, WeightingScheme};
use memoir::{Cancel, Dataset, Result, Session, data};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::matrix::{Matrix, RowSource, largest, take_over};
use crate::texts::Texts;

/// Rows that Python holds.
pub(crate) enum Held<'py> {
    Vectors(Matrix<'py>),
    Texts(Texts<'py>),
}

impl<'py> Held<'py> {
    /// A matrix; or a list of strings or the two buffers of an Arrow array.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            Texts::of(object).map(Self::Texts)
        } else {
            Matrix::of(object).map(Self::Vectors)
        }
    }

    /// The rows, for threads to read.
    pub(crate) fn share(&self) -> PyResult<Shared<'_>> {
        Ok(match self {
            Self::Vectors(matrix) => Shared::Vectors(matrix.rows()?),
            Self::Texts(texts) => Shared::Texts(texts.slices()?),
        })
    }
}

/// Rows that any thread can read.
pub(crate) enum Shared<'a> {
    Vectors(Box<dyn RowSource + 'a>),
    Texts(Vec<&'a str>),
}

/// Reusable memory of one thread that prepares rows.
#[derive(Default)]
pub(crate) struct RowScratch {
    text: TextScratch,
    entries: Vec<(u32, f32)>,
}

impl Shared<'_> {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Vectors(source) => source.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Appends the weighted row `index` to `rows`.
    pub(crate) fn prepare(
        &self,
        index: usize,
        preprocessing: &Preprocessing,
        scratch: &mut RowScratch,
        rows: &mut Rows,
    ) -> Result<()> {
        match self {
            Self::Vectors(source) => {
                source.read(
                    index,
                    largest(preprocessing.weighting.scheme),
                    &mut scratch.entries,
                )?;
                preprocessing.vector_row(&mut scratch.entries, rows)
            }
            Self::Texts(texts) => preprocessing.text_row(texts[index], &mut scratch.text, rows),
        }
    }

    /// All rows as a model with this preprocessing wants them.
    pub(crate) fn prepare_all(&self, preprocessing: &Preprocessing, cancel: &Cancel) -> Result<Rows> {
        let mut rows = Rows::new();
        let mut scratch = RowScratch::default();
        for index in 0..self.len() {
            if cancel.is_raised() {
                return Err(memoir::Error::Cancelled);
            }
            self.prepare(index, preprocessing, &mut scratch, &mut rows)?;
        }
        rows.set_width(preprocessing.features());
        Ok(rows)
    }

    /// Training data of these rows; `about` has their labels, classes and weights.
    pub(crate) fn training(
        &self,
        mut about: Dataset,
        prep: &data::PrepOptions,
        session: &Session<'_>,
    ) -> Result<data::TrainingData> {
        match self {
            Self::Vectors(source) => {
                let spare = usize::from(prep.needs.constant);
                let scheme = match prep.weighting {
                    data::WeightingChoice::Raw => WeightingScheme::Raw,
                    // Every other choice scales rows.
                    _ => WeightingScheme::Unit,
                };
                about.rows = take_over(&**source, spare, largest(scheme), session.cancel())?;
                data::TrainingData::from_rows(about, 0, prep, session)
            }
            Self::Texts(texts) => data::TrainingData::from_texts(texts, about, prep, session),
        }
    }

    /// The same to go on training a model; the classes of `about` begin with the model's.
    pub(crate) fn further(
        &self,
        mut about: Dataset,
        known: &data::Known<'_>,
        session: &Session<'_>,
    ) -> Result<data::TrainingData> {
        match self {
            Self::Vectors(source) => {
                let spare = usize::from(known.needs.constant);
                let largest = largest(known.preprocessing.weighting.scheme);
                about.rows = take_over(&**source, spare, largest, session.cancel())?;
                data::TrainingData::further_rows(about, known, session)
            }
            Self::Texts(texts) => data::TrainingData::further_texts(texts, about, known, session),
        }
    }
}
