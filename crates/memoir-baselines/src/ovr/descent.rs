//! Dual coordinate descent for one two-class problem after the other on the same rows.
//!
//! All problems of one-vs-rest are nearly the same: a class has few rows, and to every other class they are just some
//! more of the rest. So the problem in which *no* row is positive is solved once, exactly; the problem of a class starts
//! from that solution with its own rows turned around. From then on only what those rows touch has to move, where a
//! start from zero would find the same weights of the rest again for every class.

use memoir::sparse::{RowView, Rows};
use memoir::{Error, Result, Session};
use rand::Rng;
use rand::seq::SliceRandom;

use super::loss::Loss;
use crate::objective::Objective;

/// Rows between two looks at the cancel flag.
const STRIDE: usize = 1 << 13;

/// Passes over the rows that still move, between two passes over all rows.
const INNER_PASSES: usize = 10;

/// How much more exactly the shared start is solved than the problems of the classes.
const BACKGROUND_PRECISION: f64 = 0.01;

/// What all two-class problems share.
pub(super) struct Problem<'a, L> {
    rows: &'a Rows,
    loss: L,
    /// What a unit of loss costs, for each row: `C` times the row's weight.
    costs: Vec<f32>,
    squared_norms: Vec<f32>,
    /// Value of the constant feature behind the others; 0 means none.
    bias: f64,
    /// A problem is solved when no variable's projected gradient is larger.
    tolerance: f64,
    max_passes: usize,
}

/// A point of a two-class problem, in dual variables and the weights that follow from them.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    /// `w = Σ y_i α_i x_i`.
    pub(super) weights: Vec<f64>,
    /// Weight of the constant feature.
    pub(super) bias_weight: f64,
    variables: Vec<f64>,
    is_positive: Vec<bool>,
}

impl Point {
    fn new(rows: usize, width: usize) -> Self {
        Self {
            weights: vec![0.0; width],
            bias_weight: 0.0,
            variables: vec![0.0; rows],
            is_positive: vec![false; rows],
        }
    }

    fn sign(&self, row: usize) -> f64 {
        if self.is_positive[row] { 1.0 } else { -1.0 }
    }

    fn score(&self, row: RowView<'_>, bias: f64) -> f64 {
        let products = row
            .iter()
            .map(|(feature, value)| self.weights[feature as usize] * f64::from(value));
        products.sum::<f64>() + self.bias_weight * bias
    }

    fn add(&mut self, row: RowView<'_>, bias: f64, factor: f64) {
        for (feature, value) in row.iter() {
            self.weights[feature as usize] += factor * f64::from(value);
        }
        self.bias_weight += factor * bias;
    }
}

impl<'a, L: Loss> Problem<'a, L> {
    pub(super) fn new(
        rows: &'a Rows,
        loss: L,
        costs: Vec<f32>,
        bias: f64,
        tolerance: f64,
        max_passes: usize,
    ) -> Self {
        let squared_norms = rows.iter().map(RowView::squared_norm);
        Self {
            squared_norms: squared_norms.map(|norm| norm + (bias * bias) as f32).collect(),
            rows,
            loss,
            costs,
            bias,
            tolerance,
            max_passes,
        }
    }

    /// The solution when no row is positive: where every class starts.
    pub(super) fn background(&self, random: &mut impl Rng, session: &Session<'_>) -> Result<Point> {
        let mut point = Point::new(self.rows.len(), self.rows.width());
        let tolerance = self.tolerance * BACKGROUND_PRECISION;
        self.descend(&mut point, Vec::new(), tolerance, random, session)?;
        Ok(point)
    }

    /// Leaves in `point` the solution in which the rows numbered `positives` are positive and all others negative.
    pub(super) fn solve(
        &self,
        background: &Point,
        positives: &[u32],
        point: &mut Point,
        random: &mut impl Rng,
        session: &Session<'_>,
    ) -> Result<()> {
        point.clone_from(background);
        for &row in positives {
            let index = row as usize;
            let variable = std::mem::take(&mut point.variables[index]);
            point.add(self.rows.row(index), self.bias, variable);
            point.is_positive[index] = true;
        }
        self.descend(point, positives.to_vec(), self.tolerance, random, session)
    }

    /// Works on the rows in `active` first, then on all, until no variable is further than `tolerance` from optimal.
    fn descend(
        &self,
        point: &mut Point,
        mut active: Vec<u32>,
        tolerance: f64,
        random: &mut impl Rng,
        session: &Session<'_>,
    ) -> Result<()> {
        let mut since_check = 0;
        let mut is_cancelled = move || {
            since_check += 1;
            since_check % STRIDE == 0 && session.cancel().is_raised()
        };
        session.check()?;
        for _ in 0..self.max_passes {
            for _ in 0..INNER_PASSES {
                if active.is_empty() {
                    break;
                }
                active.shuffle(random);
                let mut kept = 0;
                for next in 0..active.len() {
                    if is_cancelled() {
                        return Err(Error::Cancelled);
                    }
                    let row = active[next];
                    // Shrinking: a row that hardly moves is left alone until the next pass over all rows.
                    if self.improve(point, row as usize, tolerance) > tolerance * 0.5 {
                        active[kept] = row;
                        kept += 1;
                    }
                }
                active.truncate(kept);
            }
            let mut largest = 0f64;
            active.clear();
            for row in 0..self.rows.len() {
                if is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let violation = self.improve(point, row, tolerance);
                if violation > tolerance * 0.5 {
                    active.push(row as u32);
                    largest = largest.max(violation);
                }
            }
            if largest <= tolerance {
                break;
            }
        }
        Ok(())
    }

    /// Moves one variable to where it is optimal, unless it nearly is; returns how far it was from that.
    fn improve(&self, point: &mut Point, index: usize, tolerance: f64) -> f64 {
        let cost = f64::from(self.costs[index]);
        if cost <= 0.0 {
            return 0.0;
        }
        let row = self.rows.row(index);
        let sign = point.sign(index);
        let variable = point.variables[index];
        let margin = sign * point.score(row, self.bias);
        let step = self
            .loss
            .step(variable, margin, f64::from(self.squared_norms[index]), cost);
        if step.violation > tolerance * 0.1 {
            point.variables[index] = step.value;
            point.add(row, self.bias, sign * (step.value - variable));
        }
        step.violation
    }

    /// Value of the problem at `point`, from above and from below.
    pub(super) fn objective(&self, point: &Point) -> Objective {
        let half_norm = 0.5
            * (point.weights.iter().map(|weight| weight * weight).sum::<f64>()
                + point.bias_weight * point.bias_weight);
        let mut objective = Objective {
            primal: half_norm,
            dual: -half_norm,
        };
        for (index, row) in self.rows.iter().enumerate() {
            let cost = f64::from(self.costs[index]);
            if cost > 0.0 {
                let margin = point.sign(index) * point.score(row, self.bias);
                objective.primal += cost * self.loss.at(margin);
                objective.dual -= self.loss.conjugate(point.variables[index], cost);
            }
        }
        objective
    }
}
