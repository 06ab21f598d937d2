//! `memoir classes`: the classes of a model, listed or changed without training again.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};
use memoir::Model;
use memoir_report::names::on_one_line;
use memoir_report::sizes::{show_count, show_counted, show_size};

use super::class_vocabulary::{self, SearchArguments, VocabularyArguments};
use super::crosswalk;
use crate::arguments::silent_session;
use crate::output::print;
use crate::{Context, class_lists, interrupt};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memoir classes tickets.memoir
  memoir classes tickets.memoir search print
  memoir classes tickets.memoir vocabulary names.csv --out tickets2.memoir
  memoir classes tickets.memoir crosswalk revision.csv --out tickets2.memoir
  memoir classes tickets.memoir rename printer printing --out tickets2.memoir
  memoir classes tickets.memoir rename --file renames.csv --out tickets2.memoir
  memoir classes tickets.memoir merge network account --into access --out tickets2.memoir
  memoir classes tickets.memoir merge --file groups.csv --out tickets2.memoir
  memoir classes tickets.memoir retire billing --out tickets2.memoir

Files are CSV, TSV or Excel. A first row names the columns: class and new for rename, class and into for merge,
class for retire; other columns are ignored. Without a first row the columns stand in that order. Rows
whose class the model does not have are reported on standard error.")]
pub(crate) struct Arguments {
    /// The model file; it is not changed, unless `--out` names it
    model: PathBuf,
    #[command(subcommand)]
    change: Option<Change>,
}

#[derive(Debug, Subcommand)]
enum Change {
    /// Print each class with its number of training rows (also if no verb is given)
    List {
        /// Print one JSON object per class
        #[arg(long)]
        json: bool,
    },
    /// Give classes other names
    Rename {
        /// The class
        #[arg(required_unless_present = "file", requires = "new")]
        old: Option<String>,
        /// Its new name
        new: Option<String>,
        /// CSV or TSV file with the columns class and new
        #[arg(long, value_name = "FILE", conflicts_with_all = ["old", "new"])]
        file: Option<PathBuf>,
        /// The model file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Make one class of several
    Merge {
        /// The classes
        #[arg(required_unless_present = "file", requires = "into", num_args = 2..)]
        classes: Vec<String>,
        /// Name of the merged class: a new one, or that of a member
        #[arg(long, value_name = "NAME", required_unless_present = "file")]
        into: Option<String>,
        /// CSV or TSV file with the columns class and into
        #[arg(long, value_name = "FILE", conflicts_with_all = ["classes", "into"])]
        file: Option<PathBuf>,
        /// The model file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Remove classes: they are never predicted again
    Retire {
        /// The classes
        #[arg(required_unless_present = "file")]
        classes: Vec<String>,
        /// CSV or TSV file with the column class
        #[arg(long, value_name = "FILE", conflicts_with = "classes")]
        file: Option<PathBuf>,
        /// The model file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Find classes by name, synonym, code, beginnings of words, or words they have learned
    Search(SearchArguments),
    /// Give the model a vocabulary, in place of one it may have, without training
    Vocabulary(VocabularyArguments),
    /// Carry the model over to a revised classification by a table of old and new codes
    Crosswalk(crosswalk::Arguments),
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let mut model = Model::load(&arguments.model, &context.catalogue)?;
    let before = model.classes().len() as u64;
    let (model, out, done) = match &arguments.change {
        None => return list(&model, false),
        Some(Change::List { json }) => return list(&model, *json),
        Some(Change::Search(search)) => return class_vocabulary::search(&model, search),
        Some(Change::Vocabulary(new)) => return class_vocabulary::set_vocabulary(model, new, context),
        Some(Change::Crosswalk(table)) => return crosswalk::run(model, table, context),
        Some(Change::Rename { old, new, file, out }) => {
            let renames = match (old, new, file) {
                (Some(old), Some(new), _) => vec![(old.clone(), new.clone())],
                (_, _, Some(file)) => class_lists::read_pairs(file, "new", model.classes())?,
                _ => bail!("expected a class and its new name, or `--file`"),
            };
            let count = renames.len() as u64;
            model.rename_classes(renames)?;
            (model, out, format!("renamed {}", show_counted(count, "class")))
        }
        Some(Change::Merge {
            classes,
            into,
            file,
            out,
        }) => {
            let groups = match (into, file) {
                (Some(into), _) => vec![(into.clone(), classes.clone())],
                (None, Some(file)) => groups(class_lists::read_pairs(file, "into", model.classes())?),
                (None, None) => bail!("expected classes and `--into`, or `--file`"),
            };
            for (into, members) in &groups {
                model = model.merge_classes(members, into)?;
            }
            let merged = before - model.classes().len() as u64 + groups.len() as u64;
            let made = match groups.as_slice() {
                [(into, _)] => format!("`{}`", on_one_line(into)),
                groups => show_count(groups.len() as u64),
            };
            let done = format!("merged {} into {made}", show_counted(merged, "class"));
            (model, out, done)
        }
        Some(Change::Retire { classes, file, out }) => {
            let model = match file {
                Some(file) => {
                    let names = class_lists::read_names(file, model.classes())?;
                    model.retire_classes(&names)?
                }
                None => model.retire_classes(classes)?,
            };
            let retired = before - model.classes().len() as u64;
            (model, out, format!("retired {}", show_counted(retired, "class")))
        }
    };
    let session = silent_session(context)?;
    interrupt::while_writing(|| model.save_in(out, &session))?;
    print(&format!(
        "{done}; {} now\nwrote {} ({})\n",
        show_counted(model.classes().len() as u64, "class"),
        out.display(),
        show_size(model.summary()?.file_bytes)
    ))
}

/// The members of each merged class, in the order in which the merged classes first appear.
fn groups(pairs: Vec<(String, String)>) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut indices: HashMap<String, usize> = HashMap::new();
    for (class, into) in pairs {
        let index = *indices.entry(into.clone()).or_insert(groups.len());
        if index == groups.len() {
            groups.push((into, Vec::new()));
        }
        groups[index].1.push(class);
    }
    groups
}

fn list(model: &Model, json: bool) -> anyhow::Result<()> {
    let mut text = String::new();
    for (number, name) in model.classes().iter().enumerate() {
        let rows = model.origin().class_counts.get(number);
        if json {
            let mut line = serde_json::json!({"class": name, "rows": rows});
            let about = [
                ("notation", model.notation_of_class(number as u32)),
                ("name", model.name_of_class(number as u32, &[])),
            ];
            for (key, value) in about {
                if let Some(value) = value {
                    line[key] = value.into();
                }
            }
            let _ = writeln!(text, "{line}");
        } else {
            let rows = rows.map_or("?".to_owned(), |&rows| show_count(u64::from(rows)));
            let _ = write!(text, "{rows:>10}  {}", on_one_line(name));
            if let Some(known_as) = model
                .name_of_class(number as u32, &[])
                .filter(|known_as| *known_as != name)
            {
                let _ = write!(text, "  {}", on_one_line(known_as));
            }
            text.push('\n');
        }
    }
    print(&text)
}
