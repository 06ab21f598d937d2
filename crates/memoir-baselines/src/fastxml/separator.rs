//! The linear separator of a node: L1-regularised logistic regression
//!
//! ```text
//! minimise over w   |w|_1 + Σ_i C_i ln(1 + exp(-δ_i w·x_i))
//! ```
//!
//! by Newton steps whose quadratic models are minimised by coordinate descent, each followed by a line
//! search, so that the objective never rises (Yuan, Ho and Lin, "An Improved GLMNET for L1-regularized
//! Logistic Regression", 2012).

use memoir::{Result, Rows, Session, maths};

use super::partition::Numbering;

/// Newton steps at most.
const MAX_STEPS: usize = 10;

/// Sweeps of coordinate descent in a step at most.
const MAX_SWEEPS: usize = 10;

/// Training ends when the sum of violated optimality conditions is this share of what it was at the start.
const TOLERANCE: f64 = 0.01;

/// A step must lower the objective by this share of what its model promises.
const SUFFICIENT: f64 = 0.01;

/// Feature columns of the rows of a node, the last of which is constant 1.
struct Columns {
    /// Column `j` owns the entries `ends[j]..ends[j + 1]`.
    ends: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f32>,
}

impl Columns {
    fn new(data: &Rows, rows: &[u32], numbering: &mut Numbering) -> Self {
        numbering.clear();
        let mut counts: Vec<usize> = Vec::new();
        for &row in rows {
            for &feature in data.row(row as usize).indices {
                let number = numbering.number(feature) as usize;
                if number == counts.len() {
                    counts.push(0);
                }
                counts[number] += 1;
            }
        }
        counts.push(rows.len());
        let mut ends = vec![0];
        let mut next = Vec::with_capacity(counts.len());
        let mut total = 0;
        for count in counts {
            next.push(total);
            total += count;
            ends.push(total);
        }
        let constant = next.len() - 1;
        let mut columns = Self {
            ends,
            rows: vec![0; total],
            values: vec![0.0; total],
        };
        for (index, &row) in rows.iter().enumerate() {
            let entries = data.row(row as usize);
            let numbered = entries
                .iter()
                .map(|(feature, value)| (numbering.number(feature) as usize, value));
            for (column, value) in numbered.chain([(constant, 1.0)]) {
                columns.rows[next[column]] = index as u32;
                columns.values[next[column]] = value;
                next[column] += 1;
            }
        }
        columns
    }

    fn len(&self) -> usize {
        self.ends.len() - 1
    }

    fn column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.ends[column]..self.ends[column + 1];
        let rows = self.rows[range.clone()].iter();
        rows.zip(&self.values[range])
            .map(|(&row, &value)| (row as usize, f64::from(value)))
    }
}

/// A linear function with few weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Separator {
    pub(super) bias: f32,
    /// Features, increasing, with their weights.
    pub(super) weights: Vec<(u32, f32)>,
}

/// Trains the separator of the rows `rows` of `data`, where `sides` says which are to be positive and
/// `costs` is `C_i`; the objective goes to `watch` after each step.
pub(super) fn separate(
    data: &Rows,
    rows: &[u32],
    (sides, costs): (&[bool], &[f64]),
    numbering: &mut Numbering,
    session: &Session<'_>,
    mut watch: impl FnMut(f64),
) -> Result<Separator> {
    let columns = Columns::new(data, rows, numbering);
    let mut solver = Solver {
        columns: &columns,
        signs: sides.iter().map(|&side| if side { 1.0 } else { -1.0 }).collect(),
        costs,
        weights: vec![0.0; columns.len()],
        scores: vec![0.0; rows.len()],
    };
    let mut first_violation = None;
    for _ in 0..MAX_STEPS {
        session.check()?;
        let Some(violation) = solver.step(first_violation.unwrap_or(0.0) * TOLERANCE, session)? else {
            break;
        };
        first_violation.get_or_insert(violation);
        watch(solver.objective());
    }
    let constant = columns.len() - 1;
    let mut separator = Separator {
        bias: solver.weights[constant] as f32,
        weights: numbering
            .items()
            .iter()
            .zip(&solver.weights)
            .filter(|(_, weight)| **weight as f32 != 0.0)
            .map(|(&feature, &weight)| (feature, weight as f32))
            .collect(),
    };
    separator.weights.sort_unstable_by_key(|&(feature, _)| feature);
    Ok(separator)
}

struct Solver<'a> {
    columns: &'a Columns,
    signs: Vec<f64>,
    costs: &'a [f64],
    weights: Vec<f64>,
    /// `w·x_i`
    scores: Vec<f64>,
}

