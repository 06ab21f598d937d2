//! Training that goes on from a model, against training once on everything.

#[path = "common/draw.rs"]
mod draw;

use std::num::NonZeroUsize;

use draw::Draw;
use memoir::catalogue::Method;
use memoir::prepare::Examples;
use memoir::train::FitOptions;
use memoir::{Catalogue, Dataset, Model, Rows, Session, train};

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).expect("positive")).expect("starts")
}

const CLASSES: u32 = 30;

/// Rows of classes below `classes`: five of the ten features of the class's topic, and three of anything.
fn rows(count: usize, classes: u32, seed: u64) -> Dataset {
    let mut draw = Draw(seed);
    let mut data = Dataset {
        classes: (0..classes).map(|class| format!("c{class}")).collect(),
        ..Dataset::default()
    };
    for _ in 0..count {
        let class = draw.below(classes);
        let mut entries: Vec<(u32, f32)> = Vec::new();
        for _ in 0..5 {
            entries.push((class * 7 + draw.below(10), 1.0));
        }
        for _ in 0..3 {
            entries.push((draw.below(CLASSES * 7 + 3), 1.0));
        }
        data.rows.push_unsorted(&mut entries);
        data.labels.push([class]);
    }
    data
}

fn method(algorithm: &str, given: &[(&str, &str)]) -> Method {
    let algorithm = *Catalogue::new().find(algorithm).expect("known");
    algorithm.configure(given.iter().copied()).expect("checked")
}

/// As [`fit`] with `softmax` that keeps rows.
fn fit_keeping(rows: &str, data: Dataset, session: &Session<'_>) -> Model {
    let method = method("softmax", &[("keep-rows", rows)]);
    train::fit(&method, vectors(data), FitOptions::default(), session).expect("trained")
}

fn fit(name: &str, data: Dataset, session: &Session<'_>) -> Model {
    train::fit(&method(name, &[]), vectors(data), FitOptions::default(), session).expect("trained")
}

fn vectors(data: Dataset) -> Examples<'static> {
    Examples::Vectors { data, first: 0 }
}

fn go_on(model: &Model, data: Dataset, session: &Session<'_>) -> memoir::Result<Model> {
    let options = FitOptions {
        base_model: Some(model),
        ..FitOptions::default()
    };
    train::fit(
        &method(&model.origin().algorithm, &[]),
        vectors(data),
        options,
        session,
    )
}

fn right(model: &Model, data: &Dataset) -> usize {
    let mut predictor = model.predictor();
    let is_right = |row: usize| {
        let mut entries: Vec<_> = data.rows.row(row).iter().collect();
        let best = predictor.vector(&mut entries, 1).expect("answers");
        model.classes().name(best[0].class) == data.classes.name(data.labels.row(row)[0])
    };
    (0..data.len()).map(is_right).filter(|&right| right).count()
}

fn together(parts: &[&Dataset]) -> Dataset {
    let mut all = Dataset {
        classes: parts[parts.len() - 1].classes.clone(),
        rows: Rows::new(),
        ..Dataset::default()
    };
    for part in parts {
        for row in 0..part.len() {
            all.rows.push(part.rows.row(row));
            all.labels.push(part.labels.row(row).iter().copied());
        }
    }
    all
}

#[test]
fn three_parts_are_nearly_as_good_as_all_at_once() {
    let session = session(2);
    let parts = [rows(400, 20, 1), rows(300, 25, 2), rows(400, CLASSES, 3)];
    let unseen = rows(600, CLASSES, 4);
    let old = rows(600, 20, 5);
    for (name, allowed) in [("softmax", 30), ("centroid", 30)] {
        let at_once = right(
            &fit(name, together(&[&parts[0], &parts[1], &parts[2]]), &session),
            &unseen,
        );
        let first = fit(name, parts[0].clone(), &session);
        let second = go_on(&first, parts[1].clone(), &session).expect("goes on");
        let third = go_on(&second, parts[2].clone(), &session).expect("goes on");
        let in_parts = right(&third, &unseen);
        assert!(at_once > 400, "{name}: {at_once} of 600");
        assert!(
            in_parts + allowed >= at_once,
            "{name}: {in_parts} in parts, {at_once} at once"
        );
        // Old classes are not forgotten.
        let (before, after) = (right(&first, &old), right(&third, &old));
        assert!(
            after + 40 >= before,
            "{name}: {before} of 600 before, {after} after"
        );
        assert_eq!(third.origin().rows, 1100);
        assert_eq!(third.origin().class_counts.iter().sum::<u32>(), 1100);
        assert!(
            third
                .classes()
                .iter()
                .eq((0..CLASSES).map(|class| format!("c{class}")))
        );
        assert_eq!(
            first.classes().len(),
            20,
            "the model that was continued stays as it is"
        );
    }
}

