//! Sums of 16 bits: twice as many fit into a register and into the cache. Values are scaled by
//! [`SumScale::rough`] first, which also says for which rows 16 bits are enough to know the rivals.

use super::scale::SHIFT;
use super::{LANES, Machine, Sum, SumScale};

impl Sum for i16 {
    const LOWEST: Self = Self::MIN;

    #[inline]
    fn value(value: i16, scale: SumScale) -> i16 {
        scale.apply(value)
    }

    fn of(number: i32) -> Self {
        number as Self
    }

    #[inline]
    fn add(&mut self, weight: i16, value: i16) {
        let product = i32::from(weight) * i32::from(value);
        *self = self.wrapping_add(((product + (1 << (SHIFT - 1))) >> SHIFT) as Self);
    }

    fn add_dense(machine: Machine, sums: &mut [Self], weights: &[&[i16]], values: &[i16], start: usize) {
        for (weights, values) in weights.chunks(8).zip(values.chunks(8)) {
            match weights.len() {
                1 => add_rows::<1>(machine, sums, weights, values, start),
                2 => add_rows::<2>(machine, sums, weights, values, start),
                3 => add_rows::<3>(machine, sums, weights, values, start),
                4 => add_rows::<4>(machine, sums, weights, values, start),
                5 | 6 => add_rows::<6>(machine, sums, weights, values, start),
                _ => add_rows::<8>(machine, sums, weights, values, start),
            }
        }
    }

    fn push_block_maxima(machine: Machine, sums: &[Self], maxima: &mut Vec<Self>) {
        #[cfg(target_arch = "x86_64")]
        if machine.avx2 {
            #[allow(unsafe_code)]
            // SAFETY: AVX2 was detected.
            unsafe {
                avx2::block_maxima(sums, maxima);
            }
            return;
        }
        super::push_block_maxima(sums, maxima);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn reaching(values: &[Self], bound: Self) -> usize {
        let mut reaching = 0;
        // Counts as wide as the values, of as many as they can count.
        for part in values.chunks(1 << 15) {
            let mut of_part = 0u16;
            for &value in part {
                of_part += u16::from(value >= bound);
            }
            reaching += usize::from(of_part);
        }
        reaching
    }

    #[inline]
    fn above(machine: Machine, block: &[Self; LANES], threshold: i32) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if machine.avx2 {
            if threshold < i32::from(Self::MIN) {
                return u64::MAX;
            }
            let threshold = threshold.min(i32::from(Self::MAX)) as Self;
            #[allow(unsafe_code)]
            // SAFETY: AVX2 was detected.
            return unsafe { avx2::above(block, threshold) };
        }
        super::above(block, threshold)
    }
}

/// See [`Sum::add_dense`]; for at most `N` features.
fn add_rows<const N: usize>(
    machine: Machine,
    sums: &mut [i16],
    weights: &[&[i16]],
    values: &[i16],
    start: usize,
) {
    // Those that are missing count zero times.
    let mut rows = [(&weights[0][start..start + sums.len()], 0); N];
    for (row, (weights, &value)) in rows.iter_mut().zip(weights.iter().zip(values)) {
        *row = (&weights[start..start + sums.len()], value);
    }
    assert!(sums.len().is_multiple_of(16));
    #[cfg(target_arch = "x86_64")]
    if machine.avx2 {
        #[allow(unsafe_code)]
        // SAFETY: AVX2 was detected, the length was just checked, and rows were cut to it.
        unsafe {
            avx2::add_rows(sums, rows);
        }
        return;
    }
    for (weights, value) in rows {
        for (sum, &weight) in sums.iter_mut().zip(weights) {
            sum.add(weight, value);
        }
    }
}

#[cfg(target_arch = "x86_64")]
// The loads and stores are of the kind that needs no alignment.
#[allow(unsafe_code, clippy::cast_ptr_alignment)]
mod avx2 {
    use super::super::LANES;
    use std::arch::x86_64::{
        __m256i, _mm_cvtsi128_si32, _mm_max_epi16, _mm_shuffle_epi32, _mm_shufflelo_epi16, _mm256_add_epi16,
        _mm256_castsi256_si128, _mm256_cmpgt_epi16, _mm256_extracti128_si256, _mm256_loadu_si256,
        _mm256_max_epi16, _mm256_movemask_epi8, _mm256_mulhrs_epi16, _mm256_packs_epi16,
        _mm256_permute4x64_epi64, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_storeu_si256,
    };

    /// SAFETY: needs AVX2; `sums.len()` is a multiple of 16 and no row of weights is shorter.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn add_rows<const N: usize>(sums: &mut [i16], rows: [(&[i16], i16); N]) {
        let mut factors = [_mm256_setzero_si256(); N];
        for (factor, (_, value)) in factors.iter_mut().zip(rows) {
            *factor = _mm256_set1_epi16(value);
        }
        // Plain expressions throughout: closures would not have these instructions unless the compiler
        // happens to inline them.
        for start in (0..sums.len()).step_by(16) {
            // SAFETY: `start + 16` is within `sums` and, by contract, within each row of weights.
            unsafe {
                let target = sums.as_mut_ptr().add(start).cast::<__m256i>();
                let mut sum = _mm256_loadu_si256(target);
                for index in 0..N {
                    let weights = _mm256_loadu_si256(rows[index].0.as_ptr().add(start).cast::<__m256i>());
                    sum = _mm256_add_epi16(sum, _mm256_mulhrs_epi16(weights, factors[index]));
                }
                _mm256_storeu_si256(target, sum);
            }
        }
    }

    /// SAFETY: needs AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn block_maxima(sums: &[i16], maxima: &mut Vec<i16>) {
        for block in sums.chunks_exact(LANES) {
            let first = block.as_ptr().cast::<__m256i>();
            // SAFETY: four loads of sixteen elements stay within the block's 64.
            let mut wide = unsafe { _mm256_loadu_si256(first) };
            for part in 1..LANES / 16 {
                // SAFETY: as above.
                wide = _mm256_max_epi16(wide, unsafe { _mm256_loadu_si256(first.add(part)) });
            }
            let half = _mm_max_epi16(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
            let half = _mm_max_epi16(half, _mm_shuffle_epi32(half, 0b01_00_11_10));
            let half = _mm_max_epi16(half, _mm_shuffle_epi32(half, 0b10_11_00_01));
            let half = _mm_max_epi16(half, _mm_shufflelo_epi16(half, 0b10_11_00_01));
            maxima.push(_mm_cvtsi128_si32(half) as i16);
        }
    }

    /// Bit `i` says whether `block[i]` is above `threshold`. SAFETY: needs AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn above(block: &[i16; LANES], threshold: i16) -> u64 {
        let threshold = _mm256_set1_epi16(threshold);
        let first = block.as_ptr().cast::<__m256i>();
        let mut above = 0;
        for part in 0..LANES / 32 {
            // SAFETY: four loads of sixteen elements stay within the block's 64.
            let (low, high) = unsafe {
                (
                    _mm256_loadu_si256(first.add(2 * part)),
                    _mm256_loadu_si256(first.add(2 * part + 1)),
                )
            };
            let bytes = _mm256_packs_epi16(
                _mm256_cmpgt_epi16(low, threshold),
                _mm256_cmpgt_epi16(high, threshold),
            );
            // Packing works within 128-bit halves: put the quarters into the order of the classes again.
            let bytes = _mm256_permute4x64_epi64(bytes, 0b11_01_10_00);
            above |= u64::from(_mm256_movemask_epi8(bytes) as u32) << (32 * part);
        }
        above
    }
}
