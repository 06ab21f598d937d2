//! Examples as they come, before weighting: from a file or from memory, with the same result.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::assemble::Assembly;
use super::for_model::check_content;
use super::text_choice::text_features;
use super::{BaseRows, Described, Examples, PrepOptions, VocabularyRequest};
use crate::data::{Content, Purpose, ReadOptions, ReadReport, Reader, Source};
use crate::dataset::{ClassNames, Dataset, LabelSets};
use crate::per_thread::PerThread;
use crate::shards::{Turns, is_own_block};
use crate::text::{Analyzer, CountedBlock, KnownWords, TextCounter, TextFeatures, TextParams};
use crate::{Error, Result, Session};

/// Texts that are counted as one: small enough that a run stops soon when asked to.
pub(super) const TEXTS_PER_BLOCK: usize = 1024;

/// So many rows, each with another label, are hardly labelled.
const DOUBTED_ROWS: usize = 20;

/// Rows with the values that came, and their labels.
pub(super) struct RawData {
    pub(super) data: Dataset,
    /// The features, if the examples are texts; their rows are in `data`.
    pub(super) features: Option<TextFeatures>,
    /// The number that vectors give to the first feature.
    pub(super) first: u32,
    pub(super) report: ReadReport,
    /// What a vocabulary says of the classes. Its texts are the last rows of `data`.
    pub(super) described: Option<Described>,
    /// What messages call a file.
    pub(super) name: Option<String>,
}

/// Collects `examples`. Classes and features of `base`, if there is one, keep their numbers. Texts about
/// classes are not learned from when training continues from a model.
pub(super) fn collect(
    examples: Examples<'_>,
    prep: &PrepOptions,
    base: Option<&BaseRows<'_>>,
    request: Option<VocabularyRequest>,
    session: &Session<'_>,
) -> Result<RawData> {
    let text = base
        .and_then(|base| base.preprocessing.text())
        .map_or(&prep.text, |text| &text.params);
    let mut described;
    let (mut data, features, first) = match examples {
        Examples::Read { source, options } => {
            return read(source, options, text, prep, base, request, session);
        }
        Examples::Texts { texts, mut about } => {
            let mut counter = count(texts, text, counter(base)?, session)?;
            described = match request {
                Some(request) => Some(Described::new(request, &mut about.classes)?),
                None => None,
            };
            if let Some(described) = described.as_mut().filter(|_| base.is_none()) {
                described.count(&Analyzer::new(text)?, &mut counter)?;
                described.label(&mut about);
            }
            let mut features =
                text_features(counter, text, &about.labels, described.as_ref(), prep, session)?;
            about.rows = std::mem::take(&mut features.rows);
            (about, Some(features), 0)
        }
        Examples::Vectors { mut data, first } => {
            described = match request {
                Some(request) => Some(Described::new(request, &mut data.classes)?),
                None => None,
            };
            (data, None, first)
        }
    };
    check_lengths(&data)?;
    if let Some(base) = base {
        let mut classes = base.classes.clone();
        let numbers: Vec<u32> = data.classes.iter().map(|name| classes.intern(name)).collect();
        data.labels = data.labels.renumbered(&numbers);
        data.classes = classes;
        if features.is_none() {
            let width = data.rows.width().max(base.preprocessing.input_features());
            data.rows.set_width(width);
        }
    }
    Ok(RawData {
        data,
        features,
        first,
        report: ReadReport::default(),
        described,
        name: None,
    })
}

