//! Dual coordinate descent for one two-class problem after the other on the same rows.
//!
//! All problems of one-vs-rest are nearly the same: a class has few rows, and to every other class they are
//! just some more of the rest. So the problem in which *no* row is positive is solved once, exactly; the
//! problem of a class starts from that solution with its own rows turned around. From then on only what
//! those rows touch has to move, where a start from zero would find the same weights of the rest again for
//! every class.

use memoir::{Error, Result, Session};
use rand::Rng;
use rand::seq::SliceRandom;

use super::loss::Loss;
use super::rows::{Column, Row, ShortRows};
use crate::objective::Objective;

/// Rows between two looks at the cancel flag.
const STRIDE: usize = 1 << 13;

/// Passes over the rows that still move, between two passes over all rows.
const INNER_PASSES: usize = 10;

/// How much more exactly the shared start is solved than the problems of the classes.
const BACKGROUND_PRECISION: f64 = 0.01;

/// What all two-class problems share.
pub(super) struct Problem<'a, L, C: Column> {
    pub(super) rows: &'a ShortRows<C>,
    pub(super) loss: L,
    pub(super) costs: Costs,
    /// Value of the constant feature behind the others; 0 means none.
    pub(super) bias: f64,
    /// A problem is solved when no variable's projected gradient is larger.
    pub(super) tolerance: f64,
    pub(super) max_passes: usize,
}

/// What a unit of loss costs, for each row: `C` times the row's weight.
pub(super) enum Costs {
    /// The same for all rows.
    Same(f32),
    Each(Vec<f32>),
}

impl Costs {
    fn of_row(&self, row: usize) -> f64 {
        f64::from(match self {
            Self::Same(cost) => *cost,
            Self::Each(costs) => costs[row],
        })
    }

    /// The largest of them; 0 if there are no rows.
    pub(super) fn largest(&self) -> f64 {
        f64::from(match self {
            Self::Same(cost) => *cost,
            Self::Each(costs) => costs.iter().copied().fold(0.0, f32::max),
        })
    }
}

/// Where every class starts: the solution of the problem in which no row is positive.
pub(super) struct Background {
    /// `w = -Σ α_i x_i`.
    pub(super) weights: Vec<f64>,
    /// Weight of the constant feature.
    pub(super) bias_weight: f64,
    /// The dual variables, with fewer bits than those of a [`Point`]: as a start they are as good, and they
    /// take half the memory.
    variables: Vec<f32>,
}

/// What dual variables are held in: there is one for each row, and they take more memory than anything else
/// of a [`Point`].
pub(super) trait Variable: Copy + Default + Send {
    fn shorten(value: f64) -> Self;
    fn value(self) -> f64;
}

impl Variable for f32 {
    fn shorten(value: f64) -> Self {
        value as f32
    }

    fn value(self) -> f64 {
        f64::from(self)
    }
}

impl Variable for f64 {
    fn shorten(value: f64) -> Self {
        value
    }

    fn value(self) -> f64 {
        self
    }
}

/// A point of a two-class problem, in dual variables and the weights that follow from them.
#[derive(Debug, Clone, Default)]
pub(super) struct Point<V> {
    /// `w = Σ y_i α_i x_i`.
    pub(super) weights: Vec<f64>,
    /// Weight of the constant feature.
    pub(super) bias_weight: f64,
    /// `y_i α_i`, whose sign is that of `y_i` where `α_i` is 0, too.
    signed_variables: Vec<V>,
    /// Rows that still move, while the descent goes on; kept for its memory.
    active: Vec<u32>,
}

impl<V: Variable> Point<V> {
    fn new(rows: usize, width: usize) -> Self {
        Self {
            weights: vec![0.0; width],
            bias_weight: 0.0,
            signed_variables: vec![V::shorten(-0.0); rows],
            active: Vec::new(),
        }
    }

    fn reset(&mut self, background: &Background) {
        self.weights.clone_from(&background.weights);
        self.bias_weight = background.bias_weight;
        self.signed_variables.clear();
        let negative = background
            .variables
            .iter()
            .map(|&variable| V::shorten(-f64::from(variable)));
        self.signed_variables.extend(negative);
    }

    fn sign(&self, row: usize) -> f64 {
        1f64.copysign(self.signed_variables[row].value())
    }

