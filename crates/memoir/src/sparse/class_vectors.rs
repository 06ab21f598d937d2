//! What an oracle needs to know of the classes' weight vectors, however they are stored.

use crate::sparse::{RowView, Spread};

/// One weight vector per class, all with one shared multiplier that does not change their order.
///
/// Everything here is *unscaled*: without the multiplier. A common positive factor changes neither which
/// class scores highest nor which neighbours a class has, so shrinking all weights never touches an index.
pub trait ClassVectors: Send + Sync {
    /// Number of classes.
    fn classes(&self) -> usize;

    /// Number of features that vectors and rows have.
    fn width(&self) -> usize;

    /// Unscaled inner product of the class's vector with `row`.
    fn dot(&self, class: u32, row: RowView<'_>) -> f32;

    /// As [`ClassVectors::dot`], with the row spread over all features: quicker where vectors are sparse.
    fn dot_spread(&self, class: u32, row: &Spread) -> f32;

    /// Whether vectors are stored sparse.
    fn is_sparse(&self) -> bool;

    /// Unscaled inner product of the vectors of two classes.
    fn dot_between(&self, left: u32, right: u32) -> f32;

    /// Unscaled squared length of the class's vector.
    fn squared_norm(&self, class: u32) -> f64;

    /// The class's vector as a sparse row, in `buffer` if it is not stored as one.
    fn vector<'a>(&'a self, class: u32, buffer: &'a mut VectorBuffer) -> RowView<'a>;

    /// The classes whose vectors are all zero, in no particular but a reproducible order.
    fn zeros(&self) -> &ZeroClasses;
}

/// Room for a vector that is not stored as a sparse row.
#[derive(Debug, Clone, Default)]
pub struct VectorBuffer {
    /// Column numbers.
    pub indices: Vec<u32>,
}

/// The classes whose vectors are all zero: a set with constant-time change and random choice.
#[derive(Debug, Clone, PartialEq)]
pub struct ZeroClasses {
    members: Vec<u32>,
    /// Place of each class in `members`, or [`ZeroClasses::ABSENT`].
    positions: Vec<u32>,
}

impl ZeroClasses {
    const ABSENT: u32 = u32::MAX;

    /// All of `classes` classes.
    pub fn all(classes: usize) -> Self {
        Self {
            members: (0..classes as u32).collect(),
            positions: (0..classes as u32).collect(),
        }
    }

    /// Whether the class's vector is all zero.
    pub fn contains(&self, class: u32) -> bool {
        self.positions[class as usize] != Self::ABSENT
    }

    /// The members.
    pub fn as_slice(&self) -> &[u32] {
        &self.members
    }

    /// Says whether the class's vector is all zero from now on.
    pub fn set(&mut self, class: u32, is_zero: bool) {
        if is_zero == self.contains(class) {
            return;
        }
        if is_zero {
            self.positions[class as usize] = self.members.len() as u32;
            self.members.push(class);
        } else {
            let position = self.positions[class as usize];
            self.members.swap_remove(position as usize);
            if let Some(&moved) = self.members.get(position as usize) {
                self.positions[moved as usize] = position;
            }
            self.positions[class as usize] = Self::ABSENT;
        }
    }

    /// A member that is not among the sorted `labels`, chosen by the random number `draw`.
    pub fn pick(&self, labels: &[u32], draw: u64) -> Option<u32> {
        let count = self.members.len();
        if count == 0 {
            return None;
        }
        let start = (draw % count as u64) as usize;
        // At most one more step for each label that is a member.
        (0..=labels.len().min(count - 1))
            .map(|step| self.members[(start + step) % count])
            .find(|class| labels.binary_search(class).is_err())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_under_changes(changes in proptest::collection::vec((0u32..9, any::<bool>()), 0..60), draw: u64) {
            let mut zeros = ZeroClasses::all(9);
            let mut expected = [true; 9];
            for (class, is_zero) in changes {
                zeros.set(class, is_zero);
                expected[class as usize] = is_zero;
            }
            for class in 0..9 {
                prop_assert_eq!(zeros.contains(class), expected[class as usize]);
            }
            prop_assert_eq!(zeros.as_slice().len(), expected.iter().filter(|&&zero| zero).count());
            let labels = [1, 4, 5];
            let candidates = (0..9).filter(|class| expected[*class as usize] && !labels.contains(class));
            let picked = zeros.pick(&labels, draw);
            prop_assert_eq!(picked.is_some(), candidates.clone().count() > 0);
            if let Some(class) = picked {
                prop_assert!(candidates.clone().any(|candidate| candidate == class));
            }
        }
    }
}