/// `ln(1 + exp(-margin))` without overflow.
fn logistic(margin: f64) -> f64 {
    if margin > 0.0 {
        maths::ln_1p(maths::exp(-margin))
    } else {
        maths::ln_1p(maths::exp(margin)) - margin
    }
}

impl Solver<'_> {
    fn objective(&self) -> f64 {
        let loss = self.loss(&[], 0.0);
        loss + self.weights.iter().map(|weight| weight.abs()).sum::<f64>()
    }

    /// The loss after a step of `size` along a direction whose scores are `moved` (none: no step).
    fn loss(&self, moved: &[f64], size: f64) -> f64 {
        let rows = self.scores.iter().zip(&self.signs).zip(self.costs).enumerate();
        rows.map(|(row, ((score, sign), cost))| {
            let moved = moved.get(row).map_or(0.0, |moved| size * moved);
            cost * logistic(sign * (score + moved))
        })
        .sum()
    }

    /// One Newton step. `None` if the optimality conditions are violated by no more than `enough`, or no
    /// step helps; else by how much they were violated.
    fn step(&mut self, enough: f64, session: &Session<'_>) -> Result<Option<f64>> {
        let mut slopes = Vec::with_capacity(self.scores.len());
        let mut curvatures = Vec::with_capacity(self.scores.len());
        for ((score, sign), cost) in self.scores.iter().zip(&self.signs).zip(self.costs) {
            let miss = 1.0 / (1.0 + maths::exp(sign * score));
            slopes.push(-sign * cost * miss);
            curvatures.push(cost * miss * (1.0 - miss));
        }
        let mut violation = 0.0;
        // Only coordinates that can move take part: those in use and those whose slope overcomes the
        // penalty.
        let mut active: Vec<Coordinate> = Vec::new();
        for (number, &weight) in self.weights.iter().enumerate() {
            let slope: f64 = self
                .columns
                .column(number)
                .map(|(row, value)| value * slopes[row])
                .sum();
            let violated = if weight == 0.0 {
                (slope.abs() - 1.0).max(0.0)
            } else {
                (slope + weight.signum()).abs()
            };
            violation += violated;
            if weight != 0.0 || violated > 0.0 {
                let entries = self.columns.column(number);
                let curvature: f64 = entries.map(|(row, value)| value * value * curvatures[row]).sum();
                active.push(Coordinate {
                    number,
                    slope,
                    curvature: curvature + 1e-12,
                    change: 0.0,
                });
            }
        }
        if violation <= enough || active.is_empty() {
            return Ok(None);
        }
        let moved = self.minimise_model(&mut active, &curvatures, session)?;
        Ok(self.search(&active, &moved).then_some(violation))
    }

    /// Coordinate descent on the quadratic model; returns the change of each row's score.
    fn minimise_model(
        &self,
        active: &mut [Coordinate],
        curvatures: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<f64>> {
        let mut moved = vec![0.0; self.scores.len()];
        let mut first = None;
        for _ in 0..MAX_SWEEPS {
            session.check()?;
            let mut movement = 0.0;
            for coordinate in &mut *active {
                let column = || self.columns.column(coordinate.number);
                let bend: f64 = column()
                    .map(|(row, value)| value * curvatures[row] * moved[row])
                    .sum();
                let slope = coordinate.slope + bend;
                let at = self.weights[coordinate.number] + coordinate.change;
                let curvature = coordinate.curvature;
                let change = if slope + 1.0 <= curvature * at {
                    -(slope + 1.0) / curvature
                } else if slope - 1.0 >= curvature * at {
                    -(slope - 1.0) / curvature
                } else {
                    -at
                };
                // A nearly flat coordinate must not run away within one step.
                let change = change.clamp(-10.0, 10.0);
                if change != 0.0 {
                    coordinate.change += change;
                    for (row, value) in column() {
                        moved[row] += change * value;
                    }
                    movement += curvature * change.abs();
                }
            }
            // The first sweep sets the measure; later ones end when little still moves.
            if movement == 0.0 || movement < 0.1 * *first.get_or_insert(movement) {
                break;
            }
        }
        Ok(moved)
    }

    /// Halves the step until the objective falls enough, and takes it. Whether there was such a step.
    fn search(&mut self, active: &[Coordinate], moved: &[f64]) -> bool {
        let norm = |size: f64| -> f64 {
            let weights = active.iter();
            weights
                .map(|coordinate| (self.weights[coordinate.number] + size * coordinate.change).abs())
                .sum()
        };
        let linear: f64 = active
            .iter()
            .map(|coordinate| coordinate.slope * coordinate.change)
            .sum();
        let norm_before = norm(0.0);
        let promised = linear + norm(1.0) - norm_before;
        let before = self.loss(&[], 0.0) + norm_before;
        let mut size = 1.0;
        for _ in 0..30 {
            let change = self.loss(moved, size) + norm(size) - before;
            if change < 0.0 && change <= SUFFICIENT * size * promised {
                for coordinate in active {
                    self.weights[coordinate.number] += size * coordinate.change;
                }
                for (score, moved) in self.scores.iter_mut().zip(moved) {
                    *score += size * moved;
                }
                return true;
            }
            size /= 2.0;
        }
        false
    }
}

