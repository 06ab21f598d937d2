//! `ovr`: one two-class problem for each class, its rows against all others.
//!
//! For every class `c`, with `y_i` = 1 where row `i` has the label `c` and -1 elsewhere,
//!
//! ```text
//! minimise over w:   ½ |w|² + C Σ_i loss(y_i w·x_i)
//! ```
//!
//! by dual coordinate descent with shrinking: Hsieh, Chang, Lin, Keerthi, Sundararajan, "A Dual Coordinate
//! Descent Method for Large-scale Linear SVM" (ICML 2008) for the squared hinge (LIBLINEAR's `-s 1`); Yu,
//! Huang, Lin, "Dual coordinate descent methods for logistic regression and maximum entropy models" (Machine
//! Learning 85, 2011) for the logistic loss (`-s 7`). Classes are solved in parallel, and each starts from
//! the shared solution of `descent`.
//!
//! Every class finds nearly the same weights for words that have nothing to do with it: those of a class
//! without rows. Their score is the same for all classes and cannot change their order, so the model holds
//! what a class *adds* to them. That, with small weights dropped, is megabytes where the weights themselves
//! are classes times features. Scores are therefore margins relative to a class without rows.
//!
//! Besides the rows, little is held in memory: what has been learned waits on disk (`by_feature`), and the
//! rows are given back before it is put together.

mod descent;
mod loss;
mod members;
mod rows;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use memoir::catalogue::AlgorithmParams;
use memoir::model::Linear;
use memoir::params::Kind;
use memoir::train::{TrainRequest, Trained, Trainer};
use memoir::{Dataset, Error, Result, Rows, Session, choices, parameters};
use rayon::prelude::*;

use descent::{Background, Costs, Point, Problem, Variable};
use loss::{Logistic, Loss, SquaredHinge};
use members::Members;
use rows::{Column, ShortRows};

use crate::by_feature::{ClassLists, ClassWeights};
use crate::objective::Objective;

choices! {
    /// What a row on the wrong side costs.
    pub enum OvrLoss {
        /// The square of what is missing to a margin of 1.
        SquaredHinge = "squared-hinge",
        /// The logarithm of how unlikely the label is.
        Logistic = "logistic",
    }
}

parameters! {
    /// Parameters of `ovr`.
    pub struct OvrParams {
        /// What a row on the wrong side costs
        loss: OvrLoss = "squared-hinge";
        /// Weight of the loss against the size of the weights (C)
        cost: f64 = "1" in Kind::Number(1e-6, 1e6);
        /// Value of a constant feature added to every row; 0 means none
        bias: f64 = "1" in Kind::Number(0.0, 1e3);
        /// Stop when no dual variable's projected gradient is larger
        tolerance: f64 = "0.01" in Kind::Number(1e-9, 10.0);
        /// Passes over all rows after which a class is given up as it is
        max_passes: usize = "300" in Kind::Integer(1, 1_000_000);
        /// Drop weights whose absolute value is below this
        min_weight: f64 = "0.1" in Kind::Number(0.0, f64::MAX);
    }
}

impl AlgorithmParams for OvrParams {
    const NAME: &'static str = "ovr";
    const SUMMARY: &'static str =
        "One linear SVM or logistic regression for each class against the rest, solved as LIBLINEAR does.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(Ovr::new(self)))
    }
}

/// Classes for each thread between two reports of progress. What is learned of them is in memory until then.
const CLASSES_AT_A_TIME: usize = 8;

/// With costs of 1, 32 bits do for variables from this tolerance on, with a wide margin: they hold seven
/// digits.
const LEAST_SHORT_TOLERANCE: f64 = 1e-3;

/// One-vs-rest linear classification. Several labels per row are learned as they are; rows count by their
/// weights.
#[derive(Debug, Clone)]
pub struct Ovr {
    is_logistic: bool,
    cost: f64,
    bias: f64,
    tolerance: f64,
    max_passes: usize,
    min_weight: f64,
}

