//! Names that people give to the features of vectors.

use std::io::Read;
use std::path::Path;

use anyhow::bail;
use memoir::data::Source;
use memoir::model::Explanation;
use memoir::text::Input;
use memoir::{Error, Model};

/// What people call the features of vectors.
pub(crate) struct FeatureNames(Vec<String>);

impl FeatureNames {
    pub(crate) fn read(path: &Path, model: &Model) -> anyhow::Result<Self> {
        let features = match &model.preprocessing().input {
            Input::Vectors { features, .. } => *features,
            Input::Text(_) => {
                bail!("`--feature-names` is for vectors: the features of this model have names")
            }
        };
        let mut text = String::new();
        let mut reader = Source::new(path).into_reader()?;
        reader
            .read_to_string(&mut text)
            .map_err(|reason| Error::io(path, "cannot read", reason))?;
        let names: Vec<String> = text.lines().map(str::to_owned).collect();
        if names.len() < features {
            bail!(
                "{}: has {} names; expected one for each of {features} features",
                path.display(),
                names.len()
            );
        }
        Ok(Self(names))
    }

    pub(crate) fn name_explanation(&self, explanation: &mut Explanation) {
        let features = explanation.features.iter_mut();
        self.name_all(features.map(|share| (share.feature, &mut share.name)));
    }

    pub(crate) fn name_all<'f>(&self, features: impl Iterator<Item = (u32, &'f mut String)>) {
        for (feature, name) in features {
            // The constant feature has none.
            if let Some(known) = self.0.get(feature as usize) {
                name.clone_from(known);
            }
        }
    }
}
