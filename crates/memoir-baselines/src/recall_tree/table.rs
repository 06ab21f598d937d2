//! All weights of a recall tree in one hashed table: a linear function has an owner (a class or a node's
//! router) and a weight for each feature, found by hashing the two. Collisions share a weight, as in Vowpal
//! Wabbit.

use memoir::{RowView, choices, maths};

choices! {
    /// A loss of a linear function at its margin (score times the wanted sign).
    pub enum Loss {
        /// `ln(1 + exp(-margin))`
        Logistic = "logistic",
        /// `max(0, 1 - margin)`
        Hinge = "hinge",
    }
}

impl Loss {
    /// How strongly the loss pulls the score towards the wanted sign: minus its derivative by the margin.
    pub(super) fn pull(self, margin: f32) -> f32 {
        match self {
            Self::Logistic => 1.0 / (1.0 + maths::exp(margin)),
            Self::Hinge => f32::from(margin < 1.0),
        }
    }
}

/// Number of the weight of `feature` in the linear function of `owner`, in a table of `2^bits` weights.
pub(super) fn slot(owner: u64, feature: u64, bits: u32) -> usize {
    // Two rounds of multiply and fold spread consecutive owners and features over the whole table.
    let mixed = (owner.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ feature).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> (64 - bits)) as usize
}

/// A row as linear functions see it: its features, a constant, and one feature for each node on its way.
#[derive(Debug, Default)]
pub(super) struct Input {
    entries: Vec<(u64, f32)>,
    /// How many entries belong to the row.
    of_row: usize,
    features: u64,
}

impl Input {
    /// The row alone, of features below `features`, with the constant.
    pub(super) fn set(&mut self, row: RowView<'_>, features: usize) {
        self.features = features as u64;
        self.entries.clear();
        let known = row.iter().filter(|&(feature, _)| (feature as usize) < features);
        self.entries
            .extend(known.map(|(feature, value)| (u64::from(feature), value)));
        self.entries.push((self.features, 1.0));
        self.of_row = self.entries.len();
    }

    /// Adds the feature of a node that the row came to.
    pub(super) fn enter(&mut self, node: u32) {
        self.entries.push((self.features + 1 + u64::from(node), 1.0));
    }

    /// The row without the nodes, for routers.
    pub(super) fn row(&self) -> &[(u64, f32)] {
        &self.entries[..self.of_row]
    }

    /// The row with its nodes, for classes.
    pub(super) fn with_path(&self) -> &[(u64, f32)] {
        &self.entries
    }
}

/// Weights under training, with the sum of squared gradients of each: its step falls as that grows
/// (`AdaGrad`).
#[derive(Debug)]
pub(super) struct Table {
    bits: u32,
    cells: Vec<Cell>,
    step_size: f32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    weight: f32,
    squares: f32,
}

impl Table {
    pub(super) fn new(bits: u32, step_size: f32) -> Self {
        Self {
            bits,
            cells: vec![Cell::default(); 1 << bits],
            step_size,
        }
    }

    pub(super) fn score(&self, owner: u64, entries: &[(u64, f32)]) -> f32 {
        let terms = entries
            .iter()
            .map(|&(feature, value)| self.cells[slot(owner, feature, self.bits)].weight * value);
        terms.sum()
    }

    /// Moves the function of `owner` towards `wanted` (1 or -1) at `entries`; the example counts
    /// `importance` times.
    pub(super) fn learn(
        &mut self,
        owner: u64,
        entries: &[(u64, f32)],
        wanted: f32,
        importance: f32,
        loss: Loss,
    ) {
        let pull = importance * loss.pull(wanted * self.score(owner, entries));
        // A pull this small changes no later decision, and skipping it saves half of the time.
        if pull < 1e-3 * importance {
            return;
        }
        for &(feature, value) in entries {
            let cell = &mut self.cells[slot(owner, feature, self.bits)];
            let gradient = pull * value;
            cell.squares += gradient * gradient;
            if cell.squares > 0.0 {
                cell.weight += wanted * self.step_size * gradient / cell.squares.sqrt();
            }
        }
    }

    /// The weights alone.
    pub(super) fn into_weights(self) -> Vec<f32> {
        self.cells.into_iter().map(|cell| cell.weight).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_fill_the_table_evenly() {
        let mut hits = vec![0u32; 1 << 10];
        for owner in 0..200 {
            for feature in 0..200 {
                hits[slot(owner, feature, 10)] += 1;
            }
        }
        // 39 are expected in each; the spread of a random filling is 6.
        assert!(hits.iter().all(|&count| (10..80).contains(&count)), "{hits:?}");
    }

    #[test]
    fn a_linear_function_learns_a_sign() {
        for loss in [Loss::Logistic, Loss::Hinge] {
            let mut table = Table::new(12, 0.5);
            let (cats, dogs) = ([(1, 1.0), (3, 0.5)], [(2, 1.0), (3, 0.5)]);
            for _ in 0..20 {
                table.learn(5, &cats, 1.0, 1.0, loss);
                table.learn(5, &dogs, -1.0, 1.0, loss);
            }
            assert!(table.score(5, &cats) > 0.5 && table.score(5, &dogs) < -0.5);
            assert_eq!(table.score(6, &cats), 0.0);
        }
    }

    #[test]
    fn pulls_are_minus_the_derivatives() {
        let logistic = |margin: f32| (-margin).exp().ln_1p();
        for margin in [-3.0f32, -0.2, 0.0, 1.5, 4.0] {
            let slope = (logistic(margin + 1e-2) - logistic(margin - 1e-2)) / 2e-2;
            assert!((Loss::Logistic.pull(margin) + slope).abs() < 1e-3);
        }
        assert_eq!((Loss::Hinge.pull(0.9), Loss::Hinge.pull(1.1)), (1.0, 0.0));
    }

    #[test]
    fn routers_do_not_see_the_path() {
        let mut input = Input::default();
        let (indices, values) = ([0, 4, 9], [1.0, 2.0, 3.0]);
        let row = RowView {
            indices: &indices,
            values: &values,
        };
        input.set(row, 9);
        input.enter(0);
        input.enter(2);
        assert_eq!(input.row(), [(0, 1.0), (4, 2.0), (9, 1.0)]);
        assert_eq!(input.with_path()[3..], [(10, 1.0), (12, 1.0)]);
    }
}
