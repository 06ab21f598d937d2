//! No bound that `memoir margins` tells is below the exact loss that it bounds, whatever weights, rows and
//! oracle are.

use std::num::NonZeroUsize;

use memoir::eval::margins::{MarginReport, Margins};
use memoir::oracle::{ClassRows, ClassVectors, HashSearch, OracleKind, SimpleLshParams, SwGraphParams};
use memoir::{LabelSets, RowView, Rows, Session};
use proptest::prelude::*;

const FEATURES: usize = 6;

/// Oracles that are bad in different ways; hashing into buckets often finds no class at all.
fn oracles() -> Vec<OracleKind> {
    let hashes = |search| SimpleLshParams {
        bits: 8,
        search,
        candidates: 2,
        key_bits: 8,
        probes: 0,
    };
    let graph = SwGraphParams {
        neighbors: 1,
        ef_construction: 1,
        ef_search: 1,
        seeds: 0,
    };
    vec![
        OracleKind::Exact,
        OracleKind::Random,
        OracleKind::SimpleLsh(hashes(HashSearch::Hamming)),
        OracleKind::SimpleLsh(hashes(HashSearch::Buckets)),
        OracleKind::SimpleLsh(hashes(HashSearch::Nearest)),
        OracleKind::SwGraph(graph),
    ]
}

type Vector = Vec<(u32, f32)>;

fn vector() -> impl Strategy<Value = Vector> {
    proptest::collection::btree_map(0..FEATURES as u32, -2f32..2.0, 0..5)
        .prop_map(|map| map.into_iter().collect())
}

/// `f` on the vector as a view.
fn viewed<T>(vector: &Vector, f: impl FnOnce(RowView<'_>) -> T) -> T {
    let (indices, values): (Vec<u32>, Vec<f32>) = vector.iter().copied().unzip();
    f(RowView {
        indices: &indices,
        values: &values,
    })
}

/// The mean of `(1 - m / rho)_+` over all examples, from the definition of the margin.
fn exact_loss(weights: &ClassRows, rows: &Rows, labels: &LabelSets, rho: f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (row, labels) in rows.iter().zip(labels.iter()) {
        let classes = 0..weights.classes() as u32;
        let wrong = classes.filter(|class| !labels.contains(class));
        let best = wrong
            .map(|class| f64::from(weights.dot(class, row)))
            .fold(f64::NEG_INFINITY, f64::max);
        for &label in labels {
            let margin = f64::from(weights.dot(label, row)) - best;
            sum += (1.0 - margin / rho).max(0.0);
            count += 1.0;
        }
    }
    sum / count
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bound_is_below_the_exact_loss(
        vectors in proptest::collection::vec(vector(), 3..12),
        examples in proptest::collection::vec((vector(), proptest::collection::btree_set(0u32..12, 1..3)), 1..12),
        which in 0..6usize,
        seed in any::<u64>(),
        delta in 0.01..0.6f64,
        rho in 0.1..3f64,
    ) {
        let session = Session::new(NonZeroUsize::MIN).unwrap().with_seed(seed);
        let mut weights = ClassRows::new(vectors.len(), FEATURES);
        for (class, vector) in (0..).zip(&vectors) {
            viewed(vector, |view| weights.set(class, view));
        }
        let (mut rows, mut labels) = (Rows::new(), LabelSets::new());
        for (row, of) in &examples {
            viewed(row, |view| rows.push(view));
            let mut of: Vec<u32> = of.iter().map(|label| label % vectors.len() as u32).collect();
            of.sort_unstable();
            of.dedup();
            labels.push(of);
        }
        rows.set_width(FEATURES);
        let mut oracle = oracles()[which].build(seed);
        let all: Vec<u32> = (0..vectors.len() as u32).collect();
        oracle.update(&weights, &all, &session).unwrap();
        let margins = Margins::measure(oracle.as_ref(), &weights, 1.0, &rows, &labels, &session).unwrap();
        let report =
            MarginReport::new(&margins, oracle.name(), &weights, &rows, (delta, rho), &session).unwrap();
        let exact = exact_loss(&weights, &rows, &labels, rho);
        // Scores are added up in single precision, in one order by an index and in another here.
        let rounding = 1e-5 / rho;
        prop_assert!((report.exact_loss - exact).abs() < rounding, "{} {exact}", report.exact_loss);
        prop_assert_eq!(report.examples, labels.iter().map(<[u32]>::len).sum::<usize>());
        for terms in [report.theorem_1, report.theorem_1_strict] {
            prop_assert!(terms.loss >= report.exact_loss - 1e-9, "{} {}", terms.loss, report.exact_loss);
            // What is printed has six digits, and terms that are added are not negative.
            prop_assert!(terms.rademacher_bound > report.exact_loss && terms.kernel_bound > report.exact_loss);
            prop_assert!(terms.rademacher_term <= terms.kernel_term * (1.0 + 1e-9));
        }
        prop_assert!(report.approximate_loss <= report.exact_loss + rounding);
        if which == 0 {
            prop_assert!(report.unanswered == 0 && report.epsilon == 0.0);
            prop_assert!((report.theorem_1_strict.loss - report.exact_loss).abs() < 1e-9);
        }
    }
}

/// The classes of rows that a broken oracle leaves without a rival still count.
#[test]
fn rows_without_an_answer_are_part_of_the_bound() {
    let session = Session::new(NonZeroUsize::MIN).unwrap();
    let mut weights = ClassRows::new(3, 1);
    for (class, value) in [(0, 1.0), (1, 2.0), (2, -3.0)] {
        viewed(&vec![(0, value)], |view| weights.set(class, view));
    }
    let (mut rows, mut labels) = (Rows::new(), LabelSets::new());
    viewed(&vec![(0, 1.0)], |view| rows.push(view));
    labels.push([0]);
    rows.set_width(1);
    // It was never told of any class.
    let silent = oracles()[3].build::<ClassRows>(0);
    let margins = Margins::measure(silent.as_ref(), &weights, 1.0, &rows, &labels, &session).unwrap();
    assert_eq!((margins.exact.len(), &margins.unanswered[..]), (0, &[-1.0][..]));
    let report = MarginReport::new(&margins, "silent", &weights, &rows, (0.1, 1.0), &session).unwrap();
    assert_eq!((report.examples, report.unanswered), (1, 1));
    assert_eq!(
        (report.exact_loss, report.approximate_loss, report.recall_at_1),
        (2.0, 0.0, 0.0)
    );
    assert_eq!((report.theorem_1.loss, report.theorem_1.excess), (2.0, 2.0));
}
