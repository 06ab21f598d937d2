//! Model files: what is written is read back, nothing damaged is accepted, nothing hostile is obeyed.

mod compact;
mod damaged;
mod document_reader;
mod fixtures;
mod hostile;
mod round_trip;
mod specification;
mod vocabulary;
mod written;

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use memoir::model::{
    FixedScorer, LinearBuilder, ModelParts, Origin, Posting, Precision, Reduced, Reduction, Replay, Scorer,
};
use memoir::params::Value;
use memoir::text::{
    Input, Preprocessing, RowNeeds, TextParams, TextPipeline, Vocabulary, Weighting, WeightingScheme,
};
use memoir::{Catalogue, Dataset, Error, LabelSets, Model, Result, Rows, Session};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// Checks every byte of a file.
fn verify(path: &Path) -> Result<()> {
    Model::verify(path, &Catalogue::new(), &session(2))
}

/// Four rows over four features.
fn rows() -> Rows {
    let mut rows = Rows::new();
    rows.push_unsorted(&mut vec![(0, 1.0), (2, 3.0)]);
    rows.push_unsorted(&mut vec![(1, 2.0), (3, 1.0)]);
    rows.push_unsorted(&mut vec![(3, 5.0)]);
    rows.push_unsorted(&mut vec![]);
    rows
}

/// Two of them as rows to be repeated.
fn kept_rows() -> Option<Replay> {
    let mut data = Dataset {
        rows: rows(),
        ..Dataset::default()
    };
    for labels in [&[0][..], &[2, 0], &[2], &[]] {
        data.labels.push(labels.iter().copied());
    }
    Replay::choose(&[&data], &[1, 0, 3], 2)
}

/// A small model with every array that a linear model can have.
fn model(input: Input, precision: Precision) -> Model {
    let mut builder = LinearBuilder::new(3);
    builder.push_feature([(0, 0.5), (2, -1.25)]);
    builder.push_feature([(1, 1.0)]);
    builder.push_feature([]);
    builder.push_feature([(0, 0.1), (1, 0.2), (2, 0.3)]);
    let params = [
        ("min-weight", Value::Number(1.0)),
        ("rivals", Value::Integer(30)),
        ("mode", Value::Word("fast \u{1F680}".to_owned())),
        ("step", Value::Auto),
    ];
    Model::from(ModelParts {
        classes: ["rök", "", "c \"quoted\"\n"].into_iter().collect(),
        preprocessing: Preprocessing {
            weighting: Weighting::fit(
                WeightingScheme::LogTfIdf,
                RowNeeds::default(),
                &rows(),
                &LabelSets::new(),
            ),
            input,
        },
        scorer: Box::new(builder.finish(precision).with_bias(vec![0.0, -0.5, 0.25])),
        calibration: None,
        replay: kept_rows(),
        vocabulary: None,
        overrides: None,
        origin: Origin {
            reading: None,
            label_kind: None,
            algorithm: "centroid".to_owned(),
            params: params.map(|(name, value)| (name.to_owned(), value)).into(),
            chosen: [("step".to_owned(), Value::Number(0.5))].into(),
            seed: u64::MAX,
            rows: 4,
            row_weights: Some(4.5),
            class_counts: vec![1, 0, 3],
        },
    })
}

/// The same with fixed-point weights, which have no bias.
fn fixed_model<P: Posting>() -> Model
where
    FixedScorer<P>: Scorer,
{
    let postings = [(0, 512), (2, -1280), (1, 1024), (0, 100), (1, 200), (2, 300)];
    let postings = postings.map(|(class, weight)| P::new(class, weight));
    let classes = if P::CLASSES > 1 << 16 { 70_000 } else { 3 };
    let mut parts = model(text(), Precision::F32).into_parts();
    for class in 3..classes {
        parts.classes.intern(&class.to_string());
    }
    parts.origin.class_counts.resize(classes, 0);
    parts.scorer = Box::new(FixedScorer::new(classes, vec![0, 2, 3, 3, 6], postings.to_vec()));
    parts.into()
}

