//! From raw text, or from vectors as the user has them, to the weighted rows that training and prediction
//! see.
//!
//! ```text
//! text ──► Analyzer (words, runs) ──► counts ──► Vocabulary ──► Weighting (by block) ──► row
//! ```
//!
//! Training numbers the words of texts in parallel ([`CountedBlock`]), merges them in order
//! ([`TextCounter`]), makes features of them ([`TextFeatures`]) and learns a vocabulary and a weighting. A
//! model holds these as [`Preprocessing`], which turns each later text into a row. Features come in
//! [`Blocks`].

mod analyzer;
mod blocks;
mod candidates;
mod choice;
mod class_spread;
mod codes;
mod columns;
mod counting;
mod feature_rows;
mod features;
mod growth;
mod known_words;
mod language;
mod name_features;
mod normalize;
mod params;
mod parts;
mod piece_table;
mod preprocessing;
mod run_filter;
mod runs;
mod stop_words;
mod views;
mod vocabulary;
mod weighting;
mod word_source;
mod words;

pub use analyzer::{Analyzer, AnalyzerScratch, Span};
pub use blocks::{Block, BlockKind, Blocks};
pub(crate) use choice::{TextKinds, choose};
pub(crate) use class_spread::SpreadSums;
pub use columns::{ColumnContent, TextColumn};
pub use counting::{CountedBlock, TextCounter};
pub(crate) use features::FeatureChoice;
pub use features::TextFeatures;
pub use known_words::KnownWords;
pub(crate) use normalize::normalize as fold;
pub use params::{Language, Stem, StopWords, TextParams, TextPreset, TextSettings, Tried};
pub use preprocessing::{Input, Preprocessing, TextPipeline, TextScratch};
pub(crate) use views::{factor_of, view_rows};
pub use vocabulary::Vocabulary;
pub(crate) use weighting::ROWS_PER_TASK;
pub use weighting::{BlockLayout, BlockScale, MOST_BLOCKS, RowNeeds, Weighting, WeightingScheme};
pub use word_source::WordLists;
pub(crate) use word_source::{TextBlock, WordSource};
