//! Examples as they come, before weighting: from a file or from memory, with the same result.

use rayon::prelude::*;

use super::assemble::Assembly;
use super::for_model::check_content;
use super::{BaseRows, Examples, PrepOptions};
use crate::data::{Content, Purpose, ReadOptions, ReadReport, Reader, Source};
use crate::dataset::{ClassNames, Dataset};
use crate::sparse::Rows;
use crate::text::{Analyzer, CountedBlock, TextCounter, TextParams, Vocabulary};
use crate::{Error, Result, Session};

/// Texts that are counted as one: small enough that a run stops soon when asked to.
pub(super) const TEXTS_PER_BLOCK: usize = 1024;

/// Rows with the values that came, and their labels.
pub(super) struct RawData {
    pub(super) data: Dataset,
    /// The features' names, if the examples are texts.
    pub(super) vocabulary: Option<Vocabulary>,
    /// The number that vectors give to the first feature.
    pub(super) first: u32,
    pub(super) report: ReadReport,
    /// What messages call a file.
    pub(super) name: Option<String>,
}

/// Collects `examples`. Classes and features of `base`, if there is one, keep their numbers.
pub(super) fn collect(
    examples: Examples<'_>,
    prep: &PrepOptions,
    base: Option<&BaseRows<'_>>,
    session: &Session<'_>,
) -> Result<RawData> {
    let text = base
        .and_then(|base| base.preprocessing.text())
        .map_or(&prep.text, |text| &text.params);
    let (mut data, vocabulary, first) = match examples {
        Examples::Read { source, options } => {
            let spare = usize::from(prep.needs.constant);
            return read(source, options, text, spare, base, session);
        }
        Examples::Texts { texts, mut about } => {
            let (vocabulary, rows) = count(texts, text, counter(base)?, session)?;
            about.rows = rows;
            (about, Some(vocabulary), 0)
        }
        Examples::Vectors { data, first } => (data, None, first),
    };
    check_lengths(&data)?;
    if let Some(base) = base {
        let mut classes = base.classes.clone();
        let numbers: Vec<u32> = data.classes.iter().map(|name| classes.intern(name)).collect();
        data.labels = data.labels.renumbered(&numbers);
        data.classes = classes;
        if vocabulary.is_none() {
            let width = data.rows.width().max(base.preprocessing.input_features());
            data.rows.set_width(width);
        }
    }
    Ok(RawData {
        data,
        vocabulary,
        first,
        report: ReadReport::default(),
        name: None,
    })
}

fn read(
    source: Source,
    options: &ReadOptions,
    text: &TextParams,
    spare_per_row: usize,
    base: Option<&BaseRows<'_>>,
    session: &Session<'_>,
) -> Result<RawData> {
    let mut reader = Reader::open(source, options, Purpose::Labelled, session)?;
    if let Some(base) = base {
        check_content(&reader, base.preprocessing)?;
    }
    let classes = base.map_or_else(ClassNames::new, |base| base.classes.clone());
    let mut assembly = Assembly::new(classes, spare_per_row);
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
            let before = base.map_or(0, |base| base.preprocessing.input_features());
            (None, features.max(before))
        }
        Content::Text => {
            let analyzer = Analyzer::new(text)?;
            let mut counter = counter(base)?;
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
        name: Some(reader.name().to_owned()),
    })
}

/// A counter of words that goes on from the words of `base`.
fn counter(base: Option<&BaseRows<'_>>) -> Result<TextCounter> {
    match base {
        None => Ok(TextCounter::new()),
        Some(base) => match base.preprocessing.text() {
            Some(text) => TextCounter::continuing(&text.vocabulary),
            None => Err(Error::Mismatch(
                "the model was trained on vectors, so it cannot be continued with text".to_owned(),
            )),
        },
    }
}

/// Counts the words of `texts`.
fn count(
    texts: &[&str],
    params: &TextParams,
    mut counter: TextCounter,
    session: &Session<'_>,
) -> Result<(Vocabulary, Rows)> {
    let analyzer = Analyzer::new(params)?;
    // As many blocks at a time as there are threads, so that counts do not pile up before they are merged.
    let at_once = TEXTS_PER_BLOCK * session.threads();
    for (turn, group) in texts.chunks(at_once).enumerate() {
        session.check()?;
        let counted: Vec<CountedBlock> = session.run(|| {
            let blocks = group.par_chunks(TEXTS_PER_BLOCK);
            blocks
                .map(|block| CountedBlock::count(&analyzer, block))
                .collect()
        });
        for block in counted {
            counter.merge(block)?;
        }
        let done = turn * at_once + group.len();
        session.progress("counting words", done as u64, texts.len() as u64, "rows");
    }
    counter.finish(params)
}

/// Fails if there are not as many labels as rows.
pub(super) fn check_lengths(data: &Dataset) -> Result<()> {
    if data.labels.len() == data.rows.len() {
        return Ok(());
    }
    Err(Error::Mismatch(format!(
        "there are {} rows and labels for {} of them",
        data.rows.len(),
        data.labels.len()
    )))
}
