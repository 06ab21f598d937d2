//! Which features stay, how they are numbered, and that training rows are what the analyzer sees.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::*;
use crate::LabelSets;
use crate::text::{
    AnalyzerScratch, CountedBlock, Input, Preprocessing, RowNeeds, Weighting, WeightingScheme,
};

fn params(given: &[(&str, &str)]) -> TextParams {
    TextParams::parse(given.iter().copied()).unwrap()
}

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn counted(counter: &mut TextCounter, params: &TextParams, texts: &[String], block: usize) {
    let analyzer = Analyzer::new(params).unwrap();
    for texts in texts.chunks(block) {
        counter.merge(CountedBlock::count(&analyzer, texts)).unwrap();
    }
}

fn count(params: &TextParams, texts: &[String], block: usize) -> Result<(Vec<String>, Rows)> {
    let mut counter = TextCounter::new();
    counted(&mut counter, params, texts, block);
    let features = counter.finish(params, &session(1))?;
    assert_eq!(features.vocabulary.len(), features.rows.width());
    Ok((names(&features), features.rows))
}

fn names(features: &TextFeatures) -> Vec<String> {
    (0..features.vocabulary.len())
        .map(|i| features.vocabulary.name(i as u32).to_owned())
        .collect()
}

fn texts(of: &[&str]) -> Vec<String> {
    of.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn counts_by_hand() {
    let (names, rows) = count(&params(&[]), &texts(&["b a b", "", "c a", "c c c"]), 10).unwrap();
    assert_eq!(names, ["b", "a", "c"]);
    assert_eq!(
        (rows.row(0).indices, rows.row(0).values),
        (&[0, 1][..], &[2.0, 1.0][..])
    );
    assert!(rows.row(1).is_empty());
    assert_eq!((rows.row(3).indices, rows.row(3).values), (&[2][..], &[3.0][..]));
}

#[test]
fn limits() {
    let texts = texts(&["d a b", "a b c", "a c", "a"]);
    let kept = |given: &[_]| count(&params(given), &texts, 2).map(|(names, _)| names);
    assert_eq!(kept(&[("min-df", "2")]).unwrap(), ["a", "b", "c"]);
    assert_eq!(kept(&[("max-df", "0.5")]).unwrap(), ["d", "b", "c"]);
    assert_eq!(
        kept(&[("max-features", "2")]).unwrap(),
        ["a", "b"],
        "b came before c"
    );
    assert_eq!(kept(&[("max-features", "9")]).unwrap().len(), 4);
    let (_, rows) = count(&params(&[("max-df", "0.5"), ("min-df", "2")]), &texts, 2).unwrap();
    assert_eq!(
        rows.iter().map(|row| row.indices.to_vec()).collect::<Vec<_>>(),
        [vec![0], vec![0, 1], vec![1], vec![]]
    );
    assert_eq!(
        kept(&[("min-df", "5")]).unwrap_err().to_string(),
        "none of the 4 words is left: `min-df` is 5 and `max-df` is 1 with 4 rows"
    );
}

#[test]
fn no_texts_are_no_error() {
    let (names, rows) = count(&params(&[]), &[], 1).unwrap();
    assert!(names.is_empty() && rows.is_empty());
}

#[test]
fn blocks_are_numbered_one_after_the_other_and_keep_what_is_repeated() {
    let params = params(&[
        ("blocks", "words,stem-pairs:0.5,chars3:2"),
        ("languages", "english"),
    ]);
    let mut counter = TextCounter::new();
    let texts = texts(&["red cats", "red cats", "cat"]);
    counted(&mut counter, &params, &texts, 1);
    let features = counter.finish(&params, &session(1)).unwrap();
    assert_eq!(
        names(&features),
        [
            "red", "cats", "cat", "~red cat", "# re", "#red", "#ed ", "# ca", "#cat", "#ats", "#ts "
        ]
    );
    assert_eq!(features.blocks, [0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2]);
}

#[test]
fn features_of_a_model_keep_number_and_block_and_new_ones_come_behind() {
    let params = params(&[("blocks", "words,pairs")]);
    let mut counter = TextCounter::new();
    counted(&mut counter, &params, &texts(&["red cat", "red cat"]), 1);
    let mut features = counter.finish(&params, &session(1)).unwrap();
    let layout = features.take_layout();
    let weighting = Weighting::fit_blocks(
        WeightingScheme::LogTfIdf,
        RowNeeds::default(),
        &features.rows,
        &LabelSets::new(),
        layout,
    );
    let before = Preprocessing {
        input: Input::Text(Box::new(features.pipeline().unwrap())),
        weighting,
    };
    let mut counter = TextCounter::continuing(&before).unwrap();
    counted(
        &mut counter,
        &params,
        &texts(&["blue dog red cat", "blue dog"]),
        1,
    );
    let features = counter.finish(&params, &session(1)).unwrap();
    assert_eq!(
        names(&features),
        ["red", "cat", "red cat", "blue", "dog", "blue dog"]
    );
    assert_eq!(features.blocks, [0, 0, 1, 0, 0, 1]);
}

#[test]
fn features_can_be_chosen_by_the_first_texts_alone() {
    let mut counter = TextCounter::new();
    let params = params(&[]);
    counted(&mut counter, &params, &texts(&["a b", "b", "b c"]), 1);
    let features = counter.features(params, 2, &session(1)).unwrap();
    assert_eq!(names(&features), ["a", "b"]);
    assert_eq!(features.rows.row(2).indices, [1]);
}

#[test]
fn languages_are_detected_where_stems_are_wanted() {
    let mut counter = TextCounter::new();
    let params = params(&[("blocks", "stems")]);
    let text =
        "die Geschichte der Kirchen und ihrer Gebäude im Norden des Landes während des Krieges".to_owned();
    counted(&mut counter, &params, &[text.clone(), text], 1);
    let features = counter.finish(&params, &session(1)).unwrap();
    assert_eq!(features.params.languages, [Language::German]);
    assert!(names(&features).contains(&"~kirch".to_owned()));
}

#[test]
fn same_at_any_number_of_threads() {
    let texts: Vec<String> = (0..3000u32)
        .map(|i| {
            let far = i.wrapping_mul(2_654_435_761) % 301;
            format!("the w{} x{far} of W{} ünï{} und der {far}", i % 97, i % 7, i % 11)
        })
        .collect();
    let params = params(&[
        ("blocks", "words,stems,stem-pairs:0.5,chars3-4"),
        ("languages", "english,german"),
        ("max-features", "900"),
    ]);
    let make = |threads, block| {
        let mut counter = TextCounter::new();
        counted(&mut counter, &params, &texts, block);
        let features = counter.finish(&params, &session(threads)).unwrap();
        (names(&features), features.blocks, features.rows)
    };
    let expected = make(1, texts.len());
    assert_eq!(expected.0.len(), 900);
    assert_eq!(make(2, 100), expected);
    assert_eq!(make(4, 7), expected);
}

/// Every kind of part, in one block and in several.
const SETTINGS: &[&[(&str, &str)]] = &[
    &[],
    &[("word-ngrams", "3"), ("char-ngrams", "4"), ("stem", "english")],
    &[("word-ngrams", "0"), ("char-ngrams", "3")],
    &[("stop-words", "english"), ("word-ngrams", "2")],
    &[
        ("blocks", "words,stems,pairs,stem-pairs,opening,chars2-3"),
        ("languages", "german,english"),
    ],
];

proptest! {
    #[test]
    fn blocks_of_any_size_give_the_same(
        texts in proptest::collection::vec("[a-däß東 ]{0,12}", 0..30),
        block in 1usize..12,
        min_df in 1u32..4,
        max_features in 0u32..6,
    ) {
        let params = TextParams { min_df, max_features, word_ngrams: 2, ..TextParams::default() };
        let whole = count(&params, &texts, texts.len().max(1)).map_err(|e| e.to_string());
        let parts = count(&params, &texts, block).map_err(|e| e.to_string());
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn rows_count_the_tokens_of_the_analyzer(
        texts in proptest::collection::vec("((the|der|cats|houses|C\\+\\+|m8x40|[a-cé東京👍Σ]{1,4})[ ,]{0,2}){0,6}", 1..12),
        setting in 0..SETTINGS.len(),
    ) {
        let params = params(SETTINGS[setting]);
        let analyzer = Analyzer::new(&params).unwrap();
        let mut counter = TextCounter::new();
        counted(&mut counter, &params, &texts, 3);
        let Ok(features) = counter.finish(&params, &session(1)) else { return Ok(()) };
        for (text, row) in texts.iter().zip(features.rows.iter()) {
            let mut tokens = Vec::new();
            analyzer.tokens(text, &mut AnalyzerScratch::default(), |token| {
                tokens.extend(features.vocabulary.find(token));
            });
            tokens.sort_unstable();
            let counted: Vec<u32> = row
                .iter()
                .flat_map(|(index, count)| std::iter::repeat_n(index, count as usize))
                .collect();
            prop_assert_eq!(tokens, counted);
        }
    }
}
