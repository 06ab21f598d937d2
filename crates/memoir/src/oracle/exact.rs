//! `exact`: the scores of all classes, from lists of the classes by feature. The truth that other oracles
//! are tested against, and the fastest one while rows are short.
//!
//! A row meets only the lists of its own features. A feature that many classes have (the constant one: all)
//! is a dense array, which is added without looking at class numbers.

use super::{Oracle, Query};
use crate::model::Scratch;
use crate::sparse::{ClassRows, ClassVectors, RowView, Scored, TopK};
use crate::{Result, Session};

/// A feature that more than one in so many classes have becomes a dense array: adding that costs about an
/// eighth of a scattered addition per class.
const DENSE_SHARE: usize = 8;

/// Classes looked at together when selecting: one comparison with their maximum rules most groups out.
const GROUP: usize = 32;

/// When more than one in so many entries belong to changed classes, building the lists anew is cheaper than
/// editing.
const REBUILD_SHARE: usize = 8;

/// Features handled between two looks at the cancel flag.
const STRIDE: usize = 1 << 12;

/// The classes that have a feature, with their weights.
#[derive(Debug, Clone)]
enum Postings {
    /// In increasing order.
    Sparse(Vec<(u32, f32)>),
    /// One for each class, 0 where it has none.
    Dense(Vec<f32>),
}

impl Postings {
    fn set(&mut self, class: u32, weight: f32, classes: usize) {
        match self {
            Self::Dense(all) => all[class as usize] = weight,
            Self::Sparse(list) => match list.binary_search_by_key(&class, |posting| posting.0) {
                Ok(index) => list[index].1 = weight,
                Err(index) => {
                    list.insert(index, (class, weight));
                    if is_dense(list.len(), classes) {
                        *self = Self::Dense(spread(list, classes));
                    }
                }
            },
        }
    }

    fn remove(&mut self, class: u32) {
        match self {
            // Stays dense: rare, and put right when the lists are next built anew.
            Self::Dense(all) => all[class as usize] = 0.0,
            Self::Sparse(list) => {
                if let Ok(index) = list.binary_search_by_key(&class, |posting| posting.0) {
                    list.remove(index);
                }
            }
        }
    }
}

fn is_dense(postings: usize, classes: usize) -> bool {
    postings * DENSE_SHARE > classes
}

fn spread(list: &[(u32, f32)], classes: usize) -> Vec<f32> {
    let mut all = vec![0.0; classes];
    for &(class, weight) in list {
        all[class as usize] = weight;
    }
    all
}

/// Scores every class.
#[derive(Debug, Clone, Default)]
pub struct Exact {
    features: Vec<Postings>,
    /// The features of each class as the lists have them.
    known: Vec<Vec<u32>>,
    entries: usize,
}

#[derive(Default)]
struct ExactScratch {
    scores: Vec<f32>,
    top: TopK,
}

impl Exact {
    fn rebuild(&mut self, weights: &ClassRows, session: &Session<'_>) -> Result<()> {
        let (classes, width) = (weights.classes(), weights.width());
        let mut counts = vec![0u32; width];
        for class in 0..classes as u32 {
            for &feature in weights.row(class).indices {
                counts[feature as usize] += 1;
            }
        }
        session.check()?;
        self.features = counts
            .iter()
            .map(|&count| {
                if is_dense(count as usize, classes) {
                    Postings::Dense(vec![0.0; classes])
                } else {
                    Postings::Sparse(Vec::with_capacity(count as usize))
                }
            })
            .collect();
        self.known.resize(classes, Vec::new());
        self.entries = 0;
        for class in 0..classes as u32 {
            if (class as usize).is_multiple_of(STRIDE) {
                session.check()?;
            }
            let row = weights.row(class);
            for (feature, weight) in row.iter() {
                match &mut self.features[feature as usize] {
                    Postings::Sparse(list) => list.push((class, weight)),
                    Postings::Dense(all) => all[class as usize] = weight,
                }
            }
            self.note(class, row);
        }
        Ok(())
    }

    fn replace(&mut self, class: u32, row: RowView<'_>, classes: usize) {
        let old = &self.known[class as usize];
        for &feature in old {
            if row.indices.binary_search(&feature).is_err() {
                self.features[feature as usize].remove(class);
            }
        }
        for (feature, weight) in row.iter() {
            self.features[feature as usize].set(class, weight, classes);
        }
        self.note(class, row);
    }

    fn note(&mut self, class: u32, row: RowView<'_>) {
        let known = &mut self.known[class as usize];
        self.entries = (self.entries + row.len()).saturating_sub(known.len());
        known.clear();
        known.extend_from_slice(row.indices);
    }

    /// The unscaled scores of all classes; always the same sum in the same order.
    fn scores<'s>(&self, classes: usize, row: RowView<'_>, scores: &'s mut Vec<f32>) -> &'s [f32] {
        scores.clear();
        scores.resize(classes, 0.0);
        let scores = scores.as_mut_slice();
        for (feature, value) in row.iter() {
            match self.features.get(feature as usize) {
                Some(Postings::Sparse(list)) => {
                    for &(class, weight) in list {
                        if let Some(score) = scores.get_mut(class as usize) {
                            *score += value * weight;
                        }
                    }
                }
                Some(Postings::Dense(all)) => {
                    for (score, weight) in scores.iter_mut().zip(all) {
                        *score += value * weight;
                    }
                }
                None => {}
            }
        }
        scores
    }
}

impl Oracle<ClassRows> for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn update(&mut self, weights: &ClassRows, changed: &[u32], session: &Session<'_>) -> Result<()> {
        let changing: usize = changed.iter().map(|&class| weights.row(class).len()).sum();
        if self.known.len() != weights.classes() || changing * REBUILD_SHARE > self.entries {
            self.known.iter_mut().for_each(Vec::clear);
            return self.rebuild(weights, session);
        }
        for (count, &class) in changed.iter().enumerate() {
            if count % STRIDE == 0 {
                session.check()?;
            }
            self.replace(class, weights.row(class), weights.classes());
        }
        Ok(())
    }

    fn search(
        &self,
        weights: &ClassRows,
        query: &Query<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<Scored>,
    ) -> usize {
        let ExactScratch { scores, top } = scratch.get::<ExactScratch>();
        let classes = weights.classes();
        let scores = self.scores(classes, query.row, scores);
        let zeros = weights.zeros();
        top.reset(query.k);
        for (group, scores) in scores.chunks(GROUP).enumerate() {
            let threshold = top.threshold();
            let above: usize = scores.iter().map(|&score| usize::from(score > threshold)).sum();
            if above == 0 {
                continue;
            }
            for (index, &score) in scores.iter().enumerate() {
                let class = (group * GROUP + index) as u32;
                if score > top.threshold()
                    && !zeros.contains(class)
                    && query.labels.binary_search(&class).is_err()
                {
                    // Adding zero turns -0 into 0, so that `>` agrees with the total order of scores.
                    top.offer(Scored {
                        class,
                        score: score + 0.0,
                    });
                }
            }
        }
        top.finish(out);
        classes - zeros.as_slice().len()
    }
}
