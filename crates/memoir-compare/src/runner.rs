//! Makes one run: prepares the data, trains and predicts in processes of their own, judges the predictions.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use memoir::{Error, Session};
use memoir_report::sizes::show_size;

use crate::commands::{Run, Step};
use crate::datasets::Loaded;
use crate::experiment::{DataSet, Experiment, Limits, Method};
use crate::measured::{self, Cost, Ending, Measured, Task};
use crate::predictions::{Notation, judge};
use crate::results::{Key, Outcome, Quality, Status};
use crate::summary::Measure;
use crate::{Monitor, Request, definition};

/// Time between two looks at a running process.
const POLL: Duration = Duration::from_millis(20);
/// How much of a log tells why a command failed.
const LAST_WORDS: usize = 300;

/// Makes runs, and keeps the data set of the last one.
pub(crate) struct Runner<'a> {
    experiment: &'a Experiment,
    out: &'a Path,
    program: &'a Path,
    fingerprints: &'a BTreeMap<String, String>,
    monitor: &'a dyn Monitor,
    session: &'a Session<'a>,
    loaded: Option<(String, Loaded)>,
    /// Whether anything was measured at all.
    pub(crate) has_measured: bool,
}

/// What is known of a run at its end.
#[derive(Default)]
struct Figures {
    train: Option<Cost>,
    predict: Option<Cost>,
    model_bytes: Option<u64>,
    quality: Option<Quality>,
}

/// Why a run did not come through.
struct Stop(Status, String);

impl<'a> Runner<'a> {
    pub(crate) fn new(
        experiment: &'a Experiment,
        request: &Request<'a>,
        fingerprints: &'a BTreeMap<String, String>,
        monitor: &'a dyn Monitor,
        session: &'a Session<'a>,
    ) -> Self {
        let runner = Self {
            experiment,
            out: request.out,
            program: request.program,
            fingerprints,
            monitor,
            session,
            loaded: None,
            has_measured: false,
        };
        // A comparison that was killed may have left models.
        runner.finish();
        runner
    }

    fn work(&self) -> PathBuf {
        self.out.join("work")
    }

    /// Removes what only the runs needed.
    pub(crate) fn finish(&self) {
        // What cannot be removed only takes space; the next start tries again.
        let _ = fs::remove_dir_all(self.work());
    }

    /// Makes the run `key`, the one after `done` of `total`.
    pub(crate) fn measure(&mut self, key: &Key, done: usize, total: usize) -> anyhow::Result<Outcome> {
        let (name, method, repeat) = key;
        let experiment = self.experiment;
        let data = experiment.data.iter().find(|data| data.name == *name);
        let method = experiment.method.iter().find(|known| known.name == *method);
        let (Some(data), Some(method)) = (data, method) else {
            bail!("the experiment has no run {key:?}");
        };
        self.has_measured = true;
        self.load(data)?;
        self.finish();
        let work = self.work();
        fs::create_dir_all(&work).with_context(|| format!("{}: cannot make the folder", work.display()))?;
        let mut run = Run {
            data,
            converted: None,
            program: self.program,
            work: &work,
            seed: *repeat,
            threads: experiment.threads,
        };
        let mut figures = Figures::default();
        let stopped = match self.convert(data, method) {
            Ok(converted) => {
                run.converted = converted;
                self.steps(&run, method, &mut figures, (done, total))?
            }
            Err(problem) => Some(Stop(Status::Failed, problem.to_string())),
        };
        let [train, predict] = run.steps(method);
        let (status, reason) = match stopped {
            None => (Status::Ok, None),
            Some(Stop(status, reason)) => (status, Some(reason)),
        };
        Ok(Outcome {
            data: name.clone(),
            method: method.name.clone(),
            repeat: *repeat,
            threads: experiment.threads,
            status,
            reason,
            fingerprint: self.fingerprint(data),
            definition: definition(experiment, method, status),
            train: figures.train,
            predict: figures.predict,
            model_bytes: figures.model_bytes,
            quality: figures.quality,
            train_command: train.shown,
            predict_command: predict.shown,
        })
    }

