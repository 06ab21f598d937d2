use super::*;
use crate::Catalogue;
use crate::model::reclassify::tests::model as plain_model;
use crate::model::{LinearBuilder, Model};

/// Groups of a level of three features; `weights[feature][group]`.
fn level(weights: [[f32; 2]; 3], group_of: [u32; 5], weight: f32, depth: u16) -> Level {
    let mut builder = LinearBuilder::new(2);
    for feature in weights {
        builder.push_feature((0..).zip(feature));
    }
    Level {
        scorer: Box::new(builder.finish(Precision::F32).with_bias(vec![0.25, -0.25])),
        group_of: group_of.to_vec(),
        weight,
        depth,
    }
}

/// Five classes in two levels of two groups.
fn mixed(fixed: bool) -> Model {
    let mut model = plain_model(&[[7, -3, 0, 2, 0], [0, 5, 6, 0, -2], [1, 1, 0, 4, 9]], fixed);
    let levels = vec![
        level([[1.0, 0.0], [0.5, -2.0], [0.0, 3.0]], [0, 1, 1, 0, 1], 0.5, 1),
        level([[0.0, 2.0], [1.5, 0.0], [-1.0, 0.5]], [1, 0, 1, 0, 0], 0.5, 2),
    ];
    model.scorer = Box::new(Mixed::new(model.scorer, levels));
    model
}

const ROW: RowView<'_> = RowView {
    indices: &[0, 1, 2],
    values: &[1.0, 0.5, -0.75],
};

fn best(scorer: &dyn Scorer, k: usize) -> Vec<Scored> {
    let mut out = Vec::new();
    scorer.top_k(ROW, k, &mut Scratch::default(), &mut out);
    out
}

#[test]
fn a_class_has_its_own_score_and_a_part_of_that_of_its_groups() {
    for fixed in [false, true] {
        let model = mixed(fixed);
        let scorer = model.scorer.as_mixed().unwrap();
        let own = best(scorer.inner(), 5);
        let of_groups: Vec<Vec<Scored>> = scorer
            .levels()
            .iter()
            .map(|level| best(&*level.scorer, 2))
            .collect();
        let mut expected: Vec<Scored> = own
            .iter()
            .map(|scored| {
                let of_level = |(level, groups): (&Level, &Vec<Scored>)| {
                    let group = level.group_of[scored.class as usize];
                    let found = groups.iter().find(|found| found.class == group).unwrap();
                    level.weight * found.score
                };
                let levels = scorer.levels().iter().zip(&of_groups);
                Scored {
                    class: scored.class,
                    score: levels.map(of_level).fold(scored.score, |sum, more| sum + more),
                }
            })
            .collect();
        expected.sort_by(Scored::order);
        assert_eq!(best(scorer, 5), expected);
        assert_eq!(best(scorer, 2), expected[..2]);
        assert_ne!(own[0].class, expected[0].class, "groups decide here");
    }
}

#[test]
fn explanations_add_up() {
    for fixed in [false, true] {
        let model = mixed(fixed);
        let explanation = model.explain_row(ROW).unwrap();
        let best = best(&*model.scorer, 2);
        assert_eq!(explanation.answer.class, best[0].class);
        for candidate in [&explanation.answer, explanation.runner_up.as_ref().unwrap()] {
            assert!(candidate.rounding.abs() < 1e-3, "{}", candidate.rounding);
        }
        let weights = model.scorer.class_weights(best[0].class).unwrap();
        assert_eq!(weights.len(), 3, "those of its groups count, too");
    }
}

#[test]
fn a_file_holds_the_levels() {
    let catalogue = Catalogue::new();
    for fixed in [false, true] {
        let model = mixed(fixed);
        let bytes = model.to_bytes().unwrap();
        let loaded = Model::from_bytes(&bytes, &catalogue).unwrap();
        assert_eq!(best(&*loaded.scorer, 5), best(&*model.scorer, 5));
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        let depths: Vec<u16> = loaded
            .scorer
            .as_mixed()
            .unwrap()
            .levels()
            .iter()
            .map(|level| level.depth)
            .collect();
        assert_eq!(depths, [1, 2]);
    }
}

#[test]
fn a_group_that_does_not_exist_is_refused() {
    let mut model = mixed(true);
    let levels = vec![level([[1.0, 0.0]; 3], [0, 1, 2, 0, 1], 0.5, 1)];
    model.scorer = Box::new(Mixed::new(model.scorer, levels));
    let message = model.to_bytes().unwrap_err().to_string();
    assert!(
        message.contains("a class is of group 2, but there are 2 groups"),
        "{message}"
    );
}

#[test]
fn classes_are_retired_and_merged() {
    let model = mixed(true).retire_classes(&["b"]).unwrap();
    let levels = model.scorer.as_mixed().unwrap().levels();
    assert_eq!(levels[0].group_of, [0, 1, 0, 1]);
    let before = best(&*mixed(true).scorer, 5);
    let after = best(&*model.scorer, 4);
    let kept = before.iter().filter(|scored| scored.class != 1);
    assert!(
        kept.map(|scored| scored.score)
            .eq(after.iter().map(|scored| scored.score))
    );

    let merged = mixed(true).merge_classes(&["a", "e"], "ae").unwrap();
    let bytes = merged.to_bytes().unwrap();
    let loaded = Model::from_bytes(&bytes, &Catalogue::new()).unwrap();
    assert!(loaded.scorer.as_merged().unwrap().inner().as_mixed().is_some());
    assert_eq!(best(&*loaded.scorer, 4), best(&*merged.scorer, 4));
}

#[test]
fn levels_are_compacted_too() {
    let scorer = mixed(true).scorer;
    let (weights, _) = scorer.weight_storage().unwrap();
    let smaller = scorer.with_largest_weights(weights / 2).unwrap();
    let (kept, _) = smaller.weight_storage().unwrap();
    assert!(kept <= weights / 2, "{kept} of {weights}");
    let single = mixed(true).scorer.with_precision(Precision::F16).unwrap();
    assert!(single.as_mixed().is_some());
    let drift = best(&*single, 1)[0].score - best(&*mixed(true).scorer, 1)[0].score;
    assert!(drift.abs() < 0.01, "{drift}");
}
