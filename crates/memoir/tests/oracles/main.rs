//! One contract for all oracles: each is held against a plain scan over all classes.

mod contract;
mod world;

use memoir::oracle::{HashSearch, OracleKind, SimpleLshParams, SwGraphParams};

/// An oracle with what may be expected of it.
struct Subject {
    kind: OracleKind,
    /// Least share of queries whose best rival is found, on vectors as training makes them.
    recall_at_1: f64,
    /// Least share of the ten best rivals that is found.
    recall_at_10: f64,
}

fn subjects() -> Vec<Subject> {
    let graph = SwGraphParams {
        neighbors: 16,
        ef_construction: 64,
        ef_search: 64,
        seeds: 32,
    };
    let hashes = SimpleLshParams {
        bits: 128,
        search: HashSearch::Hamming,
        candidates: 300,
        key_bits: 6,
        probes: 2,
    };
    let buckets = SimpleLshParams {
        search: HashSearch::Buckets,
        ..hashes
    };
    let nearest = SimpleLshParams {
        search: HashSearch::Nearest,
        ..hashes
    };
    let subject = |kind, recall_at_1, recall_at_10| Subject {
        kind,
        recall_at_1,
        recall_at_10,
    };
    vec![
        subject(OracleKind::Exact, 1.0, 1.0),
        subject(OracleKind::Random, 0.0, 0.0),
        subject(OracleKind::SimpleLsh(hashes), 0.8, 0.7),
        subject(OracleKind::SimpleLsh(buckets), 0.7, 0.6),
        subject(OracleKind::SimpleLsh(nearest), 0.0, 0.0),
        subject(OracleKind::SwGraph(graph), 0.95, 0.9),
        subject(
            OracleKind::SwGraph(SwGraphParams { seeds: 0, ..graph }),
            0.85,
            0.8,
        ),
    ]
}
