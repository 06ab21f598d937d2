//! Comparisons: every method of an experiment runs on every data set. Each step runs in a process of its
//! own. The kernel says what it cost, this crate judges its predictions, and each result is written down
//! at once.
//!
//! ```text
//! experiment ──► datasets ──► convert ──► commands ──► measured ──► predictions ──► results
//!                                                                                      │
//!                                      markdown, html (figure), scale ◄── summary ◄────┘
//! ```
//!
//! [`run`] is `memoir compare`. A program that calls it must also answer to [`measured::VERB`], because
//! every step is started through that program. Costs come from `wait4` and process groups, so the crate
//! is empty on other systems than Unix.

#![cfg(unix)]

mod commands;
mod convert;
mod datasets;
mod experiment;
mod figure;
mod html;
mod kernel;
mod machine;
mod markdown;
pub mod measured;
mod predictions;
mod results;
mod runner;
mod scale;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::bail;
use memoir::{Catalogue, Session};
use memoir_report::sizes::show_counted;

use experiment::{Expectation, Experiment, Method};
use machine::Machine;
use results::{Key, Outcome, Results, Status, check_same_data};
use runner::Runner;
use summary::{Measure, Summary, Table};

/// What `memoir compare` was asked for.
#[derive(Debug)]
pub struct Request<'a> {
    /// The experiment's file.
    pub experiment: &'a Path,
    /// Folder for results.
    pub out: &'a Path,
    /// Folder that relative paths of data start from; the experiment's own if not given.
    pub data_folder: Option<&'a Path>,
    /// Methods, or data sets, to measure again.
    pub again: &'a [String],
    /// The `memoir` program, which trains and predicts for methods of the catalogue and measures all
    /// commands.
    pub program: &'a Path,
    /// The algorithms that experiments may name.
    pub catalogue: &'a Catalogue,
}

/// Who watches a comparison.
pub trait Monitor {
    /// Something that is worth a line happened.
    fn say(&self, text: &str);
    /// `stage` is at work; called many times a second.
    fn busy(&self, stage: &str);
}

/// What the tables and the report show.
struct Presentation<'a> {
    title: &'a str,
    about: &'a str,
    repeats: u32,
    threads: u32,
    limits: String,
    machine: Machine,
    tables: Vec<Table>,
    scale: Option<String>,
    /// Results outside of their expected ranges.
    unexpected: Vec<String>,
    runs_left: usize,
}

impl Presentation<'_> {
    /// Machine, threads and limits in one sentence.
    fn conditions(&self) -> String {
        let threads = show_counted(u64::from(self.threads), "thread");
        format!(
            "Measured {}; {threads} for every method; {}. CPU time is user and system time with children, memory \
             the largest resident set, both from the kernel, with the start of the program and the reading of its files",
            self.machine.describe(),
            self.limits
        )
    }
}

/// Runs what is left of an experiment and writes the tables.
pub fn run(request: &Request<'_>, monitor: &dyn Monitor, session: &Session<'_>) -> anyhow::Result<()> {
    let mut experiment = Experiment::read(request.experiment, request.data_folder, request.catalogue)?;
    fs::create_dir_all(request.out)
        .map_err(|reason| anyhow::anyhow!("{}: cannot make the folder: {reason}", request.out.display()))?;
    let _lock = lock(request.out)?;
    let mut fingerprints = BTreeMap::new();
    for data in &mut experiment.data {
        data.make(&request.out.join("data").join(&data.name), session)?;
        fingerprints.insert(data.name.clone(), data.fingerprint()?);
    }
    let path = request.out.join("results.jsonl");
    let mut results = Results::open(path.clone())?;
    forget(&mut results, &experiment, request, monitor)?;
    check_same_data(&path, results.iter(), &fingerprints)?;

    let order: Vec<_> = order(&experiment);
    let mut runner = Runner::new(&experiment, request, &fingerprints, monitor, session);
    for (index, key) in order.iter().enumerate() {
        if results.get(key).is_some() || failed_before(&results, key) {
            continue;
        }
        let left = order[index..]
            .iter()
            .filter(|key| results.get(key).is_none())
            .count();
        let outcome = runner.measure(key, order.len() - left, order.len())?;
        monitor.say(&format!("{}; {} left", runner::describe(&outcome), left - 1));
        results.add(outcome)?;
        present(&experiment, &results, &fingerprints, &order, request.out, true)?;
    }
    results.rewrite(order.iter().cloned())?;
    let shown = present(
        &experiment,
        &results,
        &fingerprints,
        &order,
        request.out,
        runner.has_measured,
    )?;
    runner.finish();
    if !shown.is_empty() {
        bail!("outside of the expected range: {}", shown.join("; "));
    }
    Ok(())
}

