//! `memoir classes MODEL crosswalk`: a model carried over to a revised classification.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use memoir::Model;
use memoir::model::Crosswalk;
use memoir_report::names::on_one_line;
use memoir_report::sizes::{show_counted, show_size};

use crate::arguments::silent_session;
use crate::output::print;
use crate::vocabulary_options::{VocabularyOptions, describe};
use crate::{Context, interrupt};

/// How many classes of each kind are named.
const NAMED: usize = 5;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A table with the columns old and new: one old code with several new ones is a split, several old ones
    /// with one new one are merged, an empty new one ends the class
    table: PathBuf,
    /// The model file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    vocabulary: VocabularyOptions,
}

pub(crate) fn run(model: Model, arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let pairs = read_pairs(&arguments.table)?;
    let unmatched = arguments.vocabulary.read()?;
    let (mut model, told) = model.crosswalk(&pairs)?;
    let mut text = report(&told);
    if let Some(unmatched) = unmatched {
        let (vocabulary, defects) = unmatched.for_classes(model.classes())?;
        arguments.vocabulary.rules.check(&defects)?;
        for line in defects.lines() {
            eprintln!("{}", on_one_line(&line));
        }
        model.set_vocabulary(vocabulary)?;
        model = model.tell_apart_by_names(&told.split)?;
    }
    let summary = model.summary()?;
    if let Some(vocabulary) = &summary.vocabulary {
        let _ = writeln!(text, "{}", describe(vocabulary, summary.classes));
    }
    let session = silent_session(context)?;
    interrupt::while_writing(|| model.save_in(&arguments.out, &session))?;
    let _ = writeln!(
        text,
        "{} now\nwrote {} ({})",
        show_counted(model.classes().len() as u64, "class"),
        arguments.out.display(),
        show_size(summary.file_bytes)
    );
    print(&text)
}

/// The pairs of codes in a table with a header.
fn read_pairs(path: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let content =
        std::fs::read_to_string(path).with_context(|| format!("{}: cannot read it", path.display()))?;
    let header = content.lines().next().unwrap_or_default();
    let delimiter = ['\t', ';']
        .into_iter()
        .find(|&delimiter| header.contains(delimiter))
        .unwrap_or(',');
    let mut table = csv::ReaderBuilder::new()
        .delimiter(delimiter as u8)
        .trim(csv::Trim::All)
        .from_reader(content.trim_start_matches('\u{FEFF}').as_bytes());
    let locate = |error: csv::Error| anyhow::anyhow!("{}: {error}", path.display());
    let header = table.headers().map_err(locate)?.clone();
    let column = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
    let (Some(old), Some(new)) = (column("old"), column("new")) else {
        let found: Vec<&str> = header.iter().collect();
        bail!(
            "{}:1:1: a crosswalk needs the columns `old` and `new`; found `{}`",
            path.display(),
            found.join("`, `")
        );
    };
    let mut pairs = Vec::new();
    for record in table.records() {
        let record = record.map_err(locate)?;
        pairs.push((record[old].to_owned(), record[new].to_owned()));
    }
    Ok(pairs)
}

/// What was done, and what could not be carried over.
fn report(told: &Crosswalk) -> String {
    let mut text = format!(
        "renamed {}, made {} of several, split {}, ended {}\n",
        show_counted(told.renamed as u64, "class"),
        show_counted(told.merged as u64, "class"),
        show_counted(told.split.len() as u64, "class"),
        show_counted(told.retired.len() as u64, "class")
    );
    let splits: Vec<String> = told
        .split
        .iter()
        .map(|(old, new)| format!("{old} into {}", new.join(" and ")))
        .collect();
    for (what, classes) in [
        ("split", &splits),
        ("ended", &told.retired),
        ("not in the table, unchanged", &told.unnamed),
        ("in the table, but not in the model", &told.unknown),
    ] {
        if !classes.is_empty() {
            let named: Vec<String> = classes
                .iter()
                .take(NAMED)
                .map(|class| on_one_line(class))
                .collect();
            let more = match classes.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let _ = writeln!(text, "{what}: {}{more}", named.join(", "));
        }
    }
    text
}
