//! Rows for a model that is there: all at once to evaluate it, or block by block.

use std::sync::Arc;

use super::assemble::Assembly;
use crate::data::{Content, Format, Kept, Parsed, Purpose, ReadOptions, ReadReport, Reader, Source};
use crate::dataset::{ClassNames, Dataset, LabelSets};
use crate::model::{OpenedFile, Overrides};
use crate::sparse::Rows;
use crate::text::{Input, Preprocessing, TextScratch};
use crate::{Error, Result, Session};

/// Some rows in the order of the input, ready for a model.
#[derive(Debug, Default)]
pub struct Block {
    /// The rows, weighted as the model wants them.
    pub rows: Rows,
    /// The labels that came with them, numbered as in `classes`; rows without labels have empty sets.
    pub labels: LabelSets,
    /// Names of the classes that occur in this block.
    pub classes: ClassNames,
    /// The columns of the input that were asked for.
    pub kept: Kept,
    /// 1-based number of the line where each row begins.
    pub lines: Vec<u64>,
    /// The same of each row that was bad and left out.
    pub skipped: Vec<u64>,
    /// The texts, if they were asked for.
    pub texts: Vec<String>,
    /// The class that each text always gets; empty if that was not asked for.
    overrides: Vec<Option<u32>>,
}

/// What blocks hold beside rows, if asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extras<'e> {
    /// Which texts always get a class is looked up here.
    pub overrides: Option<&'e Overrides>,
    /// Whether texts are kept.
    pub texts: bool,
    /// The mapped file of the model: before each block it is looked whether it was changed in place.
    pub(crate) file: Option<&'e OpenedFile>,
}

impl Extras<'_> {
    /// The same with the texts.
    pub fn with_texts(mut self) -> Self {
        self.texts = true;
        self
    }
}

impl Block {
    /// The class that a row's text always gets.
    pub fn override_of(&self, row: usize) -> Option<u32> {
        self.overrides.get(row).copied().flatten()
    }
}

/// Reads `source` to evaluate a model that was trained with `preprocessing` on `classes`.
///
/// Features that the model does not know are dropped. Classes that it does not know are kept, with numbers
/// beyond the model's, so that an evaluation counts them as errors; the report says how many there are.
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
    let mut unknown = 0;
    reader.run(
        |parsed| prepare(parsed, preprocessing),
        |parsed, prepared, position| {
            prepared?;
            unknown += unknown_rows(&parsed.rows, preprocessing);
            assembly.add(parsed, position);
            Ok(())
        },
    )?;
    let mut report = reader.take_report();
    (report.unknown_rows, report.content) = (unknown, Some(reader.content()));
    report.unlabelled_rows = assembly.unlabelled_rows();
    report.rows_with_unknown_classes = assembly.rows_with_classes_from(classes.len() as u32);
    let data = assembly.finish(preprocessing.features());
    report.unknown_classes = (data.classes.len() - classes.len()) as u64;
    report.tell(reader.name(), session);
    report.tell_unlabelled(reader.name(), session);
    Ok((data, report))
}

/// Reads `source` block by block in constant memory, each block ready for a model trained with
/// `preprocessing`.
///
/// Where input comes in slowly, what is there is handed on at once. Where neither options nor name tell the
/// format (standard input, `.txt`), a text model gets raw lines ([`Format::Lines`]) and a vector model
/// libsvm, unless the first line shows another format.
pub fn stream_with(
    source: Source,
    options: &ReadOptions,
    preprocessing: &Preprocessing,
    session: &Session<'_>,
    take: impl FnMut(Block) -> Result<()>,
) -> Result<ReadReport> {
    stream_with_extras(source, options, preprocessing, Extras::default(), session, take)
}

/// As [`stream_with`]; blocks hold more than rows.
pub fn stream_with_extras(
    source: Source,
    options: &ReadOptions,
    preprocessing: &Preprocessing,
    extras: Extras<'_>,
    session: &Session<'_>,
    take: impl FnMut(Block) -> Result<()>,
) -> Result<ReadReport> {
    let purpose = Purpose::Prediction(fallback(preprocessing));
    let wanted = Wanted {
        preprocessing,
        extras,
        purpose,
    };
    stream(source, options, wanted, session, take)
}

