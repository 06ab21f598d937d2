use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use super::*;
use crate::catalogue::Catalogue;
use crate::dataset::Dataset;
use crate::params::{Kind, Parameters};
use crate::text::{TextParams, TextSettings};
use crate::{Cancel, Error};

/// Texts of 30 classes: two words of the class among words that say nothing.
fn data(rows: usize) -> ExampleSet {
    let mut about = Dataset::default();
    let text = |row: usize| {
        let class = row % 30;
        let number = about.classes.intern(&format!("c{class}"));
        about.labels.push([number]);
        let noise = row * 7919 % 1009;
        format!(
            "w{} v{} n{noise} n{} the",
            class * 3 + row / 30 % 3,
            class / 2,
            noise % 17
        )
    };
    let texts = (0..rows).map(text).collect();
    ExampleSet::of_texts(texts, about)
}

fn session() -> Session<'static> {
    Session::new(NonZeroUsize::MIN).unwrap().with_seed(3)
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn options(algorithm: &Algorithm) -> TuneOptions<'_> {
    TuneOptions {
        algorithm,
        given: Settings::new(),
        vary: None,
        measure: Measure::Accuracy,
        candidates: 6,
        rows: None,
        weighting: WeightingChoice::Auto,
        log: None,
        resume: false,
    }
}

fn search(options: &TuneOptions<'_>, session: &Session<'_>) -> Result<Outcome> {
    tune(&data(900), JudgedBy::Share(0.2), options, session, |_| {})
}

fn in_algorithm<T>(name: &str, run: impl FnOnce(&Algorithm) -> T) -> T {
    let catalogue = Catalogue::new();
    run(catalogue.find(name).unwrap())
}

#[test]
fn the_same_seed_gives_the_same_answer_at_any_number_of_threads() {
    in_algorithm("softmax", |algorithm| {
        let options = options(algorithm);
        let first = search(&options, &session()).unwrap();
        assert_eq!(first.trials.len(), 6);
        assert_eq!((first.rounds, first.finished_rounds), (1, 1));
        let best = first.best.clone().unwrap();
        assert!(first.trials.iter().all(|trial| trial.score <= best.score));
        let two = Session::new(NonZeroUsize::new(2).unwrap()).unwrap().with_seed(3);
        assert_eq!(search(&options, &two).unwrap(), first);
        let other = search(&options, &session().with_seed(4)).unwrap();
        assert_ne!(other.trials[1].settings, first.trials[1].settings);
    });
}

#[test]
fn what_is_given_stays() {
    in_algorithm("softmax", |algorithm| {
        let options = TuneOptions {
            given: settings(&[("passes", "1"), ("text-preset", "words")]),
            candidates: 12,
            ..options(algorithm)
        };
        let outcome = search(&options, &session()).unwrap();
        for trial in &outcome.trials {
            for name in ["passes", "text-preset", "blocks"] {
                assert!(!trial.settings.contains_key(name), "{:?}", trial.settings);
            }
            assert_ne!(trial.settings.is_empty(), trial.candidate > 0);
        }
        let only = TuneOptions {
            given: Settings::new(),
            vary: Some(vec!["passes".to_owned()]),
            candidates: 3,
            ..options
        };
        for trial in &search(&only, &session()).unwrap().trials[1..] {
            assert_eq!(
                trial.settings.keys().map(String::as_str).collect::<Vec<_>>(),
                ["passes"]
            );
        }
    });
}

/// Raises the flag when so many trials are done.
fn stopped_after(count: usize, options: &TuneOptions<'_>) -> Outcome {
    let cancel = Cancel::default();
    let session = session().with_cancel(cancel.clone());
    let mut done = 0;
    let stop = |_: &Trial| {
        done += 1;
        if done == count {
            cancel.raise();
        }
    };
    tune(&data(900), JudgedBy::Share(0.2), options, &session, stop).unwrap()
}

