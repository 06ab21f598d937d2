//! `fastxml` and `pfastrexml`: forests whose nodes are split so that labels can be ranked well on both
//! sides.
//!
//! Sources: Prabhu and Varma, "`FastXML`: a fast, accurate and stable tree-classifier for extreme
//! multi-label learning" (KDD 2014); Jain, Prabhu and Varma, "Extreme Multi-label Loss Functions for
//! Recommendation, Tagging, Ranking & Other Missing Label Applications" (KDD 2016).
//!
//! A node with rows `(x_i, y_i)` is split by minimising over the separator `w`, the sides `δ_i = ±1` and a
//! ranking of labels for each side `r+`, `r-`
//!
//! ```text
//! |w|_1 + Σ_i C_i ln(1 + exp(-δ_i w·x_i)) - Σ_{δ_i = 1} nDCG(r+, y_i) - Σ_{δ_i = -1} nDCG(r-, y_i)
//! ```
//!
//! first over sides and rankings by turns from a random start with `w = 0`, then over `w`, which takes the
//! rows apart. `C_i` makes both sides weigh alike. Leaves keep the share of their rows that have each label;
//! a forest predicts the mean over its trees.
//!
//! `pfastrexml` counts a label `1/p` times, where `p` is the propensity of its class: the chance that a true
//! label was written down, small for rare classes. Its classes are ranked anew with class means, see `tail`.
//!
//! Trees grow in parallel, each with a random generator of its own: the forest is the same at any thread
//! count.

mod gains;
mod grow;
mod partition;
mod scorer;
mod separator;
mod tail;
#[cfg(test)]
mod tests;

use memoir::catalogue::AlgorithmParams;
use memoir::params::Kind;
use memoir::train::{TrainRequest, Trained, Trainer};
use memoir::{Dataset, Error, Result, Session, parameters};
use rayon::prelude::*;

use gains::Gains;
use grow::{Grower, Tree, TreeParams};
use scorer::Forest;
use tail::Tail;

pub use scorer::FOREST_SCORER;

parameters! {
    /// Parameters of `fastxml`.
    pub struct FastXmlParams {
        /// Number of trees
        trees: usize = "50" in Kind::Integer(1, 10_000);
        /// Nodes with at most so many rows are not split
        max_leaf: usize = "10" in Kind::Integer(1, 1_000_000_000);
        /// How many labels a leaf keeps
        labels_per_leaf: usize = "100" in Kind::Integer(1, 1_000_000_000);
        /// Cost of the separators' logistic loss against their L1 norm; more gives more weights
        cost: f64 = "1" in Kind::Number(1e-6, 1e6);
    }
}

parameters! {
    /// Parameters of `pfastrexml`: those of `fastxml` and four more.
    pub struct PfastreXmlParams {
        /// A of the propensity model: how much rarer classes are missed more
        propensity_a: f64 = "0.55" in Kind::Number(0.0, 10.0);
        /// B of the propensity model: rows added to each class
        propensity_b: f64 = "1.5" in Kind::Number(0.0, 1000.0);
        /// Weight of the trees' opinion; the rest is that of the class means
        alpha: f64 = "0.8" in Kind::Number(0.0, 1.0);
        /// How quickly the opinion of a class mean falls with the distance
        gamma: f64 = "30" in Kind::Number(0.0, 1e6);
        ..forest: FastXmlParams;
    }
}

impl AlgorithmParams for FastXmlParams {
    const NAME: &'static str = "fastxml";
    const SUMMARY: &'static str =
        "A forest whose nodes are split for the best ranking of labels on both sides (nDCG).";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(FastXml::new(self)))
    }
}

impl AlgorithmParams for PfastreXmlParams {
    const NAME: &'static str = "pfastrexml";
    const SUMMARY: &'static str =
        "The fastxml forest with labels weighted by propensity, and classes ranked anew by their mean rows.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(FastXml::with_propensities(self)))
    }
}

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
    /// Without propensities.
    pub fn new(params: &FastXmlParams) -> Self {
        Self {
            trees: params.trees,
            tree: TreeParams {
                max_leaf: params.max_leaf,
                labels_per_leaf: params.labels_per_leaf,
                cost: params.cost,
            },
            propensities: None,
        }
    }

    /// With propensities.
    pub fn with_propensities(params: &PfastreXmlParams) -> Self {
        Self {
            propensities: Some(Propensities {
                a: params.propensity_a,
                b: params.propensity_b,
                alpha: params.alpha as f32,
                gamma: params.gamma as f32,
            }),
            ..Self::new(&params.forest)
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
        // The observer is told by this thread, between groups of trees that keep all workers busy for a
        // while.
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
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        Ok(Trained::new(self.fit(&request.data, session)?))
    }
}
