//! `memoir tune`: which settings suit the data?

use std::fmt::Write as _;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, Command};
use memoir::prepare::ExampleSet;
use memoir::tune::{JudgedBy, Measure, Outcome, Settings, Trial, TuneOptions, tune};
use memoir::{Cancel, Catalogue, Error};
use memoir_report::shell::command_line;
use memoir_report::sizes::{parse_size, show_count, show_counted, show_size};
use serde::Serialize;

use super::train::{ValueKind, parse_share};
use crate::arguments::{Reading, Running, check_apart_from_data, parse_positive};
use crate::help::{HelpRequest, help_all};
use crate::method_options::{self, Given};
use crate::output::print;
use crate::progress::Progress;
use crate::{Context, failure, sources};

/// Time between two looks at the clock and at the flag of signals.
const LOOK: Duration = Duration::from_millis(20);

/// Trials that the table shows.
const SHOWN: usize = 15;

/// Options of this verb that `memoir train` does not have, or that it uses otherwise; those with a value are
/// marked.
const OWN_OPTIONS: [(&str, bool); 10] = [
    ("--measure", true),
    ("--time", true),
    ("--rows", true),
    ("--candidates", true),
    ("--vary", true),
    ("--log", true),
    ("--valid", true),
    ("--valid-fraction", true),
    ("--resume", false),
    ("--json", false),
];

#[derive(Debug, Args)]
#[command(after_long_help = "\
Candidates are trained on few rows, the better third of them on three times as many, and so on; the last
ones learn from all rows. Options of `memoir train` that are given stay as they are; others are varied.
The same seed gives the same trials. A time limit may end them early: then the best of the last round
that was finished counts, and `--resume` goes on.

Measures: accuracy, macro-f1, precision@K, recall@K, f1@K, ndcg@K, coverage@80, @90, @95 or @99
(share of rows that can be answered at this accuracy)

Examples:
  memoir tune tickets.csv --time 10m
  memoir tune train.csv --valid valid.csv --measure ndcg@20 --blocks words,pairs:0.5
  memoir tune train.svm --algorithm ovr --vary cost,loss --measure macro-f1")]
pub(crate) struct Arguments {
    /// Labelled rows: files, folders or patterns of names; `-` is standard input
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// How to learn
    #[arg(long, value_name = "NAME", default_value = Catalogue::DEFAULT_ALGORITHM)]
    algorithm: String,
    /// What is to become large: accuracy, macro-f1, precision@K, ndcg@K, coverage@95
    #[arg(long, value_name = "NAME", default_value = "accuracy")]
    measure: Measure,
    /// Stop after this time, such as 90s, 10m or 2h [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// Most training rows of a trial [default: all rows]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    rows: Option<NonZeroUsize>,
    /// How many settings are tried
    #[arg(long, value_name = "N", default_value_t = default_candidates(), value_parser = parse_positive)]
    candidates: NonZeroUsize,
    /// Options to vary, such as passes,blocks [default: those that are likely to matter]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    vary: Option<Vec<String>>,
    /// Held-out rows to judge by
    #[arg(long, value_name = "DATA", conflicts_with = "valid_fraction")]
    valid: Option<PathBuf>,
    /// Share of DATA to hold out instead of `--valid`
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value_t = TuneOptions::HELD_OUT_SHARE)]
    valid_fraction: f64,
    /// File that trials are written to [default: DATA's name with `.tune.jsonl`, in this folder]
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Continue the search of the log
    #[arg(long)]
    resume: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// What the values of vectors are: counts (log-tf, idf, rows scaled by their length), weights (rows
    /// scaled by their length), or to be left raw
    #[arg(long, value_name = "KIND", default_value = "auto", hide_short_help = true)]
    weighting: ValueKind,
    #[command(flatten)]
    reading: Reading,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Running")]
    seed: u64,
    /// Memory limit of each training, such as 512M or 2G [default: none]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Running")]
    memory_budget: Option<u64>,
    #[command(flatten)]
    running: Running,
}

fn default_candidates() -> NonZeroUsize {
    NonZeroUsize::new(TuneOptions::CANDIDATES).unwrap_or(NonZeroUsize::MIN)
}

