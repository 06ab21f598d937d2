//! The whole algorithm: against a plain dense version, at several numbers of threads, under budgets, on odd
//! data.

mod dense;

use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::class_slice::ClassSlice;
use super::update::BatchGradients;
use super::*;
use crate::model::{Scorer, Scratch, Tensor};
use crate::params::Parameters;
use crate::sparse::{RowView, Scored};
use crate::{Cancel, ClassNames};

pub(super) fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// Rows of a few features each; a row's features depend on its class, so there is something to learn.
pub(super) fn data(rows: usize, classes: u32, features: u32, labels: usize, seed: u64) -> Dataset {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let mut data = Dataset::default();
    let names: ClassNames = (0..classes).map(|class| format!("class {class}")).collect();
    data.classes = names;
    for row in 0..rows {
        let class = if row < classes as usize {
            row as u32
        } else {
            next() % classes
        };
        let mut entries: Vec<(u32, f32)> = (0..4)
            .map(|i| ((class * 7 + i * (next() % 5)) % features, 0.4))
            .collect();
        entries.push((next() % features, 0.3));
        data.rows.push_unsorted(&mut entries);
        data.labels
            .push((0..labels as u32).map(|i| (class + i * 3) % classes));
    }
    data.rows.set_width(features as usize);
    data
}

fn softmax(given: &[(&str, &str)]) -> Softmax {
    Softmax::new(SoftmaxParams::parse(given.iter().copied()).unwrap())
}

