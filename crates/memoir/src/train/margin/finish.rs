//! From weights by class to the finished scorer, and its quality on held-out rows.

use rayon::prelude::*;

use super::Prediction;
use super::weights::DescentWeights;
use crate::dataset::Dataset;
use crate::eval::Evaluation;
use crate::model::{Linear, LinearBuilder, Precision, Scorer, Scratch};
use crate::sparse::{ClassRows, ClassVectors};
use crate::{Result, Session};

/// Rows that one worker predicts between two looks at the cancel flag.
const STRIDE: usize = 64;

/// The scorer with these weights: scaled, or each class's vector brought to unit length.
pub(super) fn linear(weights: &ClassRows, prediction: Prediction) -> Linear {
    let classes = weights.classes() as u32;
    let mut ends = vec![0usize; weights.width() + 1];
    for class in 0..classes {
        for &feature in weights.row(class).indices {
            ends[feature as usize + 1] += 1;
        }
    }
    for feature in 1..ends.len() {
        ends[feature] += ends[feature - 1];
    }
    let mut next = ends.clone();
    let mut postings = vec![(0u32, 0f32); weights.entries()];
    for class in 0..classes {
        let factor = weights.final_factor(class, prediction);
        for (feature, weight) in weights.row(class).iter() {
            let slot = &mut next[feature as usize];
            postings[*slot] = (class, (f64::from(weight) * factor) as f32);
            *slot += 1;
        }
    }
    let mut builder = LinearBuilder::new(classes as usize);
    builder.reserve(postings.len());
    for range in ends.windows(2) {
        builder.push_feature(postings[range[0]..range[1]].iter().copied());
    }
    builder.finish(Precision::F32)
}

/// How good `scorer` is on `valid`.
pub(super) fn evaluate(scorer: &dyn Scorer, valid: &Dataset, session: &Session<'_>) -> Result<Evaluation> {
    let rows: Vec<usize> = (0..valid.len()).collect();
    session.run(|| {
        rows.par_chunks(STRIDE)
            .map_init(Scratch::default, |scratch, rows| {
                session.check()?;
                let mut evaluation = Evaluation::new();
                let views: Vec<_> = rows.iter().map(|&row| valid.rows.row(row)).collect();
                scorer.top_k_rows(&views, Evaluation::DEPTH, scratch, &mut |index, best| {
                    evaluation.add(valid.labels.row(rows[index]), best);
                });
                Ok(evaluation)
            })
            .try_reduce(Evaluation::new, |mut all, part| {
                all.merge(&part);
                Ok(all)
            })
    })
}
