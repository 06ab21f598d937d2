//! `memoir explain`: which words decide for an answer, or for many, and what has a class learned?

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{ArgGroup, Args, Command};
use memoir::data::{Format, ReadOptions, Source};
use memoir::dataset::readable;
use memoir::model::{Candidate, Explanation, FeatureWeight};
use memoir::text::{Input, TextScratch};
use memoir::{Error, Model, Rows, Session, prepare};
use memoir_report::names::{on_one_line, with_name};
use serde::Serialize;

use crate::arguments::{Reading, Running, parse_positive, silent_session};
use crate::feature_names::FeatureNames;
use crate::output::{print, write_error};
use crate::progress::Progress;
use crate::sources;
use crate::{Context, marked_text};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["text", "row", "data", "class"]))]
#[command(after_long_help = "Examples:
  memoir explain m.memoir --text 'printer out of toner'
  memoir explain m.memoir --text 'printer out of toner' --html > why.html
  memoir explain m.memoir --row '3:1 17:0.5'
  memoir explain m.memoir --data new.csv --json > why.jsonl
  memoir explain m.memoir --data new.csv --html > why.html
  memoir explain m.memoir --data new.svm --feature-names words.txt
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
    /// Rows to explain the answers for, as `memoir predict` reads them; `-` is standard input
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// A class to show the strongest features of
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    class: Option<String>,
    /// Print a page with the words of the text marked: green for the answer, red for the runner-up
    ///
    /// with --data, one page with all rows
    #[arg(long, conflicts_with_all = ["json", "row", "class"])]
    html: bool,
    /// File with a name for each feature of the vectors, one per line, the first feature first
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    feature_names: Option<PathBuf>,
    /// How many features to show
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_positive)]
    top: NonZeroUsize,
    /// Print JSON: an object; with --data one per row, each on a line; with --class an array of features
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

/// An explanation of one row of several, as JSON.
#[derive(Serialize)]
struct OfLine<'a> {
    line: u64,
    /// The text, if rows are texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// The labels that came with the row.
    labels: Vec<&'a str>,
    /// The class that the text always gets.
    #[serde(rename = "override", skip_serializing_if = "Option::is_none")]
    overriding: Option<&'a str>,
    #[serde(flatten)]
    explanation: Told<'a>,
}

/// An explanation, or that there is no answer to explain, as JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Told<'a> {
    Answer(&'a Explanation),
    Nothing {
        answer: Option<Candidate>,
        runner_up: Option<Candidate>,
        features: [FeatureWeight; 0],
    },
}

impl<'a> Told<'a> {
    fn new(explanation: &'a Explanation) -> Self {
        if explanation.features.is_empty() {
            Self::Nothing {
                answer: None,
                runner_up: None,
                features: [],
            }
        } else {
            Self::Answer(explanation)
        }
    }
}

/// What is said of a row in which the model knows nothing.
const NO_ANSWER: &str = "no answer: nothing in it is known to the model\n";

/// The options; those that say how to read data are for `--data`.
pub(crate) fn options(command: Command) -> Command {
    command
        .mut_group("Reading", |options| {
            options.conflicts_with_all(["text", "row", "class"])
        })
        .mut_args(|arg| match arg.get_help_heading() {
            Some("Reading data") => arg.hide_short_help(true),
            _ => arg,
        })
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model, &context.catalogue)?;
    let progress = Progress::beside_answers(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let names = match &arguments.feature_names {
        Some(path) => Some(FeatureNames::read(path, &model)?),
        None => None,
    };
    if let Some(data) = &arguments.data {
        explain_data(arguments, data, names.as_ref(), &model, &session)?;
        progress.clear();
        return Ok(());
    }
    let top = arguments.top.get();
    let text = if let Some(name) = &arguments.class {
        let Some(class) = model.classes().find(name) else {
            bail!(
                "{}: there is no class `{name}` in this model",
                arguments.model.display()
            );
        };
        let mut features = model.class_features(class, top, &session)?;
        if let Some(names) = &names {
            names.name_all(features.iter_mut().map(|share| (share.feature, &mut share.name)));
        }
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
                    .preprocessing()
                    .text_row(text, &mut TextScratch::default(), &mut rows)?;
                rows
            }
            (None, row) => vector(row.as_deref().unwrap_or_default(), &model, context)?,
        };
        let mut explanation = model.explain_row(rows.row(0))?;
        if let Some(names) = &names {
            names.name_explanation(&mut explanation);
        }
        let text = arguments.text.as_deref().unwrap_or_default();
        let marks = model.mark(text, &explanation);
        explanation.shorten(top);
        model.show_runs(text, &mut explanation);
        let overriding = model.override_of(text).map(|class| model.classes().name(class));
        if let Some(class) = overriding {
            session.note(format!(
                "the text always gets `{class}`; this is what the model itself says"
            ));
        }
        if arguments.json {
            serde_json::to_string_pretty(&Told::new(&explanation))? + "\n"
        } else if arguments.html {
            marked_text::page(text, &marks, &explanation)
        } else if arguments.text.is_some() && shows_colours() {
            marked_text::for_terminal(text, &marks) + "\n" + &table(&explanation)
        } else {
            table(&explanation)
        }
    };
    print(&text)
}

