//! `memoir synth`: made-up data of a wanted shape, streamed to a file.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Command};
use memoir::data::Format;
use memoir::model::write_beside;
use memoir::synth::{Generator, Part, SynthParams};
use memoir::{Error, Session};
use memoir_report::sizes::{show_counted, show_size};

use crate::arguments::{Running, check_apart};
use crate::help::HelpRequest;
use crate::method_options::{self, Given};
use crate::progress::Progress;
use crate::{Context, interrupt};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Classes have topics and share parents, so similar classes are hard to tell apart. Full-scale files are large.

Examples:
  memoir synth --like lshtc1 --scale 0.1 --out train.svm --test-out test.svm
  memoir synth --rows 50000 --classes 5000 --out texts.csv")]
pub(crate) struct Arguments {
    /// File to write; its name ends in the format, .svm or .csv; `-` is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// File for more rows of the same kind, to evaluate on
    #[arg(long, value_name = "FILE")]
    test_out: Option<PathBuf>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    running: Running,
}

/// The options, with those of the shape.
pub(crate) fn options(command: Command, help: &HelpRequest) -> Command {
    method_options::augment_synth(command, help)
}

pub(crate) fn run(arguments: &Arguments, given: &Given, context: &Context) -> anyhow::Result<()> {
    let mut options: Vec<_> = given.shape().collect();
    let wanted = options.iter().find(|(name, _)| *name == "format");
    let wanted = wanted
        .map(|(_, format)| *format)
        .filter(|format| *format != "auto");
    let mut formats = vec![format_of(&arguments.out, wanted)?];
    if let Some(test_out) = &arguments.test_out {
        formats.push(format_of(test_out, wanted.or(formats[0]))?);
    }
    options.retain(|(name, _)| *name != "format");
    options.extend(formats[0].map(|format| ("format", format)));
    let params = SynthParams::parse(options)?;
    if let Some(test_out) = &arguments.test_out {
        check_apart(&arguments.out, test_out)?;
        let is_output = |path: &PathBuf| path == Path::new("-");
        if is_output(&arguments.out) && is_output(test_out) {
            bail!("`--out` and `--test-out` are both `-`; expected two outputs");
        }
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

/// The format for a file, from what is wanted and what its name says, which must not differ.
fn format_of<'a>(path: &Path, wanted: Option<&'a str>) -> anyhow::Result<Option<&'a str>> {
    if path == Path::new("-") {
        return Ok(wanted);
    }
    let name = path.display();
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    if ["gz", "zst", "xz", "bz2", "zip"].contains(&ending.to_ascii_lowercase().as_str()) {
        bail!("{name}: this verb does not compress; write to `-` and pipe the output into a compressor");
    }
    let named = match Format::from_path(path) {
        Some(Format::Csv) => Some("csv"),
        Some(Format::Libsvm) => Some("libsvm"),
        Some(other) => bail!(
            "{name}: generated data is libsvm or csv, not {other}; expected a name that ends in .svm or .csv"
        ),
        None => None,
    };
    match (wanted, named) {
        (None, None) => {
            bail!("{name}: the name tells no format; expected one that ends in .svm or .csv, or `--format`")
        }
        (Some(wanted), Some(named)) if wanted != named => {
            bail!("{name}: the name says {named}, but the data is {wanted}; expected the same")
        }
        _ => Ok(wanted.or(named)),
    }
}

fn write_file(generator: &Generator, part: Part, path: &Path, session: &Session<'_>) -> Result<(), Error> {
    write_beside(path, |mut out| generator.write(part, &mut out, path, session))
}
