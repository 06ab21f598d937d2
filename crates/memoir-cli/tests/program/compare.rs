//! Comparisons: every way to fail gets its row, kills change nothing, different data is refused, the
//! report opens in a browser.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Workplace, vectors};

/// Two of ours, and programs that do well and badly in all the ways there are.
const EXPERIMENT: &str = r#"
title = "Ways to end"
limits = { wall-seconds = 4, memory = "300M" }

[[data]]
name = "tiny"
train = "train.svm"
test = "test.svm"

[[method]]
name = "centroid"
algorithm = "centroid"

[[method]]
name = "copies"
vectors = "libsvm"
train = ["sh", "-c", "cp {train} {model}"]
predict = ["sh", "-c", "cut -d' ' -f1 {test}"]
depth = 1

[[method]]
name = "dies"
vectors = "xmc"
train = ["sh", "-c", "echo out of luck >&2; exit 3"]
predict = ["true"]

[[method]]
name = "sleeps"
vectors = "npy"
train = ["sleep", "60"]
predict = ["true"]

[[method]]
name = "eats"
vectors = "vw"
train = ["sh", "-c", "head -c 600M /dev/zero | tail -n 1"]
predict = ["true"]

[[method]]
name = "absent"
vectors = "fasttext"
train = ["/nowhere/at-all"]
predict = ["true"]

[[method]]
name = "lies"
vectors = "libsvm"
train = ["touch", "{model}"]
predict = ["echo", "1"]
"#;

fn place_with(experiment: &str) -> Workplace {
    let place = Workplace::new();
    place.file("train.svm", vectors(400, 20));
    place.file("test.svm", vectors(60, 20));
    place.file("e.toml", experiment);
    place
}

