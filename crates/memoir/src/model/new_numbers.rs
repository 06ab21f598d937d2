//! What becomes of a model's classes when some are merged, split or retired.

use std::collections::BTreeMap;

use super::merged::largest_of_each;

/// The new numbers of a model's classes.
#[derive(Debug)]
pub struct NewNumbers {
    /// The number that each class gets, or nothing if it goes or is split. Several classes may get the same
    /// one.
    numbers: Vec<Option<u32>>,
    /// The numbers of the classes that a class is split into.
    splits: BTreeMap<u32, Vec<u32>>,
    /// By feature, what is added to the weights of classes as they are afterwards.
    added: BTreeMap<u32, Vec<(u32, f32)>>,
    classes: usize,
}

impl NewNumbers {
    /// Classes get these numbers, which run from 0 without a gap, or none.
    pub(super) fn new(numbers: Vec<Option<u32>>) -> Self {
        let classes = numbers
            .iter()
            .flatten()
            .max()
            .map_or(0, |&last| last as usize + 1);
        Self {
            numbers,
            splits: BTreeMap::new(),
            added: BTreeMap::new(),
            classes,
        }
    }

    /// All of `classes` classes stay as they are.
    pub(super) fn unchanged(classes: usize) -> Self {
        Self::new((0..classes as u32).map(Some).collect())
    }

    /// Adds to the weight that `feature` has for the class `class`, as it is numbered afterwards.
    pub(super) fn add_weight(&mut self, feature: u32, class: u32, weight: f32) {
        self.added.entry(feature).or_default().push((class, weight));
    }

    /// Splits `class` into the classes `into`, each of which begins as its copy.
    pub(super) fn split(&mut self, class: u32, into: Vec<u32>) {
        self.numbers[class as usize] = None;
        let last = into.iter().max().map_or(0, |&last| last as usize + 1);
        self.classes = self.classes.max(last);
        self.splits.insert(class, into);
    }

    /// How many classes there are afterwards.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The number that `class` gets, or nothing if it goes or is split.
    pub fn number(&self, class: u32) -> Option<u32> {
        self.numbers.get(class as usize).copied().flatten()
    }

    /// The number that each class gets, if none goes, is split, or gets other weights.
    pub(super) fn only_merged(&self) -> Option<Vec<u32>> {
        let changes = !self.splits.is_empty() || !self.added.is_empty();
        if changes {
            return None;
        }
        self.numbers.iter().copied().collect()
    }

    /// The same for the members of merged classes, and the class that each of them belongs to afterwards.
    /// `class_of` tells that for the members that there are.
    pub(super) fn of_members(&self, class_of: &[u32]) -> (Self, Vec<u32>) {
        let mut classes = Vec::new();
        let mut splits = Vec::new();
        let mut numbers = Vec::with_capacity(class_of.len());
        for (member, &class) in (0u32..).zip(class_of) {
            let first = classes.len() as u32;
            classes.extend(self.targets(class));
            let into: Vec<u32> = (first..classes.len() as u32).collect();
            match into[..] {
                [only] => numbers.push(Some(only)),
                _ => numbers.push(None),
            }
            if into.len() > 1 {
                splits.push((member, into));
            }
        }
        let mut of_members = Self::new(numbers);
        for (member, into) in splits {
            of_members.split(member, into);
        }
        for (&feature, weights) in &self.added {
            for &(class, weight) in weights {
                let members = (0u32..).zip(&classes).filter(|(_, of)| **of == class);
                members.for_each(|(member, _)| of_members.add_weight(feature, member, weight));
            }
        }
        (of_members, classes)
    }

    /// All numbers that `class` gets.
    fn targets(&self, class: u32) -> impl Iterator<Item = u32> + '_ {
        let splits = self.splits.get(&class).into_iter().flatten().copied();
        self.number(class).into_iter().chain(splits)
    }

    /// The postings of `feature`, by rising class, as they are afterwards.
    pub fn renumber(&self, feature: u32, postings: Vec<(u32, f32)>) -> Vec<(u32, f32)> {
        let targets = postings
            .into_iter()
            .flat_map(|(class, weight)| self.targets(class).map(move |target| (target, weight)));
        let mut renumbered = largest_of_each(targets.collect());
        for &(class, weight) in self.added.get(&feature).into_iter().flatten() {
            match renumbered.binary_search_by_key(&class, |posting| posting.0) {
                Ok(place) => renumbered[place].1 += weight,
                Err(place) => renumbered.insert(place, (class, weight)),
            }
        }
        renumbered
    }

    /// For each class afterwards, the combination by `combine` of what its members have in `of`.
    pub fn combine<T: Copy>(&self, of: impl IntoIterator<Item = T>, combine: impl Fn(T, T) -> T) -> Vec<T> {
        let mut combined: Vec<Option<T>> = vec![None; self.classes];
        for (class, value) in (0u32..).zip(of) {
            for target in self.targets(class) {
                let place = &mut combined[target as usize];
                *place = Some(place.map_or(value, |before| combine(before, value)));
            }
        }
        // Every class has a member, so nothing is lost here.
        combined.into_iter().flatten().collect()
    }

    /// For each class afterwards, the classes that it was made of.
    pub(super) fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.classes];
        for class in 0..self.numbers.len() as u32 {
            for target in self.targets(class) {
                members[target as usize].push(class);
            }
        }
        members
    }
}
