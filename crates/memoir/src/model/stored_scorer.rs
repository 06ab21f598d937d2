//! Scorers that are made of others, in model files: what the header says of them, and how they are read.

use serde::{Deserialize, Serialize};

use super::container::Container;
use super::file::{json, parse};
use super::merged::{MEMBERS, MERGED, Merged, Rule};
use super::mixed::{Level, MIXED, Mixed, NAMED, StoredMixed, check_groups, groups_array, level_prefix};
use super::name_matches::{FEATURES, NameMatches, RARITY, STARTS};
use super::{Scorer, ScorerKind, TensorSource};
use crate::Result;

/// What the header says of merged classes.
#[derive(Serialize, Deserialize)]
struct StoredMerged {
    /// Kind of the scorer that scores the members.
    scorer: String,
    rule: Rule,
}

/// What the header says of the scorers that `scorer` is made of, if it is.
pub(super) fn texts(scorer: &dyn Scorer) -> Result<Vec<(&'static str, String)>> {
    let mut texts = Vec::new();
    let mut inner = scorer;
    if let Some(merged) = scorer.as_merged() {
        inner = merged.inner();
        let about = StoredMerged {
            scorer: inner.kind().to_owned(),
            rule: merged.rule(),
        };
        texts.push((MERGED, json(&about)?));
    }
    if let Some(mixed) = inner.as_mixed() {
        texts.push((MIXED, json(&mixed.stored())?));
    }
    Ok(texts)
}

/// Adds how the scorer, and those that it is made of, are read.
pub(super) fn collect_kinds(scorer: &dyn Scorer, kinds: &mut Vec<ScorerKind>) {
    if let Some(merged) = scorer.as_merged() {
        collect_kinds(merged.inner(), kinds);
    } else if let Some(mixed) = scorer.as_mixed() {
        collect_kinds(mixed.inner(), kinds);
        let levels = mixed.levels().iter();
        levels.for_each(|level| collect_kinds(&*level.scorer, kinds));
    } else {
        kinds.push(ScorerKind {
            kind: scorer.kind(),
            load: scorer.loader(),
        });
    }
}

pub(super) fn load_scorer(container: &Container, kinds: &[ScorerKind]) -> Result<Box<dyn Scorer>> {
    let kind = container.text("scorer")?;
    if kind != MERGED {
        return load_unmerged(kind, container, kinds);
    }
    let about: StoredMerged = parse(container, MERGED)?;
    let class_of = container.u32(MEMBERS)?.to_vec();
    let (classes, _) = container.shape();
    Merged::check_members(&class_of, classes).map_err(|message| container.invalid(message))?;
    let members = container.with_classes(class_of.len());
    let inner = load_unmerged(&about.scorer, &members, kinds)?;
    if inner.classes() != class_of.len() {
        return Err(container.invalid(format!(
            "its scorer has {} classes, and `{MEMBERS}` has {}",
            inner.classes(),
            class_of.len()
        )));
    }
    Ok(Box::new(Merged::new(inner, class_of, classes, about.rule)))
}

fn load_unmerged(kind: &str, container: &Container, kinds: &[ScorerKind]) -> Result<Box<dyn Scorer>> {
    if kind != MIXED && kind != NAMED {
        return (find_kind(kind, container, kinds)?.load)(container);
    }
    let about: StoredMixed = parse(container, MIXED)?;
    let inner = (find_kind(&about.scorer, container, kinds)?.load)(container)?;
    let mut levels = Vec::with_capacity(about.levels.len());
    for (number, level) in (1..).zip(about.levels) {
        if level.groups > inner.classes() {
            return Err(container.invalid(format!(
                "level {number} of `{MIXED}` has {} groups of {} classes",
                level.groups,
                inner.classes()
            )));
        }
        let arrays = container.part(&level_prefix(number), level.groups);
        let scorer = (find_kind(&level.scorer, container, kinds)?.load)(&arrays)?;
        let group_of = container.u32(&groups_array(number))?.to_vec();
        let fits = (scorer.classes(), scorer.features()) == (level.groups, inner.features());
        if !fits || !level.weight.is_finite() {
            return Err(container.invalid(format!("level {number} of `{MIXED}` does not fit its arrays")));
        }
        check_groups(&group_of, inner.classes(), level.groups)
            .map_err(|message| container.invalid(message))?;
        levels.push(Level {
            scorer,
            group_of,
            weight: level.weight,
            depth: level.depth,
        });
    }
    let shape = (inner.classes(), inner.features());
    let mixed = Mixed::new(inner, levels);
    if kind == MIXED {
        return Ok(Box::new(mixed));
    }
    let weights = about.names.ok_or_else(|| {
        let message = format!("`{MIXED}` does not say how much names count");
        container.invalid(message)
    })?;
    let arrays = (
        container.u32(STARTS)?,
        container.u32(FEATURES)?,
        container.f32(RARITY)?,
    );
    let names =
        NameMatches::from_storage(arrays, weights, shape).map_err(|message| container.invalid(message))?;
    Ok(Box::new(mixed.with_names(names)))
}

fn find_kind(kind: &str, container: &Container, kinds: &[ScorerKind]) -> Result<ScorerKind> {
    let known = kinds.iter().find(|known| known.kind == kind);
    known.copied().ok_or_else(|| {
        let known: Vec<_> = kinds.iter().map(|known| known.kind).collect();
        container.invalid(format!(
            "it holds a scorer of kind `{kind}`, and this program knows: {}",
            known.join(", ")
        ))
    })
}
