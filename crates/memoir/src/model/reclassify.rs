//! Classes of a model renamed, merged or retired without training anew, and what only further training needs
//! stripped.
//!
//! Merging takes, for each feature, the largest of the members' weights: what speaks for one of them speaks
//! as much for the merged class. The largest of several numbers does not depend on their order, so neither
//! does the merged model.

use super::Model;
use crate::dataset::ClassNames;
use crate::{Error, Result};

/// What becomes of a model's classes.
#[derive(Debug)]
pub struct NewNumbers {
    /// The number that each class gets, or nothing if it goes. Several classes may get the same one.
    numbers: Vec<Option<u32>>,
    classes: usize,
}

impl NewNumbers {
    /// How many classes there are afterwards.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The number that `class` gets, or nothing if it goes.
    pub fn number(&self, class: u32) -> Option<u32> {
        self.numbers.get(class as usize).copied().flatten()
    }

    /// The postings of a feature, by rising class, as they are afterwards.
    pub fn renumber(&self, postings: Vec<(u32, f32)>) -> Vec<(u32, f32)> {
        let mut renumbered: Vec<(u32, f32)> = postings
            .into_iter()
            .filter_map(|(class, weight)| Some((self.number(class)?, weight)))
            .collect();
        renumbered.sort_by(|left, right| left.0.cmp(&right.0).then(right.1.total_cmp(&left.1)));
        // The first of equal ones is the largest.
        renumbered.dedup_by_key(|posting| posting.0);
        renumbered
    }

