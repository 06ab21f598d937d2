//! Arrays of numbers as little-endian bytes, and back without trusting them.

use crate::{Error, Result};

/// Appends numbers to `bytes`.
macro_rules! put {
    ($name:ident, $kind:ty) => {
        pub(super) fn $name(bytes: &mut Vec<u8>, numbers: impl IntoIterator<Item = $kind>) {
            for number in numbers {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
    };
}

put!(put_u16, u16);
put!(put_u32, u32);
put!(put_u64, u64);
put!(put_f32, f32);

/// Takes arrays off the front of bytes that may be damaged.
pub(super) struct Taken<'b> {
    rest: &'b [u8],
}

/// The bytes do not hold what they should.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damaged;

impl Damaged {
    /// The error for the file `name`.
    pub(super) fn error(name: &str) -> Error {
        Error::input(
            name,
            "is damaged: its content contradicts itself; prepare the data again",
        )
    }
}

impl<'b> Taken<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'b [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn arrays<const N: usize>(&mut self, count: usize) -> Result<&'b [[u8; N]], Damaged> {
        let bytes = self.bytes(count.checked_mul(N).ok_or(Damaged)?)?;
        Ok(bytes.as_chunks().0)
    }

    pub(super) fn u16s(&mut self, count: usize) -> Result<impl ExactSizeIterator<Item = u16>, Damaged> {
        Ok(self.arrays(count)?.iter().map(|bytes| u16::from_le_bytes(*bytes)))
    }

    pub(super) fn u32s(&mut self, count: usize) -> Result<impl ExactSizeIterator<Item = u32>, Damaged> {
        Ok(self.arrays(count)?.iter().map(|bytes| u32::from_le_bytes(*bytes)))
    }

    pub(super) fn u64s(&mut self, count: usize) -> Result<impl ExactSizeIterator<Item = u64>, Damaged> {
        Ok(self.arrays(count)?.iter().map(|bytes| u64::from_le_bytes(*bytes)))
    }

    pub(super) fn f32s(&mut self, count: usize) -> Result<impl ExactSizeIterator<Item = f32>, Damaged> {
        Ok(self.arrays(count)?.iter().map(|bytes| f32::from_le_bytes(*bytes)))
    }

    /// A single number.
    pub(super) fn u32(&mut self) -> Result<u32, Damaged> {
        self.u32s(1)?.next().ok_or(Damaged)
    }

    /// Numbers below `limit`, in 16 bits if that is enough for all that are.
    pub(super) fn below(&mut self, limit: usize, count: usize) -> Result<Vec<u32>, Damaged> {
        let numbers: Vec<u32> = if is_short(limit) {
            self.u16s(count)?.map(u32::from).collect()
        } else {
            self.u32s(count)?.collect()
        };
        let fit = numbers.iter().all(|&number| (number as usize) < limit);
        fit.then_some(numbers).ok_or(Damaged)
    }

    /// Where parts end whose lengths come next.
    pub(super) fn ends(&mut self, parts: usize) -> Result<Vec<usize>, Damaged> {
        let ends = self.u32s(parts)?.scan(0, |end, length| {
            *end += length as usize;
            Some(*end)
        });
        Ok(ends.collect())
    }

    /// Names: their lengths, then their text.
    pub(super) fn names(&mut self, count: usize) -> Result<Vec<&'b str>, Damaged> {
        let ends = self.ends(count)?;
        let bytes = self.bytes(ends.last().copied().unwrap_or(0))?;
        let text = std::str::from_utf8(bytes).map_err(|_| Damaged)?;
        let mut start = 0;
        let name = |end: usize| text.get(std::mem::replace(&mut start, end)..end).ok_or(Damaged);
        ends.into_iter().map(name).collect()
    }
}

/// Whether numbers below `limit` fit into 16 bits.
fn is_short(limit: usize) -> bool {
    limit <= 1 << 16
}

/// Appends numbers that are below `limit`.
pub(super) fn put_below(bytes: &mut Vec<u8>, limit: usize, numbers: impl IntoIterator<Item = u32>) {
    if is_short(limit) {
        put_u16(bytes, numbers.into_iter().map(|number| number as u16));
    } else {
        put_u32(bytes, numbers);
    }
}

/// Appends names: their lengths, then their text.
pub(super) fn put_names<'n>(bytes: &mut Vec<u8>, names: impl Iterator<Item = &'n str> + Clone) {
    put_u32(bytes, names.clone().map(|name| name.len() as u32));
    for name in names {
        bytes.extend_from_slice(name.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_come_back_and_damage_is_seen() {
        let mut bytes = Vec::new();
        put_below(&mut bytes, 300, [7, 299]);
        put_below(&mut bytes, 1 << 20, [1 << 19]);
        put_names(&mut bytes, ["łódź", "", "b"].into_iter());
        let mut taken = Taken::new(&bytes);
        assert_eq!(taken.below(300, 2).unwrap(), [7, 299]);
        assert_eq!(taken.below(1 << 20, 1).unwrap(), [1 << 19]);
        assert_eq!(taken.names(3).unwrap(), ["łódź", "", "b"]);
        assert_eq!(taken.u32().unwrap_err(), Damaged);
        assert_eq!(Taken::new(&bytes).below(299, 2).unwrap_err(), Damaged);
        let cut = Taken::new(&[1, 0, 0, 0, 0xc5]).names(1);
        assert_eq!(cut.unwrap_err(), Damaged, "half a character");
    }
}
