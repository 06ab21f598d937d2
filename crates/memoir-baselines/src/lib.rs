//! The systems that the MEMOIR paper compares against, and naive engines, behind the same seams as the
//! library's own algorithms. They use only what any user of the library can use.
//!
//! ```
//! let catalogue =
//!     memoir::Catalogue::new().with(memoir_baselines::ALGORITHMS, memoir_baselines::SCORERS);
//! assert!(catalogue.find("ovr").is_ok());
//! ```

// Tests compare with what std computes, up to rounding.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod by_feature;
pub mod fastxml;
mod halves;
pub mod knn;
mod margin;
pub mod msvm;
mod objective;
pub mod ovr;
pub mod pd_sparse;
mod ranking;
pub mod recall_tree;
#[cfg(test)]
mod test_data;

use memoir::catalogue::Algorithm;
use memoir::model::ScorerKind;

pub use fastxml::{FastXmlParams, PfastreXmlParams};
pub use knn::KnnParams;
pub use msvm::MsvmParams;
pub use objective::Objective;
pub use ovr::OvrParams;
pub use pd_sparse::PdSparseParams;
pub use recall_tree::RecallTreeParams;

/// The algorithms of this crate, for [`memoir::Catalogue::with`].
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm::of::<OvrParams>(),
    Algorithm::of::<MsvmParams>(),
    Algorithm::of::<RecallTreeParams>(),
    Algorithm::of::<FastXmlParams>(),
    Algorithm::of::<PfastreXmlParams>(),
    Algorithm::of::<PdSparseParams>(),
    Algorithm::of::<KnnParams>(),
];

/// The kinds of scorers they make beyond the library's own, for [`memoir::Catalogue::with`].
pub const SCORERS: &[ScorerKind] = &[
    recall_tree::RECALL_TREE_SCORER,
    fastxml::FOREST_SCORER,
    knn::NEIGHBOURS,
];