#[test]
fn a_stopped_search_goes_on_from_its_log_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    in_algorithm("softmax", |algorithm| {
        let with_log = |log: &Path, resume| {
            let options = TuneOptions {
                log: Some(log),
                resume,
                ..options(algorithm)
            };
            (search(&options, &session()), options.resume)
        };
        let expected = with_log(&whole, false).0.unwrap();
        let options = TuneOptions {
            log: Some(&cut),
            ..options(algorithm)
        };
        let part = stopped_after(2, &options);
        assert_eq!((part.trials.len(), part.finished_rounds), (2, 0));
        assert!(part.best.is_some());
        assert_eq!(part.trials[..], expected.trials[..2]);
        // As if the program had been killed while it wrote.
        let mut text = fs::read_to_string(&cut).unwrap();
        text.push_str("{\"round\":1,\"cand");
        fs::write(&cut, text).unwrap();
        let refused = with_log(&cut, false).0.unwrap_err();
        assert!(refused.to_string().contains("is there already"), "{refused}");
        assert_eq!(with_log(&cut, true).0.unwrap(), expected);
        assert_eq!(fs::read(&cut).unwrap(), fs::read(&whole).unwrap());
        let other = TuneOptions {
            measure: Measure::MacroF1,
            resume: true,
            ..options
        };
        let refused = search(&other, &session()).unwrap_err();
        assert!(
            refused
                .to_string()
                .ends_with("`measure` is \"accuracy\" there and \"macro-f1\" now"),
            "{refused}"
        );
    });
}

#[test]
fn rounds_shrink_and_rows_grow() {
    in_algorithm("centroid", |algorithm| {
        let options = TuneOptions {
            candidates: 9,
            rows: Some(9000),
            ..options(algorithm)
        };
        let held_out = data(600);
        let outcome = tune(
            &data(12_000),
            JudgedBy::Examples(&held_out),
            &options,
            &session(),
            |_| {},
        );
        let outcome = outcome.unwrap();
        let of_round = |round| outcome.trials.iter().filter(move |trial| trial.round == round);
        assert_eq!((outcome.rounds, outcome.finished_rounds), (2, 2));
        assert_eq!((of_round(1).count(), of_round(2).count()), (9, 3));
        assert!(of_round(1).all(|trial| trial.rows == 3000));
        assert!(of_round(2).all(|trial| trial.rows == 9000));
        // What was given is in every round, and the best of the last one wins.
        assert!(of_round(2).any(|trial| trial.candidate == 0));
        assert_eq!(outcome.best.unwrap().round, 2);
    });
}

#[test]
fn settings_that_fail_lose_and_mistakes_are_told() {
    in_algorithm("softmax", |algorithm| {
        let options = TuneOptions {
            vary: Some(vec!["max-df".to_owned()]),
            candidates: 4,
            given: settings(&[("blocks", "words")]),
            ..options(algorithm)
        };
        assert!(search(&options, &session()).unwrap().best.is_some());
        let message = |given: &[(&str, &str)], vary: &[&str]| {
            let options = TuneOptions {
                given: settings(given),
                vary: Some(vary.iter().map(|name| (*name).to_owned()).collect()),
                ..self::options(algorithm)
            };
            match search(&options, &session()) {
                Err(Error::Parameter(message)) => message,
                other => panic!("{other:?}"),
            }
        };
        assert!(message(&[], &["wings"]).starts_with("`vary` names `wings`, but must be of blocks, "));
        let given = message(&[("passes", "2")], &["passes"]);
        assert_eq!(
            given,
            "`vary` names `passes`, but it is given, so it stays as it is"
        );
        assert!(message(&[("passes", "0")], &["tail"]).starts_with("`passes` must be"));
    });
}

#[test]
fn every_candidate_is_legal() {
    for algorithm in Catalogue::new().algorithms() {
        let space = space::Space::new(algorithm, &Settings::new(), None, true).unwrap();
        // As if everything that is left to the algorithm had become the largest legal value.
        let largest = |spec: &crate::params::Spec| match spec.kind {
            Kind::Integer(_, high) => Value::Integer(high),
            Kind::Number(_, high) => Value::Number(high),
            Kind::Choice(words) => Value::Word(words[0].to_owned()),
            Kind::Text(_) => Value::Auto,
        };
        let params = algorithm.params.iter();
        let resolved = params.map(|spec| (spec.name.to_owned(), largest(spec))).collect();
        let candidates = space.candidates(200, &resolved, &session());
        assert!(candidates.len() > 100, "{}", algorithm.name);
        for settings in &candidates {
            let pairs = || {
                settings
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
            };
            let is_text = |name: &str| TextSettings::SPECS.iter().any(|spec| spec.name == name);
            TextParams::parse(pairs().filter(|(name, _)| is_text(name))).unwrap();
            algorithm
                .configure(pairs().filter(|(name, _)| !is_text(name)))
                .unwrap();
        }
    }
}
