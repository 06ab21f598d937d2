//! Rows with several labels each, from texts and from vectors.
//!
//! `cargo run --release --example several_labels`

use memoir::{Classifier, Result};

pub(crate) fn main() -> Result<()> {
    let texts = [
        "rust on linux",
        "rust on windows",
        "python on linux",
        "python on windows",
    ];
    let label_sets = [
        ["rust", "linux"],
        ["rust", "windows"],
        ["python", "linux"],
        ["python", "windows"],
    ];
    let model = Classifier::softmax().fit_multi(&texts, &label_sets)?;
    let answers = model.predict("a python program for linux", 2)?;
    let mut names: Vec<_> = answers.iter().map(|answer| answer.class).collect();
    names.sort_unstable();
    println!("{names:?}");
    assert_eq!(names, ["linux", "python"]);

    // The same with features that the caller has numbered.
    let rows = [
        [(0, 1.0), (2, 1.0)],
        [(0, 1.0), (3, 1.0)],
        [(1, 1.0), (2, 1.0)],
        [(1, 1.0), (3, 1.0)],
    ];
    let model = Classifier::centroid().fit_rows_multi(rows, &label_sets)?;
    let best = model.predict_row(&[(1, 1.0), (2, 1.0)], 2)?;
    assert!(best.iter().all(|answer| names.contains(&answer.class)));
    Ok(())
}
