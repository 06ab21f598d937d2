//! Tokens of many scripts, their places in the text, and texts that make trouble.

use super::*;
use crate::text::Stem;
use proptest::prelude::*;

fn analyzer(given: &[(&'static str, &'static str)]) -> Analyzer {
    Analyzer::new(&TextParams::parse(given.iter().copied()).unwrap()).unwrap()
}

fn tokens(analyzer: &Analyzer, text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    analyzer.tokens(text, &mut AnalyzerScratch::default(), |token| {
        tokens.push(token.to_owned());
    });
    tokens
}

fn words(text: &str) -> Vec<String> {
    tokens(&analyzer(&[("text-preset", "words")]), text)
}

#[test]
fn scripts() {
    assert_eq!(
        words("Die STRAẞE, die Straße!"),
        ["die", "straße", "die", "straße"]
    );
    assert_eq!(words("İstanbul ISTANBUL"), ["istanbul", "istanbul"]);
    assert_eq!(words("ΟΔΟΣ οδος Σ"), ["οδος", "οδος", "σ"]);
    assert_eq!(words("東京 タワー"), ["東", "京", "タワー"]);
    assert_eq!(words("CAFE\u{301} cafe\u{301}s"), ["café", "cafés"]);
    assert_eq!(words("I ❤️ 👩‍👩‍👧 NY 👍🏽"), ["i", "ny"]);
    assert_eq!(words("１２３ ４．５ ３kg"), ["123", "4.5", "3kg"]);
    assert_eq!(
        words("e-mail x_y 3.14 C++ 1'000"),
        ["e", "mail", "x_y", "3.14", "c", "1'000"]
    );
    assert_eq!(
        words("'L'homme' l’été d’'or"),
        ["l", "homme", "l", "été", "d", "or"]
    );
    assert_eq!(words("\u{FE70}ㄅ #\u{AC7} מ'"), ["\u{64B}", "ㄅ", "\u{AC7}", "מ"]);
    assert_eq!(words("привет, МИР"), ["привет", "мир"]);
    assert_eq!(words(" \t\r\n … --- "), [""; 0]);
    assert_eq!(words(""), [""; 0]);
}

#[test]
fn words_are_their_own_stems_where_no_language_is_known() {
    let analyzer = analyzer(&[("blocks", "stems,stem-pairs")]);
    assert_eq!(tokens(&analyzer, "Two cars"), ["~two", "~cars", "~two cars"]);
}

#[test]
fn the_opening_is_the_first_words_behind_a_mark() {
    let analyzer = analyzer(&[("blocks", "opening")]);
    assert_eq!(
        tokens(&analyzer, "A b, c d e f g h i j k l m n"),
        [
            "^a", "^b", "^c", "^d", "^e", "^f", "^g", "^h", "^i", "^j", "^k", "^l"
        ]
    );
    assert_eq!(tokens(&analyzer, "Red cat"), ["^red", "^cat"]);
}

#[test]
fn runs_of_words() {
    assert_eq!(
        tokens(&analyzer(&[("word-ngrams", "3")]), "One, two\tThree"),
        ["one", "one two", "one two three", "two", "two three", "three"]
    );
}

#[test]
fn runs_of_characters() {
    let three = analyzer(&[("word-ngrams", "0"), ("char-ngrams", "3")]);
    assert_eq!(tokens(&three, "Cat"), ["# ca", "#cat", "#at "]);
    assert_eq!(tokens(&three, "ñ"), ["# ñ "]);
    let more = analyzer(&[("char-ngrams", "4")]);
    assert_eq!(tokens(&more, "ab"), ["# ab", "#ab ", "# ab ", "ab"]);
    assert_eq!(tokens(&more, "a"), ["# a ", "a"], "a short word counts once");
    let single = analyzer(&[("word-ngrams", "0"), ("char-ngrams", "1")]);
    assert_eq!(tokens(&single, "ab"), ["#a", "#b"]);
}

#[test]
fn stems_and_stop_words() {
    let analyzer = analyzer(&[
        ("stem", "english"),
        ("stop-words", "english"),
        ("word-ngrams", "2"),
    ]);
    assert_eq!(
        tokens(&analyzer, "The runners were running"),
        ["runner", "runner run", "run"]
    );
}

