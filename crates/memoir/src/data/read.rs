//! The three ways to read: to train, to evaluate a model, and row by row to predict.

use super::assemble::Assembly;
use super::parsed::Parsed;
use super::reader::{Purpose, Reader};
use super::{ClassNames, Content, Dataset, Format, LabelSets, PrepOptions, ReadOptions, ReadReport, Source};
use crate::sparse::Rows;
use crate::text::{
    Analyzer, CountedBlock, Input, Preprocessing, RowNeeds, TextCounter, TextParams, TextPipeline,
    TextScratch, Vocabulary, Weighting,
};
use crate::{Error, Result, Session};

/// Training data: weighted rows, how they were made, and what reading came across.
#[derive(Debug)]
pub struct TrainingData {
    /// The rows, weighted, with the constant feature if it was asked for.
    pub data: Dataset,
    /// How later rows are made alike.
    pub preprocessing: Preprocessing,
    /// What reading came across.
    pub report: ReadReport,
}

/// Some rows in the order of the input, ready for a model.
#[derive(Debug, Default)]
pub struct Block {
    /// The rows, weighted as the model wants them.
    pub rows: Rows,
    /// The labels that came with them, numbered as in `classes`; rows without labels have empty sets.
    pub labels: LabelSets,
    /// Names of the classes that occur in this block.
    pub classes: ClassNames,
    /// 1-based number of the line where each row begins.
    pub lines: Vec<u64>,
    /// The same of each row that was bad and left out.
    pub skipped: Vec<u64>,
}

/// What a model that is to learn more knows already.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// How it makes rows.
    pub preprocessing: &'a Preprocessing,
    /// Its classes, whose numbers stay.
    pub classes: &'a ClassNames,
    /// Number of rows it was trained on.
    pub rows: u64,
    /// What its algorithm wants of rows.
    pub needs: RowNeeds,
}

/// Reads `source` to train on. Rows without a label are kept; the report says how many there are.
pub fn read_training(
    source: Source,
    options: &ReadOptions,
    prep: &PrepOptions,
    session: &Session<'_>,
) -> Result<TrainingData> {
    let raw = read_raw(source, options, &prep.text, prep.needs, None, session)?;
    let weighting = session.run(|| {
        let scheme = prep.weighting.scheme(&raw.data.rows);
        Weighting::fit(scheme, prep.needs, &raw.data.rows, &raw.data.labels)
    });
    let input = match raw.vocabulary {
        Some(vocabulary) => Input::Text(TextPipeline::new(prep.text.clone(), vocabulary)?),
        None => Input::Vectors {
            features: raw.data.rows.width(),
            first: raw.first,
        },
    };
    finish(
        raw.data,
        raw.report,
        &raw.name,
        Preprocessing { input, weighting },
        session,
    )
}

/// Reads `source` to go on training a model. Its classes and features keep their numbers; new ones come behind them. What
/// turns raw input into rows takes the new rows into account.
pub fn read_further(
    source: Source,
    options: &ReadOptions,
    known: &Known<'_>,
    session: &Session<'_>,
) -> Result<TrainingData> {
    let defaults = TextParams::default();
    let text = known.preprocessing.text().map_or(&defaults, |text| &text.params);
    let raw = read_raw(source, options, text, known.needs, Some(known), session)?;
    let (rows, labels) = (&raw.data.rows, &raw.data.labels);
    let grown = || (known.preprocessing).grown(known.needs, known.rows, rows, labels, raw.vocabulary);
    let preprocessing = session.run(grown)?;
    finish(raw.data, raw.report, &raw.name, preprocessing, session)
}

/// Training data as it is read, before weighting.
struct RawData {
    data: Dataset,
    /// The features' names, if the data is text.
    vocabulary: Option<Vocabulary>,
    /// The number that vectors give to the first feature.
    first: u32,
    report: ReadReport,
    name: String,
}

