//! The words in a piece of normalised text, and the runs of characters in a word.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// First character of every character run. No word holds it, so runs and words never meet.
pub(super) const CHARACTER_MARK: char = '#';

/// The words of a normalised piece of text, with the byte at which each starts.
pub(super) fn words_of(piece: &str) -> impl Iterator<Item = (usize, &str)> {
    let plain = plain_word(piece);
    let rest = if plain.is_some() { "" } else { piece };
    plain.into_iter().chain(segmented_words(rest))
}

/// The word of a piece that is nothing but one word of ASCII letters and digits between ASCII signs, as most
/// are: the segmentation would find the same, more slowly.
fn plain_word(piece: &str) -> Option<(usize, &str)> {
    let bytes = piece.as_bytes();
    let start = bytes.iter().position(u8::is_ascii_alphanumeric)?;
    let length = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let outside = bytes[..start].iter().chain(&bytes[start + length..]);
    // An underscore belongs to the word before it, and so may other characters than ASCII.
    let plain = outside
        .copied()
        .all(|byte| byte.is_ascii_punctuation() && byte != b'_');
    plain.then(|| (start, &piece[start..start + length]))
}

fn segmented_words(piece: &str) -> impl Iterator<Item = (usize, &str)> {
    piece.unicode_word_indices().flat_map(|(start, word)| {
        let mut rest = Some((start, word));
        std::iter::from_fn(move || {
            loop {
                let (start, word) = rest.take()?;
                let elision = word.char_indices().find(|&(at, c)| is_elision(&word[..at], c));
                let end = elision.map_or(word.len(), |(at, apostrophe)| {
                    let next = at + apostrophe.len_utf8();
                    rest = Some((start + next, &word[next..]));
                    at
                });
                // The segmentation takes a sign or a space together with a vowel mark behind it for a word.
                let part = word[..end].trim_start_matches(|c: char| !c.is_alphanumeric());
                if !part.is_empty() {
                    return Some((start + end - part.len(), part));
                }
            }
        })
    })
}

/// Whether `c`, found inside a word behind `before`, is an apostrophe between letters (and not within a
/// number).
fn is_elision(before: &str, c: char) -> bool {
    matches!(c, '\'' | '’') && before.chars().next_back().is_some_and(|c| !c.is_numeric())
}

/// Lower-casing letter by letter makes every capital sigma a σ; at the end of a word it is written ς.
pub(super) fn push_with_final_sigma(word: &str, line: &mut String) {
    match word.strip_suffix('σ') {
        Some(rest) if !rest.is_empty() => {
            line.push_str(rest);
            line.push('ς');
        }
        _ => line.push_str(word),
    }
}

/// Memory for the character runs of a word.
#[derive(Debug, Default)]
pub(super) struct CharacterRuns {
    /// The word between two spaces.
    padded: String,
    /// Where each of its characters starts, and the end.
    starts: Vec<usize>,
    /// The run that is handed out.
    token: String,
}

impl CharacterRuns {
    /// Hands out each run of `shortest` to `longest` characters of `word`, with its place in the word.
    pub(super) fn each(
        &mut self,
        word: &str,
        shortest: usize,
        longest: usize,
        mut emit: impl FnMut(&str, Range<usize>),
    ) {
        self.padded.clear();
        self.padded.push(' ');
        push_with_final_sigma(word, &mut self.padded);
        self.padded.push(' ');
        self.starts.clear();
        self.starts.extend(self.padded.char_indices().map(|(at, _)| at));
        self.starts.push(self.padded.len());
        let characters = self.starts.len() - 1;
        for length in shortest..=longest {
            let length = length.min(characters);
            for first in 0..=characters - length {
                let range = self.starts[first]..self.starts[first + length];
                if &self.padded[range.clone()] == " " {
                    continue;
                }
                self.token.clear();
                self.token.push(CHARACTER_MARK);
                self.token.push_str(&self.padded[range.clone()]);
                // Back to places in the word, without the padding.
                let part = range.start.saturating_sub(1)..(range.end - 1).min(word.len());
                emit(&self.token, part);
            }
            if length == characters {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_words() {
        assert_eq!(plain_word("(word),"), Some((1, "word")));
        assert_eq!(plain_word("2nd"), Some((0, "2nd")));
        for piece in [
            "two-words",
            "x_",
            "_x",
            "don't",
            "caf\u{e9}",
            "e\u{301}",
            "...",
            "",
        ] {
            assert_eq!(plain_word(piece), None, "{piece}");
        }
    }

    proptest! {
        #[test]
        fn the_short_way_finds_the_same(piece in "[a-c0-2A'_.,:;#()\\-\u{301}\u{e9}\u{7f}]{0,7}") {
            let short: Vec<_> = words_of(&piece).collect();
            let long: Vec<_> = segmented_words(&piece).collect();
            prop_assert_eq!(short, long);
        }
    }
}
