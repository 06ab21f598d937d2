//! Rows as a model sees them.

use crate::support::{Workplace, texts};

#[test]
fn a_model_of_the_vectors_answers_as_the_model_of_the_texts() {
    let place = Workplace::new();
    place.file("train.csv", texts(1500, 20));
    place.file("test.csv", texts(300, 25));
    place.stdout("train train.csv --model t.memoir --quiet --blocks words,pairs:0.5 --seed 1");
    for (from, to) in [
        ("train", "train.svm"),
        ("test", "test.svm"),
        ("train", "train.xmc"),
    ] {
        place.stdout(&format!("vectors t.memoir {from}.csv --out {to} --quiet"));
    }
    let stdout = place.stdout("vectors t.memoir test.csv --out - --quiet");
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).expect("text");
    assert_eq!(stdout, read("test.svm"));
    assert_eq!(stdout.lines().count(), 300);
    // Classes 20 to 24 are unknown to the model, so these rows have no label.
    assert!(stdout.lines().any(|line| line.starts_with(' ')));
    let header = read("train.xmc").lines().next().map(str::to_owned);
    let header = header.expect("a header");
    assert!(header.starts_with("1500 ") && header.ends_with(" 20"), "{header}");
    place.stdout("train train.svm --model v.memoir --quiet --weighting raw --seed 1");
    place.stdout("train train.xmc --model x.memoir --quiet --weighting raw --seed 1");
    let accuracy = |model: &str, data: &str| {
        let report = place.stdout(&format!("evaluate {model} {data} --json --quiet"));
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        report["accuracy"].as_f64().expect("a number")
    };
    let of_vectors = accuracy("v.memoir", "test.svm");
    assert_eq!(of_vectors, accuracy("x.memoir", "test.svm"));
    assert!(of_vectors > 0.9, "{of_vectors}");
    let refused = place.run("vectors t.memoir test.csv --out test.csv2");
    assert_eq!(refused.status.code(), Some(2));
}
