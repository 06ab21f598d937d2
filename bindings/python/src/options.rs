//! How to train, as Python says it.

use std::path::PathBuf;

use memoir::catalogue::Method;
use memoir::class_vocabulary::HierarchyRule;
use memoir::model::Precision;
use memoir::params::{ParameterType, Parameters, Value};
use memoir::prepare::{Examples, VocabularyRequest, WeightingChoice};
use memoir::shards::Shard;
use memoir::text::TextSettings;
use memoir::train::{FitOptions, HeldOut};
use memoir::{Catalogue, Error, Model, Result, Session, train};
use memoir_skos::VocabularySource;
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
    #[pyo3(item)]
    vocabulary: Option<PathBuf>,
    #[pyo3(item)]
    hierarchy: Option<String>,
    #[pyo3(item)]
    language: Vec<String>,
}

/// How text and values are prepared.
pub(crate) struct Preparation {
    pub(crate) text: TextSettings,
    pub(crate) weighting: WeightingChoice,
}

fn borrowed(pairs: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

impl Training {
    /// The algorithm with its parameters, and how text and values are to be prepared for it; all checked.
    pub(crate) fn check(&self, catalogue: &Catalogue) -> Result<(Method, Preparation)> {
        let algorithm = catalogue.find(&self.algorithm)?;
        let method = algorithm.configure(borrowed(&self.parameters))?;
        let word = Value::Word(self.weighting.clone());
        let weighting = WeightingChoice::from_value(&word);
        self.precision()?;
        let preparation = Preparation {
            weighting: weighting
                .ok_or_else(|| not_one_of("weighting", "auto, counts, unit, raw", &self.weighting))?,
            text: TextSettings::parse(borrowed(&self.text))?,
        };
        Ok((method, preparation))
    }

    /// Names and relations of the classes, if there are such.
    fn vocabulary(&self) -> Result<Option<VocabularyRequest>> {
        let source = VocabularySource {
            file: self.vocabulary.clone(),
            hierarchy: match &self.hierarchy {
                Some(rule) => Some(HierarchyRule::parse(rule)?),
                None => None,
            },
            languages: self.language.clone(),
        };
        Ok(source.read()?.map(VocabularyRequest::from))
    }

    fn precision(&self) -> Result<Option<Precision>> {
        match self.precision.as_deref() {
            None => Ok(None),
            Some("f32") => Ok(Some(Precision::F32)),
            Some("f16") => Ok(Some(Precision::F16)),
            Some(other) => Err(not_one_of("precision", "f32, f16", other)),
        }
    }

    /// Trains on `examples`, continuing from `base_model` if there is one: the same steps, in the same
    /// order, as `memoir train`.
    pub(crate) fn fit(
        &self,
        examples: Examples<'_>,
        held_out: Option<Examples<'_>>,
        base_model: Option<&Model>,
        (method, preparation): &(Method, Preparation),
        session: &Session<'_>,
    ) -> Result<Model> {
        let options = self.fit_options(held_out, base_model, preparation)?;
        let model = train::fit(method, examples, options, session)?;
        self.finished(model, session)
    }

    /// As above, by one of several processes, of which the first gets the model.
    pub(crate) fn fit_shard(
        &self,
        examples: Examples<'_>,
        (method, preparation): &(Method, Preparation),
        shard: &Shard,
        session: &Session<'_>,
    ) -> Result<Option<Model>> {
        let options = self.fit_options(None, None, preparation)?;
        let model = train::fit_shard(method, examples, options, shard, session)?;
        model.map(|model| self.finished(model, session)).transpose()
    }

    fn fit_options<'a>(
        &self,
        held_out: Option<Examples<'a>>,
        base_model: Option<&'a Model>,
        preparation: &Preparation,
    ) -> Result<FitOptions<'a>> {
        Ok(FitOptions {
            text: preparation.text.clone(),
            weighting: preparation.weighting,
            held_out: match (held_out, self.valid_fraction) {
                (Some(examples), _) => HeldOut::examples(examples),
                (None, Some(share)) => HeldOut::Share(share),
                (None, None) => HeldOut::Nothing,
            },
            base_model,
            replicate: self.replicate,
            vocabulary: self.vocabulary()?,
        })
    }

    /// The model as it is to be stored.
    fn finished(&self, mut model: Model, session: &Session<'_>) -> Result<Model> {
        if let Some(precision) = self.precision()? {
            model = model.with_precision(precision)?;
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
