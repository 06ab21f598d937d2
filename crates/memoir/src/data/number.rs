//! Reads numbers out of bytes, fast where they are plain and exactly like the standard library everywhere.

/// Why a value cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadValue {
    /// Not a number at all.
    NotANumber,
    /// `nan` or `inf`, written out.
    NotFinite,
    /// A number beyond [`LARGEST`].
    TooLarge,
}

/// Largest absolute value. Sums of any number of such values, and of their squares, stay within a 32-bit
/// float.
pub(super) const LARGEST: f32 = 1e16;

/// Digits that the fast way reads at most: a `u64` holds any 18 of them.
const MAX_DIGITS: usize = 18;

/// Powers of ten, all of which an `f64` holds exactly.
const POWERS_OF_TEN: [f64; MAX_DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
];

/// Reads the digits at the start of `bytes`: the number, saturated, and how many digits there are.
pub(super) fn leading_digits(bytes: &[u8]) -> (u64, usize) {
    if let Some(short) = bytes.first_chunk().copied().and_then(short_digits) {
        return short;
    }
    let mut number = 0u64;
    let mut length = 0;
    while let Some(digit) = bytes
        .get(length)
        .map(|byte| byte.wrapping_sub(b'0'))
        .filter(|&digit| digit <= 9)
    {
        number = number.saturating_mul(10).saturating_add(u64::from(digit));
        length += 1;
    }
    (number, length)
}

/// Reads up to seven digits at once, without a loop whose number of turns the processor would have to guess.
/// `None` if there are eight digits or more.
fn short_digits(bytes: [u8; 8]) -> Option<(u64, usize)> {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    // The first digit is in the lowest byte. Digits become 0 to 9.
    let values = u64::from_le_bytes(bytes) ^ 0x3030_3030_3030_3030;
    // Adding 118 sets the high bit of a byte over 9. What is carried into higher bytes does not matter: only
    // the first byte that is not a digit is looked for.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGH_BITS;
    if others == 0 {
        return None;
    }
    let length = others.trailing_zeros() / 8;
    if length == 0 {
        return Some((0, 0));
    }
    // Shifted so that the last digit is in the highest byte, with zeros before the first. Neighbours are
    // then joined to numbers of two, of four and of eight digits.
    let ones = values << (64 - 8 * length);
    let twos = (ones & 0x00ff_00ff_00ff_00ff) * 10 + ((ones >> 8) & 0x00ff_00ff_00ff_00ff);
    let fours = (twos & 0x0000_ffff_0000_ffff) * 100 + ((twos >> 16) & 0x0000_ffff_0000_ffff);
    let eight = (fours & 0xffff_ffff) * 10_000 + (fours >> 32);
    Some((eight, length as usize))
}

/// Reads a plain decimal (`-12.5`) at the start of `bytes`: the value and its length. `None` if the number
/// is not plain, or not certain to be rounded as `str::parse` does, or not followed by what `ends` accepts.
pub(super) fn plain_decimal(bytes: &[u8], ends: impl Fn(u8) -> bool) -> Option<(f32, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let mut position = usize::from(negative);
    let start = position;
    let mut mantissa = 0u64;
    let mut decimals = 0;
    let mut digits = 0;
    let mut seen_point = false;
    loop {
        let byte = *bytes.get(position)?;
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            mantissa = mantissa * 10 + u64::from(digit);
            digits += 1;
            decimals += usize::from(seen_point);
            if digits > MAX_DIGITS {
                return None;
            }
        } else if byte == b'.' && !seen_point && position > start {
            seen_point = true;
        } else if ends(byte) {
            break;
        } else {
            return None;
        }
        position += 1;
    }
    if digits == 0 || mantissa >= 1 << 53 {
        return None;
    }
    // Both operands are exact, so the quotient is the f64 nearest to the number. Rounding that to f32 gives
    // the f32 nearest to the number unless the f64 lies within one step of the middle between two f32s.
    let nearest = mantissa as f64 / POWERS_OF_TEN[decimals];
    let below_f32 = nearest.to_bits() & 0x1fff_ffff;
    if decimals > 0 && below_f32.abs_diff(0x1000_0000) <= 1 {
        return None;
    }
    let value = nearest as f32;
    Some((if negative { -value } else { value }, position))
}

