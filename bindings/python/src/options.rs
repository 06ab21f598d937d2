//! How to train, as Python says it.

use memoir::catalogue::Method;
use memoir::data::{PrepOptions, WeightingChoice};
use memoir::model::Precision;
use memoir::text::TextParams;
use memoir::{Catalogue, Error, Model, Result, Session, data, train};
use pyo3::prelude::*;

/// How to train; names and values are as on the command line.
#[derive(FromPyObject)]
pub(crate) struct Training {
    #[pyo3(item)]
    algorithm: String,
    #[pyo3(item)]
    parameters: Vec<(String, String)>,
    #[pyo3(item)]
    text: Vec<(String, String)>,
    #[pyo3(item)]
    weighting: String,
    #[pyo3(item)]
    precision: Option<String>,
    #[pyo3(item)]
    max_model_size: Option<u64>,
    #[pyo3(item)]
    valid_fraction: Option<f64>,
    #[pyo3(item)]
    replicate: bool,
}

fn borrowed(pairs: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

impl Training {
    /// The checked parameters of the algorithm, and how rows are to be prepared for it.
    pub(crate) fn check(&self, catalogue: &Catalogue) -> Result<(Method, PrepOptions)> {
        let algorithm = catalogue.find(&self.algorithm)?;
        let method = algorithm.configure(borrowed(&self.parameters))?;
        let weighting = match self.weighting.as_str() {
            "auto" => WeightingChoice::Auto,
            "counts" => WeightingChoice::Counts,
            "unit" => WeightingChoice::Unit,
            "raw" => WeightingChoice::Raw,
            other => return Err(not_one_of("weighting", "auto, counts, unit, raw", other)),
        };
        self.precision()?;
        if let Some(share) = self
            .valid_fraction
            .filter(|share| !(*share > 0.0 && *share < 1.0))
        {
            return Err(Error::Parameter(format!(
                "`valid-fraction` must be a number between 0 and 1, but is `{share}`"
            )));
        }
        let prep = PrepOptions {
            weighting,
            needs: method.trainer().row_needs(),
            text: TextParams::parse(borrowed(&self.text))?,
        };
        Ok((method, prep))
    }

    fn precision(&self) -> Result<Option<Precision>> {
        match self.precision.as_deref() {
            None => Ok(None),
            Some("f32") => Ok(Some(Precision::F32)),
            Some("f16") => Ok(Some(Precision::F16)),
            Some(other) => Err(not_one_of("precision", "f32, f16", other)),
        }
    }

    /// Trains on prepared rows, going on from `before` if there is one: the same steps, in the same order, as
    /// `memoir train`.
    pub(crate) fn fit(
        &self,
        mut training: data::TrainingData,
        valid: Option<memoir::Dataset>,
        before: Option<&Model>,
        method: &Method,
        session: &Session<'_>,
    ) -> Result<Model> {
        let mut valid = valid;
        if let (None, Some(fraction)) = (&valid, self.valid_fraction) {
            let (rest, held_out) = train::hold_out(&training.data, fraction, session)?;
            training.data = rest;
            valid = Some(held_out);
        }
        if self.replicate {
            training.data = training.data.replicated();
        }
        let mut model = match before {
            None => train::fit(method, training, valid, session)?,
            Some(before) => train::continue_from(method, before, training, valid, session)?,
        };
        if let Some(precision) = self.precision()? {
            model.scorer = model.scorer.with_precision(precision)?;
        }
        if let Some(most_bytes) = self.max_model_size {
            model = model.shrink(most_bytes, session)?;
        }
        Ok(model)
    }
}

fn not_one_of(name: &str, legal: &str, found: &str) -> Error {
    Error::Parameter(format!("`{name}` must be one of {legal}, but is `{found}`"))
}
