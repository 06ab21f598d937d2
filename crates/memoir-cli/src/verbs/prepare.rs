//! `memoir prepare`: files in, prepared data out.

use std::path::PathBuf;

use clap::Args;
use memoir::prepare::{DiskOptions, prepare_to_disk};
use memoir_report::sizes::{show_counted, show_size};

use crate::arguments::{Reading, Running};
use crate::output::print;
use crate::progress::Progress;
use crate::{Context, sources};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Every verb takes the folder in place of DATA, and does the same as with the file, but reads it faster. A run
that was stopped goes on where it was when it is started once more. Memory holds the names of classes and
words, not the rows; with `--deduplicate` also up to 16 bytes for each row.

Examples:
  memoir prepare tickets.csv.gz --out tickets
  memoir train tickets --model tickets.memoir
  memoir prepare november.csv --out tickets --append")]
pub(crate) struct Arguments {
    /// Labelled rows: files, folders or patterns of names
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Add to prepared data that is there
    #[arg(long)]
    append: bool,
    /// Leave out rows whose text (but for capital letters and white space) or vector, and whose labels came
    /// before
    #[arg(long)]
    deduplicate: bool,
    /// Compress the rows: less to store, slower to read
    #[arg(long)]
    compress: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let mut how = DiskOptions::default();
    how.append = arguments.append;
    how.deduplicate = arguments.deduplicate;
    how.compress = arguments.compress;
    let source = sources::open(&arguments.data)?;
    let options = arguments.reading.options();
    let manifest = prepare_to_disk(source, &options, &arguments.out, &how, &session)?;
    progress.clear();
    if arguments.running.quiet {
        return Ok(());
    }
    let duplicates = manifest.sources.last().map_or(0, |source| source.duplicates);
    let left_out = match duplicates {
        0 => String::new(),
        count => format!(" ({} left out)", show_counted(count, "equal row")),
    };
    let features = if manifest.text {
        show_counted(manifest.words, "word")
    } else {
        show_counted(manifest.width, "feature")
    };
    print(&format!(
        "{}: {}{left_out}, {}, {features}, {} in {}\n",
        arguments.out.display(),
        show_counted(manifest.rows, "row"),
        show_counted(manifest.classes, "class"),
        show_size(manifest.bytes()),
        show_counted(manifest.shard_count() as u64, "shard"),
    ))
}
