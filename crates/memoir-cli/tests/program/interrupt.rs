//! Ctrl-C, SIGTERM and SIGHUP: exit code 130, soon, and nothing left behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Workplace, texts, vectors};

/// The promise is a second; a crowded machine gets more.
const PATIENCE: Duration = Duration::from_secs(10);

fn interrupt(child: &Child) {
    send("INT", child);
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(sent.success());
}

/// Waits for the end, and fails rather than waiting for ever.
fn exit_code(mut child: Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("known") {
            return status.code();
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("killed");
            child.wait().expect("ends");
            panic!("still running {PATIENCE:?} after the signal");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A training that waits for rows.
fn reading_standard_input(place: &Workplace) -> Child {
    let mut command = place.memoir("train - --format libsvm --model m.memoir");
    command.stdin(Stdio::piped()).spawn().expect("starts")
}

#[test]
fn training_stops_and_leaves_no_file() {
    let place = Workplace::new();
    let mut child = reading_standard_input(&place);
    let mut input = child.stdin.take().expect("piped");
    let rows = vectors(10_000, 500);
    // More than a pipe holds: once it is written, the program is reading.
    for _ in 0..8 {
        input.write_all(rows.as_bytes()).expect("written");
    }
    interrupt(&child);
    let feeder = std::thread::spawn(move || while input.write_all(rows.as_bytes()).is_ok() {});
    let mut complaint = child.stderr.take().expect("piped");
    assert_eq!(exit_code(child), Some(130));
    feeder.join().expect("ends with the program");
    let mut text = String::new();
    complaint.read_to_string(&mut text).expect("text");
    assert!(text.ends_with("stopped\n"), "{text}");
    assert_eq!(place.files(), [""; 0]);
}

/// Waits until the program has its handler for Ctrl-C, which is among the first things it does.
#[cfg(target_os = "linux")]
fn wait_for_handler(child: &Child) {
    let caught = || has_signal(&format!("/proc/{}/status", child.id()), "SigCgt:", 2);
    let start = Instant::now();
    while !caught() {
        assert!(start.elapsed() < PATIENCE, "no handler for Ctrl-C");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process's set of signals has this one, where the system has files that say so.
fn has_signal(status: &str, set: &str, signal: u32) -> bool {
    let status = std::fs::read_to_string(status).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(set));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

#[cfg(target_os = "linux")]
#[test]
fn learning_stops_at_any_stage() {
    let place = Workplace::new();
    place.file("train.svm", vectors(60_000, 3000));
    // Reading, and then the passes: the moments differ from machine to machine, the outcome must not.
    for milliseconds in [0, 30, 100, 300, 900] {
        let child = place
            .memoir("train train.svm --model m.memoir --algorithm softmax --passes 1000 --quiet")
            .spawn()
            .expect("starts");
        wait_for_handler(&child);
        std::thread::sleep(Duration::from_millis(milliseconds));
        interrupt(&child);
        assert_eq!(exit_code(child), Some(130), "after {milliseconds} ms");
        assert_eq!(place.files(), ["train.svm"]);
    }
}

#[test]
fn an_old_model_survives() {
    let place = Workplace::new();
    place.file("m.memoir", "old");
    let mut child = place
        .memoir("train - --format libsvm --model m.memoir --quiet")
        .stdin(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(vectors(50_000, 500).as_bytes()).expect("written");
    interrupt(&child);
    assert_eq!(exit_code(child), Some(130));
    assert_eq!(place.files(), ["m.memoir"]);
    assert_eq!(
        std::fs::read(place.path().join("m.memoir")).expect("there"),
        b"old"
    );
}

/// In a shell, Ctrl-C ends all commands of a pipe: what feeds this one is gone before it has said anything.
#[cfg(target_os = "linux")]
#[test]
fn input_that_ends_by_ctrl_c_is_no_error_of_the_input() {
    let place = Workplace::new();
    let mut child = reading_standard_input(&place);
    let input = child.stdin.take().expect("piped");
    wait_for_handler(&child);
    interrupt(&child);
    // The handler is a thread of its own.
    std::thread::sleep(Duration::from_millis(200));
    drop(input);
    assert_eq!(exit_code(child), Some(130));
}

#[test]
fn waiting_for_input_can_be_stopped() {
    let place = Workplace::new();
    place.file("train.csv", texts(300, 30));
    place.stdout("train train.csv --model m.memoir --quiet");
    let mut child = place
        .memoir("predict m.memoir -")
        .stdin(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    writeln!(input, "class3").expect("written");
    let mut answer = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    output.read_line(&mut answer).expect("an answer");
    interrupt(&child);
    assert_eq!(exit_code(child), Some(130));
    drop(input);
}

/// Service managers, batch systems and `timeout` end programs by SIGTERM, terminals that are closed by
/// SIGHUP; some send it twice.
#[test]
fn a_file_that_is_being_written_is_removed() {
    for (signal, times) in [("INT", 1), ("TERM", 1), ("TERM", 2), ("HUP", 2)] {
        // Tests that `nohup` started have the signal ignored, and so have their children.
        if signal == "HUP" && has_signal("/proc/self/status", "SigIgn:", 1) {
            continue;
        }
        let place = Workplace::new();
        let child = place
            .memoir("synth --rows 3000000 --classes 100 --features 1000 --out big.svm --quiet")
            .spawn()
            .expect("starts");
        let start = Instant::now();
        while place.files().is_empty() {
            assert!(start.elapsed() < PATIENCE, "nothing is written");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(place.files()[0].ends_with(".partial"), "{:?}", place.files());
        for _ in 0..times {
            send(signal, &child);
        }
        assert_eq!(exit_code(child), Some(130), "{signal}");
        assert_eq!(place.files(), [""; 0], "{signal}");
    }
}

#[test]
fn nohup_outlives_the_terminal() {
    let place = Workplace::new();
    place.file("train.csv", texts(300, 30));
    place.stdout("train train.csv --model m.memoir --quiet");
    // What nohup does.
    let mut command = Command::new("sh");
    let mut child = command
        .args(["-c", "trap '' HUP; exec \"$0\" predict m.memoir -"])
        .arg(env!("CARGO_BIN_EXE_memoir"))
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    for row in 0..2 {
        writeln!(input, "class3").expect("written");
        let mut answer = String::new();
        output.read_line(&mut answer).expect("an answer");
        assert!(answer.starts_with("class "), "row {row}: {answer}");
        send("HUP", &child);
        // Longer than the program would wait before it ends.
        std::thread::sleep(Duration::from_secs(1));
    }
    drop(input);
    assert_eq!(exit_code(child), Some(0));
}

#[test]
fn a_run_with_a_checkpoint_says_how_to_continue_it() {
    let place = Workplace::new();
    place.file("train.svm", vectors(6000, 300));
    // Training that takes longer than anybody waits.
    let words = "train train.svm --model m.memoir --quiet --passes 1000 --checkpoint-every 1";
    let mut child = place.memoir(words).spawn().expect("starts");
    let checkpoint = place.path().join("m.memoir.checkpoint");
    let start = Instant::now();
    while !checkpoint.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let mut complaint = child.stderr.take().expect("piped");
    assert_eq!(exit_code(child), Some(130));
    let mut text = String::new();
    complaint.read_to_string(&mut text).expect("text");
    let program = env!("CARGO_BIN_EXE_memoir");
    assert_eq!(
        text,
        format!("stopped; to continue from m.memoir.checkpoint: {program} {words} --resume\n")
    );
    // A later run without `--resume` says what it found.
    let output = place.run("train train.svm --model m.memoir --passes 1");
    let notes = String::from_utf8(output.stderr).expect("text");
    let note = "note: m.memoir.checkpoint is the checkpoint of a run that was stopped; `--resume` continues from it\n";
    assert!(notes.contains(note), "{notes}");
}
