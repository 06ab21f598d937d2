//! Prepared data stands for the files it was made of: the same models, the same answers.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use memoir::data::{KeepColumns, Manifest, ReadOptions, Source};
use memoir::prepare::{DiskOptions, Examples, prepare_to_disk, stream_unprepared};
use memoir::text::TextSettings;
use memoir::train::{FitOptions, HeldOut, fit};
use memoir::{Cancel, Catalogue, Error, Event, Model, Observer, Session};

/// Small shards, so that there are several.
fn small() -> DiskOptions {
    let mut how = DiskOptions::default();
    how.shard_bytes = 20_000;
    how
}

fn options() -> ReadOptions {
    ReadOptions {
        block_size: Some(4000),
        ..ReadOptions::default()
    }
}

fn session() -> Session<'static> {
    Session::new(NonZeroUsize::new(2).unwrap()).unwrap()
}

fn prepare(data: &Path, out: &Path, how: &DiskOptions) -> memoir::Result<Manifest> {
    prepare_to_disk(Source::new(data), &options(), out, how, &session())
}

fn model(data: &Path, text: TextSettings) -> Model {
    let options = ReadOptions::default();
    let examples = Examples::Read {
        source: Source::new(data),
        options: &options,
    };
    let method = Catalogue::new().find("softmax").unwrap().configure([]).unwrap();
    let fit_options = FitOptions {
        text,
        ..FitOptions::default()
    };
    fit(&method, examples, fit_options, &session()).unwrap()
}

fn bytes(data: &Path) -> Vec<u8> {
    model(data, TextSettings::default()).to_bytes().unwrap()
}

/// A table of texts with codes, several labels in some rows and none in others.
fn csv(rows: std::ops::Range<usize>) -> String {
    let mut table = "label,text\n".to_owned();
    for row in rows {
        let label = match row % 11 {
            3 => format!("c{}|c{}", row % 7, row % 5),
            8 => String::new(),
            _ => format!("c{}", row % 7),
        };
        let _ = writeln!(
            table,
            "{label},\"Topic{} C++ naïve word{}, 3/{} l'homme it {}\"",
            row % 7,
            row % 31,
            row % 13,
            row % 400
        );
    }
    table
}

/// Vectors with whole values, with halves, and with weights of rows.
fn svm(rows: std::ops::Range<usize>) -> String {
    let mut lines = String::new();
    for row in rows {
        let value = if row % 40 == 3 { 0.5 } else { 1.0 };
        let _ = writeln!(
            lines,
            "{} {}:{value} {}:2 900:1{}",
            row % 9,
            row % 9 + 1,
            row % 100 + 20,
            if row % 6 == 5 { " # weight=2.5" } else { "" }
        );
    }
    lines
}

fn write(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn models_of_prepared_data_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("t.csv", csv(0..2500)), ("v.svm", svm(0..2500))] {
        let data = write(folder.path(), name, &content);
        for compress in [false, true] {
            let out = folder.path().join(format!("{name}-{compress}"));
            let mut how = small();
            how.compress = compress;
            let manifest = prepare(&data, &out, &how).unwrap();
            assert_eq!((manifest.rows, manifest.complete), (2500, true));
            assert!(manifest.shard_count() > 1 || compress, "{name}");
            assert_eq!(bytes(&out), bytes(&data), "{name}, compressed: {compress}");
        }
    }
    // Settings that cut texts otherwise than they were prepared.
    let stop_words = || TextSettings::default().word_ngrams(2);
    let (data, out) = (folder.path().join("t.csv"), folder.path().join("t.csv-false"));
    let [of_file, of_set] = [data, out].map(|path| model(&path, stop_words()).to_bytes().unwrap());
    assert_eq!(of_file, of_set);
}

#[test]
fn appended_files_are_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let whole = write(folder.path(), "whole.csv", &csv(0..900));
    let first = write(folder.path(), "first.csv", &csv(0..500));
    let second = write(folder.path(), "second.csv", &csv(500..900));
    let out = folder.path().join("set");
    prepare(&first, &out, &small()).unwrap();
    let again = prepare(&second, &out, &small()).unwrap_err().to_string();
    assert!(again.contains("is prepared data already"), "{again}");
    let mut how = small();
    how.append = true;
    assert_eq!(prepare(&second, &out, &how).unwrap().rows, 900);
    assert_eq!(bytes(&out), bytes(&whole));
    // A bad file leaves the set as it was.
    let bad = write(folder.path(), "bad.csv", &(csv(0..900) + "a,\"b\nc\n"));
    let before = std::fs::read_dir(&out).unwrap().count();
    assert!(matches!(prepare(&bad, &out, &how), Err(Error::Data { .. })));
    assert_eq!(bytes(&out), bytes(&whole));
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), before);
    let vectors = write(folder.path(), "v.svm", &svm(0..10));
    let message = prepare(&vectors, &out, &how).unwrap_err().to_string();
    assert!(message.contains("holds vectors, but"), "{message}");
}

