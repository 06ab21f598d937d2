//! Texts that are learned from in several views ([`TextParams::views`]): one scorer for each, averaged.
//!
//! Blocks are scaled apart from each other, so a view's row is the whole row with the values of each block
//! multiplied by a number, 0 where the view lacks the block. A scorer of a view is therefore one of whole
//! rows with its weights multiplied by these numbers, and the average of linear scorers is a linear scorer:
//! it answers as fast as one that was learned at once.
//!
//! [`TextParams::views`]: crate::text::TextParams::views

use rustc_hash::FxHashMap;

use super::{TrainRequest, Trained};
use crate::catalogue::Method;
use crate::dataset::{CalibrationSplit, Dataset};
use crate::model::calibration::{HeldOutScores, SET_CANDIDATES};
use crate::model::{Scorer, averaged};
use crate::prepare::{DiskRows, PrepOptions};
use crate::sparse::{Rows, Scored};
use crate::text::{Preprocessing, factor_of, view_rows};
use crate::{Error, Result, Session};

/// A row's entry takes as many bytes: its feature and its value.
const ENTRY_BYTES: u64 = 8;

/// Rows may take this share of a memory budget beside those of a view that is learned from.
const SHARE_OF_BUDGET: u64 = 4;

/// An error if views are asked for and `method` cannot learn from them.
pub(super) fn check_views(method: &Method, prep: &PrepOptions) -> Result<()> {
    if prep.views || prep.text.views.is_empty() {
        return Ok(());
    }
    Err(Error::Parameter(format!(
        "`blocks` has a `/`, but `{}` learns from all blocks of a text at once; `softmax` learns from views, \
         unless `keep-rows` or `effort` low are given",
        method.name()
    )))
}

/// The views of a text model.
pub(super) struct Views<'a> {
    /// For each view, what the values of each block are multiplied by.
    factors: Vec<Vec<f32>>,
    block_of_feature: &'a [u8],
}

impl<'a> Views<'a> {
    /// The views that a model is to be learned in, if there are several. One that is continued goes on with
    /// all blocks at once.
    pub(super) fn of(
        request: &TrainRequest<'_>,
        preprocessing: &'a Preprocessing,
        session: &Session<'_>,
    ) -> Option<Self> {
        let factors = preprocessing.text()?.params.view_factors();
        if factors.is_empty() || request.base_model.is_some() {
            return None;
        }
        let bytes = request.data.rows.entries() as u64 * ENTRY_BYTES;
        if session
            .memory_budget()
            .is_some_and(|budget| bytes > budget / SHARE_OF_BUDGET)
        {
            session.note("all blocks of the text are learned from at once, to save memory");
            return None;
        }
        Some(Self {
            factors,
            block_of_feature: &preprocessing.weighting.block_of_feature,
        })
    }

    /// Learns from each view by itself and averages the results.
    pub(super) fn train(
        &self,
        method: &Method,
        request: TrainRequest<'_>,
        session: &Session<'_>,
    ) -> Result<Trained> {
        let TrainRequest {
            mut data,
            held_out,
            on_disk,
            shard,
            held_bytes,
            file_bytes,
            bytes_before,
            ..
        } = request;
        // Rows that are told apart by all blocks together may be alike in one view.
        let (hashes, known, width) = match on_disk {
            None => {
                let hashes = session.run(|| CalibrationSplit::hashes(&data.rows));
                let known: Vec<u32> = data.rows.iter().map(|row| row.len() as u32).collect();
                (hashes, known, data.rows.width())
            }
            Some(rows) => {
                let known = rows.lengths(session)?;
                (rows.disk.take_hashes(), known, rows.preprocessing.features())
            }
        };
        let held_bytes = held_bytes + on_disk.map_or(0, |_| (hashes.len() * 8 + known.len() * 4) as u64);
        let rest = session.without_checkpoints()?;
        let mut learned: Vec<Trained> = Vec::with_capacity(self.factors.len());
        for view in 0..self.factors.len() {
            let is_last = view + 1 == self.factors.len();
            let rows = self.rows(view, &data.rows);
            if is_last {
                data.rows = Rows::new();
            }
            let held_out = held_out.map(|held_out| self.dataset(view, held_out));
            let weights = learned.iter().filter_map(|part| part.scorer.weight_storage());
            let held = weights
                .map(|(weights, _)| weights as u64 * ENTRY_BYTES)
                .sum::<u64>()
                + data.rows.entries() as u64 * ENTRY_BYTES;
            let request = TrainRequest {
                data: with_rows(&data, rows),
                held_out: held_out.as_ref(),
                on_disk: on_disk.map(|rows| DiskRows {
                    view: Some(&self.factors[view]),
                    ..rows
                }),
                shard,
                held_bytes: held_bytes + held,
                file_bytes,
                bytes_before,
                split_hashes: Some(&hashes),
                ..TrainRequest::new(Dataset::default())
            };
            // A checkpoint is of the first view. What follows is learned anew.
            let session = if view == 0 { session } else { &rest };
            learned.push(method.trainer().train(request, session)?);
        }
        if shard.is_some_and(|shard| shard.index() > 0) {
            return Ok(learned.swap_remove(0));
        }
        let scores = averaged_scores(&learned, &known);
        let parts: Vec<&dyn Scorer> = learned.iter().map(|part| &*part.scorer).collect();
        let share = 1.0 / parts.len() as f32;
        let scorer = averaged(&parts, width, |view, feature| share * self.factor(view, feature));
        let first = learned.swap_remove(0);
        Ok(Trained {
            scorer,
            calibration_scores: first.calibration_scores.as_ref().and(Some(scores)),
            ..first
        })
    }

