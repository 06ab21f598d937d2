use std::fmt::Write;
use std::num::NonZeroUsize;

use super::*;
use crate::class_vocabulary::{BuilderOptions, UnmatchedVocabulary, VocabularyBuilder, read_table};
use crate::data::Source;
use crate::prepare::{Examples, VocabularyRequest};
use crate::train::{FitOptions, SoftmaxParams, fit};

const GROUPS: u32 = 20;
const CLASSES: u32 = 2000;

/// A number that looks random, below `below`.
fn drawn(number: u32, salt: u32, below: u32) -> u32 {
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), u64::from(salt));
    (hash % u64::from(below)) as u32
}

/// Rows of classes `GG-NNN`: some of the many features of group `GG`, which no class of three rows has seen
/// all of, and of the few of `NNN`, which every group has.
fn rows(count: u32) -> Dataset {
    let mut data = Dataset {
        classes: (0..CLASSES).map(class_name).collect(),
        ..Dataset::default()
    };
    for row in 0..count {
        // The first classes are frequent, most are not.
        let class = drawn(row, 0, CLASSES).min(drawn(row, 1, CLASSES));
        let group = class % GROUPS;
        let mut entries = Vec::new();
        for salt in 2..5 {
            entries.push((group * 40 + drawn(row, salt, 40), 1.0));
        }
        for salt in 5..7 {
            entries.push((1000 + class / GROUPS * 4 + drawn(row, salt, 4), 1.0));
        }
        for salt in 7..12 {
            entries.push((10_000 + drawn(row, salt, 500), 1.0));
        }
        data.rows.push_unsorted(&mut entries);
        data.labels.push([class]);
    }
    data.rows.set_width(10_500);
    data
}

fn class_name(class: u32) -> String {
    format!("{:02}-{:03}", class % GROUPS, class / GROUPS)
}

/// A table of all classes, each under the group that `group` gives.
fn vocabulary(group: impl Fn(u32) -> u32) -> UnmatchedVocabulary {
    let mut table = "id,broader\n".to_owned();
    for number in 0..GROUPS {
        writeln!(table, "group{number},").unwrap();
    }
    for class in 0..CLASSES {
        writeln!(table, "{},group{}", class_name(class), group(class)).unwrap();
    }
    let mut builder = VocabularyBuilder::new();
    let source = Source::from_reader("v.csv", std::io::Cursor::new(table.into_bytes()));
    read_table(source, &mut builder).unwrap();
    let (vocabulary, defects) = builder.finish(&BuilderOptions::default()).unwrap();
    UnmatchedVocabulary::Read(Box::new(vocabulary), defects)
}

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn trained(data: Dataset, vocabulary: UnmatchedVocabulary, base: Option<&Model>, threads: usize) -> Model {
    let options = FitOptions {
        vocabulary: base.is_none().then(|| VocabularyRequest::from(vocabulary)),
        base_model: base,
        ..FitOptions::default()
    };
    let method = Method::new(&SoftmaxParams::default()).unwrap();
    let examples = Examples::Vectors { data, first: 0 };
    fit(&method, examples, options, &session(threads)).unwrap()
}

fn accuracy(model: &Model, data: &Dataset) -> f64 {
    let mut predictor = model.predictor();
    let mut right = 0;
    for (row, labels) in data.rows.iter().zip(data.labels.iter()) {
        let best = predictor.vector(&mut row.iter().collect(), 1).unwrap();
        right += usize::from(best.iter().any(|best| labels.contains(&best.class)));
    }
    right as f64 / data.len() as f64
}

/// Rows that training does not have.
fn others() -> Dataset {
    let all = rows(9000);
    all.subset(6000..9000)
}

#[test]
fn groups_that_have_much_in_common_are_mixed_in() {
    let model = trained(rows(6000), vocabulary(|class| class % GROUPS), None, 1);
    let levels = model.scorer.as_mixed().expect("mixed").levels();
    assert_eq!(levels.len(), 1);
    assert_eq!(levels[0].scorer.classes(), GROUPS as usize);
    let plain = trained(
        rows(6000),
        UnmatchedVocabulary::Labels {
            names: false,
            rule: None,
        },
        None,
        1,
    );
    assert!(plain.scorer.as_mixed().is_none());
    let test = others();
    let (with, without) = (accuracy(&model, &test), accuracy(&plain, &test));
    assert!(with > without + 0.005, "{with} against {without}");
    assert!(model.calibration.is_some());
    let again = trained(rows(6000), vocabulary(|class| class % GROUPS), None, 2);
    assert_eq!(
        model.to_bytes().unwrap(),
        again.to_bytes().unwrap(),
        "at any number of threads"
    );
}

#[test]
fn groups_of_classes_that_have_nothing_in_common_are_not() {
    let model = trained(rows(6000), vocabulary(|class| drawn(class, 99, GROUPS)), None, 1);
    assert!(model.scorer.as_mixed().is_none());
}

#[test]
fn levels_go_on_when_training_does() {
    let model = trained(rows(6000), vocabulary(|class| class % GROUPS), None, 1);
    let mut more = rows(200);
    more.classes.intern("03-99");
    let group = |model: &Model, class: usize| model.scorer.as_mixed().unwrap().levels()[0].group_of[class];
    let continued = trained(more, vocabulary(|_| 0), Some(&model), 1);
    assert_eq!(continued.classes().len(), CLASSES as usize + 1);
    assert_eq!(group(&continued, 3), group(&model, 3));
    // The vocabulary does not know the class, so it is a group of its own.
    assert_eq!(group(&continued, CLASSES as usize), GROUPS);
    let kept = |model: &Model| model.scorer.as_mixed().unwrap().levels()[0].weight;
    assert_eq!(kept(&continued), kept(&model));
    let test = others();
    assert!(accuracy(&continued, &test) > accuracy(&model, &test) - 0.02);
}

#[test]
fn held_out_rows_choose_as_well() {
    let options = FitOptions {
        vocabulary: Some(vocabulary(|class| class % GROUPS).into()),
        held_out: crate::train::HeldOut::Share(0.1),
        ..FitOptions::default()
    };
    let method = Method::new(&SoftmaxParams::default()).unwrap();
    let examples = Examples::Vectors {
        data: rows(6000),
        first: 0,
    };
    let model = fit(&method, examples, options, &session(1)).unwrap();
    assert!(model.scorer.as_mixed().is_some());
}

#[test]
fn groups_keep_their_numbers_and_classes_without_a_hierarchy_are_groups_of_their_own() {
    let groups = Groups::at(None, 5, 1, &[0, 1, 0]);
    assert_eq!((groups.group_of, groups.count), (vec![0, 1, 0, 2, 3], 4));
}
