//! How good the memory of rivals is as an oracle: what share of the strongest classes it still names at the end.

use super::memory::RivalMemory;
use super::rivals::RivalSearch;
use super::weights::Weights;
use crate::sparse::fixed::{Posting, SearchScratch, search};
use crate::{Result, Session};

/// Rows that are looked at.
const SAMPLE: usize = 2000;

/// Share of the strongest rivals by a scan that are remembered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Recall {
    pub(super) rows: usize,
    pub(super) at_1: f64,
    pub(super) at_10: f64,
    /// Mean number of rivals remembered for a row.
    pub(super) remembered: f64,
}

/// Compares the memory of the first rows in `order` (a random one) with a scan over the weights as they are now.
pub(super) fn measure<P: Posting>(
    rivals: &RivalSearch<'_>,
    memory: &RivalMemory,
    weights: &Weights<P>,
    order: &[u32],
    session: &Session<'_>,
) -> Result<Recall> {
    let mut scratch = SearchScratch::default();
    let (mut found, mut nothing) = (Vec::new(), Vec::new());
    let (mut rows, mut remembered) = (0, 0);
    // Strongest and remembered, among the first rival and among the first ten.
    let (mut first, mut ten) = ((0, 0), (0, 0));
    for (number, &row) in order.iter().take(SAMPLE).enumerate() {
        if number % 64 == 0 {
            session.check()?;
        }
        let labels = rivals.data.labels.row(row as usize);
        let quantized = rivals.rows.row(row as usize);
        search(
            weights,
            quantized,
            10 + labels.len(),
            &mut scratch,
            &mut found,
            &[],
            &mut nothing,
        );
        let known: Vec<u32> = memory.row(row as usize).collect();
        let strongest = found
            .iter()
            .filter(|rival| rival.score > 0 && !labels.contains(&rival.class))
            .map(|rival| known.binary_search(&rival.class).is_ok());
        for (place, hit) in strongest.take(10).enumerate() {
            ten = (ten.0 + 1, ten.1 + usize::from(hit));
            if place == 0 {
                first = (first.0 + 1, first.1 + usize::from(hit));
            }
        }
        rows += 1;
        remembered += known.len();
    }
    let share = |(all, hits): (usize, usize)| if all == 0 { 1.0 } else { hits as f64 / all as f64 };
    Ok(Recall {
        rows,
        at_1: share(first),
        at_10: share(ten),
        remembered: remembered as f64 / rows.max(1) as f64,
    })
}

impl Recall {
    pub(super) fn note(&self) -> String {
        format!(
            "of the strongest rival by a scan {:.1}% are remembered, of the ten strongest {:.1}% ({} rows, {:.1} rivals remembered a row)",
            100.0 * self.at_1,
            100.0 * self.at_10,
            self.rows,
            self.remembered
        )
    }
}
