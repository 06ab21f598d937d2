//! `memoir classes`: the classes of a model, listed or changed without training anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use memoir::Model;
use memoir_report::names::on_one_line;
use memoir_report::sizes::{show_count, show_counted, show_size};

use crate::arguments::silent_session;
use crate::output::print;
use crate::{Context, interrupt};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memoir classes tickets.memoir
  memoir classes tickets.memoir rename printer printing --out tickets2.memoir
  memoir classes tickets.memoir rename --file renames.tsv --out tickets2.memoir
  memoir classes tickets.memoir merge network account --into access --out tickets2.memoir
  memoir classes tickets.memoir retire billing --out tickets2.memoir")]
pub(crate) struct Arguments {
    /// The model file; it stays as it is, unless `--out` names it
    model: PathBuf,
    #[command(subcommand)]
    change: Option<Change>,
}

#[derive(Debug, Subcommand)]
enum Change {
    /// Print each class with its number of training rows (what happens without a further word)
    List {
        /// Print one JSON object per class
        #[arg(long)]
        json: bool,
    },
    /// Give a class another name, or many classes at once
    Rename {
        /// The class
        #[arg(required_unless_present = "file", requires = "new")]
        old: Option<String>,
        /// Its new name
        new: Option<String>,
        /// A file with an old name, a tab and a new name in each line
        #[arg(long, value_name = "FILE", conflicts_with_all = ["old", "new"])]
        file: Option<PathBuf>,
        /// The model file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Make one class of several
    Merge {
        /// The classes
        #[arg(required = true, num_args = 2..)]
        classes: Vec<String>,
        /// What the merged class is called: a new name, or that of a member
        #[arg(long, value_name = "NAME")]
        into: String,
        /// The model file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Remove classes: they are never predicted again
    Retire {
        /// The classes
        #[arg(required = true)]
        classes: Vec<String>,
        /// The model file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let mut model = Model::load(&arguments.model, &context.catalogue)?;
    let before = model.classes.len() as u64;
    let (model, out, done) = match &arguments.change {
        None => return list(&model, false),
        Some(Change::List { json }) => return list(&model, *json),
        Some(Change::Rename { old, new, file, out }) => {
            let renames = match (old, new, file) {
                (Some(old), Some(new), _) => vec![(old.clone(), new.clone())],
                (_, _, Some(file)) => read_renames(file)?,
                _ => bail!("expected a class and its new name, or `--file`"),
            };
            let count = renames.len() as u64;
            model.rename_classes(renames)?;
            (model, out, format!("renamed {}", show_counted(count, "class")))
        }
        Some(Change::Merge { classes, into, out }) => {
            let model = model.merge_classes(classes, into)?;
            let merged = before - model.classes.len() as u64 + 1;
            let done = format!(
                "merged {} into `{}`",
                show_counted(merged, "class"),
                on_one_line(into)
            );
            (model, out, done)
        }
        Some(Change::Retire { classes, out }) => {
            let model = model.retire_classes(classes)?;
            let retired = before - model.classes.len() as u64;
            (model, out, format!("retired {}", show_counted(retired, "class")))
        }
    };
    let session = silent_session(context)?;
    interrupt::while_writing(|| model.save_in(out, &session))?;
    print(&format!(
        "{done}; {} now\nwrote {} ({})\n",
        show_counted(model.classes.len() as u64, "class"),
        out.display(),
        show_size(model.summary()?.file_bytes)
    ))
}

fn list(model: &Model, json: bool) -> anyhow::Result<()> {
    let mut text = String::new();
    for (number, name) in model.classes.iter().enumerate() {
        let rows = model.origin.class_counts.get(number);
        if json {
            let line = serde_json::json!({"class": name, "rows": rows});
            let _ = writeln!(text, "{line}");
        } else {
            let rows = rows.map_or("?".to_owned(), |&rows| show_count(u64::from(rows)));
            let _ = writeln!(text, "{rows:>10}  {}", on_one_line(name));
        }
    }
    print(&text)
}

/// The pairs of names in a file.
fn read_renames(path: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("{}: cannot read it", path.display()))?;
    let mut renames = Vec::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        match line.split('\t').collect::<Vec<_>>().as_slice() {
            [old, new] => renames.push(((*old).to_owned(), (*new).to_owned())),
            fields => bail!(
                "{}:{}:1: expected an old name, a tab and a new name, found {}",
                path.display(),
                number + 1,
                show_counted(fields.len() as u64, "field")
            ),
        }
    }
    Ok(renames)
}
