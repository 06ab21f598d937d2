//! Names of classes that are found in a row: what all classes have in common to be chosen by.
//!
//! A row is searched for the names of its best classes. A class gets more if its name is there whole, by its
//! words or by their stems, and more again if the text opens with it; the rarer the name, the more. How much
//! is the same for all classes, so it also holds for those with a row or two.

use serde::{Deserialize, Serialize};

use super::{NewNumbers, Storage, Tensor};
use crate::sparse::RowView;

/// The arrays of a model file.
pub(super) const STARTS: &str = "classes.name_starts";
pub(super) const FEATURES: &str = "classes.name_features";
pub(super) const RARITY: &str = "classes.name_rarity";

/// Ways to write a name, each with features of its own: words, stems, words that a text opens with.
const FORMS: usize = 3;

/// The features of a name, as far as rows have such features. A form that some word of the name has no
/// feature for is empty: such a name cannot be found whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NameFeatures {
    /// Of its words.
    pub words: Vec<u32>,
    /// Of the stems of its words.
    pub stems: Vec<u32>,
    /// Of its words where a text opens with them.
    pub opening: Vec<u32>,
}

/// How much a name that is found counts. Both are multiplied by how rare the name is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct NameWeights {
    /// Where all of it is in the text.
    pub whole: f32,
    /// In addition, where the text opens with all of it.
    pub opening: f32,
}

/// The names of all classes, and how much they count.
pub struct NameMatches {
    /// For each class and form, where its features start; one more at the end.
    starts: Storage<u32>,
    features: Storage<u32>,
    /// How rare the name of each class is.
    rarity: Storage<f32>,
    weights: NameWeights,
}

/// Which parts of the score a name that is found may give, before weighting.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) whole: f32,
    pub(crate) opening: f32,
}

impl Found {
    /// What it adds to the score.
    pub(crate) fn score(self, weights: NameWeights) -> f32 {
        weights.whole * self.whole + weights.opening * self.opening
    }
}

impl NameMatches {
    /// The names of classes with how rare they are; classes without one have no features.
    pub(crate) fn new(names: impl IntoIterator<Item = (NameFeatures, f32)>) -> Self {
        let (mut starts, mut features, mut rarities) = (vec![0], Vec::new(), Vec::new());
        for (name, rarity) in names {
            for form in [name.words, name.stems, name.opening] {
                features.extend(form);
                starts.push(features.len() as u32);
            }
            rarities.push(rarity);
        }
        Self {
            starts: starts.into(),
            features: features.into(),
            rarity: rarities.into(),
            weights: NameWeights::default(),
        }
    }

    /// Names as a file holds them, or what is wrong with them.
    pub(super) fn from_storage(
        (starts, features, rarity): (Storage<u32>, Storage<u32>, Storage<f32>),
        weights: NameWeights,
        (classes, width): (usize, usize),
    ) -> Result<Self, String> {
        let names = Self {
            starts,
            features,
            rarity,
            weights,
        };
        names.check(classes, width)?;
        Ok(names)
    }

    /// What is wrong with the names of so many classes in rows of so many features, if anything.
    pub(super) fn check(&self, classes: usize, width: usize) -> Result<(), String> {
        if self.rarity.len() != classes || self.starts.len() != FORMS * classes + 1 {
            return Err(format!(
                "`{STARTS}` and `{RARITY}` have {} and {} elements for {classes} classes",
                self.starts.len(),
                self.rarity.len()
            ));
        }
        let (first, last) = (self.starts.first(), self.starts.last());
        let fits = first == Some(&0) && last.is_some_and(|&last| last as usize == self.features.len());
        if !fits || !self.starts.is_sorted() {
            return Err(format!("`{STARTS}` does not divide `{FEATURES}`"));
        }
        if let Some(feature) = self.features.iter().find(|&&feature| feature as usize >= width) {
            return Err(format!("a name has feature {feature}, but there are {width}"));
        }
        let weights = [self.weights.whole, self.weights.opening];
        if !self
            .rarity
            .iter()
            .chain(&weights)
            .all(|number| number.is_finite())
        {
            return Err("how much names count is not a number".to_owned());
        }
        Ok(())
    }

