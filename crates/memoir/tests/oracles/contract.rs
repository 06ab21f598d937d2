use memoir::model::Scratch;
use memoir::oracle::{ClassRows, ClassVectors, Oracle, OracleKind, Query, rivals};
use memoir::{RowView, Rows, Scored};
use rand::RngExt;

use crate::subjects;
use crate::world::{all, built, learned, query, random, rows, session, truth, unstructured, vector};

fn ask(oracle: &dyn Oracle<ClassRows>, weights: &ClassRows, query: &Query<'_>) -> Vec<Scored> {
    let mut found = vec![Scored { class: 0, score: 9.0 }];
    oracle.search(weights, query, &mut Scratch::default(), &mut found);
    check(&found, weights, query);
    found
}

/// What holds for every answer, however inexact.
fn check(found: &[Scored], weights: &ClassRows, query: &Query<'_>) {
    assert!(found.len() <= query.k);
    assert!(
        found.is_sorted_by(|a, b| a.order(b).is_lt()),
        "best first, no repeats: {found:?}"
    );
    for rival in found {
        assert!(!query.labels.contains(&rival.class), "a true class is no rival");
        assert!(
            !weights.zeros().contains(rival.class),
            "zero vectors are not searched"
        );
        let expected = weights.dot(rival.class, query.row);
        assert!((rival.score - expected).abs() <= 1e-5 * (1.0 + expected.abs()));
    }
}

/// Shares of the best and of the ten best rivals that are found.
fn recall(kind: &OracleKind, weights: &ClassRows, queries: &Rows, labels: &[u32]) -> (f64, f64) {
    let oracle = built(kind, weights);
    recall_of(oracle.as_ref(), weights, queries, labels)
}

fn recall_of(
    oracle: &dyn Oracle<ClassRows>,
    weights: &ClassRows,
    queries: &Rows,
    labels: &[u32],
) -> (f64, f64) {
    let (mut first, mut ten, mut wanted_in_all) = (0, 0, 0);
    for (index, row) in queries.iter().enumerate() {
        let query = query(row, &labels[index..=index], 10, index as u64);
        let expected = truth(weights, &query);
        let found = ask(oracle, weights, &query);
        let is_found = |wanted: &Scored| found.iter().any(|rival| rival.class == wanted.class);
        first += usize::from(is_found(&expected[0]));
        ten += expected.iter().filter(|wanted| is_found(wanted)).count();
        wanted_in_all += expected.len();
    }
    (
        first as f64 / queries.len() as f64,
        ten as f64 / wanted_in_all as f64,
    )
}

#[test]
fn the_strongest_are_found_on_learned_vectors() {
    let (weights, queries, labels) = learned(1500);
    for subject in subjects() {
        let (first, ten) = recall(&subject.kind, &weights, &queries, &labels);
        assert!(
            first >= subject.recall_at_1 && ten >= subject.recall_at_10,
            "{:?}: recall@1 {first:.3}, recall@10 {ten:.3}",
            subject.kind
        );
    }
}

#[test]
fn the_strongest_are_found_on_vectors_without_structure() {
    let weights = unstructured(1000);
    let mut random = random(3);
    let queries = rows((0..200).map(|_| vector(&mut random, 8)));
    let labels: Vec<u32> = (0..200).map(|_| random.random_range(0..1000)).collect();
    for subject in subjects() {
        let (first, _) = recall(&subject.kind, &weights, &queries, &labels);
        // No structure to walk along: a lower floor for those that rely on it.
        assert!(
            first >= 0.9 * subject.recall_at_1,
            "{:?}: recall@1 {first:.3}",
            subject.kind
        );
    }
}

#[test]
fn scores_of_the_exact_oracle_are_exact() {
    let (weights, queries, labels) = learned(300);
    let oracle = built(&OracleKind::Exact, &weights);
    for (index, row) in queries.iter().enumerate() {
        let query = query(row, &labels[index..=index], 7, 0);
        assert_eq!(ask(oracle.as_ref(), &weights, &query), truth(&weights, &query));
    }
}

#[test]
fn storms_of_insertions_deletions_and_replacements() {
    let (_, queries, labels) = learned(600);
    for subject in subjects() {
        let (mut weights, ..) = learned(600);
        let mut oracle = subject.kind.build(0);
        let mut random = random(4);
        for storm in 0..8 {
            // Few or many at once; a third of them vanish.
            let mut changed: Vec<u32> = (0..=storm * storm * 6)
                .map(|_| random.random_range(0..600))
                .collect();
            changed.sort_unstable();
            changed.dedup();
            if storm == 0 {
                changed = all(600);
            }
            for &class in &changed {
                let is_gone = random.random_range(0..3) == 0;
                let entries = if is_gone { vec![] } else { vector(&mut random, 20) };
                weights.set(class, rows([entries]).row(0));
            }
            oracle.update(&weights, &changed, &session(2)).unwrap();
            let (first, _) = recall_of(oracle.as_ref(), &weights, &queries, &labels);
            let floor = 0.9 * subject.recall_at_1;
            assert!(
                first >= floor,
                "{:?} after storm {storm}: recall@1 {first:.3}",
                subject.kind
            );
        }
        for class in 0..600 {
            weights.set(class, rows([vec![]]).row(0));
        }
        oracle.update(&weights, &all(600), &session(1)).unwrap();
        let query = query(queries.row(0), &[], 5, 0);
        assert!(
            ask(oracle.as_ref(), &weights, &query).is_empty(),
            "{:?}",
            subject.kind
        );
    }
}

