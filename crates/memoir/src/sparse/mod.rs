//! Sparse rows and the arithmetic on them.

pub mod fixed;
mod rows;
mod storage;
mod top_k;

pub use rows::{RowView, Rows};
pub use storage::Storage;
pub use top_k::{Scored, TopK};