fn read_raw(
    source: Source,
    options: &ReadOptions,
    text: &TextParams,
    needs: RowNeeds,
    known: Option<&Known<'_>>,
    session: &Session<'_>,
) -> Result<RawData> {
    let mut reader = Reader::open(source, options, Purpose::Labelled, session)?;
    if let Some(known) = known {
        check_content(&reader, known.preprocessing)?;
    }
    let classes = known.map_or_else(ClassNames::new, |known| known.classes.clone());
    let mut assembly = Assembly::new(classes, usize::from(needs.constant));
    let (vocabulary, width) = match reader.content() {
        Content::Vectors => {
            reader.run(
                |_| (),
                |parsed, (), position| {
                    assembly.add(parsed, position);
                    Ok(())
                },
            )?;
            if assembly.width() == 0 {
                return Err(Error::input(
                    reader.name(),
                    "no row has a feature; expected rows such as `label 3:1 17:0.5`",
                ));
            }
            let features = reader.promised_features().unwrap_or(assembly.width());
            let before = known.map_or(0, |known| known.preprocessing.input_features());
            (None, features.max(before))
        }
        Content::Text => {
            let analyzer = Analyzer::new(text)?;
            let mut counter = match known.and_then(|known| known.preprocessing.text()) {
                Some(before) => TextCounter::continuing(&before.vocabulary)?,
                None => TextCounter::new(),
            };
            reader.run(
                |parsed| CountedBlock::count(&analyzer, parsed.texts.iter()),
                |parsed, counted, position| {
                    assembly.add(parsed, position);
                    counter.merge(counted)
                },
            )?;
            let (vocabulary, rows) = counter.finish(text)?;
            assembly.set_rows(rows);
            let width = vocabulary.len();
            (Some(vocabulary), width)
        }
    };
    let mut report = reader.take_report();
    report.unlabelled_rows = assembly.unlabelled_rows();
    if report.unlabelled_rows == report.rows {
        return Err(Error::input(
            reader.name(),
            "no row has a label; expected some to learn from",
        ));
    }
    Ok(RawData {
        data: assembly.finish(width),
        vocabulary,
        first: reader.first_index(),
        report,
        name: reader.name().to_owned(),
    })
}

/// Weighs the rows.
fn finish(
    mut data: Dataset,
    report: ReadReport,
    name: &str,
    preprocessing: Preprocessing,
    session: &Session<'_>,
) -> Result<TrainingData> {
    preprocessing.apply_all(&mut data.rows, session)?;
    report.tell(name, session);
    report.tell_unlabelled(name, session);
    Ok(TrainingData {
        data,
        preprocessing,
        report,
    })
}

/// Reads `source` to evaluate a model that was trained with `preprocessing` on `classes`.
///
/// Features that the model does not know are dropped. Classes that it does not know are kept, with numbers beyond
/// the model's, so that an evaluation counts them as errors; the report says how many there are.
pub fn read_with(
    source: Source,
    options: &ReadOptions,
    preprocessing: &Preprocessing,
    classes: &ClassNames,
    session: &Session<'_>,
) -> Result<(Dataset, ReadReport)> {
    let mut reader = Reader::open(source, options, Purpose::Labelled, session)?;
    check_content(&reader, preprocessing)?;
    let mut assembly = Assembly::new(classes.clone(), 0);
    reader.run(
        |parsed| prepare(parsed, preprocessing),
        |parsed, prepared, position| {
            prepared?;
            assembly.add(parsed, position);
            Ok(())
        },
    )?;
    let mut report = reader.take_report();
    report.unlabelled_rows = assembly.unlabelled_rows();
    report.rows_with_unknown_classes = assembly.rows_with_classes_from(classes.len() as u32);
    let data = assembly.finish(preprocessing.features());
    report.unknown_classes = (data.classes.len() - classes.len()) as u64;
    report.tell(reader.name(), session);
    report.tell_unlabelled(reader.name(), session);
    Ok((data, report))
}

