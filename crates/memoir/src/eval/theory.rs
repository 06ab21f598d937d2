//! The terms of the paper's theorems, as numbers.

use serde::Serialize;

use crate::maths;

/// The paper's empirical loss: mean of `(1 - m / rho)_+` over the margins.
pub fn hinge_loss(margins: &[f64], rho: f64) -> f64 {
    let losses = margins.iter().map(|margin| (1.0 - margin / rho).max(0.0));
    losses.sum::<f64>() / margins.len().max(1) as f64
}

/// Right-hand side of Theorem 1, term by term: an upper bound on the share of wrong answers that holds with
/// probability 1 - delta.
///
/// The theorem as printed takes the loss of the approximate margins at `rho (1 + epsilon)`. Its proof gives
/// that loss times `(1 + epsilon)`: where `m >= m_approximate - epsilon rho`, `1 - m / rho <= (1 + epsilon)
/// (1 - m_approximate / (rho (1 + epsilon)))`. Without the factor a worse oracle gets a smaller "bound",
/// even below the loss of the exact margins. Both forms are here; only the corrected one is a bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Theorem1 {
    /// Inexactness relative to rho: approximate margins exceed exact ones by at most `epsilon * rho`.
    pub epsilon: f64,
    /// Loss term as printed: empirical loss of the approximate margins at `rho (1 + epsilon)`.
    pub printed_loss: f64,
    /// Loss term that the proof gives: `(1 + epsilon)` times the printed one, plus [`Theorem1::excess`].
    pub loss: f64,
    /// Mean of what the gaps exceed `epsilon * rho` by, in units of rho, and of the exact losses of examples
    /// that the oracle had no answer for. It is 0 where there is neither, as the theorem assumes.
    pub excess: f64,
    /// `4 C / rho` times the empirical Rademacher complexity (first form).
    pub rademacher_term: f64,
    /// `4 C / rho * sqrt(R^2 Omega^2 / n)` (second form, for kernels).
    pub kernel_term: f64,
    /// `3 sqrt(log(4 / delta) / (2 n))`.
    pub confidence_term: f64,
    /// The corrected bound in its first form.
    pub rademacher_bound: f64,
    /// The corrected bound in its second form.
    pub kernel_bound: f64,
    /// Whether the smaller of the two says anything: shares of wrong answers never exceed 1.
    pub is_informative: bool,
}

/// What Theorem 1 speaks about.
#[derive(Debug, Clone, Copy)]
pub struct Theorem1Input<'a> {
    /// Approximate margins of the rows.
    pub margins: &'a [f64],
    /// By how much each of them exceeds the exact margin, in any order.
    pub gaps: &'a [f64],
    /// Exact margins of further rows, for which the oracle found no rival.
    pub unanswered: &'a [f64],
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
        let n = (input.margins.len() + input.unanswered.len()).max(1) as f64;
        let mean = |margins: &[f64], rho: f64| hinge_loss(margins, rho) * margins.len() as f64 / n;
        let epsilon = input.gap / input.rho;
        let printed_loss = mean(input.margins, input.rho * (1.0 + epsilon));
        let beyond = input.gaps.iter().map(|gap| (gap - input.gap).max(0.0));
        let excess = beyond.sum::<f64>() / input.rho / n + mean(input.unanswered, input.rho);
        let loss = (1.0 + epsilon) * printed_loss + excess;
        let factor = 4.0 * input.classes as f64 / input.rho;
        let rademacher_term = factor * input.rademacher;
        let kernel_term = factor * (maths::square(input.radius) * maths::square(input.norm) / n).sqrt();
        let confidence_term = 3.0 * (maths::ln(4.0 / input.delta) / (2.0 * n)).sqrt();
        let rademacher_bound = loss + rademacher_term + confidence_term;
        let kernel_bound = loss + kernel_term + confidence_term;
        Self {
            epsilon,
            printed_loss,
            loss,
            excess,
            rademacher_term,
            kernel_term,
            confidence_term,
            rademacher_bound,
            kernel_bound,
            is_informative: rademacher_bound.min(kernel_bound) < 1.0,
        }
    }
}