    fn fingerprint(&self, data: &DataSet) -> String {
        self.fingerprints.get(&data.name).cloned().unwrap_or_default()
    }

    /// Reads the data set, unless the last run had the same.
    fn load(&mut self, data: &DataSet) -> anyhow::Result<()> {
        if self.loaded.as_ref().is_none_or(|(name, _)| *name != data.name) {
            self.loaded = None;
            // Files may have changed since the start; what is measured must be what the fingerprint says.
            if data.fingerprint()? != self.fingerprint(data) {
                bail!(
                    "the files of the data set `{}` have changed while the comparison ran",
                    data.name
                );
            }
            self.loaded = Some((data.name.clone(), data.load(self.session)?));
        }
        Ok(())
    }

    fn loaded(&self) -> anyhow::Result<&Loaded> {
        let loaded = self.loaded.as_ref().map(|(_, loaded)| loaded);
        loaded.context("no data set is loaded")
    }

    /// The files an external program reads.
    fn convert(
        &self,
        data: &DataSet,
        method: &Method,
    ) -> anyhow::Result<Option<(PathBuf, PathBuf, crate::datasets::Shape)>> {
        let Some(vectors) = method.vectors else {
            return Ok(None);
        };
        let loaded = self.loaded()?;
        let folder = self.out.join("data").join(&data.name);
        let (train, test) = vectors.prepare(loaded, &folder, &self.fingerprint(data))?;
        Ok(Some((absolute(train)?, absolute(test)?, loaded.shape())))
    }

    /// Trains, predicts, judges; tells why if one of them fails.
    fn steps(
        &self,
        run: &Run<'_>,
        method: &Method,
        figures: &mut Figures,
        (done, total): (usize, usize),
    ) -> anyhow::Result<Option<Stop>> {
        let run = Run {
            work: &absolute(run.work.to_owned())?,
            data: run.data,
            converted: run.converted.clone(),
            ..*run
        };
        let [train, predict] = run.steps(method);
        let stage = |what: &str| {
            format!(
                "{} of {total}: {}: {}, {what}",
                done + 1,
                run.data.name,
                method.name
            )
        };
        let measured = self.process(&train, &stage("training"))?;
        figures.train = measured.ending.has_run().then_some(measured.cost);
        if let Some(stop) = self.stop(&measured.ending, "training") {
            return Ok(Some(stop));
        }
        figures.model_bytes = Some(size_on_disk(&run.work.join("model")));
        let measured = self.process(&predict, &stage("predicting"))?;
        figures.predict = measured.ending.has_run().then_some(measured.cost);
        if let Some(stop) = self.stop(&measured.ending, "predicting") {
            return Ok(Some(stop));
        }
        let notation = method.vectors.map_or(Notation::Names, Notation::Numbers);
        match judge(&run.predictions(), notation, self.loaded()?) {
            Ok(report) => {
                figures.quality = Some(Quality::new(&report, method.depth));
                Ok(None)
            }
            Err(problem) => Ok(Some(Stop(Status::Failed, problem.to_string()))),
        }
    }

    /// Runs a step through `memoir measured`, which dies with this process.
    fn process(&self, step: &Step, stage: &str) -> anyhow::Result<Measured> {
        let limits = &self.experiment.limits;
        let task = Task {
            command: step.words.clone(),
            threads: self.experiment.threads,
            cpu_seconds: limits.cpu_seconds,
            wall_seconds: limits.wall_seconds,
            memory_bytes: limits.memory_bytes,
            stdout: step.stdout.clone(),
            log: self.work().join("log"),
        };
        let mut child = Command::new(self.program)
            .arg(measured::VERB)
            .arg(serde_json::to_string(&task)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if self.session.check().is_err() {
                // Its standard input ends here, and so does the command.
                drop(child.stdin.take());
                child.wait()?;
                return Err(Error::Cancelled.into());
            }
            self.monitor.busy(stage);
            std::thread::sleep(POLL);
        };
        let mut answer = String::new();
        if let Some(mut out) = child.stdout.take() {
            out.read_to_string(&mut answer)?;
        }
        self.session.check()?;
        serde_json::from_str(&answer)
            .map_err(|_| anyhow::anyhow!("the measuring process failed ({status}) and measured nothing"))
    }

