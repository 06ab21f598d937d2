//! Tests of what the paper's text does and the authors' code does not, and the other way round.

use super::tests::{separable, session, train, weights};
use super::*;
use crate::dataset::Dataset;
use crate::params::Parameters;
use crate::sparse::RowView;

/// One row of one class: each example is (x = 1, y = a), its rival b.
fn one_row() -> Dataset {
    let mut data = Dataset {
        classes: ["a", "b"].into_iter().collect(),
        ..Dataset::default()
    };
    data.rows.push(RowView {
        indices: &[0],
        values: &[1.0],
    });
    data.labels.push([0]);
    data
}

#[test]
fn a_batch_of_whole_steps_and_a_first_step_of_eta_0_by_hand() {
    let given = [
        ("batch-size", "3"),
        ("iterations", "2"),
        ("step-size", "0.1"),
        ("step-decay", "1"),
        ("lambda", "0.5"),
        ("prediction", "dot"),
    ];
    let weight = |more: &[(&str, &str)]| {
        let linear = train(Penalty::SquaredL2, &[&given[..], more].concat(), &one_row(), 1);
        weights(&linear)[0][0].1
    };
    let near = |got: f32, expected: f32| assert!((got - expected).abs() < 1e-5, "{got} is not {expected}");
    // eta_1 = 0.05, eta_2 = 1/30; the mean of three equal examples is one of them.
    let mean = 0.05 * (1.0 - 0.5 / 30.0) + 0.1 / 3.0;
    near(weight(&[]), mean);
    near(weight(&[("step-per", "example")]), 3.0 * mean);
    // eta_0 = 0.1, eta_1 = 0.05.
    near(
        weight(&[("first-iteration", "0")]),
        0.1 * (1.0 - 0.5 * 0.05) + 0.05,
    );
}

#[test]
fn careful_truncation_keeps_more_weights() {
    let data = separable(60, 300);
    let size = |limit| {
        let given = [("lambda", "0.001"), ("truncation-limit", limit)];
        let trainer = MemoirL1Params::parse(given).unwrap().trainer().unwrap();
        let trained = trainer
            .train(TrainRequest::new(data.clone()), &session(2))
            .unwrap();
        let classes = 0..data.classes.len() as u32;
        classes
            .map(|class| trained.scorer.class_weights(class).unwrap().len())
            .sum::<usize>()
    };
    let (always, seldom, never) = (size("1"), size("0.2"), size("0"));
    assert!(always < seldom && seldom <= never, "{always}, {seldom}, {never}");
    let as_printed = train(Penalty::L1, &[("lambda", "0.001")], &data, 2);
    assert_eq!(always, as_printed.stored_weights());
}

/// As the authors do it: words are reduced without the constant, which then stands beside them.
#[test]
fn the_constant_may_be_kept_out_of_the_reduction() {
    let data = separable(40, 400);
    let constant = [(data.rows.width() - 1) as u32];
    let reduced = |after: &str| {
        let given = [("dimensions", "8"), ("constant-after-svd", after)];
        let trainer = reduced::ReducedTrainer::new(&MemoirLshParams::parse(given).unwrap());
        let start = trainer.start(&data, &session(1)).unwrap();
        let apply = |row| {
            let mut reduced = Vec::new();
            start.reduction().apply(row, &mut reduced);
            reduced
        };
        let alone = apply(RowView {
            indices: &constant,
            values: &[1.0],
        });
        (alone, apply(data.rows.row(7)))
    };
    let (alone, row) = reduced("on");
    assert!(alone.len() == 9 && row.len() == 9);
    assert!(alone[..8].iter().all(|&value| value == 0.0) && (alone[8] - 1.0).abs() < 1e-6);
    assert!((row[8] - 1.0).abs() < 1e-6 && row[..8].iter().any(|&value| value.abs() > 0.1));
    // Otherwise it is reduced like a word, and takes part of several dimensions.
    let (alone, _) = reduced("off");
    assert!(alone.len() == 8 && alone.iter().filter(|value| value.abs() > 1e-3).count() > 1);
}
