//! Files or memory become rows that an algorithm can learn from, or that a model can answer.
//!
//! ```text
//! Examples ──► raw rows (data/, text/) ──► weighting ──► TrainingData
//! ```
//!
//! Where the examples come from makes no difference to what becomes of them.

mod assemble;
mod described;
mod example_set;
mod for_model;
mod on_disk;
mod options;
mod raw;
mod scratch;
#[cfg(test)]
mod tests;
mod text_choice;
mod texts_on_disk;
mod to_disk;
mod unprepared;

use rayon::prelude::*;

use crate::data::{ReadOptions, ReadReport, Source};
use crate::dataset::{ClassNames, Dataset};
use crate::sparse::Rows;
use crate::text::{Input, Preprocessing, TextFeatures, TextScratch, Weighting};
use crate::{Result, Session};

pub use described::{ClassTexts, Described, VocabularyRequest};
pub use example_set::{ExamplePart, ExampleSet};
pub use for_model::{Block, Extras, read_with, stream_labelled, stream_with, stream_with_extras};
pub use on_disk::DiskRows;
pub(crate) use on_disk::{DiskData, class_ranges, prepare_on_disk, too_large_for_memory};
pub use options::{PrepOptions, WeightingChoice};
use raw::{RawData, TEXTS_PER_BLOCK};
pub(crate) use scratch::ScratchFolder;
pub(crate) use text_choice::judge;
pub use to_disk::{DiskOptions, prepare_to_disk};
pub(crate) use unprepared::vector_hash;
pub use unprepared::{UnpreparedRows, stream_unprepared};

/// Labelled examples: where they come from, or what they are.
pub enum Examples<'a> {
    /// A file or stream.
    Read {
        /// Where it is.
        source: Source,
        /// How it is to be read.
        options: &'a ReadOptions,
    },
    /// Texts in memory.
    Texts {
        /// The texts.
        texts: &'a [&'a str],
        /// Their labels, classes and weights. It has no rows.
        about: Dataset,
    },
    /// Sparse vectors in memory.
    Vectors {
        /// The vectors with the caller's values, as wide as there are features; labels, classes and weights.
        data: Dataset,
        /// What the caller calls the first feature (0 or 1), for names and explanations.
        first: u32,
    },
}

/// Training data: weighted rows, how they were made, and what reading came across.
#[derive(Debug)]
pub struct TrainingData {
    /// The rows, weighted, with the constant feature if it was asked for.
    pub data: Dataset,
    /// How later rows are made alike.
    pub preprocessing: Preprocessing,
    /// What reading came across.
    pub report: ReadReport,
    /// What a vocabulary says of the classes, if one was given.
    pub described: Option<Described>,
    /// Memory that making rows of texts took at most, about, with the rows.
    pub bytes_before: u64,
}

/// What preparing rows must know of the model that training continues from.
#[derive(Debug, Clone, Copy)]
pub struct BaseRows<'a> {
    /// How the model makes rows.
    pub preprocessing: &'a Preprocessing,
    /// Its classes, whose numbers stay.
    pub classes: &'a ClassNames,
    /// Number of rows it was trained on.
    pub rows: u64,
}

/// Prepares `examples` for training. Rows without a label are kept; the report says how many there are.
///
/// With `base`, classes and features keep the numbers that they have there, new ones come behind them, and
/// what turns raw input into rows takes the new rows into account. Of `prep` only the needs count then.
pub fn prepare(
    examples: Examples<'_>,
    prep: &PrepOptions,
    base: Option<&BaseRows<'_>>,
    session: &Session<'_>,
) -> Result<TrainingData> {
    prepare_described(examples, prep, base, None, session)
}

