//! Answers with a promise for all rows together: sets of classes that hold the right one as often as wanted,
//! and broader classes that are right as often as wanted.
//!
//! Sets are conformal (split conformal prediction): nodes of a level, most probable first, are taken while
//! the probability of those before them stays within a threshold. The threshold is what this sum was for the
//! right nodes of so many held-out rows. So the promise holds for rows like these, whether or not the
//! probabilities are right.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Calibration, HeldOutScores};
use crate::class_vocabulary::{Hierarchy, NodeProbability};
use crate::sparse::Scored;

/// How many of the best classes of a row sets are made of.
pub const SET_CANDIDATES: usize = 50;

/// Promises that thresholds are kept for: from this share on, in steps.
const LEAST_PROMISE: f64 = 0.5;
const PROMISE_STEP: f64 = 0.005;
const PROMISES: usize = 100;

/// With fewer rows than this, no promise is made.
const LEAST_ROWS: usize = 200;

/// Stands for a promise that cannot be kept.
const NEVER: f32 = 2.0;

/// Probabilities from which on [`Hierarchy::back_off`] may answer: steps from 0 to 1.
const BACK_OFF_STEPS: usize = 100;

/// Thresholds for sets at one level of a hierarchy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LevelSets {
    /// The depth of the nodes; 0 for the classes themselves.
    depth: u16,
    /// By promise: the sum of probabilities before the last node of a set.
    thresholds: Vec<f32>,
}

/// Thresholds for sets and for backing off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerSets {
    /// The classes first, then the levels from the deepest to the broadest.
    levels: Vec<LevelSets>,
    /// By promise: the probability from which on broader classes are answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    back_off: Vec<f32>,
}

/// How sets that keep a promise are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetRule {
    /// The depth of the nodes in a set; 0: they are classes.
    pub depth: u16,
    threshold: f32,
}

/// The place of a promise among the thresholds: the next one that promises as much.
fn threshold_index(promise: f32) -> usize {
    let steps = (f64::from(promise) - LEAST_PROMISE) / PROMISE_STEP;
    // A promise of 0.9 is a little more than 0.9 as an f32.
    (steps - 1e-4).ceil().max(0.0) as usize
}

/// With four digits, so that files stay small: a larger threshold promises no less.
fn rounded_up(threshold: f32) -> f32 {
    (threshold * 1e4).ceil() / 1e4
}

impl AnswerSets {
    /// The thresholds for what `calibration` makes of `sample`; nothing if that has too few rows.
    pub(super) fn fit(
        calibration: &Calibration,
        sample: &HeldOutScores,
        hierarchy: Option<&Hierarchy<'_>>,
    ) -> Option<Self> {
        if sample.len() < LEAST_ROWS {
            return None;
        }
        let rows: Vec<(Vec<Scored>, &[u32])> = sample
            .all_rows()
            .map(|row| {
                // Rows of which nothing is known get no answer.
                let best = if row.known == 0 { &[] } else { row.best };
                (calibration.with_probabilities(row.known, best), row.labels)
            })
            .collect();
        let deepest = hierarchy.map_or(0, Hierarchy::deepest);
        // The deepest level has classes only.
        let depths = std::iter::once(0).chain((1..deepest).rev());
        let levels = depths.map(|depth| {
            let mut before: Vec<f32> = rows
                .par_iter()
                .flat_map_iter(|(best, labels)| {
                    let nodes = level_nodes(best, depth, hierarchy);
                    labels
                        .iter()
                        .map(move |&label| sum_before(&nodes, label, depth, hierarchy))
                })
                .collect();
            before.sort_by(f32::total_cmp);
            let threshold = |promise: usize| {
                let share = LEAST_PROMISE + PROMISE_STEP * promise as f64;
                let rank = ((before.len() + 1) as f64 * share).ceil() as usize;
                rounded_up(before.get(rank.saturating_sub(1)).copied().unwrap_or(NEVER))
            };
            LevelSets {
                depth,
                thresholds: (0..PROMISES).map(threshold).collect(),
            }
        });
        Some(Self {
            levels: levels.collect(),
            back_off: hierarchy.map_or(Vec::new(), |hierarchy| back_off_thresholds(&rows, hierarchy)),
        })
    }

    /// What holds whatever the hierarchy is.
    pub(crate) fn of_classes(mut self) -> Self {
        self.levels.truncate(1);
        self.back_off.clear();
        self
    }

