//! How the values of a row are scaled so that its sums fit 16 bits and lose as little as possible.

use super::super::QuantizedRow;

/// The product of a weight and a scaled value is shifted by this many bits before it is added.
pub(super) const SHIFT: u32 = 15;

/// The largest error of a rounded score that still names the right rivals, as a standard deviation. A
/// difference of 1 between two scores is an odds ratio of e, so an error of 0.02 changes a probability by 2
/// percent of itself.
const TOLERANCE: f32 = 0.02;

/// The scale of one row's values in a sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SumScale {
    /// Scaled values are this many times as large.
    factor: f32,
    /// Products of a weight and a value of the row in one unit of the sum.
    pub(crate) products: f32,
}

impl SumScale {
    /// For sums of 32 bits: values stay as they are.
    pub(crate) const EXACT: Self = Self {
        factor: 1.0,
        products: 1.0,
    };

    /// The finest scale for which no sum of 16 bits can overflow, or nothing if even that one is too coarse.
    /// `largest` is a bound of the sizes of a feature's weights. Those of most features are small, so the
    /// bound of the whole sum is far below what 16-bit weights could reach, and many small products are not
    /// rounded to zero.
    pub(crate) fn rough(row: QuantizedRow<'_>, largest: impl Fn(u32) -> u16) -> Option<Self> {
        let features = row.indices.len();
        // Rounding adds up to one half to each value and one half to each product.
        let room = i16::MAX as usize - 1;
        let room = room.checked_sub(features).filter(|&room| room > 0)? as f32;
        let (mut bound, mut largest_value) = (0u64, 1);
        for (&feature, &value) in row.indices.iter().zip(row.values) {
            let size = value.unsigned_abs();
            bound += u64::from(size) * u64::from(largest(feature));
            largest_value = largest_value.max(size);
        }
        let of_sum = room * (1 << SHIFT) as f32 / bound.max(1) as f32;
        let of_value = f32::from(i16::MAX) / f32::from(largest_value);
        let factor = of_sum.min(of_value);
        let products = (1 << SHIFT) as f32 / factor;
        // A rounding error is spread evenly over one unit, and those of the features are independent of each
        // other.
        let error = (features as f32 / 12.0).sqrt() * products * row.score_unit();
        (error <= TOLERANCE).then_some(Self { factor, products })
    }

    #[inline]
    pub(super) fn apply(self, value: i16) -> i16 {
        // `as` saturates, which rounding of the factor could make necessary for the largest value.
        (f32::from(value) * self.factor).round_ties_even() as i16
    }
}
