//! Classes that borrow strength from broader ones: models of upper levels of the hierarchy, mixed in.
//!
//! Each level is a scorer of its own over *groups*, the classes that have an ancestor in common. The score
//! of a class is its own, and `weight` times that of its group at each level. A class with few rows so gets
//! what its relatives have taught the group. Only the best classes by their own scores are looked at: groups
//! count little, so none of the others could win. Names that are found in the row (`name_matches.rs`) count
//! in the same way.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::calibration::SET_CANDIDATES;
use super::name_matches::{NameMatches, NameWeights};
use super::{LoadScorer, NewNumbers, Precision, Scorer, Scratch, Tensor};
use crate::Result;
use crate::sparse::{RowView, Scored};

/// Name of the kind of scorer.
pub(super) const MIXED: &str = "mixed";

/// The same where names count. Programs that know no names must not answer without them.
pub(super) const NAMED: &str = "named";

/// Classes that are looked at, by their own scores.
const SEARCHED: usize = 100;

/// The same where there are names and no levels: fewer cost less. How much names count was chosen with as
/// many.
const SEARCHED_BY_NAME: usize = SET_CANDIDATES;

/// The array that says which group of level `number`, counted from 1, each class belongs to.
pub(super) fn groups_array(number: usize) -> String {
    format!("classes.level{number}")
}

/// What the names of the arrays of level `number` begin with.
pub(super) fn level_prefix(number: usize) -> String {
    format!("level{number}.")
}

/// A level of the hierarchy, and what scores its groups.
pub struct Level {
    /// Scores the groups.
    pub(crate) scorer: Box<dyn Scorer>,
    /// The group of each class.
    pub(crate) group_of: Vec<u32>,
    /// What a group's score is multiplied by.
    pub(crate) weight: f32,
    /// Depth of the groups in the hierarchy, 1 for the broadest: new classes find their group by it.
    pub(crate) depth: u16,
}

/// What a model file's header says of mixed levels.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredMixed {
    /// Kind of the scorer of the classes.
    pub(super) scorer: String,
    pub(super) levels: Vec<StoredLevel>,
    /// How much names count that are found in a row, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) names: Option<NameWeights>,
}

/// What a model file's header says of one level.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredLevel {
    /// Kind of the scorer of the groups.
    pub(super) scorer: String,
    /// Number of groups.
    pub(super) groups: usize,
    pub(super) weight: f32,
    pub(super) depth: u16,
}

/// A scorer of classes with scorers of the groups that they belong to.
pub struct Mixed {
    inner: Box<dyn Scorer>,
    levels: Vec<Level>,
    names: Option<NameMatches>,
}

/// Reusable memory.
#[derive(Default)]
struct Buffers {
    inner: Scratch,
    levels: Vec<Scratch>,
    groups: Vec<Scored>,
    scores: Vec<f32>,
}

impl Mixed {
    /// `inner` with `levels`, each of which has a group for each class of `inner`.
    pub(crate) fn new(inner: Box<dyn Scorer>, levels: Vec<Level>) -> Self {
        Self {
            inner,
            levels,
            names: None,
        }
    }

    /// The same with names that are looked for in rows.
    pub(crate) fn with_names(self, names: NameMatches) -> Self {
        Self {
            names: Some(names),
            ..self
        }
    }

    /// The scorer of the classes alone if nothing is mixed in.
    pub(crate) fn simplified(self) -> Box<dyn Scorer> {
        if self.levels.is_empty() && self.names.is_none() {
            return self.inner;
        }
        Box::new(self)
    }

    /// The names that are looked for in rows, if they are.
    pub fn names(&self) -> Option<&NameMatches> {
        self.names.as_ref()
    }

    /// What scores the classes themselves.
    pub fn inner(&self) -> &dyn Scorer {
        &*self.inner
    }

    /// The levels, with what scores their groups.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// What the header of a model file says of it.
    pub(super) fn stored(&self) -> StoredMixed {
        StoredMixed {
            scorer: self.inner.kind().to_owned(),
            levels: self
                .levels
                .iter()
                .map(|level| StoredLevel {
                    scorer: level.scorer.kind().to_owned(),
                    groups: level.scorer.classes(),
                    weight: level.weight,
                    depth: level.depth,
                })
                .collect(),
            names: self.names.as_ref().map(NameMatches::weights),
        }
    }

    /// Changes the scorer of the classes and those of the groups.
    fn change(
        mut self: Box<Self>,
        mut change: impl FnMut(Box<dyn Scorer>) -> Result<Box<dyn Scorer>>,
    ) -> Result<Box<dyn Scorer>> {
        self.inner = change(self.inner)?;
        for level in std::mem::take(&mut self.levels) {
            let scorer = change(level.scorer)?;
            self.levels.push(Level { scorer, ..level });
        }
        Ok(self)
    }

    /// The levels with the group of `class` in each.
    fn groups(&self, class: u32) -> impl Iterator<Item = (&Level, u32)> {
        let group = move |level: &Level| level.group_of.get(class as usize).copied();
        self.levels
            .iter()
            .filter_map(move |level| Some((level, group(level)?)))
    }

    /// Number of weights of the classes and of the groups.
    fn weights(&self) -> usize {
        let scorers = self.levels.iter().map(|level| &level.scorer);
        let counts = std::iter::once(&self.inner).chain(scorers);
        counts
            .filter_map(|scorer| scorer.weight_storage())
            .map(|storage| storage.0)
            .sum()
    }
}