    fn factor(&self, view: usize, feature: u32) -> f32 {
        factor_of(&self.factors[view], self.block_of_feature, feature)
    }

    /// The rows as a view has them.
    fn rows(&self, view: usize, rows: &Rows) -> Rows {
        view_rows(rows, &self.factors[view], self.block_of_feature)
    }

    fn dataset(&self, view: usize, data: &Dataset) -> Dataset {
        with_rows(data, self.rows(view, &data.rows))
    }
}

/// `data` with other rows.
fn with_rows(data: &Dataset, rows: Rows) -> Dataset {
    Dataset {
        rows,
        labels: data.labels.clone(),
        classes: data.classes.clone(),
        weights: data.weights.clone(),
        description_rows: data.description_rows,
    }
}

/// What the rows of the calibration split score on average. They are the same in all views. `known` tells
/// how many features each row has.
fn averaged_scores(learned: &[Trained], known: &[u32]) -> HeldOutScores {
    let of_views: Vec<FxHashMap<u32, &[Scored]>> = learned
        .iter()
        .map(|part| {
            let rows = part.calibration_scores.iter().flat_map(HeldOutScores::all_rows);
            let best = rows.map(|row| row.best);
            part.calibration_rows.iter().copied().zip(best).collect()
        })
        .collect();
    let share = 1.0 / learned.len() as f32;
    let first = &learned[0];
    let rows = first.calibration_scores.iter().flat_map(HeldOutScores::all_rows);
    let mut averages = HeldOutScores::default();
    for (number, row) in first.calibration_rows.iter().zip(rows) {
        let lists: Vec<&[Scored]> = of_views
            .iter()
            .map(|view| view.get(number).copied().unwrap_or(&[]))
            .collect();
        averages.push(
            known[*number as usize] as usize,
            &average_best(&lists, share),
            row.labels,
        );
    }
    averages
}

/// The average of several lists of best classes. A class that a full list lacks has at most the score of its
/// last, and gets that.
pub(crate) fn average_best(lists: &[&[Scored]], share: f32) -> Vec<Scored> {
    let least: Vec<f32> = lists
        .iter()
        .map(|list| match list.last() {
            Some(last) if list.len() >= SET_CANDIDATES => last.score,
            _ => 0.0,
        })
        .collect();
    let all_least: f32 = least.iter().sum();
    let mut sums: FxHashMap<u32, f32> = FxHashMap::default();
    for (list, least) in lists.iter().zip(&least) {
        for scored in *list {
            *sums.entry(scored.class).or_insert(all_least) += scored.score - least;
        }
    }
    let mut best: Vec<Scored> = sums
        .into_iter()
        .map(|(class, sum)| Scored {
            class,
            score: share * sum,
        })
        .collect();
    best.sort_unstable_by(Scored::order);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_missing_in_a_full_list_get_its_least_score() {
        let scored = |class: u32, score: f32| Scored { class, score };
        let full: Vec<Scored> = (0..SET_CANDIDATES as u32)
            .map(|class| scored(class, 10.0 - class as f32 * 0.1))
            .collect();
        let least = full[SET_CANDIDATES - 1].score;
        let best = average_best(&[&full, &[scored(3, 7.0), scored(999, 30.0)]], 0.5);
        assert_eq!((best[0].class, best[0].score), (999, 0.5 * (30.0 + least)));
        let third = best.iter().find(|scored| scored.class == 3).unwrap();
        assert!((third.score - 0.5 * (full[3].score + 7.0)).abs() < 1e-5);
        // The second list is not full, so what it lacks scores nothing there.
        let first = best.iter().find(|scored| scored.class == 0).unwrap();
        assert!((first.score - 5.0).abs() < 1e-5);
    }
}
