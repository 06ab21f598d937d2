//! Columns beside the text: a category's value or a number's range is a feature, and text columns with
//! weights have blocks of their own.

use serde::{Deserialize, Serialize};

use super::blocks::{Block, BlockKind};
use super::normalize::normalize;
use super::params::TextParams;
use super::vocabulary::NameTable;
use super::weighting::MOST_BLOCKS;
use super::word_source::WordSource;
use crate::dataset::{ColumnKind, PartColumn, parse_mark};
use crate::{Error, Result, Session};

/// Ranges that the numbers of a column are sorted into, about as many in each.
const RANGES: usize = 10;

/// Between the name of a text column and a token of it.
pub(super) const TOKEN_OF: char = '\u{1f}';
/// Between the name of a column and its value.
pub(super) const VALUE_OF: char = '\u{1e}';

/// A column that a model was trained with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextColumn {
    /// Its name, as the user gave it.
    pub name: String,
    /// Its share of a row's length, relative to the weights of others.
    pub weight: f32,
    /// What it holds.
    #[serde(flatten)]
    pub content: ColumnContent,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ColumnContent {
    /// Text.
    Text,
    /// One of some values.
    Category,
    /// Numbers.
    Number {
        /// Where each range but the first begins, in rising order.
        bounds: Vec<f64>,
    },
}

impl TextColumn {
    fn new(column: &PartColumn<'_>) -> Self {
        Self {
            name: column.name.to_owned(),
            weight: column.weight,
            content: match column.kind {
                ColumnKind::Text => ColumnContent::Text,
                ColumnKind::Category => ColumnContent::Category,
                ColumnKind::Number => ColumnContent::Number { bounds: Vec::new() },
            },
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.content == ColumnContent::Text
    }

    pub(super) fn is(&self, column: &PartColumn<'_>) -> bool {
        let kind = match self.content {
            ColumnContent::Text => ColumnKind::Text,
            ColumnContent::Category => ColumnKind::Category,
            ColumnContent::Number { .. } => ColumnKind::Number,
        };
        kind == column.kind && self.name == column.name
    }

    /// Writes the token of a value that [`counted_value`] gave; `false` if it has none.
    pub(super) fn write_token(&self, value: &str, token: &mut String) -> bool {
        use std::fmt::Write;
        token.clear();
        token.push_str(&self.name);
        token.push(VALUE_OF);
        // Writing to a string cannot fail.
        let _ = match &self.content {
            ColumnContent::Text => return false,
            ColumnContent::Category => token.write_str(value),
            ColumnContent::Number { bounds } => {
                let Ok(number) = value.parse::<f64>() else {
                    return false;
                };
                let range = bounds.partition_point(|&bound| bound <= number);
                match (range.checked_sub(1).map(|below| bounds[below]), bounds.get(range)) {
                    (None, None) => write!(token, "any"),
                    (None, Some(to)) => write!(token, "below {to}"),
                    (Some(from), None) => write!(token, "{from} and above"),
                    (Some(from), Some(to)) => write!(token, "{from} to {to}"),
                }
            }
        };
        true
    }
}

/// What is counted of a cell: a category in its normal form, a number as it is written shortest. `None` if
/// the cell is empty or holds no number where one is wanted.
pub(super) fn counted_value(kind: ColumnKind, cell: &str) -> Option<String> {
    match kind {
        ColumnKind::Text => None,
        ColumnKind::Category => {
            let mut value = String::new();
            for word in cell.split_whitespace() {
                if !value.is_empty() {
                    value.push(' ');
                }
                normalize(word, &mut value);
            }
            (!value.is_empty()).then_some(value)
        }
        ColumnKind::Number => {
            let number: f64 = cell.trim().parse().ok()?;
            // Minus zero is zero.
            number.is_finite().then(|| (number + 0.0).to_string())
        }
    }
}

/// A block of features with its column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ColumnBlock {
    /// The text column, counted among those, or the column of a category or number.
    pub(super) column: usize,
    /// What its features are, where they are of a text and blocks are named.
    pub(super) block: Option<Block>,
    pub(super) is_text: bool,
    pub(super) weight: f32,
}

