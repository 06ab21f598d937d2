//! Extreme multi-class classification on a CPU.
//!
//! ```rust
//! # let folder = tempfile::tempdir().unwrap();
//! # std::env::set_current_dir(&folder).unwrap();
//! # let rows = "label,text\nbilling,I was charged twice\nbilling,refund me\naccount,forgot my password\n";
//! # std::fs::write("tickets.csv", rows).unwrap();
//! use memoir::Classifier;
//!
//! let model = Classifier::softmax().passes(3).fit_file("tickets.csv")?;
//! for answer in model.predict("I was charged twice", 3)? {
//!     println!("{} {:.2}", answer.class, answer.probability);
//! }
//! model.save("tickets.memoir")?;
//! # let opened = memoir::Model::open("tickets.memoir")?;
//! # assert_eq!(opened.predict("charged twice", 1)?[0].class, "billing");
//! # Ok::<(), memoir::Error>(())
//! ```
//!
//! [`Classifier`] makes models from files, texts and vectors; [`Model`] answers, and
//! [`Model::open`] opens its file. The other modules are what both are
//! made of, for programs that need more: algorithms by name ([`catalogue`]), algorithms of your own
//! ([`train::Trainer`]), rows for an algorithm ([`prepare`]).
//!
//! The data flows through the modules in this order; each one's documentation says what it is responsible
//! for:
//!
//! ```text
//! data, text ──► prepare ──► train (asks oracle for rivals) ──► model ──► eval
//! ```
//!
//! Training a margin classifier needs, for each example, the strongest *wrong* class. Finding it exactly
//! costs a scan over all classes; finding it approximately is nearly as good and far cheaper. That is the
//! idea of the paper "MEMOIR: Multi-class Extreme Classification with Inexact Margin" (Belyy and Sholokhov),
//! on which this crate rests.
//!
//! The library never prints, never touches the global thread pool and never draws unseeded random numbers:
//! what a run may use and whom it tells is in the [`Session`] that the caller hands over.

// Tests compare with what std computes, up to rounding.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod audit;
pub mod catalogue;
pub mod checkpoint;
pub mod class_vocabulary;
mod classifier;
pub mod data;
pub mod dataset;
mod error;
pub mod eval;
pub mod maths;
pub mod model;
pub mod oracle;
pub mod params;
mod per_thread;
pub mod prepare;
pub mod session;
pub mod shards;
// What users and other crates need of it is re-exported here, in `model` and in `oracle`.
#[allow(unreachable_pub)]
pub(crate) mod sparse;
pub mod synth;
pub mod text;
pub mod train;
pub mod tune;

pub use catalogue::Catalogue;
pub use classifier::Classifier;
pub use dataset::{ClassNames, Dataset, LabelSets};
pub use error::{Error, Result};
pub use model::{Answer, Model};
pub use session::{Cancel, Event, Observer, Session, Silent};
pub use sparse::{RowView, Rows, Scored};