    /// The same names with other weights.
    pub(crate) fn with_weights(self, weights: NameWeights) -> Self {
        Self { weights, ..self }
    }

    pub(crate) fn weights(&self) -> NameWeights {
        self.weights
    }

    /// Whether some text could open with a name.
    pub(crate) fn has_openings(&self) -> bool {
        (0..self.rarity.len() as u32).any(|class| !self.form(class, 2).is_empty())
    }

    pub(super) fn tensors(&self) -> [(String, Tensor<'_>); 3] {
        [
            (STARTS.to_owned(), Tensor::U32(&self.starts)),
            (FEATURES.to_owned(), Tensor::U32(&self.features)),
            (RARITY.to_owned(), Tensor::F32(&self.rarity)),
        ]
    }

    /// The features of a form of the name of `class`.
    fn form(&self, class: u32, form: usize) -> &[u32] {
        let place = class as usize * FORMS + form;
        match self.starts.get(place..place + 2) {
            Some(&[start, end]) => self
                .features
                .get(start as usize..end as usize)
                .unwrap_or_default(),
            _ => &[],
        }
    }

    /// The form by which `row` has the name of `class` whole.
    fn whole(&self, row: RowView<'_>, class: u32) -> Option<&[u32]> {
        let forms = [self.form(class, 0), self.form(class, 1)];
        forms.into_iter().find(|form| has_all(row, form))
    }

    /// What of the name of `class` is found in `row`.
    pub(crate) fn find(&self, row: RowView<'_>, class: u32) -> Found {
        let rarity = self.rarity.get(class as usize).copied().unwrap_or(0.0);
        let part = |found: bool| if found { rarity } else { 0.0 };
        Found {
            whole: part(self.whole(row, class).is_some()),
            opening: part(has_all(row, self.form(class, 2))),
        }
    }

    /// What is added to the score of `class`.
    pub(super) fn score(&self, row: RowView<'_>, class: u32) -> f32 {
        self.find(row, class).score(self.weights)
    }

    /// What is added to the score of `class`, shared out to the features of its name, which are equal in it.
    pub(super) fn shares(&self, row: RowView<'_>, class: u32) -> Vec<(u32, f32)> {
        let found = self.find(row, class);
        let opening = Some(self.form(class, 2)).filter(|form| has_all(row, form));
        let parts = [
            (self.whole(row, class), self.weights.whole * found.whole),
            (opening, self.weights.opening * found.opening),
        ];
        let mut shares = Vec::new();
        for (form, score) in parts {
            let form = form.unwrap_or_default();
            shares.extend(form.iter().map(|&feature| (feature, score / form.len() as f32)));
        }
        shares
    }

    /// The names of the classes that are left; a class that is made of several has that of the first.
    pub(super) fn with_classes(&self, new_numbers: &NewNumbers) -> Self {
        let sources = new_numbers.combine(0..self.rarity.len() as u32, |first, _| first);
        self.of_classes(sources.into_iter().map(Some))
    }

    /// The same names, and as many more classes without one as there are beyond these.
    pub(crate) fn for_more_classes(&self, classes: usize) -> Self {
        let known = self.rarity.len() as u32;
        self.of_classes((0..classes as u32).map(|class| (class < known).then_some(class)))
    }

    fn of_classes(&self, classes: impl Iterator<Item = Option<u32>>) -> Self {
        let name = |class: u32| {
            let form = |form: usize| self.form(class, form).to_vec();
            let features = NameFeatures {
                words: form(0),
                stems: form(1),
                opening: form(2),
            };
            (features, self.rarity.get(class as usize).copied().unwrap_or(0.0))
        };
        Self::new(classes.map(|class| class.map(name).unwrap_or_default())).with_weights(self.weights)
    }
}

/// Whether `row` has all of `features`, of which there must be one at least.
fn has_all(row: RowView<'_>, features: &[u32]) -> bool {
    let has = |feature: &u32| row.indices.binary_search(feature).is_ok();
    !features.is_empty() && features.iter().all(has)
}

#[cfg(test)]
mod tests;
