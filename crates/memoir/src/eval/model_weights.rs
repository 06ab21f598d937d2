//! The weights of a finished model by class, as oracles search them.

use std::sync::Arc;

use crate::model::{Scorer, Tensor};
use crate::sparse::{ClassDense, ClassRows, Reduction, RowView};
use crate::{Error, Result};

fn find<'a>(tensors: &[(String, Tensor<'a>)], name: &str) -> Option<Tensor<'a>> {
    let found = tensors.iter().find(|(other, _)| other == name);
    found.map(|(_, tensor)| *tensor)
}

fn unfit(scorer: &dyn Scorer) -> Error {
    Error::Mismatch(format!(
        "margins need a model of kind `linear` without bias (memoir-l2, memoir-l1, centroid) or of kind `reduced` \
         (memoir-lsh), but this is of kind `{}`",
        scorer.kind()
    ))
}

/// The weights of a model of kind `linear`, by class.
pub fn class_rows(scorer: &dyn Scorer) -> Result<ClassRows> {
    let tensors = scorer.tensors();
    let find = |name: &str| find(&tensors, name);
    let (Some(Tensor::U64(offsets)), Some(ids), Some(values), None, "linear") = (
        find("weights.offsets"),
        find("weights.classes"),
        find("weights.values"),
        find("weights.bias"),
        scorer.kind(),
    ) else {
        return Err(unfit(scorer));
    };
    let class = |at: usize| match ids {
        Tensor::U16(ids) => ids.get(at).map(|&id| u32::from(id)),
        Tensor::U32(ids) => ids.get(at).copied(),
        _ => None,
    };
    let value = |at: usize| match values {
        Tensor::F32(values) => values.get(at).copied(),
        Tensor::F16(values) => values.get(at).map(|value| value.to_f32()),
        _ => None,
    };
    let mut by_class = vec![(Vec::new(), Vec::new()); scorer.classes()];
    for (feature, range) in (0u32..).zip(offsets.windows(2)) {
        for at in range[0] as usize..range[1] as usize {
            if let (Some(class), Some(value)) = (class(at), value(at))
                && let Some((indices, weights)) = by_class.get_mut(class as usize)
            {
                indices.push(feature);
                weights.push(value);
            }
        }
    }
    let mut weights = ClassRows::new(scorer.classes(), scorer.features());
    for (class, (indices, values)) in (0..).zip(&by_class) {
        weights.set(class, RowView { indices, values });
    }
    Ok(weights)
}

/// The weights of a model of kind `reduced`, by class, with the map of its rows.
pub fn class_dense(scorer: &dyn Scorer) -> Result<ClassDense> {
    let tensors = scorer.tensors();
    let find = |name: &str| find(&tensors, name);
    let (Some(Tensor::U32(&[dimensions])), Some(Tensor::I16(whole)), Some(Tensor::F32(factors)), "reduced") = (
        find("reduction.dimensions"),
        find("reduction.values"),
        find("reduction.factors"),
        scorer.kind(),
    ) else {
        return Err(unfit(scorer));
    };
    let weights = match find("weights.values") {
        Some(Tensor::F32(weights)) => weights.to_vec(),
        Some(Tensor::F16(weights)) => weights.iter().map(|weight| weight.to_f32()).collect(),
        _ => return Err(unfit(scorer)),
    };
    Reduction::new(
        dimensions as usize,
        whole.to_vec().into(),
        factors.to_vec().into(),
    )
    .and_then(|reduction| ClassDense::from_values(scorer.classes(), Arc::new(reduction), weights))
    .ok_or_else(|| unfit(scorer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LinearBuilder, Precision, Reduced, Scratch};
    use crate::sparse::ClassVectors;

    #[test]
    fn a_bias_is_refused() {
        let mut builder = LinearBuilder::new(1);
        builder.push_feature([(0, 1.0)]);
        let biased = builder.finish(Precision::F32).with_bias(vec![1.0]);
        assert!(class_rows(&biased).is_err() && class_dense(&biased).is_err());
    }

    #[test]
    fn reduced_weights_score_as_the_model_does() {
        let whole: Vec<i16> = vec![3, -1, 0, 2, 5, 1];
        let reduction = Reduction::new(2, whole.into(), vec![0.5, 1.0, 0.25].into()).unwrap();
        let scorer = Reduced::new(2, Arc::new(reduction), vec![1.0, 2.0, 0.0, 0.0]);
        let weights = class_dense(&scorer).unwrap();
        assert!(class_rows(&scorer).is_err());
        assert!(weights.zeros().contains(1) && !weights.zeros().contains(0));
        let row = RowView {
            indices: &[0, 2],
            values: &[2.0, 4.0],
        };
        let (mut best, mut reduced) = (Vec::new(), Vec::new());
        scorer.top_k(row, 1, &mut Scratch::default(), &mut best);
        weights.reduction().apply(row, &mut reduced);
        let reduced = RowView {
            indices: &[0, 1],
            values: &reduced,
        };
        assert_eq!((best[0].class, best[0].score), (0, weights.dot(0, reduced)));
        assert_eq!(best[0].score, 8.0);
    }
}
