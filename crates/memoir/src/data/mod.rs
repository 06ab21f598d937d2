//! Files and streams become [`Dataset`]s: rows, labels, class names. One file per format.

mod classes;
mod dataset;

pub use classes::ClassNames;
pub use dataset::{Dataset, LabelSets};
