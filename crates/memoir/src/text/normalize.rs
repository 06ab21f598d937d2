//! One spelling for each word: compatibility forms are unified (NFKC), letters made lower case.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Characters that only steer layout. Inside a word they would make two spellings of it.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{2060}' | '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}')
}

/// Lower case of `c`. The Turkish capital İ becomes a plain i: Unicode's own rule leaves a combining dot
/// behind, which would make İstanbul and istanbul two words.
fn lower(c: char) -> std::char::ToLowercase {
    if c == 'İ' { 'I' } else { c }.to_lowercase()
}

/// `text` without layout characters, in NFKC and lower case. Lower-casing can undo composition (J̌ has no
/// composed form but ǰ has), so composition comes once more at the end.
fn normalized(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|&c| !is_invisible(c))
        .nfkc()
        .flat_map(lower)
        .nfkc()
}

/// Appends the normal form of `text` to `out`.
pub(crate) fn normalize(text: &str, out: &mut String) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        out[start..].make_ascii_lowercase();
    } else {
        out.extend(normalized(text));
    }
}

/// Where the pieces of a normal form come from in the original.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// End of each piece in the normal form, and in the original. No pieces: both are the same.
    ends: Vec<(usize, usize)>,
}

impl Origins {
    /// Writes the normal form of `text` to `out`, which must be empty, and remembers what came from where.
    ///
    /// The text is cut where the normal form of the whole is the normal forms of the parts, one after the
    /// other.
    pub(super) fn normalize(&mut self, text: &str, out: &mut String) {
        self.ends.clear();
        if text.is_ascii() {
            normalize(text, out);
            return;
        }
        let mut start = 0;
        for (at, c) in text.char_indices().skip(1) {
            if is_boundary(&text[start..at], c) {
                out.extend(normalized(&text[start..at]));
                self.ends.push((out.len(), at));
                start = at;
            }
        }
        out.extend(normalized(&text[start..]));
        self.ends.push((out.len(), text.len()));
    }

    /// The smallest part of the original that holds all of `range` of the normal form.
    pub(super) fn of(&self, range: Range<usize>) -> Range<usize> {
        if self.ends.is_empty() {
            return range;
        }
        let first = self.ends.partition_point(|end| end.0 <= range.start);
        let last = self.ends.partition_point(|end| end.0 < range.end);
        let start = first.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let end = self
            .ends
            .get(last)
            .or(self.ends.last())
            .map_or(start, |end| end.1);
        start..end.max(start)
    }
}

/// Whether a character that follows `before` cannot merge with it, whatever comes later.
fn is_boundary(before: &str, next: char) -> bool {
    let starts = next
        .nfkd()
        .next()
        .is_some_and(|c| canonical_combining_class(c) == 0);
    if !starts || is_invisible(next) {
        return false;
    }
    let mut bytes = [0; 4];
    let next: &str = next.encode_utf8(&mut bytes);
    let both = before.chars().chain(next.chars());
    let joined = both.filter(|&c| !is_invisible(c)).nfkc().flat_map(lower).nfkc();
    joined.eq(normalized(before).chain(normalized(next)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(text: &str) -> String {
        let mut out = String::new();
        normalize(text, &mut out);
        out
    }

    #[test]
    fn scripts() {
        assert_eq!(normal("Straße STRASSE ẞ"), "straße strasse ß");
        assert_eq!(normal("İSTANBUL I\u{307}stanbul"), "istanbul istanbul");
        assert_eq!(normal("Café CAFE\u{301}"), "café café");
        assert_eq!(normal("１２３ ＡＢＣ ﬁ ㎏ ™ x²"), "123 abc fi kg tm x2");
        assert_eq!(normal("soft\u{AD}hyphen"), "softhyphen");
        assert_eq!(normal("J\u{30C}"), normal("ǰ"));
        assert_eq!(normal("각"), normal("\u{1100}\u{1161}\u{11A8}"));
    }

    #[test]
    fn origins_of_forms_that_change_length() {
        let text = "e\u{301}ﬁx™";
        let mut origins = Origins::default();
        let mut out = String::new();
        origins.normalize(text, &mut out);
        assert_eq!(out, "éfixtm");
        assert_eq!(&text[origins.of(0..2)], "e\u{301}");
        assert_eq!(&text[origins.of(2..3)], "ﬁ");
        assert_eq!(&text[origins.of(3..5)], "ﬁx");
        assert_eq!(&text[origins.of(5..6)], "™");
    }

    proptest! {
        #[test]
        fn pieces_make_the_whole(text in "(\\PC|[\u{300}-\u{36F}\u{1100}-\u{1112}\u{1161}-\u{1175}\u{11A8}-\u{11C2}\u{AD}\u{FE0F}\u{BC6}\u{BBE}İJΣ㎏ǰ]){0,24}") {
            let mut origins = Origins::default();
            let mut out = String::new();
            origins.normalize(&text, &mut out);
            prop_assert_eq!(&out, &normal(&text));
            for (start, c) in out.char_indices() {
                let origin = origins.of(start..start + c.len_utf8());
                prop_assert!(text.get(origin.clone()).is_some_and(|part| !part.is_empty()));
                prop_assert!(normal(&text[origin]).contains(c));
            }
        }
    }
}
