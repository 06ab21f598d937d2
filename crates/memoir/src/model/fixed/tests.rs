//! Tests of the fixed-point scorer against sums of its own weights.

use super::*;

fn scorer() -> FixedScorer<Narrow> {
    let postings =
        [(0, 5), (2, -9), (1, 3), (0, -3), (2, 7)].map(|(class, weight)| Narrow::new(class, weight));
    FixedScorer::new(3, vec![0, 2, 3, 5], postings.to_vec())
}

#[test]
fn the_largest_weights_stay_and_equal_ones_go_together() {
    for (most, expected) in [(9, 5), (5, 5), (4, 3), (3, 3), (2, 2), (0, 0)] {
        let kept = Box::new(scorer()).with_largest_weights(most).unwrap();
        assert_eq!(kept.weight_storage().unwrap().0, expected, "{most}");
        assert_eq!(kept.features(), 3);
    }
    let kept = Box::new(scorer()).with_largest_weights(2).unwrap();
    let unit = |weight: i16| f32::from(weight) / WEIGHT_UNITS;
    assert_eq!(kept.class_weights(2).unwrap(), [(0, unit(-9)), (2, unit(7))]);
}

#[test]
fn contributions_add_up_to_the_score() {
    let scorer = scorer();
    let row = RowView {
        indices: &[0, 2],
        values: &[0.3, 0.4],
    };
    let mut out = vec![];
    scorer.top_k(row, 3, &mut Scratch::default(), &mut out);
    for best in out {
        let sum: f32 = scorer
            .contributions(row, best.class)
            .unwrap()
            .iter()
            .map(|term| term.1)
            .sum();
        assert!((sum - best.score).abs() < 1e-6);
    }
}

#[test]
fn trimmed_values_count_for_nothing() {
    let row = RowView {
        indices: &[0, 2],
        values: &[0.01, 0.4],
    };
    let top = |scorer: FixedScorer<Narrow>| {
        let mut out = vec![];
        scorer.top_k(row, 3, &mut Scratch::default(), &mut out);
        let parts = scorer.contributions(row, 2).unwrap();
        (out.iter().find(|best| best.class == 2).unwrap().score, parts)
    };
    let (whole, _) = top(scorer());
    let (trimmed, parts) = top(scorer().with_trim(0.1));
    assert!(trimmed > whole, "the small value spoke against class 2");
    assert_eq!(parts[0], (0, 0.0));
    let kept = Box::new(scorer().with_trim(0.1)).with_largest_weights(3).unwrap();
    assert_eq!(kept.tensors().len(), 3, "pruning keeps the share");
}

#[test]
fn dense_rows_score_like_postings() {
    let classes = 500u32;
    let postings: Vec<Narrow> = (0..classes)
        .map(|class| Narrow::new(class, (class % 89) as i16 - 40))
        .collect();
    let long = FixedScorer::new(classes as usize, vec![0, u64::from(classes)], postings.clone());
    assert_eq!(long.dense.len(), 1, "such a long row is worth a dense one");
    let short = FixedScorer {
        dense: FxHashMap::default(),
        ..FixedScorer::new(500, vec![0, 500], postings)
    };
    let row = RowView {
        indices: &[0],
        values: &[0.7],
    };
    let top = |scorer: &FixedScorer<Narrow>| {
        let mut out = vec![];
        scorer.top_k(row, 20, &mut Scratch::default(), &mut out);
        out
    };
    assert_eq!(top(&long), top(&short));
}
