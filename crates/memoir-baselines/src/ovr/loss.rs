//! The losses of one-vs-rest: each says how its dual variable moves when all others stand still.

use memoir::maths;

/// A loss of the margin `y w·x`, and its dual.
pub(super) trait Loss: Copy + Send + Sync {
    /// The loss at a margin, before it is multiplied by the row's cost.
    fn at(self, margin: f64) -> f64;

    /// What a dual variable adds to the dual objective (to be minimised) besides half the squared length of
    /// the weights.
    fn conjugate(self, variable: f64, cost: f64) -> f64;

    /// How far a variable is from optimal, given the row's margin and its cost (above 0): the absolute
    /// projected gradient.
    fn violation(self, variable: f64, margin: f64, cost: f64) -> f64;

    /// Where the dual objective is least in one variable, given the row's squared length, too.
    fn best(self, variable: f64, margin: f64, squared_norm: f64, cost: f64) -> f64;
}

/// `max(0, 1 - margin)²`, LIBLINEAR's `-s 1`.
#[derive(Debug, Clone, Copy)]
pub(super) struct SquaredHinge;

impl Loss for SquaredHinge {
    fn at(self, margin: f64) -> f64 {
        let slack = (1.0 - margin).max(0.0);
        slack * slack
    }

    fn conjugate(self, variable: f64, cost: f64) -> f64 {
        variable * variable / (4.0 * cost) - variable
    }

    fn violation(self, variable: f64, margin: f64, cost: f64) -> f64 {
        let gradient = Self::gradient(variable, margin, cost);
        if variable == 0.0 && gradient >= 0.0 {
            0.0
        } else {
            gradient.abs()
        }
    }

    fn best(self, variable: f64, margin: f64, squared_norm: f64, cost: f64) -> f64 {
        let gradient = Self::gradient(variable, margin, cost);
        (variable - gradient / (squared_norm + 0.5 / cost)).max(0.0)
    }
}

impl SquaredHinge {
    fn gradient(variable: f64, margin: f64, cost: f64) -> f64 {
        margin - 1.0 + variable * (0.5 / cost)
    }
}

/// `ln(1 + exp(-margin))`, LIBLINEAR's `-s 7` (and `-s 0`, the same problem in its primal form).
#[derive(Debug, Clone, Copy)]
pub(super) struct Logistic;

impl Logistic {
    /// Steps that always suffice: each is half as long as the one before, or halves the bracket around the
    /// root.
    const STEPS: usize = 200;

    /// Newton's last step is at most this long. What it misses is about the square of that.
    const LAST_STEP: f64 = 1e-5;
}

impl Loss for Logistic {
    fn at(self, margin: f64) -> f64 {
        // ln(1 + exp(-m)) without overflow on either side.
        (-margin).max(0.0) + maths::ln_1p(maths::exp(-margin.abs()))
    }

    fn conjugate(self, variable: f64, cost: f64) -> f64 {
        let entropy = |part: f64| if part > 0.0 { part * maths::ln(part) } else { 0.0 };
        entropy(variable) + entropy(cost - variable) - cost * maths::ln(cost)
    }

    fn violation(self, variable: f64, margin: f64, cost: f64) -> f64 {
        if variable > 0.0 && variable < cost {
            (maths::ln(variable / (cost - variable)) + margin).abs()
        } else {
            f64::INFINITY
        }
    }

    /// With `variable = cost σ(t)` the condition of optimality is `t + margin + squared_norm (cost σ(t) -
    /// variable) = 0`, whose left side grows in `t` with a slope between 1 and `1 + squared_norm cost / 4`:
    /// one root, easily bracketed.
    fn best(self, variable: f64, margin: f64, squared_norm: f64, cost: f64) -> f64 {
        let mut low = -margin - squared_norm * (cost - variable);
        let mut high = -margin + squared_norm * variable;
        let mut t = -margin;
        let mut value = cost / (1.0 + maths::exp(-t));
        let mut moved = high - low;
        for _ in 0..Self::STEPS {
            let excess = t + margin + squared_norm * (value - variable);
            if excess.abs() < 1e-12 || high - low < 1e-14 {
                break;
            }
            if excess > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let slope = 1.0 + squared_norm * value * (1.0 - value / cost);
            let newton = t - excess / slope;
            // Newton alone can jump to and fro between the flat ends of the sigmoid for ever.
            let next = if newton > low && newton < high && (newton - t).abs() < moved / 2.0 {
                newton
            } else {
                f64::midpoint(low, high)
            };
            moved = (next - t).abs();
            if moved < Self::LAST_STEP && next == newton {
                // So near, the sigmoid is its tangent, and needs no exponential.
                return value + value * (1.0 - value / cost) * (next - t);
            }
            t = next;
            value = cost / (1.0 + maths::exp(-t));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The dual objective in one variable, all else fixed.
    fn objective(loss: impl Loss, at: f64, from: f64, margin: f64, squared_norm: f64, cost: f64) -> f64 {
        let moved = at - from;
        squared_norm * moved * moved / 2.0 + margin * moved + loss.conjugate(at, cost)
    }

    fn best_by_grid(loss: impl Loss, from: f64, margin: f64, norm: f64, cost: f64, highest: f64) -> f64 {
        (0..=20_000)
            .map(|number| {
                objective(
                    loss,
                    highest * f64::from(number) / 20_000.0,
                    from,
                    margin,
                    norm,
                    cost,
                )
            })
            .fold(f64::INFINITY, f64::min)
    }

    /// From here Newton's steps, held by the bracket alone, go to and fro between -5 and 4.
    #[test]
    fn a_step_reaches_the_root_where_newton_would_not() {
        let (from, margin, norm, cost) = (
            0.259,
            -4.409_854_924_448_973_5,
            1.432_142_574_989_963,
            8.328_309_895_338_57,
        );
        let to = Logistic.best(from, margin, norm, cost);
        assert!(Logistic.violation(to, margin + norm * (to - from), cost) < 1e-9);
    }

    proptest! {
        #[test]
        fn a_step_ends_where_nothing_on_a_fine_grid_is_better(
            share in 0.0..1f64, margin in -5.0..5f64, norm in 0.0..3f64, cost in 0.05..20f64,
        ) {
            let from = share * cost;
            let to = Logistic.best(from, margin, norm, cost);
            prop_assert!(to > 0.0 && to < cost);
            let reached = objective(Logistic, to, from, margin, norm, cost);
            prop_assert!(reached <= best_by_grid(Logistic, from, margin, norm, cost, cost) + 1e-9);
            prop_assert!(Logistic.violation(to, margin + norm * (to - from), cost) < 1e-6);

            let to = SquaredHinge.best(from, margin, norm, cost);
            let reached = objective(SquaredHinge, to, from, margin, norm, cost);
            let highest = (2.0 * to).max(1.0);
            prop_assert!(reached <= best_by_grid(SquaredHinge, from, margin, norm, cost, highest) + 1e-9);
            prop_assert!(SquaredHinge.violation(to, margin + norm * (to - from), cost) < 1e-9);
        }
    }

    #[test]
    fn losses_at_known_margins() {
        assert_eq!(SquaredHinge.at(-1.0), 4.0);
        assert_eq!(SquaredHinge.at(1.5), 0.0);
        assert!((Logistic.at(0.0) - 2f64.ln()).abs() < 1e-15);
        assert_eq!(Logistic.at(-1000.0), 1000.0);
        assert_eq!(Logistic.at(1000.0), 0.0);
    }
}
