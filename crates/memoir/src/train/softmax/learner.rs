//! Learning from one batch of rows: rivals and gradients against the weights as they are, then the weights
//! move.

use super::recall;
use super::rival_cache::RivalCache;
use super::rivals::{Precision, RivalSearch, RivalSource};
use super::rows::RowsHandle;
use super::shard_weights::SharedBounds;
use super::update::{BatchGradients, Step, Updater};
use super::weights::LearnedWeights;
use crate::sparse::fixed_point::Posting;
use crate::{Result, Session};

/// Learns from batches, with reusable cache.
pub(super) struct Learner<'a> {
    search: RivalSearch<'a>,
    updater: Updater,
    gradients: BatchGradients,
    bounds: SharedBounds,
}

impl<'a> Learner<'a> {
    /// Each feature moves at its own of `learning_rates`.
    pub(super) fn new(search: RivalSearch<'a>, learning_rates: Vec<f32>, session: &Session<'_>) -> Self {
        Self {
            updater: Updater::new(learning_rates, session),
            search,
            gradients: BatchGradients::default(),
            bounds: SharedBounds::default(),
        }
    }

    /// Looks for rows in this window from now on.
    pub(super) fn set_window(&mut self, rows: RowsHandle<'a>) {
        self.search.rows = rows;
    }

    /// Moves `weights` a step for the rows numbered `batch`, whose rivals come from `source`.
    pub(super) fn learn<P: Posting>(
        &mut self,
        weights: &mut LearnedWeights<P>,
        batch: &[u32],
        source: RivalSource<'_>,
        step: Step,
        session: &Session<'_>,
    ) -> Result<()> {
        let Self {
            search,
            updater,
            gradients,
            bounds,
        } = self;
        let is_scan = matches!(source, RivalSource::Scan(_));
        let others = search.slice.shard().is_some() && search.precision == Precision::Rough;
        if others && is_scan {
            bounds.share(weights, &search.slice, session)?;
        }
        let rows = search.rows.clone();
        let frozen = &*weights;
        // Sorting the batch's tokens is work for one thread: the others need not wait for it.
        let (found, ()) = session.run(|| {
            rayon::join(
                || search.gradients(frozen, batch, source, gradients, session),
                || updater.gather(&rows, batch, step),
            )
        });
        found?;
        updater.apply(weights, gradients, session);
        if others {
            bounds.note(weights, updater.features(), is_scan);
        }
        Ok(())
    }

    /// Tells how many of the strongest rivals of the rows numbered `order` a rough scan finds, and how many
    /// of them `cache` holds; rows of which it holds nothing are taken out.
    pub(super) fn report_recall<P: Posting>(
        &self,
        cache: Option<&RivalCache>,
        weights: &LearnedWeights<P>,
        order: &mut Vec<u32>,
        session: &Session<'_>,
    ) -> Result<()> {
        let recall = recall::of_rough_scan(&self.search, weights, order, session)?;
        session.note(format!("a rough scan finds {recall}"));
        if let Some(cache) = cache {
            order.retain(|&row| cache.has(row as usize));
            let recall = recall::of_cache(&self.search, cache, weights, order, session)?;
            session.note(format!("the rival cache holds {recall}"));
        }
        Ok(())
    }
}