/// Reads a time: `90s`, `10m`, `1.5h`.
fn parse_time(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let found = units.iter().find_map(|(unit, seconds)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Duration::try_from_secs_f64(number * seconds).ok()
    });
    found
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a time such as 90s, 10m or 2h".to_owned())
}

/// The options, with those of all algorithms.
pub(crate) fn options(command: Command, help: &HelpRequest) -> Command {
    method_options::augment(command, &crate::catalogue(), help).arg(help_all())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Found<'a> {
    measure: String,
    command: String,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

pub(crate) fn run(arguments: &Arguments, given: &Given, context: &Context) -> anyhow::Result<()> {
    let algorithm = context.catalogue.find(&arguments.algorithm)?;
    let method = given.method(algorithm.name, &context.catalogue)?;
    let fixed: Settings = given
        .text()
        .chain(method)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let log = log_path(arguments);
    for data in [&arguments.data[..], arguments.valid.as_slice()] {
        check_apart_from_data(&log, data)?;
    }
    let progress = Progress::new(arguments.running.quiet);
    // Of its own: a time limit raises it, and the program then still has something to say.
    let stop = Cancel::default();
    let clock = Clock::start(arguments.time, &context.cancel, &stop)?;
    let session = arguments
        .running
        .session(context, &progress)?
        .with_cancel(stop)
        .with_seed(arguments.seed)
        .with_memory_budget(arguments.memory_budget);
    let reading = arguments.reading.options();
    let read = |data: &[PathBuf]| ExampleSet::read(sources::open(data)?, &reading, &session);
    let data = read(&arguments.data).map_err(|error| timed_out(error, context))?;
    let valid = arguments
        .valid
        .as_ref()
        .map(|path| read(std::slice::from_ref(path)));
    let valid = valid.transpose();
    let valid = valid.map_err(|error| timed_out(error, context))?;
    let judged_by = match &valid {
        Some(valid) => JudgedBy::Examples(valid),
        None => JudgedBy::Share(arguments.valid_fraction),
    };
    let options = TuneOptions {
        algorithm,
        given: fixed,
        vary: arguments.vary.clone(),
        measure: arguments.measure,
        candidates: arguments.candidates.get(),
        rows: arguments.rows.map(NonZeroUsize::get),
        weighting: arguments.weighting.into(),
        log: Some(&log),
        resume: arguments.resume,
    };
    failure::remember_checkpoint(&log);
    let outcome = tune(&data, judged_by, &options, &session, |trial| {
        progress.say(&told(trial, arguments.measure));
    })?;
    drop(clock);
    progress.clear();
    if context.cancel.is_raised() {
        return Err(Error::Cancelled.into());
    }
    let command = train_command(arguments, std::env::args(), &outcome);
    let text = if arguments.json {
        let found = Found {
            measure: arguments.measure.to_string(),
            command,
            outcome: &outcome,
        };
        serde_json::to_string_pretty(&found)? + "\n"
    } else {
        table(&outcome, arguments.measure, &command)
    };
    print(&text)
}

/// A time limit that ends before the first trial leaves nothing to tell.
fn timed_out(error: Error, context: &Context) -> anyhow::Error {
    match error {
        Error::Cancelled if !context.cancel.is_raised() => {
            anyhow::anyhow!("`--time` was over before the data was read; expected more")
        }
        other => other.into(),
    }
}

/// Raises a flag when the time is over, or when another flag is raised. Ends when it is dropped.
struct Clock(Arc<AtomicBool>);

impl Clock {
    fn start(limit: Option<Duration>, signal: &Cancel, stop: &Cancel) -> io::Result<Self> {
        let done = Arc::new(AtomicBool::new(false));
        let (signal, stop, is_done) = (signal.clone(), stop.clone(), done.clone());
        let start = Instant::now();
        std::thread::Builder::new().spawn(move || {
            while !is_done.load(Ordering::Relaxed) {
                if signal.is_raised() || limit.is_some_and(|limit| start.elapsed() >= limit) {
                    stop.raise();
                    return;
                }
                std::thread::sleep(LOOK);
            }
        })?;
        Ok(Self(done))
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn log_path(arguments: &Arguments) -> PathBuf {
    let of_data = || {
        let name = arguments.data[0].file_name().unwrap_or("data".as_ref());
        let mut name = if name == "-" {
            "data".into()
        } else {
            name.to_owned()
        };
        name.push(".tune.jsonl");
        name.into()
    };
    arguments.log.clone().unwrap_or_else(of_data)
}

/// The command that trains with the best settings: the words of this one, without what is about the search.
fn train_command(arguments: &Arguments, words: impl Iterator<Item = String>, outcome: &Outcome) -> String {
    let mut command = vec!["memoir".to_owned(), "train".to_owned()];
    let mut words = words.skip(2);
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or_default();
        match OWN_OPTIONS.iter().find(|(own, _)| *own == name) {
            Some((_, true)) if !word.contains('=') => {
                words.next();
            }
            Some(_) => {}
            None => command.push(word),
        }
    }
    let stem = arguments.data[0]
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let stem = if stem == "-" { "data" } else { &stem };
    command.extend(["--model".to_owned(), format!("{stem}.memoir")]);
    for (name, value) in outcome.best.iter().flat_map(|best| &best.settings) {
        command.extend([format!("--{name}"), value.clone()]);
    }
    command_line(&command)
}

fn shown_score(score: Option<f64>, measure: Measure) -> String {
    match (score, measure) {
        (None, _) => "failed".to_owned(),
        (Some(score), Measure::Ndcg(_)) => format!("{score:.4}"),
        (Some(score), _) => format!("{:.2}%", 100.0 * score),
    }
}

fn shown_settings(trial: &Trial) -> String {
    if trial.settings.is_empty() {
        return "(as given)".to_owned();
    }
    let settings = trial.settings.iter();
    let words: Vec<_> = settings
        .flat_map(|(name, value)| [format!("--{name}"), value.clone()])
        .collect();
    command_line(&words)
}

/// A line for a trial that is done.
fn told(trial: &Trial, measure: Measure) -> String {
    let failure = trial.failure.as_ref();
    format!(
        "round {}, {}: {measure} {}  {}{}",
        trial.round,
        show_counted(trial.rows as u64, "row"),
        shown_score(trial.score, measure),
        shown_settings(trial),
        failure.map_or(String::new(), |failure| format!(" ({failure})"))
    )
}

/// What was tried, the latest round first and in it the best first. `write!` to a `String` cannot fail.
fn table(outcome: &Outcome, measure: Measure, command: &str) -> String {
    let mut trials: Vec<&Trial> = outcome.trials.iter().collect();
    trials.sort_by(|a, b| {
        let score = |trial: &Trial| trial.score.unwrap_or(f64::NEG_INFINITY);
        b.round.cmp(&a.round).then(score(b).total_cmp(&score(a)))
    });
    let name = measure.to_string();
    let mut text = format!("round      rows{name:>15}     model  settings\n");
    for trial in trials.iter().take(SHOWN) {
        let _ = writeln!(
            text,
            "{:>5}{:>10}{:>15}{:>10}  {}",
            trial.round,
            show_count(trial.rows as u64),
            shown_score(trial.score, measure),
            show_size(trial.model_bytes),
            shown_settings(trial)
        );
    }
    if trials.len() > SHOWN {
        let _ = writeln!(text, "({} more in the log)", trials.len() - SHOWN);
    }
    if outcome.finished_rounds < outcome.rounds {
        let _ = writeln!(
            text,
            "\nstopped in round {} of {}; `--resume` goes on",
            outcome.finished_rounds + 1,
            outcome.rounds
        );
    }
    match &outcome.best {
        Some(best) => {
            let _ = writeln!(
                text,
                "\nbest: {measure} {} on held-out rows\n{command}",
                shown_score(best.score, measure)
            );
        }
        None => text += "\nno trial was finished\n",
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(parse_time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("1.5h"), Ok(Duration::from_secs(5400)));
        for bad in ["", "5", "m", "-1s", "0s", "1e300h", "nans"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }
}
