//! What was measured, line by line in `results.jsonl`: written at once, read back by a later start.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use memoir::Error;
use memoir::eval::{FrequencyBand, Report};
use memoir::model::write_beside;
use serde::{Deserialize, Serialize};

use crate::measured::Cost;

/// How a run ended, as tables name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    Ok,
    Failed,
    OutOfTime,
    OutOfMemory,
    NotInstalled,
}

impl Status {
    /// The word in a table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::OutOfTime => "out of time",
            Self::OutOfMemory => "out of memory",
            Self::NotInstalled => "not installed",
        }
    }
}

/// How good predictions are; the guide's page on measures defines them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quality {
    pub(crate) accuracy: f64,
    pub(crate) macro_f1: f64,
    pub(crate) macro_f1_harmonic: f64,
    pub(crate) precision_at_1: f64,
    /// Only if the method gives at least that number of classes.
    pub(crate) precision_at_3: Option<f64>,
    pub(crate) precision_at_5: Option<f64>,
    pub(crate) by_frequency: Vec<FrequencyBand>,
}

impl Quality {
    /// Of a method that gives `depth` classes a row.
    pub(crate) fn new(report: &Report, depth: usize) -> Self {
        Self {
            accuracy: report.accuracy,
            macro_f1: report.macro_f1,
            macro_f1_harmonic: report.macro_f1_harmonic,
            precision_at_1: report.precision_at_1,
            precision_at_3: (depth >= 3).then_some(report.precision_at_3),
            precision_at_5: (depth >= 5).then_some(report.precision_at_5),
            by_frequency: report.by_frequency.clone(),
        }
    }
}

/// One method, once, on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) data: String,
    pub(crate) method: String,
    /// Counted from 0; also the seed.
    pub(crate) repeat: u32,
    pub(crate) threads: u32,
    pub(crate) status: Status,
    /// Why, where it is not well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Of the data that the method saw.
    pub(crate) fingerprint: String,
    /// Of the method's definition.
    pub(crate) definition: String,
    pub(crate) train: Option<Cost>,
    pub(crate) predict: Option<Cost>,
    pub(crate) model_bytes: Option<u64>,
    pub(crate) quality: Option<Quality>,
    pub(crate) train_command: String,
    pub(crate) predict_command: String,
}

/// Names a run.
pub(crate) type Key = (String, String, u32);

impl Outcome {
    pub(crate) fn key(&self) -> Key {
        (self.data.clone(), self.method.clone(), self.repeat)
    }
}

/// The file of results.
pub(crate) struct Results {
    path: PathBuf,
    outcomes: BTreeMap<Key, Outcome>,
}

impl Results {
    /// Reads what an earlier start has measured. A last line that was cut off is dropped.
    pub(crate) fn open(path: PathBuf) -> anyhow::Result<Self> {
        let mut outcomes = BTreeMap::new();
        let text = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(reason) => bail!("{}: cannot read: {reason}", path.display()),
        };
        let whole = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        for (number, line) in text[..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
            let outcome: Outcome = serde_json::from_slice(line).map_err(|problem| {
                anyhow::anyhow!("{}:{}: not a result: {problem}", path.display(), number + 1)
            })?;
            outcomes.insert(outcome.key(), outcome);
        }
        if whole < text.len() {
            OpenOptions::new()
                .write(true)
                .open(&path)?
                .set_len(whole as u64)?;
        }
        Ok(Self { path, outcomes })
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Outcome> {
        self.outcomes.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.values()
    }

    /// Forgets results; [`Self::rewrite`] makes it last.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Outcome) -> bool) -> usize {
        let before = self.outcomes.len();
        self.outcomes.retain(|_, outcome| keep(outcome));
        before - self.outcomes.len()
    }

    /// Adds a result and has it on disk before returning.
    pub(crate) fn add(&mut self, outcome: Outcome) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&outcome)?;
        line.push(b'\n');
        let fail = |reason| Error::io(&self.path, "cannot write", reason);
        let mut file: File = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .map_err(fail)?;
        file.write_all(&line).map_err(fail)?;
        file.sync_data().map_err(fail)?;
        self.outcomes.insert(outcome.key(), outcome);
        Ok(())
    }

    /// Writes all results again, in the given order.
    pub(crate) fn rewrite(&self, order: impl Iterator<Item = Key>) -> anyhow::Result<()> {
        write_beside(&self.path, |out| {
            for outcome in order.filter_map(|key| self.outcomes.get(&key)) {
                let line = serde_json::to_string(outcome)
                    .map_err(|problem| Error::Mismatch(format!("a result cannot be written: {problem}")))?;
                writeln!(out, "{line}").map_err(|reason| Error::io(&self.path, "cannot write", reason))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Fails if two results about one data set are from different data: a table of them would compare nothing.
pub(crate) fn check_same_data<'a>(
    path: &Path,
    outcomes: impl Iterator<Item = &'a Outcome>,
    current: &BTreeMap<String, String>,
) -> anyhow::Result<()> {
    for outcome in outcomes {
        let Some(expected) = current.get(&outcome.data) else {
            continue;
        };
        if *expected != outcome.fingerprint {
            bail!(
                "{}: `{}` saw other data under the name `{}` (fingerprint {}) than there is now ({expected}): \
                 no table of both would be fair; choose another --out, or measure all of it again with --again",
                path.display(),
                outcome.method,
                outcome.data,
                outcome.fingerprint
            );
        }
    }
    Ok(())
}
