//! The short way to a model: every algorithm, every kind of rows, and the same model as by the long way.

use std::num::NonZeroUsize;

use memoir::catalogue::AlgorithmParams;
use memoir::data::{ReadOptions, Source};
use memoir::oracle::{OracleChoice, OracleParams};
use memoir::prepare::Examples;
use memoir::text::{Stem, TextSettings};
use memoir::train::{FitOptions, HeldOut, fit};
use memoir::{Cancel, Catalogue, Classifier, Error, Model, Session};

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// Texts of ten classes that share words.
fn texts(count: usize) -> (Vec<String>, Vec<String>) {
    let text = |row: usize| format!("topic{} word{} word{}", row % 10, row % 7, row % 13);
    let labels = (0..count).map(|row| format!("class {}", row % 10));
    ((0..count).map(text).collect(), labels.collect())
}

fn right<A: AlgorithmParams>(classifier: Classifier<'_, A>) -> usize {
    let (texts, labels) = texts(300);
    let model = classifier.threads(2).fit(&texts, &labels).expect("trained");
    let answers = texts
        .iter()
        .map(|text| model.predict(text, 1).expect("answers")[0]);
    answers
        .zip(&labels)
        .filter(|(answer, label)| answer.class == label.as_str())
        .count()
}

#[test]
fn every_algorithm_learns() {
    let graph = OracleParams::default().oracle(OracleChoice::SwGraph);
    for (name, right) in [
        ("softmax", right(Classifier::softmax().passes(2))),
        ("centroid", right(Classifier::centroid())),
        ("memoir-l2", right(Classifier::memoir_l2().iterations(100))),
        (
            "memoir-l2, sw-graph",
            right(Classifier::memoir_l2().iterations(100).search(graph)),
        ),
        ("memoir-l1", right(Classifier::memoir_l1().lambda(1e-5))),
        ("memoir-lsh", right(Classifier::memoir_lsh().dimensions(20))),
    ] {
        assert!(right > 200, "{name}: {right} of 300");
    }
}

fn table(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let (texts, labels) = texts(300);
    let rows = texts
        .iter()
        .zip(&labels)
        .map(|(text, label)| format!("{label},{text}\n"));
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, "label,text\n".to_owned() + &rows.collect::<String>()).unwrap();
    path
}

/// What `memoir train` does: an algorithm by its name, parameters as texts.
fn long_way(path: &std::path::Path, given: &[(&str, &str)]) -> Vec<u8> {
    let catalogue = Catalogue::new();
    let method = catalogue.find("softmax").unwrap();
    let method = method.configure(given.iter().copied()).unwrap();
    let options = ReadOptions::default();
    let examples = Examples::Read {
        source: Source::new(path),
        options: &options,
    };
    let options = FitOptions {
        held_out: HeldOut::Share(0.2),
        text: TextSettings::default().word_ngrams(2),
        ..FitOptions::default()
    };
    let session = session(2).with_seed(5);
    let model = fit(&method, examples, options, &session).unwrap();
    model.to_bytes().unwrap()
}

#[test]
fn the_same_bytes_as_by_the_long_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(&folder);
    let short = |threads| {
        Classifier::softmax()
            .passes(3)
            .least_weight(0.05)
            .text(TextSettings::default().word_ngrams(2))
            .held_out_fraction(0.2)
            .seed(5)
            .threads(threads)
            .fit_file(&path)
            .unwrap()
            .to_bytes()
            .unwrap()
    };
    assert_eq!(
        short(1),
        long_way(&path, &[("passes", "3"), ("least-weight", "0.05")])
    );
    assert_eq!(short(1), short(3));
    assert_ne!(short(1), long_way(&path, &[("passes", "2")]));
}

#[test]
fn files_and_memory_give_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(&folder);
    let (texts, labels) = texts(300);
    let read = Classifier::softmax()
        .held_out_file(&path)
        .fit_file(&path)
        .unwrap();
    let held = Classifier::softmax()
        .held_out(&texts, &labels)
        .fit(&texts, &labels)
        .unwrap();
    assert_eq!(held.to_bytes().unwrap(), read.to_bytes().unwrap());
}

#[test]
fn a_model_answers_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(&folder);
    let model = Classifier::softmax().fit_file(&path).unwrap();
    let file = folder.path().join("model");
    model.save(&file).unwrap();
    let opened = Model::open(&file).unwrap();
    let answers = opened.predict("topic3", 4).unwrap();
    assert_eq!(answers, model.predict("topic3", 4).unwrap());
    assert_eq!((answers.len(), answers[0].class), (4, "class 3"));
    let sum: f32 = opened
        .predict("topic3", 10)
        .unwrap()
        .iter()
        .map(|a| a.probability)
        .sum();
    assert!(
        answers[0].probability > answers[1].probability && sum < 1.001,
        "{answers:?}"
    );
    let mut streamed = Vec::new();
    let take = |answers: &[memoir::Answer<'_>]| {
        streamed.push(answers[0].class.to_owned());
        Ok(())
    };
    opened.predict_file(&path, 1, take).unwrap();
    assert_eq!(streamed, texts(300).1);
    assert!(opened.evaluate_file(&path).unwrap().accuracy > 0.99);
    let explanation = opened.explain("topic3").unwrap();
    assert!(format!("{explanation:?}").contains("topic3"));
}

