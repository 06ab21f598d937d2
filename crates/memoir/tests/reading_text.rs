//! Text is read back as it was written, in every format that holds text.

mod common;
#[path = "common/raw_reading.rs"]
mod raw_reading;

use common::{bytes_source, session};
use memoir::data::{Format, ReadOptions};
use memoir::dataset::ClassNames;
use memoir::prepare::{TrainingData, read_training};
use proptest::prelude::*;
use raw_reading::{raw, read};

/// A row as a test writes it: labels and words.
type Row = (Vec<String>, Vec<String>);

/// The rows of `read`: sorted labels, and words repeated as often as they occur, in the vocabulary's order.
fn rows_of(read: &TrainingData) -> Vec<Row> {
    let data = &read.data;
    (0..data.len())
        .map(|index| {
            let labels = data.labels.row(index).iter();
            let words = data.rows.row(index).iter().flat_map(|(word, count)| {
                vec![read.preprocessing.feature_name(word).into_owned(); count as usize]
            });
            (
                labels.map(|&label| data.classes.name(label).to_owned()).collect(),
                words.collect(),
            )
        })
        .collect()
}

fn row(labels: &[&str], words: &[&str]) -> Row {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    (owned(labels), owned(words))
}

#[test]
fn fasttext_labels_stand_in_front() {
    let text = "__label__a __label__b green tea\r\n\n  __label__b tea\nblack tea\n__label__a";
    let expected = [
        row(&["a", "b"], &["green", "tea"]),
        row(&["b"], &["tea"]),
        row(&[], &["tea", "black"]),
        row(&["a"], &[]),
    ];
    for name in ["x.ft", "x.txt"] {
        assert_eq!(
            rows_of(&read(name, text, &ReadOptions::default()).unwrap()),
            expected,
            "{name}"
        );
    }
}

#[test]
fn fasttext_marks_behind_text_are_text() {
    let read = read("x.ft", "__label__a tea __label__x\n", &ReadOptions::default()).unwrap();
    assert_eq!(read.data.classes.iter().collect::<Vec<_>>(), ["a"]);
    assert_eq!(read.data.rows.row(0).len(), 2, "the mark is a word like others");
}

#[test]
fn csv_fields_may_be_quoted() {
    let text = "\u{feff}id,text,label\r\n1,\"green, \"\"hot\"\"\r\ntea\",a|b\r\n\r\n2,coffee,\n3,tea,\"b\"";
    let read = read("x.csv", text, &ReadOptions::default()).unwrap();
    let expected = [
        row(&["a", "b"], &["green", "hot", "tea"]),
        row(&[], &["coffee"]),
        row(&["b"], &["tea"]),
    ];
    assert_eq!(rows_of(&read), expected);
}

#[test]
fn a_quote_that_never_ends_costs_its_line_alone() {
    let text = "label,text\na,\"green\ntea\"\nb,\"black\nc,red\nd,\"white\"\ne,\"oolong\nf,mint\n";
    let options = ReadOptions {
        skip_bad_rows: true,
        ..ReadOptions::default()
    };
    let read = read("a.csv", text, &options).unwrap();
    let expected = [
        row(&["a"], &["green", "tea"]),
        row(&["c"], &["red"]),
        row(&["d"], &["white"]),
        row(&["f"], &["mint"]),
    ];
    assert_eq!(rows_of(&read), expected);
    let told = "expected a closing quote that ends the field, found none";
    let messages = [format!("a.csv:4:3: {told}"), format!("a.csv:7:3: {told}")];
    assert_eq!(read.report.bad_row_messages, messages);
}

#[test]
fn tsv_quotes_are_characters() {
    let text = "text\tlabels\n\"green\" tea\ta\n\"tea\tb\n";
    let read = read("x.tsv", text, &ReadOptions::default()).unwrap();
    assert_eq!(
        rows_of(&read),
        [row(&["a"], &["green", "tea"]), row(&["b"], &["tea"])]
    );
}

#[test]
fn columns_are_chosen_by_name_or_by_being_the_other_one() {
    let chosen = ReadOptions {
        text_column: Some("title".to_owned()),
        label_column: Some("code".to_owned()),
        weight_column: Some("n".to_owned()),
        ..ReadOptions::default()
    };
    let weighted = read("x.csv", "code,n,title\na,2.5,tea\n", &chosen).unwrap();
    assert_eq!(rows_of(&weighted), [row(&["a"], &["tea"])]);
    assert_eq!(weighted.data.weights, Some(vec![2.5]));
    let guessed = read("x.csv", "title,label\ntea,a\n", &ReadOptions::default()).unwrap();
    assert_eq!(rows_of(&guessed), [row(&["a"], &["tea"])]);
    let guessed = read("x.csv", "text,code\ntea,a\n", &ReadOptions::default()).unwrap();
    assert_eq!(rows_of(&guessed), [row(&["a"], &["tea"])]);
}

