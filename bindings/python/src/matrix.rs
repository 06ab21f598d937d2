//! Matrices as Python has them (compressed rows, dense arrays), read row by row without a copy.

use memoir::text::WeightingScheme;
use memoir::{Cancel, Error, Result, Rows};
use numpy::ndarray::ArrayView2;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Rows between two looks at the cancel flag while a matrix is taken over.
const STRIDE: usize = 4096;

/// Largest value where values are used as they are: sums of squares of any number of them, and scores, stay
/// far from what single precision can hold.
const LARGEST_RAW: f32 = 1e15;

/// The largest value that rows weighted in this way may hold. Rows that are scaled may hold anything finite.
pub(crate) fn largest(scheme: WeightingScheme) -> f32 {
    match scheme {
        WeightingScheme::Raw => LARGEST_RAW,
        WeightingScheme::LogTfIdf | WeightingScheme::Unit => f32::MAX,
    }
}

/// The arrays of a matrix, borrowed from Python.
pub(crate) enum Matrix<'py> {
    Csr {
        offsets: Integers<'py>,
        columns: Integers<'py>,
        values: Numbers<'py>,
        width: usize,
    },
    DenseSingle(PyReadonlyArray2<'py, f32>),
    DenseDouble(PyReadonlyArray2<'py, f64>),
}

pub(crate) enum Integers<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(PyReadonlyArray1<'py, i64>),
}

pub(crate) enum Numbers<'py> {
    Single(PyReadonlyArray1<'py, f32>),
    Double(PyReadonlyArray1<'py, f64>),
}

impl<'py> Integers<'py> {
    fn of(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(narrow) = array.extract() {
            return Ok(Self::Narrow(narrow));
        }
        array
            .extract()
            .map(Self::Wide)
            .map_err(|_| value_error("the index arrays of a matrix must be int32 or int64"))
    }
}

impl<'py> Numbers<'py> {
    fn of(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(single) = array.extract() {
            return Ok(Self::Single(single));
        }
        array
            .extract()
            .map(Self::Double)
            .map_err(|_| value_error("the values of a matrix must be float32 or float64"))
    }
}

impl<'py> Matrix<'py> {
    /// Borrows the arrays of a CSR matrix or of a two-dimensional array.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(dense) = object.extract() {
            return Ok(Self::DenseSingle(dense));
        }
        if let Ok(dense) = object.extract() {
            return Ok(Self::DenseDouble(dense));
        }
        let (_, width): (usize, usize) = object.getattr("shape")?.extract()?;
        Ok(Self::Csr {
            offsets: Integers::of(&object.getattr("indptr")?)?,
            columns: Integers::of(&object.getattr("indices")?)?,
            values: Numbers::of(&object.getattr("data")?)?,
            width,
        })
    }

    /// The matrix as rows that any thread can read.
    pub(crate) fn rows(&self) -> PyResult<Box<dyn RowSource + '_>> {
        use Integers::{Narrow, Wide};
        use Numbers::{Double, Single};
        Ok(match self {
            Self::DenseSingle(array) => Box::new(Dense(array.as_array())),
            Self::DenseDouble(array) => Box::new(Dense(array.as_array())),
            Self::Csr {
                offsets,
                columns,
                values,
                width,
            } => {
                let width = *width;
                match (offsets, columns, values) {
                    (Narrow(o), Narrow(c), Single(v)) => csr(o, c, v, width)?,
                    (Narrow(o), Narrow(c), Double(v)) => csr(o, c, v, width)?,
                    (Wide(o), Wide(c), Single(v)) => csr(o, c, v, width)?,
                    (Wide(o), Wide(c), Double(v)) => csr(o, c, v, width)?,
                    (Wide(o), Narrow(c), Single(v)) => csr(o, c, v, width)?,
                    (Wide(o), Narrow(c), Double(v)) => csr(o, c, v, width)?,
                    (Narrow(o), Wide(c), Single(v)) => csr(o, c, v, width)?,
                    (Narrow(o), Wide(c), Double(v)) => csr(o, c, v, width)?,
                }
            }
        })
    }
}

fn csr<'a, O: Number, C: Number, V: Number>(
    offsets: &'a PyReadonlyArray1<'_, O>,
    columns: &'a PyReadonlyArray1<'_, C>,
    values: &'a PyReadonlyArray1<'_, V>,
    width: usize,
) -> PyResult<Box<dyn RowSource + 'a>> {
    let contiguous = |_| value_error("the arrays of a matrix must be contiguous");
    Ok(Box::new(Csr {
        offsets: offsets.as_slice().map_err(contiguous)?,
        columns: columns.as_slice().map_err(contiguous)?,
        values: values.as_slice().map_err(contiguous)?,
        width,
    }))
}

