//! How good are predictions? Counts are gathered row by row in an [`Evaluation`]; its [`Report`] names the
//! measures.
//!
//! A row has a *set* of labels, most often one. With `L` the labels of a row and `P_k` its `k` best classes:
//!
//! | measure | meaning |
//! |---|---|
//! | accuracy | share of rows whose best class is one of their labels |
//! | precision@k | mean of `size(P_k ∩ L) / k` (also where the model has fewer than `k` classes) |
//! | recall@k | mean of `size(P_k ∩ L) / size(L)` |
//! | F1@k | mean of `2 size(P_k ∩ L) / (k + size(L))` |
//! | NDCG@k | mean of the gains of `P_k ∩ L`, `1 / log2(rank + 1)` each, over the gains of all of `L` in the first ranks |
//! | macro-F1 | mean over classes of `2 tp / (occurrences in labels + times predicted as best)` |
//! | macro-F1, harmonic | harmonic mean of macro-precision and macro-recall, as the paper's text defines it |
//!
//! Rows may be *replicated*: a row with several labels then counts once for each, as a row with that label
//! alone ([`EvaluateOptions::replicate`]).
//!
//! Means over classes are taken over those that occur in the labels or among the best classes, as
//! scikit-learn does; where a class is never predicted (or never occurs) its precision (or recall) is 0.
//! Rows without labels are counted and left out. All counts are whole numbers, so the report does not depend
//! on how rows were split among threads.

mod bands;
mod confidence;
mod confusions;
mod evaluate;
pub mod hash_quality;
mod hierarchical;
pub mod margins;
pub mod model_weights;
mod rademacher;
mod ranking;
mod report;
mod tally;
#[cfg(test)]
mod tests;
pub mod theory;

pub use bands::{Band, FrequencyBand};
pub use confidence::{Confidence, ConfidenceReport, Coverage, ReliabilityBin, TARGETS};
pub use confusions::Confusions;
pub use evaluate::{EvaluateOptions, Outcome, evaluate, evaluate_at, evaluate_each};
pub use hierarchical::{HierarchyReport, HierarchyTally, LevelAccuracy};
pub use ranking::{Ranking, RankingMeasures};
pub use report::{Confusion, Report};
pub use tally::{CUTOFFS, Evaluation};
