//! Standard output: results go there whole, and what keeps them from getting there is said like every other error.

use std::io::{self, Write};
use std::path::Path;

use memoir::Error;

/// Writes `text`, which ends its lines itself.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// The same of bytes that others made.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(write_error)?;
    Ok(())
}

/// What a failed write to standard output means.
pub(crate) fn write_error(reason: io::Error) -> Error {
    Error::io(Path::new("<stdout>"), "cannot write", reason)
}

/// A name as tables for people show it: as it is, but for what would break the line or the terminal.
pub(crate) fn on_one_line(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() || c == '\\' {
            shown.extend(c.escape_debug());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_as_they_are_where_they_can() {
        assert_eq!(on_one_line("men's \"shoes\" – é"), "men's \"shoes\" – é");
        assert_eq!(on_one_line("a\tb\\c\u{1b}"), "a\\tb\\\\c\\u{1b}");
    }
}