/// By how much the averaged weights of Algorithm 1 may miss the best objective (Theorem 2).
///
/// The statement has `c` where the proof has its square (the squared length of a sub-gradient, `G^2`), and
/// the mean error once where the proof has it twice. Both forms are here; only the one of the proof is a
/// bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Theorem2 {
    /// `c = sqrt(lambda) + 2 + epsilon`.
    pub c: f64,
    /// As printed: `c (1 + log n) / (2 lambda n)`.
    pub printed_optimisation_term: f64,
    /// By the proof: `c^2 (1 + log n) / (2 lambda n)`.
    pub optimisation_term: f64,
    /// `psi = min(1, (1 - delta_hat) epsilon sqrt(lambda) + delta_hat + sqrt(log(1 / delta) / n)) /
    /// sqrt(lambda)`: once as printed, twice by the proof.
    pub psi: f64,
}

impl Theorem2 {
    /// After `n` steps with margins that are inexact by more than `epsilon` with probability at most
    /// `delta_hat`; the bound holds with probability 1 - `delta`.
    pub fn new(lambda: f64, n: u64, epsilon: f64, delta_hat: f64, delta: f64) -> Self {
        let (root, n) = (lambda.sqrt(), n.max(1) as f64);
        let c = root + 2.0 + epsilon;
        let distortion = (1.0 - delta_hat) * epsilon * root + delta_hat + (maths::ln(1.0 / delta) / n).sqrt();
        let printed_optimisation_term = c * (1.0 + maths::ln(n)) / (2.0 * lambda * n);
        Self {
            c,
            printed_optimisation_term,
            optimisation_term: c * printed_optimisation_term,
            psi: distortion.min(1.0) / root,
        }
    }

    /// The whole excess as printed.
    pub fn printed_bound(&self) -> f64 {
        self.printed_optimisation_term + self.psi
    }

    /// The whole excess by the proof.
    pub fn bound(&self) -> f64 {
        self.optimisation_term + 2.0 * self.psi
    }
}

/// By how much the averaged weights of Algorithm 2 may miss the best objective (Theorem 3).
///
/// The statement has sums over the steps where the usual proof has means over them, so it says nothing for
/// more than a few steps. It also takes one R for the length of the rows and for the distance from zero to
/// the best weights. Both forms are here; the one with means is the bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Theorem3 {
    /// `R^2 / (2 n eta_n)`, in both forms.
    pub start_term: f64,
    /// As printed: `G^2 / 2 * sum eta_k`.
    pub printed_step_term: f64,
    /// By the usual proof: `G^2 / 2` times the mean of `eta_k`.
    pub step_term: f64,
    /// As printed: `R G psi` with `psi = 2 epsilon sum eta_k`.
    pub printed_inexactness_term: f64,
    /// By the usual proof: each step's sub-gradient is one of the objective but for `2 epsilon`.
    pub inexactness_term: f64,
}

impl Theorem3 {
    /// With step sizes `steps`, a `radius` that neither rows nor the best weights exceed, sub-gradients no
    /// longer than `gradient`, and margins that are never inexact by more than `epsilon`.
    pub fn new(steps: &[f64], radius: f64, gradient: f64, epsilon: f64) -> Self {
        let (sum, n): (f64, _) = (steps.iter().sum(), steps.len().max(1) as f64);
        let last = steps.last().copied().unwrap_or(1.0);
        let printed_step_term = maths::square(gradient) / 2.0 * sum;
        Self {
            start_term: maths::square(radius) / (2.0 * n * last),
            printed_step_term,
            step_term: printed_step_term / n,
            printed_inexactness_term: radius * gradient * 2.0 * epsilon * sum,
            inexactness_term: 2.0 * epsilon,
        }
    }

