//! A small model of every kind, as the bytes of its file.

use std::sync::LazyLock;

use memoir::data::{ReadOptions, Source};
use memoir::model::Precision;
use memoir::prepare::Examples;
use memoir::train::{self, FitOptions, HeldOut};
use memoir::{Model, Result};

use crate::described_models::{Knowledge, described};
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

/// The files of small models: every algorithm on texts and vectors, packed ones, merged classes, calibrated
/// ones, those that know names or a hierarchy of their classes.
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
    for knowledge in Knowledge::ALL {
        let model = || described(knowledge);
        let scorer = model().and_then(|model| Ok(model.summary()?.scorer));
        let wanted = knowledge.scorer();
        assert!(
            matches!(&scorer, Ok(found) if *found == wanted),
            "{scorer:?} and not {wanted} for {knowledge:?}"
        );
        add(model());
        add(model().and_then(|model| model.with_precision(Precision::Int8)));
        add(model().and_then(|model| model.merge_classes(&["area1/topic1", "area2/topic1"], "both")));
    }
    assert!(files.len() > 20, "only {} models could be made", files.len());
    let largest = files.iter().map(Vec::len).max();
    assert!(
        largest < Some(100_000),
        "a model of {largest:?} bytes makes every run slow"
    );
    files
});
