//! The margin between right and wrong classes, maximised in the dual, one row after the other. What `msvm`
//! and `pd-sparse` share.
//!
//! With `z = W x_i`, the labels `Y_i` of row `i` and its cost `C_i`, both solve
//!
//! ```text
//! minimise over W:   ½ |W|² + l1 |W|_1 + Σ_i C_i max(0, 1 + max_{n not in Y_i} z_n - min_{p in Y_i} z_p)
//! ```
//!
//! whose dual has, for each row, numbers `a_n >= 0` for the wrong classes and `b_p >= 0` for the right ones
//! with equal sums of at most `C_i`. The weights are the soft-thresholded sums `Σ_i (b_i - a_i) x_i`. Each
//! step finds the strongest wrong classes of one row and moves all of the row's variables that are not zero,
//! and those of the classes just found, to the optimum of the problem in them (with `l1` above 0: of an
//! upper bound of it that touches it where they are). Steps never increase the dual objective. Rows that are
//! at their optimum are left alone until the next pass over all.
//!
//! Steps follow each other in a fixed order, so one thread works, however many there are.

mod dual_weights;
mod project;
#[cfg(test)]
mod tests;
mod weights;

use memoir::model::{Linear, TopK};
use memoir::{Dataset, Error, Result, RowView, Scored, Session};
use rand::seq::SliceRandom;

use crate::objective::Objective;
use dual_weights::{DualWeights, RowDuals};
use project::project;
use weights::GrowingWeights;

/// Rows between two looks at the cancel flag.
const STRIDE: usize = 256;

/// Passes over the rows that still move, between two passes over all rows.
const INNER_PASSES: usize = 5;

/// What is to be solved, and how well.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// `C`: weight of the loss.
    pub(crate) cost: f64,
    /// Weight of the absolute size of the weights.
    pub(crate) l1: f64,
    /// Wrong classes that may join a row's variables in one step.
    pub(crate) rivals: usize,
    /// Solved when no variable moves by more than this, in units of the gradient.
    pub(crate) tolerance: f64,
    /// Passes over all rows after which the work ends anyway.
    pub(crate) max_passes: usize,
}

/// A solution in the making.
pub(crate) struct Solver<'a> {
    data: &'a Dataset,
    settings: &'a Settings,
    weights: Weights,
    /// The variables of each row.
    duals: Vec<RowDuals>,
    /// Whether the weights and the variables of each row are those of an earlier solution, and no others.
    is_frozen: bool,
    scratch: StepScratch,
}

/// The weights in the form that takes least memory.
enum Weights {
    /// Without `l1`: sums of rows, made when they are asked for.
    Summed(DualWeights),
    /// With `l1`: the sums themselves, because what is moved towards zero is each of them.
    Stored(GrowingWeights),
}

impl Weights {
    fn scores(&mut self, row: RowView<'_>, duals: &[RowDuals], scores: &mut [f32]) {
        match self {
            Self::Summed(weights) => weights.scores(row, duals, scores),
            Self::Stored(weights) => weights.scores(row, scores),
        }
    }

    fn add(&mut self, row: RowView<'_>, changes: &[(u32, f32)]) {
        match self {
            Self::Summed(weights) => weights.add(row, changes),
            Self::Stored(weights) => weights.add(row, changes),
        }
    }
}

#[derive(Default)]
struct StepScratch {
    scores: Vec<f32>,
    best: TopK,
    found: Vec<Scored>,
    wrong: Vec<u32>,
    negatives: Vec<f64>,
    positives: Vec<f64>,
    changes: Vec<(u32, f32)>,
}

