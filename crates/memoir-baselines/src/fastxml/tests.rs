//! Whole forests: against naive prediction, over edge cases, thread counts and damage.

use memoir::model::{Scorer, Scratch};
use memoir::params::Parameters;
use memoir::{RowView, Scored};

use super::*;
use crate::test_data::{dataset, random_dataset, session};

fn fastxml(given: &[(&str, &str)]) -> FastXml {
    FastXml::new(&FastXmlParams::parse(given.iter().copied()).unwrap())
}

fn pfastrexml(given: &[(&str, &str)]) -> FastXml {
    FastXml::with_propensities(&PfastreXmlParams::parse(given.iter().copied()).unwrap())
}

fn top(scorer: &dyn Scorer, row: RowView<'_>, k: usize) -> Vec<Scored> {
    let mut out = Vec::new();
    scorer.top_k(row, k, &mut Scratch::default(), &mut out);
    out
}

fn accuracy(scorer: &dyn Scorer, data: &Dataset) -> f64 {
    let right = (0..data.len()).filter(|&row| {
        let best = top(scorer, data.rows.row(row), 1);
        data.labels.row(row).contains(&best[0].class)
    });
    right.count() as f64 / data.len() as f64
}

/// The leaf's shares of all classes, by walking one tree with dense rows.
fn naive_shares(tree: &Tree, row: RowView<'_>, width: usize, classes: usize) -> Vec<f32> {
    let mut dense = vec![0f32; width];
    row.iter()
        .for_each(|(feature, value)| dense[feature as usize] = value);
    let part = |ends: &[u64], node: usize| {
        let start = if node == 0 { 0 } else { ends[node - 1] as usize };
        start..ends[node] as usize
    };
    let mut node = 0;
    while tree.children[node] != [0, 0] {
        let mut score = f64::from(tree.bias[node]);
        for entry in part(&tree.separator_ends, node) {
            score += f64::from(dense[tree.features[entry] as usize]) * f64::from(tree.weights[entry]);
        }
        node = tree.children[node][usize::from(score > 0.0)] as usize;
    }
    let mut shares = vec![0.0; classes];
    for entry in part(&tree.leaf_ends, node) {
        shares[tree.classes[entry] as usize] += tree.shares[entry];
    }
    shares
}

#[test]
fn a_forest_predicts_the_mean_over_leaves() {
    let data = random_dataset(3, 300, 40, 12, 5);
    let learner = fastxml(&[("trees", "7"), ("max-leaf", "4")]);
    let session = session(2);
    let trees = learner
        .grow_trees(&data, &Gains::equal(data.classes.len()), &session)
        .unwrap();
    assert!(
        trees.iter().all(|tree| tree.children.len() > 20),
        "trees must have split"
    );
    let forest = learner.fit(&data, &session).unwrap();
    for row in data.rows.iter().take(100) {
        let mut mean = [0f32; 12];
        for tree in &trees {
            for (sum, share) in mean
                .iter_mut()
                .zip(naive_shares(tree, row, data.rows.width(), 12))
            {
                *sum += share;
            }
        }
        let mut expected: Vec<Scored> = (0..12)
            .map(|class| Scored {
                class,
                score: mean[class as usize] / 7.0,
            })
            .collect();
        expected.sort_by(Scored::order);
        assert_eq!(top(&forest, row, 12), expected);
        assert_eq!(top(&forest, row, 3), expected[..3]);
        assert_eq!(top(&forest, row, 99), expected);
    }
    assert!(accuracy(&forest, &data) > 0.7);
}

#[test]
fn leaves_hold_the_shares_of_their_rows() {
    let data = dataset(
        &[
            (vec![(0, 1.0)], vec![0, 1]),
            (vec![(0, 1.0)], vec![1]),
            (vec![], vec![2, 1]),
        ],
        3,
    );
    let learner = fastxml(&[("trees", "1"), ("labels-per-leaf", "2")]);
    let forest = learner.fit(&data, &session(1)).unwrap();
    let found = top(&forest, data.rows.row(0), 3);
    // Of the two classes with a third, the leaf keeps the lower number.
    let expected = [(1, 1.0), (0, 1.0 / 3.0), (2, 0.0)];
    assert_eq!(found.len(), 3);
    for (found, (class, score)) in found.iter().zip(expected) {
        assert_eq!(found.class, class);
        assert!((found.score - score).abs() < 1e-6);
    }
}

