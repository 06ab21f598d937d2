//! What the rules for words cut up or leave out and a classifier should see whole: codes such as `c++`,
//! `3/4"` or `covid-19`, the parts of `abc123`, emoji, and pairs of characters in scripts that put no spaces
//! between words.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Longest code in bytes: addresses of web pages and the like are no codes.
const LONGEST_CODE: usize = 32;

/// Hands the places of further words in `piece`, a normalised text without white space, to `emit`; `words`
/// are the places of the words that the ordinary rules find, in order.
pub(super) fn further_words(piece: &str, words: &[Range<usize>], mut emit: impl FnMut(Range<usize>)) {
    if let Some(code) = code(piece)
        && !words.contains(&code)
    {
        emit(code);
    }
    for word in words {
        mixed_parts(&piece[word.clone()], |part| {
            emit(word.start + part.start..word.start + part.end);
        });
    }
    if piece.is_ascii() {
        return;
    }
    // The rules make each character a word of its own where a script has no spaces.
    for pair in words.windows(2) {
        let is_one = |word: &Range<usize>| piece[word.clone()].chars().nth(1).is_none();
        if pair[0].end == pair[1].start && is_one(&pair[0]) && is_one(&pair[1]) {
            emit(pair[0].start..pair[1].end);
        }
    }
    for (start, part) in piece.split_word_bound_indices() {
        if part.chars().next().is_some_and(is_emoji) {
            emit(start..start + part.len());
        }
    }
}

/// The code that a piece is, without the signs of punctuation around it.
fn code(piece: &str) -> Option<Range<usize>> {
    let start = piece.find(|c: char| c.is_alphanumeric())?;
    let dotted = piece[..start].ends_with('.') && !piece[..start].ends_with("..");
    let start = start - usize::from(dotted);
    let belongs = |c: char| c.is_alphanumeric() || matches!(c, '+' | '#' | '"' | '%' | '°' | '″');
    let last = piece.rfind(belongs)?;
    let end = last + piece[last..].chars().next().map_or(0, char::len_utf8);
    let text = &piece[start..end];
    if text.len() > LONGEST_CODE || text.contains("://") {
        return None;
    }
    let inner = &text[usize::from(dotted)..];
    let has = |wanted: fn(char) -> bool| inner.chars().any(wanted);
    // A quotation mark belongs to a measure (`3/4"`) or to the text around it.
    let unquoted = text.trim_end_matches(['"', '″']);
    let is_measure = !piece[..start].contains('"') && unquoted.ends_with(|c: char| c.is_ascii_digit());
    let end = if is_measure { end } else { start + unquoted.len() };
    let text = &piece[start..end];
    let signs = text.chars().filter(|c| !c.is_alphanumeric()).count();
    let is_code = match signs {
        0 => false,
        _ if dotted => has(char::is_alphabetic),
        _ if text.ends_with(['+', '#']) => true,
        _ if has(char::is_numeric) => {
            has(char::is_alphabetic) || has(|c| matches!(c, '/' | '"' | '″' | '%' | '°'))
        }
        _ => inner.contains('&'),
    };
    is_code.then_some(start..end)
}

/// The runs of letters and of digits, of two characters or more, in a word that has both.
fn mixed_parts(word: &str, mut emit: impl FnMut(Range<usize>)) {
    if !(word.chars().any(char::is_alphabetic) && word.chars().any(char::is_numeric)) {
        return;
    }
    let kind = |c: char| (c.is_alphabetic(), c.is_numeric());
    let mut runs = 0;
    let mut start = 0;
    let mut before = None;
    let mut parts = [const { 0..0 }; 8];
    let ends = word
        .char_indices()
        .map(|(at, c)| (at, Some(kind(c))))
        .chain([(word.len(), None)]);
    for (at, now) in ends {
        if before.is_some() && now != before {
            if runs < parts.len() {
                parts[runs] = start..at;
            }
            runs += 1;
            start = at;
        }
        before = now;
    }
    if runs > 1 && runs <= parts.len() {
        for part in &parts[..runs] {
            let text = &word[part.clone()];
            if text.chars().nth(1).is_some() && text.chars().all(char::is_alphanumeric) {
                emit(part.clone());
            }
        }
    }
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{2B50}'..='\u{2B55}')
}

#[cfg(test)]
mod tests {
    use super::super::words::words_of;
    use super::*;
    use proptest::prelude::*;

    fn further(piece: &str) -> Vec<&str> {
        let words: Vec<Range<usize>> = words_of(piece)
            .map(|(start, word)| start..start + word.len())
            .collect();
        let mut found = Vec::new();
        further_words(piece, &words, |range| found.push(&piece[range]));
        found
    }

    #[test]
    fn codes() {
        for code in [
            "c++",
            "c#",
            ".net",
            "3/4\"",
            "covid-19",
            "iso/iec-27001",
            "12.5%",
            "r&d",
            "24/7",
        ] {
            assert_eq!(further(code).first(), Some(&code), "{code}");
            let framed = format!("({code}),");
            assert_eq!(further(&framed).first(), Some(&code), "{framed}");
        }
        for plain in [
            "word",
            "two-words",
            "1928-1953",
            "don't",
            "(see",
            "end.",
            "2.5",
            "a/b",
            "\"word\"",
            "__label__x",
            "…",
            "",
        ] {
            assert_eq!(further(plain), [""; 0], "{plain}");
        }
        assert_eq!(further("\"covid-19\""), ["covid-19"]);
        assert_eq!(further("https://a.b/c1"), [""; 0]);
    }

    #[test]
    fn parts_of_mixed_words() {
        assert_eq!(further("m8x40"), ["40"]);
        assert_eq!(further("abc123"), ["abc", "123"]);
        assert_eq!(further("2nd"), ["nd"]);
    }

    #[test]
    fn scripts_without_spaces_and_emoji() {
        assert_eq!(further("東京都"), ["東京", "京都"]);
        assert_eq!(further("ok👍🏽👩‍👧"), ["👍🏽", "👩‍👧"]);
        assert_eq!(further("é"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_piece(piece in "([a-c1-3+#/\".&%-]|[東京é👍\u{200D}\u{301}]|\\PC){0,12}") {
            for word in further(&piece) {
                prop_assert!(!word.is_empty() && !word.starts_with(['#', '~', '^']), "{word:?}");
            }
        }
    }
}