impl Softmax {
    /// The scorer that training on `data` leaves behind.
    pub(super) fn scorer(
        &self,
        data: &Dataset,
        held_out: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>> {
        let request = TrainRequest {
            held_out,
            ..TrainRequest::new(data.clone())
        };
        self.train(request, session).map(|trained| trained.scorer)
    }
}

fn postings(scorer: &dyn Scorer) -> (Vec<u64>, Vec<u8>) {
    let (mut offsets, mut bytes) = (vec![], vec![]);
    for (_, tensor) in scorer.tensors() {
        match tensor {
            Tensor::U64(values) => offsets = values.to_vec(),
            Tensor::U32(values) => bytes = bytemuck::cast_slice(values).to_vec(),
            Tensor::U16(values) => bytes = bytemuck::cast_slice(values).to_vec(),
            _ => panic!("unexpected tensor"),
        }
    }
    (offsets, bytes)
}

fn top(scorer: &dyn Scorer, row: RowView<'_>, k: usize) -> Vec<Scored> {
    let mut out = vec![];
    scorer.top_k(row, k, &mut Scratch::default(), &mut out);
    out
}

#[test]
fn every_automatic_choice_is_told() {
    let request = TrainRequest::new(data(60, 12, 30, 2, 5));
    let told = Softmax::default().train(request, &session(1)).unwrap().resolved;
    for spec in SoftmaxParams::SPECS {
        let value = told.iter().find(|(name, _)| *name == spec.name);
        assert_eq!(value.is_some(), spec.is_automatic(), "{}", spec.name);
        if let Some((_, value)) = value {
            spec.parse(&value.to_string()).unwrap();
        }
    }
}

#[test]
fn learns_what_can_be_learned() {
    let data = data(600, 40, 300, 1, 3);
    let scorer = Softmax::default().scorer(&data, None, &session(2)).unwrap();
    let right = (0..data.len())
        .filter(|&row| top(&*scorer, data.rows.row(row), 1)[0].class == data.labels.row(row)[0])
        .count();
    assert!(right > 480, "{right} of 600");
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    for labels in [1, 3] {
        let data = data(900, 70, 90, labels, 8);
        let valid = data.subset(0..100);
        let train = |threads| {
            postings(
                &*Softmax::default()
                    .scorer(&data, Some(&valid), &session(threads))
                    .unwrap(),
            )
        };
        let one = train(1);
        assert!(!one.1.is_empty());
        assert_eq!(one, train(2));
        assert_eq!(one, train(4));
    }
}

#[test]
fn rows_of_weight_1_count_as_rows_without() {
    let mut data = data(600, 40, 60, 1, 5);
    let train = |data: &Dataset| postings(&*Softmax::default().scorer(data, None, &session(1)).unwrap());
    let without = train(&data);
    let mut with = |weight: fn(usize) -> f32| {
        data.weights = Some((0..data.len()).map(weight).collect());
        train(&data)
    };
    assert_eq!(with(|_| 1.0), without);
    assert_ne!(with(|row| if row % 3 == 0 { 0.25 } else { 2.0 }), without);
}

/// Keeps the accuracies it is told.
struct Scores(std::sync::Mutex<Vec<f64>>);
impl crate::Observer for Scores {
    fn notice(&self, event: crate::Event<'_>) {
        if let crate::Event::HeldOut { accuracy, .. } = event {
            self.0.lock().unwrap().push(accuracy);
        }
    }
}

#[test]
fn the_best_pass_is_kept() {
    let data = data(300, 30, 60, 1, 4);
    let valid = data.subset(0..60);
    // Steps so large that passes jump about: what is kept must be as good as the best that was reported.
    let scores = Scores(std::sync::Mutex::default());
    let session = session(1).with_observer(&scores);
    let trainer = softmax(&[
        ("passes", "12"),
        ("step-size", "300"),
        ("last-step-size", "300"),
        ("least-weight", "0"),
    ]);
    let scorer = trainer.scorer(&data, Some(&valid), &session).unwrap();
    let right = (0..valid.len())
        .filter(|&row| top(&*scorer, valid.rows.row(row), 1)[0].class == valid.labels.row(row)[0])
        .count();
    let reported = scores.0.into_inner().unwrap();
    let best = reported.iter().copied().fold(0.0, f64::max);
    assert!(
        (right as f64 / 60.0 - best).abs() < 1e-9,
        "{right} of 60, reported {reported:?}"
    );
}

#[test]
fn inexact_searches_are_compared_with_an_exact_scan() {
    let data = data(400, 40, 60, 1, 4);
    let recall = |least_kept: f32| {
        let session = session(1);
        let auto = AutoParams::new(&Softmax::default().params, &Shape::of(&data, 0));
        let rows = QuantizedRows::new(&data.rows, 0.0);
        let base = BaseWeights::<Narrow>::none();
        let centroids = Centroids::new(&data, &rows, &base.class_counts, auto.initial_scale);
        let slice = ClassSlice::whole(40);
        let plan = budget::plan(
            &base,
            &budget::Around::of(&data, &TrainRequest::new(Dataset::default())),
            &rows,
            &centroids,
            &auto,
            &slice,
            &session,
        )
        .unwrap();
        let weights = LearnedWeights::starting(&base, &centroids, &slice, plan.layout, &session).unwrap();
        let order: Vec<u32> = (0..400).collect();
        let mut search = RivalSearch::new(&data, &rows, 12, auto.tail, &session);
        let cache = RivalCache::new(400, 12);
        let mut gradients = BatchGradients::default();
        let source = RivalSource::Scan(Some(&cache));
        search
            .gradients(
                &weights,
                &order[..(400.0 * least_kept) as usize],
                source,
                &mut gradients,
                &session,
            )
            .unwrap();
        let of_cache = recall::of_cache(&search, &cache, &weights, &order, &session).unwrap();
        let of_rough_scan = recall::of_rough_scan(&search, &weights, &order, &session).unwrap();
        (of_cache, of_rough_scan)
    };
    // Against the same weights the strongest rival is always known, beside the few others whose gradient
    // counts; of rows never scanned nothing is.
    let ((whole, rough), (half, _)) = (recall(1.0), recall(0.5));
    assert_eq!((whole.rows, whole.at_1), (400, 1.0));
    assert!(whole.at_10 > 0.4 && whole.found > 4.0, "{whole:?}");
    assert!(
        rough.rows == 400 && rough.at_1 >= 0.99 && rough.at_10 >= 0.98,
        "{rough:?}"
    );
    assert!(
        (half.at_1 - 0.5).abs() < 0.1 && half.at_10 < whole.at_10,
        "{half:?}"
    );
}

#[test]
fn odd_data_does_no_harm() {
    let cases = [
        ("one row", data(1, 1, 5, 1, 1)),
        ("one class", data(20, 1, 5, 1, 1)),
        ("one feature", data(20, 3, 1, 1, 1)),
        ("every class a label of every row", data(9, 3, 5, 3, 1)),
        ("one row each", data(300, 300, 50, 1, 1)),
    ];
    for (name, data) in cases {
        let scorer = Softmax::default()
            .scorer(&data, None, &session(2))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(
            top(&*scorer, data.rows.row(0), 3).len(),
            3.min(data.classes.len()),
            "{name}"
        );
    }
    let mut empty = data(10, 3, 5, 1, 1);
    empty.rows.push(RowView {
        indices: &[],
        values: &[],
    });
    empty.labels.push([2]);
    empty.rows.push(RowView {
        indices: &[1],
        values: &[1.0],
    });
    empty.labels.push([]);
    assert!(Softmax::default().scorer(&empty, None, &session(1)).is_ok());
    let mut unlabelled = Dataset::default();
    unlabelled.rows.push(RowView {
        indices: &[1],
        values: &[1.0],
    });
    unlabelled.labels.push([]);
    let complaint = Softmax::default()
        .scorer(&unlabelled, None, &session(1))
        .err()
        .unwrap()
        .to_string();
    assert_eq!(complaint, "no row has a label, so there is nothing to learn");
}

#[test]
fn more_classes_than_sixteen_bits_can_tell_apart() {
    let data = data(70_000, 70_000, 5_000, 1, 1);
    let scorer =
        softmax(&[("batch", "20000"), ("passes", "1"), ("rivals", "3")]).scorer(&data, None, &session(2));
    let scorer = scorer.unwrap();
    assert_eq!(scorer.classes(), 70_000);
    assert!(
        top(&*scorer, data.rows.row(69_999), 50)
            .iter()
            .any(|best| best.class > 65_536)
    );
}

#[test]
fn a_raised_flag_stops_training() {
    let cancel = Cancel::default();
    cancel.raise();
    let session = session(1).with_cancel(cancel);
    let result = Softmax::default().scorer(&data(50, 5, 9, 1, 1), None, &session);
    assert!(matches!(result, Err(Error::Cancelled)));
}

/// What the least budget is that is not refused, to 10 kB.
fn least_budget(request: impl Fn() -> TrainRequest<'static>) -> u64 {
    let is_enough = |budget: u64| {
        let session = session(1).with_memory_budget(Some(budget));
        Softmax::default().train(request(), &session).is_ok()
    };
    let (mut refused, mut enough) = (0, 100_000_000);
    assert!(is_enough(enough));
    while enough - refused > 10_000 {
        let between = u64::midpoint(refused, enough);
        if is_enough(between) {
            enough = between;
        } else {
            refused = between;
        }
    }
    enough
}

#[test]
fn budgets_count_what_is_there_beside_the_rows() {
    let held_out: &Dataset = Box::leak(Box::new(data(3000, 8, 100, 1, 6)));
    let request = |held_bytes, file_bytes, bytes_before, held_out| {
        move || TrainRequest {
            held_out,
            held_bytes,
            file_bytes,
            bytes_before,
            ..TrainRequest::new(data(300, 8, 100, 1, 5))
        }
    };
    let alone = least_budget(request(0, 0, 0, None));
    let about = |found: u64, expected: u64| found.abs_diff(expected) < 20_000;
    assert!(about(
        least_budget(request(5_000_000, 0, 0, None)),
        alone + 5_000_000
    ));
    // What is over when training starts counts only where training takes less.
    assert!(about(least_budget(request(0, 0, 10_000, None)), alone));
    assert!(about(
        least_budget(request(0, 0, 40_000_000, None)),
        budget::PROGRAM + 40_000_000
    ));
    // So does what a check of the file looks at when training is over.
    assert!(about(least_budget(request(0, 10_000, 0, None)), alone));
    let checked = least_budget(request(0, 40_000_000, 0, None));
    assert!(
        (40_000_000..41_000_000).contains(&(checked - budget::PROGRAM)),
        "{checked}"
    );
    let rows = (held_out.rows.entries() * 8 + held_out.len() * 20) as u64;
    let beside = least_budget(request(0, 0, 0, Some(held_out)));
    assert!(beside >= alone + 2 * rows, "{alone}, {rows}: {beside}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Weights and remembered rivals stay inside what the budget leaves, or training is refused.
    #[test]
    fn budgets_are_kept(
        rows in 1usize..400, classes in 1u32..80, features in 1u32..200, labels in 1usize..3,
        seed in any::<u64>(), budget in 13_550_000u64..14_450_000,
    ) {
        let data = data(rows, classes, features, labels, seed);
        let session = session(1).with_memory_budget(Some(budget));
        let auto = AutoParams::new(&Softmax::default().params, &Shape::of(&data, 0));
        let quantized = QuantizedRows::new(&data.rows, auto.trim);
        // As training does: rows that came are freed, but for those that are scored at the end.
        let split = CalibrationRows::choose(&data, None, &[]);
        let aside = AsideRows::of(&split, &data.rows);
        let mut around = Around::of(&data, &TrainRequest::new(Dataset::default()));
        let reduced = Dataset { rows: Rows::new(), ..data.clone() };
        around.after_start(&reduced, &aside);
        let row_weights = split.row_weights(&data);
        let centroids = Centroids::new(&data, &quantized, &[], auto.initial_scale)
            .with_row_weights(row_weights.as_deref());
        let slice = ClassSlice::whole(data.classes.len());
        let base = BaseWeights::<Narrow>::none();
        let plan = budget::plan(&base, &around, &quantized, &centroids, &auto, &slice, &session);
        let trained = Softmax::default().scorer(&data, None, &session);
        prop_assert_eq!(plan.is_ok(), trained.is_ok());
        if let Ok(plan) = plan {
            let weights =
                LearnedWeights::<Narrow>::starting(&BaseWeights::none(), &centroids, &slice, plan.layout, &session).unwrap();
            let cache = if plan.cache_rivals { RivalCache::bytes(data.len(), auto.rivals) } else { 0 };
            prop_assert!((weights.bytes() + cache) as u64 + quantized.bytes() <= budget - budget::PROGRAM);
        }
    }
}
