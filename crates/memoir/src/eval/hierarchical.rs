//! How far wrong answers are from right ones in the hierarchy of the classes.
//!
//! Precision, recall and F1 compare sets: the answer with all its ancestors against the right class with all
//! of its own (Kiritchenko and others, 2006), summed over all rows. A root that all classes have in common
//! is left out. Of several labels the one nearest to the answer counts.

use serde::{Deserialize, Serialize};

use super::report::share;
use crate::class_vocabulary::Hierarchy;

/// Quality at one depth of the hierarchy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelAccuracy {
    /// Depth: 1 is the broadest.
    pub level: u16,
    /// Rows whose label has an ancestor, or is itself, at this depth.
    pub rows: u64,
    /// Share of them whose answer agrees there.
    pub accuracy: f64,
}

/// What a hierarchy tells of answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HierarchyReport {
    /// Share of the answers' nodes that are right.
    pub precision: f64,
    /// Share of the labels' nodes that were found.
    pub recall: f64,
    /// Harmonic mean of both.
    pub f1: f64,
    /// Mean number of steps from the answer to the label by way of their nearest common ancestor; 0 for
    /// right ones.
    pub mean_distance: f64,
    /// Wrong answers that share a parent with the label, or are its parent or child.
    pub errors_under_same_parent: u64,
    /// Other wrong answers in the label's branch: with a common ancestor that not all classes have.
    pub errors_in_same_branch: u64,
    /// All other wrong answers.
    pub errors_elsewhere: u64,
    /// Accuracy at each depth, the broadest first.
    pub levels: Vec<LevelAccuracy>,
}

/// Gathers what a [`HierarchyReport`] tells, row by row.
#[derive(Debug)]
pub struct HierarchyTally<'h> {
    hierarchy: &'h Hierarchy<'h>,
    rows: u64,
    common: u64,
    answered: u64,
    truth: u64,
    distance: u64,
    under_same_parent: u64,
    in_same_branch: u64,
    elsewhere: u64,
    /// Rows and right ones by depth.
    levels: Vec<(u64, u64)>,
}

impl<'h> HierarchyTally<'h> {
    /// No rows yet.
    pub fn new(hierarchy: &'h Hierarchy<'h>) -> Self {
        Self {
            hierarchy,
            rows: 0,
            common: 0,
            answered: 0,
            truth: 0,
            distance: 0,
            under_same_parent: 0,
            in_same_branch: 0,
            elsewhere: 0,
            levels: Vec::new(),
        }
    }

    /// Adds a row with its labels and its best class. Rows without a label or without an answer are left
    /// out.
    pub fn add(&mut self, labels: &[u32], answer: Option<u32>) {
        let Some(answer) = answer else { return };
        let hierarchy = self.hierarchy;
        let nearest = labels
            .iter()
            .map(|&label| (hierarchy.distance(answer, label), label))
            .min();
        let Some((distance, label)) = nearest else { return };
        let answered: Vec<u32> = hierarchy.telling_nodes(answer).collect();
        let truth: Vec<u32> = hierarchy.telling_nodes(label).collect();
        let common = truth.iter().filter(|node| answered.contains(node)).count() as u64;
        self.rows += 1;
        self.common += common;
        self.answered += answered.len() as u64;
        self.truth += truth.len().max(1) as u64;
        self.distance += u64::from(distance);
        if answer != label {
            *match (distance, common) {
                (1 | 2, 1..) => &mut self.under_same_parent,
                (_, 1..) => &mut self.in_same_branch,
                _ => &mut self.elsewhere,
            } += 1;
        }
        let deepest = truth.iter().map(|&node| hierarchy.depth(node)).max().unwrap_or(0);
        if self.levels.len() < usize::from(deepest) {
            self.levels.resize(usize::from(deepest), (0, 0));
        }
        for (depth, level) in (1u16..).zip(&mut self.levels) {
            let mut at_depth = truth
                .iter()
                .filter(|&&node| hierarchy.depth(node) == depth)
                .peekable();
            if at_depth.peek().is_some() {
                level.0 += 1;
                level.1 += u64::from(at_depth.any(|node| answered.contains(node)));
            }
        }
    }

    /// What all rows so far tell.
    pub fn report(&self) -> HierarchyReport {
        let (precision, recall) = (share(self.common, self.answered), share(self.common, self.truth));
        HierarchyReport {
            precision,
            recall,
            f1: share(2 * self.common, self.answered + self.truth),
            mean_distance: self.distance as f64 / self.rows.max(1) as f64,
            errors_under_same_parent: self.under_same_parent,
            errors_in_same_branch: self.in_same_branch,
            errors_elsewhere: self.elsewhere,
            levels: (1u16..)
                .zip(&self.levels)
                .map(|(level, &(rows, right))| LevelAccuracy {
                    level,
                    rows,
                    accuracy: share(right, rows),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_vocabulary::{HierarchyRule, UnmatchedVocabulary};
    use crate::dataset::ClassNames;

    #[test]
    fn measures_by_hand() {
        let classes: ClassNames = ["aaa", "aab", "abb", "bbb"].into_iter().collect();
        let rule = Some(HierarchyRule::parse("prefix:1,2").unwrap());
        let unmatched = UnmatchedVocabulary::Labels { names: false, rule };
        let (vocabulary, _) = unmatched.for_classes(&classes).unwrap();
        let hierarchy = Hierarchy::new(&vocabulary, classes.len());
        let mut tally = HierarchyTally::new(&hierarchy);
        tally.add(&[0], Some(0)); // right: 3 of 3 nodes
        tally.add(&[0], Some(1)); // sibling: a, aa; distance 2
        tally.add(&[0, 3], Some(2)); // cousin of the nearest label: a; distance 4
        tally.add(&[0], Some(3)); // nothing in common; distance 6
        tally.add(&[], Some(3));
        tally.add(&[0], None);
        let report = tally.report();
        assert_eq!((report.precision, report.recall, report.f1), (0.5, 0.5, 0.5));
        assert_eq!(report.mean_distance, 3.0);
        let errors = (
            report.errors_under_same_parent,
            report.errors_in_same_branch,
            report.errors_elsewhere,
        );
        assert_eq!(errors, (1, 1, 1));
        let levels: Vec<_> = report
            .levels
            .iter()
            .map(|level| (level.rows, level.accuracy))
            .collect();
        assert_eq!(levels, [(4, 0.75), (4, 0.5), (4, 0.25)]);
    }
}
