//! Training algorithms: one file each, all behind [`Trainer`].

mod centroid;
mod fit;
pub mod margin;
pub mod softmax;

use crate::data::Dataset;
use crate::model::Scorer;
use crate::text::RowNeeds;
use crate::{Result, Session};

pub use centroid::{CENTROID, Centroid};
pub use fit::{fit, hold_out};
pub use margin::{MEMOIR_L1, MEMOIR_L2};

/// A training algorithm with its parameters: weighted rows in, a scorer out.
pub trait Trainer: Send + Sync {
    /// Learns from `data`; `valid`, if given, has the same classes and features and is used only to choose when to stop.
    ///
    /// The result depends on data, parameters and seed alone, never on the number of threads.
    fn train(
        &self,
        data: &Dataset,
        valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>>;

    /// What the algorithm wants of its rows.
    fn row_needs(&self) -> RowNeeds {
        RowNeeds::default()
    }
}
