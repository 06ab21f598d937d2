//! The paper's algorithms and `memoir margins`, from data to report.

use crate::support::{Workplace, vectors};

fn trained() -> Workplace {
    let place = Workplace::new();
    place.file("train.svm", vectors(600, 30));
    place.stdout("train train.svm --model m --algorithm memoir-l2 --iterations 5 --quiet");
    place
}

#[test]
fn an_exact_oracle_has_no_gap_and_a_random_one_has() {
    let place = trained();
    let report = |oracle: &str| {
        let json = place.stdout(&format!(
            "margins m train.svm --oracle {oracle} --plot {oracle}.svg --json --quiet"
        ));
        serde_json::from_str::<serde_json::Value>(&json).expect("JSON")
    };
    let exact = report("exact");
    assert_eq!(exact["recall_at_1"], 1.0);
    assert_eq!(exact["epsilon"], 0.0);
    assert_eq!(exact["exact_loss"], exact["approximate_loss"]);
    let random = report("random");
    assert!(random["recall_at_1"].as_f64() < Some(0.5), "{random}");
    assert!(random["epsilon"].as_f64() > Some(0.0));
    assert!(random["exact_loss"].as_f64() > random["approximate_loss"].as_f64());
    let plot = std::fs::read_to_string(place.path().join("random.svg")).expect("a plot");
    assert!(plot.starts_with("<svg") && plot.ends_with("</svg>\n") && plot.contains("<polyline"));
}

#[test]
fn reduced_weights_have_margins_too() {
    let place = Workplace::new();
    place.file("train.svm", vectors(600, 30));
    place.stdout("train train.svm --model m --algorithm memoir-lsh --dimensions 20 --iterations 5 --quiet");
    let recall = |oracle: &str| {
        let json = place.stdout(&format!("margins m train.svm --oracle {oracle} --json --quiet"));
        let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        report["recall_at_1"].as_f64()
    };
    assert_eq!(recall("exact"), Some(1.0));
    assert!(recall("sw-graph") > Some(0.9) && recall("random") < Some(0.5));
}

#[test]
fn wrong_questions_are_refused() {
    let place = trained();
    for (words, message) in [
        ("--delta 1", "`--delta` must be between 0 and 1, but is `1`"),
        ("--rho 0", "`--rho` must be above 0, but is `0`"),
        (
            "--oracle-option sw-seed=1",
            "there is no parameter `sw-seed` here",
        ),
        (
            "--oracle best",
            "`--oracle` must be one of exact, random, simple-lsh, sw-graph, but is `best`",
        ),
    ] {
        let output = place.run(&format!("margins m train.svm {words}"));
        let errors = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
}

#[test]
fn a_training_run_tells_the_terms_of_its_theorem() {
    let place = trained();
    for (algorithm, theorem) in [("memoir-l2", "Theorem 2"), ("memoir-l1", "Theorem 3")] {
        let words =
            format!("train train.svm --model n --algorithm {algorithm} --iterations 3 --report-theory on");
        let output = place.run(&words);
        let told = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.success() && told.contains(theorem), "{told}");
        // After three batches no theorem can promise more than zero weights have.
        assert!(told.contains("A bound of 1 or more says nothing"), "{told}");
    }
}
