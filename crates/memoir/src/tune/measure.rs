//! What a search for settings goes by: one number for a model and held-out rows.

use std::fmt;
use std::str::FromStr;

use crate::eval::{Confidence, Evaluation, Ranking, TARGETS};
use crate::prepare::{Examples, prepare_with};
use crate::{Error, Model, Result, Session};

/// Most classes a row that a measure may look at.
const DEEPEST: usize = 1000;

/// A measure of a model; [`crate::eval`] defines them. More is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Share of rows whose best class is one of their labels.
    Accuracy,
    /// Mean of the per-class F1.
    MacroF1,
    /// Precision of the `k` best classes.
    Precision(usize),
    /// Recall of the `k` best classes.
    Recall(usize),
    /// F1 of the `k` best classes, row by row.
    F1(usize),
    /// NDCG of the `k` best classes.
    Ndcg(usize),
    /// Share of rows that can be answered at this accuracy in percent, the most certain first.
    Coverage(u32),
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accuracy => f.write_str("accuracy"),
            Self::MacroF1 => f.write_str("macro-f1"),
            Self::Precision(k) => write!(f, "precision@{k}"),
            Self::Recall(k) => write!(f, "recall@{k}"),
            Self::F1(k) => write!(f, "f1@{k}"),
            Self::Ndcg(k) => write!(f, "ndcg@{k}"),
            Self::Coverage(percent) => write!(f, "coverage@{percent}"),
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            let targets = TARGETS.map(|target| format!("{:.0}", target * 100.0)).join(", ");
            format!(
                "`{text}` is no measure; expected accuracy, macro-f1, precision@K, recall@K, f1@K or ndcg@K with K from 1 to \
                 {DEEPEST}, or coverage@A with A of {targets}"
            )
        };
        match text {
            "accuracy" => return Ok(Self::Accuracy),
            "macro-f1" => return Ok(Self::MacroF1),
            _ => {}
        }
        let (name, number) = text.split_once('@').ok_or_else(expected)?;
        let number: usize = number.parse().map_err(|_| expected())?;
        if name == "coverage" {
            let is_target = |target: &&f64| (**target * 100.0).round() as usize == number;
            TARGETS.iter().find(is_target).ok_or_else(expected)?;
            return Ok(Self::Coverage(number as u32));
        }
        if !(1..=DEEPEST).contains(&number) {
            return Err(expected());
        }
        match name {
            "precision" => Ok(Self::Precision(number)),
            "recall" => Ok(Self::Recall(number)),
            "f1" => Ok(Self::F1(number)),
            "ndcg" => Ok(Self::Ndcg(number)),
            _ => Err(expected()),
        }
    }
}

impl Measure {
    /// The measure of `model` on `held_out`.
    pub fn of(self, model: &Model, held_out: Examples<'_>, session: &Session<'_>) -> Result<f64> {
        let data = prepare_with(held_out, model.preprocessing(), model.classes(), session)?;
        let mut evaluation = Evaluation::new();
        let mut ranking = Ranking::new(&match self {
            Self::Precision(k) | Self::Recall(k) | Self::F1(k) | Self::Ndcg(k) => vec![k],
            _ => Vec::new(),
        });
        let mut confidence = Confidence::default();
        let depth = ranking.depth().max(Evaluation::DEPTH);
        let predictions = match self {
            Self::Coverage(_) => model.predict_probabilities(&data.rows, depth, session)?,
            _ => model.predict_rows(&data.rows, depth, session)?,
        };
        for (best, labels) in predictions.iter().zip(data.labels.iter()) {
            evaluation.add(labels, best);
            ranking.add(labels, best);
            if let (Some(answer), false) = (best.first(), labels.is_empty()) {
                confidence.add(answer.score, labels.contains(&answer.class));
            }
        }
        if evaluation.rows() == 0 {
            return Err(Error::Unlearnable(
                "no held-out row has a label, so nothing can be measured".to_owned(),
            ));
        }
        let at = ranking.measures();
        Ok(match (self, at.first()) {
            (Self::MacroF1, _) => evaluation.macro_f1(),
            (Self::Precision(_), Some(at)) => at.precision,
            (Self::Recall(_), Some(at)) => at.recall,
            (Self::F1(_), Some(at)) => at.f1,
            (Self::Ndcg(_), Some(at)) => at.ndcg,
            (Self::Coverage(percent), _) => {
                let coverage = confidence.report().coverage.into_iter();
                let mut wanted =
                    coverage.filter(|coverage| (coverage.target * 100.0).round() as u32 == percent);
                wanted.next().map_or(0.0, |coverage| coverage.coverage)
            }
            _ => evaluation.accuracy(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_read_as_they_are_written() {
        for text in [
            "accuracy",
            "macro-f1",
            "precision@5",
            "recall@10",
            "f1@5",
            "ndcg@20",
            "coverage@95",
        ] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "acc",
            "ndcg",
            "ndcg@0",
            "ndcg@x",
            "ndcg@1001",
            "coverage@93",
            "loss@5",
        ] {
            let message = text.parse::<Measure>().unwrap_err();
            assert!(message.starts_with(&format!("`{text}` is no measure; expected accuracy")));
        }
    }
}
