//! The inner loops with AVX2 against plain Rust, and short sums against what they stand for.

use super::super::{QuantizedRow, quantize_row};
use super::*;
use proptest::prelude::*;

/// Adds some of the rows, takes maxima and marks, and returns all of it.
fn run<S: Sum>(
    machine: Machine,
    start: &[i16],
    rows: &[&[i16]],
    values: &[i16],
    floor: i32,
) -> (Vec<i32>, Vec<i32>, Vec<u64>, i32) {
    let mut sums: Vec<S> = start.iter().map(|&sum| S::of(i32::from(sum))).collect();
    let (first, last) = sums.split_at_mut(64);
    S::add_dense(machine, first, rows, values, 0);
    S::add_dense(machine, last, rows, values, 64);
    let mut maxima = vec![];
    S::push_block_maxima(machine, &sums, &mut maxima);
    let blocks = sums.as_chunks().0.iter();
    let above = blocks.map(|block| S::above(machine, block, floor)).collect();
    let reached = reached_by(machine, 2, &maxima, floor);
    let wide = |sums: Vec<S>| sums.into_iter().map(Into::into).collect();
    (wide(sums), wide(maxima), above, reached)
}

proptest! {
    #[test]
    fn both_paths_agree(
        start in proptest::collection::vec(-1000i16..1000, 192),
        weights in proptest::collection::vec(-32_767i16..=32_767, 6 * 192),
        values in proptest::collection::vec(-32_767i16..=32_767, 1..=6),
        floor in -40_000i32..40_000,
    ) {
        let rows: Vec<&[i16]> = weights.chunks(192).take(values.len()).collect();
        // Six of them must not leave 32 bits.
        let small: Vec<i16> = values.iter().map(|value| value / 6).collect();
        let exact = run::<i32>(Machine::detect(), &start, &rows, &small, floor << 10);
        prop_assert_eq!(&exact, &run::<i32>(Machine::plain(), &start, &rows, &small, floor << 10));
        let rough = run::<i16>(Machine::detect(), &start, &rows, &values, floor);
        prop_assert_eq!(&rough, &run::<i16>(Machine::plain(), &start, &rows, &values, floor));
        for class in 0..192 {
            let mut sum = i32::from(start[class]);
            let mut short = start[class];
            for (row, (&value, &small)) in rows.iter().zip(values.iter().zip(&small)) {
                sum += i32::from(row[class]) * i32::from(small);
                short.add(row[class], value);
            }
            prop_assert_eq!(exact.0[class], sum);
            prop_assert_eq!(rough.0[class], i32::from(short));
        }
        for (block, (sums, &above)) in exact.0.chunks(LANES).zip(&exact.2).enumerate() {
            prop_assert_eq!(exact.1[block], *sums.iter().max().unwrap_or(&0));
            for (index, &sum) in sums.iter().enumerate() {
                prop_assert_eq!(above >> index & 1 == 1, sum > floor << 10);
            }
        }
    }
}

proptest! {
    /// Rows as they are quantized, with weights that are as large as their bound.
    #[test]
    fn short_sums_never_overflow_and_are_close(
        values in proptest::collection::vec(-0.01f32..0.01, 1..3000),
        signs in any::<u64>(),
        bound in 1i16..=32_767,
        part in 0f32..1.0,
    ) {
        let mut quantized = vec![];
        let row_scale = quantize_row(&values, &mut quantized);
        let features = values.len();
        let indices: Vec<u32> = (0..features as u32).collect();
        let row = QuantizedRow { indices: &indices, values: &quantized, scale: row_scale };
        let Some(scale) = SumScale::rough(row, |_| bound.unsigned_abs()) else {
            // Large weights of many features leave no precision: sums of 32 bits take over.
            return Ok(());
        };
        let small = (f32::from(bound) * part) as i16;
        // All products positive, all negative, of both signs; and smaller ones.
        for (number, most) in [bound, -bound, small, -small].into_iter().enumerate() {
            let (mut short, mut reference) = (0i16, 0i64);
            let mut rough = 0i32;
            for (index, &value) in quantized.iter().enumerate() {
                let agrees = number < 2 || signs >> (index % 64) & 1 == 0;
                let weight = if agrees == (value > 0) { most } else { -most };
                let value_of_short = <i16 as Sum>::value(value, scale);
                short.add(weight, value_of_short);
                let mut alone = 0i16;
                alone.add(weight, value_of_short);
                rough += i32::from(alone);
                reference += i64::from(weight) * i64::from(value);
            }
            prop_assert_eq!(i32::from(short), rough, "no sum left its 16 bits");
            let error = f64::from(short) - reference as f64 / f64::from(scale.products);
            prop_assert!(error.abs() <= features as f64 + 0.01, "{}", error);
        }
    }
}

proptest! {
    /// The shapes that searches are fast for: short rows, whose weights are not long.
    #[test]
    fn short_rows_get_a_scale(
        values in proptest::collection::vec(-0.01f32..0.01, 1..=10),
        bound in 1u16..=8192,
    ) {
        let mut quantized = vec![];
        let scale = quantize_row(&values, &mut quantized);
        let indices: Vec<u32> = (0..values.len() as u32).collect();
        let row = QuantizedRow { indices: &indices, values: &quantized, scale };
        prop_assert!(SumScale::rough(row, |_| bound).is_some());
    }
}

#[test]
fn rows_that_16_bits_are_too_coarse_for_get_no_scale() {
    let scale = |features: usize, largest: u16| {
        // A row of length 1.
        let values = vec![(features as f32).sqrt().recip(); features];
        let mut quantized = vec![];
        let scale = quantize_row(&values, &mut quantized);
        let indices: Vec<u32> = (0..features as u32).collect();
        let row = QuantizedRow {
            indices: &indices,
            values: &quantized,
            scale,
        };
        SumScale::rough(row, |_| largest)
    };
    let unit = super::super::WEIGHT_UNITS as u16;
    assert!(scale(5, 8 * unit).is_some() && scale(100, 4 * unit).is_some());
    assert!(scale(1000, unit / 2).is_some() && scale(1000, 16 * unit).is_none());
    assert!(scale(40_000, 1).is_none());
}

#[test]
fn enough_values_reach_the_bound() {
    for (k, machine) in (1..9).flat_map(|k| [(k, Machine::detect()), (k, Machine::plain())]) {
        assert_eq!(reached_by(machine, k, &[5i32; 9], i32::MIN), 5);
        assert_eq!(reached_by(machine, k, &[5i16; 9], 4), 5);
        assert_eq!(reached_by(machine, k, &[5i16; 9], 5), 5);
        assert_eq!(reached_by(machine, k, &[5i16; 9], 6), 6);
        let values = [-7, i32::MAX, 3, 0, i32::MIN, 90, 4, 4, -1];
        check_bound(k, &values, reached_by(machine, k, &values, i32::MIN));
        check_bound(k.min(5), &values, reached_by(machine, k.min(5), &values, 0));
        assert_eq!(reached_by(machine, 6, &values, 0), 0);
        let values = [-7, i16::MAX, 3, 0, i16::MIN, 90, 4, 4, -1];
        let bound = reached_by(machine, k, &values, i32::MIN);
        check_bound(k, &values.map(i32::from), bound);
    }
}

fn check_bound(k: usize, values: &[i32], bound: i32) {
    let reaching = |bound: i32| values.iter().filter(|&&value| value >= bound).count();
    assert!(reaching(bound) >= k, "{k}: {bound}");
    assert!(
        reaching(bound) <= k + k / 4 || reaching(bound + 1) < k,
        "{k}: {bound}"
    );
}
