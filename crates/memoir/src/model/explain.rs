//! Why an answer is the answer: what each feature of a row says for it and for the runner-up.
//!
//! The shares of the features, the bias and the rounding of a candidate add up to its score, exactly (in
//! `f64`). The rounding is what single precision loses in between; it is at most `n * 2^-23` times the sum
//! of the absolute values of `n` shares.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::calibration::CANDIDATES;
use super::{Model, Scratch};
use crate::sparse::{RowView, Rows, Scored};
use crate::text::AnalyzerScratch;
use crate::{Error, Result, Session};

/// Rows that are explained before the first of them is handed on.
const BATCH: usize = 1024;

/// A class that was considered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Class number.
    #[serde(rename = "class_number")]
    pub class: u32,
    /// Its label.
    #[serde(rename = "class")]
    pub name: String,
    /// The code that the vocabulary has for it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notation: Option<String>,
    /// What the vocabulary calls it, if there is one.
    #[serde(rename = "name", skip_serializing_if = "Option::is_none")]
    pub vocabulary_name: Option<String>,
    /// Its score.
    pub score: f32,
    /// The part of the score that no feature of the row causes.
    pub bias: f32,
    /// What is left of the score without the bias and all shares: an error of rounding.
    pub rounding: f64,
    /// How likely it is right, if the model is calibrated.
    pub probability: Option<f32>,
}

/// What one feature of a row says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureShare {
    /// Feature number.
    pub feature: u32,
    /// What it is called.
    pub name: String,
    /// The block it belongs to, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// If it is a run of characters: the word of the text that it is in, with the run in brackets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_word: Option<String>,
    /// Its value in the weighted row.
    pub value: f32,
    /// Its part in the score of the answer.
    pub for_answer: f32,
    /// Its part in the score of the runner-up.
    pub for_runner_up: f32,
}

impl FeatureShare {
    /// What to show to people: the run inside its word, or the name.
    pub fn shown(&self) -> &str {
        self.in_word.as_ref().unwrap_or(&self.name)
    }

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
    /// What [`Explanation::shorten`] has left out of them, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
}

/// The features that an explanation does not list, together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Others {
    /// How many they are.
    pub count: usize,
    /// Their part in the score of the answer.
    pub for_answer: f32,
    /// Their part in the score of the runner-up.
    pub for_runner_up: f32,
}

impl Explanation {
    /// Keeps the `count` features that decide most, and the sums of the others.
    pub fn shorten(&mut self, count: usize) {
        if self.features.len() <= count {
            return;
        }
        let rest = self.features.split_off(count);
        let sum =
            |share: fn(&FeatureShare) -> f32| rest.iter().map(|f| f64::from(share(f))).sum::<f64>() as f32;
        self.others = Some(Others {
            count: rest.len(),
            for_answer: sum(|share| share.for_answer),
            for_runner_up: sum(|share| share.for_runner_up),
        });
    }
}

/// A part of a text, and how much its words speak for the answer rather than the runner-up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// Bytes of the text; parts follow each other without gaps.
    pub range: Range<usize>,
    /// Positive for the answer, negative for the runner-up, 0 for what the model does not know or care
    /// about. The sum over all parts is what the features decide.
    pub decides: f64,
}

/// A feature with its weight for a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureWeight {
    /// Feature number.
    pub feature: u32,
    /// What it is called.
    pub name: String,
    /// The block it belongs to, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Its weight.
    pub weight: f32,
}

impl Model {
    /// Explains the answer for a weighted row (see [`crate::text::Preprocessing`]).
    pub fn explain_row(&self, row: RowView<'_>) -> Result<Explanation> {
        self.explain_with(row, &mut Scratch::default())
    }

    /// Explains the answers for weighted rows, with up to `count` features each, and hands them to `each` in
    /// order.
    ///
    /// Works in the session's pool on some of the rows at a time, so that memory does not grow with their
    /// number.
    pub fn explain_rows(
        &self,
        rows: &Rows,
        count: usize,
        session: &Session<'_>,
        mut each: impl FnMut(usize, Explanation) -> Result<()>,
    ) -> Result<()> {
        for first in (0..rows.len()).step_by(BATCH) {
            let numbers = first..rows.len().min(first + BATCH);
            let explained: Result<Vec<_>> = session.run(|| {
                let explain = |scratch: &mut Scratch, number| {
                    session.check()?;
                    let mut explanation = self.explain_with(rows.row(number), scratch)?;
                    explanation.shorten(count);
                    Ok(explanation)
                };
                numbers
                    .clone()
                    .into_par_iter()
                    .map_init(Scratch::default, explain)
                    .collect()
            });
            for (number, explanation) in numbers.zip(explained?) {
                each(number, explanation)?;
            }
        }
        Ok(())
    }

