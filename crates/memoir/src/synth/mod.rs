//! Made-up data of a wanted shape: for trying things at sizes that public data does not have, and for the
//! demo.
//!
//! Every class has a topic, a few features that its rows like to use. Ten classes share a parent with a
//! topic of its own, ten parents a grandparent. A row mixes features of its class's topic, of the two topics
//! above, sometimes of a sibling's, and of a background that is the same for all; so near classes are
//! confused, far ones hardly. Class sizes and feature frequencies follow power laws, and some labels are
//! wrong. All laws speak of ranks as shares of the features or classes, so data that are larger in rows,
//! features and classes alike are about as hard.
//!
//! Nothing is kept but one class number per row: topics and tree are computed from numbers by hashing.

mod generator;
mod laws;
mod params;
mod row;
mod words;

pub use generator::{Generator, Part};
pub use params::{Format, Like, SynthParams, SynthSettings};
