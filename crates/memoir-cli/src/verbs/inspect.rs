//! `memoir inspect`: what is in a model file?

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use memoir::model::{ClassSize, FeatureWeight, Summary};
use memoir::{Model, Session};
use memoir_report::names::{on_one_line, with_name};
use memoir_report::sizes::{show_count, show_counted, show_size};
use serde::Serialize;
use serde_json::Value;

use crate::Context;
use crate::arguments::{Running, parse_positive};
use crate::output::print;
use crate::progress::Progress;
use crate::vocabulary_options::describe;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Check every byte of the file first
    #[arg(long)]
    verify: bool,
    /// Show one class: its strongest words, the most similar classes, its number of training rows
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    class: Option<String>,
    /// Number of words and classes to show with --class
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_positive, requires = "class")]
    top: NonZeroUsize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    running: Running,
}

/// A class as `--class` shows it.
#[derive(Debug, Serialize)]
struct ClassProfile {
    class: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<String>,
    /// Ids and names of the concepts above it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broader: Vec<Broader>,
    /// Training rows; unknown if the file does not say.
    rows: Option<u32>,
    strongest: Vec<FeatureWeight>,
    nearest: Vec<NearClass>,
}

/// A concept above a class.
#[derive(Debug, Serialize)]
struct Broader {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Debug, Serialize)]
struct NearClass {
    class: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Cosine of the two classes' weights.
    similarity: f32,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    if arguments.verify {
        Model::verify(&arguments.model, &context.catalogue, &session)?;
    }
    let model = Model::load(&arguments.model, &context.catalogue)?;
    if let Some(name) = &arguments.class {
        let Some(class) = model.classes().find(name) else {
            bail!(
                "{}: there is no class `{name}` in this model",
                arguments.model.display()
            );
        };
        let profile = profile(&model, class, arguments.top.get(), &session)?;
        progress.clear();
        let text = if arguments.json {
            serde_json::to_string_pretty(&profile)? + "\n"
        } else {
            class_table(&profile)
        };
        return print(&text);
    }
    let summary = model.summary()?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&summary)? + "\n"
    } else {
        table(&summary)?
    };
    print(&text)
}

fn profile(model: &Model, class: u32, top: usize, session: &Session<'_>) -> anyhow::Result<ClassProfile> {
    let nearest = model.nearest_classes(class, top, session)?.into_iter();
    let known = model
        .vocabulary()
        .and_then(|vocabulary| Some((vocabulary, vocabulary.concept_of_class(class)?)));
    let broader = known.map_or(Vec::new(), |(vocabulary, concept)| {
        let broader = vocabulary.broader(concept).iter();
        let told = broader.map(|&concept| Broader {
            id: vocabulary.id(concept).to_owned(),
            name: vocabulary.name(concept).map(str::to_owned),
        });
        told.collect()
    });
    Ok(ClassProfile {
        class: model.classes().name(class).to_owned(),
        notation: model.notation_of_class(class).map(str::to_owned),
        name: model.name_of_class(class, &[]).map(str::to_owned),
        definition: known
            .and_then(|(vocabulary, concept)| vocabulary.definition(concept))
            .map(str::to_owned),
        broader,
        rows: model.origin().class_counts.get(class as usize).copied(),
        strongest: model.class_features(class, top, session)?,
        nearest: nearest
            .map(|(class, similarity)| NearClass {
                class: model.classes().name(class).to_owned(),
                name: model.name_of_class(class, &[]).map(str::to_owned),
                similarity,
            })
            .collect(),
    })
}

/// The class for people. `write!` to a `String` cannot fail.
fn class_table(profile: &ClassProfile) -> String {
    let rows = profile
        .rows
        .map_or("unknown".to_owned(), |rows| show_count(u64::from(rows)));
    let mut text = format!("class  {}\nrows   {rows}\n", on_one_line(&profile.class));
    let told = [
        ("notation", &profile.notation),
        ("name", &profile.name),
        ("definition", &profile.definition),
    ];
    for (what, value) in told {
        if let Some(value) = value {
            let _ = writeln!(text, "{what:<10}  {}", on_one_line(value));
        }
    }
    for above in &profile.broader {
        let _ = writeln!(
            text,
            "{:<10}  {}",
            "broader",
            with_name(&above.id, above.name.as_deref())
        );
    }
    text += "\n  weight  feature\n";
    for feature in &profile.strongest {
        let _ = writeln!(text, "{:>+8.4}  {}", feature.weight, on_one_line(&feature.name));
    }
    text += "\n  cosine  nearest classes\n";
    for near in &profile.nearest {
        let _ = writeln!(
            text,
            "{:>8.4}  {}",
            near.similarity,
            with_name(&near.class, near.name.as_deref())
        );
    }
    text
}

/// The summary for people. `write!` to a `String` cannot fail.
fn table(summary: &Summary) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    line("algorithm", summary.algorithm.clone());
    line("options", options(&shown_params(summary)));
    line("seed", summary.seed.to_string());
    line("rows", show_count(summary.rows));
    if let Some(sum) = summary.row_weights {
        line("row weights", format!("given; they add up to {sum}"));
    }
    if let Some(kept) = summary.kept_rows {
        line(
            "kept rows",
            format!("{}, for `train --from` to replay", show_count(kept as u64)),
        );
    }
    line("classes", show_count(summary.classes as u64));
    line("features", show_count(summary.features as u64));
    if let (Some(weights), Some(precision)) = (summary.weights, &summary.precision) {
        line("weights", format!("{}, {precision}", show_count(weights as u64)));
    }
    line(
        "calibration",
        match &summary.calibration {
            Some(calibration) => format!(
                "probabilities fitted on {}",
                show_counted(calibration.rows, "row")
            ),
            None => "none: scores are not probabilities".to_owned(),
        },
    );
    if let Some(vocabulary) = &summary.vocabulary {
        line("vocabulary", describe(vocabulary, summary.classes));
    }
    line("input", summary.input.to_owned());
    if let Some(params) = &summary.text {
        let mut shown = params.clone();
        let tried = std::mem::take(&mut shown.tried);
        shown.views.clear();
        let mut shown = serde_json::to_value(shown)?;
        if !params.views.is_empty() {
            // As `--blocks` takes them.
            shown["blocks"] = params.blocks_list().into();
        }
        line("text", options(&shown));
        if !tried.is_empty() {
            let tried = tried
                .iter()
                .map(|tried| format!("{} {:.4}", tried.blocks, tried.score));
            line("tried", tried.collect::<Vec<_>>().join("; "));
        }
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
            with_name(&class.name, class.vocabulary_name.as_deref())
        );
    }
}

/// The algorithm's parameters; beside `auto` what was chosen.
fn shown_params(summary: &Summary) -> Value {
    let shown = summary.params.iter().map(|(name, value)| {
        let shown = match summary.chosen.get(name) {
            Some(chosen) => format!("{value} ({chosen})"),
            None => value.to_string(),
        };
        (name.clone(), Value::String(shown))
    });
    Value::Object(shown.collect())
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
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
