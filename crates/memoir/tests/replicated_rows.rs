//! Rows with several labels that count once for each, against a file in which they are written that way.

mod common;

use std::path::Path;

use common::{bytes_source, session};
use memoir::Classifier;
use memoir::data::ReadOptions;
use memoir::eval::{self, EvaluateOptions, Report};

const TRAIN: &str = "0 1:1\n1 2:1\n2 3:1\n3 4:1\n0 1:1 2:0.2\n1 2:1 3:0.2\n2 3:1 4:0.2\n3 4:1 1:0.2\n";
const SEVERAL: &str = "0,1 1:1\n1 2:1\n1,2,3 4:1\n0 3:1\n 2:1\n9,2 3:1\n";
const WRITTEN_OUT: &str = "0 1:1\n1 1:1\n1 2:1\n1 4:1\n2 4:1\n3 4:1\n0 3:1\n 2:1\n9 3:1\n2 3:1\n";

fn report(rows: &str, replicate: bool) -> Report {
    let options = ReadOptions::default();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{replicate}.svm", rows.len()));
    std::fs::write(&path, TRAIN).expect("written");
    let model = Classifier::centroid().fit_file(&path).expect("trained");
    let measures = EvaluateOptions { at: &[2], replicate };
    let rows = bytes_source("rows.svm", rows);
    let (report, _) =
        eval::evaluate_each(&model, rows, &options, measures, &session(1), |_| Ok(())).expect("measured");
    report
}

#[test]
fn replicated_rows_count_as_rows_of_their_own() {
    let written = report(WRITTEN_OUT, false);
    let replicated = report(SEVERAL, true);
    assert_eq!(written, replicated);
    // Nine labels; the best class is 0, 1, 3, 2 and 2, which are labels of four rows.
    assert_eq!((replicated.rows, replicated.unlabelled_rows), (9, 1));
    assert!((replicated.accuracy - 4.0 / 9.0).abs() < 1e-12);
    // As sets of labels: four of five rows.
    let as_sets = report(SEVERAL, false);
    assert_eq!((as_sets.rows, as_sets.unlabelled_rows), (5, 1));
    assert!((as_sets.accuracy - 0.8).abs() < 1e-12);
}
