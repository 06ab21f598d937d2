//! Classes of a model renamed, merged or retired without training anew, and what only further training needs
//! stripped.
//!
//! A merged class keeps the weights of its members, whose scores make its own ([`Merged`]). So it wins where
//! its members together would, and the order of merging does not matter.

use super::merged::{Merged, Rule};
use super::{Model, NewNumbers};
use crate::dataset::ClassNames;
use crate::{Error, Result};

/// A name that a class can have: an empty one would look like no answer.
fn named(name: &str) -> Result<&str> {
    if name.is_empty() {
        return Err(Error::Parameter("a class cannot have an empty name".to_owned()));
    }
    Ok(name)
}

impl Model {
    /// Gives classes other names, all at once: two may change places. Each pair is the old name and the new
    /// one.
    pub fn rename_classes<S: AsRef<str>>(&mut self, renames: impl IntoIterator<Item = (S, S)>) -> Result<()> {
        let mut names: Vec<&str> = self.classes.iter().collect();
        let renames: Vec<(S, S)> = renames.into_iter().collect();
        let mut renamed = vec![false; names.len()];
        for (old, new) in &renames {
            let class = self.class(old.as_ref())? as usize;
            if std::mem::replace(&mut renamed[class], true) {
                return Err(Error::Parameter(format!(
                    "class `{}` is to be renamed twice",
                    old.as_ref()
                )));
            }
            names[class] = named(new.as_ref())?;
        }
        let mut classes = ClassNames::new();
        for (number, name) in (0u32..).zip(names) {
            if classes.intern(name) != number {
                return Err(Error::Parameter(format!(
                    "two classes would be called `{name}`; to make one class of them, merge them"
                )));
            }
        }
        self.classes = classes;
        Ok(())
    }

    /// Makes one class, called `into`, of the classes called `members`. It takes the place of the first of
    /// them.
    pub fn merge_classes(self, members: &[impl AsRef<str>], into: &str) -> Result<Self> {
        named(into)?;
        let mut merged = Vec::with_capacity(members.len());
        for name in members {
            let class = self.class(name.as_ref())?;
            if !merged.contains(&class) {
                merged.push(class);
            }
        }
        let Some(&first) = merged.iter().min() else {
            return Err(Error::Parameter("there is no class to merge".to_owned()));
        };
        if self
            .classes
            .find(into)
            .is_some_and(|class| !merged.contains(&class))
        {
            return Err(Error::Parameter(format!(
                "there is another class `{into}` already; merge it too, or choose another name"
            )));
        }
        let target = |class: u32| Some(if merged.contains(&class) { first } else { class });
        let name_of = |model: &Self, class: u32| match class {
            class if class == first => into.to_owned(),
            class => model.classes.name(class).to_owned(),
        };
        self.reclassify(target, name_of)
    }

    /// Removes the classes called `names`: they are never predicted again.
    pub fn retire_classes(self, names: &[impl AsRef<str>]) -> Result<Self> {
        let mut retired = vec![false; self.classes.len()];
        for name in names {
            retired[self.class(name.as_ref())? as usize] = true;
        }
        if !retired.contains(&false) {
            return Err(Error::Parameter(
                "a model must keep at least one class, but all would be retired".to_owned(),
            ));
        }
        self.reclassify(
            |class| (!retired[class as usize]).then_some(class),
            |model, class| model.classes.name(class).to_owned(),
        )
    }

    /// Drops what only further training needs: document frequencies, the numbers of rows of the classes, and
    /// rows that were kept. Predictions stay as they are.
    pub fn strip(&mut self) {
        self.preprocessing.weighting.document_frequency = Vec::new().into();
        self.origin.class_counts = Vec::new();
        self.replay = None;
    }

    /// Moves each class to the place of the class that `place` gives, or away; closes the gaps.
    fn reclassify(
        self,
        target: impl Fn(u32) -> Option<u32>,
        name_of: impl Fn(&Self, u32) -> String,
    ) -> Result<Self> {
        let count = self.classes.len() as u32;
        let mut names = ClassNames::new();
        let mut numbers = vec![None; count as usize];
        for class in 0..count {
            // A class goes to one before it or stays: where it goes is numbered already.
            numbers[class as usize] = match target(class) {
                Some(target) if target == class => Some(names.intern(&name_of(&self, class))),
                Some(target) => numbers[target as usize],
                None => None,
            };
        }
        self.renumbered(&NewNumbers::new(numbers), names)
    }

    /// The model with its classes numbered anew and called `names`.
    pub(super) fn renumbered(mut self, new_numbers: &NewNumbers, names: ClassNames) -> Result<Self> {
        let count = self.classes.len();
        match new_numbers.only_merged() {
            None => self.scorer = self.scorer.with_classes(new_numbers)?,
            Some(class_of) if class_of.iter().copied().eq(0..count as u32) => {}
            Some(class_of) => {
                if !self.scorer.merge(new_numbers) {
                    let rule = match self.origin.algorithm.as_str() {
                        "softmax" => Rule::LogSum,
                        _ => Rule::Largest,
                    };
                    self.scorer = Box::new(Merged::new(self.scorer, class_of, names.len(), rule));
                }
            }
        }
        if !self.origin.class_counts.is_empty() {
            let counts = self.origin.class_counts.iter().copied();
            self.origin.class_counts = new_numbers.combine(counts, u32::saturating_add);
        }
        if let Some(kept) = self.replay.take() {
            let renumbered = kept.renumbered(self.scorer.features(), new_numbers, count);
            self.replay = renumbered.map_err(Error::Mismatch)?;
        }
        if let Some(overrides) = self.overrides.take() {
            let renumbered = overrides.renumbered(new_numbers)?;
            self.overrides = (!renumbered.is_empty()).then_some(renumbered);
        }
        if let Some(vocabulary) = &mut self.vocabulary {
            vocabulary.renumber_classes(&new_numbers.members());
        }
        self.classes = names;
        Ok(self)
    }

    fn class(&self, name: &str) -> Result<u32> {
        self.classes
            .find(name)
            .ok_or_else(|| Error::Parameter(format!("the model has no class `{name}`")))
    }
}

/// The error of scorers whose classes cannot be changed.
pub(super) fn fixed_classes(kind: &str) -> Error {
    Error::Parameter(format!(
        "the classes of a model of kind `{kind}` can be renamed and merged, but not retired: that needs one weight vector \
         for each class, as `softmax`, `centroid` and the other linear models have",
    ))
}

#[cfg(test)]
pub(super) mod tests;
