//! The oracles by name, with their parameters.

use super::{Exact, HashSearch, Oracle, Random, Scan, SimpleLsh, SimpleLshParams, SwGraph, SwGraphParams};
use crate::params::Kind;
use crate::sparse::{ClassDense, ClassRows, ClassVectors};
use crate::{choices, parameters};

parameters! {
    /// The parameters by which an oracle is chosen; part of those of every algorithm that asks one.
    pub struct OracleParams {
        /// How the strongest wrong class of an example is searched for
        oracle: OracleChoice = "exact";
        /// sw-graph: classes that a class is linked to
        sw_neighbors: usize = "10" in Kind::Integer(1, 1000);
        /// sw-graph: breadth of the search for the neighbours of a class
        sw_ef_construction: usize = "32" in Kind::Integer(1, 100_000);
        /// sw-graph: breadth of the search for rivals
        sw_ef_search: usize = "32" in Kind::Integer(1, 100_000);
        /// sw-graph: classes sharing features with the row that a search starts from; 0: random ones, as in
        /// the original
        sw_seeds: usize = "512" in Kind::Integer(0, 1000);
        /// simple-lsh: signs in the code of a class
        hash_bits: usize = "64" in Kind::Integer(1, 4096);
        /// simple-lsh: whether all codes are compared (hamming), or those that share a part with the row's
        /// (buckets), and the best by score of those found is taken; or the class with the nearest code,
        /// whatever its score (nearest)
        hash_search: HashSearch = "hamming";
        /// simple-lsh, hamming: classes with the nearest codes that are scored exactly
        hash_candidates: usize = "256" in Kind::Integer(1, 1_000_000);
        /// simple-lsh, buckets: signs in a part of the code; there is a table for each part
        hash_key_bits: usize = "8" in Kind::Integer(1, 20);
        /// simple-lsh, buckets: least certain signs of each part that are also tried flipped
        hash_probes: usize = "2" in Kind::Integer(0, 20);
    }
}

choices! {
    /// The oracles by name.
    pub enum OracleChoice {
        /// [`Exact`].
        Exact = "exact",
        /// [`Random`].
        Random = "random",
        /// [`SimpleLsh`].
        SimpleLsh = "simple-lsh",
        /// [`SwGraph`].
        SwGraph = "sw-graph",
    }
}

/// An oracle with its parameters, not made yet.
#[derive(Debug, Clone, PartialEq)]
pub enum OracleKind {
    /// [`Exact`].
    Exact,
    /// [`Random`].
    Random,
    /// [`SimpleLsh`].
    SimpleLsh(SimpleLshParams),
    /// [`SwGraph`].
    SwGraph(SwGraphParams),
}

impl From<&OracleParams> for OracleKind {
    fn from(params: &OracleParams) -> Self {
        match params.oracle {
            OracleChoice::Exact => Self::Exact,
            OracleChoice::Random => Self::Random,
            OracleChoice::SwGraph => Self::SwGraph(SwGraphParams {
                neighbors: params.sw_neighbors,
                ef_construction: params.sw_ef_construction,
                ef_search: params.sw_ef_search,
                seeds: params.sw_seeds,
            }),
            OracleChoice::SimpleLsh => Self::SimpleLsh(SimpleLshParams {
                bits: params.hash_bits,
                search: params.hash_search,
                candidates: params.hash_candidates,
                key_bits: params.hash_key_bits,
                probes: params.hash_probes,
            }),
        }
    }
}

impl OracleKind {
    /// Makes the oracle; it knows no class yet. Its own random choices follow from `seed`.
    pub fn build<W: Scannable>(&self, seed: u64) -> Box<dyn Oracle<W>> {
        match self {
            Self::Exact => W::exact(),
            Self::Random => Box::new(Random),
            Self::SimpleLsh(params) => Box::new(SimpleLsh::new(*params, seed)),
            Self::SwGraph(params) => Box::new(SwGraph::new(*params)),
        }
    }
}

/// Vectors in a form for which there is an exact oracle.
pub trait Scannable: ClassVectors + Sized {
    /// The oracle that misses nothing; it knows no class yet.
    fn exact() -> Box<dyn Oracle<Self>>;
}

impl Scannable for ClassRows {
    fn exact() -> Box<dyn Oracle<Self>> {
        Box::new(Exact::default())
    }
}

impl Scannable for ClassDense {
    fn exact() -> Box<dyn Oracle<Self>> {
        Box::new(Scan)
    }
}
