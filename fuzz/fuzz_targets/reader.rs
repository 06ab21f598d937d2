//! Any bytes as training data, in every format and with options that change how they are read.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{self, PrepOptions};
use memoir_fuzz::SESSION;

const NAMES: [&str; 8] = [
    "a.svm",
    "a.xmc",
    "a.fasttext",
    "a.csv",
    "a.tsv",
    "a.jsonl",
    "a",
    "a.txt",
];
const FORMATS: [&str; 8] = ["libsvm", "xmc", "fasttext", "csv", "tsv", "jsonl", "", ""];

fuzz_target!(|bytes: &[u8]| {
    let Some((&[choice, flags], content)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let choice = usize::from(choice % 8);
    let is_set = |bit: u8| flags & (1 << bit) != 0;
    let options = ReadOptions {
        format: FORMATS[choice].parse().ok(),
        no_header: is_set(0),
        skip_bad_rows: is_set(1),
        single_label: is_set(2),
        zero_based: is_set(3),
        weight_column: is_set(4).then(|| "weight".to_owned()),
        label_separator: is_set(5).then(|| ";".to_owned()),
        delimiter: is_set(6).then_some(b';'),
        block_size: is_set(7).then_some(16),
        ..ReadOptions::default()
    };
    // Numbers of features are limited, but even so a row of one entry would take long.
    if content.windows(7).any(|run| run.iter().all(u8::is_ascii_digit)) {
        return;
    }
    let source = Source::from_reader(NAMES[choice], Cursor::new(content.to_vec()));
    // In the session's thread: handing over takes longer than what is handed over.
    let read = || prepare::read_training(source, &options, &PrepOptions::default(), &SESSION);
    if let Ok(training) = SESSION.run(read) {
        assert_eq!(training.data.rows.len(), training.data.labels.len());
        assert!(training.data.rows.values().iter().all(|value| value.is_finite()));
    }
});
