//! Training algorithms: one file each, all behind [`Trainer`].

mod base_model;
mod centroid;
mod descriptions;
mod fit;
pub(crate) mod hold_out;
pub mod margin;
mod name_matches;
mod origin;
mod row_weights;
pub mod softmax;
mod trainer;
mod upper_levels;
mod views;

pub use base_model::BaseModel;
pub use centroid::{Centroid, CentroidParams};
pub use fit::{FitOptions, HeldOut, fit, fit_shard};
pub use margin::{MemoirL1Params, MemoirL2Params, MemoirLshParams};
pub(crate) use row_weights::compare_with_usual;
pub use softmax::SoftmaxParams;
pub use trainer::{Support, TrainRequest, Trained, Trainer};
pub(crate) use views::average_best;
