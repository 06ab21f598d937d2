//! Prepared texts that stay on disk make the model of texts in memory, to the byte.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use memoir::checkpoint::Checkpoints;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{DiskOptions, Examples, prepare_to_disk};
use memoir::text::TextSettings;
use memoir::train::{FitOptions, HeldOut, fit};
use memoir::{Cancel, Catalogue, Error, Event, Observer, Session};

/// Notes what it is told.
#[derive(Default)]
struct Notes(Mutex<String>);

impl Observer for Notes {
    fn notice(&self, event: Event<'_>) {
        if let Event::Note(note) = event {
            *self.0.lock().unwrap() += note;
        }
    }
}

/// Stops a run as soon as there is a file in a folder, or after some progress.
struct StopAt<'a> {
    file: Option<&'a Path>,
    steps: AtomicUsize,
    cancel: Cancel,
}

impl Observer for StopAt<'_> {
    fn notice(&self, event: Event<'_>) {
        let is_due = match self.file {
            Some(path) => path.exists(),
            None => self.steps.fetch_sub(1, Ordering::Relaxed) == 1,
        };
        if matches!(event, Event::Progress { .. }) && is_due {
            self.cancel.raise();
        }
    }
}

/// Words that tell the class, with endings, among many that do not.
fn text(row: usize) -> String {
    let class = row * 7919 % 61;
    let noise = |salt: usize| (row * salt + row / 7) % 3001;
    let endings = ["", "s", "ed", "ing"];
    let mut text = String::new();
    let _ = write!(
        text,
        "the root{}{} of n{} n{} and part{} n{}",
        class * 7 + row % 3,
        endings[row % 4],
        noise(31),
        noise(97),
        class % 20,
        noise(53)
    );
    if row.is_multiple_of(5) {
        let _ = write!(text, " und der Wort{} n{}", noise(11), noise(77));
    }
    text
}

#[derive(Debug, Clone, Copy, Default)]
struct Table {
    rows: usize,
    several_labels: bool,
    weights: bool,
    columns: bool,
}

fn csv(table: Table, first: usize) -> String {
    let mut lines = "label,text,weight,title,kind,size\n".to_owned();
    for row in first..first + table.rows {
        let class = row * 7919 % 61;
        let label = match row % 11 {
            3 if table.several_labels => format!("c{class}|c{}", (class + 5) % 61),
            8 if table.several_labels => String::new(),
            _ => format!("c{class}"),
        };
        let weight = if table.weights && row % 6 == 5 { "2.5" } else { "1" };
        let _ = writeln!(
            lines,
            "{label},{},{weight},title{} of {row},k{},{}",
            text(row),
            class % 13,
            (class + row % 3) % 9,
            class as f64 / 4.0 + (row % 2) as f64
        );
    }
    lines
}

fn reading(table: Table) -> ReadOptions {
    let named = |name: &str| Some(name.to_owned());
    ReadOptions {
        label_column: named("label"),
        text_column: named(if table.columns { "text,title" } else { "text" }),
        weight_column: named("weight").filter(|_| table.weights),
        category_column: named("kind").filter(|_| table.columns),
        numeric_column: named("size").filter(|_| table.columns),
        label_separator: named("|").filter(|_| table.several_labels),
        block_size: Some(100_000),
        ..ReadOptions::default()
    }
}

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// A table and the same prepared.
fn prepared(folder: &Path, table: Table) -> (PathBuf, PathBuf) {
    let (data, out) = (folder.join("texts.csv"), folder.join("set"));
    std::fs::write(&data, csv(table, 0)).unwrap();
    let how = DiskOptions::default();
    prepare_to_disk(Source::new(&data), &reading(table), &out, &how, &session(2)).unwrap();
    (data, out)
}

/// The bytes of the model, and what was told.
fn train(
    data: &Path,
    options: &ReadOptions,
    (blocks, valid): (&str, Option<&Path>),
    session: Session<'_>,
) -> memoir::Result<(Vec<u8>, String)> {
    let notes = Notes::default();
    let bytes = train_quietly(data, options, (blocks, valid), &session.with_observer(&notes))?;
    Ok((bytes, notes.0.into_inner().unwrap()))
}

/// As above, told to whom the session says.
fn train_quietly(
    data: &Path,
    options: &ReadOptions,
    (blocks, valid): (&str, Option<&Path>),
    session: &Session<'_>,
) -> memoir::Result<Vec<u8>> {
    let valid_options = reading(Table::default());
    let method = Catalogue::new()
        .find("softmax")
        .unwrap()
        .configure([("passes", "2")])
        .unwrap();
    let text = match blocks {
        "auto" => TextSettings::default(),
        blocks => TextSettings::default().blocks(blocks.to_owned()),
    };
    let fit_options = FitOptions {
        text,
        held_out: valid.map_or(HeldOut::Nothing, |path| {
            HeldOut::examples(Examples::Read {
                source: Source::new(path),
                options: &valid_options,
            })
        }),
        ..FitOptions::default()
    };
    let examples = Examples::Read {
        source: Source::new(data),
        options,
    };
    Ok(fit(&method, examples, fit_options, session)?.to_bytes().unwrap())
}

/// Little enough for texts to stay on disk, and enough for the same plan of weights.
const BUDGET: u64 = 44_000_000;

