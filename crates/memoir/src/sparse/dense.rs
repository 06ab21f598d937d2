//! Inner products and sums of dense vectors. Each exists twice, compiled with AVX2 and without; both add in
//! the same order, without fused operations, so they give the same bits.

// A plain function must become part of its AVX2 caller to be compiled for AVX2.
#![allow(clippy::inline_always)]

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// Partial sums of an inner product: lane `i` adds the products at indices `i`, `i + LANES`, …
const LANES: usize = 16;

/// Vectors that [`dot_four`] multiplies at once.
pub const TOGETHER: usize = 4;

#[cfg(target_arch = "x86_64")]
static HAS_AVX2: LazyLock<bool> = LazyLock::new(|| std::arch::is_x86_feature_detected!("avx2"));

/// Runs `$plain(…)` as compiled for AVX2 if the machine has that.
macro_rules! dispatch {
    ($plain:ident / $avx2:ident ($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if *HAS_AVX2 {
            #[allow(unsafe_code)]
            // SAFETY: the function needs nothing but AVX2, which was detected.
            return unsafe { $avx2($($argument),*) };
        }
        $plain($($argument),*)
    }};
}

/// Inner product of two vectors of the same length.
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    dispatch!(dot_plain / dot_avx2(left, right))
}

/// Inner products of `left` with each of four vectors of its length: the same bits as [`dot`], but `left` is
/// read once.
pub fn dot_four(left: &[f32], right: [&[f32]; TOGETHER]) -> [f32; TOGETHER] {
    dispatch!(dot_four_plain / dot_four_avx2(left, right))
}

/// `sum += factor * addend`.
pub fn add(sum: &mut [f32], factor: f32, addend: &[f32]) {
    dispatch!(add_plain / add_avx2(sum, factor, addend));
}

/// `sum += factor * addend` for whole numbers.
pub fn add_whole(sum: &mut [f32], factor: f32, addend: &[i16]) {
    dispatch!(add_whole_plain / add_whole_avx2(sum, factor, addend));
}

/// The whole numbers nearest to `vector / factor`.
pub fn round_whole(whole: &mut [i16], factor: f32, vector: &[f32]) {
    dispatch!(round_whole_plain / round_whole_avx2(whole, factor, vector));
}

/// The largest absolute value.
pub fn largest(vector: &[f32]) -> f32 {
    let mut lanes = [0f32; LANES];
    let (chunks, rest) = vector.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = lane.max(value.abs());
        }
    }
    lanes
        .iter()
        .chain(rest)
        .fold(0.0, |largest, value| largest.max(value.abs()))
}

/// Inner product with whole numbers.
pub fn dot_whole(left: &[f32], right: &[i16]) -> f32 {
    let mut lanes = [0.0; LANES];
    for (left, right) in left.chunks(LANES).zip(right.chunks(LANES)) {
        for ((lane, a), b) in lanes.iter_mut().zip(left).zip(right) {
            *lane += a * f32::from(*b);
        }
    }
    total(&lanes)
}

#[inline(always)]
fn total(lanes: &[f32; LANES]) -> f32 {
    let mut halves = *lanes;
    let mut count = LANES;
    while count > 1 {
        count /= 2;
        for lane in 0..count {
            halves[lane] += halves[lane + count];
        }
    }
    halves[0]
}

#[inline(always)]
fn dot_plain(left: &[f32], right: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            lanes[lane] += left[lane] * right[lane];
        }
    }
    for ((lane, a), b) in lanes.iter_mut().zip(left_rest).zip(right_rest) {
        *lane += a * b;
    }
    total(&lanes)
}

