//! Extreme multi-class classification on a CPU.
//!
//! The data flows through the modules in this order; each one's documentation says what it is responsible for:
//!
//! ```text
//! data ──► text ──► sparse ──► train (asks oracle for rivals) ──► model ──► eval
//! ```
//!
//! Training a margin classifier needs, for each example, the strongest *wrong* class. Finding it exactly costs a
//! scan over all classes; finding it approximately is nearly as good and far cheaper. That is the idea of the paper
//! "MEMOIR: Multi-class Extreme Classification with Inexact Margin" (Belyy and Sholokhov), on which this crate rests.
//!
//! The library never prints, never touches the global thread pool and never draws unseeded random numbers: what a run
//! may use and whom it tells is in the [`Session`] that the caller hands over.

pub mod catalogue;
pub mod checkpoint;
mod classifier;
pub mod data;
pub mod dataset;
mod error;
pub mod eval;
pub mod model;
pub mod oracle;
pub mod params;
mod per_thread;
pub mod prepare;
pub mod session;
// What users and other crates need of it is re-exported here, in `model` and in `oracle`.
#[allow(unreachable_pub)]
pub(crate) mod sparse;
pub mod synth;
pub mod text;
pub mod train;

pub use catalogue::Catalogue;
pub use classifier::Classifier;
pub use dataset::{ClassNames, Dataset, LabelSets};
pub use error::{Error, Result};
pub use model::{Answer, Model};
pub use session::{Cancel, Event, Observer, Session, Silent};
pub use sparse::{RowView, Rows, Scored};
