//! How good the inexact searches for rivals are: what share of the strongest classes, by an exact scan, they
//! name at the end of training.

use std::fmt;

use super::rival_cache::RivalCache;
use super::rivals::RivalSearch;
use super::weights::LearnedWeights;
use crate::sparse::fixed_point::{
    FixedScore, Posting, QuantizedRow, RivalQuery, SearchScratch, SumScale, search, search_rivals,
};
use crate::{Result, Session};

/// Rows that are looked at.
const SAMPLE: usize = 2000;

/// The strongest rivals that are looked for.
const STRONGEST: usize = 10;

/// Share of the strongest rivals by an exact scan that are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Recall {
    pub(super) rows: usize,
    pub(super) at_1: f64,
    pub(super) at_10: f64,
    /// Mean number of rivals found for a row.
    pub(super) found: f64,
}

/// What a scan with short sums finds, for the first rows in `order` (a random one) and the weights as they
/// are now.
pub(super) fn of_rough_scan<P: Posting>(
    rivals: &RivalSearch<'_>,
    weights: &LearnedWeights<P>,
    order: &[u32],
    session: &Session<'_>,
) -> Result<Recall> {
    let (mut rough, mut exact) = (SearchScratch::<i16>::default(), SearchScratch::<i32>::default());
    let (mut found, mut scores) = (Vec::new(), Vec::new());
    measure(rivals, weights, order, session, |row, quantized| {
        let labels = rivals.data.labels.row(row);
        let scale = weights.rough_scale(quantized);
        let query = RivalQuery {
            row: quantized,
            scale: scale.unwrap_or(SumScale::EXACT),
            labels,
            rivals: STRONGEST,
        };
        if scale.is_some() {
            search_rivals(weights, query, &mut rough, &mut found, &mut scores);
        } else {
            search_rivals(weights, query, &mut exact, &mut found, &mut scores);
        }
        found.iter().map(|rival| rival.class).collect()
    })
}

/// What is cached, as above.
pub(super) fn of_cache<P: Posting>(
    rivals: &RivalSearch<'_>,
    cache: &RivalCache,
    weights: &LearnedWeights<P>,
    order: &[u32],
    session: &Session<'_>,
) -> Result<Recall> {
    measure(rivals, weights, order, session, |row, _| cache.row(row).collect())
}

/// Compares the classes, rising, that `known` names for a row with an exact scan.
fn measure<P: Posting>(
    rivals: &RivalSearch<'_>,
    weights: &LearnedWeights<P>,
    order: &[u32],
    session: &Session<'_>,
    mut known: impl FnMut(usize, QuantizedRow<'_>) -> Vec<u32>,
) -> Result<Recall> {
    let mut scratch = SearchScratch::default();
    let (mut found, mut nothing): (Vec<FixedScore>, _) = (Vec::new(), Vec::new());
    let (mut rows, mut all) = (0, 0);
    // Strongest and known, among the first rival and among the first ten.
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
            STRONGEST + labels.len(),
            &mut scratch,
            &mut found,
            &[],
            &mut nothing,
        );
        let known = known(row as usize, quantized);
        let strongest = found
            .iter()
            .filter(|rival| rival.score > 0 && !labels.contains(&rival.class))
            .map(|rival| known.binary_search(&rival.class).is_ok());
        for (index, hit) in strongest.take(STRONGEST).enumerate() {
            ten = (ten.0 + 1, ten.1 + usize::from(hit));
            if index == 0 {
                first = (first.0 + 1, first.1 + usize::from(hit));
            }
        }
        rows += 1;
        all += known.len();
    }
    let share = |(all, hits): (usize, usize)| if all == 0 { 1.0 } else { hits as f64 / all as f64 };
    Ok(Recall {
        rows,
        at_1: share(first),
        at_10: share(ten),
        found: all as f64 / rows.max(1) as f64,
    })
}

impl fmt::Display for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1}% of the strongest rivals by an exact scan, {:.1}% of the ten strongest ({} rows, {:.1} rivals a row)",
            100.0 * self.at_1,
            100.0 * self.at_10,
            self.rows,
            self.found
        )
    }
}