impl TextParams {
    /// All blocks in their order: those of each text column, then one for each other column.
    pub(super) fn column_blocks(&self) -> Vec<ColumnBlock> {
        let texts: Vec<f32> = self
            .columns
            .iter()
            .filter(|column| column.is_text())
            .map(|column| column.weight)
            .collect();
        let mut all = Vec::new();
        for (column, weight) in texts
            .iter()
            .copied()
            .chain(texts.is_empty().then_some(1.0))
            .enumerate()
        {
            let of_text = |block: Option<Block>| ColumnBlock {
                column,
                block,
                is_text: true,
                weight: weight * block.map_or(1.0, |block| block.weight),
            };
            if self.blocks.is_empty() {
                all.push(of_text(None));
            }
            all.extend(self.blocks.iter().map(|&block| of_text(Some(block))));
        }
        let others = self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| !column.is_text());
        all.extend(others.map(|(column, about)| ColumnBlock {
            column,
            block: None,
            is_text: false,
            weight: about.weight,
        }));
        all
    }

    /// The names of the text columns where there are several.
    pub(super) fn text_column_names(&self) -> Vec<&str> {
        let texts = self.columns.iter().filter(|column| column.is_text());
        let names: Vec<&str> = texts.map(|column| column.name.as_str()).collect();
        if names.len() > 1 { names } else { Vec::new() }
    }

    /// What people call a block: its kind, behind the name of its column.
    pub(super) fn block_name(&self, number: usize) -> Option<String> {
        let block = *self.column_blocks().get(number)?;
        if !block.is_text {
            return Some(self.columns[block.column].name.clone());
        }
        let kind = block.block.map_or(BlockKind::Words, |block| block.kind);
        Some(match self.text_column_names().get(block.column) {
            Some(name) => format!("{name} {kind}"),
            None => kind.to_string(),
        })
    }

    /// Takes over the columns that texts with these words have, with the ranges of numbers by the texts in
    /// `fitted`.
    pub(super) fn learn_columns(
        &mut self,
        words: &NameTable,
        fitted: &impl WordSource,
        session: &Session<'_>,
    ) -> Result<()> {
        let mut numbers: Vec<(usize, f64, u32)> = Vec::new();
        for (word, name) in words.iter().enumerate() {
            let Some((column, value)) = parse_mark(name) else {
                continue;
            };
            let known = self.columns.iter().position(|known| known.is(&column));
            let index = known.unwrap_or_else(|| {
                let chosen = self.column_weights.iter().find(|chosen| chosen.0 == column.name);
                let weight = chosen
                    .filter(|_| column.is_auto)
                    .map_or(column.weight, |chosen| chosen.1);
                self.columns.push(TextColumn {
                    weight,
                    ..TextColumn::new(&column)
                });
                self.columns.len() - 1
            });
            if let (ColumnKind::Number, Ok(number)) = (column.kind, value.parse()) {
                numbers.push((index, number, word as u32));
            }
        }
        let blocks = self.column_blocks().len();
        if blocks > MOST_BLOCKS {
            return Err(Error::Parameter(format!(
                "the columns make {blocks} blocks of features; expected at most {MOST_BLOCKS}"
            )));
        }
        if !numbers.is_empty() {
            let mut counts = vec![0; words.len()];
            let count = |_, words: &[u32]| words.iter().for_each(|&word| counts[word as usize] += 1);
            fitted.for_each(count, session)?;
            self.set_bounds(numbers, &counts);
        }
        Ok(())
    }

    /// Cuts the `numbers` of each column (with the word that stands for them) into ranges, by how often each
    /// word is there.
    fn set_bounds(&mut self, mut numbers: Vec<(usize, f64, u32)>, counts: &[usize]) {
        numbers.sort_by(|a, b| {
            (a.0, a.1)
                .partial_cmp(&(b.0, b.1))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        for of_column in numbers.chunk_by(|a, b| a.0 == b.0) {
            let total: usize = of_column.iter().map(|&(_, _, word)| counts[word as usize]).sum();
            let mut made = Vec::new();
            let mut below = 0;
            for pair in of_column.windows(2) {
                below += counts[pair[0].2 as usize];
                // Between the two numbers, where the share below them first passes the next tenth.
                if below * RANGES >= (made.len() + 1) * total && below < total {
                    made.push(pair[1].1);
                }
            }
            if let ColumnContent::Number { bounds } = &mut self.columns[of_column[0].0].content {
                *bounds = made;
            }
        }
    }
}