#[test]
fn document_frequencies_are_those_of_training_at_once() {
    let session = session(1);
    let parts = [rows(100, 10, 1), rows(120, 12, 2)];
    let at_once = fit("softmax", together(&[&parts[0], &parts[1]]), &session);
    let in_parts = go_on(
        &fit("softmax", parts[0].clone(), &session),
        parts[1].clone(),
        &session,
    )
    .expect("goes on");
    let (expected, found) = (
        &at_once.preprocessing().weighting,
        &in_parts.preprocessing().weighting,
    );
    assert_eq!(expected.document_frequency[..], found.document_frequency[..]);
    // How far features are spread over classes is an estimate; it makes a weight at most half as large.
    for (expected, found) in expected.feature_weights.iter().zip(found.feature_weights.iter()) {
        let ratio = expected / found;
        assert!((0.499..2.001).contains(&ratio), "{expected} {found}");
    }
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    let continued = |threads| {
        let session = session(threads);
        let first = fit("softmax", rows(400, 20, 1), &session);
        let model = go_on(&first, rows(300, CLASSES, 2), &session).expect("goes on");
        let tensors = model.scorer().tensors();
        let bytes = tensors
            .iter()
            .map(|(name, tensor)| (name.clone(), tensor.bytes().to_vec()));
        bytes.collect::<Vec<_>>()
    };
    let one = continued(1);
    assert_eq!(one, continued(3));
}

#[test]
fn new_words_and_classes_of_a_text_model_are_learned() {
    let session = session(1);
    let method = method("softmax", &[]);
    let about = |classes: &[&str], labels: &[u32]| {
        let mut data = Dataset {
            classes: classes.iter().collect(),
            ..Dataset::default()
        };
        for &label in labels {
            data.labels.push([label]);
        }
        data
    };
    let texts = ["red apple", "green apple", "blue sky", "grey sky"];
    let examples = Examples::Texts {
        texts: &texts,
        about: about(&["fruit", "weather"], &[0, 0, 1, 1]),
    };
    let model = train::fit(&method, examples, FitOptions::default(), &session).expect("trained");
    let more = Examples::Texts {
        texts: &["fast train", "slow train", "ripe apple"],
        about: about(&["traffic", "fruit"], &[0, 0, 1]),
    };
    let options = FitOptions {
        base_model: Some(&model),
        ..FitOptions::default()
    };
    let grown = train::fit(&method, more, options, &session).expect("goes on");
    let mut predictor = grown.predictor();
    for (text, class) in [
        ("a train", "traffic"),
        ("ripe", "fruit"),
        ("red apple", "fruit"),
        ("the sky", "weather"),
    ] {
        let best = predictor.text(text, 1).expect("answers")[0].class;
        assert_eq!(grown.classes().name(best), class, "{text}");
    }
    let vocabulary = &grown.preprocessing().text().expect("text").vocabulary;
    assert_eq!(
        vocabulary.find("apple"),
        model
            .preprocessing()
            .text()
            .expect("text")
            .vocabulary
            .find("apple")
    );
    assert!(vocabulary.find("train").is_some());
}

