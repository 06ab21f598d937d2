//! A small model of every kind, as the bytes of its file.

use std::sync::LazyLock;

use memoir::class_vocabulary::UnmatchedVocabulary;
use memoir::data::{ReadOptions, Source};
use memoir::model::Precision;
use memoir::prepare::{Examples, VocabularyRequest};
use memoir::text::TextSettings;
use memoir::train::{self, FitOptions, HeldOut};
use memoir::{Model, Result};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{CATALOGUE, SESSION};

const TEXTS: &str = "label,text\nfruit,red apple pie\nfruit,green pear and apple\nsky,blue sky\nsky,grey cloud in the \
    sky\nmud|sky,brown mud under a grey sky\nmud,wet mud\nfruit|mud,an apple in the mud\n";
const VECTORS: &str = "1 1:1 3:2\n2 2:1 4:1.5\n1,2 1:2 2:1\n3 5:1\n3 5:2 1:1\n2 4:3\n";

/// Trains a small model of text or of vectors.
fn trained(algorithm: &str, text: bool, held_out: bool) -> Result<Model> {
    // Tables of weights have four million entries otherwise, and every run would copy them.
    let small: &[_] = if algorithm == "recall-tree" {
        &[("bits", "8")]
    } else {
        &[]
    };
    let method = CATALOGUE.find(algorithm)?.configure(small.iter().copied())?;
    // Enough rows for a calibration where that is wanted.
    let content = if text { TEXTS } else { VECTORS }.to_owned();
    let content = if held_out {
        let (head, body) = content.split_once('\n').unwrap_or_default();
        let head = if text { format!("{head}\n") } else { String::new() };
        head + &format!("{body}").repeat(60)
    } else {
        content
    };
    let name = if text { "a.csv" } else { "a.svm" };
    let source = Source::from_reader(name, std::io::Cursor::new(content.into_bytes()));
    let options = ReadOptions {
        format: Some(if text { "csv" } else { "libsvm" }.parse()?),
        ..ReadOptions::default()
    };
    let fit = FitOptions {
        held_out: if held_out {
            HeldOut::Share(0.4)
        } else {
            HeldOut::Nothing
        },
        ..FitOptions::default()
    };
    let examples = Examples::Read {
        source,
        options: &options,
    };
    train::fit(&method, examples, fit, &SESSION)
}

/// Trains a small model that looks for the names of its classes in texts: these open with the name of their
/// class and end with those of others.
fn named() -> Result<Model> {
    let mut content = "label,text\n".to_owned();
    for row in 0..300u32 {
        let drawn = |salt: u64, below: u64| xxh3_64_with_seed(&row.to_le_bytes(), salt) % below;
        let class = drawn(0, 100);
        content += &format!("topic{class},topic{class}");
        for salt in 1..15 {
            content += &format!(" word{}", drawn(salt, 40));
        }
        for salt in 30..33 {
            content += &format!(" topic{}", drawn(salt, 100));
        }
        content.push('\n');
    }
    let method = CATALOGUE.find("softmax")?.configure([])?;
    let source = Source::from_reader("a.csv", std::io::Cursor::new(content.into_bytes()));
    let options = ReadOptions {
        format: Some("csv".parse()?),
        ..ReadOptions::default()
    };
    let names = UnmatchedVocabulary::Labels {
        names: true,
        rule: None,
    };
    let fit = FitOptions {
        text: TextSettings {
            blocks: Some("words,opening:0.2".to_owned()),
            ..TextSettings::default()
        },
        vocabulary: Some(VocabularyRequest::from(names)),
        held_out: HeldOut::Share(0.4),
        ..FitOptions::default()
    };
    let examples = Examples::Read {
        source,
        options: &options,
    };
    train::fit(&method, examples, fit, &SESSION)
}

/// The files of small models: every algorithm on texts and vectors, packed ones, merged classes, calibrated
/// ones, one that looks for names.
pub static MODELS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut files = Vec::new();
    let mut add = |model: Result<Model>| {
        if let Ok(bytes) = model.and_then(|model| model.to_bytes()) {
            files.push(bytes);
        }
    };
    for algorithm in CATALOGUE.algorithms() {
        for text in [true, false] {
            add(trained(algorithm.name, text, false));
            add(trained(algorithm.name, text, true));
        }
    }
    for algorithm in ["softmax", "centroid", "memoir-lsh", "recall-tree"] {
        for precision in [Precision::F16, Precision::Int8] {
            add(trained(algorithm, true, false).and_then(|model| model.with_precision(precision)));
        }
        let merged = || trained(algorithm, true, false)?.merge_classes(&["fruit", "mud"], "both");
        add(merged());
        add(merged().and_then(|model| model.with_precision(Precision::Int8)));
    }
    let with_names = named();
    let is_named = |model: &Model| model.summary().is_ok_and(|about| about.scorer == "named");
    assert!(
        with_names.as_ref().is_ok_and(is_named),
        "names must be looked for in texts"
    );
    add(with_names);
    assert!(files.len() > 20, "only {} models could be made", files.len());
    let largest = files.iter().map(Vec::len).max();
    assert!(
        largest < Some(100_000),
        "a model of {largest:?} bytes makes every run slow"
    );
    files
});
