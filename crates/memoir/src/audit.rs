//! Which labels are probably wrong? Rows are answered by models that were not trained on them, and answers
//! that contradict a label are told, the surest first.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::catalogue::Method;
use crate::dataset::Dataset;
use crate::model::{SHARING, Scratch, score_shares};
use crate::prepare::vector_hash;
use crate::train::{TrainRequest, compare_with_usual};
use crate::{Error, Result, Session};

/// Pairs of classes with fewer rows that are taken for the other are not told.
const FEWEST_CONFUSED: u64 = 3;

/// A row whose label is probably wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubt {
    /// Number of the row, from 0.
    pub row: usize,
    /// Its label; the most probable one, if it has several.
    pub label: u32,
    /// How probable models that have not seen the row hold that label to be.
    pub label_probability: f32,
    /// What they answer instead.
    pub likely: u32,
    /// How probable they hold that to be.
    pub likely_probability: f32,
}

impl Doubt {
    /// By how much the answer is more probable than the label.
    pub fn lead(&self) -> f32 {
        self.likely_probability - self.label_probability
    }
}

/// Two classes that are taken for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Twins {
    /// The one with the lower number.
    pub one: u32,
    /// The other.
    pub other: u32,
    /// Rows of the one that got the other as their answer, or the reverse.
    pub confused: u64,
    /// Rows of both.
    pub rows: u64,
}

/// What an audit finds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Audit {
    /// Rows whose label is probably wrong, the surest first.
    pub doubts: Vec<Doubt>,
    /// Classes that are probably one, those first of which the largest share is confused.
    pub twins: Vec<Twins>,
}

/// Audits the labels of `data`, which is prepared for `method`. Each of `folds` models is trained on the
/// rows of all other folds; equal rows are in the same one.
///
/// Memory is that of one training beside the data: of each row, only the best answers are looked at.
pub fn audit(data: &Dataset, method: &Method, folds: usize, session: &Session<'_>) -> Result<Audit> {
    if folds < 2 {
        return Err(Error::Parameter(format!(
            "`folds` must be at least 2, but is {folds}"
        )));
    }
    let fold_of: &Vec<usize> = &data
        .rows
        .iter()
        .map(|row| (vector_hash(row) % folds as u64) as usize)
        .collect();
    let mut answers: Vec<Option<Doubt>> = vec![None; data.len()];
    for fold in 0..folds {
        session.note(format!("audit: model {} of {folds}", fold + 1));
        let rows = |inside: bool| (0..data.len()).filter(move |&row| (fold_of[row] == fold) == inside);
        let mut training = data.subset(rows(false));
        compare_with_usual(&mut training, None);
        if training.is_empty() {
            continue;
        }
        let counts = training.labels.class_counts(data.classes.len());
        let trained = method.trainer().train(TrainRequest::new(training), session)?;
        let held_out: Vec<usize> = rows(true).collect();
        let answer = |scratch: &mut Scratch, &row: &usize| {
            let labels = data.labels.row(row);
            // A class without a training row cannot be answered, so nothing speaks against it.
            let is_known = |label: &u32| counts[*label as usize] > 0;
            if labels.is_empty() || !labels.iter().all(is_known) || data.rows.row(row).is_empty() {
                return None;
            }
            let mut best = Vec::new();
            trained
                .scorer
                .top_k(data.rows.row(row), SHARING, scratch, &mut best);
            score_shares(&mut best);
            let probability = |label: u32| {
                let found = best.iter().find(|scored| scored.class == label);
                found.map_or(0.0, |scored| scored.score)
            };
            let likely = *best.first()?;
            let label = *labels
                .iter()
                .max_by(|&&one, &&other| probability(one).total_cmp(&probability(other)))?;
            Some(Doubt {
                row,
                label,
                label_probability: probability(label),
                likely: likely.class,
                likely_probability: likely.score,
            })
        };
        let found: Vec<Option<Doubt>> =
            session.run(|| held_out.par_iter().map_init(Scratch::default, answer).collect());
        for (row, found) in held_out.into_iter().zip(found) {
            answers[row] = found;
        }
    }
    let wrong = |doubt: &Doubt| !data.labels.row(doubt.row).contains(&doubt.likely);
    let mut doubts: Vec<Doubt> = answers.into_iter().flatten().filter(wrong).collect();
    let twins = twins(&doubts, &data.labels.class_counts(data.classes.len()));
    doubts.sort_by(|one, other| other.lead().total_cmp(&one.lead()).then(one.row.cmp(&other.row)));
    Ok(Audit { doubts, twins })
}

fn twins(doubts: &[Doubt], counts: &[u32]) -> Vec<Twins> {
    let mut confused: FxHashMap<(u32, u32), [u64; 2]> = FxHashMap::default();
    for doubt in doubts {
        let pair = (doubt.label.min(doubt.likely), doubt.label.max(doubt.likely));
        confused.entry(pair).or_default()[usize::from(doubt.label > doubt.likely)] += 1;
    }
    // Only where both are taken for the other: a small class beside a large one is merely hard.
    let mutual = confused
        .into_iter()
        .filter(|(_, [one, other])| *one > 0 && *other > 0);
    let mut twins: Vec<Twins> = mutual
        .map(|((one, other), confused)| Twins {
            one,
            other,
            confused: confused.iter().sum(),
            rows: u64::from(counts[one as usize]) + u64::from(counts[other as usize]),
        })
        .filter(|pair| pair.confused >= FEWEST_CONFUSED)
        .collect();
    // Shares compared without dividing, so that the order is exact.
    twins.sort_by(|left, right| {
        let (left_share, right_share) = (left.confused * right.rows, right.confused * left.rows);
        let by_share = right_share.cmp(&left_share);
        by_share.then((left.one, left.other).cmp(&(right.one, right.other)))
    });
    twins
}
