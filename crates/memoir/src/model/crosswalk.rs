//! Carries a model over to a revised classification by a table of old and new codes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Model, NewNumbers};
use crate::dataset::ClassNames;
use crate::sparse::Rows;
use crate::text::TextScratch;
use crate::{Error, Result};

/// What became of the classes of a model, and what could not be carried over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Crosswalk {
    /// Classes that got another name.
    pub renamed: usize,
    /// New classes that were made of several old ones.
    pub merged: usize,
    /// Old classes that were split, each with the new ones. These begin as copies of the old one.
    pub split: Vec<(String, Vec<String>)>,
    /// Classes without a successor: they are gone.
    pub retired: Vec<String>,
    /// Classes that the table does not name: they stay as they are.
    pub unnamed: Vec<String>,
    /// Old codes of the table that the model does not know.
    pub unknown: Vec<String>,
}

impl Model {
    /// The model for a revised classification. Each pair is an old code and a new one; an empty new one
    /// means that the class has no successor. One old code with several new ones is a split, several old
    /// ones with one new one are merged. Classes that no pair names stay.
    pub fn crosswalk<S: AsRef<str>>(self, pairs: &[(S, S)]) -> Result<(Self, Crosswalk)> {
        let mut told = Crosswalk::default();
        let mut targets: Vec<Option<Vec<&str>>> = vec![None; self.classes.len()];
        let mut unknown = BTreeSet::new();
        for (old, new) in pairs.iter().map(|(old, new)| (old.as_ref(), new.as_ref())) {
            match self.classes.find(old) {
                Some(class) => {
                    let of_class = targets[class as usize].get_or_insert_default();
                    if !new.is_empty() && !of_class.contains(&new) {
                        of_class.push(new);
                    }
                }
                None => {
                    unknown.insert(old.to_owned());
                }
            }
        }
        told.unknown = unknown.into_iter().collect();
        let mut names = ClassNames::new();
        // What each class becomes, before those that become the same are merged: one member, several, or
        // none.
        let mut members = vec![Vec::new(); targets.len()];
        let mut classes = Vec::new();
        for (class, of_class) in (0u32..).zip(&targets) {
            let old = self.classes.name(class);
            let news = of_class.as_deref().unwrap_or_else(|| {
                told.unnamed.push(old.to_owned());
                &[]
            });
            match news {
                [] if of_class.is_some() => told.retired.push(old.to_owned()),
                [new] => told.renamed += usize::from(*new != old),
                [_, _, ..] => {
                    let owned = news.iter().map(|new| (*new).to_owned()).collect();
                    told.split.push((old.to_owned(), owned));
                }
                [] => {}
            }
            let stays = [old];
            let becomes = if of_class.is_some() { news } else { &stays };
            for new in becomes {
                members[class as usize].push(classes.len() as u32);
                classes.push(names.intern(new));
            }
        }
        if names.is_empty() {
            return Err(Error::Parameter(
                "a model must keep at least one class, but the crosswalk leaves none".to_owned(),
            ));
        }
        let mut made = vec![0; names.len()];
        for &class in &classes {
            made[class as usize] += 1;
        }
        told.merged = made.iter().filter(|&&members| members > 1).count();
        let only = |members: &Vec<u32>| match members[..] {
            [only] => Some(only),
            _ => None,
        };
        let mut apart = NewNumbers::new(members.iter().map(only).collect());
        for (class, into) in (0u32..).zip(members).filter(|(_, into)| into.len() > 1) {
            apart.split(class, into);
        }
        let numbered = (0..classes.len()).map(|member| member.to_string()).collect();
        let merged = NewNumbers::new(classes.into_iter().map(Some).collect());
        let model = self.renumbered(&apart, numbered)?.renumbered(&merged, names)?;
        Ok((model, told))
    }
}

/// How much a text that is the name of a class adds to its score, when names tell classes apart.
const NAME_SCORE: f32 = 2.0;

