//! Algorithms by name. A catalogue is a value: programs add the algorithms of other crates to the library's own.

use crate::model::{FIXED, LINEAR, PACKED, REDUCED, ScorerKind};
use crate::params::{Spec, Values};
use crate::train::softmax::SOFTMAX;
use crate::train::{CENTROID, MEMOIR_L1, MEMOIR_L2, MEMOIR_LSH, Trainer};
use crate::{Error, Result};

/// Makes a trainer from checked parameters.
pub type BuildTrainer = fn(&Values) -> Result<Box<dyn Trainer>>;

/// An algorithm as users see it.
#[derive(Debug, Clone, Copy)]
pub struct Algorithm {
    /// Name as in `--algorithm NAME`.
    pub name: &'static str,
    /// One sentence for help texts.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [Spec],
    /// Makes the trainer.
    pub build: BuildTrainer,
}

/// The algorithms a program offers.
#[derive(Debug, Clone)]
pub struct Catalogue {
    algorithms: Vec<Algorithm>,
    scorers: Vec<ScorerKind>,
}

impl Catalogue {
    /// The algorithm that is used when none is named.
    pub const DEFAULT_ALGORITHM: &'static str = "softmax";

    /// The algorithms of this crate.
    pub fn new() -> Self {
        Self {
            algorithms: vec![SOFTMAX, MEMOIR_L2, MEMOIR_L1, MEMOIR_LSH, CENTROID],
            scorers: vec![LINEAR, FIXED, REDUCED, PACKED],
        }
    }

    /// Adds the algorithms of another crate, and the kinds of scorers they make.
    pub fn with(mut self, algorithms: &[Algorithm], scorers: &[ScorerKind]) -> Self {
        self.algorithms.extend_from_slice(algorithms);
        self.scorers.extend_from_slice(scorers);
        self
    }

    /// The kinds of scorers that model files may hold.
    pub fn scorers(&self) -> &[ScorerKind] {
        &self.scorers
    }

    /// All algorithms.
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// The algorithm called `name`.
    pub fn find(&self, name: &str) -> Result<&Algorithm> {
        self.algorithms
            .iter()
            .find(|algorithm| algorithm.name == name)
            .ok_or_else(|| {
                let known: Vec<_> = self.algorithms.iter().map(|algorithm| algorithm.name).collect();
                Error::Parameter(format!(
                    "there is no algorithm `{name}`; there are: {}",
                    known.join(", ")
                ))
            })
    }
}

impl Default for Catalogue {
    fn default() -> Self {
        Self::new()
    }
}
