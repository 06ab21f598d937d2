//! What oracles cost on learned weights: time per query, time per changed class, recall, memory; and the
//! same vectors as text, for other programs.
//!
//! ```text
//! cargo run --release --bin oracle_costs -- MODEL ROWS [--queries N] [--dump FOLDER] \
//!     [oracle[,option=value]…] …
//! ```
//!
//! MODEL is of kind `linear` (memoir-l2, memoir-l1), ROWS labelled rows as it was trained on. One thread.

use std::error::Error;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use memoir::data::{self, Source};
use memoir::eval::model_weights::class_rows;
use memoir::model::Scratch;
use memoir::oracle::{ClassRows, ClassVectors, Oracle, OracleKind, OracleParams, Query};
use memoir::params::Parameters;
use memoir::{Catalogue, LabelSets, Model, RowView, Rows, Session, prepare};

/// Share of the classes that are replaced to measure updates.
const REPLACED: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = PathBuf::from(arguments.next().ok_or("MODEL is missing")?);
    let rows = PathBuf::from(arguments.next().ok_or("ROWS is missing")?);
    let (mut queries, mut oracles, mut dump) = (2000, Vec::new(), None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--queries" => queries = arguments.next().ok_or("a number is missing")?.parse()?,
            "--dump" => dump = arguments.next().map(PathBuf::from),
            _ => oracles.push(argument),
        }
    }
    let session = Session::new(NonZeroUsize::MIN)?;
    let model = Model::load(&model, &Catalogue::new())?;
    let weights = class_rows(model.scorer())?;
    let (rows, labels) = read(&model, &rows, queries, &session)?;
    let present = weights.classes() - weights.zeros().as_slice().len();
    println!(
        "{present} classes with {:.1} weights each, {} rows of {:.1} features\n",
        weights.entries() as f64 / present.max(1) as f64,
        rows.len(),
        rows.entries() as f64 / rows.len().max(1) as f64
    );
    if let Some(folder) = dump {
        std::fs::create_dir_all(&folder)?;
        let classes = (0..weights.classes() as u32).map(|class| (class, weights.row(class)));
        write(&folder.join("classes.svm"), classes)?;
        let labelled = rows
            .iter()
            .zip(labels.iter())
            .map(|(row, labels)| (labels[0], row));
        write(&folder.join("rows.svm"), labelled)?;
    }
    println!(
        "| oracle | build s | memory MB | us per query | inner products | recall@1 | us per changed class |"
    );
    println!("|---|---|---|---|---|---|---|");
    let (exact, _) = built(&OracleKind::Exact, &weights, &session)?;
    let truth = answers(exact.as_ref(), &weights, &rows, &labels).0;
    drop(exact);
    for name in oracles {
        measure(&name, &weights, &rows, &labels, &truth, &session)?;
    }
    Ok(())
}

/// Labelled rows as the model sees them, those of unknown classes left out.
fn read(
    model: &Model,
    path: &Path,
    most: usize,
    session: &Session<'_>,
) -> Result<(Rows, LabelSets), Box<dyn Error>> {
    let (mut rows, mut labels) = (Rows::new(), LabelSets::new());
    prepare::stream_with(
        Source::new(path),
        &data::ReadOptions::default(),
        model.preprocessing(),
        session,
        |block| {
            for (row, names) in block.rows.iter().zip(block.labels.iter()) {
                let numbers = names.iter().map(|&name| block.classes.name(name));
                let known: Vec<u32> = numbers.filter_map(|name| model.classes().find(name)).collect();
                if !known.is_empty() && rows.len() < most {
                    rows.push(row);
                    labels.push(known);
                }
            }
            Ok(())
        },
    )?;
    Ok((rows, labels))
}

fn write<'a>(path: &Path, rows: impl Iterator<Item = (u32, RowView<'a>)>) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for (label, row) in rows {
        write!(text, "{label}")?;
        for (feature, value) in row.iter() {
            write!(text, " {feature}:{value}")?;
        }
        text.push('\n');
    }
    Ok(std::fs::write(path, text)?)
}

type Built = (Box<dyn Oracle<ClassRows>>, f64);

fn built(kind: &OracleKind, weights: &ClassRows, session: &Session<'_>) -> Result<Built, Box<dyn Error>> {
    let start = cpu_seconds();
    let mut oracle = kind.build(0);
    let all: Vec<u32> = (0..weights.classes() as u32).collect();
    oracle.update(weights, &all, session)?;
    Ok((oracle, cpu_seconds() - start))
}

/// The best score for each row, inner products per row, and microseconds per row.
fn answers(
    oracle: &dyn Oracle<ClassRows>,
    weights: &ClassRows,
    rows: &Rows,
    labels: &LabelSets,
) -> (Vec<f32>, f64, f64) {
    let (mut scratch, mut found, mut inner_products) = (Scratch::default(), Vec::new(), 0);
    let start = cpu_seconds();
    let best = (0..rows.len()).map(|number| {
        let query = Query {
            row: rows.row(number),
            labels: labels.row(number),
            k: 1,
            draw: number as u64,
        };
        inner_products += oracle.search(weights, &query, &mut scratch, &mut found);
        found.first().map_or(f32::MIN, |best| best.score)
    });
    let best: Vec<f32> = best.collect();
    let seconds = cpu_seconds() - start;
    let count = rows.len().max(1) as f64;
    (best, inner_products as f64 / count, 1e6 * seconds / count)
}

fn measure(
    name: &str,
    weights: &ClassRows,
    rows: &Rows,
    labels: &LabelSets,
    truth: &[f32],
    session: &Session<'_>,
) -> Result<(), Box<dyn Error>> {
    let mut parts = name.split(',');
    let oracle_name = parts.next().unwrap_or_default();
    let options = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    let params = OracleParams::parse(std::iter::once(("oracle", oracle_name)).chain(options))?;
    let before = resident();
    let (mut oracle, build) = built(&OracleKind::from(&params), weights, session)?;
    let memory = resident().saturating_sub(before) as f64 / 1e6;
    // Once to warm up: the first search makes its scratch.
    let (best, inner_products, time) = answers(oracle.as_ref(), weights, rows, labels);
    let hits = best
        .iter()
        .zip(truth)
        .filter(|(found, best)| found >= best)
        .count();
    let changed: Vec<u32> = (0..weights.classes() as u32)
        .filter(|&class| (class as usize).is_multiple_of(REPLACED) && !weights.zeros().contains(class))
        .collect();
    let start = cpu_seconds();
    oracle.update(weights, &changed, session)?;
    let update = 1e6 * (cpu_seconds() - start) / changed.len().max(1) as f64;
    println!(
        "| {name} | {build:.2} | {memory:.0} | {time:.1} | {inner_products:.0} | {:.3} | {update:.1} |",
        hits as f64 / truth.len().max(1) as f64
    );
    Ok(())
}

/// CPU time that the threads of this process have used, where the system tells; else 0. The machine may have
/// other work.
fn cpu_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    1e-9 * nanoseconds.sum::<f64>()
}

/// Memory of this process that is in use, where the system tells; else 0.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    resident.unwrap_or(0) * 4096
}
