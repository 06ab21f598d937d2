//! `memoir inspect`: what is in a model file?

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use memoir::Model;
use memoir::model::{ClassSize, Summary};
use serde_json::Value;

use crate::Context;
use crate::sizes::{show_count, show_size};

/// Show what is in a model file: sizes, parameters, classes
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Check every byte of the file first
    #[arg(long)]
    verify: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    if arguments.verify {
        Model::verify(&arguments.model, &context.catalogue)?;
    }
    let summary = Model::load(&arguments.model, &context.catalogue)?.summary()?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&summary)? + "\n"
    } else {
        table(&summary)?
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// The summary for people. `write!` to a `String` cannot fail.
fn table(summary: &Summary) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    line("algorithm", summary.algorithm.clone());
    line("options", options(&serde_json::to_value(&summary.params)?));
    line("seed", summary.seed.to_string());
    line("rows", show_count(summary.rows));
    line("classes", show_count(summary.classes as u64));
    line("features", show_count(summary.features as u64));
    if let (Some(weights), Some(precision)) = (summary.weights, &summary.precision) {
        line("weights", format!("{}, {precision}", show_count(weights as u64)));
    }
    line("input", summary.input.to_owned());
    if let Some(params) = &summary.text {
        line("text", options(&serde_json::to_value(params)?));
    }
    let weighting = plain(&serde_json::to_value(summary.weighting)?);
    line(
        "weighting",
        weighting
            + if summary.constant {
                ", constant feature"
            } else {
                ""
            },
    );
    line("file", show_size(summary.file_bytes));
    text += "\nlargest classes\n";
    add_classes(&mut text, &summary.largest_classes);
    if summary.classes > summary.largest_classes.len() {
        text += "\nsmallest classes\n";
        add_classes(&mut text, &summary.smallest_classes);
    }
    text += "\narrays\n";
    for tensor in &summary.tensors {
        let _ = writeln!(
            text,
            "{:>10}  {:<30} {:>4} x {}",
            show_size(tensor.bytes as u64),
            tensor.name,
            tensor.element,
            show_count(tensor.length as u64)
        );
    }
    Ok(text)
}

fn add_classes(text: &mut String, classes: &[ClassSize]) {
    for class in classes {
        let _ = writeln!(
            text,
            "{:>10}  {}",
            show_count(u64::from(class.rows)),
            class.name.escape_debug()
        );
    }
}

/// `{"a_b": 1, "c": null}` as `a-b 1, c off`: the names that the command line uses.
fn options(object: &Value) -> String {
    let Some(object) = object.as_object().filter(|object| !object.is_empty()) else {
        return "none".to_owned();
    };
    let shown = object
        .iter()
        .map(|(name, value)| format!("{} {}", name.replace('_', "-"), plain(value)));
    shown.collect::<Vec<_>>().join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "off".to_owned(),
        other => other.to_string(),
    }
}
