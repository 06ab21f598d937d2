//! The calibration split: which rows are scored before they are learned from. Decided by what is in a row
//! alone, because two places must agree on it: the weighting of features, which must not know the labels of
//! these rows, and the training that leaves them for last.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::LabelSets;
use crate::sparse::Rows;

/// With fewer rows than this none can be spared.
const LEAST_DATA: usize = 2000;

/// Rows set aside, about: fewer cannot be calibrated by, more would not make a calibration better.
const FEWEST: usize = 120;
const MOST: usize = 1000;

/// As [`MOST`], where classes have [`MANY_ROWS`] rows on average: there they are hardly missed.
const MOST_OF_MANY: usize = 2500;
const MANY_ROWS: usize = 30;

/// One in so many rows is set aside, within these limits.
const ONE_IN: usize = 25;

/// A choice of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CalibrationSplit {
    /// Rows whose hash is below are set aside.
    limit: u64,
}

impl CalibrationSplit {
    /// The choice for rows with these labels.
    pub(crate) fn of(labels: &LabelSets) -> Self {
        let rows = labels.len();
        if rows < LEAST_DATA {
            return Self { limit: 0 };
        }
        let classes = labels
            .iter()
            .flatten()
            .max()
            .map_or(1, |&class| class as usize + 1);
        let most = if rows / classes >= MANY_ROWS {
            MOST_OF_MANY
        } else {
            MOST
        };
        let wanted = (rows / ONE_IN).clamp(FEWEST, most);
        Self {
            limit: (wanted as f64 / rows as f64 * u64::MAX as f64) as u64,
        }
    }

    /// Half as many rows.
    pub(crate) fn halved(self) -> Self {
        Self {
            limit: self.limit / 2,
        }
    }

    /// Whether no row is set aside.
    pub(crate) fn is_empty(self) -> bool {
        self.limit == 0
    }

    /// What decides about each row: equal for rows with the same features, so that they are set aside
    /// together.
    pub(crate) fn hashes(rows: &Rows) -> Vec<u64> {
        let hash = |row| xxh3_64(bytemuck::cast_slice(rows.row(row).indices));
        (0..rows.len()).into_par_iter().map(hash).collect()
    }

    /// Whether rows with this hash are set aside.
    pub(crate) fn has(self, hash: u64) -> bool {
        hash < self.limit
    }
}
