//! Puts parsed blocks together to one dataset, with little memory beside it.

use crate::data::{Parsed, Position};
use crate::dataset::{ClassNames, Dataset, LabelSets};
use crate::sparse::Rows;

/// A dataset in the making.
pub(super) struct Assembly {
    data: Dataset,
    width: usize,
    /// Entries that each row will get in addition later.
    spare_per_row: usize,
    unlabelled_rows: u64,
}

impl Assembly {
    /// Begins with `classes`, whose numbers stay; `spare_per_row` entries will be added to each row later.
    pub(super) fn new(classes: ClassNames, spare_per_row: usize) -> Self {
        Self {
            data: Dataset {
                classes,
                ..Dataset::default()
            },
            width: 0,
            spare_per_row,
            unlabelled_rows: 0,
        }
    }

    /// Appends the rows of the next block. Classes that are new are numbered in the order of first
    /// appearance.
    pub(super) fn add(&mut self, parsed: &Parsed, position: Position) {
        let before = self.data.labels.len();
        self.data.rows.append(&parsed.rows);
        self.width = self.width.max(parsed.width);
        let numbers: Vec<u32> = parsed
            .names
            .iter()
            .map(|name| self.data.classes.intern(name))
            .collect();
        for labels in parsed.labels.iter() {
            self.unlabelled_rows += u64::from(labels.is_empty());
            self.data
                .labels
                .push(labels.iter().map(|&label| numbers[label as usize]));
        }
        match (&mut self.data.weights, &parsed.weights) {
            (Some(weights), Some(more)) => weights.extend(more),
            (Some(weights), None) => weights.resize(self.data.labels.len(), 1.0),
            (empty @ None, Some(more)) => {
                let mut weights = vec![1.0; before];
                weights.extend(more);
                *empty = Some(weights);
            }
            (None, None) => {}
        }
        self.make_room(position);
    }

    /// Reserves what the rest of the source is likely to need, so that arrays grow about once and end
    /// without slack.
    fn make_room(&mut self, position: Position) {
        if position.total <= position.done || position.done == 0 {
            return;
        }
        let share_left = (position.total - position.done) as f64 / position.done as f64;
        let rest = |so_far: usize| (so_far as f64 * share_left * 1.01) as usize;
        let rows = rest(self.data.labels.len());
        let spare = self.spare_per_row * (self.data.labels.len() + rows);
        self.data
            .rows
            .make_room(rows, rest(self.data.rows.entries()), spare);
        self.data.labels.make_room(rows, rest(self.data.labels.total()));
    }

    /// One more than the largest feature number met.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The labels of the rows so far.
    pub(super) fn labels(&self) -> &LabelSets {
        &self.data.labels
    }

    pub(super) fn unlabelled_rows(&self) -> u64 {
        self.unlabelled_rows
    }

    /// Number of rows that have a class numbered `first` or higher.
    pub(super) fn rows_with_classes_from(&self, first: u32) -> u64 {
        let beyond = |labels: &&[u32]| labels.last().is_some_and(|&label| label >= first);
        self.data.labels.iter().filter(beyond).count() as u64
    }

    /// The labels and classes so far.
    pub(super) fn data(&mut self) -> &mut Dataset {
        &mut self.data
    }

    /// Sets the rows, where they were not part of the blocks.
    pub(super) fn set_rows(&mut self, rows: Rows) {
        self.data.rows = rows;
    }

    /// The dataset, `width` columns wide.
    pub(super) fn finish(mut self, width: usize) -> Dataset {
        self.data.rows.set_width(width);
        self.data.labels.shrink_to_fit();
        self.data
    }
}