/// As [`stream_with`], for rows that must have labels: a table without a column of them is an error that
/// says so.
pub fn stream_labelled(
    source: Source,
    options: &ReadOptions,
    preprocessing: &Preprocessing,
    extras: Extras<'_>,
    session: &Session<'_>,
    take: impl FnMut(Block) -> Result<()>,
) -> Result<ReadReport> {
    let wanted = Wanted {
        preprocessing,
        extras,
        purpose: Purpose::Measurement(fallback(preprocessing)),
    };
    stream(source, options, wanted, session, take)
}

/// What becomes of rows.
#[derive(Clone, Copy)]
struct Wanted<'w> {
    preprocessing: &'w Preprocessing,
    extras: Extras<'w>,
    purpose: Purpose,
}

fn stream(
    source: Source,
    options: &ReadOptions,
    wanted: Wanted<'_>,
    session: &Session<'_>,
    mut take: impl FnMut(Block) -> Result<()>,
) -> Result<ReadReport> {
    let Wanted {
        preprocessing,
        extras,
        purpose,
    } = wanted;
    let mut reader = Reader::open(source, options, purpose, session)?;
    check_content(&reader, preprocessing)?;
    let (mut unlabelled, mut unknown) = (0, 0);
    let (columns, json) = reader.kept_columns();
    let columns: Arc<[String]> = columns.into();
    reader.run(
        |parsed| {
            extras.file.map_or(Ok(()), OpenedFile::check)?;
            let texts = parsed.texts.iter();
            let overrides = match extras.overrides {
                Some(overrides) => texts.clone().map(|text| overrides.find(text)).collect(),
                None => Vec::new(),
            };
            let texts: Vec<String> = texts.filter(|_| extras.texts).map(str::to_owned).collect();
            prepare(parsed, preprocessing).map(|()| (texts, overrides))
        },
        |parsed, prepared, position| {
            let (texts, overrides) = prepared?;
            unknown += unknown_rows(&parsed.rows, preprocessing);
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
                kept: Kept {
                    columns: Arc::clone(&columns),
                    json,
                    cells: std::mem::take(&mut parsed.kept),
                },
                lines,
                skipped,
                texts,
                overrides,
            })
        },
    )?;
    let mut report = reader.take_report();
    report.unlabelled_rows = unlabelled;
    (report.unknown_rows, report.content) = (unknown, Some(reader.content()));
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
pub(super) fn check_content(reader: &Reader<'_, '_>, preprocessing: &Preprocessing) -> Result<()> {
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

/// Number of rows in which the model knows nothing.
fn unknown_rows(rows: &Rows, preprocessing: &Preprocessing) -> u64 {
    // The constant feature is in every row and says nothing.
    let constant = usize::from(preprocessing.weighting.constant);
    rows.iter().filter(|row| row.len() <= constant).count() as u64
}

/// Makes the rows of a block what the model wants.
fn prepare(parsed: &mut Parsed, preprocessing: &Preprocessing) -> Result<()> {
    if let Input::Text(_) = preprocessing.input {
        let mut scratch = TextScratch::default();
        for text in parsed.texts.iter() {
            preprocessing.text_row(text, &mut scratch, &mut parsed.rows)?;
        }
        parsed.rows.set_width(preprocessing.features());
    } else {
        weigh(parsed, preprocessing);
    }
    Ok(())
}

/// Weighs the vectors of a block.
pub(super) fn weigh(parsed: &mut Parsed, preprocessing: &Preprocessing) {
    parsed.rows.truncate_columns(preprocessing.input_features());
    for index in 0..parsed.rows.len() {
        let (indices, values) = parsed.rows.row_mut(index);
        preprocessing.weighting.apply(indices, values);
    }
    if preprocessing.weighting.constant {
        parsed.rows.extend_all(preprocessing.input_features() as u32, 1.0);
    }
    parsed.rows.set_width(preprocessing.features());
}
