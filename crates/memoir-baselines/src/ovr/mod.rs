//! `ovr`: one two-class problem for each class, its rows against all others.
//!
//! For every class `c`, with `y_i` = 1 where row `i` has the label `c` and -1 elsewhere,
//!
//! ```text
//! minimise over w:   ½ |w|² + C Σ_i loss(y_i w·x_i)
//! ```
//!
//! by dual coordinate descent with shrinking: Hsieh, Chang, Lin, Keerthi, Sundararajan, "A Dual Coordinate Descent
//! Method for Large-scale Linear SVM" (ICML 2008) for the squared hinge (LIBLINEAR's `-s 1`); Yu, Huang, Lin, "Dual
//! coordinate descent methods for logistic regression and maximum entropy models" (Machine Learning 85, 2011) for
//! the logistic loss (`-s 7`). Classes are solved in parallel, and each starts from the shared solution of `descent`.
//!
//! Every class finds nearly the same weights for words that have nothing to do with it: those of a class without rows.
//! Their score is the same for all classes and cannot change their order, so the model holds what a class *adds* to
//! them. That, with small weights dropped, is megabytes where the weights themselves are classes times features.
//! Scores are therefore margins relative to a class without rows.

mod descent;
mod loss;
#[cfg(test)]
mod tests;

use memoir::catalogue::Algorithm;
use memoir::model::{Linear, Scorer};
use memoir::params::{Kind, Spec, Values};
use memoir::train::Trainer;
use memoir::{Dataset, Error, Result, Session};
use rayon::prelude::*;

use descent::{Point, Problem};
use loss::{Logistic, Loss, SquaredHinge};

use crate::by_feature::{self, ClassWeights};
use crate::objective::Objective;

/// The algorithm, for a catalogue.
pub const OVR: Algorithm = Algorithm {
    name: "ovr",
    summary: "One linear SVM or logistic regression for each class against the rest, solved as LIBLINEAR does.",
    params: PARAMS,
    build: |values| Ok(Box::new(Ovr::new(values))),
};

const PARAMS: &[Spec] = &[
    Spec {
        name: "loss",
        kind: Kind::Choice(&["squared-hinge", "logistic"]),
        default: "squared-hinge",
        help: "What a row on the wrong side costs",
    },
    Spec {
        name: "cost",
        kind: Kind::Number(1e-6, 1e6),
        default: "1",
        help: "Weight of the loss against the size of the weights (C)",
    },
    Spec {
        name: "bias",
        kind: Kind::Number(0.0, 1e3),
        default: "0",
        help: "Value of a constant feature added to every row; 0 means none",
    },
    Spec {
        name: "tolerance",
        kind: Kind::Number(1e-9, 10.0),
        default: "0.01",
        help: "Stop when no dual variable's projected gradient is larger",
    },
    Spec {
        name: "max-passes",
        kind: Kind::Integer(1, 1_000_000),
        default: "300",
        help: "Passes over all rows after which a class is given up as it is",
    },
    Spec {
        name: "min-weight",
        kind: Kind::Number(0.0, f64::MAX),
        default: "0.1",
        help: "Drop weights whose absolute value is below this",
    },
];

/// Classes between two reports of progress.
const CLASSES_AT_A_TIME: usize = 64;

