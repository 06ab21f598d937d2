//! From raw text, or from vectors as the user has them, to the weighted rows that training and prediction see.
//!
//! ```text
//! text ──► Analyzer (words, runs) ──► counts ──► Vocabulary keeps some ──► Weighting ──► row
//! ```
//!
//! Training counts blocks of texts in parallel ([`CountedBlock`]), merges them in order ([`TextCounter`]) and learns a
//! vocabulary and a weighting. A model holds these as [`Preprocessing`], which turns each later text into a row.

mod analyzer;
mod counting;
mod growth;
mod normalize;
mod params;
mod preprocessing;
mod stop_words;
mod vocabulary;
mod weighting;
mod words;

pub use analyzer::{Analyzer, AnalyzerScratch, Span};
pub use counting::{CountedBlock, TextCounter};
pub use params::{Language, Stem, StopWords, TextParams, TextSettings};
pub use preprocessing::{Input, Preprocessing, TextPipeline, TextScratch};
pub use vocabulary::Vocabulary;
pub use weighting::{RowNeeds, Weighting, WeightingScheme};
