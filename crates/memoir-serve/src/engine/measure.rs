//! How good is a version on rows whose classes are known?

use std::path::Path;

use memoir::data::{ReadOptions, Source};
use memoir::eval::{Confidence, Evaluation, Report};
use memoir::prepare::stream_labelled;
use memoir::{ClassNames, Result, Scored, Session};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Engine, Question};

/// Points of a curve, at most.
const POINTS: usize = 200;

/// What was measured.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Measured {
    /// As `memoir evaluate --json`.
    #[schema(value_type = Object)]
    pub(crate) report: Report,
    /// What each threshold would mean, from the highest down.
    pub(crate) curve: Vec<CurvePoint>,
}

/// What taking only answers of a least probability means.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct CurvePoint {
    /// The least probability.
    pub(crate) threshold: f32,
    /// Share of the rows that are answered then.
    pub(crate) coverage: f64,
    /// Share of these answers that are right.
    pub(crate) accuracy: f64,
}

struct Measuring {
    names: ClassNames,
    evaluation: Evaluation,
    confidence: Confidence,
    answers: Vec<(f32, bool)>,
}

impl Measuring {
    fn add(&mut self, labels: &[u32], best: &[Scored]) {
        self.evaluation.add(labels, best);
        if let (false, Some(answer)) = (labels.is_empty(), best.first()) {
            let right = labels.contains(&answer.class);
            self.confidence.add(answer.score, right);
            self.answers.push((answer.score, right));
        }
    }
}

impl Engine {
    /// Measures on texts with their classes.
    pub(crate) fn measure<'r>(
        &self,
        rows: impl Iterator<Item = (&'r str, &'r [String])>,
        session: &Session<'_>,
    ) -> Result<Option<Measured>> {
        let (texts, labels): (Vec<_>, Vec<_>) = rows.unzip();
        let questions: Vec<_> = texts
            .into_iter()
            .map(|text| Question::Text(text.to_owned()))
            .collect();
        let answers = self.answer_all(&questions, Evaluation::DEPTH, session)?;
        let mut measuring = self.measuring();
        for (labels, best) in labels.into_iter().zip(&answers) {
            let numbers: Vec<u32> = labels.iter().map(|label| measuring.names.intern(label)).collect();
            measuring.add(&numbers, best);
        }
        Ok(self.measured(measuring))
    }

    /// Measures on the labelled rows of a file.
    pub(crate) fn measure_file(&self, path: &Path, session: &Session<'_>) -> Result<Option<Measured>> {
        let mut measuring = self.measuring();
        let (source, options) = (Source::new(path), ReadOptions::default());
        let (preprocessing, extras) = (self.model.preprocessing(), self.model.extras());
        stream_labelled(source, &options, preprocessing, extras, session, |block| {
            let predictions = if self.is_calibrated() {
                self.model
                    .predict_probabilities(&block.rows, Evaluation::DEPTH, session)?
            } else {
                self.model.predict_rows(&block.rows, Evaluation::DEPTH, session)?
            };
            let numbers: Vec<u32> = block
                .classes
                .iter()
                .map(|name| measuring.names.intern(name))
                .collect();
            for (row, best) in predictions.iter().enumerate() {
                let labels = block.labels.row(row).iter();
                let labels: Vec<u32> = labels.map(|&label| numbers[label as usize]).collect();
                measuring.add(&labels, best);
            }
            Ok(())
        })?;
        Ok(self.measured(measuring))
    }

    fn measuring(&self) -> Measuring {
        Measuring {
            // Names that only the rows know get numbers behind the model's.
            names: self.model.classes().clone(),
            evaluation: Evaluation::new(),
            confidence: Confidence::default(),
            answers: Vec::new(),
        }
    }

    /// What follows from the counts, if there were any rows.
    fn measured(&self, measuring: Measuring) -> Option<Measured> {
        if measuring.evaluation.rows() == 0 {
            return None;
        }
        let counts = &self.model.origin().class_counts;
        let mut report = measuring.evaluation.report(&measuring.names, counts);
        let mut thresholds = Vec::new();
        if self.is_calibrated() {
            report.confidence = Some(measuring.confidence.report());
            thresholds = curve(measuring.answers);
        }
        Some(Measured {
            report,
            curve: thresholds,
        })
    }
}

/// What each threshold means for answers with their probability and whether they are right.
pub(crate) fn curve(mut answers: Vec<(f32, bool)>) -> Vec<CurvePoint> {
    answers.sort_by(|a, b| b.0.total_cmp(&a.0));
    let step = answers.len().div_ceil(POINTS).max(1);
    let (mut right, mut points) = (0u64, Vec::new());
    for (index, answer) in answers.iter().enumerate() {
        right += u64::from(answer.1);
        let count = index + 1;
        // Equal probabilities fall on the same side of every threshold.
        let ends = answers.get(count).is_none_or(|next| next.0 < answer.0);
        let is_due = count == answers.len() || points.len() * step < count;
        if ends && is_due {
            points.push(CurvePoint {
                threshold: answer.0,
                coverage: count as f64 / answers.len() as f64,
                accuracy: right as f64 / count as f64,
            });
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_keep_equal_probabilities_together() {
        let points = curve(vec![(0.5, false), (0.9, true), (0.5, true), (0.2, false)]);
        let points: Vec<_> = points
            .iter()
            .map(|p| (p.threshold, p.coverage, p.accuracy))
            .collect();
        assert_eq!(
            points,
            [(0.9, 0.25, 1.0), (0.5, 0.75, 2.0 / 3.0), (0.2, 1.0, 0.5)]
        );
    }

    #[test]
    fn long_curves_are_thinned_out_and_reach_the_end() {
        let points = curve((0..10_000).map(|n| (n as f32 / 1e4, n % 2 == 0)).collect());
        assert!((100..=POINTS + 1).contains(&points.len()), "{}", points.len());
        assert_eq!(points.last().unwrap().coverage, 1.0);
    }
}
