//! The oracles by name, with their parameters.

use super::{Exact, Oracle, Random, SwGraph, SwGraphParams};
use crate::params::{Kind, Spec, Values};
use crate::sparse::ClassRows;
use crate::{Error, Result};

/// The parameters by which an oracle is chosen; part of the table of every algorithm that asks one.
pub const ORACLE_PARAMS: &[Spec] = &[
    ORACLE,
    Spec {
        name: "sw-neighbors",
        kind: Kind::Integer(1, 1000),
        default: "16",
        help: "sw-graph: classes that a class is linked to",
    },
    Spec {
        name: "sw-ef-construction",
        kind: Kind::Integer(1, 100_000),
        default: "64",
        help: "sw-graph: breadth of the search for the neighbours of a class",
    },
    Spec {
        name: "sw-ef-search",
        kind: Kind::Integer(1, 100_000),
        default: "64",
        help: "sw-graph: breadth of the search for rivals",
    },
    Spec {
        name: "sw-seeds",
        kind: Kind::Integer(0, 1000),
        default: "8",
        help: "sw-graph: classes sharing features with the row that a search starts from; 0: random ones, as in the \
               original",
    },
];

const ORACLE: Spec = Spec {
    name: "oracle",
    kind: Kind::Choice(&["exact", "random", "sw-graph"]),
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
            other => Err(Error::Parameter(format!(
                "`oracle` must be {}, but is `{}`",
                ORACLE.legal(),
                other.unwrap_or_default()
            ))),
        }
    }

    /// Makes the oracle; it knows no class yet.
    pub fn build(&self) -> Box<dyn Oracle<ClassRows>> {
        match self {
            Self::Exact => Box::new(Exact::default()),
            Self::Random => Box::new(Random),
            Self::SwGraph(params) => Box::new(SwGraph::new(*params)),
        }
    }
}
