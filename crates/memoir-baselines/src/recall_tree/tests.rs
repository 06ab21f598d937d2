//! Whole recall trees: quality, determinism, edge cases.

use memoir::model::{Scorer, Scratch, Tensor};
use memoir::params::Parameters;
use memoir::{RowView, Scored};

use super::*;
use crate::test_data::{dataset, random_dataset, session};

fn train(data: &Dataset, given: &[(&str, &str)], session: &Session<'_>) -> Result<Box<dyn Scorer>> {
    let params = RecallTreeParams::parse(given.iter().copied())?;
    let request = TrainRequest::new(data.clone());
    Ok(RecallTree::new(&params).train(request, session)?.scorer)
}

fn top(scorer: &dyn Scorer, row: RowView<'_>, k: usize) -> Vec<Scored> {
    let mut out = Vec::new();
    scorer.top_k(row, k, &mut Scratch::default(), &mut out);
    out
}

fn accuracy(scorer: &dyn Scorer, data: &Dataset) -> f64 {
    let right = (0..data.len()).filter(|&row| {
        let best = top(scorer, data.rows.row(row), 1);
        data.labels.row(row).contains(&best[0].class)
    });
    right.count() as f64 / data.len() as f64
}

fn bytes(scorer: &dyn Scorer) -> Vec<(String, Vec<u8>)> {
    let tensors = scorer.tensors().into_iter();
    tensors
        .map(|(name, tensor)| (name, tensor.bytes().to_vec()))
        .collect()
}

#[test]
fn classes_with_features_of_their_own_are_told_apart() {
    let data = random_dataset(2, 600, 60, 16, 6);
    for loss in ["logistic", "hinge"] {
        for candidates in ["4", "16"] {
            let given = [("loss", loss), ("max-candidates", candidates), ("bits", "16")];
            let scorer = train(&data, &given, &session(1)).unwrap();
            let found = accuracy(&*scorer, &data);
            // Four candidates need routers that keep similar rows together; with sixteen all classes
            // compete.
            let floor = if candidates == "4" { 0.4 } else { 0.8 };
            assert!(found > floor, "{loss}, {candidates} candidates: {found}");
        }
    }
}

#[test]
fn routers_raise_the_recall_of_few_candidates() {
    // 16 classes of equal size: without routers, two candidates hold the right class in an eighth of the
    // rows.
    let rows: Vec<_> = (0..1600u32)
        .map(|row| (vec![(row % 16, 1.0)], vec![row % 16]))
        .collect();
    let data = dataset(&rows, 16);
    let given = |depth| {
        [
            ("max-candidates", "2"),
            ("max-depth", depth),
            ("confidence", "0.1"),
        ]
    };
    let flat = train(&data, &given("0"), &session(1)).unwrap();
    let deep = train(&data, &given("6"), &session(1)).unwrap();
    assert!(accuracy(&*flat, &data) < 0.13);
    assert!(accuracy(&*deep, &data) > 0.5, "{}", accuracy(&*deep, &data));
    let children = deep
        .tensors()
        .into_iter()
        .find(|(name, _)| name == "tree.children");
    assert!(matches!(children, Some((_, Tensor::U32(children))) if children.iter().any(|&child| child > 0)));
}

/// The original's `4 log2 C`, and ours: as if the number had been given.
#[test]
fn candidates_per_level_are_multiplied_by_the_logarithm_of_the_classes() {
    let data = random_dataset(4, 300, 40, 20, 9);
    let run = |given: [(&str, &str); 2]| bytes(&*train(&data, &given, &session(1)).unwrap());
    // log2 of 20 classes is rounded up to 5.
    for (each, all) in [("1", "5"), ("2", "10"), ("4", "20")] {
        assert_eq!(
            run([("candidates-per-level", each), ("bits", "14")]),
            run([("max-candidates", all), ("bits", "14")])
        );
    }
    assert_ne!(
        run([("candidates-per-level", "1"), ("bits", "14")]),
        run([("candidates-per-level", "2"), ("bits", "14")])
    );
}

#[test]
fn candidates_come_first_and_all_other_classes_behind() {
    let data = random_dataset(2, 200, 30, 10, 9);
    let scorer = train(&data, &[("max-candidates", "3"), ("bits", "14")], &session(1)).unwrap();
    for row in data.rows.iter().take(30) {
        let all = top(&*scorer, row, 50);
        assert_eq!(all.len(), 10);
        assert!(all[0].score > f32::NEG_INFINITY && all[3].score == f32::NEG_INFINITY);
        let mut classes: Vec<u32> = all.iter().map(|scored| scored.class).collect();
        classes.sort_unstable();
        assert_eq!(classes, (0..10).collect::<Vec<_>>());
        assert_eq!(top(&*scorer, row, 2), all[..2]);
    }
}

#[test]
fn the_same_at_any_thread_count_and_another_with_another_seed() {
    let data = random_dataset(7, 300, 40, 12, 4);
    let run = |threads, seed| {
        let session = session(threads).with_seed(seed);
        bytes(&*train(&data, &[("bits", "14")], &session).unwrap())
    };
    let one = run(1, 3);
    assert_eq!(one, run(2, 3));
    assert_eq!(one, run(4, 3));
    assert_ne!(one, run(1, 4));
}

#[test]
fn one_row_one_class_and_empty_rows() {
    let one = dataset(&[(vec![(2, 1.0)], vec![0])], 1);
    let scorer = train(&one, &[("bits", "8")], &session(1)).unwrap();
    assert_eq!(top(&*scorer, one.rows.row(0), 5)[0].class, 0);
    let mut rows = vec![(vec![], vec![1]); 20];
    rows.extend(vec![(vec![], vec![0]); 5]);
    let empty = dataset(&rows, 3);
    let scorer = train(&empty, &[("bits", "10")], &session(1)).unwrap();
    assert_eq!(top(&*scorer, empty.rows.row(0), 3)[0].class, 1);
    let unlabelled = dataset(&[(vec![(0, 1.0)], vec![])], 1);
    let message = train(&unlabelled, &[], &session(1))
        .err()
        .map(|error| error.to_string());
    assert_eq!(
        message.as_deref(),
        Some("there is nothing to learn from: no row has a label")
    );
}

#[test]
fn rows_of_weight_zero_teach_nothing() {
    let mut data = dataset(&[(vec![(0, 1.0)], vec![0]), (vec![(0, 1.0)], vec![1])], 2);
    data.weights = Some(vec![0.0, 1.0]);
    let scorer = train(&data, &[("bits", "8")], &session(1)).unwrap();
    let found = top(&*scorer, data.rows.row(0), 2);
    assert_eq!((found[0].class, found[1].score), (1, f32::NEG_INFINITY));
}

#[test]
fn a_raised_flag_stops_training() {
    let data = random_dataset(1, 50, 20, 4, 9);
    let session = session(1);
    session.cancel().raise();
    assert!(matches!(train(&data, &[], &session), Err(Error::Cancelled)));
}
