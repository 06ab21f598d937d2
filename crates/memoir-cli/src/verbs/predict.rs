//! `memoir predict`: the best classes of each row on standard output, as the rows come in.

use std::io::{self, BufWriter};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use memoir::data::{self, Source};
use memoir::{Error, Model};

use crate::Context;
use crate::answers::{Answers, Form};
use crate::arguments::{Reading, Running, parse_positive};
use crate::progress::Progress;

/// Predict the best classes of each row
#[derive(Debug, Args)]
#[command(after_help = "\
Output:
  text   a line per row: classes, best first, separated by tabs; with --scores class:score, where
         the score follows the last colon; tabs, line breaks and backslashes in names are escaped
  jsonl  an object per row with the keys classes and, with --scores, scores
  csv    a line per answer: row, rank, class and, with --scores, score; rows and ranks count from 1

Without --format, a text model reads standard input and .txt files as one text per line.

Examples:
  memoir predict m.memoir new.csv --top-k 3 --scores
  echo 'printer out of toner' | memoir predict m.memoir -")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Rows, with or without labels; `-` is standard input
    data: PathBuf,
    /// How many classes to give for each row
    #[arg(long, short = 'k', value_name = "K", default_value = "1", value_parser = parse_positive)]
    top_k: NonZeroUsize,
    /// Give the scores too
    #[arg(long)]
    scores: bool,
    /// Form of the output
    #[arg(long, value_name = "FORM", default_value = "text")]
    output: Form,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model, &context.catalogue)?;
    let progress = Progress::new(arguments.running.quiet || is_terminal());
    let session = arguments.running.session(context, &progress)?;
    let write_error = |reason| Error::io(Path::new("<stdout>"), "cannot write", reason);
    let stdout = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut answers =
        Answers::new(arguments.output, arguments.scores, &model.classes, stdout).map_err(write_error)?;
    let (source, options) = (Source::new(&arguments.data), arguments.reading.options());
    data::stream_with(source, &options, &model.preprocessing, &session, |block| {
        let predictions = model.predict_rows(&block.rows, arguments.top_k.get(), &session)?;
        for best in predictions.iter() {
            answers.write(best).map_err(write_error)?;
        }
        // Blocks are as large as the input allows: whoever feeds single lines gets each answer at once.
        answers.flush().map_err(write_error)
    })?;
    progress.clear();
    Ok(())
}

/// On a terminal the answers themselves show the progress.
fn is_terminal() -> bool {
    use std::io::IsTerminal;
    io::stdout().is_terminal()
}
