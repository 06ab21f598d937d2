//! Numbers that look random, the same in every run.

/// A stream of numbers that look random.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    /// The next number below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }
}
