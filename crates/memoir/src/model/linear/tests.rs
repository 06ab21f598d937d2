//! Tests of the linear scorer, its bias and its normalised form.

use proptest::prelude::*;

use super::*;
use crate::model::LinearBuilder;

fn row(entries: &[(u32, f32)]) -> (Vec<u32>, Vec<f32>) {
    entries.iter().copied().unzip()
}

/// Postings of each feature, from a dense table in which 0 means none.
fn build(table: &[Vec<i8>], classes: usize, precision: Precision) -> Linear {
    let mut builder = LinearBuilder::new(classes);
    for feature in table {
        let postings = feature.iter().enumerate();
        builder.push_feature(postings.map(|(class, &weight)| (class as u32 * 7, f32::from(weight) / 4.0)));
    }
    builder.finish(precision)
}

proptest! {
    #[test]
    fn best_classes_are_those_of_a_full_sort(
        table in proptest::collection::vec(proptest::collection::vec(-3i8..4, 40), 6),
        entries in proptest::collection::btree_map(0u32..9, -2i8..3, 0..6),
        biased: bool, long_ids: bool, half: bool,
        k in 0usize..300,
    ) {
        let classes = if long_ids { 70_000 } else { 280 };
        let precision = if half { Precision::F16 } else { Precision::F32 };
        let mut linear = build(&table, classes, precision);
        if biased {
            linear = linear.with_bias((0..classes).map(|class| ((class * 31) % 5) as f32 - 2.0).collect());
        }
        let entries: Vec<_> = entries.into_iter().map(|(index, value)| (index, f32::from(value))).collect();
        let (indices, values) = row(&entries);
        let row = RowView { indices: &indices, values: &values };

        let mut expected: Vec<_> = (0..classes as u32)
            .map(|class| {
                let mut score = linear.bias(class);
                for (feature, value) in row.iter() {
                    let weights = table.get(feature as usize).filter(|_| class % 7 == 0);
                    let weight = weights.and_then(|weights| weights.get(class as usize / 7));
                    score += value * weight.map_or(0.0, |&weight| f32::from(weight) / 4.0);
                }
                Scored { class, score }
            })
            .collect();
        prop_assert_eq!(linear.scores(row), expected.iter().map(|scored| scored.score).collect::<Vec<_>>());
        expected.sort_by(Scored::order);
        expected.truncate(k);
        let mut scratch = Scratch::default();
        let mut got = Vec::new();
        for _ in 0..2 {
            linear.top_k(row, k, &mut scratch, &mut got);
            prop_assert_eq!(&got, &expected);
        }
        for scored in expected.iter().take(3) {
            let parts = linear.contributions(row, scored.class).unwrap();
            let sum = parts.iter().fold(linear.bias(scored.class), |sum, (_, part)| sum + part);
            prop_assert_eq!(sum, scored.score);
        }
    }
}

#[test]
fn one_scratch_serves_scorers_of_other_sizes() {
    let small = build(&[vec![1, 2]], 8, Precision::F32);
    let large = build(&[vec![1; 100]], 70_000, Precision::F32);
    let row = RowView {
        indices: &[0],
        values: &[1.0],
    };
    let mut scratch = Scratch::default();
    let mut best = Vec::new();
    for _ in 0..2 {
        small.top_k(row, 1, &mut scratch, &mut best);
        assert_eq!((best[0].class, best[0].score), (7, 0.5));
        large.top_k(row, 70_000, &mut scratch, &mut best);
        assert_eq!(best.len(), 70_000);
        assert_eq!((best[0].class, best[0].score), (0, 0.25));
    }
}

#[test]
fn weights_of_a_class_and_of_a_feature() {
    let linear = build(&[vec![1, 0], vec![], vec![2, 3]], 8, Precision::F16);
    assert_eq!(linear.class_weights(0).unwrap(), [(0, 0.25), (2, 0.5)]);
    assert_eq!(linear.class_weights(3).unwrap(), []);
    let mut seen = Vec::new();
    linear.visit_feature(2, |class, weight| seen.push((class, weight)));
    assert_eq!(seen, [(0, 0.5), (7, 0.75)]);
    linear.visit_feature(99, |_, _| panic!("there is no such feature"));
    assert_eq!(linear.weight_storage(), Some((3, "f16")));
    assert_eq!((linear.stored_weights(), linear.features()), (3, 3));
}
