//! `memoir data`: public data sets that anyone can build from packages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Subcommand};
use memoir::Error;
use memoir::model::write_beside;
use memoir_report::sizes::show_counted;

use crate::Context;
use crate::interrupt;
use crate::wordnet::{self, Definition};
use crate::wordnet_vocabulary;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    source: Corpus,
}

#[derive(Debug, Subcommand)]
enum Corpus {
    Wordnet(Wordnet),
}

/// WordNet's definitions of nouns and verbs; the class is what the word is a kind of
#[derive(Debug, Args)]
#[command(after_long_help = "\
Writes train.csv, valid.csv and test.csv with the columns text and label. The parts are the same on every machine.
Also writes vocabulary.csv, for `memoir train --vocabulary`: every meaning with its words, definition and broader meanings.

Example:
  sudo apt-get install wordnet-base
  memoir data wordnet --out wordnet
  memoir data wordnet --every-class --out wordnet-every-class")]
struct Wordnet {
    /// Folder for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Folder of WordNet's database files
    #[arg(long, value_name = "DIR", default_value = "/usr/share/wordnet")]
    source: PathBuf,
    /// Keep classes of a single row, too: valid and test then have classes that train lacks
    #[arg(long)]
    every_class: bool,
}

pub(crate) fn run(arguments: &Arguments, _context: &Context) -> anyhow::Result<()> {
    match &arguments.source {
        Corpus::Wordnet(wordnet) => build_wordnet(wordnet),
    }
}

fn build_wordnet(arguments: &Wordnet) -> anyhow::Result<()> {
    let (mut definitions, mut files) = (Vec::new(), Vec::new());
    for (file, kind) in [("data.noun", 'n'), ("data.verb", 'v')] {
        let path = arguments.source.join(file);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => bail!(
                "{}: no WordNet here: install it with `apt-get install wordnet-base`, or name its folder with --source",
                path.display()
            ),
            Err(reason) => bail!("{}: cannot read: {reason}", path.display()),
        };
        let name = path.display().to_string();
        definitions.extend(wordnet::parse(&text, kind, &name)?);
        files.push((text, kind, name));
    }
    let rows = if arguments.every_class {
        wordnet::Rows::EveryClass
    } else {
        wordnet::Rows::RepeatedClasses
    };
    let parts = wordnet::split(&definitions, rows);
    fs::create_dir_all(&arguments.out)
        .map_err(|reason| anyhow::anyhow!("{}: cannot make the folder: {reason}", arguments.out.display()))?;
    for (name, rows) in [
        ("train", &parts.train),
        ("valid", &parts.valid),
        ("test", &parts.test),
    ] {
        let path = arguments.out.join(format!("{name}.csv"));
        interrupt::while_writing(|| write_table(&path, rows))?;
        writeln!(
            io::stderr(),
            "wrote {} ({})",
            path.display(),
            show_counted(rows.len() as u64, "row")
        )?;
    }
    let path = arguments.out.join("vocabulary.csv");
    let concepts = interrupt::while_writing(|| wordnet_vocabulary::write(&path, &files))?;
    writeln!(
        io::stderr(),
        "wrote {} ({})",
        path.display(),
        show_counted(concepts as u64, "concept")
    )?;
    Ok(())
}

fn write_table(path: &Path, rows: &[Definition]) -> anyhow::Result<()> {
    write_beside(path, |out| {
        let fail = |problem: csv::Error| Error::io(path, "cannot write", problem.into());
        let mut table = csv::Writer::from_writer(out);
        table.write_record(["text", "label"]).map_err(fail)?;
        for row in rows {
            table.write_record([&row.text, &row.label]).map_err(fail)?;
        }
        table
            .flush()
            .map_err(|reason| Error::io(path, "cannot write", reason))
    })?;
    Ok(())
}
