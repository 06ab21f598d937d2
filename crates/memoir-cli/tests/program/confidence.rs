//! Probabilities from training to prediction: are they what happens, and is the program silent where it
//! does not know?

use serde_json::Value;

use crate::support::{Workplace, texts};

/// A model of made-up texts with noisy labels, and rows to measure it on.
fn trained() -> Workplace {
    let place = Workplace::new();
    place.stdout(
        "synth --rows 8000 --test-rows 4000 --classes 60 --features 3000 --row-length 8 --format csv --out train.csv \
         --test-out test.csv --seed 3 --quiet",
    );
    place.stdout("train train.csv --model m --quiet");
    place
}

fn json(place: &Workplace, words: &str) -> Value {
    serde_json::from_str(&place.stdout(words)).expect("JSON")
}

#[test]
fn probabilities_are_what_happens_and_thresholds_keep_their_promise() {
    let place = trained();
    let report = json(&place, "evaluate m test.csv --json --quiet");
    let confidence = &report["confidence"];
    let error = confidence["expected_calibration_error"]
        .as_f64()
        .expect("a number");
    assert!(error < 0.08, "{error}");
    let mean = confidence["mean_confidence"].as_f64().expect("a number");
    assert!((mean - report["accuracy"].as_f64().expect("a number")).abs() < 0.07);
    let inspected = json(&place, "inspect m --json");
    assert_eq!(inspected["calibration"]["basis"], "set-aside");
    assert!(
        inspected["calibration"]["rows"].as_u64() > Some(100),
        "{inspected}"
    );

    let coverage = &confidence["coverage"][0];
    assert_eq!(coverage["target"], 0.8);
    let threshold = coverage["threshold"].as_f64().expect("a threshold");
    let output = place.run(&format!("predict m test.csv --min-confidence {threshold}"));
    let answers = String::from_utf8(output.stdout).expect("text");
    assert_eq!(
        answers.lines().count(),
        4000,
        "a row without an answer is an empty line"
    );
    let answered = answers.lines().filter(|line| !line.is_empty()).count() as u64;
    assert_eq!(Some(answered), coverage["rows"].as_u64());
    let told = String::from_utf8(output.stderr).expect("text");
    let unanswered = format!(
        "{},{:03} of 4,000 rows not answered",
        (4000 - answered) / 1000,
        (4000 - answered) % 1000
    );
    assert!(told.contains(&unanswered), "{told}");
}

#[test]
fn what_was_never_seen_has_no_answer() {
    let place = trained();
    place.file("odd.txt", "qqqq zzzz\n\n!!! ???\n");
    let output = place.stdout("predict m odd.txt --format lines --scores");
    assert_eq!(output, "\n\n\n");
    let output = place.stdout("predict m odd.txt --format lines --min-confidence 0.01 --quiet");
    assert_eq!(output, "\n\n\n");
}

#[test]
fn raw_scores_are_still_to_be_had() {
    let place = trained();
    place.file("one.csv", "label,text\nx,nothing\n");
    let raw = place.stdout("predict m test.csv --raw-scores --top-k 2 --output csv");
    let probable = place.stdout("predict m test.csv --scores --top-k 2 --output csv");
    assert_eq!(raw.lines().count(), probable.lines().count());
    let scores = |text: &str| -> Vec<f32> {
        text.lines()
            .skip(1)
            .map(|line| {
                line.rsplit(',')
                    .next()
                    .expect("a score")
                    .parse()
                    .expect("a number")
            })
            .collect()
    };
    assert!(scores(&raw).iter().any(|&score| score > 1.0));
    assert!(
        scores(&probable)
            .iter()
            .all(|&score| (0.0..=1.0).contains(&score))
    );
}

#[test]
fn models_of_other_algorithms_say_that_they_are_not_calibrated_until_they_are() {
    let place = trained();
    place.stdout("train train.csv --model c --algorithm centroid --quiet");
    let output = place.run("predict c test.csv --scores");
    assert!(String::from_utf8_lossy(&output.stderr).contains("not calibrated"));
    let output = place.run("predict c test.csv --min-confidence 0.5");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the model is not calibrated"));
    assert!(
        place
            .stdout("evaluate c test.csv --quiet")
            .contains("The model is not calibrated")
    );
    place.stdout("train train.csv --model c --algorithm centroid --valid-fraction 0.2 --quiet");
    let report = json(&place, "evaluate c test.csv --json --quiet");
    let error = report["confidence"]["expected_calibration_error"]
        .as_f64()
        .expect("a number");
    assert!(error < 0.05, "{error}");
}

#[test]
fn bad_rows_that_are_skipped_leave_empty_lines() {
    let place = Workplace::new();
    place.file("train.csv", texts(600, 30));
    place.stdout("train train.csv --model m --quiet");
    place.file(
        "rows.csv",
        "text,label\nclass3 word3,a\ntoo,many,columns\n\nclass4 word4,b\nbad\n",
    );
    let output = place.stdout("predict m rows.csv --skip-bad-rows --quiet");
    assert_eq!(output, "class 3\n\nclass 4\n\n");
    let output = place.stdout("predict m rows.csv --skip-bad-rows --quiet --output csv");
    assert_eq!(output, "row,rank,class\n1,1,class 3\n3,1,class 4\n");
}

#[test]
fn a_report_is_one_page_with_its_plots() {
    let place = trained();
    place.stdout("evaluate m test.csv --report out/report --quiet");
    let read =
        |name: &str| std::fs::read_to_string(place.path().join("out/report").join(name)).expect("a file");
    let page = read("report.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(
        page.matches("<svg").count() == 4 && !page.contains("src="),
        "all in one page"
    );
    assert!(page.contains("By class frequency") && page.contains("Rows that can be automated"));
    let plot = read("reliability.svg");
    assert!(plot.starts_with("<svg") && plot.ends_with("</svg>\n") && plot.contains("<circle"));
    assert!(read("coverage.svg").contains("<polyline"));
    assert!(read("tail.svg").contains("What small and large classes get"));
    assert!(read("confusions.svg").contains("fill-opacity"));
    assert!(read("report.md").contains("![reliability.svg](reliability.svg)"));
}

#[test]
fn the_words_of_an_explanation_add_up() {
    let place = Workplace::new();
    place.file("train.csv", texts(600, 30));
    place.stdout("train train.csv --model m --quiet --word-ngrams 2");
    let mut command = place.memoir("explain m --json --top 1000 --text");
    let output = command
        .arg("Word3 letter0 and class3, word4?")
        .output()
        .expect("starts");
    let explanation: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (side, share) in [("answer", "for_answer"), ("runner_up", "for_runner_up")] {
        let number = |value: &Value| value.as_f64().expect("a number");
        // JSON holds the shortest decimals of single-precision numbers: read back, they are the same
        // numbers.
        let single = |value: &Value| f64::from(number(value) as f32);
        let shares = explanation["features"].as_array().expect("features").iter();
        let sum: f64 = shares.map(|feature| single(&feature[share])).sum();
        let candidate = &explanation[side];
        let total = sum + single(&candidate["bias"]) + number(&candidate["rounding"]);
        assert!(
            (total - single(&candidate["score"])).abs() < 1e-12,
            "{explanation}"
        );
    }
    let mut command = place.memoir("explain m --html --text");
    let page = command.arg("Word3 <b> class3").output().expect("starts").stdout;
    let page = String::from_utf8(page).expect("text");
    assert!(
        page.contains("<mark style=\"background:rgba(60,170,70,"),
        "{page}"
    );
    assert!(page.contains("&lt;b&gt;"), "{page}");
}
