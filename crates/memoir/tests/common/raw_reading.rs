//! Reading to train on, with values left as they are: for tests that look at what was read.

use memoir::Result;
use memoir::data::ReadOptions;
use memoir::prepare::{PrepOptions, TrainingData, WeightingChoice, read_training};

use crate::common::{bytes_source, session};

/// Values are left as they are.
pub(crate) fn raw() -> PrepOptions {
    PrepOptions {
        weighting: WeightingChoice::Raw,
        ..PrepOptions::default()
    }
}

/// Reads `text` as a file called `name`.
pub(crate) fn read(name: &str, text: impl AsRef<[u8]>, options: &ReadOptions) -> Result<TrainingData> {
    read_training(bytes_source(name, text), options, &raw(), &session(2))
}
