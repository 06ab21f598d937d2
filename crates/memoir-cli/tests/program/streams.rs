//! Input that does not end and readers that go away.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::support::{Workplace, texts, vectors};

fn text_model() -> Workplace {
    let place = Workplace::new();
    place.file("train.csv", texts(600, 30));
    place.stdout("train train.csv --model m.memoir --quiet");
    place
}

#[test]
fn raw_lines_are_answered_while_the_input_is_still_open() {
    let place = text_model();
    let mut child = place
        .memoir("predict m.memoir - --quiet")
        .stdin(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    let mut answers = BufReader::new(child.stdout.take().expect("piped")).lines();
    for class in [7, 29, 0] {
        writeln!(input, "word{} letter{} class{class}", class % 10, class / 10).expect("written");
        input.flush().expect("flushed");
        // The next line is written only after the answer to this one: waiting for more input would block
        // for ever.
        let answer = answers.next().expect("an answer").expect("text");
        assert_eq!(answer, format!("class {class}"));
    }
    drop(input);
    assert!(answers.next().is_none());
    assert!(child.wait().expect("ends").success());
}

#[test]
fn blank_lines_keep_answers_beside_their_lines() {
    let place = text_model();
    place.file("lines.txt", "class3 word3\n\nclass4 word4\n");
    let output = place.stdout("predict m.memoir lines.txt --format lines");
    let answers: Vec<_> = output.lines().collect();
    assert_eq!(answers.len(), 3);
    assert_eq!((answers[0], answers[2]), ("class 3", "class 4"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let place = text_model();
    for verb in [
        "inspect m.memoir",
        "evaluate m.memoir train.csv --quiet",
        "man",
        "completions bash",
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("there");
        let output = place.memoir(verb).stdout(full).output().expect("runs");
        assert_eq!(output.status.code(), Some(2), "{verb}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "error: <stdout>: cannot write: No space left on device (os error 28)\n",
            "{verb}"
        );
    }
}

#[test]
fn what_is_not_listed_is_not_completed() {
    let place = Workplace::new();
    assert!(!place.stdout("completions bash").contains("measured"));
}

#[test]
fn vectors_without_labels_are_predicted_from_standard_input() {
    let place = Workplace::new();
    place.file("train.svm", vectors(400, 20));
    place.stdout("train train.svm --model m.memoir --quiet");
    let mut child = place
        .memoir("predict m.memoir - --output jsonl")
        .stdin(Stdio::piped())
        .spawn()
        .expect("starts");
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(b" 4:1 20:2 103:1\n 8:1 21:2 117:1\n")
        .expect("written");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "{\"classes\":[\"3\"]}\n{\"classes\":[\"17\"]}\n"
    );
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let place = text_model();
    place.file("many.csv", texts(50_000, 30));
    for words in [
        "predict m.memoir many.csv --quiet --top-k 5 --scores",
        "predict m.memoir many.csv --quiet --output csv",
        "predict m.memoir many.csv --quiet --output jsonl",
    ] {
        let mut child = place.memoir(words).spawn().expect("starts");
        let mut first = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        output.read_line(&mut first).expect("a line");
        drop(output);
        let status = child.wait().expect("ends");
        let mut complaint = String::new();
        child
            .stderr
            .take()
            .expect("piped")
            .read_to_string(&mut complaint)
            .expect("text");
        assert_eq!((status.code(), complaint.as_str()), (Some(0), ""), "{words}");
        assert!(!first.is_empty());
    }
}

#[test]
fn help_and_generated_files_survive_a_closed_output() {
    let place = Workplace::new();
    for words in ["--help", "completions bash", "man"] {
        let mut child = place.memoir(words).spawn().expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(0), "{words}");
        assert!(output.stderr.is_empty(), "{words}");
    }
}
