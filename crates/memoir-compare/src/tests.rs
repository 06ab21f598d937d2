//! Experiments are checked, vectors arrive as they were, predictions are read strictly.

use std::fs;
use std::path::Path;

use memoir::data::{ReadOptions, Source};
use memoir::prepare::read_training;
use memoir::{Catalogue, ClassNames, Dataset, RowView, Session};
use proptest::prelude::*;

use crate::convert::Vectors;
use crate::datasets::Loaded;
use crate::experiment::Experiment;
use crate::predictions::{Notation, judge};

type Row = (Vec<u32>, Vec<(u32, f32)>);

/// A data set of the given rows: labels, then features with values.
fn dataset(rows: &[Row], classes: u32, width: usize) -> Dataset {
    let names: ClassNames = (0..classes).map(|class| format!("class {class}")).collect();
    let mut data = Dataset {
        classes: names,
        ..Dataset::default()
    };
    for (labels, entries) in rows {
        let (indices, values): (Vec<_>, Vec<_>) = entries.iter().copied().unzip();
        data.rows.push(RowView {
            indices: &indices,
            values: &values,
        });
        data.labels.push(labels.iter().copied());
    }
    data.rows.set_width(width);
    data
}

fn loaded(rows: &[Row], classes: u32, width: usize) -> Loaded {
    let train = dataset(rows, classes, width);
    Loaded {
        test: train.clone(),
        training_counts: train.labels.class_counts(classes as usize),
        by_name: (0..classes)
            .map(|class| (format!("class {class}").into_bytes(), class))
            .collect(),
        train,
    }
}

/// Rows of ascending features with ordinary and extreme values.
fn any_rows(most_labels: usize) -> impl Strategy<Value = Vec<Row>> {
    let value = prop_oneof![
        0.001f32..1.0,
        Just(1.0),
        Just(1e-7),
        Just(0.333_333_34),
        -5.0f32..5.0
    ];
    let features = proptest::collection::btree_map(0u32..40, value, 0..6);
    let labels = proptest::collection::btree_set(0u32..9, 1..=most_labels);
    let row = (labels, features).prop_map(|(labels, features)| {
        let entries = features.into_iter().filter(|(_, value)| *value != 0.0).collect();
        (labels.into_iter().collect(), entries)
    });
    // Files without any feature are refused.
    proptest::collection::vec(row, 1..12).prop_filter("a feature", |rows: &Vec<Row>| {
        rows.iter().any(|(_, entries)| !entries.is_empty())
    })
}

/// What our own reader finds in a file.
fn read_back(path: &Path, zero_based: bool) -> Vec<Row> {
    let session = Session::new(std::num::NonZeroUsize::MIN).unwrap();
    let options = ReadOptions {
        zero_based,
        ..ReadOptions::default()
    };
    let prep = memoir::prepare::PrepOptions {
        weighting: memoir::prepare::WeightingChoice::Raw,
        ..Default::default()
    };
    let read = read_training(Source::new(path), &options, &prep, &session)
        .unwrap()
        .data;
    (0..read.len())
        .map(|row| {
            let number = |&label: &u32| read.classes.name(label).parse::<u32>().unwrap();
            let mut labels: Vec<_> = read.labels.row(row).iter().map(number).collect();
            labels.sort_unstable();
            (labels, read.rows.row(row).iter().collect())
        })
        .collect()
}

