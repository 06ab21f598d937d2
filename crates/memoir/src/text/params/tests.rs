//! Which settings go together, and what files may hold.

use super::*;

#[test]
fn languages_are_listed_in_the_order_of_the_enum() {
    for (index, &(name, language, _)) in LANGUAGES.iter().enumerate() {
        assert_eq!(language as usize, index);
        assert_eq!(Language::by_name(name), Some(language));
        assert_eq!(language.name(), name);
        assert_eq!(Stem::ALL[index + 1].word(), name);
    }
}

#[test]
fn every_offered_language_has_stop_words() {
    for choice in &StopWords::ALL[1..] {
        let language = Language::by_name(choice.word()).unwrap();
        assert!(
            crate::text::stop_words::stop_words(language).is_some(),
            "{choice:?}"
        );
    }
}

#[test]
fn automatic_shortest_character_run() {
    let from = |longest| {
        TextParams::parse([("char-ngrams", longest)])
            .unwrap()
            .char_ngrams_from
    };
    assert_eq!([from("0"), from("2"), from("5")], [1, 2, 3]);
}

#[test]
fn combinations_are_checked() {
    let message = |given: &[(&'static str, &'static str)]| {
        TextParams::parse(given.iter().copied()).unwrap_err().to_string()
    };
    assert_eq!(
        message(&[("word-ngrams", "0")]),
        "`word-ngrams` and `char-ngrams` are both 0, so there would be nothing to count"
    );
    assert_eq!(
        message(&[("char-ngrams", "4"), ("char-ngrams-from", "5")]),
        "`char-ngrams-from` must be at most `char-ngrams`, which is 4, but is 5"
    );
    assert_eq!(
        message(&[("max-df", "2")]),
        "`max-df` must be a number from 0 to 1, but is `2`"
    );
}

#[test]
fn ranges_hold_for_parameters_from_a_file_too() {
    let params = TextParams {
        word_ngrams: 1_000_000,
        ..TextParams::default()
    };
    assert!(params.validate().is_err());
    let params = TextParams {
        max_df: f64::NAN,
        ..TextParams::default()
    };
    assert!(params.validate().is_err());
    let params = TextParams {
        stop_words: Some(Language::Tamil),
        ..TextParams::default()
    };
    assert!(params.validate().is_err());
}

#[test]
fn survives_serialisation() {
    let params = TextParams::parse([("stem", "english"), ("char-ngrams", "4")]).unwrap();
    let json = serde_json::to_string(&params).unwrap();
    assert!(json.contains("\"stem\":\"english\""));
    assert_eq!(serde_json::from_str::<TextParams>(&json).unwrap(), params);
}