#[test]
fn vectors_and_several_labels() {
    let rows = (0..200u32).map(|row| [(row % 10, 1.0), (10 + row % 3, 0.5)]);
    let labels: Vec<String> = (0..200).map(|row| format!("{}", row % 10)).collect();
    let model = Classifier::softmax()
        .held_out_rows([[(3, 1.0)]], &["3"])
        .fit_rows(rows.clone(), &labels)
        .unwrap();
    assert_eq!(
        model.predict_row(&[(11, 0.5), (7, 1.0)], 1).unwrap()[0].class,
        "7"
    );
    let sets: Vec<Vec<String>> = (0..200)
        .map(|row| vec![format!("{}", row % 10), format!("rest {}", row % 3)])
        .collect();
    let model = Classifier::softmax().fit_rows_multi(rows, &sets).unwrap();
    let best = model.predict_row(&[(7, 1.0), (11, 0.5)], 2).unwrap();
    let mut best: Vec<_> = best.iter().map(|answer| answer.class).collect();
    best.sort_unstable();
    assert_eq!(best, ["7", "rest 1"]);
}

#[test]
fn continuing_adds_classes_and_keeps_the_old_ones() {
    let (texts, labels) = texts(300);
    for continued in [
        Classifier::softmax()
            .continue_from(&Classifier::softmax().fit(&texts, &labels).unwrap())
            .fit(&["fresh news", "fresh day"], &["new", "new"]),
        Classifier::centroid()
            .continue_from(&Classifier::centroid().fit(&texts, &labels).unwrap())
            .fit(&["fresh news", "fresh day"], &["new", "new"]),
    ] {
        let model = continued.unwrap();
        assert_eq!(
            (model.classes().len(), model.classes().find("new")),
            (11, Some(10))
        );
        assert_eq!(model.predict("fresh", 1).unwrap()[0].class, "new");
        assert_eq!(model.predict("topic4", 1).unwrap()[0].class, "class 4");
        assert_eq!(model.origin().rows, 302);
    }
    let paper = Classifier::memoir_l2().fit(&texts, &labels).unwrap();
    let refused = Classifier::memoir_l2().continue_from(&paper).fit(&texts, &labels);
    let message = refused.expect_err("refused").to_string();
    assert!(
        message.starts_with("`memoir-l2` cannot continue from a model"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_read() {
    let message = |outcome: memoir::Result<Model>| outcome.expect_err("refused").to_string();
    let nowhere = "no/such/file.csv";
    assert_eq!(
        message(Classifier::softmax().passes(0).fit_file(nowhere)),
        "`passes` must be `auto` or a whole number from 1 to 1,000, but is `0`"
    );
    assert_eq!(
        message(Classifier::memoir_l1().lambda(f64::NAN).fit_file(nowhere)),
        "`lambda` must be a number from 0.000000000001 to 1,000,000,000, but is `NaN`"
    );
    assert_eq!(
        message(Classifier::softmax().held_out_fraction(1.5).fit_file(nowhere)),
        "`valid-fraction` must be a number between 0 and 1, but is `1.5`"
    );
    assert_eq!(
        message(Classifier::softmax().threads(0).fit_file(nowhere)),
        "`threads` must be a whole number of at least 1, but is `0`"
    );
    let session = session(1);
    assert_eq!(
        message(Classifier::softmax().seed(3).session(&session).fit_file(nowhere)),
        "`seed` is given beside a session, which has its own: set it there"
    );
    assert!(message(Classifier::softmax().fit_file(nowhere)).contains("no/such/file.csv"));
    assert_eq!(
        message(Classifier::softmax().fit(&["a", "b"], &["x"])),
        "there are 2 rows and labels for 1 of them"
    );
    assert_eq!(
        message(Classifier::softmax().fit_rows([[(0, f32::NAN)]], &["x"])),
        "row 0 has the value NaN at feature 0; expected a finite number"
    );
    let stemmed = Classifier::softmax().text(TextSettings::default().stem(Stem::English));
    assert_eq!(
        message(stemmed.fit_rows([[(0, 1.0)]], &["x"])),
        "`stem` is a setting for text, but the data holds vectors"
    );
}

#[test]
fn a_session_can_stop_it() {
    let cancel = Cancel::default();
    cancel.raise();
    let session = session(1).with_cancel(cancel);
    let (texts, labels) = texts(100);
    let outcome = Classifier::softmax().session(&session).fit(&texts, &labels);
    assert!(matches!(outcome, Err(Error::Cancelled)));
}