impl Ovr {
    /// With these parameters.
    pub fn new(params: &OvrParams) -> Self {
        Self {
            is_logistic: params.loss == OvrLoss::Logistic,
            cost: params.cost,
            bias: params.bias,
            tolerance: params.tolerance,
            max_passes: params.max_passes,
            min_weight: params.min_weight,
        }
    }

    /// The classifier.
    pub fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Linear> {
        let (lists, biases) = self.learn(data.rows.clone(), data, session)?;
        self.put_together(lists, biases, session)
    }

    /// What is learned of each class, from `rows` in the place of those of `data`.
    fn learn(&self, rows: Rows, data: &Dataset, session: &Session<'_>) -> Result<(ClassLists, Vec<f32>)> {
        // Weights up to this are dropped: errors as large cannot matter either.
        let mut lists = ClassLists::new(rows.width(), self.min_weight as f32);
        let mut biases = Vec::new();
        self.solve_all(rows, data, session, &Differences(self), |(weights, bias)| {
            biases.push(bias);
            lists.push(&weights)
        })?;
        Ok((lists, biases))
    }

    fn put_together(&self, lists: ClassLists, biases: Vec<f32>, session: &Session<'_>) -> Result<Linear> {
        let linear = lists.linear(session)?;
        Ok(if self.bias > 0.0 {
            linear.with_bias(biases)
        } else {
            linear
        })
    }

    /// The sum of all classes' objectives at the solutions that [`Ovr::fit`] finds, before small weights are
    /// dropped.
    pub fn objective(&self, data: &Dataset, session: &Session<'_>) -> Result<Objective> {
        let mut sum = Objective::default();
        self.solve_all(data.rows.clone(), data, session, &Objectives, |one| {
            sum = sum + one;
            Ok(())
        })?;
        Ok(sum)
    }

    /// Solves the problem of each class and hands what `harvest` takes from it to `take`, in the order of
    /// the classes.
    fn solve_all<H: Harvest>(
        &self,
        rows: Rows,
        data: &Dataset,
        session: &Session<'_>,
        harvest: &H,
        take: impl FnMut(H::Crop) -> Result<()>,
    ) -> Result<()> {
        if data.labels.total() == 0 {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no row has a label".to_owned(),
            ));
        }
        if <u16 as Column>::fits(&rows) {
            self.solve_rows(ShortRows::<u16>::new(rows), data, session, harvest, take)
        } else {
            self.solve_rows(ShortRows::<u32>::new(rows), data, session, harvest, take)
        }
    }

    fn solve_rows<C: Column, H: Harvest>(
        &self,
        rows: ShortRows<C>,
        data: &Dataset,
        session: &Session<'_>,
        harvest: &H,
        take: impl FnMut(H::Crop) -> Result<()>,
    ) -> Result<()> {
        let costs = self.costs(data);
        // Variables are as large as the costs, and what is lost of them is the error of a gradient.
        let is_short = self.tolerance >= LEAST_SHORT_TOLERANCE * costs.largest().max(1.0);
        // Logistic loss tells variables apart, close to their cost, that fewer bits cannot.
        if self.is_logistic {
            let problem = self.problem(&rows, Logistic, costs);
            solve_classes::<_, _, f64, _>(&problem, data, session, harvest, take)
        } else if is_short {
            let problem = self.problem(&rows, SquaredHinge, costs);
            solve_classes::<_, _, f32, _>(&problem, data, session, harvest, take)
        } else {
            let problem = self.problem(&rows, SquaredHinge, costs);
            solve_classes::<_, _, f64, _>(&problem, data, session, harvest, take)
        }
    }

    fn problem<'a, L: Loss, C: Column>(
        &self,
        rows: &'a ShortRows<C>,
        loss: L,
        costs: Costs,
    ) -> Problem<'a, L, C> {
        Problem {
            rows,
            loss,
            costs,
            bias: self.bias,
            tolerance: self.tolerance,
            max_passes: self.max_passes,
        }
    }

    /// What a unit of loss of each row costs. A row without a label says nothing about any class.
    fn costs(&self, data: &Dataset) -> Costs {
        let cost = self.cost as f32;
        if data.weights.is_none() && data.labels.iter().all(|labels| !labels.is_empty()) {
            return Costs::Same(cost);
        }
        let of_row = |(row, labels): (usize, &[u32])| match &data.weights {
            _ if labels.is_empty() => 0.0,
            Some(weights) => weights[row] * cost,
            None => cost,
        };
        Costs::Each(data.labels.iter().enumerate().map(of_row).collect())
    }
}

