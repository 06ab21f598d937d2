//! The terms of the paper's theorems, as numbers.

use serde::Serialize;

/// The paper's empirical loss: mean of `(1 - m / rho)_+` over the margins.
pub fn hinge_loss(margins: &[f64], rho: f64) -> f64 {
    let losses = margins.iter().map(|margin| (1.0 - margin / rho).max(0.0));
    losses.sum::<f64>() / margins.len().max(1) as f64
}

/// Right-hand side of Theorem 1, term by term: an upper bound on the share of wrong answers that holds with
/// probability 1 - delta.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Theorem1 {
    /// Inexactness relative to rho: approximate margins exceed exact ones by at most `epsilon * rho`.
    pub epsilon: f64,
    /// Empirical loss of the approximate margins at rho (1 + epsilon).
    pub loss: f64,
    /// `4 C / rho` times the empirical Rademacher complexity (first form).
    pub rademacher_term: f64,
    /// `4 C / rho * sqrt(R^2 Omega^2 / n)` (second form, for kernels).
    pub kernel_term: f64,
    /// `3 sqrt(log(4 / delta) / (2 n))`.
    pub confidence_term: f64,
    /// The bound in its first form.
    pub rademacher_bound: f64,
    /// The bound in its second form.
    pub kernel_bound: f64,
}

/// What Theorem 1 speaks about.
#[derive(Debug, Clone, Copy)]
pub struct Theorem1Input<'a> {
    /// Approximate margins of the rows.
    pub margins: &'a [f64],
    /// Absolute inexactness: epsilon times rho.
    pub gap: f64,
    /// rho.
    pub rho: f64,
    /// delta.
    pub delta: f64,
    /// C.
    pub classes: usize,
    /// Empirical Rademacher complexity of one class's scores.
    pub rademacher: f64,
    /// R, the length of the longest row.
    pub radius: f64,
    /// Omega, the norm of all weights.
    pub norm: f64,
}

impl Theorem1 {
    /// The terms.
    pub fn new(input: &Theorem1Input<'_>) -> Self {
        let n = input.margins.len().max(1) as f64;
        let epsilon = input.gap / input.rho;
        let loss = hinge_loss(input.margins, input.rho * (1.0 + epsilon));
        let factor = 4.0 * input.classes as f64 / input.rho;
        let rademacher_term = factor * input.rademacher;
        let kernel_term = factor * (input.radius.powi(2) * input.norm.powi(2) / n).sqrt();
        let confidence_term = 3.0 * ((4.0 / input.delta).ln() / (2.0 * n)).sqrt();
        Self {
            epsilon,
            loss,
            rademacher_term,
            kernel_term,
            confidence_term,
            rademacher_bound: loss + rademacher_term + confidence_term,
            kernel_bound: loss + kernel_term + confidence_term,
        }
    }
}

/// By how much the averaged weights of Algorithm 1 may miss the best objective (Theorem 2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Theorem2 {
    /// `c = sqrt(lambda) + 2 + epsilon`.
    pub c: f64,
    /// `c (1 + log n) / (2 lambda n)`.
    pub optimisation_term: f64,
    /// `psi = min(1, (1 - delta_hat) epsilon sqrt(lambda) + delta_hat + sqrt(log(1 / delta) / n)) / sqrt(lambda)`.
    pub psi: f64,
}

impl Theorem2 {
    /// After `n` steps with margins that are inexact by more than `epsilon` with probability at most `delta_hat`; the
    /// bound holds with probability 1 - `delta`.
    pub fn new(lambda: f64, n: u64, epsilon: f64, delta_hat: f64, delta: f64) -> Self {
        let (root, n) = (lambda.sqrt(), n.max(1) as f64);
        let c = root + 2.0 + epsilon;
        let distortion = (1.0 - delta_hat) * epsilon * root + delta_hat + ((1.0 / delta).ln() / n).sqrt();
        Self {
            c,
            optimisation_term: c * (1.0 + n.ln()) / (2.0 * lambda * n),
            psi: distortion.min(1.0) / root,
        }
    }

    /// The whole excess.
    pub fn bound(&self) -> f64 {
        self.optimisation_term + self.psi
    }
}

/// By how much the averaged weights of Algorithm 2 may miss the best objective (Theorem 3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Theorem3 {
    /// `R^2 / (2 n eta_n)`.
    pub start_term: f64,
    /// `G^2 / 2 * sum eta_k`.
    pub step_term: f64,
    /// `R G psi` with `psi = 2 epsilon sum eta_k`.
    pub inexactness_term: f64,
}

impl Theorem3 {
    /// With step sizes `steps`, rows no longer than `radius`, sub-gradients no longer than `gradient`.
    pub fn new(steps: &[f64], radius: f64, gradient: f64, epsilon: f64) -> Self {
        let sum: f64 = steps.iter().sum();
        let last = steps.last().copied().unwrap_or(1.0);
        Self {
            start_term: radius.powi(2) / (2.0 * steps.len().max(1) as f64 * last),
            step_term: gradient.powi(2) / 2.0 * sum,
            inexactness_term: radius * gradient * 2.0 * epsilon * sum,
        }
    }

    /// The whole excess.
    pub fn bound(&self) -> f64 {
        self.start_term + self.step_term + self.inexactness_term
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-9, "{got} is not {expected}");
    }

    #[test]
    fn hinge_loss_by_hand() {
        // Losses 0, 0.5, 1, 2 at rho 1; at rho 2: 0, 0.75, 1, 1.5.
        let margins = [1.5, 0.5, 0.0, -1.0];
        near(hinge_loss(&margins, 1.0), 3.5 / 4.0);
        near(hinge_loss(&margins, 2.0), (0.25 + 0.75 + 1.0 + 1.5) / 4.0);
        near(hinge_loss(&[], 1.0), 0.0);
    }

    #[test]
    fn theorem_1_by_hand() {
        let terms = Theorem1::new(&Theorem1Input {
            margins: &[2.0, 0.0],
            gap: 1.0,
            rho: 2.0,
            delta: 4.0 / std::f64::consts::E,
            classes: 3,
            rademacher: 0.5,
            radius: 2.0,
            norm: 3.0,
        });
        near(terms.epsilon, 0.5);
        // rho (1 + epsilon) = 3: losses 1/3 and 1.
        near(terms.loss, 2.0 / 3.0);
        near(terms.rademacher_term, 3.0);
        near(terms.kernel_term, 6.0 * 18f64.sqrt());
        near(terms.confidence_term, 1.5);
        near(terms.rademacher_bound, 2.0 / 3.0 + 4.5);
        near(terms.kernel_bound, 2.0 / 3.0 + 6.0 * 18f64.sqrt() + 1.5);
    }

    #[test]
    fn theorem_2_and_3_by_hand() {
        let terms = Theorem2::new(4.0, 1, 0.1, 0.25, 1.0);
        near(terms.c, 4.1);
        near(terms.optimisation_term, 4.1 / 8.0);
        near(terms.psi, f64::midpoint(0.75 * 0.1 * 2.0, 0.25));
        near(Theorem2::new(4.0, 1, 9.0, 0.5, 1.0).psi, 0.5);
        let terms = Theorem3::new(&[0.5, 0.25], 2.0, 3.0, 0.1);
        near(terms.start_term, 4.0);
        near(terms.step_term, 3.375);
        near(terms.inexactness_term, 0.9);
        near(terms.bound(), 8.275);
    }
}
