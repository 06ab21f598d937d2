//! Tests of weighting: idf, spread over classes, growth with new rows.

use super::*;
use crate::dataset::CalibrationSplit;
use std::num::NonZeroUsize;

fn rows(of: &[&[(u32, f32)]]) -> Rows {
    let mut rows = Rows::new();
    for row in of {
        rows.push_unsorted(&mut row.to_vec());
    }
    rows
}

fn close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
}

#[test]
fn log_tf_idf_by_hand() {
    // Three rows; feature 0 is in all, 1 in one, 2 in none.
    let mut rows = rows(&[&[(0, 1.0), (1, 2.0)], &[(0, 5.0)], &[(0, 1.0)]]);
    rows.set_width(3);
    let weighting = Weighting::fit(
        WeightingScheme::LogTfIdf,
        RowNeeds::default(),
        &rows,
        &LabelSets::new(),
    );
    assert_eq!(&weighting.document_frequency[..], [3, 1, 0]);
    // ln(4/4)+1, ln(4/2)+1, ln(4/1)+1
    assert!(close(
        &weighting.feature_weights,
        &[1.0, 1.693_147_2, 2.386_294_4]
    ));
    let mut values = [1.0, 2.0];
    weighting.apply(&[0, 1], &mut values);
    // (1, (1 + ln 2) * 1.6931472) = (1, 2.8667474), norm 3.0361572
    assert!(close(&values, &[0.329_364, 0.944_202_8]), "{values:?}");
    let mut values = [5.0];
    weighting.apply(&[0], &mut values);
    assert_eq!(values, [1.0]);
}

#[test]
fn counts_that_are_no_counts_do_no_harm() {
    let rows = rows(&[&[(0, 1.0), (1, 1.0), (2, 1.0)]]);
    let weighting = Weighting::fit(
        WeightingScheme::LogTfIdf,
        RowNeeds::default(),
        &rows,
        &LabelSets::new(),
    );
    let mut values = [0.0, -3.0, 0.1, 1.0];
    weighting.apply(&[0, 1, 2, 3], &mut values);
    assert_eq!(values, [0.0; 4]);
}

#[test]
fn unit_length_at_any_scale() {
    for scale in [1e-30f32, 1.0, 1e37] {
        let rows = rows(&[&[(0, 3.0 * scale), (1, -4.0 * scale)]]);
        let weighting = Weighting::fit(
            WeightingScheme::Unit,
            RowNeeds::default(),
            &rows,
            &LabelSets::new(),
        );
        let mut values = [3.0 * scale, -4.0 * scale];
        weighting.apply(&[0, 1], &mut values);
        assert!(close(&values, &[0.6, -0.8]), "{values:?}");
    }
}

#[test]
fn spread_features_weigh_less_and_rich_rows_more() {
    // Feature 0 always comes with class 0, feature 1 once with each of two classes.
    let rows = rows(&[&[(0, 3.0), (1, 4.0)], &[(0, 1.0)], &[(1, 1.0)]]);
    let mut labels = LabelSets::new();
    for label in [0, 0, 1] {
        labels.push([label]);
    }
    let needs = RowNeeds {
        length_power: 0.5,
        entropy_weighting: 0.25,
        ..RowNeeds::default()
    };
    let weighting = Weighting::fit(WeightingScheme::Unit, needs, &rows, &labels);
    assert!(close(&weighting.feature_weights, &[1.0, 0.75]));
    // Lengths are sqrt(18), 1 and 0.75.
    assert!((weighting.mean_length - (18f32.sqrt() + 1.75) / 3.0).abs() < 1e-6);
    let mut values = [3.0, 4.0];
    weighting.apply(&[0, 1], &mut values);
    let divisor = (18f32.sqrt() * weighting.mean_length).sqrt();
    assert!(close(&values, &[3.0 / divisor, 3.0 / divisor]), "{values:?}");
}

#[test]
fn raw_values_stay() {
    let rows = rows(&[&[(0, 7.5)]]);
    let weighting = Weighting::fit(
        WeightingScheme::Raw,
        RowNeeds::default(),
        &rows,
        &LabelSets::new(),
    );
    let mut values = [7.5];
    weighting.apply(&[0], &mut values);
    assert_eq!(values, [7.5]);
}

#[test]
fn detection() {
    assert_eq!(
        Weighting::detect(&rows(&[&[(0, 7.0), (3, 0.0)]])),
        WeightingScheme::LogTfIdf
    );
    assert_eq!(
        Weighting::detect(&rows(&[&[(0, 7.0), (3, 0.5)]])),
        WeightingScheme::Unit
    );
    assert_eq!(Weighting::detect(&rows(&[&[(0, -7.0)]])), WeightingScheme::Unit);
}

