//! `memoir margins`: how inexact is an oracle on a trained model, and what does Theorem 1 say of it?

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use memoir::eval::margins::{MarginReport, Margins};
use memoir::eval::model_weights::{class_dense, class_rows};
use memoir::eval::theory::Theorem1;
use memoir::model::Reduction;
use memoir::oracle::{OracleKind, OracleParams, Scannable};
use memoir::params::Parameters;
use memoir::{LabelSets, Model, RowView, Rows, Session, prepare};

use crate::Context;
use crate::arguments::{Reading, Running};
use crate::gap_plot;
use crate::output::print;
use crate::progress::Progress;
use crate::sources;

#[derive(Debug, Args)]
#[command(after_long_help = "\
The margin of a row is the score of its true class minus the score of the strongest other class. An oracle
finds a strong other class faster than a full scan does. If it misses the strongest one, the margin that
follows is too large. The difference is the gap.

Example:
  memoir margins m.memoir valid.svm --oracle sw-graph --plot gaps.svg")]
pub(crate) struct Arguments {
    /// The model file (memoir-l2, memoir-l1, memoir-lsh or centroid)
    model: PathBuf,
    /// Labelled rows: files, folders or patterns of names; `-` is standard input
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// exact, random, simple-lsh or sw-graph
    #[arg(long, value_name = "NAME", default_value = "sw-graph")]
    oracle: String,
    /// Option of the oracle, such as `sw-ef-search=128` or `hash-bits=256`; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value, hide_short_help = true)]
    oracle_option: Vec<(String, String)>,
    /// Probability with which the gap may exceed epsilon, and with which the bound may fail
    #[arg(long, value_name = "P", default_value_t = 0.05, hide_short_help = true)]
    delta: f64,
    /// Margin at which the loss becomes zero
    #[arg(long, value_name = "MARGIN", default_value_t = 1.0, hide_short_help = true)]
    rho: f64,
    /// Write a plot of the gap's distribution
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    for (name, value, is_legal) in [
        (
            "delta",
            arguments.delta,
            arguments.delta > 0.0 && arguments.delta < 1.0,
        ),
        (
            "rho",
            arguments.rho,
            arguments.rho > 0.0 && arguments.rho.is_finite(),
        ),
    ] {
        if !is_legal {
            let range = if name == "delta" {
                "between 0 and 1"
            } else {
                "above 0"
            };
            bail!("`--{name}` must be {range}, but is `{value}`");
        }
    }
    let options = arguments
        .oracle_option
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let given = std::iter::once(("oracle", arguments.oracle.as_str())).chain(options);
    let kind = OracleKind::from(&OracleParams::parse(given)?);
    let model = Model::load(&arguments.model, &context.catalogue)?;
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;

    let (mut rows, mut labels) = (Rows::new(), LabelSets::new());
    let source = sources::open(&arguments.data)?;
    prepare::stream_with(
        source,
        &model.reading(arguments.reading.options()),
        model.preprocessing(),
        &session,
        |block| {
            let known: Vec<_> = block
                .classes
                .iter()
                .map(|name| model.classes().find(name))
                .collect();
            for (row, names) in block.rows.iter().zip(block.labels.iter()) {
                let numbers: Vec<u32> = names.iter().filter_map(|&name| known[name as usize]).collect();
                if !numbers.is_empty() {
                    rows.push(row);
                    labels.push(numbers);
                }
            }
            Ok(())
        },
    )?;
    if rows.is_empty() {
        bail!(
            "{}: no row has a label that the model knows",
            sources::name(&arguments.data)
        );
    }
    let settings = (arguments.delta, arguments.rho);
    let scorer = model.scorer();
    let (margins, report) = if scorer.kind() == "reduced" {
        let weights = class_dense(scorer)?;
        let rows = reduced(&rows, weights.reduction());
        measure(&kind, &weights, &rows, &labels, settings, &session)?
    } else {
        measure(&kind, &class_rows(scorer)?, &rows, &labels, settings, &session)?
    };
    progress.clear();
    if let Some(path) = &arguments.plot {
        let svg = gap_plot::svg(&margins.gaps(), &report);
        memoir::model::write_beside(path, |out| {
            out.write_all(svg.as_bytes())
                .map_err(|reason| memoir::Error::io(path, "cannot write", reason))
        })?;
    }
    let text = if arguments.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        table(&report)
    };
    print(&text)
}