/// Reads `source` block by block in constant memory, each block ready for a model trained with `preprocessing`.
///
/// Where input comes in slowly, what is there is handed on at once. Where neither options nor name tell the format
/// (standard input, `.txt`), a text model gets raw lines ([`Format::Lines`]) and a vector model libsvm, unless the
/// first line shows another format.
pub fn stream_with(
    source: Source,
    options: &ReadOptions,
    preprocessing: &Preprocessing,
    session: &Session<'_>,
    take: impl FnMut(Block) -> Result<()>,
) -> Result<ReadReport> {
    let purpose = Purpose::Prediction(fallback(preprocessing));
    stream(source, options, preprocessing, purpose, session, take)
}

/// As [`stream_with`], for rows that must have labels: a table without a column of them is an error that says so.
pub fn stream_labelled(
    source: Source,
    options: &ReadOptions,
    preprocessing: &Preprocessing,
    session: &Session<'_>,
    take: impl FnMut(Block) -> Result<()>,
) -> Result<ReadReport> {
    let purpose = Purpose::Measurement(fallback(preprocessing));
    stream(source, options, preprocessing, purpose, session, take)
}

fn stream(
    source: Source,
    options: &ReadOptions,
    preprocessing: &Preprocessing,
    purpose: Purpose,
    session: &Session<'_>,
    mut take: impl FnMut(Block) -> Result<()>,
) -> Result<ReadReport> {
    let mut reader = Reader::open(source, options, purpose, session)?;
    check_content(&reader, preprocessing)?;
    let mut unlabelled = 0;
    reader.run(
        |parsed| prepare(parsed, preprocessing),
        |parsed, prepared, position| {
            prepared?;
            unlabelled += parsed.labels.iter().filter(|labels| labels.is_empty()).count() as u64;
            let numbers = |lines: &[u32]| {
                let lines = lines.iter();
                lines.map(|&line| position.lines + u64::from(line) + 1).collect()
            };
            let (lines, skipped) = (numbers(&parsed.row_lines), numbers(&parsed.bad_lines));
            take(Block {
                rows: std::mem::take(&mut parsed.rows),
                labels: std::mem::take(&mut parsed.labels),
                classes: std::mem::take(&mut parsed.names),
                lines,
                skipped,
            })
        },
    )?;
    let mut report = reader.take_report();
    report.unlabelled_rows = unlabelled;
    report.tell(reader.name(), session);
    Ok(report)
}

/// What a model trained with `preprocessing` wants its rows to hold.
fn wanted(preprocessing: &Preprocessing) -> Content {
    match preprocessing.input {
        Input::Vectors { .. } => Content::Vectors,
        Input::Text(_) => Content::Text,
    }
}

/// What rows for such a model are in where nothing tells their format.
fn fallback(preprocessing: &Preprocessing) -> Format {
    match wanted(preprocessing) {
        Content::Vectors => Format::Libsvm,
        Content::Text => Format::Lines,
    }
}

/// Fails if the rows are not what the model wants.
fn check_content(reader: &Reader<'_, '_>, preprocessing: &Preprocessing) -> Result<()> {
    let wanted = wanted(preprocessing);
    if reader.content() == wanted {
        return Ok(());
    }
    Err(Error::Mismatch(format!(
        "the model was trained on {wanted}, but {} holds {}; give it one of the formats {}",
        reader.name(),
        reader.content(),
        wanted.formats()
    )))
}

/// Makes the rows of a block what the model wants.
fn prepare(parsed: &mut Parsed, preprocessing: &Preprocessing) -> Result<()> {
    if let Input::Text(_) = preprocessing.input {
        let mut scratch = TextScratch::default();
        for text in parsed.texts.iter() {
            preprocessing.text_row(text, &mut scratch, &mut parsed.rows)?;
        }
    } else {
        parsed.rows.truncate_columns(preprocessing.input_features());
        for index in 0..parsed.rows.len() {
            let (indices, values) = parsed.rows.row_mut(index);
            preprocessing.weighting.apply(indices, values);
        }
        if preprocessing.weighting.constant {
            parsed.rows.extend_all(preprocessing.input_features() as u32, 1.0);
        }
    }
    parsed.rows.set_width(preprocessing.features());
    Ok(())
}
