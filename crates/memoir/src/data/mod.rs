//! Files and streams become [`Dataset`]s: rows, labels, class names. One file per format.
//!
//! ```text
//! Source ──► Feed (blocks of whole records) ──► a parser per format, blocks in parallel ──► in order: Dataset or Block
//! ```
//!
//! | format | a row | labels |
//! |---|---|---|
//! | `libsvm` | `a,b 1:0.5 7:2 # weight=2` | separated by `,`; none if the line begins with a blank or a feature |
//! | `xmc` | the same behind a line `rows features classes`, indices from 0 | whole numbers below `classes` |
//!
//! A byte-order mark, Windows line ends, blank lines and a missing last line end are fine in all of them.

mod assemble;
mod blocks;
mod classes;
mod dataset;
mod feed;
mod format;
mod libsvm;
mod number;
mod options;
mod parsed;
mod quotes;
mod read;
mod reader;
mod report;
mod source;

pub use classes::ClassNames;
pub use dataset::{Dataset, LabelSets};
pub use format::{Content, Format};
pub use options::{MAX_FEATURES, PrepOptions, ReadOptions, WeightingChoice};
pub use read::{Block, TrainingData, read_training, read_with, stream_with};
pub use report::ReadReport;
pub use source::Source;

use parsed::Parsed;
