//! How the columns of a row become its text: plainly, or with marks that say which part is which column.

use super::options::{ReadOptions, weighted};
use super::parsed::shown;
use crate::dataset::{ColumnKind, ColumnText};

/// Weights beyond these would leave one column or the others without a say.
const WEIGHTS: std::ops::RangeInclusive<f32> = 0.01..=100.0;

/// A column that options name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowColumn {
    pub(super) name: String,
    pub(super) kind: ColumnKind,
    /// `None` for a text that is put together with others, and for a column whose weight is chosen.
    weight: Option<f32>,
}

/// The columns that make the text of a row, in this order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RowColumns(Vec<RowColumn>);

impl RowColumns {
    /// The text columns that `list` names. `is_whole` says whether there is a column of that very name.
    pub(super) fn texts(list: &str, is_whole: impl Fn(&str) -> bool) -> Result<Self, String> {
        if is_whole(list) {
            return Ok(Self::of_text(list));
        }
        let mut columns = Self::listed(list, ColumnKind::Text, &is_whole)?;
        let has_weights = columns.0.iter().any(|column| column.weight.is_some());
        for column in &mut columns.0 {
            column.weight = has_weights.then_some(column.weight.unwrap_or(1.0));
        }
        Ok(columns)
    }

    /// One text column.
    pub(super) fn of_text(name: &str) -> Self {
        Self(vec![RowColumn {
            name: name.to_owned(),
            kind: ColumnKind::Text,
            weight: None,
        }])
    }

    /// The columns of categories and numbers that options name, and whether these must be there.
    pub(super) fn others(
        options: &ReadOptions,
        is_whole: impl Fn(&str) -> bool,
    ) -> Result<Vec<(RowColumn, bool)>, String> {
        let remembered = &options.remembered;
        let lists = [
            (
                &options.category_column,
                &remembered.category_column,
                ColumnKind::Category,
            ),
            (
                &options.numeric_column,
                &remembered.numeric_column,
                ColumnKind::Number,
            ),
        ];
        let mut others = Vec::new();
        for (given, remembered, kind) in lists {
            if let Some(list) = given.as_ref().or(remembered.as_ref()) {
                let columns = Self::listed(list, kind, &is_whole)?;
                others.extend(columns.0.into_iter().map(|column| (column, given.is_some())));
            }
        }
        Ok(others)
    }

    fn listed(list: &str, kind: ColumnKind, is_whole: &impl Fn(&str) -> bool) -> Result<Self, String> {
        let mut columns: Vec<RowColumn> = Vec::new();
        for item in list.split(',').map(str::trim) {
            let (name, weight) = if is_whole(item) {
                (item, None)
            } else {
                weighted(item)
            };
            if weight.is_some_and(|weight| !WEIGHTS.contains(&weight)) {
                return Err(format!(
                    "expected a weight from {} to {} behind {}, found {}",
                    WEIGHTS.start(),
                    WEIGHTS.end(),
                    shown(name.as_bytes()),
                    shown(item.as_bytes())
                ));
            }
            if columns.iter().all(|column| column.name != name) {
                columns.push(RowColumn {
                    name: name.to_owned(),
                    kind,
                    weight,
                });
            }
        }
        Ok(Self(columns))
    }

    pub(super) fn push(&mut self, column: RowColumn) {
        self.0.push(column);
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, RowColumn> {
        self.0.iter()
    }

    /// The text of a row whose cells are `cells`, in the order of the columns. Fails with the number of the
    /// column and what is wrong.
    pub(super) fn write<'c>(
        &self,
        cells: impl Iterator<Item = &'c str>,
        text: &mut ColumnText,
    ) -> Result<(), (usize, String)> {
        text.clear();
        for (index, (column, cell)) in self.0.iter().zip(cells).enumerate() {
            if column.kind == ColumnKind::Number && !cell.trim().is_empty() {
                let number = cell
                    .trim()
                    .parse::<f64>()
                    .ok()
                    .filter(|number| number.is_finite());
                number.ok_or_else(|| {
                    (
                        index,
                        format!("expected a number, found {}", shown(cell.as_bytes())),
                    )
                })?;
            }
            match (column.weight, column.kind) {
                (None, ColumnKind::Text) => text.push_text(cell),
                (None, kind) => text.push_unweighted(kind, &column.name, cell),
                (Some(weight), kind) => text.push(kind, &column.name, weight, cell),
            }
        }
        Ok(())
    }
}
