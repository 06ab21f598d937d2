//! Algorithms by name. A catalogue is a value: programs add the algorithms of other crates to the library's
//! own.

use crate::model::{FIXED, LINEAR, PACKED, REDUCED, ScorerKind};
use crate::params::{Parameters, Spec, Value};
use crate::train::{CentroidParams, MemoirL1Params, MemoirL2Params, MemoirLshParams, SoftmaxParams, Trainer};
use crate::{Error, Result};

/// The typed parameters of an algorithm; they name it and make its trainer.
pub trait AlgorithmParams: Parameters {
    /// Name of the algorithm, as in `--algorithm NAME`.
    const NAME: &'static str;
    /// One sentence for help texts.
    const SUMMARY: &'static str;

    /// The trainer with these parameters, whose ranges have been checked.
    fn trainer(&self) -> Result<Box<dyn Trainer>>;
}

/// An algorithm as users see it.
#[derive(Debug, Clone, Copy)]
pub struct Algorithm {
    /// Name as in `--algorithm NAME`.
    pub name: &'static str,
    /// One sentence for help texts.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [Spec],
    configure: Configure,
}

/// Makes a method from parameters given as (name, text).
type Configure = fn(&[(&str, &str)]) -> Result<Method>;

impl Algorithm {
    /// The algorithm with the parameters `P`.
    pub const fn of<P: AlgorithmParams>() -> Self {
        Self {
            name: P::NAME,
            summary: P::SUMMARY,
            params: P::SPECS,
            configure: |given| Method::new(&P::parse(given.iter().copied())?),
        }
    }

    /// The algorithm with parameters given as (name, text), checked, and defaults for the rest.
    pub fn configure<'t>(&self, given: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Method> {
        (self.configure)(&given.into_iter().collect::<Vec<_>>())
    }
}

/// An algorithm with its parameters, checked and ready to train.
pub struct Method {
    name: &'static str,
    params: Vec<(&'static str, Value)>,
    trainer: Box<dyn Trainer>,
}

impl Method {
    /// The algorithm of `params`; a value outside its range is an error.
    pub fn new<P: AlgorithmParams>(params: &P) -> Result<Self> {
        params.check()?;
        Ok(Self {
            name: P::NAME,
            params: params.values(),
            trainer: params.trainer()?,
        })
    }

    /// Name of the algorithm.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Name and value of each parameter.
    pub fn params(&self) -> &[(&'static str, Value)] {
        &self.params
    }

    /// What trains.
    pub fn trainer(&self) -> &dyn Trainer {
        &*self.trainer
    }
}

/// The algorithms a program offers.
#[derive(Debug, Clone)]
pub struct Catalogue {
    algorithms: Vec<Algorithm>,
    scorers: Vec<ScorerKind>,
}

impl Catalogue {
    /// The algorithm that is used when none is named.
    pub const DEFAULT_ALGORITHM: &'static str = SoftmaxParams::NAME;

    /// The algorithms of this crate.
    pub fn new() -> Self {
        Self {
            algorithms: vec![
                Algorithm::of::<SoftmaxParams>(),
                Algorithm::of::<MemoirL2Params>(),
                Algorithm::of::<MemoirL1Params>(),
                Algorithm::of::<MemoirLshParams>(),
                Algorithm::of::<CentroidParams>(),
            ],
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Also runs every table's defaults through its own checks.
    #[test]
    fn every_algorithm_can_be_made_from_its_defaults() {
        for algorithm in Catalogue::new().algorithms() {
            let method = algorithm.configure([]).unwrap();
            assert_eq!(method.name(), algorithm.name);
            let names: Vec<_> = method.params().iter().map(|(name, _)| *name).collect();
            assert_eq!(
                names,
                algorithm.params.iter().map(|spec| spec.name).collect::<Vec<_>>()
            );
        }
    }
}