/// As [`prepare`]. With a vocabulary, classes get names and relations, and texts about them become rows to
/// learn from.
pub fn prepare_described(
    examples: Examples<'_>,
    prep: &PrepOptions,
    base: Option<&BaseRows<'_>>,
    vocabulary_of_classes: Option<VocabularyRequest>,
    session: &Session<'_>,
) -> Result<TrainingData> {
    let RawData {
        mut data,
        mut features,
        first,
        report,
        mut described,
        name,
    } = raw::collect(examples, prep, base, vocabulary_of_classes, session)?;
    let bytes_before = match &features {
        Some(features) => features.bytes_taken + data.classes.bytes() + 4 * data.labels.total() as u64,
        None => 0,
    };
    let preprocessing = if let Some(base) = base {
        session.run(|| {
            let (rows, labels) = (&data.rows, &data.labels);
            base.preprocessing
                .grown(prep.needs, base.rows, rows, labels, features)
        })?
    } else {
        let layout = features
            .as_mut()
            .map(TextFeatures::take_layout)
            .unwrap_or_default();
        let input = match features {
            Some(features) => Input::Text(Box::new(features.pipeline()?)),
            None => Input::Vectors {
                features: data.rows.width(),
                first,
            },
        };
        let weighting = session.run(|| {
            let scheme = prep.weighting.scheme(&data.rows);
            Weighting::fit_blocks(scheme, prep.needs, &data.rows, &data.labels, layout)
        });
        Preprocessing { input, weighting }
    };
    preprocessing.apply_all(&mut data.rows, session)?;
    if let Some(described) = &mut described {
        described.take_from(&mut data);
    }
    if let Some(name) = name {
        report.tell(&name, session);
        report.tell_unlabelled(&name, session);
    }
    Ok(TrainingData {
        data,
        preprocessing,
        report,
        described,
        bytes_before,
    })
}

/// [`prepare`] for a file or stream, with no model to continue from.
pub fn read_training(
    source: Source,
    options: &ReadOptions,
    prep: &PrepOptions,
    session: &Session<'_>,
) -> Result<TrainingData> {
    prepare(Examples::Read { source, options }, prep, None, session)
}

/// Prepares `examples` for a model that was trained with `preprocessing` on `classes`, as [`read_with`] does
/// with files.
pub fn prepare_with(
    examples: Examples<'_>,
    preprocessing: &Preprocessing,
    classes: &ClassNames,
    session: &Session<'_>,
) -> Result<Dataset> {
    let mut data = match examples {
        Examples::Read { source, options } => {
            return Ok(read_with(source, options, preprocessing, classes, session)?.0);
        }
        Examples::Texts { texts, mut about } => {
            about.rows = preprocessing.text_rows(texts, session)?;
            about
        }
        Examples::Vectors { mut data, .. } => {
            data.rows = preprocessing.vector_rows(&data.rows, session)?;
            data
        }
    };
    raw::check_lengths(&data)?;
    let mut known = classes.clone();
    let numbers: Vec<u32> = data.classes.iter().map(|name| known.intern(name)).collect();
    data.labels = data.labels.renumbered(&numbers);
    data.classes = known;
    Ok(data)
}

impl Preprocessing {
    /// The weighted rows of `texts`, made in parallel, in their order.
    pub fn text_rows(&self, texts: &[&str], session: &Session<'_>) -> Result<Rows> {
        let parts: Vec<Result<Rows>> = session.run(|| {
            let blocks = texts.par_chunks(TEXTS_PER_BLOCK);
            blocks
                .map_init(TextScratch::default, |scratch, block| {
                    session.check()?;
                    let mut rows = Rows::new();
                    for text in block {
                        self.text_row(text, scratch, &mut rows)?;
                    }
                    Ok(rows)
                })
                .collect()
        });
        let mut rows = Rows::new();
        for part in parts {
            rows.append(&part?);
        }
        rows.set_width(self.features());
        Ok(rows)
    }

    /// The weighted rows of `vectors`, which hold the caller's values.
    pub fn vector_rows(&self, vectors: &Rows, session: &Session<'_>) -> Result<Rows> {
        let mut rows = Rows::new();
        let mut entries = Vec::new();
        for (number, row) in vectors.iter().enumerate() {
            if number.is_multiple_of(TEXTS_PER_BLOCK) {
                session.check()?;
            }
            entries.extend(row.iter());
            self.vector_row(&mut entries, &mut rows)?;
        }
        rows.set_width(self.features());
        Ok(rows)
    }
}
