//! `memoir predict`: the best classes of each row on standard output, as the rows come in, or in a file
//! beside the columns of the input.

use std::io::{self, BufWriter};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use memoir::data::{KeepColumns, Kept, ReadOptions};
use memoir::model::{Predictions, write_beside};
use memoir::prepare::Block;
use memoir::{Model, Result, Scored, Session, prepare};
use memoir_report::sizes::{show_count, show_counted};

use crate::Context;
use crate::answer_table::{AnswerTable, Layout, Shape, TableFile, parse_columns};
use crate::answers::{Answers, Form, Shown};
use crate::arguments::{Reading, Running, check_apart, check_apart_from_data, parse_positive};
use crate::back_off::{self, Promise, PromisedAnswers};
use crate::output::write_error;
use crate::progress::Progress;
use crate::sources;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Output:
  text   a line per row: classes, best first, separated by tabs; with --scores class:score, where
         the score follows the last colon; tabs, line breaks and backslashes in names are escaped
  jsonl  an object per row with the keys classes and, with --scores, scores
  csv    a line per answer: row, rank, class and, with --scores, score; rows and ranks count from 1
With --out, a table with the columns of the input in front:
  wide   a row per row of the input: class_1, probability_1, class_2, ...
  long   a row per answer: row, rank, class, probability
Scores are probabilities if the model is calibrated (`memoir inspect` says so); else they are its
own, and a note says so (in --out, columns are called score instead of probability). Rows in which
the model knows no word, and those that --skip-bad-rows leaves out, get an empty answer.

DATA may be CSV, TSV, JSON lines, Excel (`book.xlsx#Sheet2` for another sheet than the first), Parquet,
Arrow, fastText, libsvm, XMC or text, compressed or not. Without --format, the first lines of standard
input, of .txt files and of files with other endings tell what they are: fastText,
JSON, a table with a known column, or one text per line. Text that is vectors, or the reverse, is
refused.

Examples:
  memoir predict m.memoir new.csv --top-k 3 --scores
  memoir predict m.memoir new.csv --min-confidence 0.8
  memoir predict m.memoir new.csv --back-off 0.9 --names
  memoir predict m.memoir new.csv --coverage 0.95 --scores
  memoir predict m.memoir new.xlsx --out coded.xlsx --keep-columns id,title
  echo 'printer out of toner' | memoir predict m.memoir -")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Rows, with or without labels: files, folders or patterns of names; `-` is standard input
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// How many classes to give for each row [default: 1; with --min-probability 10]
    #[arg(long, short = 'k', value_name = "K", visible_alias = "at-most", value_parser = parse_positive)]
    top_k: Option<NonZeroUsize>,
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
    /// Give only classes that are at least this probable: for rows with several labels
    #[arg(long, value_name = "P", value_parser = parse_probability)]
    min_probability: Option<f32>,
    /// Give the narrowest class or group of the hierarchy, so that this share of the answers is right
    #[arg(long, value_name = "SHARE", value_parser = parse_probability)]
    #[arg(conflicts_with_all = ["top_k", "raw_scores", "min_confidence", "min_probability"])]
    back_off: Option<f32>,
    /// Give as many classes as it takes to have the right one among them in this share of the rows
    #[arg(long, value_name = "SHARE", value_parser = parse_promise)]
    #[arg(conflicts_with_all = ["top_k", "raw_scores", "min_confidence", "min_probability", "back_off"])]
    coverage: Option<f32>,
    /// Form of the output
    #[arg(long, value_name = "FORM", default_value = "text", conflicts_with = "out")]
    output: Form,
    /// Write the answers to this file instead: .csv, .tsv, .jsonl, .xlsx, .parquet or .arrow
    #[arg(long, value_name = "FILE", conflicts_with = "scores")]
    out: Option<PathBuf>,
    /// Columns of the input that --out gets: all, none, or names such as id,title
    #[arg(long, value_name = "NAMES", default_value = "all", value_parser = parse_columns, requires = "out")]
    keep_columns: KeepColumns,
    /// How answers stand in --out
    #[arg(long, value_name = "LAYOUT", default_value = "wide", requires = "out")]
    layout: Layout,
    /// Give names of classes too; in csv, jsonl and --out also their notations
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

/// Classes that a row gets at most where probabilities decide.
const AT_MOST: usize = 10;

/// What probabilities are where rows have several labels.
const SEVERAL_LABELS: &str = "rows may have several labels: each probability is that of its class being among \
                              them, so those of a row need not add up to 1";