/// One-vs-rest linear classification. Several labels per row are learned as they are; rows count by their weights.
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
    /// With the parameters of [`OVR`].
    pub fn new(values: &Values) -> Self {
        Self {
            is_logistic: values.word("loss") == Some("logistic"),
            cost: values.number("cost").unwrap_or(1.0),
            bias: values.number("bias").unwrap_or(0.0),
            tolerance: values.number("tolerance").unwrap_or(0.01),
            max_passes: values.integer("max-passes").unwrap_or(300) as usize,
            min_weight: values.number("min-weight").unwrap_or(0.0),
        }
    }

    /// The classifier.
    pub fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Linear> {
        let (weights, biases): (Vec<ClassWeights>, Vec<f32>) = if self.is_logistic {
            self.solve_all(data, Logistic, session, |_, point, start| {
                self.difference(point, start)
            })?
        } else {
            self.solve_all(data, SquaredHinge, session, |_, point, start| {
                self.difference(point, start)
            })?
        }
        .into_iter()
        .unzip();
        let linear = by_feature::linear(&weights, data.rows.width(), session)?;
        Ok(if self.bias > 0.0 {
            linear.with_bias(biases)
        } else {
            linear
        })
    }

    /// The sum of all classes' objectives at the solutions that [`Ovr::fit`] finds, before small weights are dropped.
    pub fn objective(&self, data: &Dataset, session: &Session<'_>) -> Result<Objective> {
        let objectives = if self.is_logistic {
            self.solve_all(data, Logistic, session, |problem, point, _| {
                problem.objective(point)
            })?
        } else {
            self.solve_all(data, SquaredHinge, session, |problem, point, _| {
                problem.objective(point)
            })?
        };
        Ok(objectives
            .into_iter()
            .fold(Objective::default(), |sum, one| sum + one))
    }

    /// Solves the problem of each class and keeps what `harvest` takes from (problem, solution, shared start).
    fn solve_all<L: Loss, T: Send>(
        &self,
        data: &Dataset,
        loss: L,
        session: &Session<'_>,
        harvest: impl Fn(&Problem<'_, L>, &Point, &Point) -> T + Sync,
    ) -> Result<Vec<T>> {
        if data.labels.total() == 0 {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no row has a label".to_owned(),
            ));
        }
        let problem = Problem::new(
            &data.rows,
            loss,
            self.costs(data),
            self.bias,
            self.tolerance,
            self.max_passes,
        );
        let start = problem.background(&mut session.random("ovr: rest"), session)?;
        let members = Members::of(data);
        let classes: Vec<usize> = (0..data.classes.len()).collect();
        let mut harvested = Vec::with_capacity(classes.len());
        for part in classes.chunks(CLASSES_AT_A_TIME) {
            session.progress("training", part[0] as u64, classes.len() as u64, "classes");
            let solved: Vec<T> = session.run(|| {
                part.par_iter()
                    .map_init(Point::default, |point, &class| {
                        let mut random = session.random(&format!("ovr: class {class}"));
                        problem.solve(&start, members.of_class(class), point, &mut random, session)?;
                        Ok(harvest(&problem, point, &start))
                    })
                    .collect::<Result<_>>()
            })?;
            harvested.extend(solved);
        }
        session.progress("training", classes.len() as u64, classes.len() as u64, "classes");
        Ok(harvested)
    }

    /// What a unit of loss of each row costs. A row without a label says nothing about any class.
    fn costs(&self, data: &Dataset) -> Vec<f32> {
        let cost = |row| match &data.weights {
            _ if data.labels.row(row).is_empty() => 0.0,
            Some(weights) => weights[row] * self.cost as f32,
            None => self.cost as f32,
        };
        (0..data.len()).map(cost).collect()
    }

    /// What a class adds to the weights of a class without rows, without what is too small to matter; and to the bias.
    fn difference(&self, point: &Point, start: &Point) -> (ClassWeights, f32) {
        let differences = point.weights.iter().zip(&start.weights);
        let mut weights: ClassWeights = differences
            .enumerate()
            .map(|(feature, (weight, start))| (feature as u32, weight - start))
            .filter(|(_, weight)| *weight != 0.0 && weight.abs() >= self.min_weight)
            .map(|(feature, weight)| (feature, weight as f32))
            .collect();
        weights.shrink_to_fit();
        let bias = (point.bias_weight - start.bias_weight) * self.bias;
        (weights, bias as f32)
    }
}

impl Trainer for Ovr {
    fn train(
        &self,
        data: &Dataset,
        _valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>> {
        Ok(Box::new(self.fit(data, session)?))
    }
}

/// The rows of each class.
struct Members {
    ends: Vec<usize>,
    rows: Vec<u32>,
}

impl Members {
    fn of(data: &Dataset) -> Self {
        let mut ends = Vec::with_capacity(data.classes.len() + 1);
        let mut total = 0;
        ends.push(0);
        // Each end starts as its class's beginning and moves to the end while the rows are filled in.
        for count in data.labels.class_counts(data.classes.len()) {
            ends.push(total);
            total += count as usize;
        }
        let mut rows = vec![0; total];
        for (row, labels) in data.labels.iter().enumerate() {
            for &class in labels {
                let end = &mut ends[class as usize + 1];
                rows[*end] = row as u32;
                *end += 1;
            }
        }
        Self { ends, rows }
    }

    fn of_class(&self, class: usize) -> &[u32] {
        &self.rows[self.ends[class]..self.ends[class + 1]]
    }
}
