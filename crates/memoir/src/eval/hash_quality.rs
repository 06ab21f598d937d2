//! What hashing promises about the time of a search: the paper's `rho(c, S)` for `SimpleLSH`, and the
//! exponent that follows from it.
//!
//! Vectors are no longer than 1. Two signs along a random direction agree with probability
//! `1 - arccos(s) / pi`, with s the inner product. (The paper prints `cos` for `arccos`.) Telling an inner
//! product of at least S from one of at most cS takes `n^rho(c, S) log(1 / delta)` time for n vectors.
//!
//! The paper's factor `log 1/(1 - epsilon)` for the levels of its recursion is upside down: S shrinks by
//! `1 - epsilon` a level, so there are `log(1 / epsilon) / log(1 / (1 - epsilon))` of them.

use std::f64::consts::PI;

use serde::Serialize;

use crate::maths;

/// Probability that one sign of two vectors with this inner product agrees.
pub fn agreement(inner_product: f64) -> f64 {
    1.0 - maths::acos(inner_product.clamp(-1.0, 1.0)) / PI
}

/// `rho(c, S) = log p1 / log p2` with p1 the agreement at S and p2 the one at cS: 0 is free, 1 is a full
/// scan.
pub fn hash_quality(c: f64, s: f64) -> f64 {
    let (near, far) = (maths::ln(agreement(s)), maths::ln(agreement(c * s)));
    // At S = 1 all signs agree: both logarithms are 0 only where c is 1, too, and then nothing can be told
    // apart.
    if near == 0.0 && far == 0.0 {
        1.0
    } else {
        // Both are at most 0; without `abs` 0 would be -0.
        (near / far).abs()
    }
}

/// What the recursion over S costs until `c S <= epsilon`, with `c = 1 - epsilon`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SearchExponent {
    /// Inexactness that the search may have, in units of the longest vectors' product.
    pub epsilon: f64,
    /// Levels of the recursion: S = 1, c, c^2 ... until c S is epsilon or less.
    pub levels: usize,
    /// The exponent as printed, the least rho over the levels. It is 0, that of S = 1, where all signs
    /// agree.
    pub printed: f64,
    /// The largest rho over the levels: the time of the recursion is that of its slowest level.
    pub slowest: f64,
}

impl SearchExponent {
    /// For an epsilon above 0 and below 1.
    pub fn new(epsilon: f64) -> Self {
        let c = 1.0 - epsilon;
        let mut exponent = Self {
            epsilon,
            levels: 0,
            printed: 1.0,
            slowest: 0.0,
        };
        let mut s = 1.0;
        loop {
            let quality = hash_quality(c, s);
            exponent.levels += 1;
            exponent.printed = exponent.printed.min(quality);
            exponent.slowest = exponent.slowest.max(quality);
            if c * s <= epsilon {
                return exponent;
            }
            s *= c;
        }
    }

    /// How many times longer a search among `many` vectors takes than one among `few`, if the slowest level
    /// decides.
    pub fn growth(&self, few: usize, many: usize) -> f64 {
        maths::powf(many as f64 / few as f64, self.slowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-9, "{got} is not {expected}");
    }

    #[test]
    fn quality_by_hand() {
        near(agreement(1.0), 1.0);
        near(agreement(0.0), 0.5);
        near(agreement(0.5), 2.0 / 3.0);
        near(hash_quality(0.0, 0.5), (2f64 / 3.0).ln() / 0.5f64.ln());
        near(hash_quality(0.5, 1.0), 0.0);
        near(hash_quality(1.0, 0.3), 1.0);
        near(hash_quality(1.0, 1.0), 1.0);
    }

    #[test]
    fn nearer_things_are_harder_to_tell_apart() {
        let qualities = [0.1, 0.3, 0.5, 0.7, 0.9].map(|c| hash_quality(c, 0.6));
        assert!(qualities.is_sorted(), "{qualities:?}");
        let exponents = [0.5, 0.3, 0.1, 0.01].map(|epsilon| SearchExponent::new(epsilon).slowest);
        assert!(exponents.is_sorted() && exponents[3] < 1.0, "{exponents:?}");
    }

    #[test]
    fn the_recursion_ends_where_it_may_be_inexact() {
        // S = 1: c S = 0.5 is epsilon.
        let exponent = SearchExponent::new(0.5);
        assert_eq!(exponent.levels, 1);
        let exponent = SearchExponent::new(0.3);
        // c S = 0.7, 0.49, 0.343, 0.2401.
        assert_eq!(exponent.levels, 4);
        near(exponent.printed, 0.0);
        near(exponent.slowest, hash_quality(0.7, 0.343));
        near(exponent.growth(10, 10), 1.0);
        assert!(exponent.growth(10, 1000) < 100.0 && exponent.growth(10, 1000) > 10.0);
    }
}
