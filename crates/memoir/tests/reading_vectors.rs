//! Vectors are read back as they were written, whatever the block size and the number of threads.

mod common;
#[path = "common/raw_reading.rs"]
mod raw_reading;

use std::io::Cursor;

use common::{bytes_source, session};
use memoir::data::{Format, ReadOptions, Source};
use memoir::dataset::ClassNames;
use memoir::prepare::{Block, PrepOptions, read_training, read_with, stream_with};
use memoir::text::RowNeeds;
use memoir::{Dataset, Error};
use proptest::prelude::*;
use raw_reading::{raw, read};

/// A row as a test writes it: labels, entries, weight.
type Row = (Vec<String>, Vec<(u32, f32)>, Option<f32>);

fn row(data: &Dataset, index: usize) -> Row {
    (
        data.labels
            .row(index)
            .iter()
            .map(|&label| data.classes.name(label).to_owned())
            .collect(),
        data.rows.row(index).iter().collect(),
        data.weights.as_ref().map(|weights| weights[index]),
    )
}

fn owned(labels: &[&str], entries: &[(u32, f32)], weight: Option<f32>) -> Row {
    (
        labels.iter().map(|&label| label.to_owned()).collect(),
        entries.to_vec(),
        weight,
    )
}

#[test]
fn libsvm_rows_with_everything_that_is_allowed() {
    let text = "\u{feff}# a comment line\r\n\
        news 1:1 3:2.5\r\n\
        \n\
        sport,news 7:1 2:-0.25 7:2 # weight=0.5 and more\n\
        \t\n\
        5:1e-3 6:0\n \
        2:+4\n\
        lone\n\
        C#,ö 1:.5#no blank before\n\
        x\t2:1";
    let read = read("a.svm", text, &ReadOptions::default()).unwrap();
    let data = &read.data;
    assert_eq!(data.len(), 7);
    assert_eq!(row(data, 0), owned(&["news"], &[(0, 1.0), (2, 2.5)], Some(1.0)));
    assert_eq!(
        row(data, 1),
        owned(&["news", "sport"], &[(1, -0.25), (6, 3.0)], Some(0.5))
    );
    assert_eq!(row(data, 2), owned(&[], &[(4, 1e-3)], Some(1.0)));
    assert_eq!(row(data, 3), owned(&[], &[(1, 4.0)], Some(1.0)));
    assert_eq!(row(data, 4), owned(&["lone"], &[], Some(1.0)));
    assert_eq!(row(data, 5), owned(&["C#", "ö"], &[(0, 0.5)], Some(1.0)));
    assert_eq!(row(data, 6), owned(&["x"], &[(1, 1.0)], Some(1.0)));
    assert_eq!(data.rows.width(), 7);
    assert_eq!(
        data.classes.iter().collect::<Vec<_>>(),
        ["news", "sport", "lone", "C#", "ö", "x"]
    );
    assert_eq!((read.report.rows, read.report.unlabelled_rows), (7, 2));
}

#[test]
fn files_of_the_lshtc_challenges() {
    let options = ReadOptions {
        format: Some(Format::Libsvm),
        ..ReadOptions::default()
    };
    let text = "Data\r\n314523, 165538,  41 1250536:1 63:2\n9 7:1\n8,9 7:1\n";
    let read = read("train.csv", text, &options).unwrap();
    let data = &read.data;
    assert_eq!(data.len(), 3, "the first line is no row");
    let mut first = row(data, 0);
    first.0.sort_unstable();
    assert_eq!(
        first,
        owned(&["165538", "314523", "41"], &[(62, 2.0), (1_250_535, 1.0)], None)
    );
    assert_eq!(data.classes.len(), 5);
}

#[test]
fn options_change_what_a_label_and_an_index_is() {
    let options = ReadOptions {
        zero_based: true,
        single_label: true,
        ..ReadOptions::default()
    };
    let data = read("a.svm", "a,b 0:1\n", &options).unwrap().data;
    assert_eq!(row(&data, 0), owned(&["a,b"], &[(0, 1.0)], None));
    let options = ReadOptions {
        label_separator: Some("|".to_owned()),
        ..ReadOptions::default()
    };
    let data = read("a.svm", "a,b|c 1:1\n", &options).unwrap().data;
    assert_eq!(row(&data, 0).0, ["a,b", "c"]);
}