/// Asks the oracle about every row. The weights of a finished model have no multiplier.
fn measure<W: Scannable>(
    kind: &OracleKind,
    weights: &W,
    rows: &Rows,
    labels: &LabelSets,
    settings: (f64, f64),
    session: &Session<'_>,
) -> anyhow::Result<(Margins, MarginReport)> {
    let mut oracle = kind.build(session.seed());
    let all: Vec<u32> = (0..weights.classes() as u32).collect();
    oracle.update(weights, &all, session)?;
    let margins = Margins::measure(oracle.as_ref(), weights, 1.0, rows, labels, session)?;
    let report = MarginReport::new(&margins, oracle.name(), weights, rows, settings, session)?;
    Ok((margins, report))
}

/// The rows in the space that the weights are in.
fn reduced(rows: &Rows, reduction: &Reduction) -> Rows {
    let indices: Vec<u32> = (0..reduction.dimensions() as u32).collect();
    let (mut all, mut values) = (Rows::new(), Vec::new());
    for row in rows.iter() {
        reduction.apply(row, &mut values);
        all.push(RowView {
            indices: &indices,
            values: &values,
        });
    }
    all
}

/// The report for people. `write!` to a `String` cannot fail.
fn table(report: &MarginReport) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<37}{value}");
    };
    line("oracle", report.oracle.to_owned());
    let unanswered = match report.unanswered {
        0 => String::new(),
        count => format!(" ({count} without a rival: no gap, but part of the bound)"),
    };
    line("examples", format!("{}{unanswered}", report.examples));
    line("recall@1", format!("{:.4}", report.recall_at_1));
    let share = report.inner_products / report.scan_inner_products.max(1.0);
    let inner_products = format!(
        "{:.1} ({:.1}% of a full scan)",
        report.inner_products,
        100.0 * share
    );
    line("inner products per query", inner_products);
    line("mean gap", format!("{:.6}", report.mean_gap));
    let [half, ninety, ninety_nine, largest] = report.gap_quantiles;
    line(
        "gap, median / 90% / 99% / largest",
        format!("{half:.6} / {ninety:.6} / {ninety_nine:.6} / {largest:.6}"),
    );
    line(
        &format!("epsilon at delta {}", report.delta),
        format!("{:.6}", report.epsilon),
    );
    line(
        &format!("hinge loss at rho {}, exact", report.rho),
        format!("{:.6}", report.exact_loss),
    );
    line(
        &format!("hinge loss at rho {}, approximate", report.rho),
        format!("{:.6}", report.approximate_loss),
    );
    if let Some(search) = &report.hash_search {
        line(
            "hash search, exponent of classes",
            format!(
                "{:.3} (slowest of {} levels; as printed {:.3})",
                search.slowest, search.levels, search.printed
            ),
        );
    }
    for (name, terms) in [
        ("Theorem 1, gap up to epsilon", &report.theorem_1),
        ("Theorem 1, gap never larger", &report.theorem_1_strict),
    ] {
        let _ = writeln!(text, "\n{name}\n{}", theorem(terms));
    }
    text
}

fn theorem(terms: &Theorem1) -> String {
    let verdict = if terms.is_informative {
        ""
    } else {
        "\n  A bound of 1 or more says nothing: no share of wrong answers exceeds 1."
    };
    format!(
        "  epsilon (relative to rho)          {:.6}\n  \
           as printed, loss at rho(1+eps)     {:.6}\n  \
           beyond epsilon, or unanswered      {:.6}\n  \
           corrected, (1+eps) loss + beyond   {:.6}\n  \
           4C/rho * Rademacher complexity     {:.6}\n  \
           4C/rho * sqrt(R^2 Omega^2 / n)     {:.6}\n  \
           3 sqrt(log(4/delta) / 2n)          {:.6}\n  \
           corrected bound, first form        {:.6}\n  \
           corrected bound, kernel form       {:.6}{verdict}",
        terms.epsilon,
        terms.printed_loss,
        terms.excess,
        terms.loss,
        terms.rademacher_term,
        terms.kernel_term,
        terms.confidence_term,
        terms.rademacher_bound,
        terms.kernel_bound
    )
}