/// Stops a run after so many blocks.
struct StopAfter {
    blocks: AtomicUsize,
    cancel: Cancel,
}

impl Observer for StopAfter {
    fn notice(&self, event: Event<'_>) {
        let is_block = matches!(event, Event::Progress { .. });
        if is_block && self.blocks.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cancel.raise();
        }
    }
}

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let data = write(folder.path(), "t.csv", &csv(0..2500));
    for (deduplicate, name) in [(false, "plain"), (true, "deduplicated")] {
        let (out, whole) = (
            folder.path().join(name),
            folder.path().join(format!("{name} whole")),
        );
        let mut how = small();
        how.deduplicate = deduplicate;
        prepare(&data, &whole, &how).unwrap();
        let mut rows = Vec::new();
        for blocks in [6, 14, 1, 25] {
            let cancel = Cancel::default();
            let observer = StopAfter {
                blocks: AtomicUsize::new(blocks),
                cancel: cancel.clone(),
            };
            let session = session().with_cancel(cancel).with_observer(&observer);
            let stopped = prepare_to_disk(Source::new(&data), &options(), &out, &how, &session);
            assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
            rows.push(Manifest::load(&out).unwrap().rows);
            let (unfinished, read) = (Source::new(&out), ReadOptions::default());
            let refused = stream_unprepared(unfinished, &read, &session_of_one(), |_| Ok(()));
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("is not prepared to its end"), "{refused}");
        }
        assert!(rows[0] > 0 && rows[1] > rows[0] && rows[3] > rows[1], "{rows:?}");
        let manifest = prepare(&data, &out, &how).unwrap();
        assert!(manifest.complete);
        assert_eq!(bytes(&out), bytes(&whole), "{name}");
    }
    // The file must be the same.
    let out = folder.path().join("changed");
    let cancel = Cancel::default();
    let observer = StopAfter {
        blocks: AtomicUsize::new(9),
        cancel: cancel.clone(),
    };
    let session = session().with_cancel(cancel).with_observer(&observer);
    assert!(prepare_to_disk(Source::new(&data), &options(), &out, &small(), &session).is_err());
    write(folder.path(), "t.csv", &csv(0..2501));
    let message = prepare(&data, &out, &small()).unwrap_err().to_string();
    assert!(message.contains("or was changed"), "{message}");
}

fn session_of_one() -> Session<'static> {
    Session::new(NonZeroUsize::MIN).unwrap()
}

#[test]
fn equal_rows_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let table =
        "label,text\na,Red apple\nb,blue sky\na,red  APPLE\nb,red apple\na|b,red apple\nb|a,red apple\n";
    let data = write(folder.path(), "t.csv", table);
    let kept = write(
        folder.path(),
        "k.csv",
        "label,text\na,Red apple\nb,blue sky\nb,red apple\na|b,red apple\n",
    );
    let out = folder.path().join("set");
    let mut how = small();
    how.deduplicate = true;
    let manifest = prepare(&data, &out, &how).unwrap();
    assert_eq!((manifest.rows, manifest.sources[0].duplicates), (4, 2));
    assert_eq!(bytes(&out), bytes(&kept));
    how.append = true;
    let manifest = prepare(&data, &out, &how).unwrap();
    assert_eq!((manifest.rows, manifest.sources[1].duplicates), (4, 6));
}

#[test]
fn damage_is_named_and_never_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    let data = write(folder.path(), "t.csv", &csv(0..1500));
    let out = folder.path().join("set");
    assert!(prepare(&data, &out, &small()).unwrap().shard_count() > 2);
    let shard = out.join("shard-000001.bin");
    let whole = std::fs::read(&shard).unwrap();
    let read = || {
        let read = stream_unprepared(Source::new(&out), &ReadOptions::default(), &session(), |_| Ok(()));
        read.map(|(_, report)| report.rows)
    };
    assert_eq!(read().unwrap(), 1500);
    for place in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        std::fs::write(&shard, &damaged).unwrap();
        let message = read().unwrap_err().to_string();
        assert!(
            message.contains("shard-000001.bin: the shard is damaged: its checksum"),
            "{place}: {message}"
        );
    }
    std::fs::write(&shard, &whole).unwrap();
    // Room is made by these numbers before anything is read.
    let manifest = std::fs::read_to_string(out.join("memoir-prepared.json")).unwrap();
    for name in ["rows", "labels", "entries", "width", "classes", "words"] {
        let mut claims: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        claims[name] = (u64::MAX / 2).into();
        write(&out, "memoir-prepared.json", &claims.to_string());
        let message = read().unwrap_err().to_string();
        assert!(message.contains("damaged"), "{name}: {message}");
    }
    let vectors = manifest.replace("\"text\": true", "\"text\": false");
    assert_ne!(vectors, manifest);
    write(&out, "memoir-prepared.json", &vectors);
    let message = read().unwrap_err().to_string();
    assert!(message.contains("damaged"), "{message}");
    write(&out, "memoir-prepared.json", &manifest);
    assert_eq!(read().unwrap(), 1500);
    std::fs::write(&shard, &whole[..whole.len() - 1]).unwrap();
    let message = read().unwrap_err().to_string();
    assert!(message.contains("the shard is damaged: it has"), "{message}");
    std::fs::remove_file(&shard).unwrap();
    assert!(
        read()
            .unwrap_err()
            .to_string()
            .contains("shard-000001.bin: cannot open")
    );
    for manifest in [
        "{}",
        "{\"format\": \"memoir prepared data\", \"version\": 2}",
        "[",
    ] {
        write(&out, "memoir-prepared.json", manifest);
        let message = read().unwrap_err().to_string();
        assert!(message.contains("memoir-prepared.json: "), "{message}");
    }
}

