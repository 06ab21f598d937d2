//! Models of upper levels of the hierarchy, mixed in where that helps: which levels are learned, and how
//! much they count.
//!
//! A class with a row or two has relatives with more. The classes under one broader concept are a group; the
//! same algorithm learns the groups of up to two levels from the same rows, and a class gets a little of the
//! score of its groups. Whether and how much that helps is told by rows that were not learned from.

mod scores;

use rustc_hash::FxHashMap;

use self::scores::GroupedScores;
pub(super) use self::scores::{LEAST_ROWS, mean_and_error};
use super::{BaseModel, TrainRequest, Trained};
use crate::catalogue::Method;
use crate::class_vocabulary::Hierarchy;
use crate::dataset::{CalibrationSplit, Dataset, LabelSets};
use crate::model::{Level, Model};
use crate::shards::Shard;
use crate::sparse::Rows;
use crate::text::Preprocessing;
use crate::{Result, Session, maths};

/// The levels that are learned: those whose number of groups is nearest to these powers of the number of
/// classes. Few groups tell little of a class, and many have hardly more rows than the classes.
const POWERS: [f64; 2] = [0.5, 0.7];

/// The groups of a level.
#[derive(Debug, Clone, PartialEq)]
struct Groups {
    depth: u16,
    /// The group of each class.
    group_of: Vec<u32>,
    count: usize,
}

impl Groups {
    /// Classes with a common ancestor at `depth`. Groups that were numbered before keep their numbers: those
    /// of the first classes are given.
    fn at(hierarchy: Option<&Hierarchy<'_>>, classes: usize, depth: u16, before: &[u32]) -> Self {
        let mut count = before.iter().max().map_or(0, |&last| last + 1);
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let mut group_of = Vec::with_capacity(classes);
        for class in 0..classes as u32 {
            let node = hierarchy.and_then(|hierarchy| hierarchy.nodes_at(class, depth).next());
            let known = before.get(class as usize).copied();
            let known = known.or_else(|| numbers.get(&node?).copied());
            let number = known.unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            if let Some(node) = node {
                numbers.entry(node).or_insert(number);
            }
            group_of.push(number);
        }
        Self {
            depth,
            group_of,
            count: count as usize,
        }
    }

    fn labels(&self, labels: &LabelSets) -> LabelSets {
        let mut grouped = LabelSets::new();
        for labels in labels.iter() {
            grouped.push(labels.iter().map(|&class| self.group_of[class as usize]));
        }
        grouped
    }

    /// `data`, with `rows` as its rows, labelled by group.
    fn dataset(&self, data: &Dataset, rows: Rows) -> Dataset {
        Dataset {
            rows,
            labels: self.labels(&data.labels),
            classes: (0..self.count).map(|group| group.to_string()).collect(),
            weights: data.weights.clone(),
            description_rows: data.description_rows,
        }
    }
}

/// The levels to be learned.
pub(super) struct UpperLevels {
    levels: Vec<Groups>,
    /// The rows, before the algorithm takes them.
    data: Dataset,
}

/// Who learns, and what besides the rows.
pub(super) struct Learning<'a> {
    pub(super) method: &'a Method,
    pub(super) held_out: Option<&'a Dataset>,
    pub(super) base: Option<(&'a Model, &'a Preprocessing)>,
    pub(super) shard: Option<&'a Shard>,
}

impl UpperLevels {
    /// The levels that `method` is to learn from `data`, if there are any. A model that is continued goes on
    /// with the levels that it has.
    pub(super) fn of(
        method: &Method,
        base: Option<&Model>,
        hierarchy: Option<&Hierarchy<'_>>,
        (data, held_out): (&Dataset, Option<&Dataset>),
        session: &Session<'_>,
    ) -> Option<Self> {
        let can_judge = match held_out {
            Some(held_out) => held_out.len() >= LEAST_ROWS,
            None => !CalibrationSplit::of(&data.labels).is_empty(),
        };
        if !method.trainer().support().upper_levels || (base.is_none() && !can_judge) {
            return None;
        }
        let classes = data.classes.len();
        let levels = match base {
            Some(base) => base
                .scorer
                .as_mixed()?
                .levels()
                .iter()
                .map(|level| Groups::at(hierarchy, classes, level.depth, &level.group_of))
                .collect(),
            None => choose_levels(hierarchy?, classes),
        };
        if levels.is_empty() {
            return None;
        }
        if base.is_none() && session.memory_budget().is_some() {
            session.note("upper levels of the hierarchy are not learned, to save memory");
            return None;
        }
        Some(Self {
            levels,
            data: data.clone(),
        })
    }