    fn score<C: Column>(&self, row: Row<'_, C>, bias: f64) -> f64 {
        let products = row
            .iter()
            .map(|(feature, value)| self.weights[feature] * f64::from(value));
        products.sum::<f64>() + self.bias_weight * bias
    }

    fn add<C: Column>(&mut self, row: Row<'_, C>, bias: f64, factor: f64) {
        for (feature, value) in row.iter() {
            self.weights[feature] += factor * f64::from(value);
        }
        self.bias_weight += factor * bias;
    }
}

impl<L: Loss, C: Column> Problem<'_, L, C> {
    /// The solution when no row is positive: where every class starts. Found with the memory of `point`.
    pub(super) fn background<V: Variable>(
        &self,
        point: &mut Point<V>,
        random: &mut impl Rng,
        session: &Session<'_>,
    ) -> Result<Background> {
        *point = Point::new(self.rows.len(), self.rows.width());
        let tolerance = self.tolerance * BACKGROUND_PRECISION;
        self.descend(point, &[], tolerance, random, session)?;
        // Here nearly all rows were active, for classes few are.
        point.active = Vec::new();
        let rounded = point
            .signed_variables
            .iter()
            .map(|variable| -variable.value() as f32);
        let variables: Vec<f32> = rounded.collect();
        // The weights of a point always follow from its variables, so of the rounded ones here.
        point.weights.fill(0.0);
        point.bias_weight = 0.0;
        for (index, &variable) in variables.iter().enumerate() {
            point.add(self.rows.row(index), self.bias, -f64::from(variable));
        }
        Ok(Background {
            weights: point.weights.clone(),
            bias_weight: point.bias_weight,
            variables,
        })
    }

    /// Leaves in `point` the solution in which the rows numbered `positives` are positive and all others
    /// negative.
    pub(super) fn solve<V: Variable>(
        &self,
        background: &Background,
        positives: &[u32],
        point: &mut Point<V>,
        random: &mut impl Rng,
        session: &Session<'_>,
    ) -> Result<()> {
        point.reset(background);
        for &row in positives {
            let index = row as usize;
            let variable = std::mem::replace(&mut point.signed_variables[index], V::shorten(0.0));
            point.add(self.rows.row(index), self.bias, -variable.value());
        }
        self.descend(point, positives, self.tolerance, random, session)
    }

    /// Works on the rows in `first` first, then on all, until no variable is further than `tolerance` from
    /// optimal.
    fn descend<V: Variable>(
        &self,
        point: &mut Point<V>,
        first: &[u32],
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
        let mut active = std::mem::take(&mut point.active);
        active.clear();
        active.extend_from_slice(first);
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
        point.active = active;
        Ok(())
    }

    /// Moves one variable to where it is optimal, unless it nearly is; returns how far it was from that.
    fn improve<V: Variable>(&self, point: &mut Point<V>, index: usize, tolerance: f64) -> f64 {
        let cost = self.costs.of_row(index);
        if cost <= 0.0 {
            return 0.0;
        }
        let row = self.rows.row(index);
        let sign = point.sign(index);
        let variable = point.signed_variables[index].value().abs();
        let margin = sign * point.score(row, self.bias);
        let violation = self.loss.violation(variable, margin, cost);
        if violation > tolerance * 0.1 {
            let squared_norm = f64::from(row.squared_norm() + (self.bias * self.bias) as f32);
            let best = self.loss.best(variable, margin, squared_norm, cost);
            let best = V::shorten(best.copysign(sign));
            point.signed_variables[index] = best;
            // As it was shortened: the weights of a point always follow from its variables.
            point.add(row, self.bias, best.value() - sign * variable);
        }
        violation
    }

    /// Value of the problem at `point`, from above and from below.
    pub(super) fn objective<V: Variable>(&self, point: &Point<V>) -> Objective {
        let half_norm = 0.5
            * (point.weights.iter().map(|weight| weight * weight).sum::<f64>()
                + point.bias_weight * point.bias_weight);
        let mut objective = Objective {
            primal: half_norm,
            dual: -half_norm,
        };
        for index in 0..self.rows.len() {
            let cost = self.costs.of_row(index);
            if cost > 0.0 {
                let margin = point.sign(index) * point.score(self.rows.row(index), self.bias);
                objective.primal += cost * self.loss.at(margin);
                let variable = point.signed_variables[index].value().abs();
                objective.dual -= self.loss.conjugate(variable, cost);
            }
        }
        objective
    }
}
