//! Formats of one row per line: the walk over the lines, and the plainest of them, raw text without labels.

use super::parsed::{Parsed, Problem};

/// Calls `read` with every line of `bytes`, without its end, and the line's number; a problem makes the line
/// a bad row, and ends the walk unless bad rows are skipped.
pub(super) fn for_each_line<'b>(
    bytes: &'b [u8],
    skip_bad_rows: bool,
    parsed: &mut Parsed,
    mut read: impl FnMut(&'b str, u64, &mut Parsed) -> Result<(), Problem>,
) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
        rest = rest.get(length + 1..).unwrap_or_default();
        let number = parsed.tally.lines;
        parsed.tally.lines += 1;
        let result = valid_text(line).and_then(|line| read(line, number, parsed));
        if let Err(problem) = result {
            parsed.push_bad(number, problem);
            if !skip_bad_rows {
                break;
            }
        }
    }
}

/// `bytes` as text, or where they stop being text.
pub(super) fn valid_text(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|reason| {
        let index = reason.valid_up_to();
        Problem::new(
            index,
            format!("expected UTF-8 text, found the byte 0x{:02x}", bytes[index]),
        )
    })
}

/// Parses lines of raw text. Every line is a row, blank ones too, so that answers stay beside their
/// questions. `keep` says whether lines go to the output, too.
pub(super) fn parse_raw(bytes: &[u8], skip_bad_rows: bool, keep: bool, parsed: &mut Parsed) {
    for_each_line(bytes, skip_bad_rows, parsed, |line, number, parsed| {
        if keep {
            parsed.kept.push(line);
        }
        parsed.texts.push(line);
        parsed.push_row(number, std::iter::empty(), None);
        Ok(())
    });
}
