//! "Which wrong class scores highest?" Training a margin classifier asks this for every example; an oracle
//! answers it, exactly or nearly so.
//!
//! An oracle keeps an index of the classes' weight vectors. It is asked by many threads at once while the
//! weights are frozen, and told after each batch which vectors have changed. Classes whose vectors are all
//! zero are never in an index: [`rivals`] adds them by the rule of the paper's authors. Every implementation
//! passes the contract suite of `tests/oracles`.

mod exact;
mod kind;
mod random;
mod scan;
mod simple_lsh;
mod sw_graph;

use crate::model::Scratch;
use crate::sparse::{RowView, Scored};
use crate::{Result, Session};

pub use crate::sparse::{ClassDense, ClassRows, ClassVectors, VectorBuffer};
pub use exact::Exact;
pub use kind::{OracleChoice, OracleKind, OracleParams, Scannable};
pub use random::Random;
pub use scan::Scan;
pub use simple_lsh::{HashSearch, SimpleLsh, SimpleLshParams};
pub use sw_graph::{SwGraph, SwGraphParams};

/// One question to an oracle.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The example: `x_j`.
    pub row: RowView<'a>,
    /// Its true classes, sorted; they are never part of the answer.
    pub labels: &'a [u32],
    /// How many rivals are wanted.
    pub k: usize,
    /// A random number of this example's own, so that answers do not depend on who asks first.
    pub draw: u64,
}

/// Finds the strongest wrong classes among those whose vectors are not zero.
pub trait Oracle<W: ClassVectors>: Send + Sync {
    /// Name as in `--oracle NAME`.
    fn name(&self) -> &'static str;

    /// Takes note that the vectors of the classes `changed` (increasing) are no longer what they were: some
    /// are new, some have become zero. A new oracle knows no class.
    fn update(&mut self, weights: &W, changed: &[u32], session: &Session<'_>) -> Result<()>;

    /// Writes up to `query.k` strong classes with their unscaled scores to `out`, best first, and returns
    /// how many inner products of a class's vector with the row that took. Neither true classes nor those
    /// with zero vectors are among them. The answer depends on the weights, the updates and the query alone.
    fn search(&self, weights: &W, query: &Query<'_>, scratch: &mut Scratch, out: &mut Vec<Scored>) -> usize;
}

/// The strongest rivals of an example, best first, with unscaled scores: `r_j := argmax x_j^T w_r` over the
/// wrong classes, as well as the oracle can tell. Returns the number of inner products.
///
/// While some classes still have zero vectors, no class with a score of zero or less is the strongest: a
/// class with a zero vector, taken at random, comes before it with a score of exactly 0.
pub fn rivals<W: ClassVectors>(
    oracle: &dyn Oracle<W>,
    weights: &W,
    query: &Query<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<Scored>,
) -> usize {
    let inner_products = oracle.search(weights, query, scratch, out);
    let positive = out.iter().take_while(|rival| rival.score > 0.0).count();
    if positive < query.k
        && let Some(class) = weights.zeros().pick(query.labels, query.draw)
    {
        out.insert(positive, Scored { class, score: 0.0 });
        out.truncate(query.k);
    }
    inner_products
}