/// Reads a whole token as a finite value.
pub(super) fn whole_value(token: &[u8]) -> Result<f32, BadValue> {
    let text = std::str::from_utf8(token).map_err(|_| BadValue::NotANumber)?;
    let value: f32 = text.parse().map_err(|_| BadValue::NotANumber)?;
    if value.abs() <= LARGEST {
        Ok(value)
    } else if token.iter().any(u8::is_ascii_digit) {
        Err(BadValue::TooLarge)
    } else {
        Err(BadValue::NotFinite)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a reader does: the fast way if it answers, else the slow one.
    fn read(text: &str) -> Result<f32, BadValue> {
        let line = format!("{text} ");
        match plain_decimal(line.as_bytes(), |byte| byte == b' ') {
            Some((value, length)) => {
                assert_eq!(length, text.len());
                Ok(value)
            }
            None => whole_value(text.as_bytes()),
        }
    }

    #[test]
    fn refuses_what_is_no_finite_number() {
        for text in [
            "", "-", ".", "-.", "1.2.3", "1-", "0x10", "1,5", "--1", "1_000", "é",
        ] {
            assert_eq!(read(text), Err(BadValue::NotANumber), "{text}");
        }
        for text in ["nan", "NaN", "inf", "-inf", "infinity"] {
            assert_eq!(read(text), Err(BadValue::NotFinite), "{text}");
        }
        for text in [
            "1.1e16",
            "-20000000000000000",
            "1e39",
            "-1e999",
            "340282356779733661637539395458142568448",
        ] {
            assert_eq!(read(text), Err(BadValue::TooLarge), "{text}");
        }
    }

    #[test]
    fn middles_between_floats_are_left_to_the_exact_parser() {
        // 16777217 lies in the middle of two floats; the decimals push it to either side.
        for text in [
            "16777217",
            "16777217.000000001",
            "16777216.999999999",
            "0.1",
            "4.2",
            "0.30000001",
        ] {
            assert_eq!(read(text), Ok(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn leading_digits_stop_and_saturate() {
        assert_eq!(leading_digits(b"120:5"), (120, 3));
        assert_eq!(leading_digits(b"x"), (0, 0));
        assert_eq!(leading_digits(b"99999999999999999999999"), (u64::MAX, 23));
    }

    proptest! {
        #[test]
        fn digits_are_read_like_the_standard_parser_does(digits in "[0-9]{0,12}", behind in "(|[^0-9])[ -~]{0,9}") {
            let bytes = [digits.as_bytes(), behind.as_bytes()].concat();
            let length = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
            let number = std::str::from_utf8(&bytes[..length]).unwrap().parse().unwrap_or(0);
            prop_assert_eq!(leading_digits(&bytes), (number, length));
        }

        #[test]
        fn equals_the_standard_parser(text in "-?[0-9]{0,20}(\\.[0-9]{0,20})?(e-?[0-9]{1,2})?") {
            let expected = text.parse::<f32>().ok().filter(|value| value.abs() <= LARGEST);
            prop_assert_eq!(read(&text).ok().map(f32::to_bits), expected.map(f32::to_bits));
        }

        #[test]
        fn reads_back_every_float(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(value.abs() <= LARGEST);
            prop_assert_eq!(read(&value.to_string()).map(f32::to_bits), Ok(bits));
        }

        #[test]
        fn short_decimals_take_the_fast_way(whole in 0u32..100_000, decimals in 0u32..1000) {
            let text = format!("{whole}.{decimals} ");
            let fast = plain_decimal(text.as_bytes(), |byte| byte == b' ').map(|(value, _)| value);
            // Only what lies next to the middle of two floats is left to the slow way.
            let nearest: f64 = text.trim().parse().unwrap();
            let is_certain = (nearest.to_bits() & 0x1fff_ffff).abs_diff(0x1000_0000) > 1;
            prop_assert_eq!(fast, is_certain.then(|| text.trim().parse().unwrap()));
        }
    }
}
