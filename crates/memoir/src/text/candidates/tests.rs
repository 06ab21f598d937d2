//! Runs that are left out early are those that no feature would be made of.

use std::num::NonZeroUsize;

use super::*;
use crate::text::word_source::WordLists;
use crate::text::{CountedBlock, TextCounter, TextParams};

fn session(budget: Option<u64>) -> Session<'static> {
    let session = Session::new(NonZeroUsize::new(2).unwrap()).unwrap();
    session.with_memory_budget(budget)
}

/// Texts of words of which few are frequent.
fn counter(texts: u32) -> TextCounter {
    let mut state = 1u32;
    let mut word = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let share = f64::from(state >> 8) / f64::from(1 << 24);
        let endings = ["", "s", "ed", "ing"];
        format!(
            "w{}{}",
            (share.powi(4) * 5000.0) as u32,
            endings[state as usize >> 4 & 3]
        )
    };
    let mut text = |number: u32| {
        let words: Vec<String> = (0..number % 17).map(|_| word()).collect();
        format!(
            "{} {}",
            ["the of and", "der die und"][number as usize % 2],
            words.join(" ")
        )
    };
    let texts: Vec<String> = (0..texts).map(&mut text).collect();
    let analyzer = Analyzer::new(&TextParams::default()).unwrap();
    let mut counter = TextCounter::new();
    counter.merge(CountedBlock::count(&analyzer, &texts)).unwrap();
    counter
}

/// The names of the candidates that are in `fewest` texts at least, in order, and how many candidates there
/// are.
fn frequent(candidates: &Candidates<'_>, source: &WordLists, fewest: u32) -> (Vec<String>, usize) {
    let mut counts = vec![0; candidates.len()];
    let mut found = Vec::new();
    let count = |_, text: &[u32]| {
        found.clear();
        candidates.of_text(text, &mut found);
        found.sort_unstable();
        found.dedup();
        for &candidate in &found {
            counts[candidate as usize] += 1;
        }
    };
    source.for_each(count, &session(None)).unwrap();
    let mut names = Vec::new();
    for (candidate, _) in counts.iter().enumerate().filter(|(_, count)| **count >= fewest) {
        let mut name = String::new();
        candidates.write_name(candidate as u32, &mut name);
        names.push(name);
    }
    (names, candidates.len())
}

#[test]
fn runs_that_are_frequent_enough_are_the_same_without_a_filter() {
    let counter = counter(6000);
    for given in [
        &[("blocks", "pairs")][..],
        &[("blocks", "stem-pairs"), ("languages", "english,german")],
        &[("word-ngrams", "4")],
        &[("blocks", "words,pairs,stem-pairs"), ("languages", "english")],
    ] {
        let params = TextParams::parse(given.iter().copied()).unwrap();
        for (fewest, budget) in [(2, None), (3, None), (9, None), (2, Some(2_000_000))] {
            let candidates = |limits: &[u32], budget| {
                let analyzer = Analyzer::new(&params).unwrap();
                let session = session(budget);
                Candidates::new(&counter.names, &counter.source, analyzer, limits, &session).unwrap()
            };
            let all = candidates(&[], None);
            let few = candidates(&[fewest; 3], budget);
            let (expected, of_all) = frequent(&all, &counter.source, fewest);
            let (names, of_few) = frequent(&few, &counter.source, fewest);
            assert_eq!(names, expected, "{given:?}, {fewest}");
            let words = counter.names.len();
            assert!(
                of_few - words < (of_all - words) * 2 / 3,
                "{given:?}: {of_few} of {of_all}"
            );
            assert!(few.memory() < all.memory());
        }
    }
}

#[test]
fn more_runs_than_a_budget_allows_are_refused() {
    let counter = counter(6000);
    let params = TextParams::parse([("blocks", "pairs")]).unwrap();
    let analyzer = Analyzer::new(&params).unwrap();
    let refused = Candidates::new(
        &counter.names,
        &counter.source,
        analyzer,
        &[2],
        &session(Some(50_000)),
    );
    let message = refused.unwrap_err().to_string();
    assert!(
        message.starts_with("the memory budget of 1 MB is too small: runs of words alone"),
        "{message}"
    );
}
