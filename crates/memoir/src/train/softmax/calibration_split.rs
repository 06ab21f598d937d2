//! Rows that are set aside: the weights learn from all others first, then tell what these score, and only
//! then learn from them. So scores can be calibrated on rows that the weights have not seen, and no row is
//! lost.
//!
//! Equal rows are set aside together: a calibration is to say how sure an answer is for a text that was
//! never seen, and the twin of a row would tell (rightly, or wrongly where texts with several labels were
//! replicated).

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::class_slice::{ClassSlice, Found};
use crate::dataset::{CalibrationSplit, Dataset};
use crate::model::calibration::{HeldOutScores, SET_CANDIDATES};
use crate::sparse::fixed_point::{Answerer, FeatureRows, WEIGHT_UNITS};
use crate::sparse::{RowView, Rows, Scored};
use crate::{Result, Session};

/// How far the weights move for rows that were set aside, as a share of the first step. With a fifth of all
/// rows set aside, this brings back a third to more than half of the accuracy that they are worth.
pub(super) const STEP_SHARE: f32 = 0.25;

/// The rows that wait until the others have been learned from.
pub(super) struct CalibrationRows {
    /// Whether each row waits; empty if none does.
    waits: Vec<bool>,
    /// Rows that would wait if they were not the last of a class.
    last: Vec<u32>,
    /// These classes.
    lost: FxHashSet<u32>,
}

impl CalibrationRows {
    /// Sets rows of `data` aside. No class loses all of its rows; classes may have had some before.
    /// `hashes` tell rows apart; if they are missing, the rows do.
    pub(super) fn choose(data: &Dataset, hashes: Option<&[u64]>, class_counts_before: &[u32]) -> Self {
        let of_rows = || hashes.map_or_else(|| CalibrationSplit::hashes(&data.rows), <[u64]>::to_vec);
        Self::choose_by(of_rows, data, class_counts_before)
    }

    /// As above, with the hashes of the rows that [`CalibrationSplit::hashes`] gives.
    pub(super) fn choose_by(
        hashes: impl FnOnce() -> Vec<u64>,
        data: &Dataset,
        class_counts_before: &[u32],
    ) -> Self {
        let mut choice = CalibrationSplit::of(&data.labels);
        if !class_counts_before.is_empty() {
            // What a row set aside is worth is lost anew in every part.
            choice = choice.halved();
        }
        if choice.is_empty() {
            return Self::empty();
        }
        let mut hashes = hashes();
        // Texts about classes are no rows like those to come: nothing is calibrated by them.
        hashes[data.len() - data.description_rows..].fill(u64::MAX);
        let mut left = data.labels.class_counts(data.classes.len());
        for (left, before) in left.iter_mut().zip(class_counts_before) {
            *left = left.saturating_add(*before);
        }
        for (_, labels) in hashes
            .iter()
            .zip(data.labels.iter())
            .filter(|(hash, _)| choice.has(**hash))
        {
            for &label in labels {
                left[label as usize] -= 1;
            }
        }
        let chosen = || {
            (0u32..)
                .zip(hashes.iter().zip(data.labels.iter()))
                .filter(|row| choice.has(*row.1.0))
        };
        let lost: FxHashSet<u32> = chosen()
            .flat_map(|(_, (_, labels))| labels.iter().copied())
            .filter(|&label| left[label as usize] == 0)
            .collect();
        let needed = |labels: &[u32]| labels.is_empty() || labels.iter().any(|label| lost.contains(label));
        let last: Vec<(u32, u64)> = chosen()
            .filter(|(_, (_, labels))| needed(labels))
            .map(|(row, (&hash, _))| (row, hash))
            .collect();
        let kept: FxHashSet<u64> = last.iter().map(|row| row.1).collect();
        let waits = hashes
            .iter()
            .map(|hash| choice.has(*hash) && !kept.contains(hash));
        Self {
            waits: waits.collect(),
            last: last.into_iter().map(|row| row.0).collect(),
            lost,
        }
    }

    /// No row waits.
    pub(super) fn empty() -> Self {
        Self {
            waits: Vec::new(),
            last: Vec::new(),
            lost: FxHashSet::default(),
        }
    }

    /// The rows that are scored at the end.
    pub(super) fn needed(&self) -> FxHashSet<u32> {
        let waiting = (0u32..).zip(&self.waits).filter(|(_, waits)| **waits);
        waiting
            .map(|(row, _)| row)
            .chain(self.last.iter().copied())
            .collect()
    }

    fn waits(&self, row: usize) -> bool {
        self.waits.get(row).copied().unwrap_or(false)
    }

    /// The rows that wait, or those that do not, in order.
    pub(super) fn rows(&self, rows: usize, waiting: bool) -> Vec<u32> {
        (0..rows as u32)
            .filter(|&row| self.waits(row as usize) == waiting)
            .collect()
    }

    /// How much each row counts in the first weights: not at all if it waits. Nothing if none does.
    pub(super) fn row_weights(&self, data: &Dataset) -> Option<Vec<f32>> {
        let weight = |row: usize| data.weights.as_ref().map_or(1.0, |weights| weights[row]);
        let of_row = |(row, &waits): (usize, &bool)| if waits { 0.0 } else { weight(row) };
        (!self.waits.is_empty()).then(|| self.waits.iter().enumerate().map(of_row).collect())
    }
}