    /// How sets are made that hold the right node in the share `coverage` of all rows: at the deepest level
    /// where that can be promised. Nothing if it can be at none.
    pub fn rule(&self, coverage: f32, hierarchy: Option<&Hierarchy<'_>>) -> Option<SetRule> {
        let levels = self.levels.iter();
        let usable = levels.filter(|level| level.depth == 0 || hierarchy.is_some());
        let mut rules = usable.filter_map(|level| {
            let threshold = *level.thresholds.get(threshold_index(coverage))?;
            (threshold < NEVER).then_some(SetRule {
                depth: level.depth,
                threshold,
            })
        });
        rules.next()
    }

    /// The largest coverage that sets of classes can promise, if they can promise any.
    pub fn most_coverage(&self) -> Option<f32> {
        let classes = self.levels.first()?;
        let kept = classes
            .thresholds
            .iter()
            .rposition(|&threshold| threshold < NEVER)?;
        Some((LEAST_PROMISE + PROMISE_STEP * kept as f64) as f32)
    }

    /// The probability from which on answers of [`Hierarchy::back_off`] are together right in the share
    /// `precision` of the rows that get one; nothing if that is not known.
    pub fn back_off_from(&self, precision: f32) -> Option<f32> {
        let threshold = *self.back_off.get(threshold_index(precision))?;
        (threshold < NEVER).then_some(threshold)
    }

    /// An error in words if something is not as it must be; for what comes from a file.
    pub(super) fn check(&self) -> Result<(), String> {
        let thresholds = self.levels.iter().map(|level| &level.thresholds);
        let all = thresholds.chain(Some(&self.back_off));
        let bad = all.flatten().find(|threshold| !threshold.is_finite());
        bad.map_or(Ok(()), |threshold| {
            Err(format!("the threshold {threshold} of a set is not a number"))
        })
    }
}

impl SetRule {
    /// The set of a row: its most probable nodes at the rule's depth, best first. `best` are at least
    /// [`SET_CANDIDATES`] classes with probabilities. At depth 0 nodes are numbers of classes.
    pub fn set(self, best: &[Scored], hierarchy: Option<&Hierarchy<'_>>) -> Vec<NodeProbability> {
        let mut nodes = level_nodes(best, self.depth, hierarchy);
        let mut before = 0.0;
        let taken = nodes.iter().take_while(|node| {
            let is_in = before <= self.threshold;
            before += node.probability;
            is_in
        });
        let count = taken.count();
        nodes.truncate(count);
        nodes
    }
}

/// The nodes of the best classes at a depth with their probabilities, best first.
fn level_nodes(best: &[Scored], depth: u16, hierarchy: Option<&Hierarchy<'_>>) -> Vec<NodeProbability> {
    let candidates = best
        .iter()
        .take(SET_CANDIDATES)
        .filter(|scored| scored.score > f32::NEG_INFINITY);
    let mut nodes: Vec<NodeProbability> = Vec::new();
    for scored in candidates {
        let mut add = |node: u32| match nodes.iter_mut().find(|known| known.node == node) {
            Some(known) => known.probability += scored.score,
            None => nodes.push(NodeProbability {
                node,
                probability: scored.score,
            }),
        };
        match hierarchy.filter(|_| depth > 0) {
            Some(hierarchy) => hierarchy.nodes_at(scored.class, depth).for_each(&mut add),
            None => add(scored.class),
        }
    }
    // Stable: nodes of equal probability stay in the order of the answers.
    nodes.sort_by(|one, other| other.probability.total_cmp(&one.probability));
    nodes
}

/// The probability of the nodes before the label's own, or [`NEVER`] if that is not among them.
fn sum_before(nodes: &[NodeProbability], label: u32, depth: u16, hierarchy: Option<&Hierarchy<'_>>) -> f32 {
    let is_right = |node: u32| match hierarchy.filter(|_| depth > 0) {
        Some(hierarchy) => hierarchy.nodes_at(label, depth).any(|right| right == node),
        None => node == label,
    };
    let mut before = 0.0;
    for node in nodes {
        if is_right(node.node) {
            return before;
        }
        before += node.probability;
    }
    NEVER
}

