//! Prepared data: rows in a binary form that is read instead of files, without parsing and counting.
//!
//! A folder with a manifest and shards. A shard holds blocks of rows, and the names of classes and words
//! that no earlier shard has. docs/prepared-data.md is the specification. What stands in a block is what
//! parsing the file would have given, so that everything made of it is the same to the byte.

mod block;
mod bytes;
mod manifest;
mod reader;
mod shard;
mod writer;

pub(crate) use block::{EncodedBlock, StoredWords, encode};
pub(crate) use manifest::SourceState;
pub use manifest::{Manifest, SourceEntry};
pub(crate) use reader::PreparedReader;
pub(crate) use shard::PreparedSet;
pub(crate) use writer::SetWriter;