/// The commands of an experiment's first repeat, as people see them, once all of it is checked. Nothing is
/// run or written.
pub fn plan(request: &Request<'_>) -> anyhow::Result<Vec<String>> {
    let experiment = Experiment::read(request.experiment, request.data_folder, request.catalogue)?;
    let mut commands = Vec::new();
    for data in &experiment.data {
        let run = commands::Run {
            data,
            converted: None,
            program: request.program,
            work: request.out,
            seed: 0,
            threads: experiment.threads,
        };
        let methods = experiment.method.iter();
        for method in methods.filter(|method| method.runs_on(&data.name)) {
            commands.extend(run.steps(method).map(|step| step.shown));
        }
    }
    Ok(commands)
}

/// Two comparisons in one folder would overwrite each other's files.
fn lock(out: &Path) -> anyhow::Result<fs::File> {
    let file = fs::File::create(out.join(".lock"))?;
    if file.try_lock().is_err() {
        bail!("{}: another comparison is at work here", out.display());
    }
    Ok(file)
}

/// All runs, in the order in which they are made: repeats outside, so that slow changes of the machine
/// hit all alike.
fn order(experiment: &Experiment) -> Vec<Key> {
    let mut keys = Vec::new();
    for data in &experiment.data {
        for repeat in 0..experiment.repeats {
            for method in experiment
                .method
                .iter()
                .filter(|method| method.runs_on(&data.name))
            {
                keys.push((data.name.clone(), method.name.clone(), repeat));
            }
        }
    }
    keys
}

/// Whoever failed in the first repeat is not asked again.
fn failed_before(results: &Results, (data, method, repeat): &Key) -> bool {
    (0..*repeat).any(|earlier| {
        let earlier = results.get(&(data.clone(), method.clone(), earlier));
        earlier.is_some_and(|outcome| outcome.status != Status::Ok)
    })
}

/// Drops results that are to be measured again, that the experiment no longer has, or whose commands
/// have changed.
fn forget(
    results: &mut Results,
    experiment: &Experiment,
    request: &Request<'_>,
    monitor: &dyn Monitor,
) -> anyhow::Result<()> {
    let known = |name: &String| {
        experiment.data.iter().any(|data| data.name == *name)
            || experiment.method.iter().any(|method| method.name == *name)
    };
    if let Some(name) = request.again.iter().find(|name| !known(name)) {
        bail!("`--again {name}`: the experiment has no method and no data set of that name");
    }
    let order = order(experiment);
    let is_current = |outcome: &Outcome| {
        let method = experiment
            .method
            .iter()
            .find(|method| method.name == outcome.method);
        method.is_some_and(|method| definition(experiment, method, outcome.status) == outcome.definition)
            && order.contains(&outcome.key())
            // It may be installed by now, and to ask costs nothing.
            && outcome.status != Status::NotInstalled
    };
    let dropped = results.retain(|outcome| {
        is_current(outcome)
            && !request
                .again
                .iter()
                .any(|name| *name == outcome.method || *name == outcome.data)
    });
    if dropped > 0 {
        monitor.say(&format!(
            "dropped {}: to be measured again, or of other definitions",
            show_counted(dropped as u64, "earlier result")
        ));
        results.rewrite(order.into_iter())?;
    }
    Ok(())
}

