//! The end of training: which pass was best, and what of the weights is kept.

use rayon::prelude::*;

use super::auto_params::AutoParams;
use super::class_slice::{ClassSlice, Found};
use super::rows::QuantizedRows;
use super::shard_weights;
use super::weights::LearnedWeights;
use crate::dataset::Dataset;
use crate::eval::Evaluation;
use crate::model::{FixedScorer, Scorer};
use crate::per_thread::PerThread;
use crate::sparse::Scored;
use crate::sparse::fixed_point::{Narrow, Posting, SearchScratch, Wide, quantize_weight, search};
use crate::{Event, Result, Session};

/// Postings that a finished scorer can hold.
pub(super) trait Stored: Posting {
    fn boxed(scorer: FixedScorer<Self>) -> Box<dyn Scorer>;
}

impl Stored for Narrow {
    fn boxed(scorer: FixedScorer<Self>) -> Box<dyn Scorer> {
        Box::new(scorer)
    }
}

impl Stored for Wide {
    fn boxed(scorer: FixedScorer<Self>) -> Box<dyn Scorer> {
        Box::new(scorer)
    }
}

/// The values of all weights: postings and dense rows.
pub(super) type Snapshot<P> = (Vec<P>, Vec<i16>);

/// Passes in a row without improvement after which training stops.
const PATIENCE: usize = 2;

/// Remembers the weights of the pass that was best on held-out rows.
pub(super) struct Best<'a, P> {
    valid: Option<(&'a Dataset, QuantizedRows)>,
    accuracy: f64,
    without_gain: usize,
    snapshot: Option<Snapshot<P>>,
}

impl<'a, P: Posting> Best<'a, P> {
    pub(super) fn new(valid: Option<&'a Dataset>, session: &Session<'_>) -> Self {
        let quantized = |valid: &'a Dataset| session.run(|| QuantizedRows::new(&valid.rows, 0.0));
        let valid = valid.map(|valid| (valid, quantized(valid)));
        Self {
            valid,
            accuracy: f64::NEG_INFINITY,
            without_gain: 0,
            snapshot: None,
        }
    }

    /// Measures the weights after `pass`; says whether to stop.
    pub(super) fn judge(
        &mut self,
        weights: &LearnedWeights<P>,
        pass: usize,
        slice: &ClassSlice<'_>,
        session: &Session<'_>,
    ) -> Result<bool> {
        let Some((valid, rows)) = &self.valid else {
            return Ok(false);
        };
        let evaluation = evaluate(weights, valid, rows, slice, session)?;
        let (accuracy, macro_f1) = (evaluation.accuracy(), evaluation.macro_f1());
        session.tell(Event::HeldOut {
            pass,
            accuracy,
            macro_f1,
        });
        if accuracy > self.accuracy {
            self.accuracy = accuracy;
            self.without_gain = 0;
            // Freed first: three times the weights would be more than a budget counts.
            self.snapshot = None;
            self.snapshot = Some(weights.snapshot());
        } else {
            self.without_gain += 1;
        }
        Ok(self.without_gain >= PATIENCE)
    }

    /// What is remembered: the best accuracy, passes since, and the weights of then.
    pub(super) fn held(&self) -> (f64, usize, Option<&Snapshot<P>>) {
        (self.accuracy, self.without_gain, self.snapshot.as_ref())
    }

    /// Remembers what [`Best::held`] gave.
    pub(super) fn put_back(&mut self, accuracy: f64, without_gain: usize, snapshot: Option<Snapshot<P>>) {
        (self.accuracy, self.without_gain, self.snapshot) = (accuracy, without_gain, snapshot);
    }

    /// Puts the best weights back.
    pub(super) fn restore(self, weights: &mut LearnedWeights<P>) {
        if let Some(snapshot) = self.snapshot {
            weights.restore(snapshot);
        }
    }
}

fn evaluate<P: Posting>(
    weights: &LearnedWeights<P>,
    valid: &Dataset,
    rows: &QuantizedRows,
    slice: &ClassSlice<'_>,
    session: &Session<'_>,
) -> Result<Evaluation> {
    let found: Vec<Found> = session.run(|| {
        let search_one = |scratch: &mut SearchScratch, row: usize| {
            let mut found = Found::default();
            if !session.cancel().is_raised() {
                let Found { best, label_scores } = &mut found;
                search(weights, rows.row(row), 1, scratch, best, &[], label_scores);
            }
            found
        };
        let scratches = PerThread::new(session, SearchScratch::default);
        (0..valid.len())
            .into_par_iter()
            .map(|row| search_one(&mut scratches.of_this_thread(), row))
            .collect()
    });
    session.check()?;
    let found = slice.merge(found, |_| 1, session)?;
    let mut evaluation = Evaluation::new();
    for (labels, found) in valid.labels.iter().zip(&found) {
        let class = found.best.first().map_or(0, |best| best.class);
        evaluation.add(labels, &[Scored { class, score: 0.0 }]);
    }
    Ok(evaluation)
}

/// Weights smaller than this, in fixed-point units, are not kept.
pub(super) fn least_weight(auto: &AutoParams) -> i16 {
    quantize_weight(auto.least_weight).max(1)
}

/// The scorer that training leaves behind. Where several shards have trained it, shard 0 gets the weights of
/// all; the others keep a scorer of their own classes.
pub(super) fn scorer<P: Stored>(
    weights: LearnedWeights<P>,
    auto: &AutoParams,
    slice: &ClassSlice<'_>,
    session: &Session<'_>,
) -> Result<Box<dyn Scorer>> {
    let (offsets, postings) = weights.into_postings(least_weight(auto));
    let (offsets, postings) = match slice.shard() {
        Some(shard) => shard_weights::join(offsets, postings, shard, slice, session)?,
        None => (offsets, postings),
    };
    let scorer = FixedScorer::new(slice.all_classes(), offsets, postings);
    Ok(P::boxed(scorer.with_trim(auto.answer_trim)))
}
