//! What is tried, and what is chosen by it.

use std::cell::Cell;
use std::num::NonZeroUsize;

use super::*;
use crate::text::{Analyzer, CountedBlock};

/// Texts of 40 classes: a word of the class with one of many endings, so that a word is seen once or
/// twice.
fn texts(rows: usize) -> (TextCounter, LabelSets) {
    let analyzer = Analyzer::new(&TextParams::default()).unwrap();
    let mut labels = LabelSets::new();
    let texts = (0..rows).map(|row| {
        let class = row % 40;
        labels.push([class as u32]);
        format!(
            "{}{} x{} of it",
            ["brak", "dolm", "fist", "gorp"][class % 4],
            class / 4 * 1000 + row,
            row % 3
        )
    });
    let block = CountedBlock::count(&analyzer, texts.collect::<Vec<_>>());
    let mut counter = TextCounter::new();
    counter.merge(block).unwrap();
    (counter, labels)
}

fn session(seed: u64) -> Session<'static> {
    Session::new(NonZeroUsize::MIN).unwrap().with_seed(seed)
}

/// Features of a row on average.
fn mean_length(data: &Dataset) -> f64 {
    data.rows.entries() as f64 / data.len() as f64
}

fn examples(examples: usize) -> TextKinds<'static> {
    TextKinds {
        examples,
        held_out: &[],
    }
}

fn chosen(judge: &Judge<'_>, rows: usize, given: &[(&str, &str)]) -> TextParams {
    let (counter, labels) = texts(rows);
    let params = TextParams::parse(given.iter().copied()).unwrap();
    choose(
        &counter,
        &labels,
        &examples(rows),
        &params,
        (RowNeeds::default(), false),
        judge,
        &session(0),
    )
    .unwrap()
}

#[test]
fn few_rows_are_not_looked_at() {
    let params = chosen(&|_, _| unreachable!(), 500, &[]);
    assert_eq!(params.blocks.to_string(), "words");
    assert!(params.tried.is_empty() && !params.automatic);
}

#[test]
fn pairs_are_taken_where_the_sample_cannot_tell() {
    let params = chosen(&|_, _| Ok(0.5), 2000, &[("languages", "english")]);
    assert_eq!(params.blocks.to_string(), "words,stems,stem-pairs:0.5");
    let tried: Vec<_> = params.tried.iter().map(|tried| tried.blocks.as_str()).collect();
    assert_eq!(
        tried,
        [
            "words",
            "stems",
            "words,stems",
            "words,chars4:0.6",
            "words:0.5,chars4",
            "words,stems,stem-pairs:0.5"
        ]
    );
}

#[test]
fn what_gains_is_taken() {
    // The more features a row has, the better.
    let longest = |sets: Vec<(Dataset, Dataset)>, _: &Session<'_>| Ok(mean_length(&sets[0].0) / 100.0);
    let params = chosen(&longest, 2000, &[("languages", "english")]);
    assert_eq!(params.blocks.to_string(), "words,stems,chars4:0.6,stem-pairs:0.5");
    assert_eq!(params.languages.len(), 1);
}

/// Scores of settings in the order in which they are tried, and what is chosen by them.
fn chosen_by(scores: &[f64]) -> String {
    let tried = Cell::new(0);
    let judge = |_: Vec<(Dataset, Dataset)>, _: &Session<'_>| {
        tried.set(tried.get() + 1);
        Ok(scores[tried.get() - 1])
    };
    let params = chosen(&judge, 2000, &[("languages", "english")]);
    assert_eq!(tried.get(), scores.len());
    params.blocks.to_string()
}

#[test]
fn runs_of_characters_weigh_most_where_they_gain_much() {
    // Words, stems, both, light runs, heavy ones, and what follows: pairs or longer runs.
    let little = [0.37, 0.40, 0.39, 0.415, 0.425, 0.416];
    assert_eq!(chosen_by(&little), "words,stems,chars4:0.6,stem-pairs:0.5");
    let much = [0.37, 0.40, 0.39, 0.415, 0.435, 0.436];
    assert_eq!(chosen_by(&much), "stems:0.5,chars4");
    let longer = [0.37, 0.40, 0.39, 0.415, 0.435, 0.445];
    assert_eq!(chosen_by(&longer), "stems:0.5,chars5");
}

#[test]
fn pairs_may_lose_a_little() {
    assert_eq!(
        chosen_by(&[0.49, 0.51, 0.508, 0.511, 0.51, 0.509]),
        "words,stems,stem-pairs:0.5"
    );
    assert_eq!(chosen_by(&[0.49, 0.51, 0.508, 0.511, 0.51, 0.49]), "stems");
    assert_eq!(chosen_by(&[0.51, 0.50, 0.51, 0.511, 0.51, 0.50]), "words");
}

