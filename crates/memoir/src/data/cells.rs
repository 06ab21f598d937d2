//! Tables of other kinds (Excel, Parquet, Arrow), which come as CSV and are rows of cells nevertheless.

/// Begins each item of a list in a cell of a [table](super::Source::from_table): labels of such a list are
/// apart already, whatever they hold.
pub const LIST_ITEM: char = '\u{1f}';

/// What is known of a table of another kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TableOfCells {
    /// Whether its columns have names of their own, so that the first row cannot be missing.
    pub(super) is_named: bool,
}
