use std::num::NonZeroUsize;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::dataset::Dataset;
use crate::model::{Linear, Scorer, Scratch};
use crate::params::Parameters;
use crate::sparse::RowView;

pub(super) fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

pub(super) fn train(penalty: Penalty, given: &[(&str, &str)], data: &Dataset, threads: usize) -> Linear {
    let (settings, oracle) = settings(penalty, given);
    let mut oracle = oracle.build(0);
    descent::descend(
        &settings,
        start(data),
        oracle.as_mut(),
        data,
        None,
        &session(threads),
    )
    .unwrap()
}

pub(super) fn start(data: &Dataset) -> ClassRows {
    ClassRows::new(data.classes.len(), data.rows.width())
}

/// The settings of `memoir-l2` or `memoir-l1` with these parameters.
pub(super) fn settings(penalty: Penalty, given: &[(&str, &str)]) -> (Settings, OracleKind) {
    let given = given.iter().copied();
    match penalty {
        Penalty::SquaredL2 => {
            let params = MemoirL2Params::parse(given).unwrap();
            (params.settings(penalty), (&params.search).into())
        }
        Penalty::L1 => {
            let params = MemoirL1Params::parse(given).unwrap();
            (params.settings(penalty), (&params.search).into())
        }
    }
}

/// Rows of `classes` classes: three words of the class's own five, two that any row may have, and the
/// constant.
pub(super) fn separable(classes: u32, rows: u32) -> Dataset {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut data = Dataset {
        classes: (0..classes).map(|class| class.to_string()).collect(),
        ..Dataset::default()
    };
    for row in 0..rows {
        let class = row % classes;
        let mut entries: Vec<_> = (0..3)
            .map(|_| (class * 5 + random.random_range(0..5), 0.5))
            .collect();
        entries.extend((0..2).map(|_| (classes * 5 + random.random_range(0..20), 0.4)));
        entries.push((classes * 5 + 20, 1.0));
        data.rows.push_unsorted(&mut entries);
        data.labels.push([class]);
    }
    data
}

fn accuracy(scorer: &dyn Scorer, data: &Dataset) -> f64 {
    finish::evaluate(scorer, data, &session(2)).unwrap().accuracy()
}

pub(super) fn weights(linear: &Linear) -> Vec<Vec<(u32, f32)>> {
    (0..linear.classes() as u32)
        .map(|class| linear.class_weights(class).unwrap())
        .collect()
}

#[test]
fn both_algorithms_learn_with_every_real_oracle() {
    let data = separable(60, 600);
    for penalty in [Penalty::SquaredL2, Penalty::L1] {
        for oracle in ["exact", "simple-lsh", "sw-graph"] {
            let linear = train(penalty, &[("oracle", oracle)], &data, 2);
            let accuracy = accuracy(&linear, &data);
            // The paper's learners are weak, but one in sixty is what guessing gives.
            assert!(accuracy > 0.5, "{penalty:?} with {oracle}: {accuracy}");
        }
    }
}

#[test]
fn the_same_weights_at_any_number_of_threads() {
    let data = separable(40, 200);
    for penalty in [Penalty::SquaredL2, Penalty::L1] {
        for oracle in ["exact", "random", "simple-lsh", "sw-graph"] {
            let given = [("oracle", oracle), ("iterations", "6"), ("average", "on")];
            let one = weights(&train(penalty, &given, &data, 1));
            assert!(
                one == weights(&train(penalty, &given, &data, 3)),
                "{penalty:?} with {oracle}"
            );
        }
    }
}

/// Two classes, one row each, batches of one: every number can be followed by hand.
#[test]
fn two_steps_of_algorithm_1_by_hand() {
    let mut data = Dataset {
        classes: ["a", "b"].into_iter().collect(),
        ..Dataset::default()
    };
    data.rows.push(RowView {
        indices: &[0],
        values: &[1.0],
    });
    data.labels.push([0]);
    data.rows.set_width(1);
    data.classes.intern("b");
    // Only class a has rows: each example is (x = 1, y = a), its rival b.
    let given = [
        ("batch-size", "2"),
        ("iterations", "2"),
        ("step-size", "0.2"),
        ("step-decay", "0"),
        ("lambda", "0.5"),
        ("prediction", "dot"),
    ];
    // t=1: w = ±0.2 (mean of two equal steps). t=2: shrink by 0.9, add 0.2: ±0.38. Norm 0.54 < 1/sqrt(0.5).
    let linear = train(Penalty::SquaredL2, &given, &data, 1);
    let near = |got: f32, expected: f32| assert!((got - expected).abs() < 1e-5, "{got} is not {expected}");
    near(weights(&linear)[0][0].1, 0.38);
    near(weights(&linear)[1][0].1, -0.38);
    // With the mean of both iterations: (0.2 + 0.38) / 2.
    let mean = train(
        Penalty::SquaredL2,
        &[&given[..], &[("average", "on")]].concat(),
        &data,
        1,
    );
    near(weights(&mean)[0][0].1, 0.29);
    // A large step leaves the ball of radius 1/sqrt(lambda) and is projected back: both weights are 1/sqrt(2
    // * 0.5).
    let large = [
        ("step-size", "1.9"),
        ("step-decay", "0"),
        ("lambda", "0.5"),
        ("iterations", "3"),
        ("prediction", "dot"),
    ];
    near(weights(&train(Penalty::SquaredL2, &large, &data, 1))[0][0].1, 1.0);
    // Algorithm 2: no shrinking; C/|R| = 1, so the threshold is lambda * step = 0.02: 0.18, then 0.36.
    let l1 = [&given[..4], &[("lambda", "0.1"), ("prediction", "dot")]].concat();
    let linear = train(Penalty::L1, &l1, &data, 1);
    near(weights(&linear)[0][0].1, 0.36);
    // Margin test: after a step of 1, 1 + (-1 - 1) is not above 0, so nothing is added; only Truncate acts.
    let tested = [
        ("step-size", "1"),
        ("step-decay", "0"),
        ("iterations", "2"),
        ("lambda", "0.1"),
        ("prediction", "dot"),
    ];
    near(weights(&train(Penalty::L1, &tested, &data, 1))[0][0].1, 0.8);
}