/// The numbers of a `.npy` file, by the format's own definition.
fn read_npy<const N: usize>(path: &Path, kind: &str) -> Vec<[u8; N]> {
    let bytes = fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0);
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    let numbers = bytes[10 + length..].chunks_exact(N);
    assert!(header.contains(&format!("'descr': '{kind}'")), "{header}");
    assert!(
        header.contains(&format!("'shape': ({},)", numbers.len())),
        "{header}"
    );
    assert!(numbers.remainder().is_empty() && header.ends_with('\n'));
    numbers.map(|chunk| chunk.try_into().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn vectors_in_text_formats_are_read_back_exactly(rows in any_rows(1)) {
        let folder = tempfile::tempdir().unwrap();
        let loaded = loaded(&rows, 9, 40);
        let shifted: Vec<Row> = rows.iter().map(|(labels, entries)| (vec![labels[0] + 1], entries.clone())).collect();
        let (train, _) = Vectors::Libsvm.prepare(&loaded, folder.path(), "f").unwrap();
        prop_assert_eq!(read_back(&train, false), shifted);

        // Vowpal Wabbit's form is libsvm's with a bar.
        let (train, test) = Vectors::Vw.prepare(&loaded, folder.path(), "f").unwrap();
        let lines = |path: &Path| {
            let mut lines: Vec<_> = fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        prop_assert_eq!(lines(&train), lines(&test), "the same rows, mixed");
        let without_bar = fs::read_to_string(test).unwrap().replace(" |", "");
        let copy = folder.path().join("copy.svm");
        fs::write(&copy, without_bar).unwrap();
        prop_assert_eq!(read_back(&copy, false), read_back(&folder.path().join("libsvm/train.svm"), false));
    }

    #[test]
    fn vectors_with_several_labels_are_read_back_exactly(rows in any_rows(3)) {
        let folder = tempfile::tempdir().unwrap();
        let loaded = loaded(&rows, 9, 40);
        let (train, _) = Vectors::Xmc.prepare(&loaded, folder.path(), "f").unwrap();
        prop_assert_eq!(read_back(&train, true), rows.clone());

        let (_, test) = Vectors::FastText.prepare(&loaded, folder.path(), "f").unwrap();
        for (line, (labels, entries)) in fs::read_to_string(test).unwrap().lines().zip(&rows) {
            let words: Vec<_> = labels.iter().map(|label| format!("__label__{label}"))
                .chain(entries.iter().map(|(feature, _)| format!("w{feature}"))).collect();
            prop_assert_eq!(line.split(' ').collect::<Vec<_>>(), words);
        }

        let (train, _) = Vectors::Npy.prepare(&loaded, folder.path(), "f").unwrap();
        let ends = |name: &str| -> Vec<usize> {
            let numbers = read_npy::<8>(&train.join(name), "<i8");
            numbers.into_iter().map(|bytes| u64::from_le_bytes(bytes) as usize).collect()
        };
        let numbers = |name: &str| read_npy::<4>(&train.join(name), "<i4").into_iter().map(u32::from_le_bytes);
        let values: Vec<_> = read_npy::<4>(&train.join("data.npy"), "<f4").into_iter().map(f32::from_le_bytes).collect();
        let entries: Vec<_> = numbers("indices.npy").zip(values).collect();
        let labels: Vec<_> = numbers("labels.npy").collect();
        let (starts, label_starts) = (ends("indptr.npy"), ends("label_indptr.npy"));
        let found: Vec<Row> = (0..rows.len()).map(|row| (
            labels[label_starts[row]..label_starts[row + 1]].to_vec(),
            entries[starts[row]..starts[row + 1]].to_vec(),
        )).collect();
        prop_assert_eq!(found, rows.clone());
        prop_assert_eq!(ends("shape.npy"), [rows.len(), 40, 9]);
    }
}

#[test]
fn conversions_are_made_anew_when_data_or_files_change() {
    let folder = tempfile::tempdir().unwrap();
    let rows = vec![(vec![0], vec![(1, 0.5)]), (vec![1], vec![(2, 0.25)])];
    let loaded = loaded(&rows, 2, 3);
    let (train, _) = Vectors::Libsvm.prepare(&loaded, folder.path(), "one").unwrap();
    let right = fs::read(&train).unwrap();
    assert_eq!(right, b"1 2:0.5\n2 3:0.25\n");
    fs::write(&train, "1 2:0.75\n").unwrap();
    Vectors::Libsvm.prepare(&loaded, folder.path(), "one").unwrap();
    assert_eq!(fs::read(&train).unwrap(), right, "a file that was tampered with");
    let two_labels = self::loaded(&[(vec![0, 1], vec![])], 2, 3);
    let refused = Vectors::Libsvm
        .prepare(&two_labels, folder.path(), "one")
        .unwrap_err();
    assert!(refused.to_string().contains("one label a row"), "{refused}");
}

#[test]
fn predictions_are_judged_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("predictions");
    let rows = vec![(vec![0], vec![]), (vec![1], vec![]), (vec![2], vec![])];
    let loaded = loaded(&rows, 3, 1);
    let judged = |text: &str, notation| {
        fs::write(&path, text).unwrap();
        judge(&path, notation, &loaded).map_err(|problem| problem.to_string())
    };
    let numbers = Notation::Numbers(Vectors::Libsvm);
    let report = judged("1\n1 2\n3.0\n", numbers).unwrap();
    assert!((report.accuracy - 2.0 / 3.0).abs() < 1e-12);
    assert!((report.recall_at_3 - 1.0).abs() < 1e-12);
    let report = judged(
        "__label__0 __label__1\n\n__label__2\n",
        Notation::Numbers(Vectors::FastText),
    )
    .unwrap();
    assert!(
        (report.accuracy - 2.0 / 3.0).abs() < 1e-12,
        "a row without an answer is a mistake"
    );
    assert_eq!(
        judged("class 0\nclass 1\tclass 0\nclass 2\n", Notation::Names)
            .unwrap()
            .accuracy,
        1.0
    );
    for (text, notation, expected) in [
        (
            "1\n2\n",
            numbers,
            "found 2 lines of predictions, expected 3, one for each test row",
        ),
        (
            "1\n2\n3\n1\n",
            numbers,
            "found more lines of predictions than 3 test rows",
        ),
        (
            "1\n0\n3\n",
            numbers,
            "line 2 of the predictions: `0` is not a class number from 1 to 3",
        ),
        (
            "1\n4\n3\n",
            numbers,
            "line 2 of the predictions: `4` is not a class number from 1 to 3",
        ),
        (
            "1\nx\n3\n",
            numbers,
            "line 2 of the predictions: `x` is not a class number from 1 to 3",
        ),
        (
            "class 0\nother\n\n",
            Notation::Names,
            "line 2 of the predictions: `other` is not a class",
        ),
    ] {
        assert_eq!(judged(text, notation).unwrap_err(), expected);
    }
}

