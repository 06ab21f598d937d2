//! What the tests of reading share.

use std::io::Cursor;
use std::num::NonZeroUsize;

use memoir::Session;
use memoir::data::Source;

/// A silent session of `threads` threads.
pub(crate) fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// A source called `name` that holds `content`.
pub(crate) fn bytes_source(name: &str, content: impl AsRef<[u8]>) -> Source {
    Source::from_reader(name, Cursor::new(content.as_ref().to_vec()))
}