    fn explain_with(&self, row: RowView<'_>, scratch: &mut Scratch) -> Result<Explanation> {
        let mut best = Vec::new();
        self.scorer.top_k(row, 2.max(CANDIDATES), scratch, &mut best);
        let mut probabilities = Vec::new();
        self.probabilities(row, &best, &mut probabilities);
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
                block: self.preprocessing.block_name(feature),
                in_word: None,
                value,
                for_answer: for_answer
                    .next_if(|share| share.0 == feature)
                    .map_or(0.0, |share| share.1),
                for_runner_up: for_runner_up
                    .next_if(|share| share.0 == feature)
                    .map_or(0.0, |share| share.1),
            })
            .collect();
        let sum = |share: fn(&FeatureShare) -> f32| features.iter().map(|f| f64::from(share(f))).sum::<f64>();
        let sums = [sum(|share| share.for_answer), sum(|share| share.for_runner_up)];
        // Stable: equal features stay in the order of their numbers.
        features.sort_by(|a, b| b.decides().abs().total_cmp(&a.decides().abs()));
        Ok(Explanation {
            answer: self.candidate(answer, sums[0], probabilities.first()),
            runner_up: runner_up.map(|scored| self.candidate(scored, sums[1], probabilities.get(1))),
            features,
            others: None,
        })
    }

    /// Cuts `text`, to which `explanation` belongs, into parts and says what the words of each decide. A
    /// word that comes several times shares what it decides evenly; a run of words or characters spreads it
    /// over its length.
    pub fn mark(&self, text: &str, explanation: &Explanation) -> Vec<Mark> {
        let Some(pipeline) = self.preprocessing.text() else {
            return Vec::new();
        };
        let spans = pipeline.analyzer.spans(text, &mut AnalyzerScratch::default());
        let known: Vec<(u32, Range<usize>)> = spans
            .into_iter()
            .filter_map(|span| Some((pipeline.vocabulary.find(&span.token)?, span.range)))
            .filter(|(_, range)| !range.is_empty())
            .collect();
        let mut occurrences: FxHashMap<u32, f64> = FxHashMap::default();
        for (feature, _) in &known {
            *occurrences.entry(*feature).or_default() += 1.0;
        }
        let decides = explanation.features.iter().map(|share| {
            let decides = f64::from(share.for_answer) - f64::from(share.for_runner_up);
            (
                share.feature,
                decides / occurrences.get(&share.feature).copied().unwrap_or(1.0),
            )
        });
        let decides: FxHashMap<u32, f64> = decides.collect();
        let mut ends: Vec<usize> = known
            .iter()
            .flat_map(|(_, range)| [range.start, range.end])
            .collect();
        ends.extend([0, text.len()]);
        ends.sort_unstable();
        ends.dedup();
        let mut marks: Vec<Mark> = ends
            .windows(2)
            .map(|pair| Mark {
                range: pair[0]..pair[1],
                decides: 0.0,
            })
            .collect();
        for (feature, range) in known {
            let share = decides.get(&feature).copied().unwrap_or(0.0) / range.len() as f64;
            let first = marks.partition_point(|mark| mark.range.start < range.start);
            for mark in marks[first..]
                .iter_mut()
                .take_while(|mark| mark.range.end <= range.end)
            {
                mark.decides += share * mark.range.len() as f64;
            }
        }
        marks
    }

    fn shares(&self, row: RowView<'_>, class: u32) -> Result<Vec<(u32, f32)>> {
        self.scorer
            .contributions(row, class)
            .ok_or_else(|| self.no_features())
    }

    pub(super) fn no_features(&self) -> Error {
        Error::Mismatch(format!(
            "a model of kind `{}` does not score feature by feature, so it cannot say which features decide",
            self.scorer.kind()
        ))
    }

    fn candidate(&self, scored: Scored, shares: f64, probability: Option<&f32>) -> Candidate {
        let bias = self.scorer.bias(scored.class);
        Candidate {
            class: scored.class,
            name: self.classes.name(scored.class).to_owned(),
            notation: self.notation_of_class(scored.class).map(str::to_owned),
            vocabulary_name: self.name_of_class(scored.class, &[]).map(str::to_owned),
            score: scored.score,
            bias,
            rounding: f64::from(scored.score) - f64::from(bias) - shares,
            probability: probability.copied(),
        }
    }
}