impl Model {
    /// Tells classes apart that are copies of each other, until there are rows to do so: words of a class's
    /// names add to its score, words of the others' names take away. `groups` has the labels of such
    /// classes, as [`Crosswalk::split`] has them. Nothing changes where there are no names or no words.
    pub fn tell_apart_by_names(mut self, groups: &[(String, Vec<String>)]) -> Result<Self> {
        let mut changed = NewNumbers::unchanged(self.classes.len());
        let mut changes = false;
        for (_, labels) in groups {
            let mut by_feature: BTreeMap<u32, Vec<(u32, f32)>> = BTreeMap::new();
            let classes: Vec<u32> = labels
                .iter()
                .filter_map(|label| self.classes.find(label))
                .collect();
            for &class in &classes {
                for (feature, weight) in self.name_weights(class)? {
                    by_feature.entry(feature).or_default().push((class, weight));
                }
            }
            for (feature, weights) in by_feature {
                let mean = weights.iter().map(|entry| entry.1).sum::<f32>() / classes.len() as f32;
                for &class in &classes {
                    let own = weights.iter().find(|entry| entry.0 == class);
                    let weight = own.map_or(0.0, |entry| entry.1) - mean;
                    changed.add_weight(feature, class, weight);
                    changes |= weight != 0.0;
                }
            }
        }
        if changes {
            self.scorer = self.scorer.with_classes(&changed)?;
        }
        Ok(self)
    }

    /// Weights by which the names of a class score [`NAME_SCORE`].
    fn name_weights(&self, class: u32) -> Result<Vec<(u32, f32)>> {
        let concept = self.vocabulary.as_ref().and_then(|vocabulary| {
            let concept = vocabulary.concept_of_class(class)?;
            Some((vocabulary, concept))
        });
        let (Some((vocabulary, concept)), Some(_)) = (concept, self.preprocessing.text()) else {
            return Ok(Vec::new());
        };
        let names = vocabulary.terms(concept).filter(|term| term.kind.is_name());
        let names: Vec<&str> = names.map(|term| term.text).collect();
        let mut rows = Rows::new();
        self.preprocessing
            .text_row(&names.join(" "), &mut TextScratch::default(), &mut rows)?;
        // The constant feature, which comes last, says nothing of the name.
        let words = self.preprocessing.input_features() as u32;
        let row = || rows.row(0).iter().filter(|entry| entry.0 < words);
        let length: f32 = row().map(|(_, value)| value * value).sum();
        Ok(row()
            .map(|(feature, value)| (feature, NAME_SCORE * value / length))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_vocabulary::UnmatchedVocabulary;
    use crate::model::reclassify::tests::{model, scores};

    #[test]
    fn renames_merges_splits_and_ends() {
        for fixed in [false, true] {
            let weights = [[16, 1, 2, 8, 0], [0, 32, 5, 4, 7], [-16, -8, 8, 0, 3]];
            let row = [(0, 1.0), (1, 0.5), (2, 0.25)];
            let mut before = model(&weights, fixed);
            let labels = UnmatchedVocabulary::Labels {
                names: true,
                rule: None,
            };
            let (vocabulary, _) = labels.for_classes(&before.classes).unwrap();
            before.set_vocabulary(vocabulary).unwrap();
            let old = scores(&before, &row);
            let pairs = [
                ("a", "A"),
                ("b", "BC"),
                ("c", "BC"),
                ("d", "D1"),
                ("d", "D2"),
                ("e", ""),
                ("x", "y"),
            ];
            let (after, told) = before.crosswalk(&pairs).unwrap();
            let new = scores(&after, &row);
            assert_eq!(new["A"], old["a"]);
            assert_eq!((new["D1"], new["D2"]), (old["d"], old["d"]));
            assert!(new["BC"] >= old["b"].max(old["c"]));
            assert_eq!(new.len(), 4);
            assert_eq!(after.origin.class_counts, [1, 5, 4, 4]);
            assert_eq!(
                after.name_of_class(0, &[]),
                Some("a"),
                "the concept stays with the class"
            );
            let expected = Crosswalk {
                renamed: 3,
                merged: 1,
                split: vec![("d".to_owned(), vec!["D1".to_owned(), "D2".to_owned()])],
                retired: vec!["e".to_owned()],
                unnamed: vec![],
                unknown: vec!["x".to_owned()],
            };
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn classes_that_the_table_does_not_name_stay() {
        let (after, told) = model(&[[1; 5]; 3], true).crosswalk(&[("c", "new")]).unwrap();
        assert_eq!(
            after.classes.iter().collect::<Vec<_>>(),
            ["a", "b", "new", "d", "e"]
        );
        assert_eq!((told.renamed, told.unnamed.len()), (1, 4));
        let nothing = ["a", "b", "c", "d", "e"].map(|old| (old, ""));
        let refused = model(&[[1; 5]; 3], true).crosswalk(&nothing);
        assert!(
            refused
                .err()
                .unwrap()
                .to_string()
                .contains("the crosswalk leaves none")
        );
    }
}
