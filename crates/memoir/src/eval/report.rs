//! From counts to the measures that users compare.

use serde::{Deserialize, Serialize};

use crate::dataset::ClassNames;
use crate::eval::tally::{CUTOFFS, ClassTally, Evaluation};
use crate::eval::{Band, ConfidenceReport, FrequencyBand, HierarchyReport, RankingMeasures};

/// A class that is mistaken for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// Label of the true class.
    pub truth: String,
    /// What the model's vocabulary calls it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth_name: Option<String>,
    /// Label of the class predicted instead.
    pub predicted: String,
    /// What the model's vocabulary calls it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_name: Option<String>,
    /// How many rows.
    pub count: u64,
}

/// Every measure; the module's documentation defines them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Rows with at least one label; all measures are about these.
    pub rows: u64,
    /// Rows without labels, left out.
    pub unlabelled_rows: u64,
    /// Labels of all rows together.
    pub labels: u64,
    /// Labels whose class the model does not know; they count as mistakes.
    pub unknown_labels: u64,
    /// Classes that occur in labels or among the best classes.
    pub classes: u64,
    /// Share of rows whose best class is one of their labels.
    pub accuracy: f64,
    /// Mean of the per-class F1.
    pub macro_f1: f64,
    /// Harmonic mean of macro-precision and macro-recall.
    pub macro_f1_harmonic: f64,
    /// Mean of the per-class precision.
    pub macro_precision: f64,
    /// Mean of the per-class recall.
    pub macro_recall: f64,
    /// Mean share of the best class that are labels.
    pub precision_at_1: f64,
    /// Mean share of the three best classes that are labels.
    pub precision_at_3: f64,
    /// Mean share of the five best classes that are labels.
    pub precision_at_5: f64,
    /// Mean share of the labels that are the best class.
    pub recall_at_1: f64,
    /// Mean share of the labels that are among the three best classes.
    pub recall_at_3: f64,
    /// Mean share of the labels that are among the five best classes.
    pub recall_at_5: f64,
    /// Measures of the `k` best classes for each `k` that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<RankingMeasures>,
    /// Quality by frequency of the class in training.
    pub by_frequency: Vec<FrequencyBand>,
    /// What probabilities are worth, if the model is calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<ConfidenceReport>,
    /// How far wrong answers are from right ones, if the model's vocabulary has a hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchyReport>,
    /// The most frequent mistakes. A row with several labels counts once for each of them.
    pub confusions: Vec<Confusion>,
}

impl Report {
    /// How many confusions a report lists.
    pub const CONFUSIONS: usize = 10;

    pub(crate) fn new(evaluation: &Evaluation, names: &ClassNames, bands: &[Band]) -> Self {
        let occurring = || evaluation.classes.iter().filter(|tally| tally.occurs());
        let classes = occurring().count() as u64;
        let mean = |part: fn(&ClassTally) -> f64| occurring().map(part).sum::<f64>() / classes.max(1) as f64;
        let macro_precision = mean(|tally| share(tally.hits[0], tally.predicted));
        let macro_recall = mean(|tally| share(tally.hits[0], tally.truth));
        let both = macro_precision + macro_recall;
        let precision = |slot: usize| {
            let hits: u64 = evaluation
                .hits_by_label_count
                .values()
                .map(|hits| hits[slot])
                .sum();
            share(hits, evaluation.rows * CUTOFFS[slot] as u64)
        };
        let recall = |slot: usize| {
            let by_count = evaluation.hits_by_label_count.iter();
            let sum: f64 = by_count
                .map(|(&labels, hits)| hits[slot] as f64 / labels as f64)
                .sum();
            sum / evaluation.rows.max(1) as f64
        };
        let name = |class: u32| {
            let known = (class as usize) < names.len();
            if known {
                names.name(class).to_owned()
            } else {
                format!("#{class}")
            }
        };
        let by_frequency = FrequencyBand::all(evaluation, bands);
        Self {
            rows: evaluation.rows,
            unlabelled_rows: evaluation.unlabelled,
            labels: evaluation.classes.iter().map(|tally| tally.truth).sum(),
            // Classes without rows may still be known, by their names.
            unknown_labels: evaluation
                .classes
                .iter()
                .skip(bands.len())
                .map(|tally| tally.truth)
                .sum(),
            classes,
            accuracy: evaluation.accuracy(),
            macro_f1: evaluation.macro_f1(),
            macro_f1_harmonic: if both > 0.0 {
                2.0 * macro_precision * macro_recall / both
            } else {
                0.0
            },
            macro_precision,
            macro_recall,
            precision_at_1: precision(0),
            precision_at_3: precision(1),
            precision_at_5: precision(2),
            recall_at_1: recall(0),
            recall_at_3: recall(1),
            recall_at_5: recall(2),
            at: Vec::new(),
            by_frequency,
            confidence: None,
            hierarchy: None,
            confusions: evaluation
                .confusions
                .most_frequent(Self::CONFUSIONS)
                .into_iter()
                .map(|(truth, predicted, count)| Confusion {
                    truth: name(truth),
                    truth_name: None,
                    predicted: name(predicted),
                    predicted_name: None,
                    count,
                })
                .collect(),
        }
    }
}

/// `part / whole`, and 0 for nothing of nothing.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Mean F1 of those of the classes that occur; 0 if none does.
pub(crate) fn macro_f1<'a>(classes: impl Iterator<Item = &'a ClassTally>) -> f64 {
    let (mut sum, mut count) = (0.0, 0u64);
    for tally in classes.filter(|tally| tally.occurs()) {
        sum += share(2 * tally.hits[0], tally.truth + tally.predicted);
        count += 1;
    }
    sum / count.max(1) as f64
}
