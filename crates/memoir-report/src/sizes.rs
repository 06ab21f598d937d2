//! Sizes and counts as people write them.

use std::time::Duration;

const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];

/// Reads a size: `512M`, `1.5G`, `800k`, or a number of bytes. `k` is 1,000 bytes, `M` a million, and so on.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(1.0),
        "K" | "KB" => Some(1e3),
        "M" | "MB" => Some(1e6),
        "G" | "GB" => Some(1e9),
        "T" | "TB" => Some(1e12),
        _ => None,
    };
    let number = digits
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|n| n.is_finite() && *n >= 0.0);
    match (number, factor) {
        (Some(number), Some(factor)) if number * factor >= 1.0 => Ok((number * factor) as u64),
        _ => Err("expected a size such as 512M or 2G".to_owned()),
    }
}

/// Writes a size in the largest unit that leaves at least 1.
pub fn show_size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 99.5);
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// Writes a whole number with commas between thousands.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a count with its noun: `1 row`, `2,000 rows`, `1 class`, `3 classes`.
pub fn show_counted(count: u64, noun: &str) -> String {
    let ending = match (count, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {noun}{ending}", show_count(count))
}

/// Writes a duration: `0.25 s`, `12 s`, `3 min 20 s`.
pub fn show_time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.95 {
        format!("{seconds:.2} s")
    } else if seconds < 119.5 {
        format!("{seconds:.0} s")
    } else {
        let whole = seconds.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("512M"), Ok(512_000_000));
        assert_eq!(parse_size("1.5 gb"), Ok(1_500_000_000));
        assert_eq!(parse_size("800"), Ok(800));
        for bad in ["", "M", "-1G", "1X", "nan", "0", "1e999"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_counts_and_times_are_shown() {
        assert_eq!(show_size(0), "0 B");
        assert_eq!(show_size(999_600), "1.0 MB");
        assert_eq!(show_size(123_456_789), "123 MB");
        assert_eq!(show_count(1_234_567), "1,234,567");
        assert_eq!(show_count(999), "999");
        assert_eq!(show_counted(1, "class"), "1 class");
        assert_eq!(show_counted(2000, "class"), "2,000 classes");
        assert_eq!(show_counted(0, "row"), "0 rows");
        assert_eq!(show_time(Duration::from_millis(250)), "0.25 s");
        assert_eq!(show_time(Duration::from_secs(200)), "3 min 20 s");
    }
}
