//! `memoir evaluate`: how good is a model on rows with known labels?

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use memoir::Model;
use memoir::data::KeepColumns;
use memoir::eval::{self, EvaluateOptions, HierarchyReport, Outcome, Report};
use memoir::model::write_beside;
use memoir_report::names::with_name;
use memoir_report::sizes::{show_count, show_counted, show_time};
use serde::Serialize;

use crate::Context;
use crate::arguments::{Reading, Running, parse_positive};
use crate::evaluation_report;
use crate::evaluation_tables::Tables;
use crate::output::print;
use crate::progress::Progress;
use crate::sources;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Measures:
  accuracy     share of rows whose best class is one of their labels
  macro-F1     mean of the classes' F1, over classes in the labels or predicted (as scikit-learn)
  precision@k  mean share of the k best classes that are labels
  recall@k     mean share of the labels that are among the k best classes
  F1@k         mean over rows of the harmonic mean of the two
  NDCG@k       mean gain of labels among the k best classes, more in higher places; 1 is best
  calibration error   mean distance between probabilities and shares of right answers (in 15 bins)
Rows that can be automated: the most rows whose answers are together as accurate as wanted, and the
probability from which on `memoir predict --min-confidence` gives these.

Head, middle and tail are the classes from frequent to rare, each with a third of the training labels.")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Labelled rows: files, folders or patterns of names; `-` is standard input
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Also measure the k best classes for these k, such as 1,5,10,20
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = parse_positive)]
    at: Vec<NonZeroUsize>,
    /// Count a row with several labels once for each of them, as a row with that label alone: accuracy as
    /// the paper has it on such data
    #[arg(long)]
    replicate: bool,
    /// Write a report into this folder: an HTML page, the same as Markdown, plots, and tables of all
    /// classes, confusions and wrong rows
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model, &context.catalogue)?;
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let start = Instant::now();
    let source = sources::open(&arguments.data)?;
    let at: Vec<usize> = arguments.at.iter().map(|k| k.get()).collect();
    let mut options = model.reading(arguments.reading.options());
    let measures = EvaluateOptions {
        at: &at,
        replicate: arguments.replicate,
    };
    let report = match &arguments.report {
        None => eval::evaluate_each(&model, source, &options, measures, &session, |_| Ok(()))?.0,
        Some(folder) => {
            options.keep_columns = KeepColumns::All;
            evaluation_report::make_folder(folder)?;
            let path = folder.join("wrong_rows.csv");
            let mut report = None;
            let measure = match model.calibration() {
                Some(_) => "probability",
                None => "score",
            };
            write_beside(&path, |out| {
                let mut tables = Tables::new(&path, measure, out);
                let each = |outcome: &Outcome<'_>| tables.add(outcome);
                let (measured, names) =
                    eval::evaluate_each(&model, source, &options, measures, &session, each)?;
                report = Some(measured);
                tables.finish(folder, &names)
            })?;
            let report = report.context("there is no report")?;
            let model_name = arguments.model.display().to_string();
            evaluation_report::write(folder, &report, &model_name, &sources::name(&arguments.data))?;
            report
        }
    };
    progress.clear();
    let time = start.elapsed();
    let text = if arguments.json {
        let seconds = time.as_secs_f64();
        let timed = Timed {
            report: &report,
            seconds,
        };
        serde_json::to_string_pretty(&timed)? + "\n"
    } else {
        table(&report)
    };
    print(&text)?;
    // Not among the results for people: these are the same for every run.
    let speed = report.rows as f64 / time.as_secs_f64().max(1e-9);
    progress.say(&format!(
        "evaluated in {} ({} rows a second)",
        show_time(time),
        show_count(speed as u64)
    ));
    Ok(())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Timed<'a> {
    #[serde(flatten)]
    report: &'a Report,
    seconds: f64,
}