fn results(folder: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(folder.join("results.jsonl")).expect("results");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Results without what differs from run to run.
fn timeless(folder: &Path) -> Vec<serde_json::Value> {
    let mut results = results(folder);
    for outcome in &mut results {
        for step in ["train", "predict"] {
            let cost = outcome[step].as_object_mut().expect("a cost");
            for part in ["wall_seconds", "cpu_seconds", "peak_bytes"] {
                assert!(
                    cost.remove(part).is_some_and(|value| value.as_f64() >= Some(0.0)),
                    "{part}"
                );
            }
        }
    }
    results
}

#[test]
fn every_way_to_end_gets_a_row() {
    let place = place_with(EXPERIMENT);
    place.stdout("compare e.toml --out out --quiet");
    let out = place.path().join("out");
    let results = results(&out);
    let ended: Vec<_> = results
        .iter()
        .map(|outcome| {
            (
                outcome["method"].as_str().unwrap(),
                outcome["status"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        ended,
        [
            ("centroid", "ok"),
            ("copies", "ok"),
            ("dies", "failed"),
            ("sleeps", "out-of-time"),
            ("eats", "out-of-memory"),
            ("absent", "not-installed"),
            ("lies", "failed"),
        ]
    );
    let reason = |index: usize| results[index]["reason"].as_str().unwrap();
    assert_eq!(reason(2), "training: exit code 3: out of luck");
    assert!(reason(5).contains("/nowhere/at-all"), "{}", reason(5));
    assert_eq!(
        reason(6),
        "found 1 line of predictions, expected 60, one for each test row"
    );
    // What copies the answers is right, and costs nothing to speak of; what it costs is known all the same.
    assert_eq!(results[1]["quality"]["accuracy"], 1.0);
    assert_eq!(results[1]["quality"]["precision_at_5"], serde_json::Value::Null);
    assert!(results[0]["train"]["peak_bytes"].as_u64().unwrap() > 1_000_000);
    assert!(results[0]["model_bytes"].as_u64().unwrap() > 100);
    assert!(results[3]["train"]["wall_seconds"].as_f64().unwrap() >= 4.0);
    let table = fs::read_to_string(out.join("results.md")).unwrap();
    assert!(table.contains("| tiny | train, CPU |"), "{table}");
    assert!(
        table.contains("**100.00%**") && table.contains("out of memory"),
        "{table}"
    );
    assert!(table.contains("cut -d"), "{table}");
    assert!(!out.join("work").exists(), "models are removed");
}

/// Ours, and one that takes its time, several times each.
const REPEATED: &str = r#"
title = "Repeats"
repeats = 3

[[data]]
name = "given"
train = "train.svm"
test = "test.svm"

[[data]]
name = "made-up"
synth = { rows = 300, classes = 20, features = 100, row-length = 6, test-rows = 50 }

[[method]]
name = "centroid"
algorithm = "centroid"

[[method]]
name = "softmax"
algorithm = "softmax"

[[method]]
name = "slow copies"
vectors = "libsvm"
train = ["sh", "-c", "sleep 0.05; cp {train} {model}"]
predict = ["sh", "-c", "cut -d' ' -f1 {test} > {predictions}"]
depth = 1
"#;

#[test]
fn ten_kills_change_nothing_but_times() {
    let place = place_with(REPEATED);
    place.stdout("compare e.toml --out undisturbed --quiet");
    let mut killed = 0;
    for turn in 0..10u64 {
        let mut child = place
            .memoir("compare e.toml --out disturbed --quiet")
            .spawn()
            .expect("starts");
        // Anything from the first moments to several runs later.
        std::thread::sleep(Duration::from_millis(20 + turn * 7919 % 260));
        killed += u32::from(child.try_wait().expect("known").is_none());
        child.kill().expect("killed");
        child.wait().expect("ends");
    }
    assert!(
        killed >= 5,
        "the comparison was over too soon for {killed} kills to mean anything"
    );
    place.stdout("compare e.toml --out disturbed --quiet");
    let (disturbed, undisturbed) = (place.path().join("disturbed"), place.path().join("undisturbed"));
    assert_eq!(timeless(&disturbed), timeless(&undisturbed));
    assert_eq!(results(&disturbed).len(), 18);
    let report = fs::read_to_string(disturbed.join("results.md")).expect("tables");
    assert!(report.contains("Means of 3 repeats"), "{report}");
}

#[test]
fn a_killed_comparison_takes_its_commands_along() {
    let experiment = REPEATED.replace("sleep 0.05;", "echo $$ > pid; sleep 60;");
    let place = place_with(&experiment);
    let mut child = place
        .memoir("compare e.toml --out out --quiet")
        .spawn()
        .expect("starts");
    let within = |what: &str, mut is_true: Box<dyn FnMut() -> bool>| {
        let start = Instant::now();
        while !is_true() {
            assert!(start.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let pid_file = place.path().join("pid");
    let written = pid_file.clone();
    within(
        "the command starts",
        Box::new(move || fs::read_to_string(&written).is_ok_and(|text| text.ends_with('\n'))),
    );
    let pid = fs::read_to_string(&pid_file).expect("a number").trim().to_owned();
    let is_alive = move || {
        let probe = Command::new("kill")
            .args(["-0", &pid])
            .stderr(Stdio::null())
            .status();
        probe.expect("kill runs").success()
    };
    assert!(is_alive());
    child.kill().expect("killed");
    child.wait().expect("ends");
    within(
        "the command ends with the comparison",
        Box::new(move || !is_alive()),
    );
}

#[test]
fn other_data_under_the_same_name_is_refused() {
    let place = place_with(REPEATED);
    place.stdout("compare e.toml --out out --quiet");
    place.file("test.svm", vectors(61, 20));
    let refused = place.run("compare e.toml --out out --quiet");
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).expect("text");
    assert!(
        message.contains("saw other data under the name `given`"),
        "{message}"
    );
    place.stdout("compare e.toml --out out --quiet --again given");
    assert_eq!(results(&place.path().join("out")).len(), 18);
}

#[test]
fn results_outside_of_their_range_are_an_error() {
    let range = "\n[[expect]]\ndata = \"given\"\nmethod = \"centroid\"\naccuracy = [0.0, 0.1]\n";
    let place = place_with(&(REPEATED.replace("repeats = 3", "repeats = 1") + range));
    let outcome = place.run("compare e.toml --out out --quiet");
    assert_eq!(outcome.status.code(), Some(2));
    let message = String::from_utf8(outcome.stderr).expect("text");
    assert!(
        message.contains("accuracy of `centroid` on `given` is 100.00%, expected 0.00% to 10.00%"),
        "{message}"
    );
    let table = fs::read_to_string(place.path().join("out/results.md")).expect("written all the same");
    assert!(table.contains("**Unexpected: accuracy of `centroid`"), "{table}");
}

#[test]
fn every_algorithm_comes_through_on_vectors_and_on_text() {
    let algorithms = [
        "softmax",
        "memoir-l2",
        "memoir-l1",
        "centroid",
        "ovr",
        "msvm",
        "pd-sparse",
        "knn",
        "recall-tree",
        "fastxml",
        "pfastrexml",
    ];
    let methods = algorithms.map(|name| format!("[[method]]\nname = \"{name}\"\nalgorithm = \"{name}\"\n"));
    let shape = "rows = 300, classes = 15, features = 200, row-length = 8, test-rows = 200, signal = 4, label-noise = 0";
    let data = format!(
        "[[data]]\nname = \"vectors\"\nsynth = {{ {shape} }}\n[[data]]\nname = \"texts\"\nsynth = {{ {shape}, format = \"csv\" }}\n"
    );
    let place = Workplace::new();
    place.file("e.toml", format!("title = \"All\"\n{data}{}", methods.concat()));
    place.stdout("compare e.toml --out out --quiet");
    let results = results(&place.path().join("out"));
    assert_eq!(results.len(), 2 * algorithms.len());
    for outcome in results {
        // Chance is right in one row of fifteen; the paper's algorithms need more rows than these to do
        // much better.
        let accuracy = outcome["quality"]["accuracy"].as_f64();
        assert!(
            accuracy > Some(0.1),
            "{} on {}: {outcome}",
            outcome["method"],
            outcome["data"]
        );
    }
}
