//! `memoir explain`: which words decide for the answer, and what has a class learned?

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::bail;
use clap::{ArgGroup, Args};
use memoir::data::{self, Format, ReadOptions, Source};
use memoir::model::{Candidate, Explanation, FeatureWeight};
use memoir::sparse::Rows;
use memoir::text::{Input, TextScratch};
use memoir::{Error, Model};

use crate::arguments::{parse_positive, silent_session};
use crate::output::{on_one_line, print};
use crate::{Context, marked_text};

/// Show which words decide for an answer, or what a class has learned
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["text", "row", "class"]))]
#[command(after_help = "Examples:
  memoir explain m.memoir --text 'printer out of toner'
  memoir explain m.memoir --text 'printer out of toner' --html > why.html
  memoir explain m.memoir --row '3:1 17:0.5'
  memoir explain m.memoir --class hardware --top 20")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// A text to explain the answer for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// A vector to explain the answer for, as in libsvm files; features are numbered as in the training data
    #[arg(long, value_name = "FEATURES")]
    row: Option<String>,
    /// A class to show the strongest features of
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    class: Option<String>,
    /// Print a page with the words of the text marked: green for the answer, red for the runner-up
    #[arg(long, requires = "text", conflicts_with_all = ["json", "row", "class"])]
    html: bool,
    /// How many features to show
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_positive)]
    top: NonZeroUsize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model, &context.catalogue)?;
    let top = arguments.top.get();
    let text = if let Some(name) = &arguments.class {
        let Some(class) = model.classes.find(name) else {
            bail!(
                "{}: there is no class `{name}` in this model",
                arguments.model.display()
            );
        };
        let features = model.class_features(class, top)?;
        if arguments.json {
            serde_json::to_string_pretty(&features)? + "\n"
        } else {
            class_table(&features)
        }
    } else {
        let rows = match (&arguments.text, &arguments.row) {
            (Some(text), _) => {
                let mut rows = Rows::new();
                model
                    .preprocessing
                    .text_row(text, &mut TextScratch::default(), &mut rows)?;
                rows
            }
            (None, row) => vector(row.as_deref().unwrap_or_default(), &model, context)?,
        };
        let mut explanation = model.explain(rows.row(0))?;
        let text = arguments.text.as_deref().unwrap_or_default();
        let marks = model.mark(text, &explanation);
        explanation.features.truncate(top);
        if arguments.json {
            serde_json::to_string_pretty(&explanation)? + "\n"
        } else if arguments.html {
            marked_text::html(text, &marks, &explanation, top)
        } else if arguments.text.is_some() && shows_colours() {
            marked_text::for_terminal(text, &marks) + "\n" + &table(&explanation)
        } else {
            table(&explanation)
        }
    };
    print(&text)
}

/// Whether the output is a terminal whose user has nothing against colours.
fn shows_colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// The row that `text` stands for, read as a line of a libsvm file.
fn vector(text: &str, model: &Model, context: &Context) -> anyhow::Result<Rows> {
    if model.preprocessing.text().is_some() {
        bail!("this model was trained on text: use `--text` instead of `--row`");
    }
    let options = ReadOptions {
        format: Some(Format::Libsvm),
        zero_based: matches!(model.preprocessing.input, Input::Vectors { first: 0, .. }),
        ..ReadOptions::default()
    };
    let session = silent_session(context)?;
    let mut rows = Rows::new();
    // The blank in front says: no labels.
    let line = io::Cursor::new(format!(" {}\n", text.replace('\n', " ")));
    let source = Source::from_reader("--row", line);
    let read = data::stream_with(source, &options, &model.preprocessing, &session, |block| {
        rows.append(&block.rows);
        Ok(())
    });
    match read {
        // Not as of a file: the blank is not the user's, and how to count is the model's matter.
        Err(Error::Data { column, message, .. }) => {
            let message = message.split("; if yours count").next().unwrap_or_default();
            bail!("--row, column {}: {message}", column.saturating_sub(1));
        }
        other => other?,
    };
    if rows.is_empty() {
        bail!("`--row` is empty; expected features such as `3:1 17:0.5`");
    }
    Ok(rows)
}

/// The explanation for people. `write!` to a `String` cannot fail.
pub(crate) fn table(explanation: &Explanation) -> String {
    let mut text = String::new();
    let mut side = |name: &str, candidate: &Candidate| {
        let probability = candidate.probability.map_or(String::new(), |probability| {
            format!("  probability {probability:.4}")
        });
        let class = on_one_line(&candidate.name);
        let _ = writeln!(text, "{name:<11}{class}  {:.4}{probability}", candidate.score);
    };
    side("answer", &explanation.answer);
    if let Some(runner_up) = &explanation.runner_up {
        side("runner-up", runner_up);
    }
    if explanation.features.is_empty() {
        text += "\nnothing in it is known to the model\n";
        return text;
    }
    text += "\n  answer  runner-up  feature\n";
    for share in &explanation.features {
        let _ = writeln!(
            text,
            "{:>+8.4}  {:>+9.4}  {}",
            share.for_answer,
            share.for_runner_up,
            on_one_line(&share.name)
        );
    }
    text
}

fn class_table(features: &[FeatureWeight]) -> String {
    let mut text = String::from("  weight  feature\n");
    for feature in features {
        let _ = writeln!(text, "{:>+8.4}  {}", feature.weight, on_one_line(&feature.name));
    }
    text
}