/// Explains the answers for all rows of `data`, as they come in.
fn explain_data(
    arguments: &Arguments,
    data: &Path,
    names: Option<&FeatureNames>,
    model: &Model,
    session: &Session<'_>,
) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut separator = "";
    let (source, options) = (
        sources::open(&[data])?,
        model.reading(arguments.reading.options()),
    );
    let extras = model.extras().with_texts();
    let top = arguments.top.get();
    // Words are marked by all that they decide, also those that are not listed.
    let listed = if arguments.html { usize::MAX } else { top };
    if arguments.html {
        write!(out, "{}", marked_text::page_start()).map_err(write_error)?;
    }
    let preprocessing = model.preprocessing();
    prepare::stream_with_extras(source, &options, preprocessing, extras, session, |block| {
        model.explain_rows(&block.rows, listed, session, |row, mut explanation| {
            if let Some(names) = names {
                names.name_explanation(&mut explanation);
            }
            let text = block.texts.get(row).map(String::as_str);
            let shown = text.map(readable);
            let labels = block.labels.row(row).iter();
            let told = OfLine {
                line: block.lines[row],
                text: shown.as_deref(),
                labels: labels.map(|&label| block.classes.name(label)).collect(),
                overriding: block.override_of(row).map(|class| model.classes().name(class)),
                explanation: Told::new(&explanation),
            };
            let written = if arguments.json {
                serde_json::to_writer(&mut out, &told)
                    .map_err(io::Error::from)
                    .and_then(|()| writeln!(out))
            } else if arguments.html {
                let heading = marked_text::heading(&told.heading());
                drop(told);
                let text = text.unwrap_or_default();
                let marks = model.mark(text, &explanation);
                explanation.shorten(top);
                model.show_runs(text, &mut explanation);
                write!(out, "{heading}{}", marked_text::part(text, &marks, &explanation))
            } else {
                write!(
                    out,
                    "{separator}{}\n{}",
                    told.heading().join("\n"),
                    table(&explanation)
                )
            };
            separator = "\n";
            written.map_err(write_error)
        })?;
        // Whoever feeds single lines gets each answer at once.
        out.flush().map_err(write_error)
    })?;
    if arguments.html {
        write!(out, "{}", marked_text::page_end()).map_err(write_error)?;
        out.flush().map_err(write_error)?;
    }
    Ok(())
}

impl OfLine<'_> {
    /// What is known of the row, line by line.
    fn heading(&self) -> Vec<String> {
        let mut lines = vec![format!("line {}", self.line)];
        lines.extend(self.text.map(|text| format!("text       {}", on_one_line(text))));
        if !self.labels.is_empty() {
            let labels: Vec<_> = self.labels.iter().map(|label| on_one_line(label)).collect();
            lines.push(format!("label      {}", labels.join(" | ")));
        }
        lines.extend(
            self.overriding
                .map(|class| format!("override   {}", on_one_line(class))),
        );
        lines
    }
}

/// Whether the output is a terminal whose user has nothing against colours.
fn shows_colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// The row that `text` stands for, read as a line of a libsvm file.
fn vector(text: &str, model: &Model, context: &Context) -> anyhow::Result<Rows> {
    if model.preprocessing().text().is_some() {
        bail!("this model was trained on text: use `--text` instead of `--row`");
    }
    let options = ReadOptions {
        format: Some(Format::Libsvm),
        zero_based: matches!(model.preprocessing().input, Input::Vectors { first: 0, .. }),
        ..ReadOptions::default()
    };
    if text.trim().is_empty() {
        bail!("`--row` is empty; expected features such as `3:1 17:0.5`");
    }
    let session = silent_session(context)?;
    let mut rows = Rows::new();
    // The blank in front says: no labels.
    let line = io::Cursor::new(format!(" {}\n", text.replace('\n', " ")));
    let source = Source::from_reader("--row", line);
    let read = prepare::stream_with(source, &options, model.preprocessing(), &session, |block| {
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
    Ok(rows)
}

/// The explanation for people. `write!` to a `String` cannot fail.
pub(crate) fn table(explanation: &Explanation) -> String {
    if explanation.features.is_empty() {
        return NO_ANSWER.to_owned();
    }
    let mut text = String::new();
    let mut side = |name: &str, candidate: &Candidate| {
        let probability = candidate.probability.map_or(String::new(), |probability| {
            format!("  probability {probability:.4}")
        });
        let class = with_name(&candidate.name, candidate.vocabulary_name.as_deref());
        let _ = writeln!(text, "{name:<11}{class}  {:.4}{probability}", candidate.score);
    };
    side("answer", &explanation.answer);
    if let Some(runner_up) = &explanation.runner_up {
        side("runner-up", runner_up);
    }
    text += "\n  answer  runner-up  feature\n";
    for share in &explanation.features {
        let block = in_block(share.block.as_deref());
        let _ = writeln!(
            text,
            "{:>+8.4}  {:>+9.4}  {}{block}",
            share.for_answer,
            share.for_runner_up,
            on_one_line(share.shown())
        );
    }
    if let Some(others) = &explanation.others {
        let _ = writeln!(
            text,
            "{:>+8.4}  {:>+9.4}  ({} more)",
            others.for_answer, others.for_runner_up, others.count
        );
    }
    text
}

/// What stands behind a feature whose name others have, too.
fn in_block(block: Option<&str>) -> String {
    block.map_or(String::new(), |block| format!("  ({block})"))
}

fn class_table(features: &[FeatureWeight]) -> String {
    let mut text = String::from("  weight  feature\n");
    for feature in features {
        let _ = writeln!(
            text,
            "{:>+8.4}  {}{}",
            feature.weight,
            on_one_line(&feature.name),
            in_block(feature.block.as_deref())
        );
    }
    text
}
