//! Classes that were merged, answered by the scores of their members.
//!
//! A merged class keeps the weights of all its members. Its score is made of theirs when a row is answered:
//! scores of `softmax` are logarithms of shares, so shares add up and the merged class has
//! `ln(Σ exp(1.5 score)) / 1.5`; scores of other algorithms are no logarithms, and the largest counts. Only
//! the few best members of all add up: training compares few classes of a row, and the scores of the many
//! others together would outweigh the best.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{LoadScorer, NewNumbers, Precision, Scorer, Scratch, Tensor};
use crate::sparse::{RowView, Scored};
use crate::{Result, maths};

/// Members that are asked for, so that there are as many classes as wanted.
pub(super) const SEARCHED: usize = 256;

/// Members of a row that add up. With more of them, classes that have nothing in common, merged, would win
/// by their number (docs/lab-notes/2026-11-18-daily.md).
const ADDED: usize = 5;

/// What scores are multiplied by before they add up, and divided by after: the best temperature of a softmax
/// over all classes is about this.
const SHARPNESS: f64 = 1.5;

/// Name of the kind of scorer.
pub(super) const MERGED: &str = "merged";

/// The array that says which class each member belongs to.
pub(super) const MEMBERS: &str = "classes.members";

/// How the scores of members make the score of their class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The logarithm of the sum of the exponentials of the best, sharpened.
    LogSum,
    /// The largest of them.
    Largest,
}

/// A scorer some of whose classes are one class to the user.
pub struct Merged {
    inner: Box<dyn Scorer>,
    /// The class of each class of `inner`.
    class_of: Vec<u32>,
    classes: usize,
    rule: Rule,
}

/// Reusable memory.
#[derive(Default)]
struct Buffers {
    inner: Scratch,
    members: Vec<Scored>,
    /// The place of each class in `sums`, or `u32::MAX`.
    slots: Vec<u32>,
    sums: Vec<Sum>,
}

/// The score of a class in the making.
struct Sum {
    class: u32,
    /// The largest score of its members, which comes first.
    largest: f32,
    /// What the other members add: the sum of their exponentials, beside that of the largest.
    others: f64,
}

impl Merged {
    /// Makes one class of all classes of `inner` that get the same of the `classes` numbers.
    pub(super) fn new(inner: Box<dyn Scorer>, class_of: Vec<u32>, classes: usize, rule: Rule) -> Self {
        Self {
            inner,
            class_of,
            classes,
            rule,
        }
    }

    /// The class of each member.
    pub(super) fn class_of(&self) -> &[u32] {
        &self.class_of
    }

    /// What scores the members.
    pub(super) fn inner(&self) -> &dyn Scorer {
        &*self.inner
    }

    /// How scores are combined.
    pub(super) fn rule(&self) -> Rule {
        self.rule
    }

    /// An error in words if a member is of no class, or a class has no member.
    pub(super) fn check_members(class_of: &[u32], classes: usize) -> std::result::Result<(), String> {
        let mut has_member = vec![false; classes];
        for &class in class_of {
            match has_member.get_mut(class as usize) {
                Some(has) => *has = true,
                None => return Err(format!("`{MEMBERS}` names class {class} of {classes}")),
            }
        }
        match has_member.iter().position(|has| !has) {
            Some(class) => Err(format!("class {class} has no member in `{MEMBERS}`")),
            None => Ok(()),
        }
    }

    fn members(&self, class: u32) -> impl Iterator<Item = u32> {
        let members = (0u32..).zip(&self.class_of);
        members
            .filter(move |(_, of)| **of == class)
            .map(|(member, _)| member)
    }

    fn combine(&self, k: usize, buffers: &mut Buffers, out: &mut Vec<Scored>) {
        let Buffers {
            members, slots, sums, ..
        } = buffers;
        slots.clear();
        slots.resize(self.classes, u32::MAX);
        sums.clear();
        for (rank, member) in members.iter().enumerate() {
            let class = self.class_of[member.class as usize];
            let slot = &mut slots[class as usize];
            if let Some(sum) = sums.get_mut(*slot as usize) {
                if rank < ADDED {
                    sum.others += maths::exp(SHARPNESS * f64::from(member.score - sum.largest));
                }
            } else {
                *slot = sums.len() as u32;
                sums.push(Sum {
                    class,
                    largest: member.score,
                    others: 0.0,
                });
            }
        }
        out.clear();
        out.extend(sums.iter().map(|sum| {
            let more = match self.rule {
                Rule::LogSum => maths::ln_1p(sum.others) / SHARPNESS,
                Rule::Largest => 0.0,
            };
            Scored {
                class: sum.class,
                score: (f64::from(sum.largest) + more) as f32,
            }
        }));
        out.sort_unstable_by(Scored::order);
        out.truncate(k);
    }