/// The same with dense weights in a space of two dimensions.
fn reduced_model(precision: Precision) -> Model {
    let whole = vec![100i16, -50, 32_767, 0, 1, 2, -3, -32_768];
    let factors = vec![0.01, 1.0 / 32_767.0, 0.0, 0.5];
    let reduction = Reduction::new(2, whole.into(), factors.into()).unwrap();
    let weights = vec![0.5, 0.25, -1.0, 1.5, 0.0, 0.125];
    let mut parts = model(vectors(), Precision::F32).into_parts();
    parts.scorer = Box::new(Reduced::new(3, Arc::new(reduction), weights));
    Model::from(parts).with_precision(precision).unwrap()
}

fn vectors() -> Input {
    Input::Vectors {
        features: 4,
        first: 1,
    }
}

fn text() -> Input {
    let vocabulary: Vocabulary = ["smoke", "on", "the", "wåter"].into_iter().collect();
    Input::Text(Box::new(
        TextPipeline::new(TextParams::default(), vocabulary).unwrap(),
    ))
}

/// A folder in which one file is written and opened again and again.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("model")
    }

    fn save(&self, model: &Model) -> Vec<u8> {
        model.save(self.path()).unwrap();
        fs::read(self.path()).unwrap()
    }

    fn write(&self, bytes: &[u8]) {
        // A new file each time: some file systems wait for the disk when an old one is overwritten.
        let _ = fs::remove_file(self.path());
        fs::write(self.path(), bytes).unwrap();
    }

    fn load(&self, bytes: &[u8]) -> Result<Model, Error> {
        self.write(bytes);
        load(&self.path())
    }

    /// What is wrong with a file of these bytes, without its path.
    fn complaint(&self, bytes: &[u8]) -> String {
        let Err(error) = self.load(bytes) else {
            panic!("the file was accepted");
        };
        let message = error.to_string();
        let prefix = format!("{}: not a usable model file: ", self.path().display());
        assert!(!message.contains('\n'), "more than one line: {message}");
        match message.strip_prefix(&prefix) {
            Some(complaint) => complaint.to_owned(),
            None => panic!("unexpected kind of error: {message}"),
        }
    }
}

fn load(path: &Path) -> Result<Model, Error> {
    Model::load(path, &Catalogue::new())
}

/// Length of the header, its leading eight bytes included.
fn header_length(bytes: &[u8]) -> usize {
    8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize
}

/// Where the array called `name` lies in the file.
fn place(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    let start = header_length(bytes);
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..start]).unwrap();
    let offset = |index: usize| start + header[name]["data_offsets"][index].as_u64().unwrap() as usize;
    offset(0)..offset(1)
}

/// Replaces the header's text and makes all checksums right again: what a hostile writer would do.
fn with_header(bytes: &[u8], change: impl FnOnce(&str) -> String) -> Vec<u8> {
    let start = header_length(bytes);
    let mut header = change(std::str::from_utf8(&bytes[8..start]).unwrap());
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let mut changed = (header.len() as u64).to_le_bytes().to_vec();
    changed.extend_from_slice(header.as_bytes());
    let sum = xxh3_64(&changed);
    changed.extend_from_slice(&bytes[start..bytes.len() - 8]);
    changed.extend_from_slice(&sum.to_le_bytes());
    changed
}

/// Changes the content of the array called `name` and makes its checksum right again.
fn with_array(bytes: &[u8], name: &str, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let range = place(bytes, name);
    change(&mut changed[range.clone()]);
    let sum = xxh3_64(&changed[range.clone()]);
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..header_length(bytes)]).unwrap();
    let starts = header
        .as_object()
        .unwrap()
        .iter()
        .filter(|(other, _)| *other != "__metadata__");
    let number = starts
        .filter(|(_, entry)| {
            header_length(bytes) as u64 + entry["data_offsets"][1].as_u64().unwrap() <= range.start as u64
        })
        .count();
    let slot = place(bytes, "checksums").start + 8 * number;
    changed[slot..slot + 8].copy_from_slice(&sum.to_le_bytes());
    changed
}

#[test]
fn a_summary_says_what_is_in_the_model() {
    let summary = model(text(), Precision::F16).summary().unwrap();
    assert_eq!(
        (summary.classes, summary.features, summary.weights),
        (3, 4, Some(6))
    );
    assert_eq!((summary.input, summary.precision), ("text", Some("f16")));
    assert_eq!(summary.largest_classes[0].name, "c \"quoted\"\n");
    assert_eq!(summary.smallest_classes[0].rows, 0);
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["params"]["rivals"], 30);
    assert_eq!(json["tensors"][0]["element"], "U64");
    assert_eq!(json["weighting"], "log-tf-idf");
}
