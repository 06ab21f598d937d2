//! Names of classes and features as results show them.

use std::io::{self, Write};

/// Names may hold anything: what would break a line or a column is written as `\n`, `\r`, `\t`, and `\`
/// as `\\`.
pub fn write_escaped(out: &mut impl Write, name: &str) -> io::Result<()> {
    let mut rest = name;
    while let Some(index) = rest.find(['\\', '\t', '\n', '\r']) {
        out.write_all(&rest.as_bytes()[..index])?;
        out.write_all(match rest.as_bytes()[index] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            _ => b"\\\\",
        })?;
        rest = &rest[index + 1..];
    }
    out.write_all(rest.as_bytes())
}

/// A name as tables for people show it: as it is, but for what would break the line or the terminal.
pub fn on_one_line(name: &str) -> String {
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

/// A class as tables for people show it: its label and, in brackets, what a vocabulary calls it. A name
/// that says the same is left out.
pub fn with_name(label: &str, name: Option<&str>) -> String {
    match name.filter(|name| *name != label) {
        Some(name) => format!("{} ({})", on_one_line(label), on_one_line(name)),
        None => on_one_line(label),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_as_they_are_where_they_can() {
        assert_eq!(on_one_line("men's \"shoes\" – é"), "men's \"shoes\" – é");
        assert_eq!(on_one_line("a\tb\\c\u{1b}"), "a\\tb\\\\c\\u{1b}");
    }

    #[test]
    fn names_stand_in_brackets_unless_they_are_the_label() {
        assert_eq!(with_name("p10", Some("soil\n")), "p10 (soil\\n)");
        assert_eq!(with_name("soil", Some("soil")), "soil");
        assert_eq!(with_name("p10", None), "p10");
    }
}
