//! Weights of rows: what `--weight-column` means with every algorithm.

use crate::support::Workplace;

const ALGORITHMS: [&str; 12] = [
    "softmax",
    "memoir-l2",
    "memoir-l1",
    "memoir-lsh",
    "ovr",
    "msvm",
    "recall-tree",
    "fastxml",
    "pfastrexml",
    "pd-sparse",
    "centroid",
    "knn",
];

/// Whether a row is of the class that its words speak of.
fn is_right(row: usize) -> bool {
    (row / 4).is_multiple_of(2)
}

/// Rows whose weights `weigh` tells by their number. Each text is there with the right class and, as often,
/// with the next.
fn table(weigh: impl Fn(usize) -> f32) -> String {
    let rows = (0..120).map(|row| {
        let (class, word) = (row % 4, row / 8 % 3);
        let label = if is_right(row) { class } else { (class + 1) % 4 };
        format!("c{label},{},w{class} v{word}\n", weigh(row))
    });
    std::iter::once("label,weight,text\n".to_owned())
        .chain(rows)
        .collect()
}

#[test]
fn only_ratios_of_weights_matter() {
    let place = Workplace::new();
    let right = |row: usize| if is_right(row) { 2.0 } else { 0.25 };
    place.file("none.csv", table(|_| 1.0));
    place.file("same.csv", table(|_| 32.0));
    place.file("small.csv", table(right));
    // A power of two, so that nothing is rounded.
    place.file("large.csv", table(|row| 4096.0 * right(row)));
    for algorithm in ALGORITHMS {
        let more = match algorithm {
            "memoir-lsh" => " --dimensions 8 --iterations 4",
            "fastxml" | "pfastrexml" => " --trees 4",
            _ => "",
        };
        let scores = |name: &str| {
            place.stdout(&format!(
                "train {name}.csv --weight-column weight --model m --algorithm {algorithm}{more} --quiet"
            ));
            place.stdout("predict m none.csv --raw-scores --top-k 2 --quiet")
        };
        let (none, small) = (scores("none"), scores("small"));
        assert_eq!(none, scores("same"), "{algorithm}");
        assert_eq!(small, scores("large"), "{algorithm}");
        assert_ne!(none, small, "{algorithm} takes no notice of weights");
    }
}