/// The rows that are scored at the end, as they came: others are needed as whole numbers only.
pub(super) struct AsideRows {
    /// Their numbers, rising.
    numbers: Vec<u32>,
    rows: Rows,
}

impl AsideRows {
    /// Of all `rows`; nothing if these are elsewhere.
    pub(super) fn of(split: &CalibrationRows, rows: &Rows) -> Self {
        let mut numbers: Vec<u32> = match rows.len() {
            0 => Vec::new(),
            _ => split.needed().into_iter().collect(),
        };
        numbers.sort_unstable();
        let mut own = Rows::new();
        for &number in &numbers {
            own.push(rows.row(number as usize));
        }
        own.set_width(rows.width());
        Self { numbers, rows: own }
    }

    /// Row number `row` of all.
    pub(super) fn row(&self, row: usize) -> RowView<'_> {
        match self.numbers.binary_search(&(row as u32)) {
            Ok(place) => self.rows.row(place),
            Err(_) => RowView {
                indices: &[],
                values: &[],
            },
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Memory that they take.
    pub(super) fn bytes(&self) -> usize {
        self.rows.entries() * 8 + self.len() * 12
    }
}

/// Rows that are scored before what was found is put down: it takes more memory than what is kept of it.
pub(super) const ROWS_PER_BLOCK: usize = 1 << 12;

/// What the rows set aside score, and those that could not be because a class has no others: without that
/// class, so their answers are wrong, as those for classes that are not in the training data will be.
///
/// Also tells which rows these are. `weights` are those of the slice's classes, and `trim` is what answering
/// leaves out of rows.
pub(super) fn scores<'r>(
    aside: &CalibrationRows,
    (weights, trim): (&impl FeatureRows, f32),
    data: &Dataset,
    row_of: impl Fn(usize) -> RowView<'r> + Sync,
    slice: &ClassSlice<'_>,
    session: &Session<'_>,
) -> Result<(HeldOutScores, Vec<u32>)> {
    let mut rows = aside.rows(data.len(), true);
    rows.extend(&aside.last);
    let wanted = |row: u32| SET_CANDIDATES + data.labels.row(row as usize).len();
    let (mut scores, mut scored_rows) = (HeldOutScores::default(), Vec::with_capacity(rows.len()));
    scores.make_room(rows.len());
    for rows in rows.chunks(ROWS_PER_BLOCK) {
        let (found, units): (Vec<Found>, Vec<f32>) = session.run(|| {
            let one = |answerer: &mut Answerer, &row: &u32| {
                let mut found = Found::default();
                if session.cancel().is_raised() {
                    return (found, 0.0);
                }
                let (best, unit) =
                    answerer.find(weights, WEIGHT_UNITS, row_of(row as usize), trim, wanted(row));
                found.best.extend_from_slice(best);
                (found, unit)
            };
            rows.par_iter().map_init(Answerer::default, one).unzip()
        });
        session.check()?;
        let found = slice.merge(found, |number| wanted(rows[number]), session)?;
        for ((&row, found), unit) in rows.iter().zip(&found).zip(units) {
            let (row, labels) = (row as usize, data.labels.row(row as usize));
            if !labels.is_empty() {
                let is_lost = |class: &u32| labels.contains(class) && aside.lost.contains(class);
                let known = found.best.iter().filter(|found| !is_lost(&found.class));
                let best: Vec<Scored> = known
                    .take(SET_CANDIDATES)
                    .map(|found| found.scored(unit))
                    .collect();
                scores.push(row_of(row).len(), &best, labels);
                scored_rows.push(row as u32);
            }
        }
    }
    Ok((scores, scored_rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_wait_together_and_every_class_keeps_a_row() {
        let mut data = Dataset::default();
        for row in 0..6000u32 {
            // Each row comes twice, with different labels; some classes have one row only.
            let twin = row / 2;
            data.rows
                .push_unsorted(&mut vec![(twin % 50, 1.0), (50 + twin, 1.0)]);
            data.labels
                .push([if row % 7 == 0 { 100 + row } else { row % 10 }]);
        }
        data.classes = (0..6100).map(|class| class.to_string()).collect();
        data.rows.set_width(3050);
        let aside = CalibrationRows::choose(&data, None, &[]);
        let waiting = aside.rows(6000, true);
        assert!((100..330).contains(&waiting.len()), "{}", waiting.len());
        assert!(
            waiting.iter().all(|&row| aside.waits(row as usize ^ 1)),
            "twins wait together"
        );
        assert!(
            waiting.iter().all(|&row| data.labels.row(row as usize)[0] < 100),
            "single rows are needed"
        );
        assert_eq!(aside.rows(6000, false).len(), 6000 - waiting.len());
        let weights = aside.row_weights(&data).unwrap();
        assert_eq!(
            weights.iter().filter(|&&weight| weight == 0.0).count(),
            waiting.len()
        );
        let going_on = CalibrationRows::choose(&data, None, &vec![1; 6100]);
        let waiting = going_on.rows(6000, true);
        assert!(
            going_on.last.is_empty() && waiting.iter().any(|&row| data.labels.row(row as usize)[0] >= 100),
            "every class had a row before"
        );
    }
}