#[test]
fn what_opens_long_texts_is_tried() {
    let analyzer = Analyzer::new(&TextParams::default()).unwrap();
    let mut labels = LabelSets::new();
    let texts = (0..1200u32).map(|row| {
        labels.push([row % 40]);
        let words = (0..50).map(|word| format!("w{}", row.wrapping_mul(31 + word) % 700));
        words.collect::<Vec<_>>().join(" ")
    });
    let block = CountedBlock::count(&analyzer, texts.collect::<Vec<_>>());
    let mut counter = TextCounter::new();
    counter.merge(block).unwrap();
    let longest = |sets: Vec<(Dataset, Dataset)>, _: &Session<'_>| Ok(mean_length(&sets[0].0) / 1000.0);
    let params = TextParams::default();
    let params = TextParams {
        automatic: true,
        ..params
    };
    let needs = (RowNeeds::default(), false);
    let kinds = examples(1200);
    let chosen = choose(&counter, &labels, &kinds, &params, needs, &longest, &session(0)).unwrap();
    let tried: Vec<_> = chosen.tried.iter().map(|tried| tried.blocks.as_str()).collect();
    assert!(
        tried.iter().any(|blocks| blocks.contains("opening")) && !tried.concat().contains("chars"),
        "{tried:?}"
    );
    assert!(
        chosen.blocks.to_string().contains("opening:"),
        "{}",
        chosen.blocks
    );
}

#[test]
fn views_are_tried_where_words_and_stems_are_taken() {
    let chosen = |of_views: f64, scores: &[f64]| {
        let tried = Cell::new(0);
        let judge = |sets: Vec<(Dataset, Dataset)>, _: &Session<'_>| {
            tried.set(tried.get() + 1);
            if sets.len() == 1 {
                return Ok(scores[tried.get() - 1]);
            }
            // Each view lacks what the other one has, and knows all labels.
            assert_eq!(sets.len(), 2);
            assert!(sets[0].0.rows != sets[1].0.rows && sets[0].0.labels == sets[1].0.labels);
            assert!(
                sets.iter()
                    .all(|(training, held_out)| training.len() > held_out.len())
            );
            Ok(of_views)
        };
        let (counter, labels) = texts(2000);
        let params = TextParams::parse([("languages", "english")]).unwrap();
        let needs = (RowNeeds::default(), true);
        choose(
            &counter,
            &labels,
            &examples(2000),
            &params,
            needs,
            &judge,
            &session(0),
        )
        .unwrap()
    };
    let pairs = [0.49, 0.51, 0.508, 0.511, 0.51, 0.509];
    let taken = chosen(0.51, &pairs);
    assert_eq!(taken.blocks_list(), "words,stem-pairs:0.5/stems,stem-pairs:0.5");
    assert_eq!(taken.blocks.to_string(), "words,stem-pairs:0.5,stems");
    assert_eq!(taken.tried.last().unwrap().blocks, taken.blocks_list());
    assert_eq!(chosen(0.50, &pairs).blocks_list(), "words,stems,stem-pairs:0.5");
    // Stems alone, and runs that weigh most, have no views.
    assert_eq!(
        chosen(0.99, &[0.49, 0.51, 0.508, 0.511, 0.51, 0.49]).blocks_list(),
        "stems"
    );
    let heavy = [0.37, 0.40, 0.39, 0.415, 0.435, 0.436];
    assert_eq!(chosen(0.99, &heavy).blocks_list(), "stems:0.5,chars4");
}

#[test]
fn samples_hold_whole_classes_and_follow_the_seed() {
    let (counter, labels) = texts(20_000);
    let draw = |seed| {
        draw(&counter, &labels, &examples(20_000), &session(seed))
            .unwrap()
            .unwrap()
    };
    let (sample, about, fitted) = draw(1);
    assert_eq!((sample.len(), about.labels.len(), fitted), (4000, 4000, 3000));
    assert_eq!(draw(1).1, about);
    assert_ne!(draw(2).1, about);
}

#[test]
fn names_of_classes_are_trained_on_and_never_judged() {
    // The last 40 texts are the names of the 40 classes.
    let (counter, labels) = texts(20_000);
    let (sample, about, fitted) = draw(&counter, &labels, &examples(20_000 - 40), &session(1))
        .unwrap()
        .unwrap();
    assert_eq!((sample.len(), about.labels.len(), fitted), (4040, 4040, 3040));
}

#[test]
fn rows_that_are_held_out_are_not_looked_at() {
    let (counter, labels) = texts(4000);
    // All rows of classes 0 to 19.
    let held_out: Vec<bool> = (0..4000).map(|row| row % 40 < 20).collect();
    let kinds = |held_out| TextKinds {
        held_out,
        ..examples(4000)
    };
    let (sample, about, _) = draw(&counter, &labels, &kinds(&held_out), &session(1))
        .unwrap()
        .unwrap();
    assert_eq!((sample.len(), about.classes.len()), (2000, 20));
    let most: Vec<bool> = (0..4000).map(|row| row >= 900).collect();
    assert!(
        draw(&counter, &labels, &kinds(&most), &session(1))
            .unwrap()
            .is_none()
    );
}
