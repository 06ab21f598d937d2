//! Sums of 32 bits: every product, whole.

use super::{LANES, Machine, Sum, SumScale};

impl Sum for i32 {
    const LOWEST: Self = Self::MIN;

    #[inline]
    fn value(value: i16, _: SumScale) -> i16 {
        value
    }

    fn of(number: i32) -> Self {
        number
    }

    #[inline]
    fn add(&mut self, weight: i16, value: i16) {
        *self = self.wrapping_add(Self::from(weight) * Self::from(value));
    }

    fn add_dense(machine: Machine, sums: &mut [Self], weights: &[&[i16]], values: &[i16], start: usize) {
        for (weights, values) in weights.chunks(8).zip(values.chunks(8)) {
            match weights.len() {
                1 | 2 => add_pairs::<1>(machine, sums, weights, values, start),
                3 | 4 => add_pairs::<2>(machine, sums, weights, values, start),
                5 | 6 => add_pairs::<3>(machine, sums, weights, values, start),
                _ => add_pairs::<4>(machine, sums, weights, values, start),
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
        let mut reaching = 0u32;
        for &value in values {
            reaching += u32::from(value >= bound);
        }
        reaching as usize
    }

    #[inline]
    fn above(machine: Machine, block: &[Self; LANES], threshold: i32) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if machine.avx2 {
            #[allow(unsafe_code)]
            // SAFETY: AVX2 was detected.
            return unsafe { avx2::above(block, threshold) };
        }
        super::above(block, threshold)
    }
}

/// See [`Sum::add_dense`]; for at most `2 * N` features.
fn add_pairs<const N: usize>(
    machine: Machine,
    sums: &mut [i32],
    weights: &[&[i16]],
    values: &[i16],
    start: usize,
) {
    // One that is missing counts zero times.
    let mut pairs = [[(&weights[0][start..start + sums.len()], 0); 2]; N];
    let pair_slots = pairs.as_flattened_mut().iter_mut();
    for (pair, (weights, &value)) in pair_slots.zip(weights.iter().zip(values)) {
        *pair = (&weights[start..start + sums.len()], value);
    }
    assert!(sums.len().is_multiple_of(16));
    #[cfg(target_arch = "x86_64")]
    if machine.avx2 {
        #[allow(unsafe_code)]
        // SAFETY: AVX2 was detected, the length was just checked, and rows were cut to it.
        unsafe {
            avx2::add_pairs(sums, pairs);
        }
        return;
    }
    for &(weights, value) in pairs.as_flattened() {
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
        __m256i, _mm_cvtsi128_si32, _mm_max_epi32, _mm_shuffle_epi32, _mm256_add_epi32, _mm256_castsi256_ps,
        _mm256_castsi256_si128, _mm256_cmpgt_epi32, _mm256_extracti128_si256, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_max_epi32, _mm256_movemask_ps, _mm256_permute2x128_si256,
        _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_unpackhi_epi16,
        _mm256_unpacklo_epi16,
    };

    /// SAFETY: needs AVX2; `sums.len()` is a multiple of 16 and no row of weights is shorter.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn add_pairs<const N: usize>(sums: &mut [i32], pairs: [[(&[i16], i16); 2]; N]) {
        let mut factors = [_mm256_setzero_si256(); N];
        for (factor, [(_, low), (_, high)]) in factors.iter_mut().zip(pairs) {
            let both = u32::from(low as u16) | u32::from(high as u16) << 16;
            *factor = _mm256_set1_epi32(both as i32);
        }
        // Plain expressions throughout: closures would not have these instructions unless the compiler
        // happens to inline them.
        for start in (0..sums.len()).step_by(16) {
            // SAFETY: `start + 16` is within `sums` and, by contract, within each row of weights.
            unsafe {
                let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
                for pair in 0..N {
                    let [(first, _), (second, _)] = pairs[pair];
                    let first = _mm256_loadu_si256(first.as_ptr().add(start).cast::<__m256i>());
                    let second = _mm256_loadu_si256(second.as_ptr().add(start).cast::<__m256i>());
                    let both = _mm256_madd_epi16(_mm256_unpacklo_epi16(first, second), factors[pair]);
                    low = _mm256_add_epi32(low, both);
                    let both = _mm256_madd_epi16(_mm256_unpackhi_epi16(first, second), factors[pair]);
                    high = _mm256_add_epi32(high, both);
                }
                // Unpacking works within 128-bit halves: put the halves of the same classes together again.
                let left = _mm256_permute2x128_si256(low, high, 0x20);
                let right = _mm256_permute2x128_si256(low, high, 0x31);
                let target = sums.as_mut_ptr().add(start).cast::<__m256i>();
                _mm256_storeu_si256(target, _mm256_add_epi32(_mm256_loadu_si256(target), left));
                let target = target.add(1);
                _mm256_storeu_si256(target, _mm256_add_epi32(_mm256_loadu_si256(target), right));
            }
        }
    }

    /// SAFETY: needs AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn block_maxima(sums: &[i32], maxima: &mut Vec<i32>) {
        for block in sums.chunks_exact(LANES) {
            let first = block.as_ptr().cast::<__m256i>();
            // SAFETY: eight loads of eight elements stay within the block's 64.
            let mut wide = unsafe { _mm256_loadu_si256(first) };
            for part in 1..LANES / 8 {
                // SAFETY: as above.
                wide = _mm256_max_epi32(wide, unsafe { _mm256_loadu_si256(first.add(part)) });
            }
            let half = _mm_max_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
            let half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0b01_00_11_10));
            maxima.push(_mm_cvtsi128_si32(_mm_max_epi32(
                half,
                _mm_shuffle_epi32(half, 0b10_11_00_01),
            )));
        }
    }

    /// Bit `i` says whether `block[i]` is above `threshold`. SAFETY: needs AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn above(block: &[i32; LANES], threshold: i32) -> u64 {
        let threshold = _mm256_set1_epi32(threshold);
        let mut above = 0;
        for part in 0..LANES / 8 {
            // SAFETY: eight loads of eight elements stay within the block's 64.
            let lanes = unsafe { _mm256_loadu_si256(block.as_ptr().add(8 * part).cast::<__m256i>()) };
            let mask = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(lanes, threshold)));
            above |= u64::from(mask as u8) << (8 * part);
        }
        above
    }
}
