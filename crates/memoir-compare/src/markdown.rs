//! `results.md`: the paper's main table, then everything else that was measured. `write!` to a `String`
//! cannot fail.

use std::fmt::Write as _;

use memoir_report::sizes::show_counted;

use crate::Presentation;
use crate::results::Status;
use crate::summary::{Measure, Standing, Summary, Table};

/// The whole file.
pub(crate) fn write(shown: &Presentation<'_>) -> String {
    let mut text = format!("# {}\n\n", shown.title);
    if !shown.about.is_empty() {
        let _ = writeln!(text, "{}\n", shown.about.trim());
    }
    let _ = writeln!(text, "{}.\n", shown.conditions());
    if shown.runs_left > 0 {
        let _ = writeln!(
            text,
            "**Not complete: {} left to make.**\n",
            show_counted(shown.runs_left as u64, "run")
        );
    }
    for problem in &shown.unexpected {
        let _ = writeln!(text, "**Unexpected: {problem}.**\n");
    }
    if shown.scale.is_none() {
        main_table(&mut text, shown);
    }
    if let Some(scale) = &shown.scale {
        text += scale;
    }
    for table in &shown.tables {
        let _ = writeln!(text, "\n## {}\n", table.data);
        let _ = writeln!(text, "Data fingerprint {}.\n", table.fingerprint);
        details(&mut text, table);
        if shown.scale.is_none() {
            let name = crate::figure::file_name(table);
            let _ = writeln!(text, "\n![Accuracy and macro-F1 against training time]({name})\n");
            frequencies(&mut text, table);
        }
        commands(&mut text, table);
    }
    text
}

/// Methods as columns, measures as lines, as in the paper; the best of a line in bold.
fn main_table(text: &mut String, shown: &Presentation<'_>) {
    let mut methods: Vec<&str> = Vec::new();
    for row in shown.tables.iter().flat_map(|table| &table.rows) {
        if !methods.contains(&row.method.as_str()) {
            methods.push(&row.method);
        }
    }
    let _ = writeln!(text, "| data | | {} |", methods.join(" | "));
    let _ = writeln!(text, "|---|---|{}", "---|".repeat(methods.len()));
    for table in &shown.tables {
        for (line, measure) in Measure::MAIN.into_iter().enumerate() {
            let name = if line == 0 { table.data.as_str() } else { "" };
            let _ = write!(text, "| {name} | {} |", measure.name());
            for method in &methods {
                let row = table.rows.iter().find(|row| row.method == *method);
                let _ = write!(
                    text,
                    " {} |",
                    row.map_or("–".to_owned(), |row| cell(table, row, measure)
                        + &how_often(row))
                );
            }
            text.push('\n');
        }
    }
    text.push_str(&noise_note(shown));
}

/// Said where a method did not come through in every repeat, but in some.
fn how_often(row: &Summary) -> String {
    if row.finished == 0 || row.finished == row.made {
        String::new()
    } else {
        format!(" ({} of {})", row.finished, row.made)
    }
}

/// What the marks mean.
fn noise_note(shown: &Presentation<'_>) -> String {
    if shown.repeats > 1 {
        format!(
            "\nMeans of {} repeats with different seeds, ± the standard deviation. **Best** in bold; ≈ where the \
             repeats cannot tell a value from the best (the difference is below twice its standard error).\n",
            shown.repeats
        )
    } else {
        "\n**Best** in bold. One run each: how much of a small difference is noise cannot be told.\n"
            .to_owned()
    }
}

/// A value with its marks, or why there is none.
fn cell(table: &Table, row: &Summary, measure: Measure) -> String {
    let Some(value) = row.get(measure) else {
        return if row.status == Status::Ok {
            "–".to_owned()
        } else {
            row.status.name().to_owned()
        };
    };
    let mut shown = measure.show(value.mean);
    if value.runs > 1 && value.deviation > 0.0 {
        let _ = write!(shown, " ± {}", measure.show(value.deviation));
    }
    match table.standing(row, measure) {
        Standing::Best => format!("**{shown}**"),
        Standing::LikeBest => format!("≈ {shown}"),
        Standing::Behind => shown,
    }
}

fn details(text: &mut String, table: &Table) {
    let names: Vec<_> = Measure::ALL.map(Measure::name).into();
    let _ = writeln!(text, "| method | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
    for row in &table.rows {
        let cells: Vec<_> = Measure::ALL
            .iter()
            .map(|&measure| cell(table, row, measure))
            .collect();
        let _ = writeln!(text, "| {} | {} |", row.title(), cells.join(" | "));
    }
    text.push('\n');
    for row in table.rows.iter().filter(|row| row.status != Status::Ok) {
        let reason = row.reason.as_deref().unwrap_or("no reason known");
        let _ = writeln!(text, "- {}: {}: {reason}", row.title(), row.status.name());
    }
}

/// Recall and macro-F1 in the thirds of frequent, middle and rare classes.
fn frequencies(text: &mut String, table: &Table) {
    let Some(bands) = table
        .rows
        .iter()
        .map(|row| &row.bands)
        .find(|bands| !bands.is_empty())
    else {
        return;
    };
    let heads: Vec<_> = bands
        .iter()
        .map(|band| format!("{} ({})", band.band.name(), show_counted(band.classes, "class")))
        .collect();
    let _ = writeln!(
        text,
        "\nRecall@1 / macro-F1 by class frequency:\n\n| method | {} |",
        heads.join(" | ")
    );
    let _ = writeln!(text, "|---|{}", "---|".repeat(heads.len()));
    for row in table.rows.iter().filter(|row| !row.bands.is_empty()) {
        let cells: Vec<_> = row
            .bands
            .iter()
            .map(|band| format!("{:.1}% / {:.1}%", 100.0 * band.recall_at_1, 100.0 * band.macro_f1))
            .collect();
        let _ = writeln!(text, "| {} | {} |", row.title(), cells.join(" | "));
    }
}

fn commands(text: &mut String, table: &Table) {
    text.push_str("\n<details><summary>Commands</summary>\n\n");
    for row in &table.rows {
        let about = if row.about.is_empty() {
            String::new()
        } else {
            format!(": {}", row.about)
        };
        let _ = writeln!(
            text,
            "{}{about}\n\n    {}\n    {}\n",
            row.method, row.train_command, row.predict_command
        );
    }
    text.push_str("</details>\n");
}
