//! Training takes no more memory than its budget says, as the system counts it.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;

use memoir::data::{ReadOptions, Source};
use memoir::prepare::{DiskOptions, Examples, prepare_to_disk};
use memoir::synth::{Generator, Part, SynthParams};
use memoir::text::TextSettings;
use memoir::train::{FitOptions, fit};
use memoir::{Catalogue, Session};

/// The variable that makes this program train, instead of testing, and what it prints in front of the peak.
const CHILD: &str = "MEMOIR_TEST_TRAINS";
const PEAK: &str = "peak beyond the program:";

/// What the program itself takes. Budgets count a megabyte more.
const PROGRAM: u64 = 13 << 20;

/// Rows, and the mean number of their entries.
const ROWS: usize = 12_000;
const LENGTH: usize = 150;

fn session(budget: Option<u64>) -> Session<'static> {
    Session::new(NonZeroUsize::MIN)
        .unwrap()
        .with_memory_budget(budget)
}

fn train(data: &Path, blocks: &str, budget: Option<u64>) -> memoir::Result<memoir::Model> {
    let method = Catalogue::new()
        .find("softmax")
        .unwrap()
        .configure([("passes", "1")])
        .unwrap();
    let options = ReadOptions::default();
    let source = Source::new(data);
    let examples = Examples::Read {
        source,
        options: &options,
    };
    let fit_options = FitOptions {
        text: match blocks {
            "" => TextSettings::default(),
            blocks => TextSettings::default().blocks(blocks.to_owned()),
        },
        ..FitOptions::default()
    };
    fit(&method, examples, fit_options, &session(budget))
}

/// The most memory that this program had so far, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

/// What a process of its own takes to train on `data` and to write the model, beyond what it takes for next
/// to nothing: this program is larger than the one that budgets are for. `blocks` are those of texts.
fn peak_of_training(data: &Path, blocks: &str, budget: Option<u64>) -> Result<u64, String> {
    let budget = budget.map_or(String::new(), |budget| budget.to_string());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "trains_when_asked", "--nocapture"])
        .env(CHILD, format!("{budget}|{blocks}|{}", data.display()))
        // What is freed goes back to the system, as in `memoir`.
        .env("MALLOC_MMAP_THRESHOLD_", "262144")
        .env("MALLOC_TRIM_THRESHOLD_", "262144")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match said.split_once(PEAK) {
        Some((_, behind)) => Ok(behind.split_whitespace().next().unwrap().parse().unwrap()),
        None => Err(said),
    }
}

#[test]
fn trains_when_asked() {
    let Ok(asked) = std::env::var(CHILD) else {
        return;
    };
    let mut asked = asked.splitn(3, '|');
    let mut next = || asked.next().unwrap();
    let (budget, blocks, data) = (next(), next(), next());
    let folder = tempfile::tempdir().unwrap();
    let (little, model) = (
        folder.path().join("little.svm"),
        folder.path().join("model.memoir"),
    );
    fs::write(&little, "a 1:1\nb 2:1\n").unwrap();
    train(&little, "", None).unwrap().save(&model).unwrap();
    let own = peak();
    match train(Path::new(data), blocks, budget.parse().ok()) {
        Ok(made) => {
            made.save(&model).unwrap();
            println!("{PEAK} {}", peak() - own);
        }
        Err(error) => println!("{error}"),
    }
}

/// Rows whose weights take much of the memory.
fn write_rows(path: &Path) {
    let (rows, length) = (ROWS.to_string(), LENGTH.to_string());
    let given = [
        ("rows", &rows[..]),
        ("classes", "1000"),
        ("features", "20000"),
        ("row-length", &length[..]),
    ];
    let session = session(None);
    let generator = Generator::new(SynthParams::parse(given).unwrap(), &session);
    let mut file = fs::File::create(path).unwrap();
    generator.write(Part::Train, &mut file, path, &session).unwrap();
}

/// The least budget, in MB, that is not refused.
fn least(data: &Path) -> u64 {
    let refusal = peak_of_training(data, "", Some(1_000_000)).unwrap_err();
    let (_, behind) = refusal
        .split_once("smallest model take ")
        .expect("what is needed");
    behind.split_once(" MB").unwrap().0.parse().unwrap()
}

#[test]
fn peaks_stay_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let (data, prepared) = (folder.path().join("rows.svm"), folder.path().join("set"));
    write_rows(&data);
    let options = ReadOptions::default();
    let how = DiskOptions::default();
    prepare_to_disk(Source::new(&data), &options, &prepared, &how, &session(None)).unwrap();
    for (data, is_on_disk) in [(&data, false), (&prepared, true)] {
        let least = least(data);
        for more in [0, 4, 10] {
            let budget = (least + more) * 1_000_000;
            let taken = peak_of_training(data, "", Some(budget)).unwrap() + PROGRAM;
            assert!(
                taken <= budget + budget / 20,
                "{taken} of {budget} bytes, {more} MB more than the least, rows on disk: {is_on_disk}"
            );
        }
    }
    // Rows as they came and as whole numbers are never all there at once: these alone would be 14 bytes for
    // each entry, and weights are still to come.
    let taken = peak_of_training(&data, "", None).unwrap();
    assert!(taken < 14 * (ROWS * LENGTH) as u64, "{taken} bytes");
}

/// Texts of random words, so that most pairs of words are met once.
fn write_texts(path: &Path, texts: usize, words: usize) {
    let mut state = 1u64;
    let mut word = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 12_000
    };
    let mut lines = "label,text\n".to_owned();
    for text in 0..texts {
        let _ = write!(lines, "c{},", text % 300);
        for _ in 0..words {
            let _ = write!(lines, "w{} ", word());
        }
        lines.push('\n');
    }
    fs::write(path, lines).unwrap();
}

#[test]
fn pairs_of_words_are_counted_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let (data, prepared) = (folder.path().join("texts.csv"), folder.path().join("set"));
    write_texts(&data, 40_000, 40);
    let how = DiskOptions::default();
    let options = ReadOptions::default();
    prepare_to_disk(Source::new(&data), &options, &prepared, &how, &session(None)).unwrap();
    // A table of all pairs would take more than this alone.
    let budget = 34_000_000;
    let taken = peak_of_training(&prepared, "pairs", Some(budget)).unwrap() + PROGRAM;
    let in_memory = peak_of_training(&data, "pairs", None).unwrap() + PROGRAM;
    assert!(taken <= budget + budget / 20, "{taken} of {budget} bytes");
    assert!(in_memory > budget + budget / 5, "{in_memory} bytes in memory");
}