/// For each promise the least probability from which on backing off keeps it.
fn back_off_thresholds(rows: &[(Vec<Scored>, &[u32])], hierarchy: &Hierarchy<'_>) -> Vec<f32> {
    let from = |step: usize| step as f32 / BACK_OFF_STEPS as f32;
    // Rows with an answer and right ones, by the probability from which on there are answers.
    let counted: Vec<Vec<(bool, bool)>> = rows
        .par_iter()
        .map_init(Vec::new, |buffer, (best, labels)| {
            hierarchy.add_up(best, buffer);
            let answers = (0..BACK_OFF_STEPS).map(|step| {
                let answer = hierarchy.deepest_of(buffer, from(step));
                let right = answer.is_some_and(|answer| {
                    let labels = labels.iter();
                    labels
                        .flat_map(|&label| hierarchy.nodes(label))
                        .any(|&(node, _)| node == answer.node)
                });
                (answer.is_some(), right)
            });
            answers.collect()
        })
        .collect();
    let precision = |step: usize| {
        let answered = counted.iter().filter(|row| row[step].0).count();
        let right = counted.iter().filter(|row| row[step].1).count();
        right as f64 / answered.max(1) as f64
    };
    let precisions: Vec<f64> = (0..BACK_OFF_STEPS).map(precision).collect();
    let threshold = |promise: usize| {
        let share = LEAST_PROMISE + PROMISE_STEP * promise as f64;
        let kept = precisions.iter().rposition(|&precision| precision < share);
        let first = kept.map_or(0, |last_broken| last_broken + 1);
        if first < BACK_OFF_STEPS {
            from(first)
        } else {
            NEVER
        }
    };
    (0..PROMISES).map(threshold).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Basis;
    use super::super::tests::world;
    use super::*;
    use crate::class_vocabulary::{HierarchyRule, UnmatchedVocabulary};
    use crate::dataset::ClassNames;

    /// Classes 00 to 44 under 0 to 4, so that there are more classes than [`world`] answers with.
    fn classes() -> ClassNames {
        (0..45).map(|class| format!("{class:02}")).collect()
    }

    #[test]
    fn sets_hold_the_label_as_often_as_promised() {
        let classes = classes();
        let rule = Some(HierarchyRule::parse("prefix:1").unwrap());
        let unmatched = UnmatchedVocabulary::Labels { names: false, rule };
        let (vocabulary, _) = unmatched.for_classes(&classes).unwrap();
        let hierarchy = Hierarchy::new(&vocabulary, classes.len());
        let mut calibration = Calibration::fit(&world(4000, 1), Basis::HeldOut).unwrap();
        calibration.fit_sets(&world(4000, 1), Some(&hierarchy));
        let sets = calibration.sets.as_ref().unwrap();
        let fresh = world(20_000, 2);
        for (coverage, depth) in [(0.6, 0), (0.8, 0), (0.92, 1)] {
            let rule = sets.rule(coverage, Some(&hierarchy)).unwrap();
            assert_eq!(rule.depth, depth, "{coverage}");
            let held = fresh.all_rows().filter(|row| {
                let best = calibration.with_probabilities(row.known, row.best);
                let set = rule.set(&best, Some(&hierarchy));
                let label = row.labels[0];
                set.iter().any(|node| match depth {
                    0 => node.node == label,
                    _ => hierarchy
                        .nodes(label)
                        .iter()
                        .any(|(above, _)| *above == node.node),
                })
            });
            let share = held.count() as f32 / fresh.len() as f32;
            assert!(share > coverage - 0.02, "{coverage}: {share}");
            assert!(depth == 1 || share < coverage + 0.1, "{coverage}: {share}");
        }
        assert!(
            sets.rule(0.92, None).is_none(),
            "the best classes hold fewer labels"
        );
        let from = sets.back_off_from(0.8).unwrap();
        let (mut answered, mut right, mut buffer) = (0.0, 0.0, Vec::new());
        for row in fresh.all_rows() {
            let best = calibration.with_probabilities(row.known, row.best);
            if let Some(answer) = hierarchy.back_off(&best, from, &mut buffer) {
                answered += 1.0;
                let nodes = hierarchy.nodes(row.labels[0]);
                right += f32::from(u8::from(nodes.iter().any(|(node, _)| *node == answer.node)));
            }
        }
        assert!((right / answered - 0.8f32).abs() < 0.03, "{right} of {answered}");
    }

    #[test]
    fn promises_have_their_places() {
        assert_eq!(
            (
                threshold_index(0.5),
                threshold_index(0.9),
                threshold_index(0.95),
                threshold_index(0.951)
            ),
            (0, 80, 90, 91)
        );
        assert_eq!(threshold_index(0.2), 0);
    }
}
