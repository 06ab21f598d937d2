//! File systems that fill up, fail and give short answers, and memory that runs out: an error or success,
//! never a crash, never a damaged file, nothing left behind.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Workplace, texts};

/// Commands that write `out`, given data and a model.
const WRITING: [&str; 5] = [
    "train data.csv --model out --text-preset words --threads 1 -q",
    "train more.csv --from model --model out --threads 1 -q",
    "compact model --out out --precision int8 --threads 1 -q",
    "classes model retire --file retired.csv --out out",
    "vectors model data.csv --out out.svm --threads 1 -q",
];

/// Data, a model, and an older file where commands write.
fn prepared() -> Workplace {
    let place = Workplace::new();
    place.file("data.csv", texts(300, 12));
    place.file("more.csv", texts(40, 14));
    place.file("retired.csv", "class 1\nclass 2\n");
    place.stdout("train data.csv --model model --text-preset words --threads 1 -q");
    fs::copy(place.path().join("model"), place.path().join("out")).unwrap();
    place.file("out.svm", "1 1:1\n");
    place
}

/// The library that makes calls fail, or nothing where no C compiler is at hand.
fn shim(place: &Workplace) -> Option<PathBuf> {
    let library = place.path().join("faults.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/faults.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &PathBuf::from(source)])
        .arg("-ldl")
        .status();
    if built.is_ok_and(|status| status.success()) {
        return Some(library);
    }
    eprintln!("skipped: there is no C compiler `cc` to build the faults with");
    None
}

/// What must hold after any command that writes, however it ended.
fn check_left(place: &Workplace, before: &[u8], about: &str) {
    let left = place.files();
    assert!(
        !left.iter().any(|name| name.contains("partial")),
        "{about}: {left:?}"
    );
    let now = fs::read(place.path().join("out")).unwrap();
    if now != before {
        place.stdout("inspect out --verify");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_cannot_be_written_or_read() {
    let place = prepared();
    let Some(library) = shim(&place) else { return };
    let before = fs::read(place.path().join("out")).unwrap();
    let mut failed = 0;
    for words in WRITING {
        for (fault, calls) in [("full", 3), ("unsynced", 1), ("unreadable", 3)] {
            for after in 0..calls {
                let about = format!("{words} with FAULT={fault} after {after}");
                fs::write(place.path().join("out"), &before).unwrap();
                let mut command = place.memoir(words);
                command
                    .env("LD_PRELOAD", &library)
                    .env("FAULT", fault)
                    .env("FAULT_AFTER", after.to_string());
                let output = command.output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                match output.status.code() {
                    Some(0) => {}
                    Some(2) => {
                        failed += 1;
                        assert!(
                            said.starts_with("error: ") && said.lines().count() == 1,
                            "{about}: {said}"
                        );
                        if fault != "unreadable" {
                            assert_eq!(fs::read(place.path().join("out")).unwrap(), before, "{about}");
                        }
                    }
                    other => panic!("{about}: {other:?} {said}"),
                }
                check_left(&place, &before, &about);
            }
        }
    }
    assert!(failed > 15, "only {failed} faults were felt");
}

#[cfg(target_os = "linux")]
#[test]
fn short_reads_and_writes_change_nothing() {
    let place = prepared();
    let Some(library) = shim(&place) else { return };
    for words in WRITING {
        let out = place.path().join(if words.contains("out.svm") {
            "out.svm"
        } else {
            "out"
        });
        place.stdout(words);
        let expected = fs::read(&out).unwrap();
        for fault in ["short-reads", "short-writes"] {
            let mut command = place.memoir(words);
            let output = command
                .env("LD_PRELOAD", &library)
                .env("FAULT", fault)
                .output()
                .unwrap();
            assert!(output.status.success(), "{words} with {fault}");
            assert!(fs::read(&out).unwrap() == expected, "{words} with {fault}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_runs_out_is_an_error() {
    let place = prepared();
    let before = fs::read(place.path().join("out")).unwrap();
    let program = env!("CARGO_BIN_EXE_memoir");
    let mut failed = 0;
    // With too little even to be loaded, the system ends a program before it begins.
    let limited = |megabytes: u64, words: &str| {
        let command = format!("ulimit -v {}; exec \"$0\" {words}", megabytes << 10);
        let mut shell = Command::new("sh");
        shell
            .current_dir(place.path())
            .args(["-c", &command, program])
            .stdin(Stdio::null());
        shell.output().unwrap()
    };
    let least = (24..1000).find(|&level| limited(level, "--version").status.success());
    let more = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 96, 400, 2000];
    let levels = more.map(|more| least.unwrap() + more);
    for words in [WRITING[0], WRITING[2], "predict model data.csv --threads 1 -q"] {
        for megabytes in levels {
            let output = limited(megabytes, words);
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 2)),
                "{words} with {megabytes} MB: {code:?}, signal {:?}: {}",
                output.status.signal(),
                String::from_utf8_lossy(&output.stderr)
            );
            failed += usize::from(code == Some(2));
            check_left_after_a_kill(&place, &before);
        }
    }
    assert!(failed > 0, "no limit was felt");
}

/// A program that ends without cleaning up leaves what the next one removes.
#[cfg(target_os = "linux")]
fn check_left_after_a_kill(place: &Workplace, before: &[u8]) {
    place.stdout("compact model --out swept --threads 1 -q");
    check_left(place, before, "memory");
}

#[test]
fn folders_that_may_not_be_written() {
    let place = prepared();
    let folder = place.path().join("closed");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // Those who may do anything are not stopped by permissions.
    if fs::write(folder.join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write anywhere");
        return;
    }
    let output = place.run("compact model --out closed/out");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("closed/out: cannot write: "));
}

#[test]
fn names_with_line_ends_and_other_bytes() {
    let place = prepared();
    for name in [
        &b"two\nlines.csv"[..],
        b"tab\tand \"quotes\".csv",
        b"not \xff utf-8.csv",
    ] {
        let name = std::ffi::OsStr::from_bytes(name);
        let path = place.path().join(name);
        if fs::copy(place.path().join("data.csv"), &path).is_err() {
            continue; // Some file systems allow text only.
        }
        let model = place.path().join(name).with_extension("memoir");
        let mut command = place.memoir("train --threads 1 -q --format csv --text-preset words --model");
        let output = command.arg(&model).arg(&path).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let output = place
            .memoir("predict -q --format csv")
            .arg(&model)
            .arg(&path)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 300);
        // Errors stay on one line.
        let output = place.memoir("predict").arg(&path).arg(&path).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
}

#[test]
fn standard_output_that_is_closed() {
    let place = prepared();
    for words in [
        "predict model data.csv -q",
        "inspect model",
        "classes model list",
        "--help",
    ] {
        let mut command = Command::new("sh");
        let line = format!("exec \"$0\" {words} >&-");
        let output = command
            .current_dir(place.path())
            .args(["-c", &line, env!("CARGO_BIN_EXE_memoir")])
            .output()
            .unwrap();
        assert!(
            matches!(output.status.code(), Some(0 | 2)),
            "{words}: {:?}",
            output.status
        );
    }
}
