//! `memoir predict`: the best classes of each row on standard output, as the rows come in.

use std::io::{self, BufWriter};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use memoir::data::Source;
use memoir::{Model, Scored, prepare};
use memoir_report::sizes::{show_count, show_counted};

use crate::Context;
use crate::answers::{Answers, Form};
use crate::arguments::{Reading, Running, parse_positive};
use crate::output::write_error;
use crate::progress::Progress;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Output:
  text   a line per row: classes, best first, separated by tabs; with --scores class:score, where
         the score follows the last colon; tabs, line breaks and backslashes in names are escaped
  jsonl  an object per row with the keys classes and, with --scores, scores
  csv    a line per answer: row, rank, class and, with --scores, score; rows and ranks count from 1
Scores are probabilities if the model is calibrated (`memoir inspect` says so); else they are its
own, and a note says so. Rows that --skip-bad-rows leaves out, and rows without an answer, are empty
lines.

Without --format, a text model reads standard input and .txt files as one text per line, unless they
begin like fastText or JSON; text that is vectors, or the reverse, is refused.

Examples:
  memoir predict m.memoir new.csv --top-k 3 --scores
  memoir predict m.memoir new.csv --min-confidence 0.8
  echo 'printer out of toner' | memoir predict m.memoir -")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Rows, with or without labels; `-` is standard input
    data: PathBuf,
    /// How many classes to give for each row
    #[arg(long, short = 'k', value_name = "K", default_value = "1", value_parser = parse_positive)]
    top_k: NonZeroUsize,
    /// Give the scores too: probabilities, if the model is calibrated
    #[arg(long)]
    scores: bool,
    /// Give the model's own scores instead of probabilities
    #[arg(long, conflicts_with = "scores")]
    raw_scores: bool,
    /// Give no answer for rows whose best class is less probable than this; they are counted on standard
    /// error
    #[arg(long, value_name = "P", value_parser = parse_probability)]
    min_confidence: Option<f32>,
    /// Form of the output
    #[arg(long, value_name = "FORM", default_value = "text")]
    output: Form,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

/// What a row gets instead of an answer that is not sure enough.
const NO_ANSWER: &[Scored] = &[];

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model, &context.catalogue)?;
    let progress = Progress::beside_answers(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let calibrated = model.calibration().is_some();
    if arguments.scores && !calibrated {
        session.note("the model is not calibrated: scores are its own and no probabilities");
    }
    let probable = arguments.min_confidence.is_some() || (arguments.scores && calibrated);
    let stdout = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let scores = arguments.scores || arguments.raw_scores;
    let mut answers = Answers::new(arguments.output, scores, model.classes(), stdout).map_err(write_error)?;
    let (source, options) = (Source::new(&arguments.data), arguments.reading.options());
    let (mut rows, mut unanswered) = (0u64, 0u64);
    prepare::stream_with(source, &options, model.preprocessing(), &session, |block| {
        let top_k = arguments.top_k.get();
        let probabilities = if probable {
            Some(model.predict_probabilities(&block.rows, top_k, &session)?)
        } else {
            None
        };
        // Raw scores beside a threshold for probabilities need both.
        let raw = match &probabilities {
            Some(_) if !arguments.raw_scores => None,
            _ => Some(model.predict_rows(&block.rows, top_k, &session)?),
        };
        let mut skipped = block.skipped.iter().peekable();
        for row in 0..block.rows.len() {
            while skipped.next_if(|&&line| line < block.lines[row]).is_some() {
                answers.write(NO_ANSWER).map_err(write_error)?;
            }
            rows += 1;
            let sure = probabilities.as_ref().is_none_or(|probabilities| {
                let answer = probabilities.row(row).first().map_or(0.0, |answer| answer.score);
                arguments.min_confidence.is_none_or(|least| answer >= least)
            });
            unanswered += u64::from(!sure);
            let best = match raw.as_ref().or(probabilities.as_ref()) {
                Some(predictions) if sure => predictions.row(row),
                _ => NO_ANSWER,
            };
            answers.write(best).map_err(write_error)?;
        }
        for _ in skipped {
            answers.write(NO_ANSWER).map_err(write_error)?;
        }
        // Blocks are as large as the input allows: whoever feeds single lines gets each answer at once.
        answers.flush().map_err(write_error)
    })?;
    progress.clear();
    if let Some(least) = arguments.min_confidence.filter(|_| !arguments.running.quiet) {
        eprintln!(
            "{} of {} not answered: less probable than {least}",
            show_count(unanswered),
            show_counted(rows, "row")
        );
    }
    Ok(())
}

fn parse_probability(text: &str) -> Result<f32, String> {
    let probability = text.parse().ok().filter(|p: &f32| (0.0..=1.0).contains(p));
    probability.ok_or_else(|| "expected a number from 0 to 1, such as 0.8".to_owned())
}