    /// For each class afterwards, the combination by `combine` of what its members have in `of`.
    pub fn combine<T: Copy>(&self, of: impl IntoIterator<Item = T>, combine: impl Fn(T, T) -> T) -> Vec<T> {
        let mut combined: Vec<Option<T>> = vec![None; self.classes];
        for (value, number) in of.into_iter().zip(&self.numbers) {
            if let Some(number) = number {
                let place = &mut combined[*number as usize];
                *place = Some(place.map_or(value, |before| combine(before, value)));
            }
        }
        // Every class has a member, so nothing is lost here.
        combined.into_iter().flatten().collect()
    }
}

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
        let place = |class: u32| Some(if merged.contains(&class) { first } else { class });
        let name_of = |model: &Self, class: u32| match class {
            class if class == first => into.to_owned(),
            class => model.classes.name(class).to_owned(),
        };
        self.reclassify(place, name_of)
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
        mut self,
        place: impl Fn(u32) -> Option<u32>,
        name_of: impl Fn(&Self, u32) -> String,
    ) -> Result<Self> {
        let count = self.classes.len() as u32;
        let mut names = ClassNames::new();
        let mut numbers = vec![None; count as usize];
        for class in 0..count {
            // A class goes to one before it or stays: where it goes is numbered already.
            numbers[class as usize] = match place(class) {
                Some(target) if target == class => Some(names.intern(&name_of(&self, class))),
                Some(target) => numbers[target as usize],
                None => None,
            };
        }
        let new_numbers = NewNumbers {
            numbers,
            classes: names.len(),
        };
        self.scorer = self.scorer.with_classes(&new_numbers)?;
        if !self.origin.class_counts.is_empty() {
            let counts = self.origin.class_counts.iter().copied();
            self.origin.class_counts = new_numbers.combine(counts, u32::saturating_add);
        }
        if let Some(kept) = self.replay.take() {
            let renumbered = kept.renumbered(self.scorer.features(), &new_numbers, count as usize);
            self.replay = renumbered.map_err(Error::Mismatch)?;
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
        "the classes of a model of kind `{kind}` can be renamed, but not merged or retired: that needs one weight vector for \
         each class, as `softmax`, `centroid` and the other linear models have",
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::LabelSets;
    use crate::model::{FixedScorer, LinearBuilder, Origin, Precision, Scorer, Scratch};
    use crate::sparse::fixed::{Narrow, Posting};
    use crate::sparse::{RowView, Rows};
    use crate::text::{Input, Preprocessing, RowNeeds, Weighting, WeightingScheme};

    /// A model over three features; `weights[feature][class]`, where 0 is no weight.
    fn model(weights: &[[i16; 5]; 3], fixed: bool) -> Model {
        let mut rows = Rows::new();
        rows.set_width(3);
        let needs = RowNeeds::default();
        let scorer: Box<dyn Scorer> = if fixed {
            let (mut offsets, mut postings) = (vec![0], Vec::new());
            for feature in weights {
                let stored = (0..).zip(feature).filter(|(_, weight)| **weight != 0);
                postings.extend(stored.map(|(class, &weight)| Narrow::new(class, weight)));
                offsets.push(postings.len() as u64);
            }
            Box::new(FixedScorer::new(5, offsets, postings))
        } else {
            let mut builder = LinearBuilder::new(5);
            for feature in weights {
                builder.push_feature((0..).zip(feature.map(|weight| f32::from(weight) / 16.0)));
            }
            Box::new(
                builder
                    .finish(Precision::F16)
                    .with_bias(vec![0.1, -0.2, 0.0, 0.4, -0.5]),
            )
        };
        Model {
            calibration: None,
            replay: None,
            classes: ["a", "b", "c", "d", "e"].into_iter().collect(),
            preprocessing: Preprocessing {
                input: Input::Vectors {
                    features: 3,
                    first: 1,
                },
                weighting: Weighting::fit(WeightingScheme::Raw, needs, &rows, &LabelSets::new()),
            },
            scorer,
            origin: Origin {
                class_counts: vec![1, 2, 3, 4, 5],
                ..Origin::default()
            },
        }
    }

    /// Everything that a file would hold of the classes.
    fn content(model: &Model) -> (Vec<String>, Vec<u32>, BTreeMap<String, Vec<u8>>) {
        let tensors = model.scorer.tensors();
        let arrays = tensors
            .iter()
            .map(|(name, array)| (name.clone(), array.bytes().to_vec()));
        (
            model.classes.iter().map(str::to_owned).collect(),
            model.origin.class_counts.clone(),
            arrays.collect(),
        )
    }

    proptest! {
        #[test]
        fn merging_does_not_depend_on_the_order(
            weights in proptest::array::uniform3(proptest::array::uniform5(-20i16..20)),
            fixed: bool,
            order in Just(["a", "b", "d", "e"]).prop_shuffle(),
            cut in 2usize..4,
        ) {
            let at_once = model(&weights, fixed).merge_classes(&["a", "b", "d", "e"], "x").unwrap();
            let (some, rest) = order.split_at(cut);
            let mut second = vec!["some"];
            second.extend_from_slice(rest);
            second.reverse();
            let stepwise = model(&weights, fixed)
                .merge_classes(some, "some")
                .unwrap()
                .merge_classes(&second, "x")
                .unwrap();
            prop_assert_eq!(content(&at_once), content(&stepwise));
            prop_assert_eq!(at_once.classes.iter().collect::<Vec<_>>(), ["x", "c"]);
            prop_assert_eq!(at_once.origin.class_counts, [12, 3]);
        }
    }

    fn scores(model: &Model, row: &[(u32, f32)]) -> BTreeMap<String, f32> {
        let (indices, values): (Vec<u32>, Vec<f32>) = row.iter().copied().unzip();
        let row = RowView {
            indices: &indices,
            values: &values,
        };
        let mut best = Vec::new();
        model.scorer.top_k(row, 9, &mut Scratch::default(), &mut best);
        best.iter()
            .map(|best| (model.classes.name(best.class).to_owned(), best.score))
            .collect()
    }

    #[test]
    fn what_speaks_for_a_member_speaks_for_the_merged_class() {
        for fixed in [false, true] {
            let weights = [[16, 0, 0, 8, 0], [0, 32, 0, 4, 0], [-16, -8, 8, 0, 0]];
            let before = model(&weights, fixed);
            let rows = [vec![(0, 1.0)], vec![(1, 1.0)], vec![(0, 1.0), (1, 1.0), (2, 1.0)]];
            let untouched: Vec<_> = rows.iter().map(|row| scores(&before, row)["d"]).collect();
            let own: Vec<_> = [("a", &rows[0]), ("b", &rows[1])]
                .map(|(name, row)| scores(&before, row)[name] - before.scorer.bias(u32::from(name == "b")))
                .into();
            let merged = before.merge_classes(&["b", "a"], "b").unwrap();
            for (row, expected) in rows.iter().zip(&untouched) {
                assert_eq!(scores(&merged, row)["d"], *expected);
            }
            let bias = merged.scorer.bias(0);
            assert!((scores(&merged, &rows[0])["b"] - bias - own[0]).abs() < 1e-6);
            assert!((scores(&merged, &rows[1])["b"] - bias - own[1]).abs() < 1e-6);
        }
    }

    #[test]
    fn retired_classes_are_gone_and_the_others_score_as_before() {
        for fixed in [false, true] {
            let weights = [[16, 1, 2, 8, 0], [0, 32, 5, 4, 7], [-16, -8, 8, 0, 3]];
            let row = [(0, 1.0), (1, 0.5), (2, 0.25)];
            let before = model(&weights, fixed);
            let mut expected = scores(&before, &row);
            let after = before.retire_classes(&["a", "d"]).unwrap();
            expected.remove("a");
            expected.remove("d");
            assert_eq!(scores(&after, &row), expected);
            assert_eq!(after.origin.class_counts, [2, 3, 5]);
        }
    }

    #[test]
    fn names_change_all_at_once() {
        let mut model = model(&[[1; 5]; 3], true);
        model
            .rename_classes([("a", "b"), ("b", "a"), ("e", "é")])
            .unwrap();
        assert_eq!(
            model.classes.iter().collect::<Vec<_>>(),
            ["b", "a", "c", "d", "é"]
        );
    }

    #[test]
    fn requests_that_make_no_sense_say_why() {
        let new = || model(&[[1; 5]; 3], false);
        let complaint = |outcome: Result<Model>| outcome.err().unwrap().to_string();
        assert_eq!(
            new().rename_classes([("x", "y")]).unwrap_err().to_string(),
            "the model has no class `x`"
        );
        let empty = "a class cannot have an empty name";
        assert_eq!(new().rename_classes([("a", "")]).unwrap_err().to_string(), empty);
        assert_eq!(complaint(new().merge_classes(&["a", "b"], "")), empty);
        assert_eq!(
            new().rename_classes([("a", "c")]).unwrap_err().to_string(),
            "two classes would be called `c`; to make one class of them, merge them"
        );
        assert_eq!(
            new()
                .rename_classes([("a", "x"), ("a", "y")])
                .unwrap_err()
                .to_string(),
            "class `a` is to be renamed twice"
        );
        assert_eq!(
            complaint(new().merge_classes(&["a", "b"], "c")),
            "there is another class `c` already; merge it too, or choose another name"
        );
        assert_eq!(
            complaint(new().retire_classes(&["a", "b", "c", "d", "e"])),
            "a model must keep at least one class, but all would be retired"
        );
    }

    #[test]
    fn a_stripped_model_answers_as_before_and_says_that_it_cannot_go_on() {
        let mut model = model(&[[3; 5]; 3], true);
        let row = [(0, 1.0)];
        let before = scores(&model, &row);
        model.strip();
        assert_eq!(scores(&model, &row), before);
        assert!(model.origin.class_counts.is_empty());
        let known = &model.preprocessing;
        let grown = known.grown(RowNeeds::default(), 4, &Rows::new(), &LabelSets::new(), None);
        assert!(
            grown
                .unwrap_err()
                .to_string()
                .contains("was stripped from its file")
        );
    }
}