    /// The whole excess as printed.
    pub fn printed_bound(&self) -> f64 {
        self.start_term + self.printed_step_term + self.printed_inexactness_term
    }

    /// The whole excess by the usual proof.
    pub fn bound(&self) -> f64 {
        self.start_term + self.step_term + self.inexactness_term
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

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
            gaps: &[1.0, 1.5],
            unanswered: &[],
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
        near(terms.printed_loss, 2.0 / 3.0);
        // One of two gaps is 0.5 above the allowed one, a quarter of rho.
        near(terms.excess, 0.125);
        near(terms.loss, 1.5 * 2.0 / 3.0 + 0.125);
        near(terms.rademacher_term, 3.0);
        near(terms.kernel_term, 6.0 * 18f64.sqrt());
        near(terms.confidence_term, 1.5);
        near(terms.rademacher_bound, 1.125 + 4.5);
        near(terms.kernel_bound, 1.125 + 6.0 * 18f64.sqrt() + 1.5);
        assert!(!terms.is_informative);
    }

    /// Margins, gaps and allowed gaps at random: the corrected loss is never below that of the exact
    /// margins, the printed one sometimes is.
    #[test]
    fn the_corrected_loss_bounds_the_exact_one_and_the_printed_does_not() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut printed_below = 0;
        for _ in 0..500 {
            let rows = random.random_range(1..20);
            let exact: Vec<f64> = (0..rows).map(|_| random.random_range(-2.0..2.0)).collect();
            let gaps: Vec<f64> = (0..rows).map(|_| random.random_range(0.0..1.5)).collect();
            let approximate: Vec<f64> = exact
                .iter()
                .zip(&gaps)
                .map(|(margin, gap)| margin + gap)
                .collect();
            let unanswered: Vec<f64> = (0..random.random_range(0..3))
                .map(|_| random.random_range(-2.0..2.0))
                .collect();
            let rho = random.random_range(0.2..3.0);
            let terms = Theorem1::new(&Theorem1Input {
                margins: &approximate,
                gaps: &gaps,
                unanswered: &unanswered,
                gap: random.random_range(0.0..2.0),
                rho,
                delta: 0.05,
                classes: 2,
                rademacher: 0.0,
                radius: 0.0,
                norm: 0.0,
            });
            let exact_loss = hinge_loss(&[&exact[..], &unanswered].concat(), rho);
            assert!(
                terms.loss >= exact_loss - 1e-12,
                "{} is below {exact_loss}",
                terms.loss
            );
            printed_below += u32::from(terms.printed_loss < exact_loss);
        }
        assert!(
            printed_below > 50,
            "the printed form was below in {printed_below} of 500 cases"
        );
    }

    #[test]
    fn theorem_2_and_3_by_hand() {
        let terms = Theorem2::new(4.0, 1, 0.1, 0.25, 1.0);
        near(terms.c, 4.1);
        near(terms.printed_optimisation_term, 4.1 / 8.0);
        near(terms.optimisation_term, 4.1 * 4.1 / 8.0);
        near(terms.psi, f64::midpoint(0.75 * 0.1 * 2.0, 0.25));
        near(terms.printed_bound(), 4.1 / 8.0 + 0.2);
        near(terms.bound(), 4.1 * 4.1 / 8.0 + 0.4);
        near(Theorem2::new(4.0, 1, 9.0, 0.5, 1.0).psi, 0.5);
        let terms = Theorem3::new(&[0.5, 0.25], 2.0, 3.0, 0.1);
        near(terms.start_term, 4.0);
        near(terms.printed_step_term, 3.375);
        near(terms.step_term, 1.6875);
        near(terms.printed_inexactness_term, 0.9);
        near(terms.inexactness_term, 0.2);
        near(terms.printed_bound(), 8.275);
        near(terms.bound(), 5.8875);
    }
}