#[test]
fn scratch_carries_nothing_over() {
    let analyzer = analyzer(&[("stem", "german"), ("char-ngrams", "3")]);
    let mut scratch = AnalyzerScratch::default();
    for text in ["Häuser und Gärten", "", "Haus"] {
        let mut got = Vec::new();
        analyzer.tokens(text, &mut scratch, |token| got.push(token.to_owned()));
        assert_eq!(got, tokens(&analyzer, text));
    }
}

#[test]
fn spans_mark_the_original() {
    let text = "Ｔｗｏ  ﬁne İSTANBUL cafe\u{301}s";
    let spans = analyzer(&[("word-ngrams", "2")]).spans(text, &mut AnalyzerScratch::default());
    let marked: Vec<_> = spans
        .iter()
        .map(|span| (span.token.as_str(), &text[span.range.clone()]))
        .collect();
    assert_eq!(
        marked,
        [
            ("two", "Ｔｗｏ"),
            ("two fine", "Ｔｗｏ  ﬁne"),
            ("fine", "ﬁne"),
            ("fine istanbul", "ﬁne İSTANBUL"),
            ("istanbul", "İSTANBUL"),
            ("istanbul cafés", "İSTANBUL cafe\u{301}s"),
            ("cafés", "cafe\u{301}s"),
        ]
    );
    let text = "ﬁx";
    let spans =
        analyzer(&[("word-ngrams", "0"), ("char-ngrams", "3")]).spans(text, &mut AnalyzerScratch::default());
    let marked: Vec<_> = spans
        .iter()
        .map(|span| (span.token.as_str(), &text[span.range.clone()]))
        .collect();
    assert_eq!(marked, [("# fi", "ﬁ"), ("#fix", "ﬁx"), ("#ix ", "ﬁx")]);
}

/// Text that is rich in what makes trouble: marks, ligatures, joiners, sigmas, digits, any other character.
const UNRULY: &str = "([a-zA-Z '.#_]|\\PC|[\u{300}-\u{310}\u{AD}\u{200D}\u{FE0F}ΣσςİıßﬁŒ㎏１東각अ้]){0,40}";

proptest! {
    #[test]
    fn any_text_in_any_language(text in UNRULY, language in 0usize..18, words in 0usize..3) {
        let words = ["0", "1", "3"][words];
        let analyzer =
            analyzer(&[("stem", Stem::ALL[language + 1].word()), ("word-ngrams", words), ("char-ngrams", "4")]);
        for token in tokens(&analyzer, &text) {
            prop_assert!(!token.is_empty());
        }
    }

    #[test]
    fn marks_tell_runs_from_words(text in UNRULY) {
        for token in tokens(&analyzer(&[("word-ngrams", "2")]), &text) {
            prop_assert!(!token.contains('#'), "{token:?}");
            prop_assert!(token.split(' ').count() <= 2);
        }
        for token in tokens(&analyzer(&[("word-ngrams", "0"), ("char-ngrams", "4")]), &text) {
            prop_assert!(token.starts_with('#'), "{token:?}");
        }
    }

    #[test]
    fn spans_are_the_tokens_with_places(text in UNRULY) {
        let analyzer = analyzer(&[("word-ngrams", "2"), ("char-ngrams", "3")]);
        let spans = analyzer.spans(&text, &mut AnalyzerScratch::default());
        let with_places: Vec<_> = spans.iter().map(|span| span.token.clone()).collect();
        prop_assert_eq!(with_places, tokens(&analyzer, &text));
        for span in &spans {
            let part = text.get(span.range.clone());
            prop_assert!(part.is_some_and(|part| !part.is_empty()), "{:?}", span);
            // Every character of the token is in the normal form of the part it is said to come from.
            let mut normal = String::new();
            normalize(part.unwrap_or(""), &mut normal);
            for c in span.token.trim_start_matches('#').chars().filter(|c| *c != ' ') {
                prop_assert!(normal.contains(c) || c == 'ς', "{:?}", span);
            }
        }
    }

    #[test]
    fn pieces_between_white_space_do_not_interact(texts in proptest::collection::vec(UNRULY, 1..4)) {
        let together = words(&texts.join(" "));
        let apart: Vec<String> = texts.iter().flat_map(|text| words(text)).collect();
        prop_assert_eq!(together, apart);
    }
}