#[test]
fn all_rows_at_any_number_of_threads() {
    let mut plain = Rows::new();
    for row in 0..5000u32 {
        plain.push_unsorted(&mut (0..row % 7).map(|i| (row % 13 + i * i, (i + 1) as f32)).collect());
    }
    let weighting = Weighting::fit(
        WeightingScheme::LogTfIdf,
        RowNeeds::default(),
        &plain,
        &LabelSets::new(),
    );
    let mut one_by_one = plain.clone();
    for row in 0..plain.len() {
        let (indices, values) = one_by_one.row_mut(row);
        weighting.apply(indices, values);
    }
    for threads in [1, 2, 4] {
        let session = Session::new(NonZeroUsize::new(threads).unwrap()).unwrap();
        let mut all = plain.clone();
        weighting.apply_all(&mut all, &session).unwrap();
        assert_eq!(all, one_by_one);
    }
}

#[test]
fn a_raised_flag_stops_it() {
    let session = Session::new(NonZeroUsize::MIN).unwrap();
    session.cancel().raise();
    let mut rows = rows(&[&[(0, 1.0)]]);
    let weighting = Weighting::fit(
        WeightingScheme::Unit,
        RowNeeds::default(),
        &rows,
        &LabelSets::new(),
    );
    assert!(matches!(
        weighting.apply_all(&mut rows, &session),
        Err(crate::Error::Cancelled)
    ));
}

#[test]
fn labels_of_rows_set_aside_are_not_known() {
    let mut all = Rows::new();
    for row in 0..4000u32 {
        all.push_unsorted(&mut vec![(row % 30, 1.0), (30 + row % 700, 1.0)]);
    }
    let weights = |changed: Option<usize>| {
        let mut labels = LabelSets::new();
        for row in 0..4000usize {
            labels.push([if changed == Some(row) {
                200
            } else {
                row as u32 % 200
            }]);
        }
        let needs = RowNeeds {
            entropy_weighting: 0.5,
            ..RowNeeds::default()
        };
        let weighting = Weighting::fit(WeightingScheme::Unit, needs, &all, &labels);
        weighting.feature_weights.to_vec()
    };
    let mut labels = LabelSets::new();
    (0..4000u32).for_each(|row| labels.push([row % 200]));
    let choice = CalibrationSplit::of(&labels);
    let hashes = CalibrationSplit::hashes(&all);
    let is_aside = |row: &usize| choice.has(hashes[*row]);
    let aside = (0..4000).find(is_aside).unwrap();
    let other = (0..4000).find(|row| !is_aside(row)).unwrap();
    assert_eq!(weights(Some(aside)), weights(None));
    assert_ne!(weights(Some(other)), weights(None));
}

#[test]
fn blocks_by_hand() {
    // Features 0 and 1 are block 0, features 2 and 3 are block 1.
    let rows = rows(&[&[(0, 3.0), (1, 4.0), (2, 6.0), (3, 8.0)], &[(0, 1.0)]]);
    let layout = BlockLayout {
        of_feature: vec![0, 0, 1, 1],
        weights: vec![1.0, 0.5],
    };
    let fit = |length_power| {
        let needs = RowNeeds {
            length_power,
            ..RowNeeds::default()
        };
        Weighting::fit_blocks(
            WeightingScheme::Unit,
            needs,
            &rows,
            &LabelSets::new(),
            layout.clone(),
        )
    };
    // Each block gets length 1, then its share: 1 and 0.5 of a row of length 1.
    let together = 1.25f32.sqrt();
    let mut values = [3.0, 4.0, 6.0, 8.0];
    fit(1.0).apply(&[0, 1, 2, 3], &mut values);
    let expected = [0.6, 0.8, 0.3, 0.4].map(|value: f32| value / together);
    assert!(close(&values, &expected), "{values:?}");
    // A block that a row does not have leaves the others as they are.
    let mut values = [2.0];
    fit(1.0).apply(&[3], &mut values);
    assert!(close(&values, &[0.5 / together]), "{values:?}");
    // With power 0.5, lengths 5 and 10 are divided by the roots of themselves and of the mean lengths 3 and
    // 5.
    let weighting = fit(0.5);
    assert_eq!(weighting.blocks[0].mean_length, 3.0);
    assert_eq!(weighting.blocks[1].mean_length, 5.0);
    let mut values = [3.0, 4.0, 6.0, 8.0];
    weighting.apply(&[0, 1, 2, 3], &mut values);
    let (first, second) = (
        (5.0f32 * 3.0).sqrt() * together,
        2.0 * (10.0f32 * 5.0).sqrt() * together,
    );
    let expected = [3.0 / first, 4.0 / first, 6.0 / second, 8.0 / second];
    assert!(close(&values, &expected), "{values:?}");
}
