use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::model::{FixedScorer, LinearBuilder, Origin, Precision, Scorer, Scratch};
use crate::sparse::fixed_point::{Narrow, Posting};
use crate::sparse::{RowView, Rows};
use crate::text::{Input, Preprocessing, RowNeeds, Weighting, WeightingScheme};
use crate::{Catalogue, LabelSets};

/// A model over three features; `weights[feature][class]`, where 0 is no weight.
pub(crate) fn model(weights: &[[i16; 5]; 3], fixed: bool) -> Model {
    let mut rows = Rows::new();
    rows.set_width(3);
    let needs = RowNeeds::default();
    let scorer: Box<dyn Scorer> = if fixed {
        let (mut offsets, mut postings) = (vec![0], Vec::new());
        for feature in weights {
            let stored = (0..).zip(feature).filter(|(_, weight)| **weight != 0);
            postings.extend(stored.map(|(class, &weight)| Narrow::new(class, weight)));
            offsets.push(postings.len() as u64);
        }
        Box::new(FixedScorer::new(5, offsets, postings))
    } else {
        let mut builder = LinearBuilder::new(5);
        for feature in weights {
            builder.push_feature((0..).zip(feature.map(|weight| f32::from(weight) / 16.0)));
        }
        Box::new(
            builder
                .finish(Precision::F16)
                .with_bias(vec![0.1, -0.2, 0.0, 0.4, -0.5]),
        )
    };
    Model {
        file: None,
        calibration: None,
        replay: None,
        vocabulary: None,
        overrides: None,
        classes: ["a", "b", "c", "d", "e"].into_iter().collect(),
        preprocessing: Preprocessing {
            input: Input::Vectors {
                features: 3,
                first: 1,
            },
            weighting: Weighting::fit(WeightingScheme::Raw, needs, &rows, &LabelSets::new()),
        },
        scorer,
        origin: Origin {
            class_counts: vec![1, 2, 3, 4, 5],
            ..Origin::default()
        },
    }
}

/// Everything that a file would hold of the classes.
fn content(model: &Model) -> (Vec<String>, Vec<u32>, BTreeMap<String, Vec<u8>>) {
    let tensors = model.scorer.tensors();
    let arrays = tensors
        .iter()
        .map(|(name, array)| (name.clone(), array.bytes().to_vec()));
    (
        model.classes.iter().map(str::to_owned).collect(),
        model.origin.class_counts.clone(),
        arrays.collect(),
    )
}

proptest! {
    #[test]
    fn merging_does_not_depend_on_the_order(
        weights in proptest::array::uniform3(proptest::array::uniform5(-20i16..20)),
        fixed: bool,
        order in Just(["a", "b", "d", "e"]).prop_shuffle(),
        cut in 2usize..4,
    ) {
        let at_once = model(&weights, fixed).merge_classes(&["a", "b", "d", "e"], "x").unwrap();
        let (some, rest) = order.split_at(cut);
        let mut second = vec!["some"];
        second.extend_from_slice(rest);
        second.reverse();
        let stepwise = model(&weights, fixed)
            .merge_classes(some, "some")
            .unwrap()
            .merge_classes(&second, "x")
            .unwrap();
        prop_assert_eq!(content(&at_once), content(&stepwise));
        prop_assert_eq!(at_once.classes.iter().collect::<Vec<_>>(), ["x", "c"]);
        prop_assert_eq!(at_once.origin.class_counts, [12, 3]);
    }
}

pub(crate) fn scores(model: &Model, row: &[(u32, f32)]) -> BTreeMap<String, f32> {
    let (indices, values): (Vec<u32>, Vec<f32>) = row.iter().copied().unzip();
    let row = RowView {
        indices: &indices,
        values: &values,
    };
    let mut best = Vec::new();
    model.scorer.top_k(row, 9, &mut Scratch::default(), &mut best);
    best.iter()
        .map(|best| (model.classes.name(best.class).to_owned(), best.score))
        .collect()
}

#[test]
fn a_merged_class_has_the_scores_of_its_members() {
    let weights = [[16, 0, 0, 8, 0], [0, 32, 0, 4, 0], [-16, -8, 8, 0, 0]];
    let rows = [vec![(0, 1.0)], vec![(1, 1.0)], vec![(0, 1.0), (1, 1.0), (2, 1.0)]];
    for (fixed, algorithm) in [(false, "memoir-l2"), (true, "softmax")] {
        let before = || {
            let mut model = model(&weights, fixed);
            model.origin.algorithm = algorithm.to_owned();
            model
        };
        let merged = before().merge_classes(&["b", "a"], "b").unwrap();
        let twice = before().merge_classes(&["e", "a"], "x").unwrap();
        let twice = twice.merge_classes(&["x", "b"], "x").unwrap();
        for row in &rows {
            let members = scores(&before(), row);
            let expected = |names: &[&str]| match algorithm {
                "softmax" => {
                    names
                        .iter()
                        .map(|name| (1.5 * members[*name]).exp())
                        .sum::<f32>()
                        .ln()
                        / 1.5
                }
                _ => names.iter().map(|name| members[*name]).fold(f32::MIN, f32::max),
            };
            let after = scores(&merged, row);
            assert!(
                (after["b"] - expected(&["a", "b"])).abs() < 1e-6,
                "{algorithm} {row:?}"
            );
            assert_eq!(after["d"], members["d"], "others stay as they are");
            let after = scores(&twice, row);
            assert!((after["x"] - expected(&["a", "b", "e"])).abs() < 1e-6);
        }
    }
}

