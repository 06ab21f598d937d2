//! Arrays that are either owned or part of a mapped file.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;

/// An immutable array of plain numbers, in memory or in a file that is mapped into memory.
pub struct Storage<T: Pod>(Inner<T>);

enum Inner<T: Pod> {
    Owned(Vec<T>),
    Mapped {
        bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
        range: Range<usize>,
        kind: PhantomData<T>,
    },
}

impl<T: Pod> Storage<T> {
    /// The part `range` of `bytes`, or `None` if it is not a whole number of aligned `T`s inside them.
    pub fn mapped(bytes: Arc<dyn AsRef<[u8]> + Send + Sync>, range: Range<usize>) -> Option<Self> {
        let part = (*bytes).as_ref().get(range.clone())?;
        bytemuck::try_cast_slice::<u8, T>(part).ok()?;
        Some(Self(Inner::Mapped {
            bytes,
            range,
            kind: PhantomData,
        }))
    }
}

impl<T: Pod> Storage<T> {
    /// The same bytes as an array of `U`, or `None` if they are not a whole number of aligned `U`s.
    pub fn recast<U: Pod>(self) -> Option<Storage<U>> {
        match self.0 {
            Inner::Mapped { bytes, range, .. } => Storage::mapped(bytes, range),
            Inner::Owned(owned) => bytemuck::try_cast_slice::<T, U>(&owned)
                .ok()
                .map(|cast| cast.to_vec().into()),
        }
    }
}

impl<T: Pod> From<Vec<T>> for Storage<T> {
    fn from(owned: Vec<T>) -> Self {
        Self(Inner::Owned(owned))
    }
}

impl<T: Pod> Deref for Storage<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Inner::Owned(owned) => owned,
            // Checked when made; the bytes never move or shrink, so neither step can fail here.
            Inner::Mapped { bytes, range, .. } => bytemuck::cast_slice(&(**bytes).as_ref()[range.clone()]),
        }
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Storage<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Storage").field(&self.len()).finish()
    }
}