#[test]
fn experiments_are_checked_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.toml");
    let problem = |text: &str| {
        fs::write(&path, text).unwrap();
        let problem = Experiment::read(&path, None, &Catalogue::new())
            .unwrap_err()
            .to_string();
        problem.replace(&format!("{}", folder.path().display()), "")
    };
    let data = "title = 't'\n[[data]]\nname = 'd'\nsynth = { rows = 10 }\n";
    let with = |rest: &str| format!("{data}{rest}");
    for (text, expected) in [
        ("title = 't'\ntitel = 'x'\n".to_owned(), "/e.toml:2:1: unknown field `titel`"),
        ("title = 't'\nrepeats = 'x'\n".to_owned(), "/e.toml:2:11: invalid type"),
        ("title = 't'\n".to_owned(), "/e.toml: an experiment needs at least one [[data]]"),
        (with("[[method]]\nname = 'a'\n"), "/e.toml: method `a`: expected either `algorithm`, or `vectors`"),
        (with("[[method]]\nname = 'a'\nalgorithm = 'nope'\n"), "/e.toml: method `a`: there is no algorithm `nope`"),
        (
            with("[[method]]\nname = 'a'\nalgorithm = 'centroid'\noptions = { x = 1 }\n"),
            "/e.toml: method `a`: there is no parameter `x` here",
        ),
        (
            with("[[method]]\nname = 'a'\nvectors = 'xmc'\ntrain = ['x', '{trian}']\npredict = ['y']\n"),
            "/e.toml: method `a`: `{trian}` in `{trian}` is not a placeholder",
        ),
        (
            with("[[method]]\nname = 'a'\nalgorithm = 'centroid'\n[[method]]\nname = 'a'\nalgorithm = 'centroid'\n"),
            "/e.toml: two methods are called `a`",
        ),
        (
            with("[[method]]\nname = '../a'\nalgorithm = 'centroid'\n"),
            "/e.toml: `../a` is no name for a method",
        ),
        (
            with("[[method]]\nname = 'a'\nalgorithm = 'centroid'\nonly = ['e']\n"),
            "/e.toml: there is no data set `e`",
        ),
        (
            with("[[method]]\nname = 'a'\nalgorithm = 'centroid'\n[[expect]]\ndata = 'd'\nmethod = 'b'\n"),
            "/e.toml: an expectation names the method `b`, which is not there",
        ),
        (
            "title = 't'\n[[data]]\nname = 'd'\ntrain = 'x.svm'\ntest = 'y.svm'\n[[method]]\nname = 'a'\nalgorithm = 'centroid'\n"
                .to_owned(),
            "/x.svm: no such file, for the data set `d`",
        ),
        (
            with("[[method]]\nname = 'a'\nalgorithm = 'centroid'\n[limits]\nmemory = 'lots'\n"),
            "/e.toml: `limits.memory`: expected a size",
        ),
        (
            with("[[method]]\nname = 'a'\nalgorithm = 'centroid'\n[limits]\nwall-seconds = nan\n"),
            "/e.toml: `limits.wall-seconds` is NaN, but expected a number above 0",
        ),
        (
            with("[[method]]\nname = 'a'\nalgorithm = 'centroid'\n[limits]\ncpu-seconds = -1\n"),
            "/e.toml: `limits.cpu-seconds` is -1, but expected a number above 0",
        ),
        (
            format!("repeats = 4294967295\n{}", with("[[method]]\nname = 'a'\nalgorithm = 'centroid'\n")),
            "/e.toml: these are more than 1,000,000 runs",
        ),
    ] {
        let found = problem(&text);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
}
