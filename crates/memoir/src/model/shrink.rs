//! Models that must not be larger than so many bytes.

use super::Model;
use crate::{Error, Result, Session};

/// The arrays that get shorter when weights are dropped.
const WEIGHT_ARRAYS: [&str; 4] = [
    "weights.postings",
    "weights.classes",
    "weights.values",
    "packed.postings",
];

/// How often weights are dropped until the size fits; twice is enough in practice.
const TRIES: usize = 20;

impl Model {
    /// Forgets what is of use only to go on training: how many training rows hold each feature, and the rows
    /// that were kept to be repeated.
    pub fn finalize(&mut self) {
        self.preprocessing.weighting.document_frequency = Vec::new().into();
        self.replay = None;
    }

    /// Drops the smallest weights until the model's file takes at most `most_bytes`, and tells how many
    /// went.
    pub fn shrink(mut self, most_bytes: u64, session: &Session<'_>) -> Result<Self> {
        let before = self.summary()?;
        let Some(weights) = before.weights.filter(|_| before.file_bytes > most_bytes) else {
            return if before.file_bytes > most_bytes {
                Err(Error::Parameter(format!(
                    "the model takes {} bytes, and its kind `{}` has no weights that could be dropped",
                    before.file_bytes, before.scorer
                )))
            } else {
                Ok(self)
            };
        };
        // Weights may take different numbers of bytes, so the first guess may be a little off.
        for _ in 0..TRIES {
            let now = self.summary()?;
            if now.file_bytes <= most_bytes {
                break;
            }
            let stored = now.weights.unwrap_or(0) as u64;
            let arrays = now
                .tensors
                .iter()
                .filter(|tensor| WEIGHT_ARRAYS.contains(&own_name(&tensor.name)));
            let bytes = arrays.map(|tensor| tensor.bytes as u64).sum::<u64>().max(1);
            let rest = now.file_bytes - bytes;
            // The header's numbers may grow or shrink by a few digits, and arrays are aligned.
            let room = most_bytes.saturating_sub(rest + 256);
            let kept = (u128::from(stored) * u128::from(room) / u128::from(bytes)) as u64;
            if kept < self.classes.len() as u64 {
                return Err(Error::Parameter(format!(
                    "a model of at most {most_bytes} bytes would not keep one weight per class: names, features and \
                     the header take {rest} bytes alone; train one with fewer features: give the parameter \
                     `max-features`"
                )));
            }
            self.scorer = self.scorer.with_largest_weights(kept as usize)?;
        }
        let after = self.summary()?;
        if after.file_bytes > most_bytes {
            return Err(Error::Parameter(format!(
                "the model cannot be made as small as {most_bytes} bytes: it takes {}",
                after.file_bytes
            )));
        }
        session.note(format!(
            "to stay within {most_bytes} bytes, the model keeps {} of {weights} weights",
            after.weights.unwrap_or(0)
        ));
        Ok(self)
    }
}

/// The name that an array has in the scorer that it belongs to: those of upper levels have a prefix.
fn own_name(name: &str) -> &str {
    match name.strip_prefix("level").and_then(|rest| rest.split_once('.')) {
        Some((_, own)) => own,
        None => name,
    }
}