/// An element of an array, as the library sees it.
pub(crate) trait Number: numpy::Element + Copy + Send + Sync {
    /// As a position; `None` if negative.
    fn position(self) -> Option<usize>;
    /// As a value.
    fn value(self) -> f32;
}

macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            fn position(self) -> Option<usize> {
                (self >= 0 as $kind).then_some(self as usize)
            }
            fn value(self) -> f32 {
                self as f32
            }
        }
    )*};
}
number!(i32, i64, f32, f64);

/// Rows that any thread can read, one by one.
pub(crate) trait RowSource: Send + Sync {
    /// Number of rows.
    fn len(&self) -> usize;
    /// Number of columns.
    fn width(&self) -> usize;
    /// How many entries all rows have at most.
    fn entries(&self) -> usize;
    /// Replaces `entries` by those of row `index` that are not zero, in any order. None may be larger than
    /// `largest`.
    fn read(&self, index: usize, largest: f32, entries: &mut Vec<(u32, f32)>) -> Result<()>;
}

struct Csr<'a, O, C, V> {
    offsets: &'a [O],
    columns: &'a [C],
    values: &'a [V],
    width: usize,
}

impl<O: Number, C: Number, V: Number> RowSource for Csr<'_, O, C, V> {
    fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn width(&self) -> usize {
        self.width
    }

    fn entries(&self) -> usize {
        self.values.len()
    }

    fn read(&self, index: usize, largest: f32, entries: &mut Vec<(u32, f32)>) -> Result<()> {
        entries.clear();
        let range = (self.offsets[index].position(), self.offsets[index + 1].position());
        let part = match range {
            (Some(start), Some(end)) => self.columns.get(start..end).zip(self.values.get(start..end)),
            _ => None,
        };
        let Some((columns, values)) = part else {
            return Err(Error::Mismatch(format!(
                "row {index} of X lies outside of its arrays: `indptr` does not fit `indices` and `data`"
            )));
        };
        for (&column, &value) in columns.iter().zip(values) {
            match column.position() {
                Some(column) if column < self.width => {
                    entries.extend(entry(index, column, value.value(), largest)?);
                }
                _ => {
                    return Err(Error::Mismatch(format!(
                        "row {index} of X has a column index outside of its {} columns",
                        self.width
                    )));
                }
            }
        }
        Ok(())
    }
}

struct Dense<'a, V>(ArrayView2<'a, V>);

impl<V: Number> RowSource for Dense<'_, V> {
    fn len(&self) -> usize {
        self.0.nrows()
    }

    fn width(&self) -> usize {
        self.0.ncols()
    }

    fn entries(&self) -> usize {
        // Zeros are left out, and how many there are is not known yet.
        0
    }

    fn read(&self, index: usize, largest: f32, entries: &mut Vec<(u32, f32)>) -> Result<()> {
        entries.clear();
        for (column, &value) in self.0.row(index).iter().enumerate() {
            entries.extend(entry(index, column, value.value(), largest)?);
        }
        Ok(())
    }
}

/// Nothing for a zero; an error for what is too large to be worked with.
fn entry(row: usize, column: usize, value: f32, largest: f32) -> Result<Option<(u32, f32)>> {
    if value.abs() <= largest {
        return Ok((value != 0.0).then_some((column as u32, value)));
    }
    Err(Error::Mismatch(if value.is_finite() {
        format!(
            "row {row}, column {column} of X holds {value:e}; where values are used as they are, none may be larger \
             than {largest:e}: scale them, or train with another `weighting` than `raw`"
        )
    } else {
        format!("row {row}, column {column} of X holds NaN, infinity or a value too large for float32")
    }))
}

/// The rows as the library's own, for training, which changes them in place. `spare` entries more fit into
/// each. No value may be larger than `largest`.
pub(crate) fn take_over(source: &dyn RowSource, spare: usize, largest: f32, cancel: &Cancel) -> Result<Rows> {
    let mut rows = Rows::new();
    rows.make_room(source.len(), source.entries(), spare * source.len());
    let mut entries = Vec::new();
    for index in 0..source.len() {
        if index % STRIDE == 0 && cancel.is_raised() {
            return Err(Error::Cancelled);
        }
        source.read(index, largest, &mut entries)?;
        rows.push_unsorted(&mut entries);
    }
    rows.set_width(source.width());
    Ok(rows)
}
