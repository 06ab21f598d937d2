//! Why an answer is the answer: what each feature of a row says for it and for the runner-up.
//!
//! The shares of the features and the bias add up to the score. For a `linear` scorer they do so to the last bit when
//! they are added in `f32`, in the order of the feature numbers, to the bias; in any other order, and for a `fixed` scorer,
//! up to rounding: at most `n * 2^-23` times the sum of the absolute values of `n` shares.

use serde::Serialize;

use super::{Model, Scratch};
use crate::sparse::{RowView, Scored};
use crate::{Error, Result};

/// A class that was considered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Class number.
    pub class: u32,
    /// Its name.
    pub name: String,
    /// Its score.
    pub score: f32,
    /// The part of the score that no feature of the row causes.
    pub bias: f32,
}

/// What one feature of a row says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureShare {
    /// Feature number.
    pub feature: u32,
    /// What it is called.
    pub name: String,
    /// Its value in the weighted row.
    pub value: f32,
    /// Its part in the score of the answer.
    pub for_answer: f32,
    /// Its part in the score of the runner-up.
    pub for_runner_up: f32,
}

impl FeatureShare {
    /// How much it speaks for the answer rather than the runner-up; negative if against.
    pub fn decides(&self) -> f32 {
        self.for_answer - self.for_runner_up
    }
}

/// Why a row got its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The best class.
    pub answer: Candidate,
    /// The second best, if there is more than one class.
    pub runner_up: Option<Candidate>,
    /// The row's features, first those that decide most between the two (for or against).
    pub features: Vec<FeatureShare>,
}

/// A feature with its weight for a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureWeight {
    /// Feature number.
    pub feature: u32,
    /// What it is called.
    pub name: String,
    /// Its weight.
    pub weight: f32,
}

impl Model {
    /// Explains the answer for a weighted row (see [`crate::text::Preprocessing`]).
    pub fn explain(&self, row: RowView<'_>) -> Result<Explanation> {
        let mut best = Vec::new();
        self.scorer.top_k(row, 2, &mut Scratch::default(), &mut best);
        let Some(&answer) = best.first() else {
            return Err(Error::Mismatch(
                "the model has no classes, so there is no answer".to_owned(),
            ));
        };
        let runner_up = best.get(1).copied();
        let mut for_answer = self.shares(row, answer.class)?.into_iter().peekable();
        let mut for_runner_up = match runner_up {
            Some(scored) => self.shares(row, scored.class)?,
            None => Vec::new(),
        }
        .into_iter()
        .peekable();
        let mut features: Vec<_> = row
            .iter()
            .map(|(feature, value)| FeatureShare {
                feature,
                name: self.preprocessing.feature_name(feature).into_owned(),
                value,
                for_answer: for_answer
                    .next_if(|share| share.0 == feature)
                    .map_or(0.0, |share| share.1),
                for_runner_up: for_runner_up
                    .next_if(|share| share.0 == feature)
                    .map_or(0.0, |share| share.1),
            })
            .collect();
        // Stable: equal features stay in the order of their numbers.
        features.sort_by(|a, b| b.decides().abs().total_cmp(&a.decides().abs()));
        Ok(Explanation {
            answer: self.candidate(answer),
            runner_up: runner_up.map(|scored| self.candidate(scored)),
            features,
        })
    }

    /// The `count` features that speak most for a class, strongest first.
    pub fn class_features(&self, class: u32, count: usize) -> Result<Vec<FeatureWeight>> {
        let mut weights = self
            .scorer
            .class_weights(class)
            .ok_or_else(|| self.no_features())?;
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        weights.truncate(count);
        let named = weights.into_iter().map(|(feature, weight)| FeatureWeight {
            feature,
            name: self.preprocessing.feature_name(feature).into_owned(),
            weight,
        });
        Ok(named.collect())
    }

    fn shares(&self, row: RowView<'_>, class: u32) -> Result<Vec<(u32, f32)>> {
        self.scorer
            .contributions(row, class)
            .ok_or_else(|| self.no_features())
    }

    fn no_features(&self) -> Error {
        Error::Mismatch(format!(
            "a model of kind `{}` does not score feature by feature, so it cannot say which features decide",
            self.scorer.kind()
        ))
    }

    fn candidate(&self, scored: Scored) -> Candidate {
        Candidate {
            class: scored.class,
            name: self.classes.name(scored.class).to_owned(),
            score: scored.score,
            bias: self.scorer.bias(scored.class),
        }
    }
}
