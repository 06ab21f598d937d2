//! What `memoir evaluate --report` writes: the measures as one HTML page and as Markdown, and the plots
//! beside them.

use std::fmt::Write as _;
use std::path::Path;

use memoir::eval::{HierarchyReport, Report};
use memoir::model::write_beside;
use memoir::{Error, Result};
use memoir_report::html::{escape, page};
use memoir_report::names::with_name;
use memoir_report::sizes::show_count;

use crate::evaluation_pictures;

const STYLE: &str = "\
body { font-family: sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse }
td, th { padding: 0.2em 0.8em; border-bottom: 1px solid #ddd; text-align: left }
svg { width: 100%; height: auto }
";

/// Makes the folder of a report.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|reason| Error::io(folder, "cannot make the folder", reason))
}

/// Writes `report.html`, `report.md`, and the plots if there is something to plot, into `folder`.
pub(crate) fn write(folder: &Path, report: &Report, model: &str, data: &str) -> Result<()> {
    let plots = evaluation_pictures::all(report);
    let tables = tables(report);
    let title = format!("{model} on {data}");
    for (name, plot) in &plots {
        write_text(&folder.join(name), plot)?;
    }
    write_text(&folder.join("report.md"), &markdown(&title, &tables, &plots))?;
    write_text(&folder.join("report.html"), &html(&title, &tables, &plots))
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    write_beside(path, |out| {
        out.write_all(text.as_bytes())
            .map_err(|reason| Error::io(path, "cannot write", reason))
    })
}

/// A table with a heading; the first row names the columns.
struct Table {
    heading: &'static str,
    rows: Vec<Vec<String>>,
}

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

fn tables(report: &Report) -> Vec<Table> {
    let row = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
    let mut measures = vec![row(&["measure", "value"])];
    measures.push(vec!["rows".to_owned(), show_count(report.rows)]);
    for (name, value) in [
        ("accuracy", report.accuracy),
        ("macro-F1", report.macro_f1),
        ("macro-F1, harmonic", report.macro_f1_harmonic),
        ("precision@1", report.precision_at_1),
        ("precision@3", report.precision_at_3),
        ("precision@5", report.precision_at_5),
        ("recall@1", report.recall_at_1),
        ("recall@3", report.recall_at_3),
        ("recall@5", report.recall_at_5),
    ] {
        measures.push(vec![name.to_owned(), percent(value)]);
    }
    let mut tables = Vec::new();
    let mut coverage = vec![row(&[
        "accuracy wanted",
        "rows answered",
        "share",
        "from probability",
        "accuracy reached",
    ])];
    if let Some(confidence) = &report.confidence {
        let error = format!("{:.4}", confidence.expected_calibration_error);
        measures.push(vec!["expected calibration error".to_owned(), error]);
        coverage.extend(confidence.coverage.iter().map(|point| {
            vec![
                percent(point.target),
                show_count(point.rows),
                percent(point.coverage),
                point.threshold.map_or("never".to_owned(), |t| format!("{t:.4}")),
                percent(point.accuracy),
            ]
        }));
    } else {
        measures.push(row(&["expected calibration error", "not calibrated"]));
    }
    tables.push(Table {
        heading: "Measures",
        rows: measures,
    });
    if coverage.len() > 1 {
        tables.push(Table {
            heading: "Rows that can be automated",
            rows: coverage,
        });
    }
    if let Some(hierarchy) = &report.hierarchy {
        tables.extend(hierarchy_tables(hierarchy));
    }
    let mut bands = vec![row(&[
        "classes", "number", "labels", "recall@1", "recall@5", "macro-F1",
    ])];
    bands.extend(report.by_frequency.iter().map(|band| {
        vec![
            band.band.name().to_owned(),
            show_count(band.classes),
            show_count(band.labels),
            percent(band.recall_at_1),
            percent(band.recall_at_5),
            percent(band.macro_f1),
        ]
    }));
    tables.push(Table {
        heading: "By class frequency",
        rows: bands,
    });
    if !report.confusions.is_empty() {
        let mut confusions = vec![row(&["rows", "class", "taken for"])];
        confusions.extend(report.confusions.iter().map(|pair| {
            vec![
                show_count(pair.count),
                with_name(&pair.truth, pair.truth_name.as_deref()),
                with_name(&pair.predicted, pair.predicted_name.as_deref()),
            ]
        }));
        tables.push(Table {
            heading: "Most frequent confusions",
            rows: confusions,
        });
    }
    tables
}

/// The measures of a hierarchy, and accuracy at each of its levels.
fn hierarchy_tables(hierarchy: &HierarchyReport) -> [Table; 2] {
    let rows = [
        ("measure", "value".to_owned()),
        ("precision", percent(hierarchy.precision)),
        ("recall", percent(hierarchy.recall)),
        ("F1", percent(hierarchy.f1)),
        ("mean distance", format!("{:.2}", hierarchy.mean_distance)),
        (
            "wrong answers beside the label",
            show_count(hierarchy.errors_under_same_parent),
        ),
        (
            "other wrong answers in its branch",
            show_count(hierarchy.errors_in_same_branch),
        ),
        ("wrong answers elsewhere", show_count(hierarchy.errors_elsewhere)),
    ];
    let mut levels = vec![["level", "rows", "accuracy"].map(str::to_owned).to_vec()];
    levels.extend(hierarchy.levels.iter().map(|level| {
        vec![
            level.level.to_string(),
            show_count(level.rows),
            percent(level.accuracy),
        ]
    }));
    [
        Table {
            heading: "In the hierarchy",
            rows: rows.map(|(name, value)| vec![name.to_owned(), value]).to_vec(),
        },
        Table {
            heading: "By level of the hierarchy",
            rows: levels,
        },
    ]
}

/// `write!` to a `String` cannot fail.
fn markdown(title: &str, tables: &[Table], plots: &[(&str, String)]) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
    let mut text = format!("# {}\n", cell(title));
    for table in tables {
        let _ = writeln!(text, "\n## {}\n", table.heading);
        for (index, row) in table.rows.iter().enumerate() {
            let cells: Vec<_> = row.iter().map(|text| cell(text)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if index == 0 {
                let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
            }
        }
    }
    for (name, _) in plots {
        let _ = writeln!(text, "\n![{name}]({name})");
    }
    text
}

/// One page without anything outside it.
fn html(title: &str, tables: &[Table], plots: &[(&str, String)]) -> String {
    let mut text = format!("<h1>{}</h1>\n", escape(title));
    for table in tables {
        let _ = writeln!(text, "<h2>{}</h2>\n<table>", table.heading);
        for (index, row) in table.rows.iter().enumerate() {
            let tag = if index == 0 { "th" } else { "td" };
            let cells = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
            let _ = writeln!(text, "<tr>{}</tr>", cells.collect::<String>());
        }
        text += "</table>\n";
    }
    for (_, plot) in plots {
        let _ = writeln!(text, "<p>{plot}</p>");
    }
    page(title, STYLE, &text)
}
