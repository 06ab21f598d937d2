//! Probabilities for a finished model.

use super::Model;
use super::calibration::{Basis, Calibration, HeldOutScores, SET_CANDIDATES};
use crate::dataset::Dataset;
use crate::{Result, Session};

impl Model {
    /// Fits probabilities to the scores of `held_out`, rows that the model was not trained on. They are
    /// weighted as the model wants them, with classes numbered as in the model; labels that it does not know
    /// count as mistakes. With too few rows the model stays as it is.
    pub fn calibrate(&mut self, held_out: &Dataset, session: &Session<'_>) -> Result<()> {
        let predictions = self.predict_rows(&held_out.rows, SET_CANDIDATES, session)?;
        let mut scores = HeldOutScores::default();
        for ((row, labels), best) in held_out
            .rows
            .iter()
            .zip(held_out.labels.iter())
            .zip(predictions.iter())
        {
            if !labels.is_empty() {
                scores.push(self.known_features(row), best, labels);
            }
        }
        let hierarchy = self
            .vocabulary
            .as_ref()
            .and_then(|vocabulary| vocabulary.hierarchy(self.classes.len()));
        let fitted = session.run(|| {
            let mut calibration = Calibration::fit(&scores, Basis::HeldOut)?;
            calibration.fit_sets(&scores, hierarchy.as_ref());
            Some(calibration)
        });
        if fitted.is_some() {
            self.calibration = fitted;
        }
        Ok(())
    }
}
