//! Sparse rows and the arithmetic on them.

mod class_dense;
mod class_rows;
mod class_vectors;
pub mod dense;
pub mod fixed_point;
mod give_back;
mod prefetch;
mod reduction;
mod rows;
mod sparse_vector;
mod spool;
mod spread;
mod storage;
pub mod svd;
mod top_k;

pub use class_dense::ClassDense;
pub use class_rows::{Addend, ClassRows};
pub use class_vectors::{ClassVectors, VectorBuffer, ZeroClasses};
pub(crate) use give_back::{SLACK_SHARE, give_back};
pub(crate) use prefetch::prefetch;
pub use reduction::Reduction;
pub use rows::{RowView, Rows};
#[cfg(test)]
pub(crate) use sparse_vector::sparse_dot;
pub use sparse_vector::{SparseVector, Truncation};
pub(crate) use spool::{ALL_BUFFERS, Gather, Gathered, Scatter};
pub use spread::Spread;
pub use storage::Storage;
pub use top_k::{Scored, TopK};