/// Solves the problem of each class, with variables held in `V`; see [`Ovr::solve_all`].
fn solve_classes<L: Loss, C: Column, V: Variable, H: Harvest>(
    problem: &Problem<'_, L, C>,
    data: &Dataset,
    session: &Session<'_>,
    harvest: &H,
    mut take: impl FnMut(H::Crop) -> Result<()>,
) -> Result<()> {
    let mut first_point = Point::<V>::default();
    let start = problem.background(&mut first_point, &mut session.random("ovr: rest"), session)?;
    let mut points = vec![Mutex::new(first_point)];
    points.resize_with(session.threads(), Mutex::default);
    let classes = data.classes.len();
    let at_a_time = CLASSES_AT_A_TIME * session.threads();
    for first in (0..classes).step_by(at_a_time) {
        session.progress("training", first as u64, classes as u64, "classes");
        let part: Range<usize> = first..classes.min(first + at_a_time);
        let members = Members::of(&data.labels, part.clone());
        let solved: Vec<H::Crop> = session.run(|| {
            part.into_par_iter()
                .map(|class| {
                    let thread = rayon::current_thread_index().unwrap_or(0);
                    let mut point = points[thread].lock().unwrap_or_else(PoisonError::into_inner);
                    let mut random = session.random(&format!("ovr: class {class}"));
                    problem.solve(&start, members.of_class(class), &mut point, &mut random, session)?;
                    Ok(harvest.harvest(problem, &point, &start))
                })
                .collect::<Result<_>>()
        })?;
        solved.into_iter().try_for_each(&mut take)?;
    }
    session.progress("training", classes as u64, classes as u64, "classes");
    Ok(())
}

/// What is kept of the solution of a class.
trait Harvest: Sync {
    type Crop: Send;

    fn harvest<L: Loss, C: Column, V: Variable>(
        &self,
        problem: &Problem<'_, L, C>,
        point: &Point<V>,
        start: &Background,
    ) -> Self::Crop;
}

/// Values of the problems.
struct Objectives;

impl Harvest for Objectives {
    type Crop = Objective;

    fn harvest<L: Loss, C: Column, V: Variable>(
        &self,
        problem: &Problem<'_, L, C>,
        point: &Point<V>,
        _: &Background,
    ) -> Objective {
        problem.objective(point)
    }
}

/// What a class adds to the weights of a class without rows, without what is too small to matter; and to the
/// bias.
struct Differences<'a>(&'a Ovr);

impl Harvest for Differences<'_> {
    type Crop = (ClassWeights, f32);

    fn harvest<L: Loss, C: Column, V: Variable>(
        &self,
        _: &Problem<'_, L, C>,
        point: &Point<V>,
        start: &Background,
    ) -> (ClassWeights, f32) {
        let Differences(ovr) = self;
        let differences = || {
            let weights = point.weights.iter().zip(&start.weights);
            weights
                .enumerate()
                .map(|(feature, (weight, start))| (feature as u32, weight - start))
                .filter(|(_, weight)| *weight != 0.0 && weight.abs() >= ovr.min_weight)
        };
        // Counted first: lists that grow, one after the other, leave holes behind that none of the later
        // ones fits in.
        let mut weights = ClassWeights::with_capacity(differences().count());
        weights.extend(differences().map(|(feature, weight)| (feature, weight as f32)));
        let bias = (point.bias_weight - start.bias_weight) * ovr.bias;
        (weights, bias as f32)
    }
}

impl Trainer for Ovr {
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        let mut data = request.data;
        let rows = std::mem::take(&mut data.rows);
        let (lists, biases) = self.learn(rows, &data, session)?;
        // Nothing of the rows is needed any more.
        drop(data);
        Ok(Trained::new(self.put_together(lists, biases, session)?))
    }
}
