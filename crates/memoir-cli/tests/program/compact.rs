//! Smaller files: what they keep, and what they say before.

use serde_json::Value;

use crate::support::Workplace;

fn trained() -> Workplace {
    let place = Workplace::new();
    place.stdout(
        "synth --rows 5000 --test-rows 3000 --classes 300 --features 3000 --row-length 8 --out train.svm \
         --test-out test.svm --seed 5 --quiet",
    );
    place.stdout("train train.svm --model m --quiet");
    place
}

fn accuracy(place: &Workplace, model: &str) -> f64 {
    let json = place.stdout(&format!("evaluate {model} test.svm --json --quiet"));
    let report: Value = serde_json::from_str(&json).expect("JSON");
    report["accuracy"].as_f64().expect("a number")
}

fn size(place: &Workplace, model: &str) -> u64 {
    std::fs::metadata(place.path().join(model)).expect("a file").len()
}

#[test]
fn precisions_keep_answers_and_save_bytes() {
    let place = trained();
    let before = accuracy(&place, "m");
    place.stdout("compact m --out half --precision f16 --quiet");
    place.stdout("compact m --out eighth --precision int8 --final --quiet");
    place.stdout("inspect eighth --verify");
    assert!(size(&place, "half") < size(&place, "m"));
    assert!(size(&place, "eighth") < size(&place, "half"));
    let answers = |model: &str| place.stdout(&format!("predict {model} test.svm --top-k 3 --raw-scores"));
    assert_eq!(answers("half"), answers("m"), "16 bits keep every score");
    assert!((accuracy(&place, "eighth") - before).abs() < 0.01);
    let inspected = place.stdout("inspect eighth");
    assert!(
        inspected.contains("int8") && !inspected.contains("document_frequency"),
        "{inspected}"
    );
    // What was calibrated stays so.
    assert!(
        place
            .stdout("evaluate eighth test.svm --quiet")
            .contains("calibration error")
    );
}

#[test]
fn a_wanted_size_is_kept_by_train_and_by_compact() {
    let place = trained();
    let whole = size(&place, "m");
    let most = whole * 2 / 3;
    let output = place.run(&format!("train train.svm --model small --max-model-size {most}"));
    assert!(output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("the model keeps"),
        "says what it costs"
    );
    assert!(size(&place, "small") <= most);
    place.stdout("inspect small --verify");
    for precision in ["f16", "int8"] {
        let most = size(&place, "m") / 3;
        place.stdout(&format!(
            "compact m --out packed --precision {precision} --max-size {most} --quiet"
        ));
        assert!(size(&place, "packed") <= most);
        assert!(size(&place, "packed") > most * 9 / 10, "no smaller than needed");
    }
    let output = place.run("compact m --out tiny --max-size 2k");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("would not keep one weight per class"));
    assert!(!place.path().join("tiny").exists());
}

#[test]
fn a_dry_run_shows_sizes_against_accuracy_and_writes_nothing() {
    let place = trained();
    let files = place.files();
    let table = place.stdout("compact m --dry-run --valid test.svm --max-size 60k --quiet");
    let lines: Vec<_> = table.lines().collect();
    assert!(
        lines[0].contains("size") && lines[0].contains("accuracy"),
        "{table}"
    );
    assert!(
        lines[1].starts_with("as it is") && lines[1].ends_with("+0.00"),
        "{table}"
    );
    assert!(
        lines[2].starts_with("f16") && lines[2].ends_with("+0.00"),
        "{table}"
    );
    assert!(table.contains("int8, at most 60.0 kB"), "{table}");
    let impossible =
        "int8, at most 2.0 kB: not possible: a model of at most 2000 bytes would not keep one weight";
    assert!(
        place
            .stdout("compact m --dry-run --max-size 2k --quiet")
            .contains(impossible)
    );
    assert_eq!(place.files(), files);
    let output = place.run("compact m");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn linear_models_are_packed_too() {
    let place = trained();
    place.stdout("train train.svm --model c --algorithm centroid --quiet");
    let before = accuracy(&place, "c");
    place.stdout("compact c --out c8 --precision int8 --quiet");
    assert!(size(&place, "c8") < size(&place, "c") / 2);
    assert!((accuracy(&place, "c8") - before).abs() < 0.01);
    place.stdout("train train.svm --model k --algorithm knn --quiet");
    let output = place.run("compact k --out k8 --precision int8");
    assert_eq!(output.status.code(), Some(2));
}
