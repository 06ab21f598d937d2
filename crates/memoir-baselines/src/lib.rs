//! The systems that the MEMOIR paper compares against, and naive engines, behind the same seams as the library's own
//! algorithms. They use only what any user of the library can use.
//!
//! ```
//! let catalogue =
//!     memoir::Catalogue::new().with(memoir_baselines::ALGORITHMS, memoir_baselines::SCORERS);
//! assert!(catalogue.find("ovr").is_ok());
//! ```

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

pub use objective::Objective;

/// The algorithms of this crate, for [`memoir::Catalogue::with`].
pub const ALGORITHMS: &[Algorithm] = &[
    ovr::OVR,
    msvm::MSVM,
    recall_tree::RECALL_TREE,
    fastxml::FASTXML,
    fastxml::PFASTREXML,
    pd_sparse::PD_SPARSE,
    knn::KNN,
];

/// The kinds of scorers they make beyond the library's own, for [`memoir::Catalogue::with`].
pub const SCORERS: &[ScorerKind] = &[
    recall_tree::RECALL_TREE_SCORER,
    fastxml::FOREST_SCORER,
    knn::NEIGHBOURS,
];