/// A weight that may move in a step.
struct Coordinate {
    number: usize,
    slope: f64,
    curvature: f64,
    change: f64,
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use proptest::prelude::*;

    use super::*;

    fn objective(rows: &[Vec<f64>], sides: &[bool], costs: &[f64], weights: &[f64]) -> f64 {
        let mut sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
        for ((row, &side), cost) in rows.iter().zip(sides).zip(costs) {
            let score: f64 = row
                .iter()
                .zip(weights)
                .map(|(value, weight)| value * weight)
                .sum();
            sum += cost * (1.0 + (if side { -score } else { score }).exp()).ln();
        }
        sum
    }

    /// The minimum by many small proximal gradient steps.
    fn slowly(rows: &[Vec<f64>], sides: &[bool], costs: &[f64]) -> f64 {
        let mut weights = vec![0.0; rows[0].len()];
        let squares: f64 = rows
            .iter()
            .zip(costs)
            .map(|(row, cost)| cost * row.iter().map(|v| v * v).sum::<f64>())
            .sum();
        let step = 4.0 / squares;
        for _ in 0..20_000 {
            let mut gradient = vec![0.0; weights.len()];
            for ((row, &side), cost) in rows.iter().zip(sides).zip(costs) {
                let sign = if side { 1.0 } else { -1.0 };
                let score: f64 = row
                    .iter()
                    .zip(&weights)
                    .map(|(value, weight)| value * weight)
                    .sum();
                let pull = sign * cost / (1.0 + (sign * score).exp());
                for (gradient, value) in gradient.iter_mut().zip(row) {
                    *gradient -= pull * value;
                }
            }
            for (weight, gradient) in weights.iter_mut().zip(gradient) {
                let moved: f64 = *weight - step * gradient;
                *weight = moved.signum() * (moved.abs() - step).max(0.0);
            }
        }
        objective(rows, sides, costs, &weights)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn near_the_minimum_and_never_rising(
            table in proptest::collection::vec((proptest::collection::vec(-2i8..3, 4), any::<bool>(), 1u8..6), 2..14),
        ) {
            let mut data = Rows::new();
            let mut dense = Vec::new();
            for (values, _, _) in &table {
                let entries = values.iter().enumerate().filter(|(_, value)| **value != 0);
                data.push_unsorted(&mut entries.map(|(index, value)| (index as u32, f32::from(*value))).collect());
                dense.push(values.iter().map(|&value| f64::from(value)).chain([1.0]).collect::<Vec<_>>());
            }
            let sides: Vec<bool> = table.iter().map(|row| row.1).collect();
            let costs: Vec<f64> = table.iter().map(|row| f64::from(row.2)).collect();
            let rows: Vec<u32> = (0..table.len() as u32).collect();
            let session = Session::new(NonZeroUsize::MIN).unwrap();
            let mut steps = vec![objective(&dense, &sides, &costs, &[0.0; 5])];
            let mut numbering = Numbering::new(4);
            let separator =
                separate(&data, &rows, (&sides, &costs), &mut numbering, &session, |value| steps.push(value)).unwrap();
            prop_assert!(steps.is_sorted_by(|before, after| after <= before), "{:?}", steps);
            let mut weights = vec![0.0; 5];
            weights[4] = f64::from(separator.bias);
            for (feature, weight) in separator.weights {
                weights[feature as usize] = f64::from(weight);
            }
            let found = objective(&dense, &sides, &costs, &weights);
            prop_assert!((found - steps[steps.len() - 1]).abs() < 1e-4 * found);
            let best = slowly(&dense, &sides, &costs);
            prop_assert!(found <= best * 1.02 + 1e-3, "{found} against {best}");
        }
    }
}
