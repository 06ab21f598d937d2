//! `memoir demo`: the whole journey on made-up data, with files to play with afterwards.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use memoir::data::{ReadOptions, Source};
use memoir::model::write_beside;
use memoir::prepare::{Examples, VocabularyRequest};
use memoir::text::TextScratch;
use memoir::train::FitOptions;
use memoir::{Catalogue, Error, Model, Rows, Session, eval, train};
use memoir_report::sizes::{show_count, show_counted, show_size, show_time};
use memoir_skos::VocabularySource;

use crate::arguments::Running;
use crate::demo_corpus::{CLASSES, Product, class_name, generate, vocabulary};
use crate::peak_memory::peak_memory;
use crate::progress::Progress;
use crate::{Context, interrupt};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder for the data and the model
    #[arg(long, value_name = "DIR", default_value = "memoir-demo")]
    out: PathBuf,
    /// Number of texts
    #[arg(long, value_name = "N", default_value_t = 80_000, value_parser = clap::value_parser!(u64).range(5_000..=10_000_000))]
    rows: u64,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    running: Running,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let progress = Progress::new(arguments.running.quiet);
    let session = arguments
        .running
        .session(context, &progress)?
        .with_seed(arguments.seed);
    let mut out = io::stdout();
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).map_err(|reason| Error::io(folder, "cannot create", reason))?;
    let [train_path, test_path, classes_path, model_path] =
        ["train.csv", "test.csv", "classes.csv", "model.memoir"].map(|name| folder.join(name));

    let mut products = generate(arguments.rows as usize, &session);
    // The first rows show every class once; held-out rows are taken from the end.
    let test = products.split_off(products.len() - products.len() / 10);
    write_products(&train_path, &products)?;
    write_products(&test_path, &test)?;
    write_table(&classes_path, vocabulary())?;
    writeln!(
        out,
        "A made-up shop: {} in {} classes of power-law size, and {} held out.\n",
        show_counted(products.len() as u64, "product text"),
        show_count(CLASSES as u64),
        show_count(test.len() as u64)
    )?;
    drop(products);

    let start = Instant::now();
    let model = learn(&train_path, &classes_path, context, &session)?;
    interrupt::while_writing(|| model.save_in(&model_path, &session))?;
    let train_time = start.elapsed();
    let size = model.summary()?.file_bytes;
    let start = Instant::now();
    let report = eval::evaluate(&model, Source::new(&test_path), &ReadOptions::default(), &session)?;
    let predict_time = start.elapsed();
    progress.clear();

    let mut line = |name: &str, value: String| writeln!(out, "  {name:<14}{value}");
    line("algorithm", model.origin().algorithm.clone())?;
    line(
        "train time",
        format!("{} (reading included)", show_time(train_time)),
    )?;
    let speed = report.rows as f64 / predict_time.as_secs_f64().max(1e-9);
    line(
        "predict time",
        format!(
            "{} ({} rows a second, reading included)",
            show_time(predict_time),
            show_count(speed as u64)
        ),
    )?;
    line("accuracy", format!("{:.1}%", 100.0 * report.accuracy))?;
    line("macro-F1", format!("{:.1}%", 100.0 * report.macro_f1))?;
    if let Some(places) = report.hierarchy.as_ref().and_then(|told| told.levels.first()) {
        line("right place", format!("{:.1}%", 100.0 * places.accuracy))?;
    }
    if let Some(bytes) = peak_memory() {
        line("peak memory", show_size(bytes))?;
    }
    line("model size", show_size(size))?;

    writeln!(
        out,
        "\nThree held-out texts, their answers, and the words that decided:\n"
    )?;
    // Longer texts have more words to show.
    for product in test
        .iter()
        .filter(|product| product.text.split(' ').count() > 3)
        .take(3)
    {
        writeln!(out, "{}", answer(&model, product)?)?;
    }
    writeln!(out, "{}", next_steps(&model_path, &test_path, &test))?;
    Ok(())
}

fn learn(path: &Path, classes: &Path, context: &Context, session: &Session<'_>) -> anyhow::Result<Model> {
    let algorithm = context.catalogue.find(Catalogue::DEFAULT_ALGORITHM)?;
    let method = algorithm.configure([])?;
    let examples = Examples::Read {
        source: Source::new(path),
        options: &ReadOptions::default(),
    };
    let vocabulary = VocabularySource {
        file: Some(classes.to_owned()),
        ..VocabularySource::default()
    };
    let options = FitOptions {
        vocabulary: vocabulary.read()?.map(VocabularyRequest::from),
        ..FitOptions::default()
    };
    Ok(train::fit(&method, examples, options, session)?)
}

fn write_products(path: &Path, products: &[Product]) -> anyhow::Result<()> {
    let records = products
        .iter()
        .map(|product| [class_name(product.class), product.text.clone()]);
    write_table(
        path,
        std::iter::once(["label", "text"].map(str::to_owned)).chain(records),
    )
}

fn write_table<const COLUMNS: usize>(
    path: &Path,
    records: impl Iterator<Item = [String; COLUMNS]>,
) -> anyhow::Result<()> {
    let failed = |reason| Error::io(path, "cannot write", reason);
    interrupt::while_writing(|| {
        write_beside(path, |out| {
            let mut table = csv::Writer::from_writer(out);
            for record in records {
                table
                    .write_record(&record)
                    .map_err(|reason| failed(reason.into()))?;
            }
            table.flush().map_err(failed)
        })
    })?;
    Ok(())
}

/// One text with its answer and the words that speak for it.
fn answer(model: &Model, product: &Product) -> anyhow::Result<String> {
    let mut rows = Rows::new();
    model
        .preprocessing()
        .text_row(&product.text, &mut TextScratch::default(), &mut rows)?;
    let explanation = model.explain_row(rows.row(0))?;
    let truth = class_name(product.class);
    let verdict = if explanation.answer.name == truth {
        "right".to_owned()
    } else {
        format!("wrong, it is {truth}")
    };
    let mut features = explanation.features;
    features.sort_by(|a, b| b.for_answer.total_cmp(&a.for_answer));
    let words: Vec<_> = features
        .iter()
        .filter(|feature| feature.for_answer > 0.0)
        .take(3)
        .map(|feature| format!("{} {:+.2}", feature.name, feature.for_answer))
        .collect();
    Ok(format!(
        "  \"{}\"\n    {} ({verdict}), because of {}\n",
        product.text,
        explanation.answer.name,
        words.join(", ")
    ))
}

fn next_steps(model: &Path, test: &Path, products: &[Product]) -> String {
    // As the user started it: `make demo` does not install the program.
    let program = std::env::args().next().unwrap_or_else(|| "memoir".to_owned());
    let (model, test) = (model.display(), test.display());
    let text = products.first().map_or("", |product| &product.text);
    let serve = if cfg!(feature = "serve") {
        format!("  {program} serve {model} --held-out {test}      (then open http://127.0.0.1:8080)\n")
    } else {
        String::new()
    };
    format!(
        "Try next:\n\
         \x20 {program} evaluate {model} {test}\n\
         \x20 {program} explain {model} --text \"{text}\"\n\
         \x20 {program} explain {model} --class \"garden lamp\"\n\
         \x20 echo \"{text}\" | {program} predict {model} - --top-k 3 --scores\n\
         \x20 echo \"{text}\" | {program} predict {model} - --back-off 0.9 --scores\n\
         \x20 {program} classes {model} search lam\n\
         \x20 {program} inspect {model}\n\
         {serve}\
         \x20 {program} train YOUR.csv --model YOUR.memoir      (columns `label` and `text`)"
    )
}
