//! A search for settings: killed ones go on, limits hold, and the command at the end works.

use crate::support::{Workplace, texts};

const TUNE: &str = "tune train.csv --quiet --candidates 4 --passes 1 --threads 1";

fn place() -> Workplace {
    let place = Workplace::new();
    place.file("train.csv", texts(600, 20));
    place
}

#[test]
fn killed_searches_go_on_to_the_same_end() {
    let place = place();
    let log = place.path().join("train.csv.tune.jsonl");
    let expected = place.stdout(TUNE);
    let undisturbed = std::fs::read(&log).expect("a log");
    std::fs::remove_file(&log).expect("removed");
    let mut child = place.memoir(TUNE).spawn().expect("starts");
    while child.try_wait().expect("runs or ends").is_none() {
        let lines = std::fs::read(&log).map_or(0, |log| log.split(|&byte| byte == b'\n').count());
        if lines > 3 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    child.kill().expect("killed, or at its end");
    child.wait().expect("ends");
    let refused = place.run(TUNE);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(
        message,
        "error: train.csv.tune.jsonl: is there already; give `--resume` to continue it, or another file as `--log`\n"
    );
    assert_eq!(place.stdout(&format!("{TUNE} --resume")), expected);
    assert!(std::fs::read(&log).expect("a log") == undisturbed);
}

#[test]
fn the_command_at_the_end_trains_with_what_was_given_and_found() {
    let place = place();
    let found = place.stdout(&format!("{TUNE} --valid-fraction=0.2 --measure macro-f1"));
    let command = found.lines().last().expect("a command");
    let words = command.strip_prefix("memoir ").expect("a command");
    assert!(
        words.starts_with("train train.csv --quiet --passes 1 --threads 1 --model train.memoir"),
        "{words}"
    );
    place.stdout(words);
    assert!(place.files().contains(&"train.memoir".to_owned()));
}

#[test]
fn a_time_limit_ends_the_search() {
    let place = place();
    let found = place.stdout(
        "tune train.csv --quiet --candidates 5000 --passes 50 --batch 1 --threads 1 --time 1s --json",
    );
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["finished_rounds"], 0);
    let trials = found["trials"].as_array().expect("trials");
    assert!(trials.len() < 5000);
    assert!(
        trials
            .iter()
            .all(|trial| trial["settings"].get("passes").is_none())
    );
}
