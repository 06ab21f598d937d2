//! What the caller says about the data: its format, its columns, how strict to be.

use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};

use super::{Format, KeepColumns};

/// Largest number of features: a mistyped index must not cost gigabytes for tables of that width.
pub const MAX_FEATURES: usize = 1 << 26;

/// How data is to be read. The default reads every format as its documentation says.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ReadOptions {
    /// The format; `None` takes it from the name, or from the first line where the name does not say.
    pub format: Option<Format>,
    /// The encoding of text; `None` means UTF-8, or what is recognised instead (UTF-16, Windows-1252).
    pub encoding: Option<&'static Encoding>,
    /// What separates the columns of a table; `None` means that the header and the first row tell.
    pub delimiter: Option<u8>,
    /// The table has no header: its columns are called `1`, `2` and so on.
    pub no_header: bool,
    /// Column (csv, tsv) or key (jsonl) of the text; `None` means `text`, or in a table of two columns the
    /// one that is not the label. Several are separated by commas and read as one text; with a weight behind
    /// a `:` (`title:2,abstract`) their words are features of each column.
    pub text_column: Option<String>,
    /// Columns that hold one of some values each, separated by commas, with a weight behind a `:` if wanted
    /// (`industry,region:2`): each value is a feature.
    pub category_column: Option<String>,
    /// Columns that hold numbers, written like `category_column`: each range of values is a feature.
    pub numeric_column: Option<String>,
    /// Column or key of the labels; `None` means `label` or `labels`, or in a table of two columns the one
    /// that is not the text.
    pub label_column: Option<String>,
    /// Column or key of the row's weight, a positive number; `None` means that rows count alike. Rows of
    /// libsvm and xmc give theirs in a comment, `# weight=0.5`.
    pub weight_column: Option<String>,
    /// What separates several labels; `None` means `|` in csv and tsv, `,` in libsvm and xmc, and in jsonl
    /// that several labels are an array.
    pub label_separator: Option<String>,
    /// Columns that go to the output beside the answers.
    pub keep_columns: KeepColumns,
    /// The label field is one label, whatever it holds.
    pub single_label: bool,
    /// Bad rows are counted and reported instead of ending the reading.
    pub skip_bad_rows: bool,
    /// Indices in libsvm files count from 0.
    pub zero_based: bool,
    /// How the training data of a model was read: what counts where nothing above says otherwise.
    pub remembered: Remembered,
    /// Size of the blocks that are read and parsed as one, in bytes; results do not depend on it. `None` is
    /// best.
    pub block_size: Option<usize>,
}

/// How the training data of a model was read, as far as options said it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// Columns of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// Columns of categories; later rows may do without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category_column: Option<String>,
    /// Columns of numbers; later rows may do without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numeric_column: Option<String>,
    /// Column of the labels; later rows may do without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_column: Option<String>,
    /// What separates several labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_separator: Option<String>,
    /// Whether the label field is one label, whatever it holds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub single_label: bool,
}

impl ReadOptions {
    /// What a model should remember of these options.
    pub fn to_remember(&self) -> Option<Remembered> {
        let before = &self.remembered;
        let remembered = Remembered {
            text_column: self.text_column.clone().or(before.text_column.clone()),
            category_column: self.category_column.clone().or(before.category_column.clone()),
            numeric_column: self.numeric_column.clone().or(before.numeric_column.clone()),
            label_column: self.label_column.clone().or(before.label_column.clone()),
            label_separator: self.separator().map(str::to_owned),
            single_label: self.is_single_label(),
        };
        (remembered != Remembered::default()).then_some(remembered)
    }

    /// What separates several labels, if that was said.
    pub(super) fn separator(&self) -> Option<&str> {
        let remembered = self.remembered.label_separator.as_deref();
        self.label_separator.as_deref().or(remembered)
    }

    /// Whether the label field is one label.
    pub(super) fn is_single_label(&self) -> bool {
        self.single_label || (self.remembered.single_label && self.label_separator.is_none())
    }

    /// Whether a column of this name would be read, however its letters are capitalised.
    pub(super) fn wants(&self, name: &[u8]) -> bool {
        let name = name.trim_ascii();
        let is = |wanted: &str| same_name(wanted.as_bytes(), name);
        let among = |columns: &str| {
            let mut columns_without_weights = columns.split(',').map(|column| weighted(column).0);
            is(columns)
                || columns.split(',').any(|column| is(column.trim()))
                || columns_without_weights.any(is)
        };
        let remembered = |column: &Option<String>| column.as_deref().is_some_and(among);
        let text = match &self.text_column {
            Some(columns) => among(columns),
            None => is("text") || remembered(&self.remembered.text_column),
        };
        let label = match &self.label_column {
            Some(column) => is(column),
            None => is("label") || is("labels") || remembered(&self.remembered.label_column),
        };
        let others = [
            &self.category_column,
            &self.numeric_column,
            &self.remembered.category_column,
            &self.remembered.numeric_column,
        ];
        let other = others.into_iter().any(remembered);
        text || label || other || self.weight_column.as_deref().is_some_and(is)
    }

    /// Whether something is said that only a table has.
    pub(super) fn names_columns(&self) -> bool {
        let columns = [
            &self.text_column,
            &self.category_column,
            &self.numeric_column,
            &self.label_column,
            &self.weight_column,
        ];
        columns.into_iter().any(Option::is_some) || self.delimiter.is_some() || self.no_header
    }
}

/// A column and the weight behind it, as in `title:2`.
pub(super) fn weighted(column: &str) -> (&str, Option<f32>) {
    let column = column.trim();
    match column
        .rsplit_once(':')
        .map(|(name, weight)| (name.trim(), weight.trim().parse()))
    {
        Some((name, Ok(weight))) => (name, Some(weight)),
        _ => (column, None),
    }
}

/// Whether two names differ in nothing but capital letters.
pub(super) fn same_name(one: &[u8], other: &[u8]) -> bool {
    if one.is_ascii() || other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    match (std::str::from_utf8(one), std::str::from_utf8(other)) {
        (Ok(one), Ok(other)) => one.to_lowercase() == other.to_lowercase(),
        _ => false,
    }
}
