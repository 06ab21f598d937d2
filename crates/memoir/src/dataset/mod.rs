//! What training learns from: rows, the labels of each, and what the classes are called.
//!
//! Files ([`data`](crate::data)) and texts ([`text`](crate::text)) both end here, so both stand above this
//! module.

mod by_class;
mod calibration_split;
mod class_sample;
mod classes;
mod column_text;
mod labels;
mod set;

pub use by_class::RowsByClass;
pub(crate) use calibration_split::CalibrationSplit;
pub(crate) use class_sample::ClassSample;
pub use classes::ClassNames;
pub use column_text::{ColumnKind, ColumnText, readable};
pub(crate) use column_text::{PartColumn, column_parts, parse_mark, push_mark};
pub use labels::LabelSets;
pub use set::Dataset;
