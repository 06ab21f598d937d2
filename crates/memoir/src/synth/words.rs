//! Pronounceable invented words: one for each number.

const CONSONANTS: &[u8] = b"bdfghjklmnprstvz";
const VOWELS: &[u8] = b"aeiou";

/// Appends the word of `number`: syllables of a consonant and a vowel, at least two. Small numbers have
/// short words, different numbers different words.
pub(super) fn push_word(number: u32, out: &mut Vec<u8>) {
    let syllables = (CONSONANTS.len() * VOWELS.len()) as u64;
    // Bijective numeration: all words of one syllable, then all of two, and so on; those of one are skipped.
    let mut rest = u64::from(number) + syllables + 1;
    let start = out.len();
    while rest > 0 {
        let digit = ((rest - 1) % syllables) as usize;
        rest = (rest - 1) / syllables;
        out.push(VOWELS[digit % VOWELS.len()]);
        out.push(CONSONANTS[digit / VOWELS.len()]);
    }
    out[start..].reverse();
}

/// Appends the name of a class: a capitalised family name shared by its siblings, and one of its own.
pub(super) fn push_class_name(class: u32, parent: u32, out: &mut Vec<u8>) {
    let start = out.len();
    push_word(parent, out);
    out[start].make_ascii_uppercase();
    out.extend_from_slice(b"n ");
    push_word(class, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn word(number: u32) -> String {
        let mut out = Vec::new();
        push_word(number, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn words_differ_and_grow() {
        let words: HashSet<String> = (0..20_000).map(word).collect();
        assert_eq!(words.len(), 20_000);
        assert_eq!(word(0), "baba");
        assert_eq!((word(6_399).len(), word(6_400).len()), (4, 6));
        assert!(word(u32::MAX).len() <= 12);
    }

    #[test]
    fn class_names() {
        let mut out = Vec::new();
        push_class_name(12, 1, &mut out);
        assert_eq!(out, b"Baben bafi");
    }
}
