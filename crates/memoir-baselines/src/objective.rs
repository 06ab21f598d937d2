//! What a minimisation reached.

/// The value of a convex problem from both sides: the true minimum lies between the two.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Objective {
    /// Value of the problem at the weights found, an upper bound.
    pub primal: f64,
    /// Value of its dual at the variables found, a lower bound.
    pub dual: f64,
}

impl std::ops::Add for Objective {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            primal: self.primal + other.primal,
            dual: self.dual + other.dual,
        }
    }
}
