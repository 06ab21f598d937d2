//! A model measured on labelled rows.

use super::{Confidence, Evaluation, HierarchyTally, Ranking, Report};
use crate::data::{ReadOptions, Source};
use crate::dataset::ClassNames;
use crate::model::Model;
use crate::prepare::{Block, stream_labelled};
use crate::sparse::Scored;
use crate::{Error, Result, Session};

/// Predicts all rows of `source` and counts what is right.
pub fn evaluate(
    model: &Model,
    source: Source,
    options: &ReadOptions,
    session: &Session<'_>,
) -> Result<Report> {
    evaluate_at(model, source, options, &[], session)
}

/// What is measured beyond the usual, and what counts as a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvaluateOptions<'a> {
    /// The `k` for which the `k` best classes are measured.
    pub at: &'a [usize],
    /// Whether a row with several labels counts once for each of them, as a row with that label alone: how
    /// the paper makes rows of several labels rows of one.
    pub replicate: bool,
}

/// As [`evaluate`], with precision, recall, F1 and NDCG of the `k` best classes for each `k` in `at`.
pub fn evaluate_at(
    model: &Model,
    source: Source,
    options: &ReadOptions,
    at: &[usize],
    session: &Session<'_>,
) -> Result<Report> {
    let measures = EvaluateOptions {
        at,
        ..EvaluateOptions::default()
    };
    let (report, _) = evaluate_each(model, source, options, measures, session, |_| Ok(()))?;
    Ok(report)
}

/// What became of a row.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// The rows that it came with.
    pub block: &'a Block,
    /// Its number among them.
    pub row: usize,
    /// Its labels, numbered as in `names`.
    pub labels: &'a [u32],
    /// The best classes, with probabilities if the model is calibrated.
    pub best: &'a [Scored],
    /// Names of the model's classes and, behind them, of those that only the data knows.
    pub names: &'a ClassNames,
}

/// As [`evaluate_at`]; hands every row to `each` (for each of its labels, if rows are replicated), and gives
/// the names of all classes met, too.
pub fn evaluate_each(
    model: &Model,
    source: Source,
    options: &ReadOptions,
    measures: EvaluateOptions<'_>,
    session: &Session<'_>,
    mut each: impl FnMut(&Outcome<'_>) -> Result<()>,
) -> Result<(Report, ClassNames)> {
    let name = source.name().to_owned();
    let mut evaluation = Evaluation::new();
    let mut ranking = Ranking::new(measures.at);
    let depth = Evaluation::DEPTH.max(ranking.depth());
    let mut confidence = model.calibration().map(|_| Confidence::default());
    let hierarchy = model
        .vocabulary()
        .and_then(|vocabulary| vocabulary.hierarchy(model.classes().len()));
    let mut tally = hierarchy.as_ref().map(HierarchyTally::new);
    // Names that only the data knows get numbers behind the model's.
    let mut names = model.classes().clone();
    let mut labels = Vec::new();
    stream_labelled(
        source,
        options,
        model.preprocessing(),
        model.extras(),
        session,
        |block| {
            let predictions = match confidence {
                Some(_) => model.predict_probabilities(&block.rows, depth, session)?,
                None => model.predict_rows(&block.rows, depth, session)?,
            };
            let numbers: Vec<u32> = block.classes.iter().map(|name| names.intern(name)).collect();
            for (row, best) in predictions.iter().enumerate() {
                labels.clear();
                labels.extend(block.labels.row(row).iter().map(|&label| numbers[label as usize]));
                let at_once = if measures.replicate {
                    1
                } else {
                    labels.len().max(1)
                };
                // A row without labels counts as such, once.
                let none: &[u32] = &[];
                let groups = labels.chunks(at_once).chain(labels.is_empty().then_some(none));
                for labels in groups {
                    evaluation.add(labels, best);
                    ranking.add(labels, best);
                    if let Some(tally) = &mut tally {
                        let answer = best.first().filter(|answer| answer.score > f32::NEG_INFINITY);
                        tally.add(labels, answer.map(|answer| answer.class));
                    }
                    each(&Outcome {
                        block: &block,
                        row,
                        labels,
                        best,
                        names: &names,
                    })?;
                    if let Some(confidence) = confidence.as_mut().filter(|_| !labels.is_empty()) {
                        // A row without an answer counts among those that no threshold automates.
                        match best.first() {
                            Some(answer) => confidence.add(answer.score, labels.contains(&answer.class)),
                            None => confidence.add(0.0, false),
                        }
                    }
                }
            }
            Ok(())
        },
    )?;
    if evaluation.rows() == 0 {
        return Err(Error::input(name, "no row has a label; an evaluation needs them"));
    }
    let mut report = evaluation.report(&names, &model.origin().class_counts);
    report.at = ranking.measures();
    report.confidence = confidence.map(|confidence| confidence.report());
    let name = |label: &str| {
        let class = model.classes().find(label)?;
        model.name_of_class(class, &[]).map(str::to_owned)
    };
    for confusion in &mut report.confusions {
        confusion.truth_name = name(&confusion.truth);
        confusion.predicted_name = name(&confusion.predicted);
    }
    report.hierarchy = tally.map(|tally| tally.report());
    Ok((report, names))
}
