use super::*;
use crate::Catalogue;
use crate::model::reclassify::tests::model as plain_model;
use crate::model::{Mixed, Model, Scorer, Scratch};
use crate::sparse::Scored;

const ROW: RowView<'_> = RowView {
    indices: &[0, 2],
    values: &[1.0, 0.5],
};

fn name(words: &[u32], stems: &[u32], opening: &[u32]) -> NameFeatures {
    NameFeatures {
        words: words.to_vec(),
        stems: stems.to_vec(),
        opening: opening.to_vec(),
    }
}

/// Names of five classes. The row has that of the second by its stems, opens with that of the third, and has
/// half of that of the fourth; the first has none.
fn names() -> NameMatches {
    let names = [
        (name(&[], &[], &[]), 9.0),
        (name(&[1], &[0, 2], &[]), 1.0),
        (name(&[0], &[], &[2]), 2.0),
        (name(&[0, 1], &[1, 2], &[]), 4.0),
        (name(&[1], &[], &[1]), 8.0),
    ];
    NameMatches::new(names).with_weights(NameWeights {
        whole: 10.0,
        opening: 100.0,
    })
}

fn named(fixed: bool) -> Model {
    let mut model = plain_model(&[[7, -3, 0, 2, 0], [0, 5, 6, 0, -2], [1, 1, 0, 4, 9]], fixed);
    model.scorer = Box::new(Mixed::new(model.scorer, Vec::new()).with_names(names()));
    model
}

fn best(scorer: &dyn Scorer, k: usize) -> Vec<Scored> {
    let mut out = Vec::new();
    scorer.top_k(ROW, k, &mut Scratch::default(), &mut out);
    out
}

#[test]
fn names_that_are_found_whole_count() {
    let names = names();
    let scores: Vec<f32> = (0..6).map(|class| names.score(ROW, class)).collect();
    assert_eq!(scores, [0.0, 10.0, 220.0, 0.0, 0.0, 0.0]);
    for fixed in [false, true] {
        let model = named(fixed);
        let own = best(model.scorer.as_mixed().unwrap().inner(), 5);
        for scored in best(&*model.scorer, 5) {
            let before = own.iter().find(|own| own.class == scored.class).unwrap();
            assert_eq!(scored.score, before.score + scores[scored.class as usize]);
        }
        assert_eq!(best(&*model.scorer, 1)[0].class, 2);
        assert_ne!(own[0].class, 2, "names decide here");
    }
}

#[test]
fn explanations_add_up() {
    let explanation = named(true).explain_row(ROW).unwrap();
    for candidate in [&explanation.answer, explanation.runner_up.as_ref().unwrap()] {
        assert!(candidate.rounding.abs() < 1e-3, "{}", candidate.rounding);
    }
}

#[test]
fn a_file_holds_the_names() {
    for fixed in [false, true] {
        let model = named(fixed);
        let bytes = model.to_bytes().unwrap();
        let loaded = Model::from_bytes(&bytes, &Catalogue::new()).unwrap();
        assert_eq!(best(&*loaded.scorer, 5), best(&*model.scorer, 5));
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        assert_eq!(loaded.scorer.kind(), "named");
    }
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let refused = |starts: Vec<u32>, features: Vec<u32>, rarity: Vec<f32>, whole: f32| {
        let arrays = (starts.into(), features.into(), rarity.into());
        let weights = NameWeights { whole, opening: 0.0 };
        NameMatches::from_storage(arrays, weights, (1, 3)).err()
    };
    assert_eq!(refused(vec![0, 1, 2, 2], vec![0, 2], vec![1.0], 0.1), None);
    let says = |message: Option<String>, words: &str| {
        let message = message.expect("refused");
        assert!(message.contains(words), "{message}");
    };
    says(
        refused(vec![0, 1, 2], vec![0, 2], vec![1.0], 0.1),
        "for 1 classes",
    );
    says(
        refused(vec![0, 1, 2, 2], vec![0, 2], vec![], 0.1),
        "for 1 classes",
    );
    for starts in [[0, 2, 1, 2], [1, 1, 2, 2], [0, 1, 2, 9]] {
        says(
            refused(starts.to_vec(), vec![0, 2], vec![1.0], 0.1),
            "does not divide",
        );
    }
    says(refused(vec![0, 1, 2, 2], vec![0, 3], vec![1.0], 0.1), "feature 3");
    says(
        refused(vec![0, 1, 2, 2], vec![0, 2], vec![f32::NAN], 0.1),
        "not a number",
    );
    says(
        refused(vec![0, 1, 2, 2], vec![0, 2], vec![1.0], f32::INFINITY),
        "not a number",
    );
}

#[test]
fn names_stay_with_their_classes() {
    let model = named(true).retire_classes(&["b"]).unwrap();
    let kept = model.scorer.as_mixed().unwrap().names().unwrap();
    assert_eq!(kept.score(ROW, 1), 220.0);
    assert_eq!(kept.check(4, 3), Ok(()));
    let more = names().for_more_classes(7);
    assert_eq!(more.check(7, 3), Ok(()));
    assert_eq!((more.score(ROW, 2), more.score(ROW, 6)), (220.0, 0.0));
    let merged = named(true).merge_classes(&["a", "e"], "ae").unwrap();
    let loaded = Model::from_bytes(&merged.to_bytes().unwrap(), &Catalogue::new()).unwrap();
    assert_eq!(best(&*loaded.scorer, 4), best(&*merged.scorer, 4));
}
