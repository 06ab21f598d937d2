//! What the caller says about the data: its format, its columns, how strict to be.

use super::Format;
use crate::sparse::Rows;
use crate::text::{RowNeeds, TextParams, Weighting, WeightingScheme};

/// Largest number of features: a mistyped index must not cost gigabytes for tables of that width.
pub const MAX_FEATURES: usize = 1 << 26;

/// How data is to be read. The default reads every format as its documentation says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// The format; `None` takes it from the name, or from the first line where the name does not say.
    pub format: Option<Format>,
    /// Column (csv, tsv) or key (jsonl) of the text; `None` means `text`, or in a table of two columns the one that
    /// is not the label.
    pub text_column: Option<String>,
    /// Column or key of the labels; `None` means `label` or `labels`, or in a table of two columns the one that is
    /// not the text.
    pub label_column: Option<String>,
    /// Column or key of the row's weight, a positive number; `None` means that rows count alike. Rows of libsvm and
    /// xmc give theirs in a comment, `# weight=0.5`.
    pub weight_column: Option<String>,
    /// What separates several labels; `None` means `|` in csv and tsv, `,` in libsvm and xmc, and in jsonl that
    /// several labels are an array.
    pub label_separator: Option<String>,
    /// The label field is one label, whatever it holds.
    pub single_label: bool,
    /// Bad rows are counted and reported instead of ending the reading.
    pub skip_bad_rows: bool,
    /// Indices in libsvm files count from 0.
    pub zero_based: bool,
    /// Size of the blocks that are read and parsed as one, in bytes; results do not depend on it. `None` is best.
    pub block_size: Option<usize>,
}

/// What to do with the values of training rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WeightingChoice {
    /// Counts if all values are whole and none negative, else unit length.
    #[default]
    Auto,
    /// They are counts: logarithm, inverse document frequency, unit length.
    Counts,
    /// They are weights: unit length.
    Unit,
    /// They are used as they are.
    Raw,
}

impl WeightingChoice {
    /// The scheme for `rows`.
    pub(super) fn scheme(self, rows: &Rows) -> WeightingScheme {
        match self {
            Self::Auto => Weighting::detect(rows),
            Self::Counts => WeightingScheme::LogTfIdf,
            Self::Unit => WeightingScheme::Unit,
            Self::Raw => WeightingScheme::Raw,
        }
    }
}

/// How training rows are prepared for training.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrepOptions {
    /// How text becomes features, where the data is text.
    pub text: TextParams,
    /// What to do with the values.
    pub weighting: WeightingChoice,
    /// What the algorithm wants of its rows.
    pub needs: RowNeeds,
}
