//! What the caller says about the data: its format, its columns, how strict to be.

use super::Format;

/// Largest number of features: a mistyped index must not cost gigabytes for tables of that width.
pub const MAX_FEATURES: usize = 1 << 26;

/// How data is to be read. The default reads every format as its documentation says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// The format; `None` takes it from the name, or from the first line where the name does not say.
    pub format: Option<Format>,
    /// Column (csv, tsv) or key (jsonl) of the text; `None` means `text`, or in a table of two columns the
    /// one that is not the label.
    pub text_column: Option<String>,
    /// Column or key of the labels; `None` means `label` or `labels`, or in a table of two columns the one
    /// that is not the text.
    pub label_column: Option<String>,
    /// Column or key of the row's weight, a positive number; `None` means that rows count alike. Rows of
    /// libsvm and xmc give theirs in a comment, `# weight=0.5`.
    pub weight_column: Option<String>,
    /// What separates several labels; `None` means `|` in csv and tsv, `,` in libsvm and xmc, and in jsonl
    /// that several labels are an array.
    pub label_separator: Option<String>,
    /// The label field is one label, whatever it holds.
    pub single_label: bool,
    /// Bad rows are counted and reported instead of ending the reading.
    pub skip_bad_rows: bool,
    /// Indices in libsvm files count from 0.
    pub zero_based: bool,
    /// Size of the blocks that are read and parsed as one, in bytes; results do not depend on it. `None` is
    /// best.
    pub block_size: Option<usize>,
}
