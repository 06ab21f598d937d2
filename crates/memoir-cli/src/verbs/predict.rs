//! `memoir predict`: the best classes of each row on standard output, as the rows come in.

use std::io::{self, BufWriter};
use std::iter;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::Args;
use memoir::data::Source;
use memoir::{Model, Scored, prepare};
use memoir_report::sizes::{show_count, show_counted};

use crate::Context;
use crate::answers::{Answers, Form, Shown};
use crate::arguments::{Reading, Running, parse_positive};
use crate::back_off::{self, Promise, PromisedAnswers};
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
  memoir predict m.memoir new.csv --back-off 0.9 --names
  memoir predict m.memoir new.csv --coverage 0.95 --scores
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
    /// Give the narrowest class or group of the hierarchy, so that this share of the answers is right
    #[arg(long, value_name = "SHARE", value_parser = parse_probability)]
    #[arg(conflicts_with_all = ["top_k", "raw_scores", "min_confidence"])]
    back_off: Option<f32>,
    /// Give as many classes as it takes to have the right one among them in this share of the rows
    #[arg(long, value_name = "SHARE", value_parser = parse_promise)]
    #[arg(conflicts_with_all = ["top_k", "raw_scores", "min_confidence", "back_off"])]
    coverage: Option<f32>,
    /// Form of the output
    #[arg(long, value_name = "FORM", default_value = "text")]
    output: Form,
    /// Give names of classes too; in csv and jsonl also their notations
    #[arg(long)]
    names: bool,
    /// Languages of the names, the preferred one first, such as sv,en
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "names",
        hide_short_help = true
    )]
    language: Vec<String>,
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
    let promise = match (arguments.back_off, arguments.coverage) {
        (Some(precision), _) => Some(Promise::Precision(precision)),
        (None, coverage) => coverage.map(Promise::Coverage),
    };
    let mut promised = match promise {
        Some(promise) => Some(
            PromisedAnswers::new(&model, promise)
                .map_err(|reason| anyhow!("{}: {reason}", arguments.model.display()))?,
        ),
        None => None,
    };
    if let Some(note) = promised.as_ref().and_then(PromisedAnswers::note) {
        session.note(note);
    }
    let probable =
        arguments.min_confidence.is_some() || promised.is_some() || (arguments.scores && calibrated);
    let stdout = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let scores = arguments.scores || arguments.raw_scores;
    if arguments.names && model.vocabulary().is_none() {
        bail!(
            "{}: the model has no vocabulary, so its classes have no names; give it one with `memoir classes`",
            arguments.model.display()
        );
    }
    let languages = &arguments.language;
    let mut answers = Answers::new(arguments.output, scores, arguments.names, stdout).map_err(write_error)?;
    let (source, options) = (Source::new(&arguments.data), arguments.reading.options());
    let (mut rows, mut unanswered) = (0u64, 0u64);
    prepare::stream_with(source, &options, model.preprocessing(), &session, |block| {
        let top_k = match &promised {
            None => arguments.top_k.get(),
            Some(_) => back_off::CANDIDATES,
        };
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
                answers.write(iter::empty()).map_err(write_error)?;
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
            if let Some(promised) = &mut promised {
                let shown = promised.answers(best, languages);
                unanswered += u64::from(shown.is_empty());
                answers.write(shown.into_iter()).map_err(write_error)?;
            } else {
                answers
                    .write(Shown::all(best, &model, languages))
                    .map_err(write_error)?;
            }
        }
        for _ in skipped {
            answers.write(iter::empty()).map_err(write_error)?;
        }
        // Blocks are as large as the input allows: whoever feeds single lines gets each answer at once.
        answers.flush().map_err(write_error)
    })?;
    progress.clear();
    if arguments.running.quiet {
        return Ok(());
    }
    let not_answered = format!(
        "{} of {} not answered",
        show_count(unanswered),
        show_counted(rows, "row")
    );
    if let Some(least) = arguments.min_confidence {
        eprintln!("{not_answered}: less probable than {least}");
    } else if let Some(reached) = promised.and_then(|promised| promised.depths_reached()) {
        eprintln!("{not_answered}; {reached}");
    }
    Ok(())
}

fn parse_promise(text: &str) -> Result<f32, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share: &f32| (0.5..=0.995).contains(share));
    share.ok_or_else(|| "expected a number from 0.5 to 0.995, such as 0.95".to_owned())
}

fn parse_probability(text: &str) -> Result<f32, String> {
    let probability = text.parse().ok().filter(|p: &f32| (0.0..=1.0).contains(p));
    probability.ok_or_else(|| "expected a number from 0 to 1, such as 0.8".to_owned())
}
