//! The oracles by name, with their parameters.

use super::{Exact, HashSearch, Oracle, Random, Scan, SimpleLsh, SimpleLshParams, SwGraph, SwGraphParams};
use crate::params::{Kind, Spec, Values};
use crate::sparse::{ClassDense, ClassRows, ClassVectors};
use crate::{Error, Result};

/// The parameters by which an oracle is chosen; part of the table of every algorithm that asks one.
pub const ORACLE_PARAMS: &[Spec] = &[
    ORACLE,
    Spec {
        name: "sw-neighbors",
        kind: Kind::Integer(1, 1000),
        default: "10",
        help: "sw-graph: classes that a class is linked to",
    },
    Spec {
        name: "sw-ef-construction",
        kind: Kind::Integer(1, 100_000),
        default: "32",
        help: "sw-graph: breadth of the search for the neighbours of a class",
    },
    Spec {
        name: "sw-ef-search",
        kind: Kind::Integer(1, 100_000),
        default: "32",
        help: "sw-graph: breadth of the search for rivals",
    },
    Spec {
        name: "sw-seeds",
        kind: Kind::Integer(0, 1000),
        default: "512",
        help: "sw-graph: classes sharing features with the row that a search starts from; 0: random ones, as in the \
               original",
    },
    Spec {
        name: "hash-bits",
        kind: Kind::Integer(1, 4096),
        default: "64",
        help: "simple-lsh: signs in the code of a class",
    },
    Spec {
        name: "hash-search",
        kind: Kind::Choice(&["hamming", "buckets"]),
        default: "hamming",
        help: "simple-lsh: whether all codes are compared, or those that share a part with the row's",
    },
    Spec {
        name: "hash-candidates",
        kind: Kind::Integer(1, 1_000_000),
        default: "256",
        help: "simple-lsh, hamming: classes with the nearest codes that are scored exactly",
    },
    Spec {
        name: "hash-key-bits",
        kind: Kind::Integer(1, 20),
        default: "8",
        help: "simple-lsh, buckets: signs in a part of the code; there is a table for each part",
    },
    Spec {
        name: "hash-probes",
        kind: Kind::Integer(0, 20),
        default: "2",
        help: "simple-lsh, buckets: least certain signs of each part that are also tried flipped",
    },
];

const ORACLE: Spec = Spec {
    name: "oracle",
    kind: Kind::Choice(&["exact", "random", "simple-lsh", "sw-graph"]),
    default: "exact",
    help: "How the strongest wrong class of an example is searched for",
};

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

impl OracleKind {
    /// The choice that `values` of a table with [`ORACLE_PARAMS`] hold.
    pub fn from_values(values: &Values) -> Result<Self> {
        let size = |name: &str| {
            let missing = || Error::Parameter(format!("`{name}` must be given"));
            let value = values.integer(name).ok_or_else(missing)?;
            Ok::<_, Error>(value as usize)
        };
        match values.word("oracle") {
            Some("exact") => Ok(Self::Exact),
            Some("random") => Ok(Self::Random),
            Some("sw-graph") => Ok(Self::SwGraph(SwGraphParams {
                neighbors: size("sw-neighbors")?,
                ef_construction: size("sw-ef-construction")?,
                ef_search: size("sw-ef-search")?,
                seeds: size("sw-seeds")?,
            })),
            Some("simple-lsh") => Ok(Self::SimpleLsh(SimpleLshParams {
                bits: size("hash-bits")?,
                search: match values.word("hash-search") {
                    Some("buckets") => HashSearch::Buckets,
                    _ => HashSearch::Hamming,
                },
                candidates: size("hash-candidates")?,
                key_bits: size("hash-key-bits")?,
                probes: size("hash-probes")?,
            })),
            other => Err(Error::Parameter(format!(
                "`oracle` must be {}, but is `{}`",
                ORACLE.legal(),
                other.unwrap_or_default()
            ))),
        }
    }

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