#[test]
fn json_labels_may_be_many_things() {
    let text = r#"{"text": "green tea", "label": "a", "other": {"label": [1]}}
{"label": ["b", 7], "text": "t\u00e9 \"tea\""}

{"text": "tea", "labels": null}
{"text": "tea", "label": 7}"#;
    let read = read("x.jsonl", text, &ReadOptions::default()).unwrap();
    let expected = [
        row(&["a"], &["green", "tea"]),
        row(&["b", "7"], &["tea", "té"]),
        row(&[], &["tea"]),
        row(&["7"], &["tea"]),
    ];
    assert_eq!(rows_of(&read), expected);
    let split = ReadOptions {
        label_separator: Some(";".to_owned()),
        ..ReadOptions::default()
    };
    let read = self::read("x.jsonl", r#"{"text": "tea", "label": "a;b"}"#, &split).unwrap();
    assert_eq!(rows_of(&read), [row(&["a", "b"], &["tea"])]);
}

#[test]
fn comments_are_no_rows() {
    let plain = read("x.csv", "text,label\ntea,a\n#pen,b\n", &ReadOptions::default()).unwrap();
    let table = "# tickets\n\n# of April\ntext,label\n#one\ntea,a\n#pen,b\n# the end\n";
    for block_size in [None, Some(1), Some(9)] {
        let options = ReadOptions {
            block_size,
            ..ReadOptions::default()
        };
        assert_eq!(read("x.csv", table, &options).unwrap().data, plain.data);
        let lines =
            "# tickets\n{\"text\": \"tea\", \"label\": \"a\"}\n #\n{\"text\": \"#pen\", \"label\": \"b\"}\n";
        assert_eq!(read("x.jsonl", lines, &options).unwrap().data, plain.data);
    }
}

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-zé]{1,5}", 0..5)
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(
        (
            prop::collection::btree_set("[a-z0-9é]{1,4}", 0..4).prop_map(Vec::from_iter),
            words(),
        ),
        1..20,
    )
}

fn quoted(field: &str, style: u8) -> String {
    match style % 3 {
        0 => format!("\"{}\"", field.replace('"', "\"\"")),
        1 => format!("\"{}\"", field.replace(' ', "\n")),
        _ => field.to_owned(),
    }
}

fn written(format: Format, rows: &[Row], style: u8) -> String {
    let header = match format {
        Format::Csv => "id,label,text\n",
        Format::Tsv => "id\tlabel\ttext\n",
        _ => "",
    };
    let lines = rows.iter().enumerate().map(|(number, (labels, words))| {
        let style = style.wrapping_add(number as u8);
        let (joined, words) = (labels.join("|"), words.join(" "));
        let line = match format {
            Format::Csv => format!("{number},{},{}", quoted(&joined, style), quoted(&words, style)),
            Format::Tsv => format!("{number}\t{joined}\t{words}"),
            Format::FastText => {
                let marked: Vec<String> = labels.iter().map(|label| format!("__label__{label}")).collect();
                format!("{} {words}", marked.join(" "))
            }
            _ => format!("{{\"id\": {number}, \"labels\": {labels:?}, \"text\": {words:?}}}"),
        };
        line + if style.is_multiple_of(2) { "\n" } else { "\r\n" }
    });
    std::iter::once(header.to_owned()).chain(lines).collect()
}

const FORMATS: [(Format, &str); 4] = [
    (Format::Csv, "x.csv"),
    (Format::Tsv, "x.tsv"),
    (Format::FastText, "x.ft"),
    (Format::Jsonl, "x.jsonl"),
];

proptest! {
    #[test]
    fn what_is_written_is_read_back(rows in rows(), style: u8, block_size in 1usize..99, threads in 1usize..5) {
        for (format, name) in FORMATS {
            let text = written(format, &rows, style);
            let options = ReadOptions { block_size: Some(block_size), ..ReadOptions::default() };
            let read = read_training(bytes_source(name, &text), &options, &raw(), &session(threads));
            let mut kept = rows.clone();
            // A line of nothing but blanks is no row in a format without columns.
            kept.retain(|row| format != Format::FastText || !row.0.is_empty() || !row.1.is_empty());
            if kept.iter().all(|row| row.0.is_empty()) {
                prop_assert!(read.is_err());
                continue;
            }
            let read = read.unwrap();
            let labels: ClassNames = kept.iter().flat_map(|row| &row.0).collect();
            let words: ClassNames = kept.iter().flat_map(|row| &row.1).collect();
            prop_assert_eq!(&read.data.classes, &labels, "{}", format);
            for row in &mut kept {
                row.0.sort_by_key(|label| labels.find(label));
                row.1.sort_by_key(|word| words.find(word));
            }
            prop_assert_eq!(rows_of(&read), kept, "{}", format);
        }
    }

    #[test]
    fn random_bytes_never_panic_and_give_the_same_at_any_block_size(
        bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select(b"ab,\t\"\"|{}[]:\n\n\r _".to_vec())], 0..200),
        format in 0usize..4,
        block_size in 1usize..64,
        threads in 1usize..5,
        skip_bad_rows: bool,
    ) {
        let (format, name) = FORMATS[format];
        let bytes = [written(format, &[], 0).into_bytes(), bytes].concat();
        let options = ReadOptions { skip_bad_rows, ..ReadOptions::default() };
        let whole = read_training(bytes_source(name, &bytes), &options, &raw(), &session(1));
        let options = ReadOptions { block_size: Some(block_size), ..options };
        let parts = read_training(bytes_source(name, &bytes), &options, &raw(), &session(threads));
        match (whole, parts) {
            (Ok(whole), Ok(parts)) => {
                prop_assert_eq!(whole.data, parts.data);
                prop_assert_eq!(whole.report, parts.report);
            }
            (Err(whole), Err(parts)) => prop_assert_eq!(whole.to_string(), parts.to_string()),
            (whole, parts) => prop_assert!(false, "{:?} but {:?}", whole.map(|r| r.report), parts.map(|r| r.report)),
        }
    }
}
