//! What the tests of the program share: the program itself, a folder, and data.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder of its own for each test, with the program at hand.
pub(crate) struct Workplace {
    folder: TempDir,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).expect("written");
        path
    }

    /// The program, to be run in the folder. `words` are separated by blanks.
    pub(crate) fn memoir(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memoir"));
        command.current_dir(self.path()).args(words.split(' '));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, words: &str) -> Output {
        self.memoir(words).output().expect("the program starts")
    }

    /// Runs the program, which must succeed, and returns its standard output.
    pub(crate) fn stdout(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(
            output.status.success(),
            "memoir {words}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// Names of the files in the folder, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        names
    }
}

/// `rows` labelled texts as CSV. Class `c` uses the words of its number's digits, so that there is
/// something to learn.
pub(crate) fn texts(rows: usize, classes: usize) -> String {
    let mut csv = String::from("label,text\n");
    for row in 0..rows {
        // A multiplier without common factors with any number of classes mixes the classes well.
        let class = row * 7919 % classes;
        let _ = writeln!(
            csv,
            "class {class},word{} letter{} noise{} and class{class}",
            class % 10,
            class / 10,
            row % 13
        );
    }
    csv
}

/// `rows` labelled vectors in libsvm form.
pub(crate) fn vectors(rows: usize, classes: usize) -> String {
    let mut svm = String::new();
    for row in 0..rows {
        let class = row * 7919 % classes;
        let _ = writeln!(
            svm,
            "{class} {}:1 {}:2 {}:1",
            1 + class % 10,
            20 + class / 10,
            100 + class
        );
    }
    svm
}
