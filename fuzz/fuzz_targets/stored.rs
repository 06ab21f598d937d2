//! Any bytes as a file that has to be unpacked or decoded before it is read: compressed, in an archive, in
//! other encodings than UTF-8.
#![no_main]

use std::fs;

use encoding_rs::Encoding;
use libfuzzer_sys::fuzz_target;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{self, PrepOptions};
use memoir_fuzz::SESSION;

const NAMES: [&str; 8] = [
    "a.csv.gz",
    "a.csv.zst",
    "a.csv.xz",
    "a.csv.bz2",
    "a.zip",
    "a.csv",
    "a.tsv",
    "a.jsonl",
];
const ENCODINGS: [Option<&str>; 4] = [None, Some("utf-16"), Some("latin1"), Some("utf-8")];

fuzz_target!(|bytes: &[u8]| {
    let Some((&[choice, encoding], content)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let path = memoir_fuzz::FOLDER.path().join(NAMES[usize::from(choice % 8)]);
    fs::write(&path, content).expect("a file");
    let options = ReadOptions {
        encoding: ENCODINGS[usize::from(encoding % 4)].and_then(|name| Encoding::for_label(name.as_bytes())),
        ..ReadOptions::default()
    };
    let source = Source::new(&path);
    let read = || prepare::read_training(source, &options, &PrepOptions::default(), &SESSION);
    if let Ok(training) = SESSION.run(read) {
        assert_eq!(training.data.rows.len(), training.data.labels.len());
    }
});
