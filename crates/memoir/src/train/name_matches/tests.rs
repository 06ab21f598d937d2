use std::fmt::Write;
use std::num::NonZeroUsize;

use super::*;
use crate::class_vocabulary::UnmatchedVocabulary;
use crate::prepare::{Examples, VocabularyRequest};
use crate::train::{FitOptions, HeldOut, SoftmaxParams, fit};

/// Rows whose best class is wrong; in every second one the name of the next, which is right, is found.
fn searched(count: usize, name_of_right: bool) -> Vec<SearchedRow> {
    let row = |number: usize| {
        let found = |is_found: bool| Found {
            whole: if is_found { 1.0 } else { 0.0 },
            opening: 0.0,
        };
        let has_name = number.is_multiple_of(2);
        SearchedRow {
            known: 3,
            best: [1.0, 0.93, 0.5]
                .iter()
                .zip(0..)
                .map(|(&score, class)| Scored { class, score })
                .collect(),
            found: vec![
                found(has_name && !name_of_right),
                found(has_name && name_of_right),
                found(false),
            ],
            labels: vec![1],
        }
    };
    (0..count).map(row).collect()
}

#[test]
fn names_count_where_that_helps() {
    let chosen = choose(&searched(200, true), false).unwrap();
    assert!(chosen.whole > 0.07, "{chosen:?}");
    assert_eq!(chosen.opening, 0.0);
    assert_eq!(choose(&searched(200, false), false), None);
    assert_eq!(
        choose(&searched(LEAST_ROWS - 1, true), false),
        None,
        "too few rows"
    );
}

#[test]
fn quality_is_that_of_the_first_right_class() {
    let row = &searched(1, true)[0];
    let second = row.quality(NameWeights::default());
    assert!((second - 1.0 / 3f64.log2()).abs() < 1e-12);
    let weights = NameWeights {
        whole: 0.1,
        opening: 0.0,
    };
    assert_eq!(row.quality(weights), 1.0);
}

/// A number that looks random, below `below`.
fn drawn(number: u32, salt: u32, below: u32) -> u32 {
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), u64::from(salt));
    (hash % u64::from(below)) as u32
}

/// Rows that open with the name of their class and end with those of others. Classes have few rows, so what
/// an opening is worth is hardly learned by each for itself.
fn rows(numbers: std::ops::Range<u32>) -> (Vec<String>, Dataset) {
    let (mut texts, mut about) = (Vec::new(), Dataset::default());
    for row in numbers {
        let class = drawn(row, 0, 1500);
        let mut text = format!("topic{class}");
        for salt in 1..15 {
            write!(text, " word{}", drawn(row, salt, 300)).unwrap();
        }
        for salt in 30..33 {
            write!(text, " topic{}", drawn(row, salt, 1500)).unwrap();
        }
        texts.push(text);
        let class = about.classes.intern(&format!("topic{class}"));
        about.labels.push([class]);
    }
    (texts, about)
}

fn trained(numbers: std::ops::Range<u32>, base: Option<&Model>, held_out: f64, threads: usize) -> Model {
    let vocabulary = UnmatchedVocabulary::Labels {
        names: true,
        rule: None,
    };
    let blocks = base.is_none().then(|| "words,opening:0.2".to_owned());
    let options = FitOptions {
        text: crate::text::TextSettings {
            blocks,
            ..Default::default()
        },
        vocabulary: base.is_none().then(|| VocabularyRequest::from(vocabulary)),
        base_model: base,
        held_out: match held_out {
            0.0 => HeldOut::Nothing,
            share => HeldOut::Share(share),
        },
        ..FitOptions::default()
    };
    let method = Method::new(&SoftmaxParams::default()).unwrap();
    let session = Session::new(NonZeroUsize::new(threads).unwrap()).unwrap();
    let (texts, about) = rows(numbers);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    fit(
        &method,
        Examples::Texts { texts: &texts, about },
        options,
        &session,
    )
    .unwrap()
}

fn names(model: &Model) -> &NameMatches {
    model.scorer.as_mixed().and_then(Mixed::names).expect("names")
}

#[test]
fn a_model_finds_names_and_is_the_same_at_any_number_of_threads() {
    let one = trained(0..4000, None, 0.0, 1);
    assert!(names(&one).weights().opening > 0.0);
    assert!(one.calibration.is_some());
    assert!(one.to_bytes().unwrap() == trained(0..4000, None, 0.0, 2).to_bytes().unwrap());
}

#[test]
fn held_out_rows_choose_as_well() {
    let model = trained(0..4000, None, 0.1, 1);
    assert!(names(&model).weights().opening > 0.0);
}

#[test]
fn names_go_on_when_training_does() {
    let model = trained(0..4000, None, 0.0, 1);
    let continued = trained(4000..4300, Some(&model), 0.0, 1);
    assert!(continued.classes().len() > model.classes().len(), "some are new");
    assert_eq!(names(&continued).weights(), names(&model).weights());
    continued.to_bytes().expect("names for all classes");
}
