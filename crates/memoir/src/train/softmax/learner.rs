//! Learning from one batch of rows: rivals and slopes against the weights as they are, then the weights
//! move.

use super::memory::RivalMemory;
use super::recall;
use super::rivals::{RivalSearch, Source};
use super::update::{BatchSlopes, Step, Updater};
use super::weights::Weights;
use crate::sparse::fixed::Posting;
use crate::{Result, Session};

/// Learns from batches, with reusable memory.
pub(super) struct Learner<'a> {
    search: RivalSearch<'a>,
    updater: Updater,
    slopes: BatchSlopes,
}

impl<'a> Learner<'a> {
    /// Each feature moves at its own of `paces`.
    pub(super) fn new(search: RivalSearch<'a>, paces: Vec<f32>, session: &Session<'_>) -> Self {
        Self {
            updater: Updater::new(paces, session),
            search,
            slopes: BatchSlopes::default(),
        }
    }

    /// Moves `weights` a step for the rows numbered `batch`, whose rivals come from `source`.
    pub(super) fn learn<P: Posting>(
        &mut self,
        weights: &mut Weights<P>,
        batch: &[u32],
        source: Source<'_>,
        step: Step,
        session: &Session<'_>,
    ) -> Result<()> {
        let Self {
            search,
            updater,
            slopes,
        } = self;
        let rows = search.rows;
        let frozen = &*weights;
        // Sorting the batch's tokens is work for one thread: the others need not wait for it.
        let (found, ()) = session.run(|| {
            rayon::join(
                || search.slopes(frozen, batch, source, slopes, session),
                || updater.gather(rows, batch, step),
            )
        });
        found?;
        updater.apply(weights, slopes, session);
        Ok(())
    }

    /// Tells how many of the strongest rivals of the rows numbered `order` a rough scan finds, and how many
    /// of them `memory` holds; rows of which it holds nothing are taken out.
    pub(super) fn report_recall<P: Posting>(
        &self,
        memory: Option<&RivalMemory>,
        weights: &Weights<P>,
        order: &mut Vec<u32>,
        session: &Session<'_>,
    ) -> Result<()> {
        let recall = recall::of_rough_scan(&self.search, weights, order, session)?;
        session.note(format!("a rough scan finds {recall}"));
        if let Some(memory) = memory {
            order.retain(|&row| memory.has(row as usize));
            let recall = recall::of_memory(&self.search, memory, weights, order, session)?;
            session.note(format!("the memory of the first pass holds {recall}"));
        }
        Ok(())
    }
}
