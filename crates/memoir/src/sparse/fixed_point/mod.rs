//! Fixed-point weights by feature, and the search for the best classes over them.
//!
//! Weights are 16-bit integers in units of 1/1024, row values 16-bit integers with a scale per row, scores
//! 32-bit sums of their products. Integer sums do not depend on the order of addition, so every code path
//! and every number of threads gives the same scores, and a weight takes four bytes with its class. Features
//! that touch many classes are dense rows, which vector instructions add sixteen classes at a time; the
//! others are short lists of postings. Training, which only wants to know the rivals of a row, adds up in 16
//! bits.

mod answer;
mod kernel;
mod lookup;
mod packed;
mod posting;
mod quantize;
mod search;
mod select;

pub(crate) use answer::{Answerer, least_of_largest};
pub(crate) use kernel::SumScale;
pub(crate) use lookup::for_each_common;
pub use packed::{Bits, PackedRow, pack};
pub(crate) use packed::{number, push_number};
pub use posting::{Narrow, Posting, Wide};
#[cfg(test)]
pub(crate) use quantize::quantize_row;
pub use quantize::{QuantizedRow, WEIGHT_UNITS, quantize_trimmed, quantize_weight};
pub(crate) use quantize::{least_kept, quantize_into};
pub use search::{FeatureRow, FeatureRows, SearchScratch, search};
pub(crate) use search::{RivalQuery, search_rivals};
pub(crate) use select::Best;
pub use select::FixedScore;

/// Dense rows are padded to a multiple of this many classes.
pub const LANES: usize = 64;

/// `classes` rounded up to whole lanes.
pub fn padded(classes: usize) -> usize {
    classes.div_ceil(LANES) * LANES
}
