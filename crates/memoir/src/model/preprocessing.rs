//! How a model file keeps what turns raw input into rows.

use serde::{Deserialize, Serialize};

use super::{Tensor, TensorSource};
use crate::Result;
use crate::sparse::Storage;
use crate::text::{
    BlockScale, Input, MOST_BLOCKS, Preprocessing, TextParams, TextPipeline, Vocabulary, Weighting,
    WeightingScheme,
};

/// The text `preprocessing` in the header; arrays are kept beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredPreprocessing {
    input: StoredInput,
    weighting: WeightingScheme,
    constant: bool,
    length_power: f32,
    mean_length: f32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<BlockScale>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StoredInput {
    Vectors { features: u32, first: u32 },
    Text { params: TextParams },
}

impl StoredPreprocessing {
    /// What the header says about `preprocessing`.
    pub(super) fn of(preprocessing: &Preprocessing) -> Self {
        let input = match &preprocessing.input {
            Input::Vectors { features, first } => StoredInput::Vectors {
                features: *features as u32,
                first: *first,
            },
            Input::Text(text) => StoredInput::Text {
                params: text.params.clone(),
            },
        };
        Self {
            input,
            weighting: preprocessing.weighting.scheme,
            constant: preprocessing.weighting.constant,
            length_power: preprocessing.weighting.length_power,
            mean_length: preprocessing.weighting.mean_length,
            blocks: preprocessing.weighting.blocks.clone(),
        }
    }

    /// The arrays of `preprocessing`.
    pub(super) fn tensors(preprocessing: &Preprocessing) -> Vec<(String, Tensor<'_>)> {
        let weighting = &preprocessing.weighting;
        let mut tensors = vec![
            (
                "weighting.feature_weights".to_owned(),
                Tensor::F32(&weighting.feature_weights),
            ),
            (
                "weighting.document_frequency".to_owned(),
                Tensor::U32(&weighting.document_frequency),
            ),
            (
                "weighting.blocks".to_owned(),
                Tensor::U8(&weighting.block_of_feature),
            ),
        ];
        tensors.retain(|(_, tensor)| !tensor.is_empty());
        if let Some(text) = preprocessing.text() {
            tensors.extend([
                ("text.names".to_owned(), Tensor::U8(text.vocabulary.names())),
                ("text.ends".to_owned(), Tensor::U64(text.vocabulary.ends())),
                ("text.slots".to_owned(), Tensor::U32(text.vocabulary.slots())),
            ]);
        }
        tensors
    }

    /// Makes the preprocessing again.
    pub(super) fn load(self, source: &dyn TensorSource) -> Result<Preprocessing> {
        let (input, width) = match self.input {
            StoredInput::Vectors { features, first } => {
                let features = features as usize;
                (Input::Vectors { features, first }, features)
            }
            StoredInput::Text { params } => {
                let vocabulary = Vocabulary::from_storage(
                    source.u8("text.names")?,
                    source.u64("text.ends")?,
                    source.u32("text.slots")?,
                )
                .map_err(|message| source.invalid(message))?;
                let width = vocabulary.len();
                let pipeline = TextPipeline::new(params, vocabulary)
                    .map_err(|reason| source.invalid(format!("its text parameters are wrong: {reason}")))?;
                (Input::Text(Box::new(pipeline)), width)
            }
        };
        let weighting = Weighting {
            scheme: self.weighting,
            feature_weights: match source.element("weighting.feature_weights") {
                None if self.weighting != WeightingScheme::LogTfIdf || width == 0 => {
                    Storage::from(Vec::new())
                }
                _ => source.f32("weighting.feature_weights")?,
            },
            document_frequency: match source.element("weighting.document_frequency") {
                Some(_) => source.u32("weighting.document_frequency")?,
                None => Storage::from(Vec::new()),
            },
            constant: self.constant,
            length_power: self.length_power,
            mean_length: self.mean_length,
            block_of_feature: match self.blocks.len() {
                0 => Storage::from(Vec::new()),
                1..=MOST_BLOCKS if width > 0 => source.u8("weighting.blocks")?,
                1..=MOST_BLOCKS => Storage::from(Vec::new()),
                many => {
                    return Err(source.invalid(format!(
                        "it has {many} blocks of features, more than {MOST_BLOCKS}"
                    )));
                }
            },
            blocks: self.blocks,
        };
        let needs_weights = weighting.scheme == WeightingScheme::LogTfIdf;
        for (name, length, may_be_empty) in [
            ("feature_weights", weighting.feature_weights.len(), !needs_weights),
            ("document_frequency", weighting.document_frequency.len(), true),
            (
                "blocks",
                weighting.block_of_feature.len(),
                weighting.blocks.is_empty(),
            ),
        ] {
            if length != width && !(length == 0 && may_be_empty) {
                return Err(source.invalid(format!(
                    "`weighting.{name}` has {length} elements for {width} features"
                )));
            }
        }
        check_scales(&weighting).map_err(|message| source.invalid(message))?;
        Ok(Preprocessing { input, weighting })
    }
}

/// An error in words if rows could not be scaled, or would become infinite.
fn check_scales(weighting: &Weighting) -> std::result::Result<(), String> {
    let is_length = |length: f32| length.is_finite() && length > 0.0;
    if !(0.0..=1.0).contains(&weighting.length_power) || !is_length(weighting.mean_length) {
        return Err(format!(
            "`preprocessing` in its header has a length_power of {} and a mean_length of {}; expected a \
             number from 0 to 1 and a positive one",
            weighting.length_power, weighting.mean_length
        ));
    }
    for (number, block) in weighting.blocks.iter().enumerate() {
        if !is_length(block.mean_length) || !block.weight.is_finite() || block.weight < 0.0 {
            return Err(format!(
                "`preprocessing` in its header has a weight of {} and a mean_length of {} for block {number}; \
                 expected positive numbers",
                block.weight, block.mean_length
            ));
        }
    }
    let blocks = weighting.blocks.len();
    match weighting
        .block_of_feature
        .iter()
        .find(|block| usize::from(**block) >= blocks)
    {
        Some(block) => Err(format!(
            "`weighting.blocks` names block {block}, but there are {blocks} blocks"
        )),
        None => Ok(()),
    }
}
