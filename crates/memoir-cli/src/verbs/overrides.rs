//! `memoir overrides`: texts that always get a given class.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use memoir::Model;
use memoir::model::Overrides;
use memoir::prepare::ExampleSet;
use memoir_report::sizes::{show_counted, show_size};

use crate::arguments::{Reading, Running, check_apart};
use crate::output::{print, print_bytes};
use crate::progress::Progress;
use crate::{Context, interrupt, sources};

#[derive(Debug, Args)]
#[command(after_long_help = "\
FILE has a text and a label in each row, and replaces all texts that were given before. A text is found
regardless of capital letters and white space. `memoir predict`, `memoir serve` and the Python package
give it this class first, with the probability 1 and marked as an override; `memoir evaluate` measures
what the model itself answers.

Examples:
  memoir overrides jobs.memoir dictionary.csv --out jobs2.memoir
  memoir overrides jobs2.memoir > dictionary.csv")]
pub(crate) struct Arguments {
    /// The model file; it is not changed, unless `--out` names it
    model: PathBuf,
    /// Texts with their classes [default: the texts of the model are printed as CSV]
    #[arg(value_name = "FILE", requires = "out")]
    file: Option<PathBuf>,
    /// The model file to write
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Remove all texts
    #[arg(long, conflicts_with = "file", requires = "out")]
    remove: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

/// Unknown classes that a message names.
const TOLD: usize = 5;

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let mut model = Model::load(&arguments.model, &context.catalogue)?;
    let Some(out) = &arguments.out else {
        return list(&model);
    };
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    if let Some(file) = &arguments.file {
        check_apart(out, file)?;
        let options = model.reading(arguments.reading.options());
        let examples = ExampleSet::read(sources::open(&[file])?, &options, &session)?;
        let unknown = unknown_classes(file, &examples, &model);
        match unknown {
            Some(unknown) if options.skip_bad_rows => session.note(unknown + "; their rows are left out"),
            Some(unknown) => bail!("{unknown}; `--skip-bad-rows` leaves their rows out"),
            None => {}
        }
        let pairs = pairs(file, &examples, &model)?;
        model.set_overrides(pairs)?;
    } else if arguments.remove {
        model.set_overrides([])?;
    } else {
        bail!("expected FILE with texts and their classes, or `--remove`");
    }
    interrupt::while_writing(|| model.save_in(out, &session))?;
    progress.clear();
    if !arguments.running.quiet {
        let texts = model.overrides().map_or(0, Overrides::len) as u64;
        print(&format!(
            "wrote {} ({}), which always gives {} their class\n",
            out.display(),
            show_size(model.summary()?.file_bytes),
            show_counted(texts, "text")
        ))?;
    }
    Ok(())
}

/// What is to be said of classes that the model does not know, if there are some.
fn unknown_classes(file: &Path, examples: &ExampleSet, model: &Model) -> Option<String> {
    let is_unknown = |name: &&str| model.classes().find(name).is_none();
    let unknown: Vec<&str> = examples.classes().iter().filter(is_unknown).collect();
    let told = unknown.iter().take(TOLD).map(|name| format!("`{name}`"));
    (!unknown.is_empty()).then(|| {
        format!(
            "{}: has {} that the model does not know: {}{}",
            file.display(),
            show_counted(unknown.len() as u64, "class"),
            told.collect::<Vec<_>>().join(", "),
            if unknown.len() > TOLD { ", ..." } else { "" }
        )
    })
}

/// The texts of a file, each with its class, but for classes that the model does not know.
fn pairs<'e>(
    file: &Path,
    examples: &'e ExampleSet,
    model: &Model,
) -> anyhow::Result<Vec<(&'e str, &'e str)>> {
    let Some(texts) = examples.texts() else {
        bail!(
            "{}: has vectors; expected texts with their classes",
            file.display()
        );
    };
    let classes = examples.classes();
    let mut pairs = Vec::with_capacity(texts.len());
    for (row, (text, labels)) in texts.iter().zip(examples.labels().iter()).enumerate() {
        let [label] = labels else {
            bail!(
                "{}: row {} has {}; expected one",
                file.display(),
                row + 1,
                show_counted(labels.len() as u64, "label")
            );
        };
        let class = classes.name(*label);
        if model.classes().find(class).is_some() {
            pairs.push((text.as_str(), class));
        }
    }
    Ok(pairs)
}

/// Prints the texts of a model with their classes.
fn list(model: &Model) -> anyhow::Result<()> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["text", "label"])?;
    for (text, class) in model.overrides().into_iter().flat_map(Overrides::iter) {
        table.write_record([text, model.classes().name(class)])?;
    }
    print_bytes(&table.into_inner()?)
}
