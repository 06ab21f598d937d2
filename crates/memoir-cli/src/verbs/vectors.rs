//! `memoir vectors`: the rows as a model sees them, for other programs.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use memoir::data::Format;
use memoir::model::write_beside;
use memoir::{Dataset, Error, Model, prepare};
use memoir_report::sizes::show_counted;

use crate::arguments::{Reading, Running, check_apart, check_apart_from_data};
use crate::progress::Progress;
use crate::{Context, interrupt, sources};

#[derive(Debug, Args)]
#[command(after_long_help = "\
A row is written as `labels index:value ...`. Labels are numbers of the model's classes, from 0; labels of
classes that the model does not know are left out. Values are weighted and scaled as the model was trained.
Indices count from 1 in libsvm files. A file that ends in .xmc has indices from 0 and a first line with the
number of rows, features and classes.

Examples:
  memoir vectors m.memoir train.csv --out train.svm
  memoir vectors m.memoir test.csv --out test.xmc")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Labelled rows: files, folders or patterns of names; `-` is standard input
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// File to write, .svm or .xmc; `-` is standard output, in libsvm form
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    running: Running,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let to_stdout = arguments.out == Path::new("-");
    let has_header = match Format::from_path(&arguments.out) {
        _ if to_stdout => false,
        Some(Format::Libsvm) => false,
        Some(Format::Xmc) => true,
        _ => bail!(
            "{}: the name tells no format for vectors; expected one that ends in .svm or .xmc",
            arguments.out.display()
        ),
    };
    check_apart_from_data(&arguments.out, &arguments.data)?;
    check_apart(&arguments.out, &arguments.model)?;
    let model = Model::load(&arguments.model, &context.catalogue)?;
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments.running.session(context, &progress)?;
    let (data, _) = prepare::read_with(
        sources::open(&arguments.data)?,
        &model.reading(arguments.reading.options()),
        model.preprocessing(),
        model.classes(),
        &session,
    )?;
    let known = model.classes().len() as u32;
    if to_stdout {
        let mut out = BufWriter::new(io::stdout().lock());
        write_rows(&data, known, has_header, &mut out)
            .and_then(|()| out.flush())
            .map_err(crate::output::write_error)?;
    } else {
        let fail = |reason| Error::io(&arguments.out, "cannot write", reason);
        interrupt::while_writing(|| {
            write_beside(&arguments.out, |mut out| {
                write_rows(&data, known, has_header, &mut out).map_err(fail)
            })
        })?;
    }
    progress.clear();
    progress.say(&format!(
        "wrote {} of {}",
        show_counted(data.len() as u64, "row"),
        show_counted(model.preprocessing().features() as u64, "feature")
    ));
    Ok(())
}

/// The rows as text. Classes from number `known` on are not the model's.
fn write_rows(data: &Dataset, known: u32, has_header: bool, out: &mut impl Write) -> io::Result<()> {
    if has_header {
        writeln!(out, "{} {} {known}", data.len(), data.rows.width())?;
    }
    let first = u32::from(!has_header);
    for (row, labels) in data.rows.iter().zip(data.labels.iter()) {
        let mut separator = "";
        for label in labels.iter().filter(|&&label| label < known) {
            write!(out, "{separator}{label}")?;
            separator = ",";
        }
        for (feature, value) in row.iter() {
            write!(out, " {}:{value}", feature + first)?;
        }
        writeln!(out)?;
    }
    Ok(())
}
