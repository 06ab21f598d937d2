//! Rows for a model that is there: in any format with the same content, and as soon as they come.

mod common;
#[path = "common/raw_reading.rs"]
mod raw_reading;

use std::io::Read;
use std::sync::mpsc::{Receiver, channel};

use common::{bytes_source, session};
use memoir::Error;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{Block, PrepOptions, TrainingData, read_training, read_with, stream_with};
use memoir::text::RowNeeds;
use raw_reading::{raw, read};

#[test]
fn a_text_model_reads_labelled_text_and_raw_lines_alike() {
    let prep = PrepOptions {
        needs: RowNeeds {
            constant: true,
            ..RowNeeds::default()
        },
        ..PrepOptions::default()
    };
    let csv = "text,label\ngreen tea,a\ncoffee,b\n";
    let training = read_training(
        bytes_source("x.csv", csv),
        &ReadOptions::default(),
        &prep,
        &session(1),
    )
    .unwrap();
    let (again, report) = read_with(
        bytes_source("y.jsonl", r#"{"text": "Green, unknown tea", "label": "z"}"#),
        &ReadOptions::default(),
        &training.preprocessing,
        &training.data.classes,
        &session(1),
    )
    .unwrap();
    assert_eq!(again.rows.row(0), training.data.rows.row(0));
    assert_eq!((again.labels.row(0), report.unknown_classes), ([2].as_slice(), 1));
    let mut blocks = Vec::new();
    let lines = bytes_source("y.txt", "green tea\r\n\ncoffee");
    stream_with(
        lines,
        &ReadOptions::default(),
        &training.preprocessing,
        &session(2),
        |block| {
            blocks.push(block);
            Ok(())
        },
    )
    .unwrap();
    let rows: Vec<_> = blocks.iter().flat_map(|block| block.rows.iter()).collect();
    assert_eq!(
        rows.len(),
        3,
        "a blank line is a row, so that answers stay beside their questions"
    );
    assert_eq!(
        (rows[0], rows[2]),
        (training.data.rows.row(0), training.data.rows.row(1))
    );
    assert_eq!(rows[1].values, [1.0], "only the constant");
}

#[test]
fn models_say_what_they_want() {
    let text = read("x.csv", "text,label\ntea,a\n", &ReadOptions::default()).unwrap();
    let vectors = read_training(
        bytes_source("x.svm", "a 1:1\n"),
        &ReadOptions::default(),
        &raw(),
        &session(1),
    )
    .unwrap();
    let message = |name: &str, content: &str, training: &TrainingData| {
        let source = bytes_source(name, content);
        let read = stream_with(
            source,
            &ReadOptions::default(),
            &training.preprocessing,
            &session(1),
            |_| Ok(()),
        );
        let problem = read.unwrap_err();
        assert!(matches!(problem, Error::Mismatch(_)));
        problem.to_string()
    };
    assert_eq!(
        message("y.svm", "a 1:1\n", &text),
        "the model was trained on text, but y.svm holds vectors; give it one of the formats fasttext, csv, tsv, jsonl, lines"
    );
    assert_eq!(
        message("y.csv", "text\ntea\n", &vectors),
        "the model was trained on vectors, but y.csv holds text; give it one of the formats libsvm, xmc"
    );
    // Where the name does not tell, the content does.
    assert_eq!(
        message("y.txt", "a 1:1 2:1 3:1\n", &text),
        "the model was trained on text, but y.txt holds vectors; give it one of the formats fasttext, csv, tsv, jsonl, lines"
    );
    assert_eq!(
        message("y.txt", "green tea\n", &vectors),
        "the model was trained on vectors, but y.txt holds text; give it one of the formats libsvm, xmc"
    );
}

/// Gives what is sent to it, and waits for more.
struct Typist {
    typing: Receiver<&'static str>,
    unread: &'static [u8],
}

impl Read for Typist {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.unread.is_empty() {
            self.unread = self.typing.recv().map_or(&[], str::as_bytes);
        }
        self.unread.read(buffer)
    }
}

#[test]
fn what_is_typed_is_answered_before_more_is_typed() {
    let training = read("x.csv", "text,label\ntea,a\n", &ReadOptions::default()).unwrap();
    let (typing, typed) = channel();
    let typist = Typist {
        typing: typed,
        unread: &[],
    };
    typing.send("tea\n").unwrap();
    let mut typing = Some(typing);
    let mut answered = 0;
    let report = stream_with(
        Source::from_reader("typed.txt", typist),
        &ReadOptions::default(),
        &training.preprocessing,
        &session(2),
        |block: Block| {
            answered += block.rows.len();
            match answered {
                // Nobody types on before the first line is answered, so waiting for more would never end.
                1 => drop(typing.as_ref().map(|typing| typing.send("coffee\nte"))),
                2 => drop(typing.take()),
                _ => {}
            }
            Ok(())
        },
    );
    assert_eq!((report.unwrap().rows, answered), (3, 3));
}
