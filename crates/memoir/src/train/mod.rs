//! Training algorithms: one file each, all behind [`Trainer`].

mod base_model;
mod centroid;
mod checkpoint;
mod fit;
pub mod margin;
pub mod softmax;
mod trainer;

pub use base_model::BaseModel;
pub use centroid::{Centroid, CentroidParams};
pub use checkpoint::{Checkpoints, Fingerprint, SavedState, State};
pub use fit::{continue_from, fit, hold_out};
pub use margin::{MemoirL1Params, MemoirL2Params, MemoirLshParams};
pub use softmax::SoftmaxParams;
pub use trainer::{Support, TrainRequest, Trained, Trainer};
