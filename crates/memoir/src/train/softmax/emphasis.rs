//! How much rows and rivals count: what makes up for classes of different sizes, and for rows that are not there.

use crate::data::LabelSets;

/// Factors by class; all 1 where there are none.
#[derive(Debug, Default)]
pub(super) struct Emphasis {
    /// How much a row of a class counts.
    rows: Vec<f32>,
    /// How much more a row of an old class pushes a new class down.
    falls: Vec<f32>,
    /// Classes from this number on are new.
    first_new: u32,
}

impl Emphasis {
    pub(super) fn new(labels: &LabelSets, classes: usize, before: &[u32], rows_before: u64) -> Self {
        let now = labels.class_counts(classes);
        let total = labels.len() as f32 + rows_before as f32;
        let usual = total / labels.len().max(1) as f32;
        let alpha = super::tune("GROW_ALPHA", 0.0);
        let neg = super::tune("GROW_NEG", 0.0);
        let cap = super::tune("GROW_NEG_CAP", 10.0);
        let mut result = Self { first_new: before.len() as u32, ..Self::default() };
        if rows_before == 0 { return result; }
        for (class, &now) in now.iter().enumerate() {
            let before = before.get(class).copied().unwrap_or(0) as f32;
            let ratio = (now as f32 + before) / (now as f32).max(1.0);
            result.rows.push((ratio / usual).powf(alpha).min(1.0));
            result.falls.push((1.0 + neg * (ratio - 1.0)).min(cap));
        }
        result
    }

    pub(super) fn row(&self, labels: &[u32]) -> f32 {
        if self.rows.is_empty() || labels.is_empty() {
            return 1.0;
        }
        let sum: f32 = labels.iter().map(|&label| self.rows[label as usize]).sum();
        sum / labels.len() as f32
    }

    pub(super) fn apply(&self, labels: &[u32], slopes: &mut [(u32, f32)]) {
        let Some(&label) = labels.first() else { return };
        if self.falls.is_empty() || label >= self.first_new {
            return;
        }
        for (class, slope) in slopes {
            if *class >= self.first_new && *slope < 0.0 {
                *slope *= self.falls[label as usize];
            }
        }
    }
}