    /// Learns the levels, and gives those that are to be mixed into `trained`, if that helps.
    pub(super) fn mix_in(
        mut self,
        mut trained: Trained,
        learning: &Learning<'_>,
        session: &Session<'_>,
    ) -> Result<(Trained, Vec<Level>)> {
        // Checkpoints are those of the classes, and what is told is about them.
        let quiet = session.quiet()?;
        let mut learned = Vec::with_capacity(self.levels.len());
        let last = self.levels.len() - 1;
        for number in 0..=last {
            let rows = if number == last {
                std::mem::take(&mut self.data.rows)
            } else {
                self.data.rows.clone()
            };
            learned.push(self.learn(number, rows, learning, &quiet)?);
        }
        if learning.shard.is_some_and(|shard| shard.index() > 0) {
            return Ok((trained, Vec::new()));
        }
        let before = learning.base.and_then(|(base, _)| base.scorer.as_mixed());
        let scores = match learning.held_out {
            Some(held_out) => {
                let scorers = learned.iter().map(|level| &*level.scorer).collect::<Vec<_>>();
                GroupedScores::of_held_out(&*trained.scorer, &scorers, held_out, session)
            }
            None => GroupedScores::of_split(&trained, &learned),
        };
        let weights = if let Some(mixed) = before {
            mixed.levels().iter().map(|level| level.weight).collect()
        } else {
            let weight = scores.choose_weight(&self.levels);
            session.note(self.describe(weight));
            let Some(weight) = weight else {
                return Ok((trained, Vec::new()));
            };
            vec![weight; self.levels.len()]
        };
        if trained.calibration_scores.is_some() {
            trained.calibration_scores = Some(scores.mixed(&self.levels, &weights));
            trained.calibration_rows = scores.numbers;
        }
        let levels = learned.into_iter().zip(self.levels).zip(weights);
        let levels = levels.map(|((learned, groups), weight)| Level {
            scorer: learned.scorer,
            group_of: groups.group_of,
            weight,
            depth: groups.depth,
        });
        Ok((trained, levels.collect()))
    }

    fn describe(&self, weight: Option<f32>) -> String {
        let counts: Vec<String> = self
            .levels
            .iter()
            .map(|groups| groups.count.to_string())
            .collect();
        match weight {
            Some(weight) => format!(
                "upper levels of the hierarchy are mixed in: {} groups, which count {weight}",
                counts.join(" and ")
            ),
            None => "upper levels of the hierarchy are not mixed in: they did not help on held-out rows"
                .to_owned(),
        }
    }

    fn learn(
        &self,
        number: usize,
        rows: Rows,
        learning: &Learning<'_>,
        session: &Session<'_>,
    ) -> Result<Trained> {
        let groups = &self.levels[number];
        let held_out = learning
            .held_out
            .map(|held_out| groups.dataset(held_out, held_out.rows.clone()));
        let mut counts = vec![0u32; groups.count];
        let mut base_model = None;
        if let Some((base, preprocessing)) = learning.base
            && let Some(level) = base
                .scorer
                .as_mixed()
                .and_then(|mixed| mixed.levels().get(number))
        {
            for (class, &count) in base.origin.class_counts.iter().enumerate() {
                let count_of_group = &mut counts[groups.group_of[class] as usize];
                *count_of_group = count_of_group.saturating_add(count);
            }
            counts.truncate(level.scorer.classes());
            let of_classes = BaseModel::new(base, preprocessing, &self.data, session)?;
            let replay_rows = of_classes.replay.rows.clone();
            base_model = Some(BaseModel {
                scorer: &*level.scorer,
                class_counts: &counts,
                replay: groups.dataset(&of_classes.replay, replay_rows),
                replay_limit: 0,
                ..of_classes
            });
        }
        let request = TrainRequest {
            data: groups.dataset(&self.data, rows),
            held_out: held_out.as_ref(),
            base_model,
            on_disk: None,
            shard: learning.shard,
            split_hashes: None,
            held_bytes: 0,
            file_bytes: 0,
            bytes_before: 0,
        };
        learning.method.trainer().train(request, session)
    }
}

/// The levels nearest to [`POWERS`], the broadest first. A level must have groups of two classes on average.
fn choose_levels(hierarchy: &Hierarchy<'_>, classes: usize) -> Vec<Groups> {
    let all = (1..hierarchy.deepest()).map(|depth| Groups::at(Some(hierarchy), classes, depth, &[]));
    let mut fit: Vec<Groups> = all
        .filter(|groups| groups.count > 1 && 2 * groups.count <= classes)
        .collect();
    let mut chosen = Vec::new();
    for power in POWERS {
        let wanted = power * maths::ln(classes as f64);
        let distance = |groups: &Groups| (maths::ln(groups.count as f64) - wanted).abs();
        let nearest = (0..fit.len()).min_by(|&a, &b| distance(&fit[a]).total_cmp(&distance(&fit[b])));
        chosen.extend(nearest.map(|nearest| fit.remove(nearest)));
    }
    chosen.sort_by_key(|groups| groups.depth);
    chosen
}

#[cfg(test)]
mod tests;
