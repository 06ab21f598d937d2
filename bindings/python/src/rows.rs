//! What rows can be: vectors or texts. To the rest of this crate they are alike.

use memoir::prepare::Examples;
use memoir::text::{Preprocessing, TextScratch, WeightingScheme};
use memoir::{Cancel, Dataset, Model, Result, Rows, Session};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::matrix::{Matrix, RowSource, largest, take_over};
use crate::texts::Texts;

/// Up to this many rows are predicted by the calling thread.
const FEW_ROWS: usize = 64;

/// And texts of so many bytes together: they take milliseconds, in which nobody presses Ctrl-C.
const SHORT_TEXT: usize = 1 << 18;

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

impl RowScratch {
    /// Memory of a thread that stops, in the middle of a long text, when `cancel` is raised.
    pub(crate) fn stopped_by(cancel: &Cancel) -> Self {
        Self {
            text: TextScratch::stopped_by(cancel),
            ..Self::default()
        }
    }
}

impl Shared<'_> {
    /// Whether rows are texts.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Texts(_))
    }

    /// Whether preparing all rows takes no time worth a thread.
    pub(crate) fn is_short(&self) -> bool {
        match self {
            Self::Vectors(source) => source.len() <= FEW_ROWS,
            Self::Texts(texts) => {
                texts.len() <= FEW_ROWS && texts.iter().map(|text| text.len()).sum::<usize>() <= SHORT_TEXT
            }
        }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Vectors(source) => source.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// The class that row `index` always gets.
    pub(crate) fn override_of(&self, index: usize, model: &Model) -> Option<u32> {
        match self {
            Self::Vectors(_) => None,
            Self::Texts(texts) => model.override_of(texts[index]),
        }
    }

    /// Which rows always get their class.
    pub(crate) fn overridden(&self, model: &Model, session: &Session<'_>) -> Result<Vec<bool>> {
        (0..self.len())
            .map(|row| {
                session.check()?;
                Ok(self.override_of(row, model).is_some())
            })
            .collect()
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

    /// The rows as examples; `about` has their labels, classes and weights. Values must be finite in
    /// `scheme`, and `spare` entries will be added to each vector later.
    pub(crate) fn examples(
        &self,
        mut about: Dataset,
        scheme: WeightingScheme,
        spare: usize,
        session: &Session<'_>,
    ) -> Result<Examples<'_>> {
        Ok(match self {
            Self::Vectors(source) => {
                about.rows = take_over(&**source, spare, largest(scheme), session.cancel())?;
                Examples::Vectors {
                    data: about,
                    first: 0,
                }
            }
            Self::Texts(texts) => Examples::Texts { texts, about },
        })
    }
}
