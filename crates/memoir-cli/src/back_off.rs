//! Answers that are as narrow as is sure enough (`memoir predict --back-off`), and sets that hold the right
//! class as often as wanted (`--coverage`).

use anyhow::bail;
use memoir::class_vocabulary::{Hierarchy, NodeProbability};
use memoir::model::calibration::{SET_CANDIDATES, SetRule};
use memoir::{Model, Scored};
use memoir_report::sizes::show_count;

use crate::answers::Shown;

/// Classes that are asked for.
pub(crate) const CANDIDATES: usize = SET_CANDIDATES;

/// What is wanted of the answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Promise {
    /// So many of them are right.
    Precision(f32),
    /// So many sets hold the right class.
    Coverage(f32),
}

/// How a promise is kept.
enum Rule {
    /// The narrowest node from this probability on.
    From(f32),
    Sets(SetRule),
}

/// Gives answers that keep a promise.
pub(crate) struct PromisedAnswers<'m> {
    model: &'m Model,
    hierarchy: Option<Hierarchy<'m>>,
    /// The class that each node of the hierarchy is, if it is one.
    classes: Vec<Option<u32>>,
    rule: Rule,
    buffer: Vec<NodeProbability>,
    /// Answers so far by their depth, those that are classes first.
    depths: Vec<u64>,
}

impl<'m> PromisedAnswers<'m> {
    /// Fails if the model cannot make the promise.
    pub(crate) fn new(model: &'m Model, promise: Promise) -> anyhow::Result<Self> {
        let count = model.classes().len();
        let hierarchy = model
            .vocabulary()
            .and_then(|vocabulary| vocabulary.hierarchy(count));
        let Some(calibration) = model.calibration() else {
            bail!("the model is not calibrated, so it cannot tell how often its answers are right");
        };
        let sets = calibration.sets.as_ref();
        let rule = match promise {
            Promise::Precision(_) if hierarchy.is_none() => {
                bail!("the model has no hierarchy to back off in; give it one with `memoir classes`")
            }
            Promise::Precision(precision) => {
                let measured = sets.and_then(|sets| sets.back_off_from(precision));
                Rule::From(measured.unwrap_or(precision))
            }
            Promise::Coverage(coverage) => {
                let Some(sets) = sets else {
                    bail!(
                        "the model was calibrated on too few rows to promise a coverage; train it with more rows, or \
                         give `--valid` or a larger `--valid-fraction`"
                    );
                };
                match sets.rule(coverage, hierarchy.as_ref()) {
                    Some(rule) => Rule::Sets(rule),
                    None => match sets.most_coverage() {
                        Some(most) => bail!(
                            "a coverage of {coverage} cannot be promised: the {SET_CANDIDATES} best classes \
                             hold the right one in {:.1}% of the held-out rows",
                            100.0 * most
                        ),
                        None => bail!(
                            "no coverage can be promised: the {SET_CANDIDATES} best classes hold the right one \
                             in less than half of the held-out rows"
                        ),
                    },
                }
            }
        };
        let mut classes = Vec::new();
        if let Some(vocabulary) = model.vocabulary().filter(|_| hierarchy.is_some()) {
            let concepts = vocabulary.len();
            classes.resize(concepts + count, None);
            for class in 0..count as u32 {
                let node = vocabulary
                    .concept_of_class(class)
                    .map_or(concepts + class as usize, |concept| concept as usize);
                classes[node].get_or_insert(class);
            }
        }
        Ok(Self {
            model,
            hierarchy,
            classes,
            rule,
            buffer: Vec::new(),
            depths: Vec::new(),
        })
    }

    /// What is to be said about the answers before they come.
    pub(crate) fn note(&self) -> Option<String> {
        match self.rule {
            Rule::Sets(rule) if rule.depth > 0 => Some(format!(
                "sets of classes cannot promise that: sets are of level {} of the hierarchy",
                rule.depth
            )),
            _ => None,
        }
    }

    /// The answers for a row whose best classes have these probabilities, best first.
    pub(crate) fn answers(&mut self, best: &[Scored], languages: &[String]) -> Vec<Shown<'m>> {
        let hierarchy = self.hierarchy.as_ref();
        let (nodes, are_classes) = match self.rule {
            Rule::Sets(rule) => (rule.set(best, hierarchy), rule.depth == 0),
            Rule::From(least) => {
                let found = hierarchy.and_then(|known| known.back_off(best, least, &mut self.buffer));
                (found.into_iter().collect(), false)
            }
        };
        let shown = nodes.iter().map(|node| self.shown(*node, are_classes, languages));
        let shown = shown.collect();
        if matches!(self.rule, Rule::From(_)) {
            for node in &nodes {
                let is_class = self.classes[node.node as usize].is_some();
                let depth = hierarchy.map_or(0, |known| usize::from(known.depth(node.node)));
                let level = if is_class { 0 } else { depth };
                if self.depths.len() <= level {
                    self.depths.resize(level + 1, 0);
                }
                self.depths[level] += 1;
            }
        }
        shown
    }

    fn shown(&self, node: NodeProbability, is_class: bool, languages: &[String]) -> Shown<'m> {
        let score = node.probability.min(1.0);
        let class = if is_class {
            Some(node.node)
        } else {
            self.classes.get(node.node as usize).copied().flatten()
        };
        let vocabulary = self.model.vocabulary();
        match (class, vocabulary) {
            (None, Some(vocabulary)) => Shown {
                class: vocabulary.id(node.node),
                notation: vocabulary.notation(node.node).unwrap_or(""),
                name: vocabulary.name_in(node.node, languages).unwrap_or(""),
                score,
                is_override: false,
            },
            (class, _) => Shown::one(class.unwrap_or(node.node), score, self.model, languages),
        }
    }

    /// How narrow the answers were, in words; nothing where all are alike.
    pub(crate) fn depths_reached(&self) -> Option<String> {
        let (classes, broader) = self.depths.split_first()?;
        let mut parts = vec![format!("{} classes", show_count(*classes))];
        let levels = broader.iter().enumerate().rev().filter(|(_, count)| **count > 0);
        parts.extend(levels.map(|(index, count)| format!("{} of level {}", show_count(*count), index + 1)));
        Some(format!("answers: {}", parts.join(", ")))
    }
}
