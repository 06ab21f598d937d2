//! The inner loops of the search: add dense rows, find block maxima, find a bound that enough of them reach,
//! tell what beats a threshold. Each exists twice, with AVX2 and in plain Rust; both give the same integers.
//! And each exists for two kinds of [`Sum`].

// Elsewhere nobody asks which instructions there are.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, unused_variables))]

mod exact;
mod rough;
mod scale;

use super::LANES;
pub(crate) use scale::SumScale;

/// Which instructions the machine has; asked once, not per call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
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
}

/// What scores are added up in: 32 bits, or 16 bits that leave out what hardly decides on rivals.
pub(crate) trait Sum: Copy + Default + Ord + Into<i32> + Sync + Send + std::fmt::Debug {
    /// The lowest, below every score.
    const LOWEST: Self;

    /// A row's value as it is multiplied with weights, such that no sum can overflow.
    fn value(value: i16, scale: SumScale) -> i16;

    /// This number, which is between two sums.
    fn of(number: i32) -> Self;

    /// Adds a weight times a value, which [`Sum::value`] gave.
    fn add(&mut self, weight: i16, value: i16);

    /// Adds dense features to a strip: `sums[c] += Σ values[i] * weights[i][start + c]`. The strip's length
    /// is a multiple of sixteen.
    fn add_dense(machine: Machine, sums: &mut [Self], weights: &[&[i16]], values: &[i16], start: usize);

    /// Appends the maximum of each block of [`LANES`] sums to `maxima`; sums beyond the last whole block are
    /// left out.
    fn push_block_maxima(machine: Machine, sums: &[Self], maxima: &mut Vec<Self>);

    /// How many of `values` are `bound` or more; always inlined, so that each caller has it with its own
    /// instructions.
    fn reaching(values: &[Self], bound: Self) -> usize;

    /// Bit `i` says whether `block[i]` is above `threshold`.
    fn above(machine: Machine, block: &[Self; LANES], threshold: i32) -> u64;
}

/// See [`Sum::push_block_maxima`].
fn push_block_maxima<S: Sum>(sums: &[S], maxima: &mut Vec<S>) {
    let blocks = sums.chunks_exact(LANES);
    maxima.extend(blocks.map(|block| block.iter().copied().max().unwrap_or(S::LOWEST)));
}

/// See [`Sum::above`].
fn above<S: Sum>(block: &[S; LANES], threshold: i32) -> u64 {
    let bits = block.iter().zip(0..);
    bits.fold(0, |bits, (&sum, lane)| {
        bits | u64::from(sum.into() > threshold) << lane
    })
}

/// A number above `floor` that at least `k` of `values` reach, and not many more, or `floor` if fewer are
/// above it. There are at least `k`.
pub(super) fn reached_by<S: Sum>(machine: Machine, k: usize, values: &[S], floor: i32) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if machine.avx2 {
        /// SAFETY: needs AVX2.
        #[target_feature(enable = "avx2")]
        #[allow(unsafe_code)]
        unsafe fn with_avx2<S: Sum>(k: usize, values: &[S], floor: i32) -> i32 {
            bisect(k, values, floor)
        }
        #[allow(unsafe_code)]
        // SAFETY: AVX2 was detected.
        return unsafe { with_avx2(k, values, floor) };
    }
    bisect(k, values, floor)
}

/// See [`reached_by`]. Inlined, so that each caller has it with its own instructions.
#[inline(always)]
#[allow(clippy::inline_always)]
fn bisect<S: Sum>(k: usize, values: &[S], floor: i32) -> i32 {
    // Bisection: counting is quicker than sorting, and a few rounds come near enough.
    let (mut least, mut most) = (values[0], values[0]);
    for &value in values {
        (least, most) = (least.min(value), most.max(value));
    }
    let (least, most): (i32, i32) = (least.into(), most.into());
    let (mut low, mut high) = (i64::from(least), i64::from(most) + 1);
    if floor >= least {
        if floor >= most || S::reaching(values, S::of(floor + 1)) < k {
            return floor;
        }
        low = i64::from(floor) + 1;
    }
    // At least k reach `low`, fewer reach `high`.
    while high - low > 1 {
        let middle = i64::midpoint(low, high);
        let reaching = S::reaching(values, S::of(middle as i32));
        if reaching >= k {
            low = middle;
            if reaching <= k + k / 4 {
                break;
            }
        } else {
            high = middle;
        }
    }
    low as i32
}

#[cfg(test)]
mod tests;