/// What a result rests on beside the data: the method, the threads, and for those who did not come
/// through, the limits.
fn definition(experiment: &Experiment, method: &Method, status: Status) -> String {
    let Method {
        algorithm,
        options,
        vectors,
        train,
        predict,
        depth,
        ..
    } = method;
    let mut text = format!(
        "{algorithm:?}{options:?}{vectors:?}{train:?}{predict:?}{depth}{}",
        experiment.threads
    );
    if status != Status::Ok {
        text += &runner::describe_limits(&experiment.limits);
    }
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

/// Writes `results.md` and `report.html`; returns what was not expected.
fn present(
    experiment: &Experiment,
    results: &Results,
    fingerprints: &BTreeMap<String, String>,
    order: &[Key],
    out: &Path,
    is_new: bool,
) -> anyhow::Result<Vec<String>> {
    check_same_data(&out.join("results.jsonl"), results.iter(), fingerprints)?;
    let tables: Vec<_> = experiment
        .data
        .iter()
        .map(|data| Table {
            data: data.name.clone(),
            fingerprint: fingerprints.get(&data.name).cloned().unwrap_or_default(),
            rows: experiment
                .method
                .iter()
                .filter_map(|method| summary(results, experiment, &data.name, method))
                .collect(),
        })
        .filter(|table| !table.rows.is_empty())
        .collect();
    let unexpected = unexpected(&experiment.expect, &tables);
    let shown = Presentation {
        title: &experiment.title,
        about: &experiment.about,
        repeats: experiment.repeats,
        threads: experiment.threads,
        limits: runner::describe_limits(&experiment.limits),
        machine: machine::remember(out, is_new)?,
        scale: experiment.scale.as_ref().map(|scale| scale.tables(&tables)),
        tables,
        unexpected: unexpected.clone(),
        runs_left: order
            .iter()
            .filter(|key| results.get(key).is_none() && !failed_before(results, key))
            .count(),
    };
    let mut files = vec![
        ("results.md".to_owned(), markdown::write(&shown)),
        ("report.html".to_owned(), html::write(&shown)),
    ];
    if shown.scale.is_none() {
        let figures = shown.tables.iter();
        files.extend(figures.map(|table| (figure::file_name(table), figure::standalone(table))));
    }
    for (name, content) in files {
        let path = out.join(name);
        memoir::model::write_beside(&path, |out| {
            out.write_all(content.as_bytes())
                .map_err(|reason| memoir::Error::io(&path, "cannot write", reason))
        })?;
    }
    Ok(unexpected)
}

fn summary(results: &Results, experiment: &Experiment, data: &str, method: &Method) -> Option<Summary> {
    let outcomes: Vec<_> = (0..experiment.repeats)
        .filter_map(|repeat| results.get(&(data.to_owned(), method.name.clone(), repeat)))
        .collect();
    Summary::new(&method.about, &outcomes)
}

fn unexpected(expectations: &[Expectation], tables: &[Table]) -> Vec<String> {
    let mut problems = Vec::new();
    for expected in expectations {
        let row = tables
            .iter()
            .filter(|table| table.data == expected.data)
            .flat_map(|table| &table.rows)
            .find(|row| row.method == expected.method);
        let Some(row) = row else { continue };
        for (measure, range) in [
            (Measure::Accuracy, expected.accuracy),
            (Measure::MacroF1, expected.macro_f1),
        ] {
            let Some([low, high]) = range else { continue };
            let found = row.get(measure).map(|spread| spread.mean);
            if !found.is_some_and(|value| (low..=high).contains(&value)) {
                problems.push(format!(
                    "{} of `{}` on `{}` is {}, expected {} to {}",
                    measure.name(),
                    expected.method,
                    expected.data,
                    found.map_or(row.status.name().to_owned(), |value| measure.show(value)),
                    measure.show(low),
                    measure.show(high)
                ));
            }
        }
    }
    problems
}
