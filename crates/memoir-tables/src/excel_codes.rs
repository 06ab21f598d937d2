//! Codes that Excel stores as numbers and shows by a format such as `00000` or `00-0000`: 123 is `00123`.

use calamine::Style;

/// A number format that makes a code of a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeFormat {
    /// What is shown; `None` stands for a digit.
    parts: Vec<Option<char>>,
}

impl CodeFormat {
    /// The one of `style`, if it has one.
    pub(crate) fn of(style: &Style) -> Option<Self> {
        Self::parse(&style.number_format.as_ref()?.format_code)
    }

    /// Nothing for formats that are not made of at least two digits, and literal text between them.
    fn parse(format: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = format.chars();
        while let Some(character) = rest.next() {
            match character {
                '0' => parts.push(None),
                '\\' => parts.push(Some(rest.next()?)),
                '"' => parts.extend(rest.by_ref().take_while(|&inside| inside != '"').map(Some)),
                '-' | '/' | ' ' | ':' | '(' | ')' => parts.push(Some(character)),
                _ => return None,
            }
        }
        (parts.iter().filter(|part| part.is_none()).count() > 1).then_some(Self { parts })
    }

    /// `number` as it is shown; a number that is no code, as it is.
    pub(crate) fn write(&self, number: f64) -> String {
        if number < 0.0 || number.fract() != 0.0 || number >= 1e15 {
            return number.to_string();
        }
        let digits = number.to_string();
        let places = self.parts.iter().filter(|part| part.is_none()).count();
        let padded = format!("{digits:0>places$}");
        // The first place takes the digits that have no place of their own.
        let (more, placed) = padded.split_at(padded.len() - places);
        let mut placed = placed.chars();
        let mut code = String::new();
        let mut is_first = true;
        for part in &self.parts {
            if let Some(literal) = part {
                code.push(*literal);
                continue;
            }
            if std::mem::take(&mut is_first) {
                code.push_str(more);
            }
            code.extend(placed.next());
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are_shown() {
        let shown = |format: &str, number: f64| CodeFormat::parse(format).map(|code| code.write(number));
        assert_eq!(shown("0000", 123.0).as_deref(), Some("0123"));
        assert_eq!(shown("00\\-0000", 112_021.0).as_deref(), Some("11-2021"));
        assert_eq!(shown("00-0000", 1_112_021.0).as_deref(), Some("111-2021"));
        assert_eq!(shown("\"K\"000", 7.0).as_deref(), Some("K007"));
        assert_eq!(shown("0000", 1.5).as_deref(), Some("1.5"));
        assert_eq!(shown("0000", -1.0).as_deref(), Some("-1"));
        for plain in ["General", "0", "0.00", "#,##0", "0%", "yyyy-mm-dd", ""] {
            assert_eq!(shown(plain, 1.0), None, "{plain}");
        }
    }
}