#[test]
fn one_class_two_classes_duplicates_and_empty_rows() {
    let mut random = random(5);
    let single = vector(&mut random, 5);
    let row = rows([single.clone()]);
    let empty = RowView {
        indices: &[],
        values: &[],
    };
    for subject in subjects() {
        let one = crate::world::weights(&rows([single.clone()]));
        let oracle = built(&subject.kind, &one);
        assert!(ask(oracle.as_ref(), &one, &query(row.row(0), &[0], 3, 0)).is_empty());
        assert_eq!(ask(oracle.as_ref(), &one, &query(row.row(0), &[], 3, 0)).len(), 1);

        let two = crate::world::weights(&rows([single.clone(), vector(&mut random, 5)]));
        let oracle = built(&subject.kind, &two);
        let found = ask(oracle.as_ref(), &two, &query(row.row(0), &[0], 1, 0));
        assert_eq!(found[0].class, 1, "{:?}", subject.kind);

        let same = crate::world::weights(&rows((0..50).map(|_| single.clone())));
        let oracle = built(&subject.kind, &same);
        let found = ask(oracle.as_ref(), &same, &query(row.row(0), &[7], 10, 0));
        assert_eq!(found.len(), 10, "{:?}", subject.kind);
        ask(oracle.as_ref(), &same, &query(empty, &[7], 10, 0));
    }
}

#[test]
fn classes_with_zero_vectors_are_rivals_only_to_negative_scores() {
    // Class 0 scores 1 on feature 0 and -1 on feature 1; classes 1 to 4 are zero.
    let mut weights = ClassRows::new(5, 3);
    weights.set(
        0,
        RowView {
            indices: &[0, 1],
            values: &[1.0, -1.0],
        },
    );
    let positive = RowView {
        indices: &[0],
        values: &[1.0],
    };
    let negative = RowView {
        indices: &[1],
        values: &[1.0],
    };
    for subject in subjects() {
        let oracle = built(&subject.kind, &weights);
        let strongest = |row, labels: &[u32], draw| {
            let mut found = Vec::new();
            let query = query(row, labels, 1, draw);
            rivals(
                oracle.as_ref(),
                &weights,
                &query,
                &mut Scratch::default(),
                &mut found,
            );
            found.first().copied()
        };
        if !matches!(subject.kind, OracleKind::Random) {
            let found = strongest(positive, &[1], 0).unwrap();
            assert_eq!((found.class, found.score), (0, 1.0), "{:?}", subject.kind);
        }
        let mut seen = [false; 5];
        for draw in 0..40 {
            let found = strongest(negative, &[3], draw).unwrap();
            assert_eq!(found.score, 0.0);
            seen[found.class as usize] = true;
        }
        assert_eq!(seen, [false, true, true, false, true], "{:?}", subject.kind);
        let found = strongest(negative, &[1, 2, 3, 4], 0);
        assert!(found.is_none_or(|found| (found.class, found.score) == (0, -1.0)));
        let must_find = matches!(subject.kind, OracleKind::Exact);
        assert!(found.is_some() || !must_find, "{:?}", subject.kind);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (weights, queries, labels) = learned(500);
    let half: Vec<u32> = (0..500).filter(|class| class % 2 == 0).collect();
    for subject in subjects() {
        let answers = |threads| {
            let mut oracle = subject.kind.build(0);
            oracle.update(&weights, &all(500), &session(threads)).unwrap();
            oracle.update(&weights, &half, &session(threads)).unwrap();
            let rows = queries.iter().enumerate();
            rows.map(|(index, row)| {
                let query = query(row, &labels[index..=index], 10, index as u64);
                ask(oracle.as_ref(), &weights, &query)
            })
            .collect::<Vec<_>>()
        };
        let one = answers(1);
        assert!(one == answers(2) && one == answers(4), "{:?}", subject.kind);
    }
}

#[test]
fn a_raised_flag_stops_an_update() {
    let (weights, ..) = learned(50);
    for subject in subjects() {
        if matches!(subject.kind, OracleKind::Random) {
            continue;
        }
        let session = session(1);
        session.cancel().raise();
        let outcome = subject.kind.build(0).update(&weights, &all(50), &session);
        assert!(
            matches!(outcome, Err(memoir::Error::Cancelled)),
            "{:?}",
            subject.kind
        );
    }
}
