//! Any text through the analyser: tokens and their places agree, and places lie in the text.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use memoir::params::Parameters;
use memoir::text::{Analyzer, AnalyzerScratch, TextParams, TextSettings};

const SETTINGS: [&[(&str, &str)]; 6] = [
    &[("blocks", "words")],
    &[
        ("blocks", "words,pairs:0.5,chars4-5:0.7,stems,stem-pairs"),
        ("languages", "english,german"),
    ],
    &[("word-ngrams", "2")],
    &[
        ("char-ngrams", "5"),
        ("char-ngrams-from", "2"),
        ("word-ngrams", "0"),
    ],
    &[("word-ngrams", "1"), ("stem", "swedish")],
    &[("word-ngrams", "3"), ("stop-words", "english")],
];

/// Made once: stop words and stemmers take longer than a short text does.
static ANALYZERS: LazyLock<Vec<Analyzer>> = LazyLock::new(|| {
    let make = |settings: &&[(&str, &str)]| {
        let settings = TextSettings::parse(settings.iter().copied()).expect("legal settings");
        let params = TextParams::try_from(&settings).expect("legal parameters");
        Analyzer::new(&params).expect("legal parameters")
    };
    SETTINGS.iter().map(make).collect()
});

fuzz_target!(|input: (u8, &str)| {
    let (choice, text) = input;
    let analyzer = &ANALYZERS[usize::from(choice) % SETTINGS.len()];
    let mut scratch = AnalyzerScratch::default();
    let mut tokens = Vec::new();
    analyzer.tokens(text, &mut scratch, |token| tokens.push(token.to_owned()));
    let spans = analyzer.spans(text, &mut scratch);
    assert_eq!(tokens.len(), spans.len());
    for (token, span) in tokens.iter().zip(&spans) {
        assert_eq!(*token, span.token);
        assert!(
            text.get(span.range.clone()).is_some(),
            "{:?} is no part of the text",
            span.range
        );
    }
});
