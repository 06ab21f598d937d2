//! Measures against values worked out by hand, by scikit-learn 1.9.1, and by a slow version that follows the
//! definitions.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::dataset::ClassNames;
use crate::sparse::Scored;

fn ranked(classes: &[u32]) -> Vec<Scored> {
    let scored = |(rank, &class): (usize, &u32)| Scored {
        class,
        score: -(rank as f32),
    };
    classes.iter().enumerate().map(scored).collect()
}

fn evaluate(rows: &[(Vec<u32>, Vec<u32>)]) -> Evaluation {
    let mut evaluation = Evaluation::new();
    for (labels, predicted) in rows {
        evaluation.add(labels, &ranked(predicted));
    }
    evaluation
}

fn names(count: usize) -> ClassNames {
    (0..count).map(|class| format!("class {class}")).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn one_label_per_row_as_scikit_learn() {
    let truth = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 0, 6];
    let best = [0, 1, 0, 1, 2, 2, 2, 0, 2, 0, 5, 0, 2];
    let rows: Vec<_> = truth
        .into_iter()
        .zip(best)
        .map(|(t, b)| (vec![t], vec![b]))
        .collect();
    let report = evaluate(&rows).report(&names(6), &[4, 2, 4, 1, 1, 1]);
    // accuracy_score, f1_score(average="macro"), precision_score(…), recall_score(…)
    assert!(close(report.accuracy, 0.538_461_538_461_538_4));
    assert!(close(report.macro_f1, 0.261_904_761_904_761_86));
    assert!(close(report.macro_precision, 0.242_857_142_857_142_88));
    assert!(close(report.macro_recall, 0.285_714_285_714_285_7));
    assert!(close(
        report.macro_f1_harmonic,
        2.0 * 0.242_857_142_857_142_88 * 0.285_714_285_714_285_7
            / (0.242_857_142_857_142_88 + 0.285_714_285_714_285_7)
    ));
    assert_eq!((report.rows, report.labels, report.classes), (13, 13, 7));
    assert_eq!(report.unknown_labels, 1, "class 6 has no training rows");
}

#[test]
fn several_labels_per_row_as_scikit_learn() {
    let labels = [
        vec![0, 2],
        vec![1],
        vec![0, 1, 3],
        vec![2, 3],
        vec![4],
        vec![1, 4],
    ];
    let best = [0, 2, 3, 2, 1, 4];
    let rows: Vec<_> = labels.into_iter().zip(best.map(|best| vec![best])).collect();
    let report = evaluate(&rows).report(&names(5), &[1; 5]);
    // On indicator matrices in which the best class is the only predicted one.
    assert!(close(report.macro_f1, 0.5));
    assert!(close(report.macro_precision, 0.7));
    assert!(close(report.macro_recall, 0.4));
    assert!(close(report.recall_at_1, 0.305_555_555_555_555_5));
}

#[test]
fn cut_offs_by_hand() {
    let rows = [
        (vec![1, 2], vec![2, 9, 8, 7, 1]), // 1 of 1, 1 of 3, 2 of 5
        (vec![3], vec![4, 3, 5]),          // 0, 1, 1; fewer than five predictions
        (vec![], vec![1]),                 // no labels: left out
        (vec![5], vec![]),                 // nothing predicted
    ];
    let report = evaluate(&rows).report(&names(10), &[1; 10]);
    assert_eq!((report.rows, report.unlabelled_rows), (3, 1));
    assert!(close(report.accuracy, 1.0 / 3.0));
    assert!(close(report.precision_at_1, 1.0 / 3.0));
    assert!(close(report.precision_at_3, 2.0 / 9.0));
    assert!(close(report.precision_at_5, 3.0 / 15.0));
    assert!(close(report.recall_at_1, 0.5 / 3.0));
    assert!(close(report.recall_at_3, 1.5 / 3.0));
    assert!(close(report.recall_at_5, 2.0 / 3.0));
}

#[test]
fn bands_and_confusions_by_hand() {
    let rows = [
        (vec![0], vec![0]),
        (vec![0], vec![1, 0]),
        (vec![0], vec![1, 0]),
        (vec![1], vec![1]),
        (vec![2], vec![0]),
        (vec![7], vec![0]),
    ];
    let report = evaluate(&rows).report(&names(4), &[6, 4, 1, 1]);
    let band = |band| {
        report
            .by_frequency
            .iter()
            .find(|b| b.band == band)
            .expect("present")
    };
    let head = band(Band::Head);
    assert_eq!((head.classes, head.labels), (1, 3));
    assert!(close(head.recall_at_1, 1.0 / 3.0) && close(head.recall_at_5, 1.0));
    assert!(close(head.macro_f1, 2.0 / 6.0));
    assert_eq!((band(Band::Middle).classes, band(Band::Middle).labels), (1, 1));
    assert_eq!((band(Band::Tail).classes, band(Band::Tail).labels), (2, 1));
    assert_eq!((band(Band::Unseen).classes, band(Band::Unseen).labels), (1, 1));
    let first = &report.confusions[0];
    assert_eq!(
        (first.truth.as_str(), first.predicted.as_str(), first.count),
        ("class 0", "class 1", 2)
    );
    assert_eq!(report.confusions[2].truth, "#7", "a class without a name");
}