#[test]
fn cosine_prediction_has_class_vectors_of_unit_length() {
    let data = separable(20, 100);
    let linear = train(Penalty::SquaredL2, &[], &data, 2);
    for vector in weights(&linear) {
        let square: f32 = vector.iter().map(|(_, weight)| weight * weight).sum();
        assert!((square - 1.0).abs() < 1e-4, "{square}");
    }
}

#[test]
fn a_larger_lambda_makes_the_l1_model_smaller() {
    let data = separable(60, 300);
    let size = |lambda| train(Penalty::L1, &[("lambda", lambda)], &data, 2).stored_weights();
    let (light, heavy) = (size("0.000001"), size("0.001"));
    assert!(heavy < light / 2, "{heavy} of {light}");
}

fn train_reduced(given: &[(&str, &str)], data: &Dataset, threads: usize) -> Box<dyn Scorer> {
    let trainer = reduced::ReducedTrainer::new(&MemoirLshParams::parse(given.iter().copied()).unwrap());
    let request = TrainRequest::new(data.clone());
    trainer.train(request, &session(threads)).unwrap().scorer
}

#[test]
fn reduced_rows_are_learned_with_every_real_oracle() {
    let data = separable(60, 600);
    for oracle in ["exact", "simple-lsh", "sw-graph"] {
        let scorer = train_reduced(&[("dimensions", "100"), ("oracle", oracle)], &data, 2);
        let accuracy = accuracy(scorer.as_ref(), &data);
        assert!(accuracy > 0.5, "{oracle}: {accuracy}");
    }
    let few = train_reduced(&[("dimensions", "5")], &data, 2);
    let all = train_reduced(&[("dimensions", "2048")], &data, 2);
    let (few, all) = (accuracy(few.as_ref(), &data), accuracy(all.as_ref(), &data));
    assert!(
        few < all - 0.1,
        "five dimensions cannot tell sixty classes apart: {few}, {all}"
    );
}

/// With all dimensions a reduction is a rotation, which changes no inner product: the same scores as
/// `memoir-l2`.
#[test]
fn without_loss_of_dimensions_reduced_training_is_algorithm_1() {
    let data = separable(30, 200);
    let given = [
        ("oracle", "exact"),
        ("iterations", "8"),
        ("margin-test", "on"),
        ("average", "on"),
    ];
    let linear = train(Penalty::SquaredL2, &given, &data, 1);
    let settings = [
        &given[..],
        &[
            ("dimensions", "2048"),
            ("step-size", "0.1"),
            ("svd-multiplications", "8"),
        ],
    ];
    let reduced = train_reduced(&settings.concat(), &data, 1);
    let (mut best, mut same) = (Vec::new(), 0);
    for row in data.rows.iter() {
        let scores = linear.scores(row);
        reduced.top_k(row, 30, &mut Scratch::default(), &mut best);
        same += best
            .iter()
            .filter(|b| (b.score - scores[b.class as usize]).abs() < 0.02)
            .count();
    }
    // Rounding may tip a choice between equal rivals.
    assert!(same > 200 * 30 * 97 / 100, "{same} of 6000 scores");
}

#[test]
fn the_same_reduced_model_at_any_number_of_threads() {
    let data = separable(40, 200);
    for oracle in ["exact", "simple-lsh", "sw-graph"] {
        let given = [
            ("oracle", oracle),
            ("iterations", "5"),
            ("average", "on"),
            ("dimensions", "70"),
        ];
        let bytes = |threads| {
            let scorer = train_reduced(&given, &data, threads);
            let arrays = scorer.tensors();
            arrays
                .iter()
                .map(|(_, array)| array.bytes().to_vec())
                .collect::<Vec<_>>()
        };
        assert!(bytes(1) == bytes(3), "{oracle}");
    }
}

struct Count(std::sync::atomic::AtomicUsize);
impl crate::Observer for Count {
    fn notice(&self, event: crate::Event<'_>) {
        if matches!(event, crate::Event::HeldOut { .. }) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

#[test]
fn held_out_rows_decide_when_to_stop() {
    let data = separable(30, 300);
    let (settings, _) = settings(Penalty::SquaredL2, &[("iterations", "500"), ("patience", "2")]);
    let count = Count(0.into());
    let session = session(2).with_observer(&count);
    let mut oracle = OracleKind::Exact.build(0);
    let linear = descent::descend(
        &settings,
        start(&data),
        oracle.as_mut(),
        &data,
        Some(&data),
        &session,
    )
    .unwrap();
    let iterations = count.0.load(std::sync::atomic::Ordering::Relaxed);
    assert!(iterations < 100, "{iterations}");
    assert!(accuracy(&linear, &data) > 0.5);
}

#[test]
fn labels_of_one_row_are_no_rivals_of_each_other() {
    let mut data = separable(2, 0);
    data.rows.push(RowView {
        indices: &[0],
        values: &[1.0],
    });
    data.labels.push([0, 1]);
    let linear = train(Penalty::SquaredL2, &[("prediction", "dot")], &data, 1);
    // There is no third class, so there is nothing to push away and nothing to learn.
    assert_eq!(linear.stored_weights(), 0);
    let mut best = Vec::new();
    linear.top_k(data.rows.row(0), 2, &mut Scratch::default(), &mut best);
    assert_eq!(best.len(), 2);
}