/// The measures of a hierarchy for people.
fn hierarchy_table(hierarchy: &HierarchyReport) -> String {
    let percent = |share: f64| format!("{:.2}%", 100.0 * share);
    let mut text = String::from("\nin the hierarchy\n");
    for (name, value) in [
        ("  precision", percent(hierarchy.precision)),
        ("  recall", percent(hierarchy.recall)),
        ("  F1", percent(hierarchy.f1)),
        ("  mean distance", format!("{:.2}", hierarchy.mean_distance)),
    ] {
        let _ = writeln!(text, "{name:<20}{value:>8}");
    }
    for level in &hierarchy.levels {
        let name = format!("  accuracy, level {}", level.level);
        let _ = writeln!(
            text,
            "{name:<20}{:>8}{:>10} rows",
            percent(level.accuracy),
            show_count(level.rows)
        );
    }
    let _ = writeln!(
        text,
        "  wrong answers: {} beside the label, {} in its branch, {} elsewhere",
        show_count(hierarchy.errors_under_same_parent),
        show_count(hierarchy.errors_in_same_branch),
        show_count(hierarchy.errors_elsewhere)
    );
    text
}

/// The report for people. `write!` to a `String` cannot fail.
fn table(report: &Report) -> String {
    let percent = |share: f64| format!("{:.2}%", 100.0 * share);
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<20}{value:>8}");
    };
    line("accuracy", percent(report.accuracy));
    line("macro-F1", percent(report.macro_f1));
    line("macro-F1, harmonic", percent(report.macro_f1_harmonic));
    let usual = [
        (1, report.precision_at_1, report.recall_at_1),
        (3, report.precision_at_3, report.recall_at_3),
        (5, report.precision_at_5, report.recall_at_5),
    ];
    for (k, precision, recall) in usual.into_iter().filter(|_| report.at.is_empty()) {
        line(&format!("precision@{k}"), percent(precision));
        line(&format!("recall@{k}"), percent(recall));
    }
    for at in &report.at {
        line(&format!("precision@{}", at.k), percent(at.precision));
        line(&format!("recall@{}", at.k), percent(at.recall));
        line(&format!("F1@{}", at.k), percent(at.f1));
        line(&format!("NDCG@{}", at.k), format!("{:.4}", at.ndcg));
    }
    match &report.confidence {
        Some(confidence) => {
            let error = format!("{:.4}", confidence.expected_calibration_error);
            line("calibration error", error);
            text += "\nrows that can be automated     rows   share  from probability\n";
            for point in &confidence.coverage {
                let _ = writeln!(
                    text,
                    "at {:>4} accuracy   {:>17}{:>8}{:>18}",
                    format!("{:.0}%", 100.0 * point.target),
                    show_count(point.rows),
                    format!("{:.1}%", 100.0 * point.coverage),
                    point.threshold.map_or("never".to_owned(), |t| format!("{t:.4}"))
                );
            }
        }
        None => text += "\nThe model is not calibrated: its scores are not probabilities.\n",
    }
    if let Some(hierarchy) = &report.hierarchy {
        text += &hierarchy_table(hierarchy);
    }
    let _ = writeln!(
        text,
        "\nby class frequency   classes   labels  recall@1  recall@5  macro-F1"
    );
    for band in &report.by_frequency {
        let _ = writeln!(
            text,
            "{:<18}{:>10}{:>9}{:>10}{:>10}{:>10}",
            band.band.name(),
            show_count(band.classes),
            show_count(band.labels),
            percent(band.recall_at_1),
            percent(band.recall_at_5),
            percent(band.macro_f1)
        );
    }
    if !report.confusions.is_empty() {
        text += "\nmost frequent confusions\n";
        for confusion in &report.confusions {
            let _ = writeln!(
                text,
                "{:>8}  {} taken for {}",
                show_count(confusion.count),
                with_name(&confusion.truth, confusion.truth_name.as_deref()),
                with_name(&confusion.predicted, confusion.predicted_name.as_deref())
            );
        }
    }
    let _ = write!(text, "\n{}", show_counted(report.rows, "row"));
    if report.unlabelled_rows > 0 {
        let _ = write!(
            text,
            ", {} without labels left out",
            show_count(report.unlabelled_rows)
        );
    }
    if report.unknown_labels > 0 {
        let unknown = show_counted(report.unknown_labels, "label");
        let _ = write!(
            text,
            ", {unknown} of classes unknown to the model counted as mistakes"
        );
    }
    text.push('\n');
    text
}