    fn stop(&self, ending: &Ending, what: &str) -> Option<Stop> {
        let limits = describe_limits(&self.experiment.limits);
        match ending {
            Ending::Well => None,
            Ending::OutOfTime => Some(Stop(Status::OutOfTime, format!("{what} ({limits})"))),
            Ending::OutOfMemory => Some(Stop(Status::OutOfMemory, format!("{what} ({limits})"))),
            Ending::CannotStart(problem) => Some(Stop(Status::NotInstalled, problem.clone())),
            Ending::Failed(how) => {
                let log = fs::read(self.work().join("log")).unwrap_or_default();
                let log = String::from_utf8_lossy(&log);
                let words: Vec<_> = log.split_whitespace().collect();
                let words: Vec<char> = words.join(" ").chars().collect();
                let last: String = words[words.len().saturating_sub(LAST_WORDS)..].iter().collect();
                Some(Stop(Status::Failed, format!("{what}: {how}: {last}")))
            }
        }
    }
}

impl Ending {
    fn has_run(&self) -> bool {
        !matches!(self, Self::CannotStart(_))
    }
}

fn absolute(path: PathBuf) -> anyhow::Result<PathBuf> {
    std::path::absolute(&path).with_context(|| format!("{}: no such folder", path.display()))
}

/// Bytes of a file, or of all files of a folder; some programs add endings to the name they are given.
fn size_on_disk(model: &Path) -> u64 {
    fn size(path: &Path) -> u64 {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                entries.map(|entry| size(&entry.path())).sum()
            }
            Ok(about) => about.len(),
            Err(_) => 0,
        }
    }
    let (Some(folder), Some(name)) = (model.parent(), model.file_name().and_then(|name| name.to_str()))
    else {
        return 0;
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|found| found.starts_with(name))
        })
        .map(|entry| size(&entry.path()))
        .sum()
}

/// The limits in words.
pub(crate) fn describe_limits(limits: &Limits) -> String {
    let mut parts = Vec::new();
    parts.extend(limits.cpu_seconds.map(|seconds| format!("{seconds} s of CPU")));
    parts.extend(
        limits
            .wall_seconds
            .map(|seconds| format!("{seconds} s of wall time")),
    );
    parts.extend(
        limits
            .memory_bytes
            .map(|bytes| format!("{} of memory", show_size(bytes))),
    );
    if parts.is_empty() {
        "no limits".to_owned()
    } else {
        format!("limits of a step: {}", parts.join(", "))
    }
}

/// A result in a line.
pub(crate) fn describe(outcome: &Outcome) -> String {
    let head = format!("{}: {}", outcome.data, outcome.method);
    match (&outcome.quality, &outcome.train, &outcome.predict) {
        (Some(quality), Some(train), Some(predict)) => format!(
            "{head}: accuracy {}, macro-F1 {}, train {} and {}, predict {}",
            Measure::Accuracy.show(quality.accuracy),
            Measure::MacroF1.show(quality.macro_f1),
            Measure::TrainCpu.show(train.cpu_seconds),
            show_size(train.peak_bytes),
            Measure::PredictCpu.show(predict.cpu_seconds)
        ),
        _ => format!(
            "{head}: {} ({})",
            outcome.status.name(),
            outcome.reason.as_deref().unwrap_or("no reason known")
        ),
    }
}