fn read(
    source: Source,
    options: &ReadOptions,
    text: &TextParams,
    prep: &PrepOptions,
    base: Option<&BaseRows<'_>>,
    request: Option<VocabularyRequest>,
    session: &Session<'_>,
) -> Result<RawData> {
    let mut reader = Reader::open(source, options, Purpose::Labelled, session)?;
    if let Some(base) = base {
        check_content(&reader, base.preprocessing)?;
    }
    let classes = base.map_or_else(ClassNames::new, |base| base.classes.clone());
    let mut assembly = Assembly::new(classes, usize::from(prep.needs.constant));
    let mut described = None;
    let (features, width) = match reader.content() {
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
            if let Some(request) = request {
                described = Some(Described::new(request, &mut assembly.data().classes)?);
            }
            let features = reader.promised_features().unwrap_or(assembly.width());
            let before = base.map_or(0, |base| base.preprocessing.input_features());
            (None, features.max(before))
        }
        Content::Text => {
            let analyzer = Analyzer::new(text)?;
            let mut counter = counter(base)?;
            let counted_before = analyzer.cuts_all_words().then(|| reader.words()).flatten();
            if let Some(words) = counted_before {
                counter.know(words)?;
            }
            let is_counted = counted_before.is_some();
            let known = PerThread::new(session, KnownWords::default);
            let mut turns = Turns::new(1, session);
            reader.run(
                |parsed| match &parsed.words {
                    Some(_) if is_counted => None,
                    _ if !is_own_block(parsed.number, session) => None,
                    _ => {
                        let known = &mut known.of_this_thread();
                        Some(CountedBlock::count_with(known, &analyzer, parsed.texts.iter()))
                    }
                },
                |parsed, counted, position| {
                    assembly.add(parsed, position);
                    match &parsed.words {
                        Some(stored) if is_counted => {
                            counter.extend(&stored.ends, &stored.words);
                            Ok(())
                        }
                        _ => turns.add(counted, |counted| counter.merge(counted)),
                    }
                },
            )?;
            turns.finish(|counted| counter.merge(counted))?;
            drop(known);
            if let Some(request) = request {
                let mut made = Described::new(request, &mut assembly.data().classes)?;
                if base.is_none() {
                    made.count(&analyzer, &mut counter)?;
                    made.label(assembly.data());
                }
                described = Some(made);
            }
            let mut features = text_features(
                counter,
                text,
                assembly.labels(),
                described.as_ref(),
                prep,
                session,
            )?;
            assembly.set_rows(std::mem::take(&mut features.rows));
            let width = features.vocabulary.len();
            (Some(features), width)
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
    if base.is_none() {
        let guessed = reader.guessed_label().map(str::to_owned);
        check_labels(
            reader.name(),
            guessed.as_deref(),
            options,
            assembly.data(),
            session,
        )?;
    }
    Ok(RawData {
        data: assembly.finish(width),
        features,
        first: reader.first_index(),
        report,
        described,
        name: Some(reader.name().to_owned()),
    })
}

/// Fails if labels cannot be meant, and tells what is doubtful about them. They were read from `name` with
/// `options`, from the column `guessed` if nobody named one.
pub(super) fn check_labels(
    name: &str,
    guessed: Option<&str>,
    options: &ReadOptions,
    data: &Dataset,
    session: &Session<'_>,
) -> Result<()> {
    check_label_column(name, guessed, &data.labels)?;
    let is_settled = options.single_label
        || options
            .to_remember()
            .is_some_and(|told| told.label_separator.is_some());
    if let Some(note) = joined_labels(&data.classes).filter(|_| !is_settled) {
        session.note(format!("{name}: {note}"));
    }
    if let Some(note) = pointed_labels(&data.classes) {
        session.note(format!("{name}: {note}"));
    }
    Ok(())
}

/// Fails if labels look like numbers of rows: nobody said that this column holds the labels, and no two rows
/// share one.
fn check_label_column(name: &str, guessed: Option<&str>, labels: &LabelSets) -> Result<()> {
    let Some(column) = guessed else {
        return Ok(());
    };
    // A column of that name is doubted only where there are rows enough for a repeat.
    let is_named = ["label", "labels"].contains(&column.to_lowercase().as_str());
    let fewest = if is_named { DOUBTED_ROWS } else { 2 };
    let classes = labels.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    if labels.len() < fewest || !labels.is_single() || classes < labels.len() {
        return Ok(());
    }
    Err(Error::input(
        name,
        format!(
            "every row has a label of its own in `{column}`, so there is nothing to learn; give the parameter \
             `label-column` with the column of the labels, or with `{column}` if that is meant"
        ),
    ))
}

/// What to say if most labels look like several in one, separated by another character than the usual: they
/// are made of fewer parts than there are labels.
fn joined_labels(classes: &ClassNames) -> Option<String> {
    let joined = classes.iter().filter(|name| name.contains(';')).count();
    if joined < DOUBTED_ROWS.max(classes.len() / 2) {
        return None;
    }
    let parts: FxHashSet<&str> = classes
        .iter()
        .flat_map(|name| name.split(';'))
        .map(str::trim)
        .collect();
    let example = classes.iter().find(|name| name.contains(';'))?;
    (parts.len() < classes.len()).then(|| {
        format!(
            "labels such as `{example}` are taken as one; if they are several, give the parameter `label-separator`"
        )
    })
}

/// What to say if all labels are whole numbers with a point behind them: some programs make that of codes
/// where a row has none.
fn pointed_labels(classes: &ClassNames) -> Option<String> {
    let is_pointed = |name: &str| {
        let digits = name.strip_suffix(".0").unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let example = classes.iter().next().filter(|_| classes.iter().all(is_pointed))?;
    Some(format!(
        "labels such as `{example}` look like codes that another program took for numbers; they are kept as \
         they are, so other data must write them alike"
    ))
}

/// A counter of words that goes on from the words of `base`.
fn counter(base: Option<&BaseRows<'_>>) -> Result<TextCounter> {
    match base {
        None => Ok(TextCounter::new()),
        Some(base) => match base.preprocessing.text() {
            Some(_) => TextCounter::continuing(base.preprocessing),
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
) -> Result<TextCounter> {
    let analyzer = Analyzer::new(params)?;
    // As many blocks at a time as there are threads, so that counts do not pile up before they are merged.
    let at_once = TEXTS_PER_BLOCK * session.threads();
    let known = PerThread::new(session, || KnownWords::stopped_by(session.cancel()));
    for (turn, group) in texts.chunks(at_once).enumerate() {
        session.check()?;
        let counted: Vec<CountedBlock> = session.run(|| {
            let blocks = group.par_chunks(TEXTS_PER_BLOCK);
            blocks
                .map(|block| CountedBlock::count_with(&mut known.of_this_thread(), &analyzer, block))
                .collect()
        });
        session.check()?;
        for block in counted {
            counter.merge(block)?;
        }
        let done = turn * at_once + group.len();
        session.progress("counting words", done as u64, texts.len() as u64, "rows");
    }
    Ok(counter)
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
