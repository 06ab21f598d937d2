//! `--report-theory`: how inexact the oracle was, and what the convergence theorems say of that.

use super::settings::{Penalty, Settings};
use super::weights::{DescentWeights, RowBuffer};
use crate::dataset::Dataset;
use crate::eval::margins::{Margins, epsilon};
use crate::eval::theory::{Theorem2, Theorem3};
use crate::oracle::Oracle;
use crate::sparse::{Rows, VectorBuffer};
use crate::{Result, Session};

/// Rows that are measured, evenly spread over the data.
const SAMPLE: usize = 1000;

/// Probability with which a gap may be larger than epsilon, and with which the bound may fail.
const DELTA: f64 = 0.05;

/// Measures the oracle on the final weights and tells the terms of Theorem 2 (l2) or 3 (l1).
pub(super) fn tell<W: DescentWeights>(
    settings: &Settings,
    oracle: &dyn Oracle<W>,
    weights: &W,
    data: &Dataset,
    iterations: u64,
    session: &Session<'_>,
) -> Result<()> {
    let sample = data.subset((0..data.len()).step_by(data.len().div_ceil(SAMPLE).max(1)));
    let (mut rows, mut buffer) = (Rows::new(), RowBuffer::default());
    for row in sample.rows.iter() {
        rows.push(weights.row(row, &mut buffer));
    }
    let margins = Margins::measure(
        oracle,
        weights,
        weights.multiplier(),
        &rows,
        &sample.labels,
        session,
    )?;
    let gaps = margins.gaps();
    let epsilon = epsilon(&gaps, DELTA);
    let recall = margins.found as f64 / sample.len().max(1) as f64;
    session.note(format!(
        "oracle `{}` on the final weights, {} rows: recall@1 {recall:.3}; the approximate margin exceeds the exact one \
         by more than epsilon = {epsilon:.3e} with probability {DELTA}",
        oracle.name(),
        sample.len()
    ));
    let radius = rows
        .iter()
        .map(|row| f64::from(row.squared_norm()).sqrt())
        .fold(0.0, f64::max);
    match settings.penalty {
        Penalty::SquaredL2 => {
            let terms = Theorem2::new(settings.lambda, iterations, epsilon, DELTA, DELTA);
            session.note(format!(
                "Theorem 2 with n = {iterations}: c = {:.4}, psi = {:.4e}. By its proof, c^2 (1 + log n) / (2 lambda n) + 2 psi: \
                 f(W-bar) exceeds the optimum by at most {:.4e} with probability {}. As printed, c (1 + log n) / \
                 (2 lambda n) + psi = {:.4e}.{} (It assumes batches of one example, rows no longer than 1, here \
                 {radius:.3}, and eta_t = 1 / (lambda t).)",
                terms.c,
                terms.psi,
                terms.bound(),
                1.0 - DELTA,
                terms.printed_bound(),
                verdict(terms.bound())
            ));
        }
        Penalty::L1 => {
            let steps: Vec<f64> = (1..=iterations)
                .map(|iteration| settings.step(iteration))
                .collect();
            // The theorem wants gaps that are never larger: the largest of the sample is the best guess.
            let largest = gaps.last().copied().unwrap_or(0.0);
            // Nobody knows how long the best weights are; those that were learned stand for them.
            let radius = radius.max(weights.norm());
            // A sub-gradient moves two vectors by a row each, and every weight by the regulariser's part.
            let shrinking = settings.lambda / 2.0 * (non_zeros(weights) as f64).sqrt();
            let gradient = std::f64::consts::SQRT_2 * radius + shrinking;
            let terms = Theorem3::new(&steps, radius, gradient, largest);
            session.note(format!(
                "Theorem 3 with n = {iterations}, R = {radius:.3} (the longest row or all weights), G = {gradient:.3}, \
                 epsilon = {largest:.3e} (the largest gap). By the usual proof, R^2 / (2 n eta_n) + G^2 / 2 mean eta_k + \
                 2 epsilon: f(W-bar) exceeds the optimum by at most {:.4e} + {:.4e} + {:.4e} = {:.4e}. As printed, with sums \
                 for means, R^2 / (2 n eta_n) + G^2 / 2 sum eta_k + 2 R G epsilon sum eta_k = {:.4e}.{}",
                terms.start_term,
                terms.step_term,
                terms.inexactness_term,
                terms.bound(),
                terms.printed_bound(),
                verdict(terms.bound())
            ));
        }
    }
    Ok(())
}

fn non_zeros<W: DescentWeights>(weights: &W) -> usize {
    let mut buffer = VectorBuffer::default();
    let classes = 0..weights.classes() as u32;
    classes
        .map(|class| weights.vector(class, &mut buffer).len())
        .sum()
}

/// What is to be said about a bound that is too large: the hinge loss of zero weights is 1.
fn verdict(bound: f64) -> &'static str {
    if bound < 1.0 {
        ""
    } else {
        " A bound of 1 or more says nothing: zero weights exceed the optimum by at most 1."
    }
}