#[test]
fn class_means_give_the_second_opinion() {
    let data = random_dataset(5, 200, 30, 8, 4);
    let given = [("trees", "4"), ("alpha", "0.6"), ("gamma", "3")];
    let learner = pfastrexml(&given);
    let session = session(2);
    let gains = Gains::inverse_propensities(&data, 0.55, 1.5);
    let trees = learner.grow_trees(&data, &gains, &session).unwrap();
    let forest = learner.fit(&data, &session).unwrap();
    let width = data.rows.width();
    for row in data.rows.iter().take(40) {
        for found in top(&forest, row, 8) {
            let class = found.class as usize;
            let share: f32 = trees
                .iter()
                .map(|tree| naive_shares(tree, row, width, 8)[class])
                .sum();
            let mut mean = vec![0f64; width];
            let mut count = 0.0;
            for (other, labels) in data.rows.iter().zip(data.labels.iter()) {
                if labels.contains(&found.class) {
                    count += 1.0;
                    other
                        .iter()
                        .for_each(|(feature, value)| mean[feature as usize] += f64::from(value));
                }
            }
            let mut difference: Vec<f64> = mean.iter().map(|value| value / count).collect();
            row.iter()
                .for_each(|(feature, value)| difference[feature as usize] -= f64::from(value));
            let distance: f64 = difference.iter().map(|value| value * value).sum();
            let near = 1.0 / (1.0 + (1.5 * distance).exp());
            let expected = 0.6 * (f64::from(share) / 4.0).ln() + 0.4 * near.ln();
            let score = f64::from(found.score);
            assert!(
                score == expected || (score - expected).abs() < 1e-4,
                "{score}, not {expected}"
            );
        }
    }
    assert!(accuracy(&forest, &data) > 0.7);
}

#[test]
fn rare_labels_are_worth_more_in_leaves_with_propensities() {
    let mut rows = vec![(vec![(0, 1.0)], vec![0]); 9];
    rows.push((vec![(0, 1.0)], vec![1]));
    let data = dataset(&rows, 2);
    let share_of_rare = |learner: &FastXml| {
        let gains = match learner.propensities {
            Some(Propensities { a, b, .. }) => Gains::inverse_propensities(&data, a, b),
            None => Gains::equal(2),
        };
        let trees = learner.grow_trees(&data, &gains, &session(1)).unwrap();
        trees[0].shares[1] / trees[0].shares[0]
    };
    let plain = share_of_rare(&fastxml(&[("trees", "1")]));
    let scored = share_of_rare(&pfastrexml(&[("trees", "1")]));
    assert!((plain - 1.0 / 9.0).abs() < 1e-6);
    assert!(scored > 1.3 * plain, "{scored} against {plain}");
}

#[test]
fn one_row_one_class_and_empty_rows() {
    for learner in [fastxml(&[("trees", "3")]), pfastrexml(&[("trees", "3")])] {
        let one = dataset(&[(vec![(2, 1.0)], vec![0])], 1);
        let forest = learner.fit(&one, &session(1)).unwrap();
        assert_eq!(top(&forest, one.rows.row(0), 5).len(), 1);
        // Nothing tells these rows apart: one leaf, and the more frequent class wins.
        let mut empty = dataset(&vec![(vec![], vec![1]); 30], 3);
        empty.labels = memoir::LabelSets::new();
        (0..30).for_each(|row| empty.labels.push([u32::from(row % 3 > 0)]));
        let forest = learner.fit(&empty, &session(1)).unwrap();
        let found = top(&forest, empty.rows.row(0), 3);
        assert_eq!(
            found.iter().map(|scored| scored.class).collect::<Vec<_>>(),
            [1, 0, 2]
        );
        let unlabelled = dataset(&[(vec![(0, 1.0)], vec![])], 1);
        let message = learner.fit(&unlabelled, &session(1)).unwrap_err().to_string();
        assert_eq!(message, "there is nothing to learn from: no row has a label");
    }
}

#[test]
fn trees_do_not_depend_on_threads_but_on_the_seed() {
    let data = random_dataset(9, 400, 60, 20, 3);
    let learner = fastxml(&[("trees", "5"), ("max-leaf", "3")]);
    let gains = Gains::equal(20);
    let grow = |threads, seed| {
        let session = session(threads).with_seed(seed);
        learner.grow_trees(&data, &gains, &session).unwrap()
    };
    let one = grow(1, 4);
    assert_eq!(one, grow(2, 4));
    assert_eq!(one, grow(4, 4));
    assert_ne!(one, grow(1, 5));
    assert_ne!(one[0], one[1]);
}

#[test]
fn row_weights_count_like_repeated_rows() {
    let mut data = dataset(&[(vec![(0, 1.0)], vec![0]), (vec![(0, 1.0)], vec![1])], 2);
    data.weights = Some(vec![1.0, 3.0]);
    let forest = fastxml(&[("trees", "2")]).fit(&data, &session(1)).unwrap();
    let found = top(&forest, data.rows.row(0), 2);
    assert_eq!((found[0].class, found[0].score), (1, 0.75));
}

#[test]
fn a_raised_flag_stops_growing() {
    let data = random_dataset(1, 50, 20, 4, 9);
    let session = session(2);
    session.cancel().raise();
    for learner in [fastxml(&[]), pfastrexml(&[])] {
        assert!(matches!(learner.fit(&data, &session), Err(Error::Cancelled)));
    }
}
