//! Tests of packed weights against those they were packed from.

use proptest::prelude::*;

use super::*;
use crate::model::FixedScorer;
use crate::sparse::fixed_point::Posting;

fn fixed(table: &[Vec<i16>]) -> FixedScorer<Narrow> {
    let classes = table.first().map_or(0, Vec::len);
    let (mut offsets, mut postings) = (vec![0], vec![]);
    for row in table {
        let stored = (0u32..).zip(row).filter(|(_, weight)| **weight != 0);
        postings.extend(stored.map(|(class, &weight)| Narrow::new(class, weight)));
        offsets.push(postings.len() as u64);
    }
    FixedScorer::new(classes, offsets, postings)
}

fn top(scorer: &dyn Scorer, row: RowView<'_>) -> Vec<Scored> {
    let mut out = vec![];
    scorer.top_k(row, 5, &mut Scratch::default(), &mut out);
    out
}

proptest! {
    #[test]
    fn sixteen_bits_score_like_the_original_and_eight_nearly(
        table in proptest::collection::vec(proptest::collection::vec(prop_oneof![Just(0i16), -9000i16..9000], 300), 4),
        values in proptest::collection::vec(0.01f32..1.0, 4),
    ) {
        let original = fixed(&table);
        let row = RowView { indices: &[0, 1, 2, 3], values: &values };
        let exact = PackedScorer::of(&original, Bits::Sixteen).unwrap();
        prop_assert_eq!(top(&exact, row), top(&original, row));
        prop_assert!(exact.check_content().is_ok());
        prop_assert_eq!(exact.class_weights(7), original.class_weights(7));
        let packed = PackedScorer::of(&original, Bits::Eight).unwrap();
        let close = 4.0 * 9000.0 / 127.0 / WEIGHT_UNITS;
        for (a, b) in top(&packed, row).iter().zip(top(&original, row)) {
            prop_assert!((a.score - b.score).abs() < close);
            let sum: f32 = packed.contributions(row, a.class).unwrap().iter().map(|term| term.1).sum();
            prop_assert!((sum - a.score).abs() < 1e-4);
        }
        let fewer = Box::new(packed).with_largest_weights(10).unwrap();
        prop_assert!(fewer.weight_storage().unwrap().0 <= 10);
    }
}
