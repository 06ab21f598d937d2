//! `memoir compare`: every method of an experiment, measured side by side.

use std::path::PathBuf;

use clap::Args;
use memoir_compare::{Monitor, Request};

use crate::Context;
use crate::arguments::Running;
use crate::output::print;
use crate::progress::Progress;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Writes results.jsonl (a line per run), results.md (tables) and report.html (figures, sortable tables).
A comparison that was stopped continues where it was when the same command is given again. The experiment
says how many threads the methods use; --threads is for preparing data. The guide's page on comparisons
explains experiment files.

Example:
  memoir data wordnet --out experiments/wordnet
  memoir compare experiments/wordnet.toml --out wordnet-results")]
pub(crate) struct Arguments {
    /// File with the data sets, methods and limits
    experiment: PathBuf,
    /// Folder for results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Folder that relative paths of data start from [default: the experiment's folder]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Method or data set to measure again; may be given several times
    #[arg(long, value_name = "NAME")]
    again: Vec<String>,
    #[command(flatten)]
    running: Running,
}

impl Monitor for Progress {
    fn say(&self, text: &str) {
        Progress::say(self, text);
    }

    fn busy(&self, stage: &str) {
        Progress::busy(self, stage);
    }
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let progress = Progress::new(arguments.running.quiet);
    let silent = Progress::new(true);
    let session = arguments.running.session(context, &silent)?;
    let request = Request {
        experiment: &arguments.experiment,
        out: &arguments.out,
        data_folder: arguments.data.as_deref(),
        again: &arguments.again,
        program: &std::env::current_exe()?,
        catalogue: &context.catalogue,
    };
    memoir_compare::run(&request, &progress, &session)?;
    progress.clear();
    if !arguments.running.quiet {
        let out = arguments.out.display();
        print(&format!(
            "wrote {out}/results.md, {out}/report.html and {out}/results.jsonl\n"
        ))?;
    }
    Ok(())
}