/// What a row gets instead of an answer that is not sure enough.
const NO_ANSWER: &[Scored] = &[];

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model, &context.catalogue)?;
    let progress = Progress::beside_answers(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let calibrated = model.calibration().is_some();
    if !calibrated && !arguments.raw_scores && (arguments.scores || arguments.out.is_some()) {
        session.note("the model is not calibrated: scores are its own and no probabilities");
    }
    if arguments.names && model.vocabulary().is_none() {
        bail!(
            "{}: the model has no vocabulary, so its classes have no names; give it one with `memoir classes`",
            arguments.model.display()
        );
    }
    let promise = match (arguments.back_off, arguments.coverage) {
        (Some(precision), _) => Some(Promise::Precision(precision)),
        (None, coverage) => coverage.map(Promise::Coverage),
    };
    let promised = promise.map(|promise| {
        PromisedAnswers::new(&model, promise)
            .map_err(|reason| anyhow!("{}: {reason}", arguments.model.display()))
    });
    let promised = promised.transpose()?;
    if let Some(note) = promised.as_ref().and_then(PromisedAnswers::note) {
        session.note(note);
    }
    let top_k = match (&promised, arguments.top_k) {
        (Some(_), _) => back_off::CANDIDATES,
        (None, Some(top_k)) => top_k.get(),
        (None, None) => arguments.min_probability.map_or(1, |_| AT_MOST),
    };
    let shows_probabilities = (arguments.scores || arguments.out.is_some()) && !arguments.raw_scores;
    let has_several_labels = model
        .calibration()
        .is_some_and(|calibration| calibration.several_labels);
    if shows_probabilities && has_several_labels && top_k > 1 && promised.is_none() {
        session.note(SEVERAL_LABELS);
    }
    let mut predicting = Predicting {
        arguments,
        model: &model,
        session: &session,
        promised,
        top_k,
        rows: 0,
        unanswered: 0,
    };
    match &arguments.out {
        Some(path) => predicting.write_file(path)?,
        None => predicting.print()?,
    }
    progress.clear();
    if arguments.running.quiet {
        return Ok(());
    }
    let not_answered = format!(
        "{} of {} not answered",
        show_count(predicting.unanswered),
        show_counted(predicting.rows, "row")
    );
    if let Some(least) = arguments.min_confidence.or(arguments.min_probability) {
        eprintln!("{not_answered}: less probable than {least}");
    } else if let Some(reached) = predicting.promised.and_then(|promised| promised.depths_reached()) {
        eprintln!("{not_answered}; {reached}");
    }
    Ok(())
}

/// A run.
struct Predicting<'r> {
    arguments: &'r Arguments,
    model: &'r Model,
    session: &'r Session<'r>,
    /// What keeps a promise about the answers, if one is wanted.
    promised: Option<PromisedAnswers<'r>>,
    /// How many classes are asked for.
    top_k: usize,
    rows: u64,
    unanswered: u64,
}

/// The answers of some rows.
struct BlockAnswers {
    probabilities: Option<Predictions>,
    /// The model's own scores, where they are wanted.
    raw: Option<Predictions>,
}