fn check(table: Table, blocks: &[&str], valid: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (data, set) = prepared(folder.path(), table);
    let held_out = folder.path().join("valid.csv");
    std::fs::write(&held_out, csv(Table { rows: 900, ..table }, table.rows)).unwrap();
    let valid = valid.then_some(&*held_out);
    for (number, blocks) in blocks.iter().enumerate() {
        let settings = (*blocks, valid);
        let (in_memory, told) = train(&data, &reading(table), settings, session(2)).unwrap();
        assert!(!told.contains("on disk"), "{told}");
        let limited = session(1 + number % 2).with_memory_budget(Some(BUDGET));
        let (on_disk, told) = train(&set, &ReadOptions::default(), settings, limited).unwrap();
        assert!(told.contains("so they stay on disk"), "{told}");
        assert!(!told.contains("to stay within"), "{told}");
        assert!(in_memory == on_disk, "{table:?}, {blocks}, {told}");
    }
    check_nothing_is_left(&set);
}

fn check_nothing_is_left(set: &Path) {
    let left: Vec<_> = std::fs::read_dir(set).unwrap().collect();
    assert_eq!(left.len(), 2, "no scratch files stay: {left:?}");
}

const PLAIN: Table = Table {
    rows: 50_000,
    several_labels: false,
    weights: false,
    columns: false,
};

#[test]
fn texts_on_disk_make_the_model_of_texts_in_memory() {
    let blocks = [
        "words",
        "words,stems",
        "words,pairs:0.5",
        "words,stem-pairs:0.5,opening:0.5",
        "words,chars3-4:0.5",
    ];
    check(PLAIN, &blocks, false);
}

#[test]
fn views_and_what_is_chosen_automatically_are_the_same() {
    let blocks = ["words,pairs:0.5/stems,chars4", "auto", "words/stems"];
    check(PLAIN, &blocks, false);
}

#[test]
fn labels_weights_columns_and_held_out_rows_are_the_same() {
    let table = |several_labels, weights, columns| Table {
        several_labels,
        weights,
        columns,
        ..PLAIN
    };
    check(
        table(true, true, false),
        &["words,pairs:0.5", "words/stems"],
        false,
    );
    check(table(false, false, true), &["words", "auto"], false);
    check(table(true, false, false), &["words,stems", "words/stems"], true);
}

#[test]
fn a_stopped_run_leaves_nothing_and_goes_on_from_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (_, set) = prepared(folder.path(), PLAIN);
    let options = ReadOptions::default();
    let settings = ("words,stems", None);
    let limited = || session(2).with_memory_budget(Some(BUDGET));
    let (whole, _) = train(&set, &options, settings, limited()).unwrap();
    let stopped = |file: Option<&Path>, steps: usize, session: Session<'_>| {
        let cancel = Cancel::default();
        let observer = StopAt {
            file,
            steps: AtomicUsize::new(steps),
            cancel: cancel.clone(),
        };
        let session = session.with_cancel(cancel).with_observer(&observer);
        let result = train_quietly(&set, &options, settings, &session);
        assert!(matches!(result, Err(Error::Cancelled)), "{:?}", result.err());
        check_nothing_is_left(&set);
    };
    // While words are counted, while rows are written, while they are sorted.
    for steps in [3, 60, 100, 150] {
        stopped(None, steps, limited());
    }
    let checkpoint = folder.path().join("checkpoint");
    let resuming = || {
        let checkpoints = Checkpoints::new(checkpoint.clone(), Some(9000), true);
        limited().with_checkpoints(Some(checkpoints))
    };
    stopped(Some(&checkpoint), 0, resuming());
    let (resumed, told) = train(&set, &options, settings, resuming()).unwrap();
    assert!(told.contains("resumed from"), "{told}");
    assert!(resumed == whole, "{told}");
}

#[test]
fn texts_that_are_cut_anew_stay_in_memory_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let (_, set) = prepared(folder.path(), PLAIN);
    let notes = Notes::default();
    let session = session(2).with_memory_budget(Some(BUDGET)).with_observer(&notes);
    let method = Catalogue::new()
        .find("softmax")
        .unwrap()
        .configure([("passes", "1")])
        .unwrap();
    let fit_options = FitOptions {
        text: TextSettings::default().word_ngrams(1),
        ..FitOptions::default()
    };
    let options = ReadOptions::default();
    let examples = Examples::Read {
        source: Source::new(&set),
        options: &options,
    };
    // The budget may be too small for that; what was told before counts.
    drop(fit(&method, examples, fit_options, &session));
    let told = notes.0.lock().unwrap();
    assert!(told.contains("texts are cut into words anew"), "{told}");
}

#[test]
fn budgets_that_texts_exceed_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, set) = prepared(folder.path(), PLAIN);
    let options = ReadOptions::default();
    let train = |blocks, budget| {
        let limited = session(1).with_memory_budget(Some(budget));
        train(&set, &options, (blocks, None), limited)
    };
    // Windows of rows grow with the budget, so the least that is named grows a little, too.
    let mut budget = 15_000_000;
    for refused in 0.. {
        let Err(refusal) = train("words", budget) else {
            assert!(refused > 0);
            break;
        };
        let message = refusal.to_string();
        let (_, named) = message
            .split_once("the data and the smallest model take ")
            .expect("what is needed");
        let least: u64 = named.split_once(" MB").unwrap().0.parse().unwrap();
        assert!(refused < 3 && least * 1_000_000 > budget, "{message}");
        budget = least * 1_000_000;
    }
    let message = train("words,pairs", 700_000).unwrap_err().to_string();
    assert!(message.contains("runs of words alone would take"), "{message}");
    check_nothing_is_left(&set);
}