impl<'a> Solver<'a> {
    pub(crate) fn new(data: &'a Dataset, settings: &'a Settings) -> Result<Self> {
        if data.labels.total() == 0 {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no row has a label".to_owned(),
            ));
        }
        let classes = data.classes.len();
        let weights = if settings.l1 > 0.0 {
            Weights::Stored(GrowingWeights::new(
                data.rows.width(),
                classes,
                settings.l1 as f32,
            ))
        } else {
            Weights::Summed(DualWeights::new(&data.rows, classes))
        };
        Ok(Self {
            data,
            settings,
            weights,
            duals: vec![Vec::new(); data.len()],
            is_frozen: false,
            scratch: StepScratch {
                scores: vec![0.0; classes],
                ..StepScratch::default()
            },
        })
    }

    /// Works until the tolerance or the number of passes is reached.
    pub(crate) fn run(&mut self, session: &Session<'_>) -> Result<()> {
        self.run_passes(self.settings.max_passes, session)
    }

    /// Solves the problem again without `l1`, over the weights that are not zero, with margins to the wrong
    /// classes that have a variable: PD-Sparse's post-solve. A step is that of the full row, whose curvature
    /// is an upper bound of the restricted one, so the dual still never falls. Without `l1` there is nothing
    /// to take back.
    pub(crate) fn solve_again(&mut self, passes: usize, session: &Session<'_>) -> Result<()> {
        let Weights::Stored(weights) = &mut self.weights else {
            return Ok(());
        };
        weights.freeze();
        self.is_frozen = true;
        for (index, duals) in self.duals.iter().enumerate() {
            self.weights.add(self.data.rows.row(index), duals);
        }
        self.run_passes(passes, session)
    }

    fn run_passes(&mut self, passes: usize, session: &Session<'_>) -> Result<()> {
        let mut random = session.random("margin: order of rows");
        let mut all: Vec<u32> = (0..self.data.len() as u32).collect();
        let mut active = Vec::new();
        let passes = passes as u64;
        for pass in 0..passes {
            session.progress("training", pass, passes, "passes");
            all.shuffle(&mut random);
            active.clear();
            active.extend_from_slice(&all);
            let mut largest = self.pass(&mut active, session)?;
            if largest <= self.settings.tolerance {
                break;
            }
            for _ in 0..INNER_PASSES {
                if active.is_empty() || largest <= self.settings.tolerance {
                    break;
                }
                active.shuffle(&mut random);
                largest = self.pass(&mut active, session)?;
            }
        }
        session.progress("training", passes, passes, "passes");
        Ok(())
    }

    /// One step for each row of `active`, which keeps those that moved noticeably; returns the largest move.
    fn pass(&mut self, active: &mut Vec<u32>, session: &Session<'_>) -> Result<f64> {
        let mut largest = 0f64;
        let mut kept = 0;
        for next in 0..active.len() {
            if next % STRIDE == 0 {
                session.check()?;
            }
            let row = active[next];
            let moved = self.step(row as usize);
            largest = largest.max(moved);
            if moved > self.settings.tolerance * 0.1 {
                active[kept] = row;
                kept += 1;
            }
        }
        active.truncate(kept);
        Ok(largest)
    }

    fn cost(&self, row: usize) -> f64 {
        let weight = self.data.weights.as_ref().map_or(1.0, |weights| weights[row]);
        self.settings.cost * f64::from(weight)
    }

    /// Moves the variables of one row to their optimum; returns the largest move times the row's squared
    /// length.
    fn step(&mut self, index: usize) -> f64 {
        let row = self.data.rows.row(index);
        let labels = self.data.labels.row(index);
        let squared_norm = f64::from(row.squared_norm());
        let cost = self.cost(index);
        if labels.is_empty() || squared_norm <= 0.0 || cost <= 0.0 {
            return 0.0;
        }
        let StepScratch {
            scores,
            best,
            found,
            wrong,
            negatives,
            positives,
            changes,
        } = &mut self.scratch;
        self.weights.scores(row, &self.duals, scores);
        let duals = &mut self.duals[index];
        found.clear();
        if !self.is_frozen {
            strongest_wrong(scores, labels, self.settings.rivals, best, found);
        }
        wrong.clear();
        wrong.extend(found.iter().map(|scored| scored.class));
        wrong.extend(
            duals
                .iter()
                .map(|dual| dual.0)
                .filter(|class| labels.binary_search(class).is_err()),
        );
        wrong.sort_unstable();
        wrong.dedup();
        let old = |class: u32| match duals.binary_search_by_key(&class, |dual| dual.0) {
            Ok(index) => f64::from(duals[index].1),
            Err(_) => 0.0,
        };
        let score = |class: u32| f64::from(scores[class as usize]);
        negatives.clear();
        negatives.extend(
            wrong
                .iter()
                .map(|&class| -old(class) + (1.0 + score(class)) / squared_norm),
        );
        positives.clear();
        positives.extend(
            labels
                .iter()
                .map(|&class| old(class) - score(class) / squared_norm),
        );
        project(negatives, positives, cost);

        changes.clear();
        let mut moved = 0f32;
        let wrong_values = wrong.iter().zip(negatives.iter().map(|value| -value));
        let right_values = labels.iter().zip(positives.iter().copied());
        let mut values: Vec<(u32, f32)> = wrong_values
            .chain(right_values)
            .map(|(&class, value)| (class, value as f32))
            .collect();
        values.sort_unstable_by_key(|value| value.0);
        for &(class, value) in &values {
            let change = value - old(class) as f32;
            if change != 0.0 {
                changes.push((class, change));
                moved = moved.max(change.abs());
            }
        }
        // Frozen variables stay, so that they may grow again.
        values.retain(|value| self.is_frozen || value.1 != 0.0);
        values.shrink_to_fit();
        *duals = values;
        self.weights.add(row, changes);
        f64::from(moved) * squared_norm
    }

    /// Value of the problem, from above and from below.
    pub(crate) fn objective(&mut self) -> Objective {
        let mut objective = Objective::default();
        // The squared length of summed weights is the sum of scores times variables, row by row.
        let mut of_duals = 0.0;
        for index in 0..self.data.len() {
            let labels = self.data.labels.row(index);
            if labels.is_empty() {
                continue;
            }
            let StepScratch {
                scores, best, found, ..
            } = &mut self.scratch;
            self.weights
                .scores(self.data.rows.row(index), &self.duals, scores);
            for &(class, dual) in &self.duals[index] {
                of_duals += f64::from(dual) * f64::from(scores[class as usize]);
            }
            strongest_wrong(scores, labels, 1, best, found);
            if let Some(rival) = found.first() {
                let weakest = labels.iter().map(|&class| scores[class as usize]);
                let weakest = weakest.fold(f32::INFINITY, f32::min);
                let slack = 1.0 + f64::from(rival.score) - f64::from(weakest);
                objective.primal += self.cost(index) * slack.max(0.0);
            }
            let wrong = self.duals[index].iter().filter(|dual| dual.1 < 0.0);
            objective.dual += wrong.map(|dual| -f64::from(dual.1)).sum::<f64>();
        }
        let (squares, absolutes) = match &self.weights {
            Weights::Summed(_) => (of_duals, 0.0),
            Weights::Stored(weights) => weights.norms(),
        };
        objective.primal += squares / 2.0 + self.settings.l1 * absolutes;
        objective.dual -= squares / 2.0;
        objective
    }

    /// What was found, without the rows it was found on: they can be freed before weights are written down.
    pub(crate) fn into_solution(self) -> Solution {
        Solution {
            weights: self.weights,
            duals: self.duals,
        }
    }
}

/// Weights, in the form that they were found in.
pub(crate) struct Solution {
    weights: Weights,
    duals: Vec<RowDuals>,
}

impl Solution {
    /// The classifier, without weights below `min_weight` in absolute value.
    pub(crate) fn into_linear(self, min_weight: f64) -> Linear {
        match self.weights {
            Weights::Summed(weights) => weights.into_linear(&self.duals, min_weight as f32),
            Weights::Stored(weights) => {
                drop(self.duals);
                weights.into_linear(min_weight as f32)
            }
        }
    }
}

/// Leaves in `found` the classes outside `labels` with the highest scores.
fn strongest_wrong(scores: &[f32], labels: &[u32], count: usize, best: &mut TopK, found: &mut Vec<Scored>) {
    best.reset(count);
    let mut threshold = best.threshold();
    for (class, &score) in scores.iter().enumerate() {
        // Of equal scores the lower class number wins, so a score at the threshold cannot enter any more.
        if score > threshold && labels.binary_search(&(class as u32)).is_err() {
            best.offer(Scored {
                class: class as u32,
                score,
            });
            threshold = best.threshold();
        }
    }
    best.finish(found);
}
