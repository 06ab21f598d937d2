//! `memoir compact`: the same model in a smaller file.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use memoir::eval::Evaluation;
use memoir::model::Precision;
use memoir::{Dataset, Error, Model, Session, prepare};
use memoir_report::sizes::{parse_size, show_count, show_size};

use crate::arguments::{Reading, Running, check_apart};
use crate::output::print;
use crate::progress::Progress;
use crate::sources;
use crate::{Context, interrupt};

#[derive(Debug, Args)]
#[command(after_long_help = "\
A packed model predicts from the file as it is, without unpacking. f16 keeps the weights of `softmax` to
the last bit and stores class numbers in fewer bytes. int8 rounds each weight to 1/127 of the largest
weight of its feature. --max-size drops the smallest weights. To see what each of them costs before
anything is written, use --dry-run --valid DATA.

Examples:
  memoir compact m.memoir --dry-run --valid valid.csv
  memoir compact m.memoir --out small.memoir --precision int8 --max-size 5M")]
pub(crate) struct Arguments {
    /// The model file; it stays as it is
    model: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    /// How weights are stored [default: as they are]
    #[arg(long, value_name = "PRECISION")]
    precision: Option<PackedPrecision>,
    /// Size that the file should not exceed, such as 10M; the smallest weights are dropped [default: no
    /// limit]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_size: Option<u64>,
    /// Drop what only further training would need
    #[arg(long = "final")]
    finally: bool,
    /// Write nothing; show possible sizes and, with --valid, the accuracy at each
    #[arg(long, conflicts_with = "out")]
    dry_run: bool,
    /// Labelled rows to measure accuracy on
    #[arg(long, value_name = "DATA")]
    valid: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

/// How weights are stored.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum PackedPrecision {
    F16,
    Int8,
}

impl PackedPrecision {
    fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Int8 => "int8",
        }
    }
}

impl From<PackedPrecision> for Precision {
    fn from(precision: PackedPrecision) -> Self {
        match precision {
            PackedPrecision::F16 => Self::F16,
            PackedPrecision::Int8 => Self::Int8,
        }
    }
}

/// Shares of the packed size that a dry run tries.
const SHARES: [u64; 4] = [80, 60, 40, 25];

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let before = Model::load(&arguments.model, &context.catalogue)?
        .summary()?
        .file_bytes;
    if arguments.dry_run {
        let table = dry_run(arguments, context, &session)?;
        progress.clear();
        return print(&table);
    }
    if arguments.valid.is_some() {
        bail!("`--valid` is for `--dry-run`, which shows what each size costs and writes nothing");
    }
    let Some(out) = &arguments.out else {
        bail!("`--out` is missing; expected a file to write");
    };
    check_apart(out, &arguments.model)?;
    let model = compacted(
        arguments,
        arguments.precision,
        arguments.max_size,
        context,
        &session,
    )?;
    interrupt::while_writing(|| model.save_in(out, &session))?;
    progress.clear();
    if !arguments.running.quiet {
        let after = model.summary()?;
        print(&format!(
            "wrote {}: {} instead of {}, {} weights, {}\n",
            out.display(),
            show_size(after.file_bytes),
            show_size(before),
            show_count(after.weights.unwrap_or(0) as u64),
            after.precision.unwrap_or("no weights")
        ))?;
    }
    Ok(())
}

fn compacted(
    arguments: &Arguments,
    precision: Option<PackedPrecision>,
    most_bytes: Option<u64>,
    context: &Context,
    session: &Session<'_>,
) -> anyhow::Result<Model> {
    let mut model = Model::load(&arguments.model, &context.catalogue)?;
    if arguments.finally {
        model.finalize();
    }
    if let Some(precision) = precision {
        model = model.with_precision(precision.into())?;
    }
    if let Some(most_bytes) = most_bytes {
        model = model.shrink(most_bytes, session)?;
    }
    Ok(model)
}

/// Sizes, and the accuracy at each if there are rows to measure it on.
fn dry_run(arguments: &Arguments, context: &Context, session: &Session<'_>) -> anyhow::Result<String> {
    let original = Model::load(&arguments.model, &context.catalogue)?;
    let valid = match &arguments.valid {
        Some(path) => {
            let options = original.reading(arguments.reading.options());
            let (preprocessing, classes) = (original.preprocessing(), original.classes());
            let (rows, _) =
                prepare::read_with(sources::open(&[path])?, &options, preprocessing, classes, session)?;
            Some(rows)
        }
        None => None,
    };
    let mut text = format!(
        "{:<22}{:>10}{:>12}{:>10}{:>9}\n",
        "", "size", "weights", "accuracy", "change"
    );
    let mut first = None;
    let mut line = |name: String, model: &Model| -> anyhow::Result<u64> {
        let summary = model.summary()?;
        let accuracy = valid
            .as_ref()
            .map(|valid| accuracy(model, valid, session))
            .transpose()?;
        let (shown, change) = match accuracy {
            Some(accuracy) => (
                format!("{:.2}%", 100.0 * accuracy),
                format!("{:+.2}", 100.0 * (accuracy - *first.get_or_insert(accuracy))),
            ),
            None => ("?".to_owned(), "?".to_owned()),
        };
        let weights = show_count(summary.weights.unwrap_or(0) as u64);
        let size = show_size(summary.file_bytes);
        let _ = writeln!(text, "{name:<22}{size:>10}{weights:>12}{shown:>10}{change:>9}");
        Ok(summary.file_bytes)
    };
    line("as it is".to_owned(), &original)?;
    let wanted = arguments
        .precision
        .map_or(vec![PackedPrecision::F16, PackedPrecision::Int8], |p| vec![p]);
    let quiet = session_without_notes(arguments, context)?;
    let mut packed_size = 0;
    for &precision in &wanted {
        let model = compacted(arguments, Some(precision), None, context, &quiet)?;
        packed_size = line(precision.name().to_owned(), &model)?;
    }
    let precision = wanted.last().copied();
    let name = precision.map_or("", PackedPrecision::name);
    let mut sizes: Vec<u64> = SHARES.map(|share| packed_size * share / 100).to_vec();
    sizes.extend(arguments.max_size);
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let mut impossible = Vec::new();
    for most_bytes in sizes {
        let name = format!("{name}, at most {}", show_size(most_bytes));
        match compacted(arguments, precision, Some(most_bytes), context, &quiet) {
            Ok(model) => {
                line(name, &model)?;
            }
            Err(error) if matches!(error.downcast_ref(), Some(Error::Cancelled)) => return Err(error),
            Err(error) => impossible.push(format!("{name}: not possible: {error}\n")),
        }
    }
    Ok(text + &impossible.concat())
}

/// What pruning would tell is in the table already.
fn session_without_notes(arguments: &Arguments, context: &Context) -> anyhow::Result<Session<'static>> {
    arguments.running.session(context, &memoir::Silent)
}

fn accuracy(model: &Model, valid: &Dataset, session: &Session<'_>) -> anyhow::Result<f64> {
    let predictions = model.predict_rows(&valid.rows, 1, session)?;
    let mut evaluation = Evaluation::new();
    for (labels, best) in valid.labels.iter().zip(predictions.iter()) {
        evaluation.add(labels, best);
    }
    Ok(evaluation.accuracy())
}
