//! `memoir synth`: made-up data of a wanted shape, streamed to a file.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use memoir::model::write_beside;
use memoir::synth::{Generator, Part, SynthParams};
use memoir::{Error, Session};

use crate::arguments::{Running, check_apart};
use crate::method_options::Given;
use crate::progress::Progress;
use crate::sizes::{show_counted, show_size};
use crate::{Context, interrupt};

/// Make up data of a wanted shape
#[derive(Debug, Args)]
#[command(after_help = "\
Classes have topics and share parents, so that near classes are confused. Full-scale files are large.

Examples:
  memoir synth --like lshtc1 --scale 0.1 --out train.svm --test-out test.svm
  memoir synth --rows 50000 --classes 5000 --out texts.csv")]
pub(crate) struct Arguments {
    /// File to write, with the name of its format (.svm or .csv); `-` is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// File for further rows of the same kind, to evaluate on
    #[arg(long, value_name = "FILE")]
    test_out: Option<PathBuf>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    running: Running,
}

pub(crate) fn run(arguments: &Arguments, given: &Given, context: &Context) -> anyhow::Result<()> {
    let mut options: Vec<_> = given.shape().collect();
    let is_table = arguments
        .out
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    if is_table && !options.iter().any(|(name, _)| *name == "format") {
        options.push(("format", "csv"));
    }
    let params = SynthParams::parse(options)?;
    if let Some(test_out) = &arguments.test_out {
        check_apart(&arguments.out, test_out)?;
    }
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments
        .running
        .session(context, &progress)?
        .with_seed(arguments.seed);
    let (rows, test_rows) = (params.rows, params.test_rows);
    let generator = Generator::new(params, &session);
    let mut written = vec![(&arguments.out, Part::Train, rows)];
    written.extend(
        arguments
            .test_out
            .iter()
            .map(|path| (path, Part::Test, test_rows)),
    );
    for (path, part, rows) in written {
        if path == Path::new("-") {
            let mut out = BufWriter::new(io::stdout().lock());
            generator.write(part, &mut out, Path::new("<stdout>"), &session)?;
            continue;
        }
        interrupt::while_writing(|| write_file(&generator, part, path, &session))?;
        progress.clear();
        if !arguments.running.quiet {
            let size = std::fs::metadata(path).map_or(0, |about| about.len());
            let rows = show_counted(rows, "row");
            writeln!(
                io::stderr(),
                "wrote {} ({rows}, {})",
                path.display(),
                show_size(size)
            )?;
        }
    }
    Ok(())
}

fn write_file(generator: &Generator, part: Part, path: &Path, session: &Session<'_>) -> Result<(), Error> {
    write_beside(path, |mut out| generator.write(part, &mut out, path, session))
}