#[test]
fn nothing_counted_gives_zeros() {
    let report = Evaluation::new().report(&names(2), &[1, 1]);
    assert_eq!(
        (report.accuracy, report.macro_f1, report.macro_f1_harmonic),
        (0.0, 0.0, 0.0)
    );
    assert_eq!((report.precision_at_5, report.recall_at_5), (0.0, 0.0));
}

#[test]
fn reports_survive_json() {
    let report = evaluate(&[(vec![0], vec![1])]).report(&names(2), &[2, 1]);
    let json = serde_json::to_string(&report).expect("serialises");
    assert!(json.contains("\"macro_f1\":0.0") && json.contains("\"band\":\"head\""));
    assert_eq!(serde_json::from_str::<Report>(&json).expect("reads back"), report);
}

/// The definitions written down once more, over sets and lists of everything.
fn slowly(rows: &[(Vec<u32>, Vec<u32>)]) -> BTreeMap<&'static str, f64> {
    let rows: Vec<_> = rows.iter().filter(|(labels, _)| !labels.is_empty()).collect();
    let count = (rows.len() as f64).max(1.0);
    let classes: BTreeSet<u32> = rows
        .iter()
        .flat_map(|(labels, predicted)| labels.iter().chain(predicted.first()).copied())
        .collect();
    let (mut f1, mut precision, mut recall) = (0.0, 0.0, 0.0);
    for class in &classes {
        let truth = rows.iter().filter(|(labels, _)| labels.contains(class)).count() as f64;
        let predicted = rows.iter().filter(|(_, p)| p.first() == Some(class)).count() as f64;
        let hits = rows
            .iter()
            .filter(|(labels, p)| labels.contains(class) && p.first() == Some(class));
        let hits = hits.count() as f64;
        if hits > 0.0 {
            precision += hits / predicted;
            recall += hits / truth;
            f1 += 2.0 * (hits / predicted) * (hits / truth) / (hits / predicted + hits / truth);
        }
    }
    let class_count = (classes.len() as f64).max(1.0);
    let overlap = |labels: &[u32], predicted: &[u32], k: usize| {
        predicted
            .iter()
            .take(k)
            .filter(|class| labels.contains(class))
            .count() as f64
    };
    let mean =
        |part: &dyn Fn(&[u32], &[u32]) -> f64| rows.iter().map(|(l, p)| part(l, p)).sum::<f64>() / count;
    BTreeMap::from([
        ("accuracy", mean(&|l, p| overlap(l, p, 1))),
        ("macro_f1", f1 / class_count),
        ("macro_precision", precision / class_count),
        ("macro_recall", recall / class_count),
        ("precision_at_3", mean(&|l, p| overlap(l, p, 3) / 3.0)),
        ("precision_at_5", mean(&|l, p| overlap(l, p, 5) / 5.0)),
        ("recall_at_3", mean(&|l, p| overlap(l, p, 3) / l.len() as f64)),
        ("recall_at_5", mean(&|l, p| overlap(l, p, 5) / l.len() as f64)),
    ])
}

fn some_rows() -> impl Strategy<Value = Vec<(Vec<u32>, Vec<u32>)>> {
    let classes =
        |most| proptest::sample::subsequence((0u32..9).collect::<Vec<_>>(), 0..=most).prop_shuffle();
    proptest::collection::vec((classes(4), classes(7)), 0..30)
}

proptest! {
    #[test]
    fn same_as_the_definitions(rows in some_rows()) {
        let report = serde_json::to_value(evaluate(&rows).report(&names(9), &[1; 9])).expect("serialises");
        for (measure, expected) in slowly(&rows) {
            let got = report[measure].as_f64().expect("a number");
            prop_assert!(close(got, expected), "{measure}: {got} instead of {expected}");
        }
    }

    #[test]
    fn splitting_the_rows_changes_nothing(rows in some_rows(), cut in 0usize..30) {
        let cut = cut.min(rows.len());
        let mut merged = evaluate(&rows[..cut]);
        merged.merge(&evaluate(&rows[cut..]));
        prop_assert_eq!(merged, evaluate(&rows));
    }
}