    /// The same with another inner scorer, whose classes are the same.
    fn with_inner(
        mut self: Box<Self>,
        change: impl FnOnce(Box<dyn Scorer>) -> Result<Box<dyn Scorer>>,
    ) -> Result<Box<dyn Scorer>> {
        self.inner = change(self.inner)?;
        Ok(self)
    }
}

impl Scorer for Merged {
    fn kind(&self) -> &'static str {
        MERGED
    }

    fn loader(&self) -> LoadScorer {
        self.inner.loader()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.inner.features()
    }

    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        let buffers = scratch.get::<Buffers>();
        let wanted = k.min(self.classes);
        let all = self.inner.classes();
        let mut asked = all.min(SEARCHED.max(wanted.saturating_mul(4)));
        loop {
            self.inner
                .top_k(row, asked, &mut buffers.inner, &mut buffers.members);
            self.combine(k, buffers, out);
            if out.len() >= wanted || asked == all {
                return;
            }
            asked = all;
        }
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let mut tensors = self.inner.tensors();
        tensors.push((MEMBERS.to_owned(), Tensor::U32(&self.class_of)));
        tensors
    }

    fn as_merged(&self) -> Option<&Merged> {
        Some(self)
    }

    fn with_precision(self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        self.with_inner(|inner| inner.with_precision(precision))
    }

    fn with_largest_weights(self: Box<Self>, most: usize) -> Result<Box<dyn Scorer>> {
        self.with_inner(|inner| inner.with_largest_weights(most))
    }

    /// The members of classes that go are gone, too; those of classes that are split are copied.
    fn with_classes(mut self: Box<Self>, new_numbers: &NewNumbers) -> Result<Box<dyn Scorer>> {
        let (of_members, class_of) = new_numbers.of_members(&self.class_of);
        self.inner = self.inner.with_classes(&of_members)?;
        self.class_of = class_of;
        self.classes = new_numbers.classes();
        Ok(self)
    }

    fn merge(&mut self, new_numbers: &NewNumbers) -> bool {
        for class in &mut self.class_of {
            *class = new_numbers.number(*class).unwrap_or(*class);
        }
        self.classes = new_numbers.classes();
        true
    }

    fn weight_storage(&self) -> Option<(usize, &'static str)> {
        self.inner.weight_storage()
    }

    fn check_content(&self) -> std::result::Result<(), String> {
        Self::check_members(&self.class_of, self.classes)?;
        self.inner.check_content()
    }

    fn bias(&self, class: u32) -> f32 {
        let biases = self.members(class).map(|member| self.inner.bias(member));
        biases.reduce(f32::max).unwrap_or(0.0)
    }

    /// Those of the member with the highest score: what the others add is no matter of single features.
    fn contributions(&self, row: RowView<'_>, class: u32) -> Option<Vec<(u32, f32)>> {
        let mut best: Option<(f32, Vec<(u32, f32)>)> = None;
        for member in self.members(class) {
            let shares = self.inner.contributions(row, member)?;
            let score = self.inner.bias(member) + shares.iter().map(|share| share.1).sum::<f32>();
            if best.as_ref().is_none_or(|(highest, _)| score > *highest) {
                best = Some((score, shares));
            }
        }
        best.map(|(_, shares)| shares)
    }

    fn feature_weights(&self, feature: u32) -> Option<Vec<(u32, f32)>> {
        let postings = self.inner.feature_weights(feature)?;
        let postings = postings
            .into_iter()
            .map(|(member, weight)| (self.class_of[member as usize], weight));
        Some(largest_of_each(postings.collect()))
    }

    fn class_weights_among(&self, class: u32, features: Range<u32>) -> Option<Vec<(u32, f32)>> {
        let mut weights = Vec::new();
        for member in self.members(class) {
            weights.extend(self.inner.class_weights_among(member, features.clone())?);
        }
        Some(largest_of_each(weights))
    }
}

/// The largest weight of each number, by rising number.
pub(super) fn largest_of_each(mut weights: Vec<(u32, f32)>) -> Vec<(u32, f32)> {
    weights.sort_by(|left, right| left.0.cmp(&right.0).then(right.1.total_cmp(&left.1)));
    // The first of equal ones is the largest.
    weights.dedup_by_key(|weight| weight.0);
    weights
}