impl Predicting<'_> {
    fn print(&mut self) -> anyhow::Result<()> {
        let arguments = self.arguments;
        let stdout = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let scores = arguments.scores || arguments.raw_scores;
        let marks = self.model.overrides().is_some();
        let answers = Answers::new(arguments.output, scores, arguments.names, marks, stdout);
        let mut answers = answers.map_err(write_error)?;
        self.stream(KeepColumns::None, |this, block| {
            this.answer(&block, |_, shown| {
                answers.write(shown.iter().copied()).map_err(write_error)
            })?;
            // Blocks are as large as the input allows: whoever feeds single lines gets each answer at once.
            answers.flush().map_err(write_error)
        })?;
        Ok(())
    }

    fn write_file(&mut self, path: &Path) -> anyhow::Result<()> {
        let arguments = self.arguments;
        check_apart_from_data(path, &arguments.data)?;
        check_apart(path, &arguments.model)?;
        let raw = arguments.raw_scores || self.model.calibration().is_none();
        let shape = Shape {
            file: TableFile::of(path)?,
            layout: arguments.layout,
            // A group of the hierarchy is one answer.
            answers: match arguments.back_off {
                Some(_) => 1,
                None => self.top_k.min(self.model.classes().len()),
            },
            names: arguments.names,
            measure: if raw { "score" } else { "probability" },
            marks_overrides: self.model.overrides().is_some(),
        };
        write_beside(path, |out| {
            let mut out = Some(out);
            let mut table: Option<AnswerTable<'_>> = None;
            self.stream(arguments.keep_columns.clone(), |this, block| {
                if let Some(out) = out.take() {
                    table = Some(AnswerTable::new(shape, path, &block.kept, out)?);
                }
                match &mut table {
                    Some(table) => this.answer(&block, |row, shown| table.write(row, shown)),
                    None => Ok(()),
                }
            })?;
            table.map_or(Ok(()), AnswerTable::finish)
        })?;
        Ok(())
    }

    /// Hands the rows to `take`, some at a time.
    fn stream(
        &mut self,
        keep_columns: KeepColumns,
        mut take: impl FnMut(&mut Self, Block) -> Result<()>,
    ) -> Result<()> {
        let source = sources::open(&self.arguments.data)?;
        let options = ReadOptions {
            keep_columns,
            ..self.model.reading(self.arguments.reading.options())
        };
        let (preprocessing, session) = (self.model.preprocessing(), self.session);
        let extras = self.model.extras();
        prepare::stream_with_extras(source, &options, preprocessing, extras, session, |block| {
            take(self, block)
        })?;
        Ok(())
    }

    /// Hands each row's place in the kept columns, if it could be read, and its answers to `write`.
    fn answer(
        &mut self,
        block: &Block,
        mut write: impl FnMut(Option<(&Kept, usize)>, &[Shown<'_>]) -> Result<()>,
    ) -> Result<()> {
        let answers = self.predict(block)?;
        let mut skipped = block.skipped.iter().peekable();
        for row in 0..block.rows.len() {
            while skipped.next_if(|&&line| line < block.lines[row]).is_some() {
                write(None, &[])?;
            }
            self.rows += 1;
            let best = self.sure(&answers, row);
            let (model, languages) = (self.model, &self.arguments.language);
            let mut shown: Vec<Shown<'_>> = match &mut self.promised {
                Some(promised) => promised.answers(best, languages),
                None => Shown::all(best, model, languages).collect(),
            };
            if let Some(class) = block.override_of(row) {
                let decided = Shown {
                    is_override: true,
                    ..Shown::one(class, 1.0, model, languages)
                };
                shown.retain(|other| other.class != decided.class);
                shown.insert(0, decided);
                // What is certain is a set of one.
                shown.truncate(if self.promised.is_some() { 1 } else { self.top_k });
            }
            self.unanswered += u64::from(shown.is_empty());
            write(Some((&block.kept, row)), &shown)?;
        }
        skipped.try_for_each(|_| write(None, &[]))
    }

    fn predict(&self, block: &Block) -> Result<BlockAnswers> {
        let (arguments, model, session, top_k) = (self.arguments, self.model, self.session, self.top_k);
        let calibrated = model.calibration().is_some();
        let shown = (arguments.scores || arguments.out.is_some()) && !arguments.raw_scores;
        let least = arguments.min_confidence.or(arguments.min_probability);
        let decide = least.is_some() || self.promised.is_some();
        let probabilities = if decide || (shown && calibrated) {
            Some(model.predict_probabilities(&block.rows, top_k, session)?)
        } else {
            None
        };
        // Raw scores beside a threshold for probabilities need both.
        let raw = match &probabilities {
            Some(_) if !arguments.raw_scores => None,
            _ => Some(model.predict_rows(&block.rows, top_k, session)?),
        };
        Ok(BlockAnswers { probabilities, raw })
    }

    /// The answers for a row that are probable enough.
    fn sure<'a>(&self, answers: &'a BlockAnswers, row: usize) -> &'a [Scored] {
        let shown = answers.raw.as_ref().or(answers.probabilities.as_ref());
        let best = shown.map_or(NO_ANSWER, |predictions| predictions.row(row));
        let Some(probabilities) = &answers.probabilities else {
            return best;
        };
        let probabilities = probabilities.row(row);
        let reach = |least: f32| probabilities.partition_point(|answer| answer.score >= least);
        let mut count = best.len();
        if self
            .arguments
            .min_confidence
            .is_some_and(|least| reach(least) == 0)
        {
            count = 0;
        }
        if let Some(least) = self.arguments.min_probability {
            count = count.min(reach(least));
        }
        &best[..count]
    }
}

fn parse_promise(text: &str) -> std::result::Result<f32, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share: &f32| (0.5..=0.995).contains(share));
    share.ok_or_else(|| "expected a number from 0.5 to 0.995, such as 0.95".to_owned())
}

fn parse_probability(text: &str) -> std::result::Result<f32, String> {
    let probability = text.parse().ok().filter(|p: &f32| (0.0..=1.0).contains(p));
    probability.ok_or_else(|| "expected a number from 0 to 1, such as 0.8".to_owned())
}
