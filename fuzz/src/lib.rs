//! What the targets share: small models of every kind, files with their checksums repaired, and a way to use
//! all that a model offers.

mod described_models;
pub mod edits;
pub mod models;

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use memoir::{Catalogue, Model, Rows, Session};

/// One thread: the same input always does the same.
pub static SESSION: LazyLock<Session<'static>> =
    LazyLock::new(|| Session::new(NonZeroUsize::MIN).expect("a thread"));

/// Where a run may put its files; the next one writes over them. In `TMPDIR`, best a file system in memory.
pub static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

/// All algorithms and kinds of scorers.
pub static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::new().with(memoir_baselines::ALGORITHMS, memoir_baselines::SCORERS));

/// Uses a model in every way; whatever it holds, nothing may panic. What can be written must be readable.
pub fn use_model(model: &Model) {
    // All of it in the session's thread: handing over takes longer than what is handed over.
    SESSION.run(|| use_in_thread(model, &SESSION));
}

fn use_in_thread(model: &Model, session: &Session<'_>) {
    let classes = model.classes().len();
    let mut rows = Rows::new();
    for entries in [
        vec![(0, 1.0), (2, 3.0)],
        vec![(1, 2.0)],
        vec![],
        vec![(7, -1.0), (9, 0.5)],
    ] {
        rows.push_unsorted(&mut entries.clone());
    }
    for k in [1, 3, 20] {
        if let Ok(predictions) = model.predict_rows(&rows, k, session) {
            assert!(
                predictions
                    .iter()
                    .flatten()
                    .all(|scored| (scored.class as usize) < classes)
            );
        }
        let _ = model.predict_probabilities(&rows, k, session);
    }
    let _ = model.explain_row(rows.row(0));
    let _ = model.predictor().text("red apple pie", 3).map(<[_]>::len);
    let _ = model
        .predictor()
        .vector(&mut vec![(1, 1.0), (3, 2.0)], 3)
        .map(<[_]>::len);
    for class in 0..classes.min(2) as u32 {
        let _ = model.class_features(class, 3, session);
    }
    let _ = model.summary();
    if let Ok(bytes) = model.to_bytes() {
        Model::from_bytes(&bytes, &CATALOGUE).expect("what is written can be read");
    }
}
