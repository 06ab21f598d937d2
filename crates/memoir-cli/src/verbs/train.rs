//! `memoir train`: data in, one model file out.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::{Args, Command, ValueEnum};
use memoir::checkpoint::Checkpoints;
use memoir::model::Precision;
use memoir::params::Parameters;
use memoir::prepare::{Examples, WeightingChoice};
use memoir::text::TextSettings;
use memoir::train::{FitOptions, HeldOut};
use memoir::{Catalogue, Model, train};
use memoir_report::sizes::{parse_size, show_counted, show_size, show_time};

use crate::arguments::{Reading, Running, check_apart, check_apart_from_data, parse_positive};
use crate::help::{HelpRequest, help_all};
use crate::method_options::{self, Given};
use crate::output::print;
use crate::peak_memory::peak_memory;
use crate::progress::Progress;
use crate::sources;
use crate::vocabulary_options::VocabularyOptions;
use crate::{Context, failure, interrupt, out_of_memory};

#[derive(Debug, Args)]
#[command(after_long_help = "\
DATA may be CSV, TSV, JSON lines, Excel (`book.xlsx#Sheet2` for another sheet than the first), Parquet,
Arrow, fastText, libsvm or XMC, compressed or not. The model remembers how it was read.

Examples:
  memoir train tickets.csv --model tickets.memoir
  memoir train jobs.xlsx --model jobs.memoir --text-column title,tasks --label-column code
  memoir train train.svm.gz --model m.memoir --valid valid.svm.gz --seed 7
  memoir train --from tickets.memoir november.csv --model tickets2.memoir
  memoir train titles.csv --vocabulary subjects.ttl --language sv --model m.memoir
  zcat *.jsonl.gz | memoir train - --format jsonl --model m.memoir --word-ngrams 2")]
pub(crate) struct Arguments {
    /// Labelled rows: files, folders or patterns of names; `-` is standard input
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Model file to write
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// How to learn [default: softmax, or the algorithm of `--from`]
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,
    /// Model to continue from
    ///
    /// it learns DATA in addition, with its new classes and words
    #[arg(long, value_name = "MODEL")]
    from: Option<PathBuf>,
    /// Held-out rows, to decide which pass was best
    #[arg(long, value_name = "DATA", conflicts_with = "valid_fraction")]
    valid: Option<PathBuf>,
    /// Share of DATA to hold out instead of `--valid`
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    valid_fraction: Option<f64>,
    /// Replicate each row once per label, as the paper does
    #[arg(long, hide_short_help = true)]
    replicate: bool,
    /// What the values of vectors are: counts (log-tf, idf, rows scaled by their length), weights (rows
    /// scaled by their length), or to be left raw
    #[arg(long, value_name = "KIND", default_value = "auto", hide_short_help = true)]
    weighting: ValueKind,
    /// How weights are stored: f32, or f16 for smaller files [default: as the algorithm makes them]
    #[arg(long, value_name = "PRECISION", hide_short_help = true)]
    precision: Option<StoredPrecision>,
    #[command(flatten)]
    vocabulary: VocabularyOptions,
    /// Also give answers for classes of the vocabulary that have no row
    #[arg(
        long,
        requires = "vocabulary",
        help_heading = "Vocabulary",
        hide_short_help = true
    )]
    unseen_classes: bool,
    #[command(flatten)]
    reading: Reading,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Running")]
    seed: u64,
    /// Memory limit of training, such as 512M or 2G [default: none]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Running")]
    memory_budget: Option<u64>,
    /// Size that the model file should not exceed, such as 20M; the smallest weights are dropped
    /// [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Running", hide_short_help = true)]
    max_model_size: Option<u64>,
    /// Write a checkpoint beside the model file each time this number of rows is learned; `--resume`
    /// continues from it
    #[arg(long, value_name = "ROWS", value_parser = parse_positive, help_heading = "Running", hide_short_help = true)]
    checkpoint_every: Option<NonZeroUsize>,
    /// Continue from the checkpoint of a stopped run with the same data and options, if there is one
    #[arg(long, help_heading = "Running", hide_short_help = true)]
    resume: bool,
    #[command(flatten)]
    running: Running,
}

