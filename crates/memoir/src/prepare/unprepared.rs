//! Rows as they come, for programs that sort rows and do not learn from them.

use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3Default;

use crate::data::{Content, Kept, Parsed, Purpose, ReadOptions, ReadReport, Reader, Source};
use crate::dataset::{ClassNames, LabelSets};
use crate::sparse::{RowView, Rows};
use crate::{Result, Session};

/// Some rows in the order of the input.
#[derive(Debug, Default)]
pub struct UnpreparedRows {
    /// A hash of each row's text or vector. Texts that differ in capital letters and white space only have
    /// the same.
    pub hashes: Vec<u64>,
    /// Labels, numbered as in `classes`.
    pub labels: LabelSets,
    /// Names of the classes that occur in these rows.
    pub classes: ClassNames,
    /// The columns that were asked for, of rows of text.
    pub kept: Kept,
    /// The vectors with the values that came, of rows of vectors.
    pub vectors: Rows,
    /// Weights of rows, if some have one.
    pub weights: Option<Vec<f32>>,
}

/// Hands the labelled rows of `source` to `take`, some at a time, and says what they hold.
pub fn stream_unprepared(
    source: Source,
    options: &ReadOptions,
    session: &Session<'_>,
    mut take: impl FnMut(UnpreparedRows) -> Result<()>,
) -> Result<(Content, ReadReport)> {
    let mut reader = Reader::open(source, options, Purpose::Labelled, session)?;
    let content = reader.content();
    let (columns, json) = reader.kept_columns();
    let columns: Arc<[String]> = columns.into();
    reader.run(
        |parsed| hashes(parsed, content),
        |parsed, hashes, _| {
            take(UnpreparedRows {
                hashes,
                labels: std::mem::take(&mut parsed.labels),
                classes: std::mem::take(&mut parsed.names),
                kept: Kept {
                    columns: Arc::clone(&columns),
                    json,
                    cells: std::mem::take(&mut parsed.kept),
                },
                vectors: std::mem::take(&mut parsed.rows),
                weights: parsed.weights.take(),
            })
        },
    )?;
    let report = reader.take_report();
    report.tell(reader.name(), session);
    Ok((content, report))
}

fn hashes(parsed: &Parsed, content: Content) -> Vec<u64> {
    match content {
        Content::Text => parsed.texts.iter().map(text_hash).collect(),
        Content::Vectors => parsed.rows.iter().map(vector_hash).collect(),
    }
}

/// A hash of a text, whatever its capital letters and white space.
pub(super) fn text_hash(text: &str) -> u64 {
    let mut hash = Xxh3Default::new();
    for word in text.split_whitespace() {
        hash.update(word.to_lowercase().as_bytes());
        hash.update(b" ");
    }
    hash.digest()
}

/// A hash of a vector.
pub(crate) fn vector_hash(row: RowView<'_>) -> u64 {
    let mut hash = Xxh3Default::new();
    for (index, value) in row.iter() {
        hash.update(&index.to_le_bytes());
        hash.update(&value.to_le_bytes());
    }
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_hashes() {
        assert_eq!(text_hash(" Green\t tea\n"), text_hash("green tea"));
        assert_ne!(text_hash("greentea"), text_hash("green tea"));
        assert_eq!(
            text_hash("green tea"),
            1_032_784_157_928_167_165,
            "the same on every machine"
        );
    }
}
