//! An experiment as its file says it: data sets, methods, limits, expectations. Everything that can be
//! checked before the first run is checked here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use memoir::Catalogue;
use memoir::synth::SynthParams;
use memoir::text::TextParams;
use memoir_report::sizes::parse_size;
use serde::Deserialize;

use crate::convert::Vectors;
use crate::scale::Scale;

/// All runs are listed before the first; more of them could never be made.
const MOST_RUNS: u64 = 1_000_000;

/// The whole experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Experiment {
    /// Heads the tables.
    pub(crate) title: String,
    /// What a reader should know, in a paragraph.
    #[serde(default)]
    pub(crate) about: String,
    /// How often each method runs on each data set, with the seeds 0, 1, …
    #[serde(default = "one")]
    pub(crate) repeats: u32,
    /// Threads of every method.
    #[serde(default = "one")]
    pub(crate) threads: u32,
    /// What a single step (training, predicting) may use.
    #[serde(default)]
    pub(crate) limits: Limits,
    /// Files with definitions of external methods, seen from the experiment's file.
    #[serde(default)]
    include: Vec<PathBuf>,
    /// Which of the included methods take part, by name; all of them if not said.
    #[serde(default)]
    externals: Option<Vec<String>>,
    /// The data sets.
    #[serde(default)]
    pub(crate) data: Vec<DataSet>,
    /// The methods, in the order of the table.
    #[serde(default)]
    pub(crate) method: Vec<Method>,
    /// What results should be.
    #[serde(default)]
    pub(crate) expect: Vec<Expectation>,
    /// A study of growth instead of given data sets.
    #[serde(default)]
    pub(crate) scale: Option<Scale>,
}

fn one() -> u32 {
    1
}

/// What a step may use; what is not given is not limited.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) wall_seconds: Option<f64>,
    /// A size such as "4G".
    memory: Option<String>,
    #[serde(skip)]
    pub(crate) memory_bytes: Option<u64>,
}

/// Rows to learn from and rows to measure on.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct DataSet {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) train: PathBuf,
    #[serde(default)]
    pub(crate) test: PathBuf,
    /// Options of `memoir synth`, for made-up data instead of files.
    #[serde(default)]
    pub(crate) synth: BTreeMap<String, toml::Value>,
    pub(crate) format: Option<String>,
    pub(crate) text_column: Option<String>,
    pub(crate) label_column: Option<String>,
    pub(crate) label_separator: Option<String>,
    #[serde(default)]
    pub(crate) single_label: bool,
    #[serde(default)]
    pub(crate) zero_based: bool,
    /// What the values of vectors are, as `memoir train --weighting` has it.
    pub(crate) weighting: Option<String>,
    /// Options of `memoir train` for text.
    #[serde(default)]
    pub(crate) text: BTreeMap<String, toml::Value>,
}

/// A way to learn: one of our algorithms, or commands of another program.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Method {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) about: String,
    /// One of ours.
    pub(crate) algorithm: Option<String>,
    /// Options of that algorithm.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, toml::Value>,
    /// The form in which an external program wants its vectors.
    pub(crate) vectors: Option<Vectors>,
    /// Its command to train, with placeholders.
    #[serde(default)]
    pub(crate) train: Vec<String>,
    /// Its command to predict, with placeholders; without `{predictions}`, standard output is taken.
    #[serde(default)]
    pub(crate) predict: Vec<String>,
    /// How many classes it gives for each row.
    #[serde(default = "depth")]
    pub(crate) depth: usize,
    /// Names of the data sets it runs on; all if not said.
    pub(crate) only: Option<Vec<String>>,
    /// Folder of the file that defines it: the placeholder `{here}`, and how it is written for people.
    #[serde(skip)]
    pub(crate) here: (PathBuf, String),
}

fn depth() -> usize {
    5
}

impl Method {
    pub(crate) fn runs_on(&self, data: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|only| only.iter().any(|name| name == data))
    }
}

/// The range in which a result should lie; shares from 0 to 1.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Expectation {
    pub(crate) data: String,
    pub(crate) method: String,
    pub(crate) accuracy: Option<[f64; 2]>,
    pub(crate) macro_f1: Option<[f64; 2]>,
}

/// A file of external methods.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Definitions {
    method: Vec<Method>,
}

impl Experiment {
    /// Reads and checks an experiment. Relative paths of data are seen from `data_folder`.
    pub(crate) fn read(
        path: &Path,
        data_folder: Option<&Path>,
        catalogue: &Catalogue,
    ) -> anyhow::Result<Self> {
        let mut experiment: Self = parse(path)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        for method in &mut experiment.method {
            method.here = (folder.clone(), ".".to_owned());
        }
        let mut included = Vec::new();
        for file in experiment.include.clone() {
            let definitions: Definitions = parse(&folder.join(&file))?;
            let shown = file.parent().unwrap_or(Path::new(".")).to_owned();
            included.extend(definitions.method.into_iter().map(|mut method| {
                method.here = (folder.join(&shown), shown.display().to_string());
                method
            }));
        }
        if let Some(wanted) = &experiment.externals {
            for name in wanted {
                let Some(method) = included.iter().find(|method| method.name == *name) else {
                    bail!("{}: no included file defines `{name}`", path.display());
                };
                experiment.method.push(method.clone());
            }
        } else {
            experiment.method.append(&mut included);
        }
        if let Some(scale) = &experiment.scale {
            experiment.data.extend(scale.data_sets());
        }
        experiment
            .check(catalogue)
            .with_context(|| format!("in {}", path.display()))
            .map_err(|error| anyhow::anyhow!("{}: {}", path.display(), error.root_cause()))?;
        let base = data_folder.unwrap_or(&folder);
        for data in experiment.data.iter_mut().filter(|data| data.synth.is_empty()) {
            for file in [&mut data.train, &mut data.test] {
                *file = base.join(&*file);
                if !file.is_file() {
                    bail!(
                        "{}: no such file, for the data set `{}`; `--data FOLDER` says where data lies",
                        file.display(),
                        data.name
                    );
                }
            }
        }
        Ok(experiment)
    }

