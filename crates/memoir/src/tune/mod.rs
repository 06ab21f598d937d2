//! Which settings suit the data? Candidates are trained on few rows, the better ones on more, and the best
//! on all (successive halving), always judged on the same held-out rows.
//!
//! Rounds are cut by rows, not by time, so the same seed gives the same trials. A run that is stopped has
//! done some of them, and continues from its log.

mod log;
mod measure;
mod rounds;
mod space;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::catalogue::Algorithm;
use crate::params::Value;
use crate::prepare::{ExampleSet, WeightingChoice};
use crate::{Result, Session};

pub use measure::Measure;

/// Settings of text and algorithm by name, as users write them.
pub type Settings = BTreeMap<String, String>;

/// What to search for.
pub struct TuneOptions<'a> {
    /// The algorithm.
    pub algorithm: &'a Algorithm,
    /// Settings that stay as they are.
    pub given: Settings,
    /// Names of the settings to vary; `None`: all that are likely to matter.
    pub vary: Option<Vec<String>>,
    /// What is to become large.
    pub measure: Measure,
    /// How many settings are tried.
    pub candidates: usize,
    /// Most training rows of a trial; `None`: all rows.
    pub rows: Option<usize>,
    /// What the values of vectors are.
    pub weighting: WeightingChoice,
    /// Where trials are written down.
    pub log: Option<&'a Path>,
    /// Whether to continue a log that is there.
    pub resume: bool,
}

impl TuneOptions<'_> {
    /// How many settings are tried unless the user says otherwise.
    pub const CANDIDATES: usize = 27;
    /// Share of the rows that is held out where there are no held-out rows.
    pub const HELD_OUT_SHARE: f64 = 0.1;
}

/// Rows to judge by; they are never learned from.
#[derive(Debug, Clone, Copy)]
pub enum JudgedBy<'a> {
    /// This share of the data, by the session's seed.
    Share(f64),
    /// Rows of their own.
    Examples(&'a ExampleSet),
}

/// One setting, trained on some rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Number of the round, from 1.
    pub round: usize,
    /// Number of the candidate; 0 is the settings as they were given.
    pub candidate: usize,
    /// What it sets beyond what was given.
    pub settings: Settings,
    /// Training rows.
    pub rows: usize,
    /// The measure on held-out rows; none if the settings cannot be used.
    pub score: Option<f64>,
    /// Why they cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Size of the model.
    pub model_bytes: u64,
    /// What parameters that were left to the algorithm became.
    pub resolved: BTreeMap<String, Value>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// All trials, in the order of the rounds.
    pub trials: Vec<Trial>,
    /// The best trial of the last round that was finished, or of the first one if none was; none without a
    /// trial that has a score.
    pub best: Option<Trial>,
    /// Rounds that were finished.
    pub finished_rounds: usize,
    /// Rounds in all.
    pub rounds: usize,
}

/// Searches for settings that suit `data`. `each` is told of each trial when it is done, also of those that
/// come from the log.
///
/// When the session's cancel flag is raised, what was found until then is the outcome.
pub fn tune(
    data: &ExampleSet,
    judged_by: JudgedBy<'_>,
    options: &TuneOptions<'_>,
    session: &Session<'_>,
    each: impl FnMut(&Trial),
) -> Result<Outcome> {
    rounds::run(data, judged_by, options, session, each)
}
