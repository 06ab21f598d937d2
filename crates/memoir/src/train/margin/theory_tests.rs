//! Theorems 2 and 3 on a small convex problem, with an oracle that is inexact on purpose.

use super::tests::{separable, session, settings, start, weights};
use super::*;
use crate::dataset::Dataset;
use crate::eval::theory::{Theorem2, Theorem3};
use crate::model::{Linear, Scratch};
use crate::oracle::{Exact, Oracle, Query};
use crate::sparse::{ClassVectors, Scored};

/// Answers with the weakest class whose score is at most `epsilon` below the best: as bad as an (epsilon, 0)
/// inexact margin may be.
struct Inexact {
    exact: Exact,
    epsilon: f64,
}

impl Inexact {
    fn new(epsilon: f64) -> Self {
        let exact = Exact::default();
        Self { exact, epsilon }
    }
}

impl Oracle<ClassRows> for Inexact {
    fn name(&self) -> &'static str {
        "inexact"
    }

    fn update(&mut self, weights: &ClassRows, changed: &[u32], session: &Session<'_>) -> Result<()> {
        self.exact.update(weights, changed, session)
    }

    fn search(
        &self,
        weights: &ClassRows,
        query: &Query<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<Scored>,
    ) -> usize {
        let every = Query {
            k: weights.classes(),
            ..*query
        };
        let inner_products = self.exact.search(weights, &every, scratch, out);
        let Some(best) = out.first().copied() else {
            return inner_products;
        };
        let gap = |rival: &Scored| weights.multiplier() * f64::from(best.score - rival.score);
        let allowed = out.partition_point(|rival| gap(rival) <= self.epsilon);
        out.truncate(allowed);
        out.drain(..allowed - 1);
        inner_products
    }
}

/// Rows of unit length, 8 classes.
fn problem() -> Dataset {
    let mut data = separable(8, 80);
    data.rows.par_for_each_mut(|_, values| {
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        for value in values {
            *value /= length;
        }
    });
    data
}

/// Mean hinge loss.
fn loss(linear: &Linear, data: &Dataset) -> f64 {
    let losses = data.rows.iter().zip(data.labels.iter()).map(|(row, labels)| {
        let scores = linear.scores(row);
        let label = labels[0] as usize;
        let rivals = scores.iter().enumerate().filter(|(class, _)| *class != label);
        let best = rivals.map(|(_, score)| *score).fold(f32::MIN, f32::max);
        f64::from(1.0 + best - scores[label]).max(0.0)
    });
    losses.sum::<f64>() / data.len() as f64
}

fn sum(linear: &Linear, of: impl Fn(f64) -> f64) -> f64 {
    let all = weights(linear);
    all.iter()
        .flatten()
        .map(|(_, weight)| of(f64::from(*weight)))
        .sum()
}

/// The mean of the iterations' weights, in batches of one as the theorems assume.
fn mean(
    penalty: Penalty,
    given: &[(&str, &str)],
    data: &Dataset,
    oracle: &mut dyn Oracle<ClassRows>,
) -> Linear {
    let always = [
        ("batch-size", "1"),
        ("margin-test", "on"),
        ("average", "on"),
        ("prediction", "dot"),
        ("sampling", "uniform"),
    ];
    let (settings, _) = settings(penalty, &[&always[..], given].concat());
    descent::descend(&settings, start(data), oracle, data, None, &session(1)).unwrap()
}

const EPSILON: f64 = 0.05;

#[test]
fn the_mean_of_the_iterations_obeys_theorem_2_with_an_inexact_oracle() {
    let data = problem();
    let (lambda, steps) = (0.05, 8000);
    // A huge decay makes eta_t = 1 / (lambda t) within a part in a million, as the theorem assumes.
    let text = [steps.to_string(), lambda.to_string(), (1e6 / lambda).to_string()];
    let given = [
        ("iterations", text[0].as_str()),
        ("lambda", text[1].as_str()),
        ("step-size", text[2].as_str()),
        ("step-decay", "1000000"),
    ];
    let run = |oracle: &mut dyn Oracle<ClassRows>| {
        let linear = mean(Penalty::SquaredL2, &given, &data, oracle);
        lambda / 2.0 * sum(&linear, |weight| weight * weight) + loss(&linear, &data)
    };
    let exact = run(&mut Exact::default());
    let inexact = run(&mut Inexact::new(EPSILON));
    let wrong = run(&mut Inexact::new(f64::INFINITY));
    let bound = Theorem2::new(lambda, steps, EPSILON, 0.0, 0.05).bound();
    assert!(exact < 0.9, "W = 0 has the objective 1: {exact}");
    // The best objective is at most the exact run's, so this is what the theorem promises or less.
    assert!(
        inexact <= exact + bound,
        "{inexact} exceeds {exact} by more than {bound}"
    );
    assert!(
        wrong > exact + bound,
        "{wrong}: an oracle that is always wrong must break {exact} + {bound}"
    );
}

/// As printed, the theorem promises less than zero weights have; with means over the steps it promises much,
/// and keeps it.
#[test]
fn the_mean_of_the_iterations_obeys_theorem_3_with_an_inexact_oracle() {
    let data = problem();
    let (lambda, steps, step) = (0.001, 6000, 0.05);
    let text = [steps.to_string(), lambda.to_string(), step.to_string()];
    let given = [
        ("iterations", text[0].as_str()),
        ("lambda", text[1].as_str()),
        ("step-size", text[2].as_str()),
        ("step-decay", "0"),
    ];
    let run = |oracle: &mut dyn Oracle<ClassRows>| {
        let linear = mean(Penalty::L1, &given, &data, oracle);
        let objective = lambda / 2.0 * sum(&linear, f64::abs) + loss(&linear, &data);
        (objective, sum(&linear, |weight| weight * weight).sqrt())
    };
    let (exact, length) = run(&mut Exact::default());
    let (inexact, _) = run(&mut Inexact::new(EPSILON));
    let (wrong, _) = run(&mut Inexact::new(f64::INFINITY));
    let radius = length.max(1.0);
    let gradient = std::f64::consts::SQRT_2 + lambda;
    let terms = Theorem3::new(&vec![step; steps], radius, gradient, EPSILON);
    assert!(exact < 0.9, "W = 0 has the objective 1: {exact}");
    assert!(terms.printed_bound() > 1.0, "{}", terms.printed_bound());
    let bound = terms.bound();
    assert!(
        inexact <= exact + bound,
        "{inexact} exceeds {exact} by more than {bound}"
    );
    assert!(
        wrong > exact + bound,
        "{wrong}: an oracle that is always wrong must break {exact} + {bound}"
    );
}