#[test]
fn columns_and_options_of_prepared_data() {
    let folder = tempfile::tempdir().unwrap();
    let data = write(folder.path(), "t.csv", "label,text\na|b,one two\nb,three\n");
    let out = folder.path().join("set");
    prepare(&data, &out, &small()).unwrap();
    let mut cells = Vec::new();
    let keep = ReadOptions {
        keep_columns: KeepColumns::All,
        ..ReadOptions::default()
    };
    stream_unprepared(Source::new(&out), &keep, &session(), |rows| {
        for row in 0..rows.hashes.len() {
            cells.push(rows.kept.row(row).collect::<Vec<_>>().join(","));
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(cells, ["a|b,one two", "b,three"]);
    let refused = |options: ReadOptions| {
        let read = stream_unprepared(Source::new(&out), &options, &session(), |_| Ok(()));
        read.unwrap_err().to_string()
    };
    let message = refused(ReadOptions {
        keep_columns: KeepColumns::Named(vec!["id".to_owned()]),
        ..ReadOptions::default()
    });
    assert!(message.contains("has no column `id`"), "{message}");
    let message = refused(ReadOptions {
        text_column: Some("title".to_owned()),
        ..ReadOptions::default()
    });
    assert!(
        message.contains("give options for reading to `prepare`"),
        "{message}"
    );
}

/// Notes what it is told.
#[derive(Default)]
struct Notes(std::sync::Mutex<String>);

impl Observer for Notes {
    fn notice(&self, event: Event<'_>) {
        if let Event::Note(note) = event {
            *self.0.lock().unwrap() += note;
        }
    }
}

/// Vectors enough for a memory budget to matter.
fn many_vectors(several_labels: bool) -> String {
    let mut lines = String::new();
    for row in 0..85_000usize {
        let (class, noise) = (row * 7919 % 131, row * 31 % 997);
        let second = if several_labels && row % 5 == 0 { ",7" } else { "" };
        let _ = writeln!(
            lines,
            "{class}{second} {}:1 {}:2 {}:1 {}:1{}",
            class + 1,
            200 + class * 3 + noise % 5,
            700 + noise,
            2000 + row % 613,
            if row % 9 == 5 { " # weight=2.5" } else { "" }
        );
    }
    lines
}

#[test]
fn rows_on_disk_make_the_model_of_rows_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let valid = write(folder.path(), "valid.svm", &svm(0..200));
    let train = |data: &Path, budget: Option<u64>, valid: Option<&Path>, rescan: &str, threads: usize| {
        let (notes, options) = (Notes::default(), ReadOptions::default());
        let read = |path: &Path| Examples::Read {
            source: Source::new(path),
            options: &options,
        };
        let catalogue = Catalogue::new();
        let algorithm = catalogue.find("softmax").unwrap();
        let method = algorithm
            .configure([("rescan", rescan), ("passes", "3")])
            .unwrap();
        let fit_options = FitOptions {
            held_out: valid.map_or(HeldOut::Nothing, |path| HeldOut::examples(read(path))),
            ..FitOptions::default()
        };
        let session = Session::new(NonZeroUsize::new(threads).unwrap())
            .unwrap()
            .with_memory_budget(budget)
            .with_observer(&notes);
        let model = fit(&method, read(data), fit_options, &session).unwrap();
        (model.to_bytes().unwrap(), notes.0.into_inner().unwrap())
    };
    for (several_labels, valid) in [(false, None), (true, None), (false, Some(&*valid))] {
        let data = write(folder.path(), "rows.svm", &many_vectors(several_labels));
        let out = folder
            .path()
            .join(format!("set {several_labels} {}", valid.is_some()));
        prepare_to_disk(
            Source::new(&data),
            &ReadOptions::default(),
            &out,
            &DiskOptions::default(),
            &session(),
        )
        .unwrap();
        for (rescan, threads) in [("yes", 1), ("no", 2)] {
            let (in_memory, _) = train(&data, None, valid, rescan, 2);
            let (on_disk, notes) = train(&out, Some(28_000_000), valid, rescan, threads);
            assert!(notes.contains("so they stay on disk"), "{notes}");
            assert!(in_memory == on_disk, "{several_labels}, {rescan}, {notes}");
        }
        let left: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
        assert!(left.len() <= 3, "no scratch files stay: {left:?}");
    }
}
