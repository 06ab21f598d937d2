//! Named arrays: how scorers hand their content to a model file and get it back.

use crate::Result;
use crate::model::Scorer;
use crate::sparse::Storage;

/// An array to be written.
#[derive(Debug, Clone, Copy)]
pub enum Tensor<'a> {
    /// Bytes (text, packed integers).
    U8(&'a [u8]),
    /// 16-bit unsigned numbers.
    U16(&'a [u16]),
    /// 32-bit unsigned numbers.
    U32(&'a [u32]),
    /// 64-bit unsigned numbers.
    U64(&'a [u64]),
    /// 8-bit signed numbers.
    I8(&'a [i8]),
    /// 16-bit signed numbers.
    I16(&'a [i16]),
    /// Half-precision numbers.
    F16(&'a [half::f16]),
    /// Single-precision numbers.
    F32(&'a [f32]),
}

impl<'a> Tensor<'a> {
    /// The elements as they lie in a file: little-endian, one after the other.
    pub fn bytes(&self) -> &'a [u8] {
        match *self {
            Self::U8(array) => array,
            Self::U16(array) => bytemuck::cast_slice(array),
            Self::U32(array) => bytemuck::cast_slice(array),
            Self::U64(array) => bytemuck::cast_slice(array),
            Self::I8(array) => bytemuck::cast_slice(array),
            Self::I16(array) => bytemuck::cast_slice(array),
            Self::F16(array) => bytemuck::cast_slice(array),
            Self::F32(array) => bytemuck::cast_slice(array),
        }
    }

    /// Name of the element type, as in a file's header (`F32`).
    pub fn element(&self) -> &'static str {
        match self {
            Self::U8(_) => "U8",
            Self::U16(_) => "U16",
            Self::U32(_) => "U32",
            Self::U64(_) => "U64",
            Self::I8(_) => "I8",
            Self::I16(_) => "I16",
            Self::F16(_) => "F16",
            Self::F32(_) => "F32",
        }
    }

    /// Size of one element in bytes.
    pub fn element_size(&self) -> usize {
        match self {
            Self::U8(_) | Self::I8(_) => 1,
            Self::U16(_) | Self::I16(_) | Self::F16(_) => 2,
            Self::U32(_) | Self::F32(_) => 4,
            Self::U64(_) => 8,
        }
    }

    /// Whether no element is infinite or not a number.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::F16(_) => are_finite_f16(self.bytes()),
            Self::F32(_) => are_finite_f32(self.bytes()),
            _ => true,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.element_size()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }
}

/// Where a scorer finds its arrays when a model is opened. Every array is a view into the mapped file.
pub trait TensorSource {
    /// Number of classes and of features that the model declares.
    fn shape(&self) -> (usize, usize);
    /// Whether there is an array called `name`, and the name of its element type (`F32`).
    fn element(&self, name: &str) -> Option<&'static str>;
    /// The array called `name`; an error naming it when it is absent or of another type.
    fn u8(&self, name: &str) -> Result<Storage<u8>>;
    /// See [`TensorSource::u8`].
    fn u16(&self, name: &str) -> Result<Storage<u16>>;
    /// See [`TensorSource::u8`].
    fn u32(&self, name: &str) -> Result<Storage<u32>>;
    /// See [`TensorSource::u8`].
    fn u64(&self, name: &str) -> Result<Storage<u64>>;
    /// See [`TensorSource::u8`].
    fn i8(&self, name: &str) -> Result<Storage<i8>>;
    /// See [`TensorSource::u8`].
    fn i16(&self, name: &str) -> Result<Storage<i16>>;
    /// See [`TensorSource::u8`].
    fn f16(&self, name: &str) -> Result<Storage<half::f16>>;
    /// See [`TensorSource::u8`].
    fn f32(&self, name: &str) -> Result<Storage<f32>>;
    /// An error about this file: something in it is not as the scorer needs it.
    fn invalid(&self, message: String) -> crate::Error;
}

/// Whether these bytes of 32-bit numbers hold neither infinities nor what is not a number.
pub(super) fn are_finite_f32(bytes: &[u8]) -> bool {
    let (numbers, _) = bytes.as_chunks();
    let is_finite = |number: &[u8; 4]| f32::from_le_bytes(*number).is_finite();
    numbers.chunks(TOGETHER).all(|some| all(some, is_finite))
}

/// The same for 16-bit numbers.
pub(super) fn are_finite_f16(bytes: &[u8]) -> bool {
    let (numbers, _) = bytes.as_chunks();
    let is_finite = |number: &[u8; 2]| half::f16::from_le_bytes(*number).is_finite();
    numbers.chunks(TOGETHER).all(|some| all(some, is_finite))
}

/// Numbers that are looked at without a branch between them.
const TOGETHER: usize = 1024;

fn all<T>(some: &[T], is_finite: impl Fn(&T) -> bool) -> bool {
    some.iter().fold(true, |all, number| all & is_finite(number))
}

/// What is said of an array with such numbers.
pub(super) fn not_finite(name: &str) -> String {
    format!("its array `{name}` holds an infinite number, or one that is not a number")
}

/// Puts the postings of a feature right where a damaged file has them out of order, repeated, or of classes
/// that do not exist.
pub(super) fn in_order(postings: &mut Vec<(u32, f32)>, classes: usize) {
    let fits = postings.is_sorted_by(|a, b| a.0 < b.0);
    if fits && postings.last().is_none_or(|last| (last.0 as usize) < classes) {
        return;
    }
    postings.retain(|posting| (posting.0 as usize) < classes);
    postings.sort_by_key(|posting| posting.0);
    postings.dedup_by_key(|posting| posting.0);
}

/// Makes a scorer from a model file's arrays, checking everything that could later fail.
pub type LoadScorer = fn(&dyn TensorSource) -> Result<Box<dyn Scorer>>;

/// A kind of scorer that model files may hold.
#[derive(Debug, Clone, Copy)]
pub struct ScorerKind {
    /// Name as in [`Scorer::kind`].
    pub kind: &'static str,
    /// Makes it.
    pub load: LoadScorer,
}