#[test]
fn a_merged_class_can_be_retired_with_its_members() {
    for fixed in [false, true] {
        let weights = [[16, 1, 2, 8, 0], [0, 32, 5, 4, 7], [-16, -8, 8, 0, 3]];
        let row = [(0, 1.0), (1, 0.5), (2, 0.25)];
        let before = model(&weights, fixed);
        let mut expected = scores(&before, &row);
        let after = before.merge_classes(&["a", "d"], "x").unwrap();
        let after = after.retire_classes(&["x"]).unwrap();
        expected.retain(|name, _| name != "a" && name != "d");
        assert_eq!(scores(&after, &row), expected);
        assert_eq!(after.origin.class_counts, [2, 3, 5]);
    }
}

#[test]
fn merged_classes_are_read_back_from_a_file() {
    let weights = [[16, 1, 2, 8, 0], [0, 32, 5, 4, 7], [-16, -8, 8, 0, 3]];
    let row = [(0, 1.0), (1, 0.5), (2, 0.25)];
    for fixed in [false, true] {
        let model = model(&weights, fixed).merge_classes(&["c", "d"], "x").unwrap();
        let bytes = model.to_bytes().unwrap();
        let read = Model::from_bytes(&bytes, &Catalogue::new()).unwrap();
        assert_eq!(scores(&read, &row), scores(&model, &row));
        assert_eq!(read.to_bytes().unwrap(), bytes);
        assert_eq!(read.classes.iter().collect::<Vec<_>>(), ["a", "b", "x", "e"]);
    }
}

#[test]
fn retired_classes_are_gone_and_the_others_score_as_before() {
    for fixed in [false, true] {
        let weights = [[16, 1, 2, 8, 0], [0, 32, 5, 4, 7], [-16, -8, 8, 0, 3]];
        let row = [(0, 1.0), (1, 0.5), (2, 0.25)];
        let before = model(&weights, fixed);
        let mut expected = scores(&before, &row);
        let after = before.retire_classes(&["a", "d"]).unwrap();
        expected.remove("a");
        expected.remove("d");
        assert_eq!(scores(&after, &row), expected);
        assert_eq!(after.origin.class_counts, [2, 3, 5]);
    }
}

#[test]
fn names_change_all_at_once() {
    let mut model = model(&[[1; 5]; 3], true);
    model
        .rename_classes([("a", "b"), ("b", "a"), ("e", "é")])
        .unwrap();
    assert_eq!(
        model.classes.iter().collect::<Vec<_>>(),
        ["b", "a", "c", "d", "é"]
    );
}

#[test]
fn requests_that_make_no_sense_say_why() {
    let new = || model(&[[1; 5]; 3], false);
    let complaint = |outcome: Result<Model>| outcome.err().unwrap().to_string();
    assert_eq!(
        new().rename_classes([("x", "y")]).unwrap_err().to_string(),
        "the model has no class `x`"
    );
    let empty = "a class cannot have an empty name";
    assert_eq!(new().rename_classes([("a", "")]).unwrap_err().to_string(), empty);
    assert_eq!(complaint(new().merge_classes(&["a", "b"], "")), empty);
    assert_eq!(
        new().rename_classes([("a", "c")]).unwrap_err().to_string(),
        "two classes would be called `c`; to make one class of them, merge them"
    );
    assert_eq!(
        new()
            .rename_classes([("a", "x"), ("a", "y")])
            .unwrap_err()
            .to_string(),
        "class `a` is to be renamed twice"
    );
    assert_eq!(
        complaint(new().merge_classes(&["a", "b"], "c")),
        "there is another class `c` already; merge it too, or choose another name"
    );
    assert_eq!(
        complaint(new().retire_classes(&["a", "b", "c", "d", "e"])),
        "a model must keep at least one class, but all would be retired"
    );
}

#[test]
fn a_stripped_model_answers_as_before_and_says_that_it_cannot_go_on() {
    let mut model = model(&[[3; 5]; 3], true);
    let row = [(0, 1.0)];
    let before = scores(&model, &row);
    model.strip();
    assert_eq!(scores(&model, &row), before);
    assert!(model.origin.class_counts.is_empty());
    let known = &model.preprocessing;
    let grown = known.grown(RowNeeds::default(), 4, &Rows::new(), &LabelSets::new(), None);
    assert!(
        grown
            .unwrap_err()
            .to_string()
            .contains("was stripped from its file")
    );
}
