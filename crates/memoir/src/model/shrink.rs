//! Models that must not be larger than so many bytes.

use super::Model;
use crate::{Error, Result, Session};

impl Model {
    /// Drops the smallest weights until the model's file takes at most `most_bytes`, and tells how many went.
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
        let bytes_of = |name: &str| {
            before
                .tensors
                .iter()
                .filter(|t| t.name == name)
                .map(|t| t.bytes)
                .sum::<usize>()
        };
        let per_weight = ["weights.postings", "weights.classes", "weights.values"]
            .map(bytes_of)
            .iter()
            .sum::<usize>();
        let per_weight = per_weight.div_ceil(weights.max(1)) as u64;
        let rest = before.file_bytes - per_weight * weights as u64;
        // The header's numbers may grow or shrink by a few digits, and arrays are aligned.
        let room = most_bytes.saturating_sub(rest + 256) / per_weight.max(1);
        if room < self.classes.len() as u64 {
            return Err(Error::Parameter(format!(
                "a model of at most {most_bytes} bytes would not keep one weight per class: names, features and the \
                 header take {rest} bytes alone"
            )));
        }
        self.scorer = self.scorer.with_largest_weights(room as usize)?;
        let after = self.summary()?;
        session.note(format!(
            "to stay within {most_bytes} bytes, the model keeps {} of {weights} weights",
            after.weights.unwrap_or(0)
        ));
        Ok(self)
    }
}
