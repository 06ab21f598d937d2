//! The oracles by name, with their parameters.

use super::{Exact, Oracle, Random};
use crate::params::{Kind, Spec, Values};
use crate::sparse::ClassRows;
use crate::{Error, Result};

/// The parameters by which an oracle is chosen; part of the table of every algorithm that asks one.
pub const ORACLE_PARAMS: &[Spec] = &[ORACLE];

const ORACLE: Spec = Spec {
    name: "oracle",
    kind: Kind::Choice(&["exact", "random"]),
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
}

impl OracleKind {
    /// The choice that `values` of a table with [`ORACLE_PARAMS`] hold.
    pub fn from_values(values: &Values) -> Result<Self> {
        match values.word("oracle") {
            Some("exact") => Ok(Self::Exact),
            Some("random") => Ok(Self::Random),
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
        }
    }
}