/// What the values of vectors are.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ValueKind {
    Auto,
    Counts,
    Unit,
    Raw,
}

impl From<ValueKind> for WeightingChoice {
    fn from(kind: ValueKind) -> Self {
        match kind {
            ValueKind::Auto => Self::Auto,
            ValueKind::Counts => Self::Counts,
            ValueKind::Unit => Self::Unit,
            ValueKind::Raw => Self::Raw,
        }
    }
}

/// How weights are stored.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum StoredPrecision {
    F32,
    F16,
}

impl From<StoredPrecision> for Precision {
    fn from(precision: StoredPrecision) -> Self {
        match precision {
            StoredPrecision::F32 => Self::F32,
            StoredPrecision::F16 => Self::F16,
        }
    }
}

pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share: &f64| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "expected a number between 0 and 1, such as 0.1".to_owned())
}

/// The options, with those of all algorithms.
pub(crate) fn options(command: Command, help: &HelpRequest) -> Command {
    method_options::augment(command, &crate::catalogue(), help).arg(help_all())
}

pub(crate) fn run(arguments: &Arguments, given: &Given, context: &Context) -> anyhow::Result<()> {
    let start = Instant::now();
    // Everything that can be checked before the data is read is checked here: reading may take minutes.
    let before = match &arguments.from {
        Some(path) => Some(Model::load(path, &context.catalogue)?),
        None => None,
    };
    let algorithm = context.catalogue.find(match (&arguments.algorithm, &before) {
        (Some(name), _) => name,
        (None, Some(before)) => &before.origin().algorithm,
        (None, None) => Catalogue::DEFAULT_ALGORITHM,
    })?;
    let method = algorithm.configure(given.method(algorithm.name, &context.catalogue)?)?;
    let checkpoints = checkpoints(arguments);
    let checkpoint_path = checkpoint_path(arguments);
    if checkpoints.is_some() && !method.trainer().support().checkpoints {
        bail!("`{}` keeps no checkpoints; `softmax` does", algorithm.name);
    }
    if checkpoints.is_some() {
        failure::remember_checkpoint(&checkpoint_path);
    }
    let text = TextSettings::parse(given.text())?;
    if before.is_some() {
        check_continuing(arguments, given)?;
    }
    let vocabulary = arguments.vocabulary.request(arguments.unseen_classes)?;
    check_target(&arguments.model)?;
    for data in [&arguments.data[..], arguments.valid.as_slice()] {
        check_apart_from_data(&arguments.model, data)?;
    }
    if let Some(path) = &arguments.from {
        check_apart(&arguments.model, path)?;
    }

    if arguments.memory_budget.is_some() {
        out_of_memory::is_given_back();
    }
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments
        .running
        .session(context, &progress)?
        .with_seed(arguments.seed)
        .with_memory_budget(arguments.memory_budget)
        .with_checkpoints(checkpoints);
    if checkpoint_path.is_file() && !arguments.resume {
        let fate = match arguments.checkpoint_every {
            Some(_) => " and will be replaced",
            None => "",
        };
        session.note(format!(
            "{} is the checkpoint of a run that was stopped{fate}; `--resume` continues from it",
            checkpoint_path.display()
        ));
    }
    let options = sources::reading(&arguments.data, arguments.reading.options())?;
    let options = match &before {
        Some(before) => before.reading(options),
        None => options,
    };
    let examples = |data: &[PathBuf]| -> memoir::Result<Examples<'_>> {
        Ok(Examples::Read {
            source: sources::open(data)?,
            options: &options,
        })
    };
    let fit_options = FitOptions {
        text,
        weighting: arguments.weighting.into(),
        held_out: match (&arguments.valid, arguments.valid_fraction) {
            (Some(path), _) => HeldOut::examples(examples(std::slice::from_ref(path))?),
            (None, Some(share)) => HeldOut::Share(share),
            (None, None) => HeldOut::Nothing,
        },
        base_model: before.as_ref(),
        replicate: arguments.replicate,
        vocabulary,
    };
    let mut model = train::fit(&method, examples(&arguments.data)?, fit_options, &session)?;
    model.remember(&options);
    for doubt in doubts(&model) {
        session.note(doubt);
    }
    if let Some(precision) = arguments.precision {
        model = model.with_precision(precision.into())?;
    }
    if let Some(most_bytes) = arguments.max_model_size {
        model = model.shrink(most_bytes, &session)?;
    }
    interrupt::while_writing(|| model.save_in(&arguments.model, &session))?;
    if let Some(checkpoints) = session.checkpoints() {
        checkpoints.remove()?;
    }
    progress.clear();
    if !arguments.running.quiet {
        print(&(summary(&model, arguments, start.elapsed())? + "\n"))?;
    }
    Ok(())
}