#[inline(always)]
fn dot_four_plain(left: &[f32], right: [&[f32]; TOGETHER]) -> [f32; TOGETHER] {
    let mut lanes = [[0.0; LANES]; TOGETHER];
    let (chunks, left_rest) = left.as_chunks::<LANES>();
    let right = right.map(|vector| &vector[..left.len()]);
    let [a, b, c, d] = right.map(|vector| vector.as_chunks::<LANES>().0);
    for ((((left, a), b), c), d) in chunks.iter().zip(a).zip(b).zip(c).zip(d) {
        for lane in 0..LANES {
            lanes[0][lane] += left[lane] * a[lane];
            lanes[1][lane] += left[lane] * b[lane];
            lanes[2][lane] += left[lane] * c[lane];
            lanes[3][lane] += left[lane] * d[lane];
        }
    }
    let done = left.len() - left_rest.len();
    for (lanes, vector) in lanes.iter_mut().zip(right) {
        for ((lane, a), b) in lanes.iter_mut().zip(left_rest).zip(&vector[done..]) {
            *lane += a * b;
        }
    }
    lanes.map(|lanes| total(&lanes))
}

#[inline(always)]
fn add_plain(sum: &mut [f32], factor: f32, addend: &[f32]) {
    for (sum, value) in sum.iter_mut().zip(addend) {
        *sum += factor * value;
    }
}

#[inline(always)]
fn add_whole_plain(sum: &mut [f32], factor: f32, addend: &[i16]) {
    for (sum, value) in sum.iter_mut().zip(addend) {
        *sum += factor * f32::from(*value);
    }
}

#[inline(always)]
fn round_whole_plain(whole: &mut [i16], factor: f32, vector: &[f32]) {
    for (whole, value) in whole.iter_mut().zip(vector) {
        // By way of 32 bits: casts and limits are instructions for many numbers then.
        let nearest = (value / factor).round_ties_even() as i32;
        *whole = nearest.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_avx2(left: &[f32], right: &[f32]) -> f32 {
    dot_plain(left, right)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_four_avx2(left: &[f32], right: [&[f32]; TOGETHER]) -> [f32; TOGETHER] {
    dot_four_plain(left, right)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(sum: &mut [f32], factor: f32, addend: &[f32]) {
    add_plain(sum, factor, addend);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_whole_avx2(sum: &mut [f32], factor: f32, addend: &[i16]) {
    add_whole_plain(sum, factor, addend);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn round_whole_avx2(whole: &mut [i16], factor: f32, vector: &[f32]) {
    round_whole_plain(whole, factor, vector);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn with_and_without_avx2_the_same_bits(
            vectors in (0usize..70).prop_flat_map(|length| {
                proptest::collection::vec(proptest::collection::vec(-1e3f32..1e3, length), 5)
            }),
        ) {
            let [left, a, b, c, d] = [0, 1, 2, 3, 4].map(|vector: usize| vectors[vector].as_slice());
            let expected: f64 = left.iter().zip(a).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            let single = [a, b, c, d].map(|right| dot(left, right));
            prop_assert!((f64::from(single[0]) - expected).abs() <= 1e-6 * 1e6 * (1.0 + left.len() as f64));
            prop_assert_eq!(single, [a, b, c, d].map(|right| dot_plain(left, right)));
            prop_assert_eq!(single, dot_four(left, [a, b, c, d]));
            prop_assert_eq!(single, dot_four_plain(left, [a, b, c, d]));
            let (mut sum, mut plain) = (left.to_vec(), left.to_vec());
            add(&mut sum, 0.3, a);
            add_plain(&mut plain, 0.3, a);
            prop_assert_eq!(&sum, &plain);
            let whole: Vec<i16> = b.iter().map(|value| *value as i16).collect();
            add_whole(&mut sum, 0.3, &whole);
            add_whole_plain(&mut plain, 0.3, &whole);
            prop_assert_eq!(&sum, &plain);
            let most = largest(c);
            prop_assert_eq!(most, c.iter().fold(0f32, |most, value| most.max(value.abs())));
            let factor = most.max(1.0) / 1000.0;
            let (mut rounded, mut plain) = (whole.clone(), whole.clone());
            round_whole(&mut rounded, factor, c);
            round_whole_plain(&mut plain, factor, c);
            prop_assert_eq!(&rounded, &plain);
            for (&rounded, value) in rounded.iter().zip(c) {
                prop_assert!((f32::from(rounded) * factor - value).abs() <= 0.5001 * factor);
            }
            let widened: Vec<f32> = whole.iter().map(|&value| f32::from(value)).collect();
            prop_assert_eq!(dot_whole(left, &whole), dot(left, &widened));
        }
    }
}
