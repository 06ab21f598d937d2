//! What training learns from: rows, the labels of each, and what the classes are called.
//!
//! Files ([`data`](crate::data)) and texts ([`text`](crate::text)) both end here, so both stand above this
//! module.

mod by_class;
mod calibration_split;
mod class_sample;
mod classes;
mod labels;
mod set;

pub use by_class::RowsByClass;
pub(crate) use calibration_split::CalibrationSplit;
pub(crate) use class_sample::ClassSample;
pub use classes::ClassNames;
pub use labels::LabelSets;
pub use set::Dataset;