#[test]
fn xmc_is_known_by_name_option_or_header() {
    let text = "3 5 4\n0,3 0:1 4:2\n 1:1\n \n";
    let forced = ReadOptions {
        format: Some(Format::Xmc),
        ..ReadOptions::default()
    };
    for (name, options) in [
        ("a.xmc", ReadOptions::default()),
        ("a.txt", ReadOptions::default()),
        ("whatever", forced),
    ] {
        let data = read(name, text, &options).unwrap().data;
        assert_eq!((data.len(), data.rows.width()), (3, 5), "{name}");
        assert_eq!(row(&data, 0), owned(&["0", "3"], &[(0, 1.0), (4, 2.0)], None));
        assert_eq!(row(&data, 1), owned(&[], &[(1, 1.0)], None));
        assert_eq!(row(&data, 2), owned(&[], &[], None));
    }
}

#[test]
fn counts_are_weighted_and_get_a_constant() {
    let prep = PrepOptions {
        needs: RowNeeds {
            constant: true,
            ..RowNeeds::default()
        },
        ..PrepOptions::default()
    };
    let training = "a 1:1 2:2\nb 1:3\n";
    let read = read_training(
        bytes_source("a.svm", training),
        &ReadOptions::default(),
        &prep,
        &session(1),
    )
    .unwrap();
    assert_eq!(read.data.rows.row(0).indices, [0, 1, 2]);
    assert_eq!(read.data.rows.row(1).values, [1.0, 1.0]);
    let again = read_with(
        bytes_source("b.svm", "b 1:3\nc 1:1 2:2 9:5\n"),
        &ReadOptions::default(),
        &read.preprocessing,
        &read.data.classes,
        &session(1),
    );
    let (again, report) = again.unwrap();
    assert_eq!(again.rows.row(0), read.data.rows.row(1));
    assert_eq!(
        again.rows.row(1),
        read.data.rows.row(0),
        "feature 9 is unknown and dropped"
    );
    assert_eq!(again.rows.width(), read.data.rows.width());
    assert_eq!(again.labels.row(1), [2]);
    assert_eq!(again.classes.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!((report.unknown_classes, report.rows_with_unknown_classes), (1, 1));
}

#[test]
fn bad_rows_are_skipped_and_told() {
    let options = ReadOptions {
        skip_bad_rows: true,
        ..ReadOptions::default()
    };
    let read = read("a.svm", "a 1:1\nghost 0:1\nb 1:x\nc 2:2\n", &options).unwrap();
    assert_eq!(read.data.len(), 2);
    assert_eq!(read.data.classes.iter().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(read.report.bad_rows, 2);
    assert_eq!(
        read.report.bad_row_messages[1],
        "a.svm:3:5: expected a number as the value of feature 1, found `x`"
    );
}

#[test]
fn streams_keep_order_and_line_numbers() {
    let training = read("a.svm", "a 1:1\nb 2:1\n", &ReadOptions::default()).unwrap();
    let rows: Vec<String> = (0..1000)
        .map(|row| format!("c{} {}:1\n\n", row % 3, row % 2 + 1))
        .collect();
    let text = rows.concat();
    let options = ReadOptions {
        block_size: Some(100),
        ..ReadOptions::default()
    };
    let mut seen = Vec::new();
    let report = stream_with(
        Source::from_reader("-", Cursor::new(text)),
        &ReadOptions {
            format: Some(Format::Libsvm),
            ..options
        },
        &training.preprocessing,
        &session(3),
        |block: Block| {
            for index in 0..block.rows.len() {
                let class = block.classes.name(block.labels.row(index)[0]).to_owned();
                seen.push((block.lines[index], class, block.rows.row(index).indices[0]));
            }
            Ok(())
        },
    );
    assert_eq!(report.unwrap().rows, 1000);
    let expected: Vec<_> = (0..1000u64)
        .map(|row| (2 * row + 1, format!("c{}", row % 3), (row % 2) as u32))
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_raised_flag_stops_a_silent_input() {
    struct Silence;
    impl std::io::Read for Silence {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            std::thread::sleep(std::time::Duration::from_secs(3600));
            Ok(0)
        }
    }
    let session = session(1);
    session.cancel().raise();
    let source = Source::from_reader("a.svm", Silence);
    let stopped = read_training(source, &ReadOptions::default(), &raw(), &session);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}

fn label() -> impl Strategy<Value = String> {
    "[a-zA-Z_é][a-zA-Z0-9_.é-]{0,6}|[0-9]{1,4}"
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let entries = prop::collection::btree_map(0u32..50, -1e6f32..1e6, 0..6).prop_map(|map| {
        map.into_iter()
            .filter(|(_, value)| *value != 0.0)
            .collect::<Vec<_>>()
    });
    prop::collection::vec(
        (
            prop::collection::vec(label(), 0..4),
            entries,
            prop::option::of(0.1f32..9.0),
        ),
        1..30,
    )
}

fn written(rows: &[Row], line_end: &str) -> String {
    let lines = rows.iter().map(|(labels, entries, weight)| {
        let entries: Vec<String> = entries
            .iter()
            .map(|(index, value)| format!(" {}:{value}", index + 1))
            .collect();
        let weight = weight
            .map(|weight| format!(" # weight={weight}"))
            .unwrap_or_default();
        format!("{}{}{weight}{line_end}", labels.join(","), entries.concat())
    });
    lines.collect::<Vec<_>>().concat()
}

#[test]
fn labels_may_begin_like_an_archive() {
    for label in ["BZh", "BZh9", "PK", "BZh91AZ&"] {
        let text = format!("{label} 1:1\n");
        let read = read_training(
            bytes_source("a.svm", &text),
            &ReadOptions::default(),
            &raw(),
            &session(1),
        );
        assert_eq!(read.unwrap().data.classes.name(0), label);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(rows in rows(), crlf: bool, block_size in 1usize..200, threads in 1usize..5) {
        let text = written(&rows, if crlf { "\r\n" } else { "\n" });
        let options = ReadOptions { block_size: Some(block_size), ..ReadOptions::default() };
        let kept: Vec<&Row> = rows.iter().filter(|row| !row.0.is_empty() || !row.1.is_empty()).collect();
        let read = read_training(bytes_source("a.svm", &text), &options, &raw(), &session(threads));
        if kept.iter().all(|row| row.0.is_empty()) || kept.iter().all(|row| row.1.is_empty()) {
            prop_assert!(read.is_err());
            return Ok(());
        }
        let data = read.unwrap().data;
        prop_assert_eq!(data.len(), kept.len());
        let weighted = kept.iter().any(|row| row.2.is_some());
        let order: ClassNames = kept.iter().flat_map(|row| &row.0).collect();
        prop_assert_eq!(&data.classes, &order);
        for (index, (labels, entries, weight)) in kept.into_iter().enumerate() {
            let mut numbers: Vec<u32> = labels.iter().map(|label| order.find(label).unwrap()).collect();
            numbers.sort_unstable();
            numbers.dedup();
            prop_assert_eq!(data.labels.row(index), numbers);
            prop_assert_eq!(&data.rows.row(index).iter().collect::<Vec<_>>(), entries);
            let found = data.weights.as_ref().map(|weights| weights[index]);
            prop_assert_eq!(found, weighted.then_some(weight.unwrap_or(1.0)));
        }
    }

    #[test]
    fn random_bytes_never_panic_and_give_the_same_at_any_block_size(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"0123 :#,\n\n.-e".to_vec())], 0..300),
        block_size in 1usize..64,
        threads in 1usize..5,
        xmc: bool,
        skip_bad_rows: bool,
    ) {
        let options = ReadOptions { skip_bad_rows, ..ReadOptions::default() };
        let name = if xmc { "a.xmc" } else { "a.svm" };
        let bytes = if xmc { [b"3 9 9\n".as_slice(), &bytes].concat() } else { bytes };
        let whole = read_training(Source::from_reader(name, Cursor::new(bytes.clone())), &options, &raw(), &session(1));
        let options = ReadOptions { block_size: Some(block_size), ..options };
        let parts = read_training(Source::from_reader(name, Cursor::new(bytes)), &options, &raw(), &session(threads));
        match (whole, parts) {
            (Ok(whole), Ok(parts)) => {
                prop_assert_eq!(whole.data, parts.data);
                prop_assert_eq!(whole.report, parts.report);
            }
            (Err(whole), Err(parts)) => prop_assert_eq!(whole.to_string(), parts.to_string()),
            (whole, parts) => prop_assert!(false, "{:?} but {:?}", whole.is_ok(), parts.is_ok()),
        }
    }
}
