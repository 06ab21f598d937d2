//! Sparse rows and the arithmetic on them.

mod class_rows;
mod class_vectors;
pub mod fixed;
mod rows;
mod storage;
mod top_k;

pub use class_rows::{Addend, ClassRows, SparseVector, sparse_dot};
pub use class_vectors::{ClassVectors, VectorBuffer, ZeroClasses};
pub use rows::{RowView, Rows};
pub use storage::Storage;
pub use top_k::{Scored, TopK};