/// An error in words if a class is of no group.
pub(super) fn check_groups(
    group_of: &[u32],
    classes: usize,
    groups: usize,
) -> std::result::Result<(), String> {
    if group_of.len() != classes {
        return Err(format!(
            "the groups of {} classes are told, but there are {classes}",
            group_of.len()
        ));
    }
    match group_of.iter().find(|&&group| group as usize >= groups) {
        Some(group) => Err(format!(
            "a class is of group {group}, but there are {groups} groups"
        )),
        None => Ok(()),
    }
}

impl Scorer for Mixed {
    fn kind(&self) -> &'static str {
        if self.names.is_some() { NAMED } else { MIXED }
    }

    fn loader(&self) -> LoadScorer {
        self.inner.loader()
    }

    fn classes(&self) -> usize {
        self.inner.classes()
    }

    fn features(&self) -> usize {
        self.inner.features()
    }

    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        let Buffers {
            inner,
            levels,
            groups,
            scores,
        } = scratch.get::<Buffers>();
        levels.resize_with(self.levels.len(), Scratch::default);
        let searched = if self.levels.is_empty() {
            SEARCHED_BY_NAME
        } else {
            SEARCHED
        };
        self.inner.top_k(row, k.max(searched), inner, out);
        for (level, scratch) in self.levels.iter().zip(levels) {
            let count = level.scorer.classes();
            level.scorer.top_k(row, count, scratch, groups);
            scores.clear();
            scores.resize(count, 0.0);
            for group in groups.iter() {
                if let Some(score) = scores.get_mut(group.class as usize) {
                    *score = group.score;
                }
            }
            for scored in out.iter_mut() {
                let group = level.group_of.get(scored.class as usize);
                let score = group.and_then(|&group| scores.get(group as usize));
                scored.score += level.weight * score.copied().unwrap_or(0.0);
            }
        }
        if let Some(names) = &self.names {
            for scored in out.iter_mut() {
                scored.score += names.score(row, scored.class);
            }
        }
        out.sort_unstable_by(Scored::order);
        out.truncate(k);
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let mut tensors = self.inner.tensors();
        for (number, level) in (1..).zip(&self.levels) {
            let prefix = level_prefix(number);
            let arrays = level.scorer.tensors().into_iter();
            tensors.extend(arrays.map(|(name, array)| (prefix.clone() + &name, array)));
            tensors.push((groups_array(number), Tensor::U32(&level.group_of)));
        }
        tensors.extend(self.names.iter().flat_map(NameMatches::tensors));
        tensors
    }

    fn as_mixed(&self) -> Option<&Mixed> {
        Some(self)
    }

    fn with_precision(self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        self.change(|scorer| scorer.with_precision(precision))
    }

    /// The classes and the levels each keep the same share of their weights.
    fn with_largest_weights(self: Box<Self>, most: usize) -> Result<Box<dyn Scorer>> {
        let all = self.weights().max(1);
        self.change(|scorer| {
            let own = scorer.weight_storage().map_or(0, |storage| storage.0);
            let kept = (own as u128 * most as u128 / all as u128) as usize;
            scorer.with_largest_weights(kept)
        })
    }

    /// A class that is made of several belongs to the group of the first. Groups stay.
    fn with_classes(mut self: Box<Self>, new_numbers: &NewNumbers) -> Result<Box<dyn Scorer>> {
        self.inner = self.inner.with_classes(new_numbers)?;
        for level in &mut self.levels {
            level.group_of = new_numbers.combine(level.group_of.iter().copied(), |first, _| first);
        }
        self.names = self.names.map(|names| names.with_classes(new_numbers));
        Ok(self)
    }

    fn weight_storage(&self) -> Option<(usize, &'static str)> {
        let (_, element) = self.inner.weight_storage()?;
        Some((self.weights(), element))
    }

    fn check_content(&self) -> std::result::Result<(), String> {
        for level in &self.levels {
            check_groups(&level.group_of, self.classes(), level.scorer.classes())?;
            level.scorer.check_content()?;
        }
        if let Some(names) = &self.names {
            names.check(self.classes(), self.features())?;
        }
        self.inner.check_content()
    }

    fn bias(&self, class: u32) -> f32 {
        let of_groups = self
            .groups(class)
            .map(|(level, group)| level.weight * level.scorer.bias(group));
        self.inner.bias(class) + of_groups.sum::<f32>()
    }

    fn contributions(&self, row: RowView<'_>, class: u32) -> Option<Vec<(u32, f32)>> {
        let mut shares = self.inner.contributions(row, class)?;
        for (level, group) in self.groups(class) {
            let of_group = level.scorer.contributions(row, group)?;
            add_weighted(&mut shares, &of_group, level.weight);
        }
        if let Some(names) = &self.names {
            add_weighted(&mut shares, &names.shares(row, class), 1.0);
        }
        Some(shares)
    }

    /// Those of the classes alone: with those of its groups, nearly every class has a weight.
    fn feature_weights(&self, feature: u32) -> Option<Vec<(u32, f32)>> {
        self.inner.feature_weights(feature)
    }

    fn class_weights_among(&self, class: u32, features: Range<u32>) -> Option<Vec<(u32, f32)>> {
        let mut weights = self.inner.class_weights_among(class, features.clone())?;
        for (level, group) in self.groups(class) {
            let of_group = level.scorer.class_weights_among(group, features.clone())?;
            add_weighted(&mut weights, &of_group, level.weight);
        }
        Some(weights)
    }
}

/// Adds `weight` times the numbers of `others` to those of `sums`; both are sorted by feature.
fn add_weighted(sums: &mut Vec<(u32, f32)>, others: &[(u32, f32)], weight: f32) {
    sums.extend(others.iter().map(|&(feature, value)| (feature, weight * value)));
    // Stable: what was there first stays first, so sums are the same every time.
    sums.sort_by_key(|entry| entry.0);
    sums.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

#[cfg(test)]
mod tests;
