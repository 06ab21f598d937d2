//! The distributions: power laws for ranks and class sizes.

use crate::maths;

/// Ranks `0..count` with probability close to proportional to `(rank + shift)^-exponent`, from uniform
/// numbers.
///
/// The shift flattens the head, as removing stop words does with text.
#[derive(Debug, Clone, Copy)]
pub(super) struct PowerLaw {
    shift: f64,
    exponent: f64,
    count: u32,
    /// Integral of `x^-exponent` from 1 to both ends, up to a factor.
    low: f64,
    high: f64,
}

impl PowerLaw {
    pub(super) fn new(count: u32, shift: f64, exponent: f64) -> Self {
        let mut law = Self {
            shift,
            exponent,
            count,
            low: 0.0,
            high: 0.0,
        };
        law.low = law.integral(shift);
        law.high = law.integral(shift + f64::from(count));
        law
    }

    fn is_harmonic(&self) -> bool {
        (self.exponent - 1.0).abs() < 1e-9
    }

    fn integral(&self, x: f64) -> f64 {
        if self.is_harmonic() {
            maths::ln(x)
        } else {
            maths::powf(x, 1.0 - self.exponent)
        }
    }

    /// The rank below which a share `uniform` of the probability lies.
    pub(super) fn rank(&self, uniform: f64) -> u32 {
        let y = self.low + uniform * (self.high - self.low);
        let x = if self.is_harmonic() {
            maths::exp(y)
        } else {
            maths::powf(y, 1.0 / (1.0 - self.exponent))
        };
        ((x - self.shift).max(0.0) as u32).min(self.count - 1)
    }
}

/// How many of `rows` rows each of `classes` classes gets, largest first: proportional to `rank^-exponent`,
/// and at least one each if there are enough rows.
pub(super) fn class_sizes(rows: u64, classes: u32, exponent: f64) -> Vec<u64> {
    let least = u64::from(rows >= u64::from(classes));
    let free = rows - least * u64::from(classes);
    let shares: Vec<f64> = (0..classes)
        .map(|rank| maths::powf(f64::from(rank) + 1.0, -exponent))
        .collect();
    let total: f64 = shares.iter().sum();
    let mut sum = 0.0;
    let mut given = 0;
    let mut sizes = Vec::with_capacity(shares.len());
    for share in shares {
        sum += share;
        // Rounding the running sum instead of each size makes the sizes add up.
        let target = ((sum / total * free as f64).round() as u64).clamp(given, free);
        sizes.push(least + target - given);
        given = target;
    }
    if let Some(largest) = sizes.first_mut() {
        *largest += free - given;
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_follow_the_law() {
        for exponent in [0.0, 0.7, 1.0, 1.6] {
            let law = PowerLaw::new(10_000, 1.0, exponent);
            let draws = 200_000;
            let mut counts = vec![0u32; 10_000];
            for i in 0..draws {
                counts[law.rank((f64::from(i) + 0.5) / f64::from(draws)) as usize] += 1;
            }
            // Mean count in ranks 10..20 against 100..200: ten times the rank.
            let mean = |range: std::ops::Range<usize>| {
                f64::from(counts[range.clone()].iter().sum::<u32>()) / range.len() as f64
            };
            let measured = (mean(10..20) / mean(100..200)).log10();
            assert!((measured - exponent).abs() < 0.1, "{exponent}: {measured}");
        }
    }

    #[test]
    fn the_ends_are_ranks() {
        for exponent in [0.0, 1.0, 3.0] {
            let law = PowerLaw::new(7, 20.0, exponent);
            assert_eq!((law.rank(0.0), law.rank(1.0)), (0, 6));
        }
    }

    proptest! {
        #[test]
        fn sizes_add_up(rows in 1u64..5000, classes in 1u32..800, exponent in 0.0f64..3.0) {
            let sizes = class_sizes(rows, classes, exponent);
            prop_assert_eq!(sizes.len(), classes as usize);
            prop_assert_eq!(sizes.iter().sum::<u64>(), rows);
            prop_assert!(rows < u64::from(classes) || sizes.iter().all(|&size| size > 0));
        }
    }
}