#[test]
fn kept_rows_are_repeated_and_renewed() {
    let session = session(2);
    let unseen = rows(600, CLASSES, 4);
    let kept = |model: &Model| model.summary().expect("sums up").kept_rows;
    let first = fit_keeping("300", rows(400, 20, 1), &session);
    assert_eq!(kept(&first), Some(300));
    // New classes and features, and no word about rows to keep: as many as before.
    let second = go_on(&first, rows(300, 25, 2), &session).expect("goes on");
    let third = go_on(&second, rows(400, CLASSES, 3), &session).expect("goes on");
    assert_eq!(kept(&third), Some(300));
    let sample = third.replay().expect("kept");
    let sample = sample
        .unpack(third.scorer().features(), third.classes().len())
        .expect("whole");
    let of_new_classes = sample.labels.iter().filter(|labels| labels[0] >= 25).count();
    assert!(
        (5..60).contains(&of_new_classes),
        "{of_new_classes} of 300 rows are of classes that came last"
    );

    let without = fit("softmax", rows(400, 20, 1), &session);
    assert_eq!(kept(&without), None);
    let without = go_on(&without, rows(300, 25, 2), &session).expect("goes on");
    let without = go_on(&without, rows(400, CLASSES, 3), &session).expect("goes on");
    let (with, without) = (right(&third, &unseen), right(&without, &unseen));
    assert!(
        with + 12 >= without,
        "{with} with repeated rows, {without} without"
    );

    // The number of threads makes no difference.
    let single = self::session(1);
    let again = go_on(&first, rows(300, 25, 2), &single).expect("goes on");
    assert_eq!(
        again.to_bytes().expect("written"),
        second.to_bytes().expect("written")
    );
}

#[test]
fn kept_rows_follow_their_classes_and_can_be_dropped() {
    let session = session(1);
    let model = fit_keeping("100", rows(400, 5, 1), &session);
    let sample = |model: &Model| {
        let kept = model.replay().expect("kept");
        kept.unpack(model.scorer().features(), model.classes().len())
            .expect("whole")
    };
    let counts = sample(&model).labels.class_counts(5);
    let merged = model.merge_classes(&["c1", "c3"], "both").expect("merged");
    let merged = merged.retire_classes(&["c4"]).expect("retired");
    assert_eq!(
        sample(&merged).labels.class_counts(3),
        [counts[0], counts[1] + counts[3], counts[2]]
    );
    let mut more = rows(50, 3, 2);
    more.classes = merged.classes().clone();
    assert!(go_on(&merged, more, &session).is_ok());
    let mut last = merged;
    last.finalize();
    assert!(last.replay().is_none());
}

#[test]
fn what_cannot_go_on_says_why() {
    let session = session(1);
    let complaint = |model: &Model| {
        let outcome = go_on(model, rows(20, 5, 2), &session);
        outcome.expect_err("refused").to_string()
    };
    let paper = fit("memoir-l2", rows(60, 5, 1), &session);
    assert_eq!(
        complaint(&paper),
        "`memoir-l2` cannot continue from a model: train it anew, or use `softmax` or `centroid`, which can"
    );
    let mut stripped = fit("softmax", rows(60, 5, 1), &session);
    stripped.strip();
    assert_eq!(
        complaint(&stripped),
        "the model cannot be continued: what is needed for that was stripped from its file"
    );
}

/// The weighting of rows is a part of the model: another one would not fit the weights it has.
#[test]
fn the_weighting_of_rows_is_set_once() {
    let session = session(1);
    let set = method("softmax", &[("length-power", "1"), ("entropy-weighting", "0")]);
    let model =
        train::fit(&set, vectors(rows(200, 20, 1)), FitOptions::default(), &session).expect("trained");
    let default = fit("softmax", rows(200, 20, 1), &session);
    let first = |model: &Model| {
        let row = rows(1, 20, 9);
        let mut entries: Vec<_> = row.rows.row(0).iter().collect();
        model.predictor().vector(&mut entries, 1).expect("answers")[0].score
    };
    assert_ne!(first(&model), first(&default), "the parameters change the model");
    let go_on = |given: &[(&str, &str)]| {
        let options = FitOptions {
            base_model: Some(&model),
            ..FitOptions::default()
        };
        train::fit(
            &method("softmax", given),
            vectors(rows(50, 20, 2)),
            options,
            &session,
        )
    };
    for fits in [&[][..], &[("length-power", "1")], &[("entropy-weighting", "0")]] {
        go_on(fits).expect("the model's own values");
    }
    let error = go_on(&[("length-power", "0.5")])
        .expect_err("another value")
        .to_string();
    assert!(error.contains("length-power"), "{error}");
}
