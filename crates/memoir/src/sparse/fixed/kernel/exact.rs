//! Sums of 32 bits: every product, whole.

use super::{LANES, Machine, Sum};

impl Sum for i32 {
    const LOWEST: Self = Self::MIN;

    fn has_room(_: usize) -> bool {
        true
    }

    #[inline]
    fn value(value: i16, _: usize) -> i16 {
        value
    }

    fn products(_: usize) -> f32 {
        1.0
    }

    fn of(number: i32) -> Self {
        number
    }

    #[inline]
    fn add(&mut self, weight: i16, value: i16) {
        *self = self.wrapping_add(Self::from(weight) * Self::from(value));
    }

    fn add_dense(machine: Machine, sums: &mut [Self], weights: &[&[i16]], values: &[i16], start: usize) {
        let range = start..start + sums.len();
        for (weights, values) in weights.chunks(4).zip(values.chunks(4)) {
            // Those that are missing count zero times.
            let row = |place: usize| &weights.get(place).unwrap_or(&weights[0])[range.clone()];
            let value = |place: usize| values.get(place).copied().unwrap_or(0);
            add_four(
                machine,
                sums,
                [row(0), row(1), row(2), row(3)],
                [value(0), value(1), value(2), value(3)],
            );
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

    fn reached_by(machine: Machine, k: usize, values: &[Self]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if machine.avx2 {
            #[allow(unsafe_code)]
            // SAFETY: AVX2 was detected.
            return unsafe { avx2::reached_by(k, values) };
        }
        super::reached_by(k, values)
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

/// Adds four dense features: `sums[c] += Σ values[i] * weights[i][c]`. All have the same length, a multiple of sixteen.
fn add_four(machine: Machine, sums: &mut [i32], weights: [&[i16]; 4], values: [i16; 4]) {
    assert!(sums.len().is_multiple_of(16) && weights.iter().all(|row| row.len() >= sums.len()));
    #[cfg(target_arch = "x86_64")]
    if machine.avx2 {
        #[allow(unsafe_code)]
        // SAFETY: AVX2 was detected, and the lengths were just checked.
        unsafe {
            avx2::add_four(sums, weights, values);
        }
        return;
    }
    for (weights, value) in weights.into_iter().zip(values) {
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
        _mm256_set1_epi32, _mm256_storeu_si256, _mm256_unpackhi_epi16, _mm256_unpacklo_epi16,
    };

    /// SAFETY: needs AVX2; `sums.len()` is a multiple of 16 and no slice of `weights` is shorter.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn add_four(sums: &mut [i32], weights: [&[i16]; 4], values: [i16; 4]) {
        let pair = |low: i16, high: i16| {
            _mm256_set1_epi32((u32::from(low as u16) | u32::from(high as u16) << 16) as i32)
        };
        let first = pair(values[0], values[1]);
        let second = pair(values[2], values[3]);
        let [a, b, c, d] = weights;
        // Plain expressions throughout: closures would not have these instructions unless the compiler happens to inline them.
        for start in (0..sums.len()).step_by(16) {
            // SAFETY: `start + 16` is within `sums` and, by contract, within each row of weights.
            unsafe {
                let a = _mm256_loadu_si256(a.as_ptr().add(start).cast::<__m256i>());
                let b = _mm256_loadu_si256(b.as_ptr().add(start).cast::<__m256i>());
                let c = _mm256_loadu_si256(c.as_ptr().add(start).cast::<__m256i>());
                let d = _mm256_loadu_si256(d.as_ptr().add(start).cast::<__m256i>());
                let low = _mm256_add_epi32(
                    _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), first),
                    _mm256_madd_epi16(_mm256_unpacklo_epi16(c, d), second),
                );
                let high = _mm256_add_epi32(
                    _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), first),
                    _mm256_madd_epi16(_mm256_unpackhi_epi16(c, d), second),
                );
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

    /// SAFETY: needs AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn reached_by(k: usize, values: &[i32]) -> i32 {
        super::super::reached_by(k, values)
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
