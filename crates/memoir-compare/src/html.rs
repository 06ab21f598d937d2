//! `report.html`: figures, sortable tables, breakdown, machine and commands in one file that needs no
//! network. `write!` to a `String` cannot fail.

use std::fmt::Write as _;

use memoir_report::html::{escape, page};
use memoir_report::sizes::show_counted;

use crate::Presentation;
use crate::figure::pareto;
use crate::results::Status;
use crate::summary::{Measure, Standing, Summary, Table};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The whole file.
pub(crate) fn write(shown: &Presentation<'_>) -> String {
    let mut html = format!(
        "<h1>{}</h1>\n<p>{}</p>\n<p class=\"conditions\">{}.</p>\n",
        escape(shown.title),
        escape(shown.about.trim()),
        escape(&shown.conditions())
    );
    if shown.runs_left > 0 {
        let _ = writeln!(
            html,
            "<p class=\"warning\">Not complete: {} left to make.</p>",
            show_counted(shown.runs_left as u64, "run")
        );
    }
    for problem in &shown.unexpected {
        let _ = writeln!(html, "<p class=\"warning\">Unexpected: {}.</p>", escape(problem));
    }
    let note = if shown.repeats > 1 {
        "≈ marks what the repeats cannot tell from the best."
    } else {
        "One run each: how much of a small difference is noise cannot be told."
    };
    for table in &shown.tables {
        let _ = writeln!(
            html,
            "<section id=\"{0}\">\n<h2>{0}</h2>\n<p class=\"conditions\">Data fingerprint {1}. \
             A click on a head sorts. Best in bold. {note}</p>",
            escape(&table.data),
            table.fingerprint
        );
        figures(&mut html, table);
        sortable(&mut html, table);
        failures(&mut html, table);
        frequencies(&mut html, table);
        commands(&mut html, table);
        html += "</section>\n";
    }
    let _ = writeln!(html, "<script>\n{SCRIPT}</script>");
    page(shown.title, STYLE, &html)
}

fn figures(html: &mut String, table: &Table) {
    html.push_str("<div class=\"figures\">\n");
    for (cost, quality) in [
        (Measure::TrainCpu, Measure::Accuracy),
        (Measure::TrainMemory, Measure::Accuracy),
        (Measure::TrainCpu, Measure::MacroF1),
        (Measure::TrainMemory, Measure::MacroF1),
    ] {
        let _ = writeln!(html, "<figure>\n{}</figure>", pareto(table, cost, quality));
    }
    html.push_str(
        "</div>\n<p class=\"conditions\">Numbers are those of the table. Up and left is better; the line joins \
         the methods that no other beats in both.</p>\n",
    );
}

fn sortable(html: &mut String, table: &Table) {
    html.push_str("<table class=\"sortable\">\n<thead><tr><th data-key=\"number\">#</th><th data-key=\"method\">method</th>");
    for measure in Measure::ALL {
        let order = if measure.is_quality() { "down" } else { "up" };
        let _ = write!(
            html,
            "<th data-key=\"{}\" data-first=\"{order}\">{}</th>",
            measure.key(),
            measure.name()
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (index, row) in table.rows.iter().enumerate() {
        let _ = write!(
            html,
            "<tr><td data-value=\"{0}\">{0}</td><td title=\"{1}\">{2}</td>",
            index + 1,
            escape(&row.about),
            escape(&row.title())
        );
        for measure in Measure::ALL {
            html.push_str(&cell(table, row, measure));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
}

fn cell(table: &Table, row: &Summary, measure: Measure) -> String {
    let Some(value) = row.get(measure) else {
        let text = if row.status == Status::Ok {
            "–"
        } else {
            row.status.name()
        };
        return format!("<td class=\"none\">{text}</td>");
    };
    let mut shown = measure.show(value.mean);
    if value.runs > 1 && value.deviation > 0.0 {
        let _ = write!(shown, " ± {}", measure.show(value.deviation));
    }
    let shown = match table.standing(row, measure) {
        Standing::Best => format!("<b>{shown}</b>"),
        Standing::LikeBest => format!("≈ {shown}"),
        Standing::Behind => shown,
    };
    format!("<td data-value=\"{}\">{shown}</td>", value.mean)
}

fn failures(html: &mut String, table: &Table) {
    let failed: Vec<_> = table.rows.iter().filter(|row| row.status != Status::Ok).collect();
    if failed.is_empty() {
        return;
    }
    html.push_str("<ul>\n");
    for row in failed {
        let _ = writeln!(
            html,
            "<li>{}: {}: {}</li>",
            escape(&row.title()),
            row.status.name(),
            escape(row.reason.as_deref().unwrap_or("no reason known"))
        );
    }
    html.push_str("</ul>\n");
}

/// Bars of recall@1 in the thirds of frequent, middle and rare classes.
fn frequencies(html: &mut String, table: &Table) {
    let Some(bands) = table
        .rows
        .iter()
        .map(|row| &row.bands)
        .find(|bands| !bands.is_empty())
    else {
        return;
    };
    html.push_str("<h3>By class frequency</h3>\n<table class=\"bands\">\n<thead><tr><th>method</th>");
    for band in bands {
        let _ = write!(
            html,
            "<th>{}<br>{}, {}</th>",
            band.band.name(),
            show_counted(band.classes, "class"),
            show_counted(band.labels, "label")
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in table.rows.iter().filter(|row| !row.bands.is_empty()) {
        let _ = write!(html, "<tr><td>{}</td>", escape(&row.method));
        for band in &row.bands {
            let recall = 100.0 * band.recall_at_1;
            let _ = write!(
                html,
                "<td><span class=\"bar\" style=\"width:{recall:.1}px\"></span> {recall:.1}% · F1 {:.1}%</td>",
                100.0 * band.macro_f1
            );
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n<p class=\"conditions\">Recall@1 and macro-F1; each band has a third of the training labels.</p>\n");
}

fn commands(html: &mut String, table: &Table) {
    html.push_str("<details><summary>Commands</summary>\n<dl>\n");
    for row in &table.rows {
        let _ = writeln!(
            html,
            "<dt>{}</dt><dd>{}<pre>{}\n{}</pre></dd>",
            escape(&row.method),
            escape(&row.about),
            escape(&row.train_command),
            escape(&row.predict_command)
        );
    }
    html.push_str("</dl>\n</details>\n");
}
