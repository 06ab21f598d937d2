//! Weights in single or half precision, owned or mapped.

use half::f16;
use memoir::model::{Precision, Storage, Tensor, TensorSource};
use memoir::{Error, Result};

/// An array of weights.
#[derive(Debug)]
pub(crate) enum FloatWeights {
    F32(Storage<f32>),
    F16(Storage<f16>),
}

impl From<Vec<f32>> for FloatWeights {
    fn from(weights: Vec<f32>) -> Self {
        Self::F32(weights.into())
    }
}

impl FloatWeights {
    /// The array called `name`, in whichever precision it is.
    pub(crate) fn load(source: &dyn TensorSource, name: &str) -> Result<Self> {
        Ok(match source.element(name) {
            Some("F16") => Self::F16(source.f16(name)?),
            _ => Self::F32(source.f32(name)?),
        })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F32(weights) => weights.len(),
            Self::F16(weights) => weights.len(),
        }
    }

    /// Weight number `index`, and 0 behind the last.
    pub(crate) fn get(&self, index: usize) -> f32 {
        match self {
            Self::F32(weights) => weights.get(index).copied().unwrap_or(0.0),
            Self::F16(weights) => weights.get(index).map_or(0.0, |weight| weight.to_f32()),
        }
    }

    pub(crate) fn tensor(&self) -> Tensor<'_> {
        match self {
            Self::F32(weights) => Tensor::F32(weights),
            Self::F16(weights) => Tensor::F16(weights),
        }
    }

    /// The same weights in another precision.
    pub(crate) fn with_precision(self, precision: Precision) -> Self {
        match (precision, self) {
            (Precision::F16, Self::F32(weights)) => {
                let short: Vec<f16> = weights.iter().map(|&weight| f16::from_f32(weight)).collect();
                Self::F16(short.into())
            }
            (Precision::F32, Self::F16(weights)) => {
                let long: Vec<f32> = weights.iter().map(|weight| weight.to_f32()).collect();
                Self::F32(long.into())
            }
            (_, same) => same,
        }
    }
}

/// Fails for precisions that these weights cannot be stored in.
pub(crate) fn check(precision: Precision) -> Result<()> {
    match precision {
        Precision::F32 | Precision::F16 => Ok(()),
        Precision::Int8 => Err(Error::Parameter(
            "weights of trees can be stored in f32 or f16, not in int8".to_owned(),
        )),
    }
}
