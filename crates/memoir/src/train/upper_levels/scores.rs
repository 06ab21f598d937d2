//! What rows that were not learned from score with groups mixed in, and how much these should count.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Groups;
use crate::dataset::Dataset;
use crate::model::calibration::{HeldOutScores, SET_CANDIDATES};
use crate::model::{Scorer, Scratch};
use crate::sparse::Scored;
use crate::train::Trained;
use crate::{Session, maths};

/// How much groups may count.
const WEIGHTS: [f32; 4] = [0.05, 0.1, 0.15, 0.2];

/// Standard errors that the gain must exceed. Groups help more often than not, and there may be few rows.
const SURE: f64 = 1.0;

/// Fewer rows than this tell nothing.
pub(in crate::train) const LEAST_ROWS: usize = 100;

/// The best classes and groups of rows that were not learned from.
#[derive(Default)]
pub(super) struct GroupedScores {
    rows: Vec<GroupedRow>,
    /// Their numbers, if they are of the calibration split.
    pub(super) numbers: Vec<u32>,
}

struct GroupedRow {
    known: usize,
    best: Vec<Scored>,
    /// The best groups of each level.
    groups: Vec<Vec<Scored>>,
    labels: Vec<u32>,
}

impl GroupedScores {
    /// Of the calibration split, which is the same for classes and groups where it can be.
    pub(super) fn of_split(trained: &Trained, levels: &[Trained]) -> Self {
        let Some(scores) = &trained.calibration_scores else {
            return Self::default();
        };
        let of_levels: Option<Vec<FxHashMap<u32, &[Scored]>>> = levels
            .iter()
            .map(|level| {
                let rows = level.calibration_scores.as_ref()?.all_rows().map(|row| row.best);
                Some(level.calibration_rows.iter().copied().zip(rows).collect())
            })
            .collect();
        let of_levels = of_levels.unwrap_or_default();
        let (mut rows, mut numbers) = (Vec::new(), Vec::new());
        for (number, row) in trained.calibration_rows.iter().zip(scores.all_rows()) {
            let groups = of_levels.iter().map(|level| Some(level.get(number)?.to_vec()));
            if let Some(groups) = groups.collect::<Option<Vec<_>>>()
                && groups.len() == levels.len()
            {
                numbers.push(*number);
                rows.push(GroupedRow {
                    known: row.known,
                    best: row.best.to_vec(),
                    groups,
                    labels: row.labels.to_vec(),
                });
            }
        }
        Self { rows, numbers }
    }

    pub(super) fn of_held_out(
        scorer: &dyn Scorer,
        levels: &[&dyn Scorer],
        held_out: &Dataset,
        session: &Session<'_>,
    ) -> Self {
        let one = |row: usize| {
            let view = held_out.rows.row(row);
            let top = |scorer: &dyn Scorer| {
                let mut best = Vec::new();
                scorer.top_k(view, SET_CANDIDATES, &mut Scratch::default(), &mut best);
                best
            };
            GroupedRow {
                known: view.len(),
                best: top(scorer),
                groups: levels.iter().map(|level| top(*level)).collect(),
                labels: held_out.labels.row(row).to_vec(),
            }
        };
        let numbers = 0..held_out.len();
        let rows = session.run(|| numbers.into_par_iter().map(one).collect());
        Self {
            rows,
            numbers: Vec::new(),
        }
    }

    /// The scores with the groups mixed in.
    pub(super) fn mixed(&self, levels: &[Groups], weights: &[f32]) -> HeldOutScores {
        let mut scores = HeldOutScores::default();
        for row in &self.rows {
            scores.push(row.known, &row.mixed(levels, weights), &row.labels);
        }
        scores
    }

    /// How much groups should count, all alike; nothing if they do not help.
    pub(super) fn choose_weight(&self, levels: &[Groups]) -> Option<f32> {
        let quality = |weight: f32| -> Vec<f64> {
            let weights = vec![weight; levels.len()];
            let labelled = self.rows.iter().filter(|row| !row.labels.is_empty());
            labelled
                .map(|row| row.reciprocal_rank(levels, &weights))
                .collect()
        };
        let without = quality(0.0);
        if without.len() < LEAST_ROWS {
            return None;
        }
        let mut best = None;
        let mut most = 0.0;
        for weight in WEIGHTS {
            let gains = quality(weight)
                .into_iter()
                .zip(&without)
                .map(|(with, without)| with - without);
            let (gain, error) = mean_and_error(&gains.collect::<Vec<f64>>());
            if gain > SURE * error && gain > most {
                (best, most) = (Some(weight), gain);
            }
        }
        best
    }
}

impl GroupedRow {
    fn mixed(&self, levels: &[Groups], weights: &[f32]) -> Vec<Scored> {
        let mut mixed = self.best.clone();
        for ((groups, level), &weight) in self.groups.iter().zip(levels).zip(weights) {
            let scores: FxHashMap<u32, f32> = groups.iter().map(|group| (group.class, group.score)).collect();
            // Groups that are not among the best have less than these.
            let least = groups.last().map_or(0.0, |group| group.score);
            for scored in &mut mixed {
                let group = level.group_of[scored.class as usize];
                scored.score += weight * scores.get(&group).copied().unwrap_or(least);
            }
        }
        mixed.sort_unstable_by(Scored::order);
        mixed
    }

    /// One divided by the rank of the first right class; 0 if there is none.
    fn reciprocal_rank(&self, levels: &[Groups], weights: &[f32]) -> f64 {
        let mixed = self.mixed(levels, weights);
        let is_right = |scored: &Scored| self.labels.contains(&scored.class);
        mixed
            .iter()
            .position(is_right)
            .map_or(0.0, |rank| 1.0 / (rank + 1) as f64)
    }
}

/// The mean, and its standard error.
pub(in crate::train) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values
        .iter()
        .map(|value| maths::square(value - mean))
        .sum::<f64>()
        / count;
    (mean, (spread / count).sqrt())
}
