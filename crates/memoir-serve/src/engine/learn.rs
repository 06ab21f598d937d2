//! A better version of a model from the decisions of coders: what `memoir train --from` does.

use memoir::prepare::Examples;
use memoir::train::{self, FitOptions};
use memoir::{Catalogue, Dataset, Result, Session};

use super::Engine;
use crate::feedback::Decision;

impl Engine {
    /// Continues from this model with the decided texts, and gives the bytes of the new model's file.
    pub(crate) fn learn(
        &self,
        rows: &[&Decision],
        catalogue: &Catalogue,
        session: &Session<'_>,
    ) -> Result<Vec<u8>> {
        let method = catalogue.find(&self.model.origin().algorithm)?.configure([])?;
        let mut about = Dataset {
            classes: self.model.classes().clone(),
            ..Dataset::default()
        };
        for row in rows {
            let numbers: Vec<u32> = row
                .labels
                .iter()
                .map(|label| about.classes.intern(label))
                .collect();
            about.labels.push(numbers);
        }
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        let examples = Examples::Texts { texts: &texts, about };
        let options = FitOptions {
            base_model: Some(&self.model),
            ..FitOptions::default()
        };
        train::fit(&method, examples, options, session)?.to_bytes()
    }
}
