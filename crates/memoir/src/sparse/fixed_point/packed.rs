//! Weights of a feature in as few bytes as they can be read from directly: distances between classes instead
//! of class numbers, in one byte where classes are near each other, and weights of 8 or 16 bits.
//!
//! A row is a run of postings, by rising class. A posting is the number of classes passed over since the one
//! before it (since the beginning for the first), then its weight. The number takes one byte if it is below
//! 128; two bytes, the high half first with its top bit set, if it is below 32,767; else the two bytes
//! `ff ff` and four more, little-endian. With 8 bits the row begins with what its weights are multiplied by,
//! written like a distance.

/// Most weights of 8 bits on either side of zero.
const LARGEST: i32 = 127;

/// Distances from here on take six bytes.
const FAR: u32 = 0x7fff;

/// How many bits a weight takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// 8, in units of 1/127 of the feature's largest weight.
    Eight,
    /// 16: nothing is lost.
    Sixteen,
}

/// The packed weights of one feature.
#[derive(Debug, Clone, Copy)]
pub struct PackedRow<'a> {
    bytes: &'a [u8],
    bits: Bits,
}

impl<'a> PackedRow<'a> {
    /// The row that lies in `bytes`. Whatever they hold, reading them does no harm.
    pub fn new(bytes: &'a [u8], bits: Bits) -> Self {
        Self { bytes, bits }
    }

    /// Calls `visit` with each class and its weight. In a damaged row classes may have any number.
    #[inline]
    pub fn for_each(self, visit: impl FnMut(u32, i16)) {
        match self.bits {
            Bits::Eight => self.for_each_of_8(visit),
            Bits::Sixteen => self.for_each_of_16(visit),
        }
    }

    #[inline]
    fn for_each_of_8(self, mut visit: impl FnMut(u32, i16)) {
        let Some((factor, mut rest)) = number(self.bytes) else {
            return;
        };
        let factor = factor.min(i16::MAX as u32) as i32;
        let mut next = 0u32;
        while let Some((passed, [weight, after @ ..])) = number(rest) {
            let class = next.wrapping_add(passed);
            let weight = i32::from(*weight as i8) * factor;
            visit(class, weight.clamp(-32_767, 32_767) as i16);
            next = class.wrapping_add(1);
            rest = after;
        }
    }

    #[inline]
    fn for_each_of_16(self, mut visit: impl FnMut(u32, i16)) {
        let mut rest = self.bytes;
        let mut next = 0u32;
        while let Some((passed, [low, high, after @ ..])) = number(rest) {
            let class = next.wrapping_add(passed);
            visit(class, i16::from_le_bytes([*low, *high]));
            next = class.wrapping_add(1);
            rest = after;
        }
    }

    /// The weight of `class`; 0 if it has none.
    pub fn weight(self, class: u32) -> i16 {
        let mut found = 0;
        self.for_each(|other, weight| {
            if other == class {
                found = weight;
            }
        });
        found
    }
}

/// The number in front of `bytes`, and what follows it.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match bytes {
        [short @ 0..0x80, rest @ ..] => Some((u32::from(*short), rest)),
        [0xff, 0xff, a, b, c, d, rest @ ..] => Some((u32::from_le_bytes([*a, *b, *c, *d]), rest)),
        [0xff, 0xff, ..] => None,
        [high, low, rest @ ..] => Some((u32::from(high & 0x7f) << 8 | u32::from(*low), rest)),
        _ => None,
    }
}

pub(crate) fn push_number(number: u32, out: &mut Vec<u8>) {
    if number < 0x80 {
        out.push(number as u8);
    } else if number < FAR {
        out.extend([0x80 | (number >> 8) as u8, number as u8]);
    } else {
        out.extend([0xff, 0xff]);
        out.extend(number.to_le_bytes());
    }
}

/// Appends the weights of a feature, by rising class. Weights that round to zero are left out.
pub fn pack(postings: &[(u32, i16)], bits: Bits, out: &mut Vec<u8>) {
    let largest = postings
        .iter()
        .map(|posting| i32::from(posting.1).abs())
        .max()
        .unwrap_or(0);
    if largest == 0 {
        return;
    }
    let factor = match bits {
        Bits::Eight => (largest + LARGEST - 1) / LARGEST,
        Bits::Sixteen => 1,
    };
    if bits == Bits::Eight {
        push_number(factor as u32, out);
    }
    let mut next = 0;
    for &(class, weight) in postings {
        let weight = i32::from(weight);
        // Halves away from zero, as everywhere in this format.
        let units = (2 * weight.abs() + factor) / (2 * factor) * weight.signum();
        if units == 0 {
            continue;
        }
        push_number(class - next, out);
        match bits {
            Bits::Eight => out.push(units.clamp(-LARGEST, LARGEST) as i8 as u8),
            Bits::Sixteen => out.extend((units as i16).to_le_bytes()),
        }
        next = class + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unpacked(bytes: &[u8], bits: Bits) -> Vec<(u32, i16)> {
        let mut postings = vec![];
        PackedRow::new(bytes, bits).for_each(|class, weight| postings.push((class, weight)));
        postings
    }

    proptest! {
        #[test]
        fn what_is_packed_is_read_back(
            postings in proptest::collection::btree_map(
                prop_oneof![0u32..300, 0u32..100_000, 0u32..4_000_000_000], -32_767i16..=32_767, 0..60),
        ) {
            let postings: Vec<_> = postings.into_iter().filter(|posting| posting.1 != 0).collect();
            let mut bytes = vec![];
            pack(&postings, Bits::Sixteen, &mut bytes);
            prop_assert_eq!(unpacked(&bytes, Bits::Sixteen), postings.clone());
            bytes.clear();
            pack(&postings, Bits::Eight, &mut bytes);
            let largest = postings.iter().map(|posting| i32::from(posting.1).abs()).max().unwrap_or(0);
            let got = unpacked(&bytes, Bits::Eight);
            let unit = f64::from((largest + 126) / 127);
            for (class, weight) in &postings {
                let back = got.iter().find(|posting| posting.0 == *class).map_or(0, |posting| posting.1);
                prop_assert!((f64::from(back) - f64::from(*weight)).abs() <= unit / 2.0 + 127.0, "{} {}", back, weight);
                prop_assert_eq!(PackedRow::new(&bytes, Bits::Eight).weight(*class), back);
            }
            prop_assert!(got.is_sorted_by(|a, b| a.0 < b.0));
        }

        #[test]
        fn random_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for bits in [Bits::Eight, Bits::Sixteen] {
                prop_assert!(unpacked(&bytes, bits).len() <= bytes.len());
            }
        }
    }

    #[test]
    fn near_classes_take_two_bytes_a_weight() {
        let postings: Vec<(u32, i16)> = (0..100).map(|class| (class * 90, 5)).collect();
        let mut bytes = vec![];
        pack(&postings, Bits::Eight, &mut bytes);
        assert_eq!(bytes.len(), 201);
        bytes.clear();
        pack(&[(3, 0)], Bits::Eight, &mut bytes);
        assert!(bytes.is_empty());
    }
}
