//! The four inner loops: add dense rows, find block maxima, find a bound that enough of them reach, offer what beats a threshold.
//! Each exists twice, with AVX2 and in plain Rust; both give the same integers.

use super::LANES;
use super::select::Best;

/// Which instructions the machine has; asked once, not per call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine {
    avx2: bool,
}

impl Machine {
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        let avx2 = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let avx2 = false;
        Self { avx2 }
    }

    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { avx2: false }
    }

    /// Adds four dense features to a strip: `sums[c] += Σ values[i] * weights[i][c]`.
    ///
    /// The strip's length is a multiple of sixteen and no slice of `weights` is shorter.
    pub(super) fn add_four(self, sums: &mut [i32], weights: [&[i16]; 4], values: [i16; 4]) {
        assert!(sums.len().is_multiple_of(16) && weights.iter().all(|row| row.len() >= sums.len()));
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[allow(unsafe_code)]
            // SAFETY: AVX2 was detected, and the lengths were just checked.
            unsafe {
                avx2::add_four(sums, weights, values);
            }
            return;
        }
        let [a, b, c, d] = weights;
        for ((((sum, &a), &b), &c), &d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let products = [(a, 0), (b, 1), (c, 2), (d, 3)]
                .map(|(w, i): (i16, usize)| i32::from(w) * i32::from(values[i]));
            *sum = products.into_iter().fold(*sum, i32::wrapping_add);
        }
    }

    /// Appends the maximum of each block of [`LANES`] sums to `maxima`; sums beyond the last whole block are left out.
    pub(super) fn push_block_maxima(self, sums: &[i32], maxima: &mut Vec<i32>) {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[allow(unsafe_code)]
            // SAFETY: AVX2 was detected.
            unsafe {
                avx2::block_maxima(sums, maxima);
            }
            return;
        }
        let blocks = sums.chunks_exact(LANES);
        maxima.extend(blocks.map(|block| block.iter().copied().max().unwrap_or(i32::MIN)));
    }

    /// A number that at least `k` of `values` reach, and not many more. There are at least `k`.
    pub(super) fn reached_by(self, k: usize, values: &[i32]) -> i32 {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[allow(unsafe_code)]
            // SAFETY: AVX2 was detected.
            return unsafe { avx2::reached_by(k, values) };
        }
        reached_by(k, values)
    }

    /// Offers every sum of `block` above the threshold of `best` as the class of its position, counted from `first`.
    pub(super) fn offer_block(self, block: &[i32; LANES], first: u32, best: &mut Best) {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[allow(unsafe_code)]
            // SAFETY: AVX2 was detected.
            let mut above = unsafe { avx2::above(block, best.threshold()) };
            while above != 0 {
                let lane = above.trailing_zeros();
                above &= above - 1;
                best.offer(block[lane as usize], first + lane);
            }
            return;
        }
        best.offer_all(block, first);
    }
}

/// See [`Machine::reached_by`]. Inlined, so that each caller has it with its own instructions.
#[inline(always)]
#[allow(clippy::inline_always)]
fn reached_by(k: usize, values: &[i32]) -> i32 {
    // Bisection: counting is quicker than sorting, and a few rounds come near enough.
    let (least, most) = values.iter().fold((i32::MAX, i32::MIN), |(least, most), &value| {
        (least.min(value), most.max(value))
    });
    let (mut low, mut high) = (i64::from(least), i64::from(most) + 1);
    // At least k reach `low`, fewer reach `high`.
    while high - low > 1 {
        let middle = i64::midpoint(low, high) as i32;
        let reaching = values
            .iter()
            .map(|&value| u32::from(value >= middle))
            .sum::<u32>() as usize;
        if reaching >= k {
            low = i64::from(middle);
            if reaching <= k + k / 4 {
                break;
            }
        } else {
            high = i64::from(middle);
        }
    }
    low as i32
}

#[cfg(target_arch = "x86_64")]
// The loads and stores are of the kind that needs no alignment.
#[allow(unsafe_code, clippy::cast_ptr_alignment)]
mod avx2 {
    use super::LANES;
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
        super::reached_by(k, values)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_paths_agree(
            start in proptest::collection::vec(-1000i32..1000, 192),
            weights in proptest::collection::vec(any::<i16>(), 4 * 192),
            values in any::<[i16; 4]>(),
            floor in -2_000_000i32..2_000_000,
        ) {
            let rows = [&weights[..192], &weights[192..384], &weights[384..576], &weights[576..]];
            let values = values.map(|v| v / 4);
            let mut results = vec![];
            for machine in [Machine::detect(), Machine::plain()] {
                let mut sums = start.clone();
                machine.add_four(&mut sums, rows, values);
                let mut maxima = vec![];
                machine.push_block_maxima(&sums, &mut maxima);
                let after_add = sums.clone();
                let mut best = Best::default();
                best.start(5, floor);
                for (first, block) in (0..).step_by(LANES).zip(sums.as_chunks().0) {
                    machine.offer_block(block, first, &mut best);
                }
                let mut out = vec![];
                best.finish(&mut out);
                results.push((after_add, maxima, out));
            }
            prop_assert_eq!(&results[0], &results[1]);
            for (class, &sum) in results[0].0.iter().enumerate() {
                let expected = (0..4).fold(start[class], |s, i| {
                    s.wrapping_add(i32::from(rows[i][class]) * i32::from(values[i]))
                });
                prop_assert_eq!(sum, expected);
            }
        }
    }

    #[test]
    fn enough_values_reach_the_bound() {
        for (k, machine) in (1..9).flat_map(|k| [(k, Machine::detect()), (k, Machine::plain())]) {
            assert_eq!(machine.reached_by(k, &[5; 9]), 5);
            let values = [-7, i32::MAX, 3, 0, i32::MIN, 90, 4, 4, -1];
            let bound = machine.reached_by(k, &values);
            let reaching = |bound: i32| values.iter().filter(|&&value| value >= bound).count();
            assert!(reaching(bound) >= k, "{k}: {bound}");
            assert!(
                reaching(bound) <= k + k / 4 || reaching(bound + 1) < k,
                "{k}: {bound}"
            );
        }
    }
}
