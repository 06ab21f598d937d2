//! A weight with its class, as it lies in memory and in model files.

use bytemuck::{Pod, Zeroable};

/// A class and its weight in fixed-point units.
pub trait Posting: Pod + Send + Sync {
    /// Most classes it can tell apart.
    const CLASSES: usize;
    /// Packs the two.
    fn new(class: u32, weight: i16) -> Self;
    /// The class.
    fn class(self) -> u32;
    /// Its weight.
    fn weight(self) -> i16;
}

/// Four bytes: for up to 65,536 classes. Low half the weight, high half the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Narrow(u32);

impl Posting for Narrow {
    const CLASSES: usize = 1 << 16;

    #[inline]
    fn new(class: u32, weight: i16) -> Self {
        Self(class << 16 | u32::from(weight as u16))
    }

    #[inline]
    fn class(self) -> u32 {
        self.0 >> 16
    }

    #[inline]
    fn weight(self) -> i16 {
        self.0 as i16
    }
}

/// Six bytes: for any number of classes. Packed, so that each of the two is read at once, wherever it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, packed(2))]
pub struct Wide {
    weight: i16,
    class: u32,
}

impl Posting for Wide {
    const CLASSES: usize = u32::MAX as usize;

    #[inline]
    fn new(class: u32, weight: i16) -> Self {
        Self { weight, class }
    }

    #[inline]
    fn class(self) -> u32 {
        self.class
    }

    #[inline]
    fn weight(self) -> i16 {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn postings_keep_what_they_are_given(class in 0u32..1 << 31, weight in any::<i16>()) {
            let wide = Wide::new(class, weight);
            prop_assert_eq!((wide.class(), wide.weight()), (class, weight));
            let narrow = Narrow::new(class & 0xffff, weight);
            prop_assert_eq!((narrow.class(), narrow.weight()), (class & 0xffff, weight));
        }
    }
}
