//! Texts that are made of several columns.

use std::ops::Range;

use super::super::columns::{TOKEN_OF, TextColumn, counted_value};
use super::{Analyzer, AnalyzerScratch};
use crate::dataset::{ColumnKind, PartColumn, column_parts};

impl Analyzer {
    /// The number of a column among all.
    pub(in crate::text) fn find_column(&self, column: &PartColumn<'_>) -> Option<usize> {
        self.columns.iter().position(|known| known.is(column))
    }

    /// The number of a text column among these; one that the model does not know is taken for the first.
    pub(in crate::text) fn text_column(&self, column: &PartColumn<'_>) -> u8 {
        let known = self.find_column(column).unwrap_or(0);
        self.columns[..known]
            .iter()
            .filter(|column| column.is_text())
            .count() as u8
    }

    pub(in crate::text) fn column(&self, number: u8) -> &TextColumn {
        &self.columns[usize::from(number)]
    }

    /// Writes what stands in front of the tokens of a text column.
    pub(in crate::text) fn push_prefix(&self, column: u8, token: &mut String) {
        if let Some(name) = self.text_columns.get(usize::from(column)) {
            token.push_str(name);
            token.push(TOKEN_OF);
        }
    }

    /// Whether it cuts texts into the words that prepared data holds: those with codes, stop words included.
    pub(crate) fn cuts_all_words(&self) -> bool {
        self.codes && self.stop_words.is_empty()
    }

    /// Fills `scratch` with the words of all text columns, and hands their runs of characters and the values
    /// of other columns to `emit`.
    pub(super) fn cut_columns<const SPANS: bool>(
        &self,
        text: &str,
        scratch: &mut AnalyzerScratch,
        mut emit: impl FnMut(&str, Range<usize>),
    ) {
        scratch.clear();
        let mut text_column = 0;
        let mut prefixed = std::mem::take(&mut scratch.prefixed);
        for part in column_parts(text) {
            let start = part.content.as_ptr() as usize - text.as_ptr() as usize;
            if let Some(column) = part.column {
                if column.kind != ColumnKind::Text {
                    let value = counted_value(column.kind, part.content);
                    if let (Some(value), Some(known)) = (value, self.find_column(&column))
                        && self.columns[known].write_token(&value, &mut prefixed)
                    {
                        emit(&prefixed, start..start + part.content.len());
                    }
                    continue;
                }
                text_column = self.text_column(&column);
            }
            let first = scratch.words.len();
            self.cut::<SPANS>(part.content, text_column, scratch, |token, range| {
                let range = range.start + start..range.end + start;
                if self.text_columns.is_empty() {
                    emit(token, range);
                } else {
                    prefixed.clear();
                    self.push_prefix(text_column, &mut prefixed);
                    prefixed.push_str(token);
                    emit(&prefixed, range);
                }
            });
            for word in &mut scratch.words[first..] {
                word.origin = word.origin.start + start..word.origin.end + start;
            }
            scratch.stretches.push((text_column, first..scratch.words.len()));
        }
        scratch.prefixed = prefixed;
    }
}