/// What the user of a model should know before relying on it.
fn doubts(model: &Model) -> Vec<String> {
    let mut doubts = Vec::new();
    if model.classes().len() == 1 {
        let class = model.classes().name(0);
        doubts.push(format!(
            "there is one class only, so every row will get `{class}`"
        ));
    } else if model.calibration().is_none() && model.origin().algorithm == Catalogue::DEFAULT_ALGORITHM {
        doubts.push(format!(
            "{} are too few to calibrate, so scores will be no probabilities; give `--valid` or `--valid-fraction`",
            show_counted(model.origin().rows, "row")
        ));
    }
    doubts
}

/// Where checkpoints go: beside the model, with one more ending.
fn checkpoint_path(arguments: &Arguments) -> PathBuf {
    let mut path = arguments.model.clone().into_os_string();
    path.push(".checkpoint");
    path.into()
}

fn checkpoints(arguments: &Arguments) -> Option<Checkpoints> {
    let every = arguments.checkpoint_every.map(|rows| rows.get() as u64);
    if every.is_none() && !arguments.resume {
        return None;
    }
    Some(Checkpoints::new(
        checkpoint_path(arguments),
        every,
        arguments.resume,
    ))
}

/// Settings that the model to continue from has decided cannot be given again.
fn check_continuing(arguments: &Arguments, given: &Given) -> anyhow::Result<()> {
    if let Some((name, _)) = given.text().next() {
        bail!("`--{name}` cannot be given with `--from`: the model keeps its own text settings");
    }
    if !matches!(arguments.weighting, ValueKind::Auto) {
        bail!("`--weighting` cannot be given with `--from`: the model keeps its own weighting");
    }
    Ok(())
}

/// A folder that is not there is an error before the data is read, not after.
fn check_target(path: &Path) -> anyhow::Result<()> {
    if path == Path::new("-") {
        bail!("a model is a file: it cannot be written to standard output");
    }
    if path.is_dir() {
        bail!(
            "{}: cannot write the model here: it is a directory",
            path.display()
        );
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!(
            "{}: cannot write the model: there is no folder {}",
            path.display(),
            folder.display()
        );
    }
    Ok(())
}

/// What was made, in two lines.
fn summary(model: &Model, arguments: &Arguments, time: Duration) -> anyhow::Result<String> {
    let made = model.summary()?;
    let weights = made.weights.map_or(String::new(), |weights| {
        format!(", {}", show_counted(weights as u64, "weight"))
    });
    let row_weights = made
        .row_weights
        .map_or(String::new(), |sum| format!(" (weights add up to {sum})"));
    let kept = made.kept_rows.map_or(String::new(), |kept| {
        format!(", keeps {}", show_counted(kept as u64, "row"))
    });
    let peak = peak_memory().map_or(String::new(), |bytes| {
        // What reading takes is not planned, and estimates of what training takes are a few percent off.
        let above = arguments.memory_budget.filter(|&budget| bytes > budget);
        let above = above.map_or(String::new(), |budget| {
            format!(" (above the budget of {})", show_size(budget))
        });
        format!(", peak memory {}{above}", show_size(bytes))
    });
    Ok(format!(
        "{}: {}{row_weights}, {}, {}{weights}{kept}\nwrote {} ({}) in {}{peak}",
        made.algorithm,
        show_counted(made.rows, "row"),
        show_counted(made.classes as u64, "class"),
        show_counted(made.features as u64, "feature"),
        arguments.model.display(),
        show_size(made.file_bytes),
        show_time(time)
    ))
}
