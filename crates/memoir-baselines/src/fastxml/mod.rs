//! `fastxml` and `pfastrexml`: forests whose nodes are split so that labels can be ranked well on both sides.
//!
//! Sources: Prabhu and Varma, "`FastXML`: a fast, accurate and stable tree-classifier for extreme multi-label learning"
//! (KDD 2014); Jain, Prabhu and Varma, "Extreme Multi-label Loss Functions for Recommendation, Tagging, Ranking &
//! Other Missing Label Applications" (KDD 2016).
//!
//! A node with rows `(x_i, y_i)` is split by minimising over the separator `w`, the sides `δ_i = ±1` and a ranking of
//! labels for each side `r+`, `r-`
//!
//! ```text
//! |w|_1 + Σ_i C_i ln(1 + exp(-δ_i w·x_i)) - Σ_{δ_i = 1} nDCG(r+, y_i) - Σ_{δ_i = -1} nDCG(r-, y_i)
//! ```
//!
//! first over sides and rankings by turns from a random start with `w = 0`, then over `w`, which takes the rows apart.
//! `C_i` makes both sides weigh alike. Leaves keep the share of their rows that have each label; a forest predicts
//! the mean over its trees.
//!
//! `pfastrexml` counts a label `1/p` times, where `p` is the propensity of its class: the chance that a true label was
//! written down, small for rare classes. Its classes are ranked anew with class means, see `tail`.
//!
//! Trees grow in parallel, each with a random generator of its own: the forest is the same at any thread count.

mod gains;
mod grow;
mod partition;
mod scorer;
mod separator;
mod tail;
#[cfg(test)]
mod tests;

use memoir::catalogue::Algorithm;
use memoir::model::Scorer;
use memoir::params::{Kind, Spec, Values};
use memoir::train::Trainer;
use memoir::{Dataset, Error, Result, Session};
use rayon::prelude::*;

use gains::Gains;
use grow::{Grower, Tree, TreeParams};
use scorer::Forest;
use tail::Tail;

pub use scorer::FOREST_SCORER;

/// The algorithm `fastxml`, for a catalogue.
pub const FASTXML: Algorithm = Algorithm {
    name: "fastxml",
    summary: "A forest whose nodes are split for the best ranking of labels on both sides (nDCG).",
    params: FASTXML_PARAMS,
    build: |values| Ok(Box::new(FastXml::new(values))),
};

/// The algorithm `pfastrexml`, for a catalogue.
pub const PFASTREXML: Algorithm = Algorithm {
    name: "pfastrexml",
    summary: "The fastxml forest with labels weighted by propensity, and classes ranked anew by their mean rows.",
    params: PFASTREXML_PARAMS,
    build: |values| Ok(Box::new(FastXml::with_propensities(values))),
};

const TREES: Spec = Spec {
    name: "trees",
    kind: Kind::Integer(1, 10_000),
    default: "50",
    help: "Number of trees",
};
const MAX_LEAF: Spec = Spec {
    name: "max-leaf",
    kind: Kind::Integer(1, u32::MAX as u64),
    default: "10",
    help: "Nodes with at most so many rows are not split",
};
const LABELS_PER_LEAF: Spec = Spec {
    name: "labels-per-leaf",
    kind: Kind::Integer(1, u32::MAX as u64),
    default: "100",
    help: "How many labels a leaf keeps",
};
const COST: Spec = Spec {
    name: "cost",
    kind: Kind::Number(1e-6, 1e6),
    default: "1",
    help: "Cost of the separators' logistic loss against their L1 norm; more gives more weights",
};

const FASTXML_PARAMS: &[Spec] = &[TREES, MAX_LEAF, LABELS_PER_LEAF, COST];

const PFASTREXML_PARAMS: &[Spec] = &[
    TREES,
    MAX_LEAF,
    LABELS_PER_LEAF,
    COST,
    Spec {
        name: "propensity-a",
        kind: Kind::Number(0.0, 10.0),
        default: "0.55",
        help: "A of the propensity model: how much rarer classes are missed more",
    },
    Spec {
        name: "propensity-b",
        kind: Kind::Number(0.0, 1000.0),
        default: "1.5",
        help: "B of the propensity model: rows added to each class",
    },
    Spec {
        name: "alpha",
        kind: Kind::Number(0.0, 1.0),
        default: "0.8",
        help: "Weight of the trees' opinion; the rest is that of the class means",
    },
    Spec {
        name: "gamma",
        kind: Kind::Number(0.0, 1e6),
        default: "30",
        help: "How quickly the opinion of a class mean falls with the distance",
    },
];

/// What `pfastrexml` adds.
#[derive(Debug, Clone, Copy)]
struct Propensities {
    a: f64,
    b: f64,
    alpha: f32,
    gamma: f32,
}

/// Learns forests, with or without propensities.
#[derive(Debug, Clone)]
pub struct FastXml {
    trees: usize,
    tree: TreeParams,
    propensities: Option<Propensities>,
}

impl FastXml {
    /// With the parameters of [`FASTXML`].
    pub fn new(values: &Values) -> Self {
        let integer = |name| values.integer(name).map_or(1, |value| value as usize);
        Self {
            trees: integer("trees"),
            tree: TreeParams {
                max_leaf: integer("max-leaf"),
                labels_per_leaf: integer("labels-per-leaf"),
                cost: values.number("cost").unwrap_or(1.0),
            },
            propensities: None,
        }
    }

    /// With the parameters of [`PFASTREXML`].
    pub fn with_propensities(values: &Values) -> Self {
        let number = |name| values.number(name).unwrap_or(0.0);
        Self {
            propensities: Some(Propensities {
                a: number("propensity-a"),
                b: number("propensity-b"),
                alpha: number("alpha") as f32,
                gamma: number("gamma") as f32,
            }),
            ..Self::new(values)
        }
    }

    fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Forest> {
        if data.labels.total() == 0 {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no row has a label".to_owned(),
            ));
        }
        let gains = match self.propensities {
            Some(Propensities { a, b, .. }) => Gains::inverse_propensities(data, a, b),
            None => Gains::equal(data.classes.len()),
        };
        let tail = match self.propensities {
            Some(Propensities { alpha, gamma, .. }) => Some(Tail::new(data, alpha, gamma, session)?),
            None => None,
        };
        let shape = (data.classes.len(), data.rows.width());
        let trees = self.grow_trees(data, &gains, session)?;
        Ok(Forest::new(shape, trees, tail))
    }

    fn grow_trees(&self, data: &Dataset, gains: &Gains, session: &Session<'_>) -> Result<Vec<Tree>> {
        let mut trees = Vec::with_capacity(self.trees);
        // The observer is told by this thread, between groups of trees that keep all workers busy for a while.
        let group = 4 * session.threads();
        while trees.len() < self.trees {
            session.progress("growing", trees.len() as u64, self.trees as u64, "trees");
            let numbers = trees.len()..self.trees.min(trees.len() + group);
            let grown: Vec<Tree> = session.run(|| {
                let grown = numbers.into_par_iter().with_max_len(1).map_init(
                    || Grower::new(data, gains, self.tree, session),
                    |grower, number| grower.grow(&mut session.random(&format!("fastxml tree {number}"))),
                );
                grown.collect::<Result<_>>()
            })?;
            trees.extend(grown);
        }
        session.progress("growing", self.trees as u64, self.trees as u64, "trees");
        Ok(trees)
    }
}

impl Trainer for FastXml {
    fn train(
        &self,
        data: &Dataset,
        _valid: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer>> {
        Ok(Box::new(self.fit(data, session)?))
    }
}