    fn check(&mut self, catalogue: &Catalogue) -> anyhow::Result<()> {
        let limits = &mut self.limits;
        limits.memory_bytes = match &limits.memory {
            Some(text) => {
                Some(parse_size(text).map_err(|problem| anyhow::anyhow!("`limits.memory`: {problem}"))?)
            }
            None => None,
        };
        if self.repeats == 0 || self.threads == 0 {
            bail!("`repeats` and `threads` must be at least 1");
        }
        for (name, seconds) in [
            ("cpu-seconds", limits.cpu_seconds),
            ("wall-seconds", limits.wall_seconds),
        ] {
            if let Some(seconds) = seconds.filter(|&seconds| !(seconds > 0.0 && seconds.is_finite())) {
                bail!("`limits.{name}` is {seconds}, but expected a number above 0");
            }
        }
        let pairs = (self.data.len() as u64).saturating_mul(self.method.len() as u64);
        if pairs.saturating_mul(u64::from(self.repeats)) > MOST_RUNS {
            bail!("these are more than 1,000,000 runs: data sets times methods times `repeats`");
        }
        if self.data.is_empty() || self.method.is_empty() {
            bail!("an experiment needs at least one [[data]] and one [[method]]");
        }
        unique(self.data.iter().map(|data| data.name.as_str()), "data set")?;
        unique(self.method.iter().map(|method| method.name.as_str()), "method")?;
        for data in &self.data {
            data.check()?;
        }
        for method in &self.method {
            check_method(method, catalogue)
                .map_err(|problem| anyhow::anyhow!("method `{}`: {problem}", method.name))?;
        }
        let known = |name: &String| self.data.iter().any(|data| data.name == *name);
        let stray = self.method.iter().flat_map(|method| method.only.iter().flatten());
        if let Some(name) = stray
            .chain(self.expect.iter().map(|expected| &expected.data))
            .find(|name| !known(name))
        {
            bail!("there is no data set `{name}`");
        }
        if let Some(expected) = self
            .expect
            .iter()
            .find(|expected| !self.method.iter().any(|method| method.name == expected.method))
        {
            bail!(
                "an expectation names the method `{}`, which is not there",
                expected.method
            );
        }
        Ok(())
    }
}

impl DataSet {
    fn check(&self) -> anyhow::Result<()> {
        let fail = |problem: String| anyhow::anyhow!("data set `{}`: {problem}", self.name);
        let has_files = !self.train.as_os_str().is_empty() && !self.test.as_os_str().is_empty();
        if has_files != self.synth.is_empty() {
            return Err(fail("expected either `train` and `test`, or `synth`".to_owned()));
        }
        let given = as_text(&self.synth);
        SynthParams::parse(pairs(&given)).map_err(|problem| fail(problem.to_string()))?;
        let given = as_text(&self.text);
        TextParams::parse(pairs(&given)).map_err(|problem| fail(problem.to_string()))?;
        self.reading().map_err(|problem| fail(problem.to_string()))?;
        self.weighting_choice()
            .map_err(|problem| fail(problem.to_string()))?;
        Ok(())
    }
}

fn check_method(method: &Method, catalogue: &Catalogue) -> anyhow::Result<()> {
    match (&method.algorithm, method.vectors) {
        (Some(algorithm), None) => {
            if !method.train.is_empty() || !method.predict.is_empty() {
                bail!("`train` and `predict` are for external programs, not for `algorithm`");
            }
            let algorithm = catalogue.find(algorithm)?;
            let given = as_text(&method.options);
            algorithm.configure(pairs(&given))?;
            Ok(())
        }
        (None, Some(_)) => {
            if method.train.is_empty() || method.predict.is_empty() {
                bail!("an external program needs the commands `train` and `predict`");
            }
            if method.depth == 0 {
                bail!("`depth` must be at least 1");
            }
            crate::commands::check_placeholders(method)
        }
        _ => bail!("expected either `algorithm`, or `vectors` with `train` and `predict`"),
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        let plain = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
        if name.is_empty() || !name.chars().all(plain) || name.starts_with('.') {
            bail!("`{name}` is no name for a {what}: letters, digits, blanks and - _ . + are");
        }
        if !seen.insert(name) {
            bail!("two {what}s are called `{name}`");
        }
    }
    Ok(())
}

/// Values of a table of options, as the command line would give them.
pub(crate) fn as_text(options: &BTreeMap<String, toml::Value>) -> Vec<(String, String)> {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    options
        .iter()
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

/// The same, borrowed.
pub(crate) fn pairs(given: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    given.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(path)
        .map_err(|reason| anyhow::anyhow!("{}: cannot read: {reason}", path.display()))?;
    toml::from_str(&text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start).min(text.len());
        let before = &text.as_bytes()[..offset];
        let line = before.split(|&byte| byte == b'\n').count();
        let start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        let column = offset - start + 1;
        anyhow::anyhow!("{}:{line}:{column}: {}", path.display(), error.message())
    })
}
