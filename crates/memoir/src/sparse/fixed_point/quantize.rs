//! From floating-point rows and weights to integers, such that no score can overflow.

/// Fixed-point units in a weight of 1: weights reach from -32 to 32 in steps of 1/1024.
pub const WEIGHT_UNITS: f32 = 1024.0;

/// The nearest fixed-point weight.
pub fn quantize_weight(weight: f32) -> i16 {
    // `as` saturates, and maps NaN to 0.
    (weight * WEIGHT_UNITS).round().max(-32767.0) as i16
}

/// A row with integer values.
#[derive(Debug, Clone, Copy)]
pub struct QuantizedRow<'a> {
    /// Strictly increasing feature numbers.
    pub indices: &'a [u32],
    /// The value of each, times the row's scale.
    pub values: &'a [i16],
    /// What the values were multiplied by.
    pub scale: f32,
}

impl QuantizedRow<'_> {
    /// What an integer score of this row is multiplied by to give the inner product.
    #[inline]
    pub fn score_unit(&self) -> f32 {
        1.0 / (self.scale * WEIGHT_UNITS)
    }
}

/// Replaces the content of `out` by `values` as integers and returns the scale: the largest for which each
/// value fits 16 bits and no inner product with weights leaves 32 bits (`Σ|value| * 32768 < 2^31`).
pub fn quantize_row(values: &[f32], out: &mut Vec<i16>) -> f32 {
    out.clear();
    out.resize(values.len(), 0);
    let scale = quantize_into(values, out);
    debug_assert!(out.iter().map(|&v| i64::from(v).abs()).sum::<i64>() < 1 << 16);
    scale
}

/// As [`quantize_row`], but the smallest values, which together hold at most the share `trim` of the squared
/// length, become 0: a search passes over them.
pub fn quantize_trimmed(values: &[f32], trim: f32, sizes: &mut Vec<f32>, out: &mut Vec<i16>) -> f32 {
    let scale = quantize_row(values, out);
    if trim > 0.0 {
        let least = least_kept(values, trim, sizes);
        for (out, value) in out.iter_mut().zip(values) {
            if value.abs() < least {
                *out = 0;
            }
        }
    }
    scale
}

/// The size below which values go, if those that go may hold the share `trim` of the squared length; `sizes`
/// is reusable memory.
pub(crate) fn least_kept(values: &[f32], trim: f32, sizes: &mut Vec<f32>) -> f32 {
    sizes.clear();
    sizes.extend(values.iter().map(|value| value.abs()));
    sizes.sort_unstable_by(f32::total_cmp);
    let allowed = trim * sizes.iter().map(|size| size * size).sum::<f32>();
    let mut dropped = 0.0;
    for &size in sizes.iter() {
        dropped += size * size;
        if dropped > allowed {
            return size;
        }
    }
    0.0
}

/// As [`quantize_row`], into memory of the same length.
pub(crate) fn quantize_into(values: &[f32], out: &mut [i16]) -> f32 {
    let (mut sum, mut largest) = (0.0f64, 0.0f32);
    for value in values {
        sum += f64::from(value.abs());
        largest = largest.max(value.abs());
    }
    // Rounding adds at most half a unit per value to the sum of sizes.
    let room = (65_500.0 - 0.5 * values.len() as f64).max(1.0);
    let scale = if largest > 0.0 && sum.is_finite() {
        (32_767.0 / f64::from(largest)).min(room / sum) as f32
    } else {
        1.0
    };
    for (out, value) in out.iter_mut().zip(values) {
        *out = (value * scale).round() as i16;
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scores_cannot_overflow_and_are_close(values in proptest::collection::vec(-50f32..50.0, 1..300)) {
            let mut quantized = vec![];
            let scale = quantize_row(&values, &mut quantized);
            let total: i64 = quantized.iter().map(|&v| i64::from(v).abs()).sum();
            prop_assert!(total * 32_768 < 1 << 31);
            for (q, v) in quantized.iter().zip(&values) {
                prop_assert!((f32::from(*q) / scale - v).abs() <= 0.51 / scale);
            }
        }
    }

    #[test]
    fn extremes_saturate() {
        assert_eq!(quantize_weight(1e9), i16::MAX);
        assert_eq!(quantize_weight(-1e9), -32767);
        assert_eq!(quantize_weight(0.5), 512);
        let mut out = vec![];
        assert_eq!(quantize_row(&[0.0, 0.0], &mut out), 1.0);
        assert_eq!(out, [0, 0]);
    }

    #[test]
    fn small_values_are_trimmed_and_equal_ones_stay_together() {
        let (mut sizes, mut out) = (vec![], vec![]);
        quantize_trimmed(&[0.1, -0.8, 0.59], 0.05, &mut sizes, &mut out);
        assert!(out[0] == 0 && out[1] < 0 && out[2] > 0);
        let mut whole = vec![];
        quantize_row(&[0.1, -0.8, 0.59], &mut whole);
        assert_eq!(out[1..], whole[1..], "what stays is as it was");
        quantize_trimmed(&[0.5, 0.5], 0.9, &mut sizes, &mut out);
        assert!(out.iter().all(|&value| value > 0));
        quantize_trimmed(&[], 0.5, &mut sizes, &mut out);
        assert!(out.is_empty());
    }
}
