//! The rivals of each row of a batch: found by an exact scan, or remembered from an earlier pass and scored again.

use rayon::prelude::*;

use super::emphasis::Emphasis;
use super::gradient;
use super::rows::QuantizedRows;
use super::update::BatchSlopes;
use super::weights::Weights;
use crate::data::Dataset;
use crate::per_thread::PerThread;
use crate::sparse::fixed::{
    FeatureRow, FeatureRows, FixedScore, Posting, QuantizedRow, SearchScratch, for_each_common, search,
};
use crate::{Result, Session};

/// Rows that one task works through. Fixed, so that results never depend on the number of threads.
const TASK: usize = 32;

/// The rivals of all training rows as last found. An inexact oracle: weights move, the strongest classes mostly stay.
pub(super) struct RivalMemory {
    rivals: usize,
    /// `rivals` classes per row; [`NOBODY`] fills up.
    classes: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

/// Rivals this much below the strongest are not remembered: they hold less than a twentieth of its mass, and scoring
/// them again would be the larger part of the later passes.
const FAR_BELOW: f32 = 3.0;

/// The rivals that later passes should know.
fn worth_remembering(rivals: &[(u32, f32)]) -> impl Iterator<Item = u32> {
    let strongest = rivals
        .iter()
        .fold(f32::NEG_INFINITY, |most, rival| most.max(rival.1));
    let near = rivals
        .iter()
        .filter(move |rival| rival.1 >= strongest - FAR_BELOW);
    near.map(|rival| rival.0)
}

impl RivalMemory {
    pub(super) fn new(rows: usize, rivals: usize) -> Self {
        Self {
            rivals,
            classes: vec![NOBODY; rows * rivals],
        }
    }

    pub(super) fn bytes(rows: usize, rivals: usize) -> usize {
        rows * rivals * size_of::<u32>()
    }

    /// The classes of all rows, to be put back by [`RivalMemory::restore`].
    pub(super) fn all(&self) -> &[u32] {
        &self.classes
    }

    /// Puts the classes of all rows back, if there are as many.
    pub(super) fn restore(&mut self, classes: Vec<u32>) -> bool {
        let fits = classes.len() == self.classes.len();
        if fits {
            self.classes = classes;
        }
        fits
    }

    pub(super) fn row(&self, row: usize) -> &[u32] {
        let all = &self.classes[row * self.rivals..(row + 1) * self.rivals];
        &all[..all.iter().position(|&class| class == NOBODY).unwrap_or(all.len())]
    }

    /// Keeps the rivals of a row; they must be sorted, so that scoring them walks through postings in one direction.
    fn remember(&mut self, row: usize, rivals: &[u32]) {
        debug_assert!(rivals.is_sorted());
        let (place, rest) =
            self.classes[row * self.rivals..(row + 1) * self.rivals].split_at_mut(rivals.len());
        place.copy_from_slice(rivals);
        rest.fill(NOBODY);
    }
}

/// Where a batch's rivals come from.
pub(super) enum Source<'a> {
    /// An exact scan; what it finds is remembered, if there is a memory.
    Scan(Option<&'a mut RivalMemory>),
    /// The classes found before.
    Memory(&'a RivalMemory),
}

/// Finds rivals and slopes for batches of rows, with reusable memory.
pub(super) struct RivalSearch<'a> {
    pub(super) data: &'a Dataset,
    pub(super) rows: &'a QuantizedRows,
    pub(super) rivals: usize,
    /// Slopes of rivals below this are left out.
    pub(super) least_slope: f32,
    pub(super) emphasis: Emphasis,
    /// The weight of a row that counts as one.
    pub(super) usual_weight: f32,
    /// Rows from this number on are repeated ones.
    pub(super) first_repeated: usize,
    pub(super) scratches: PerThread<Scratch>,
    pub(super) tasks: Vec<Task>,
}

#[derive(Default)]
pub(super) struct Scratch {
    search: SearchScratch,
    found: Vec<FixedScore>,
    label_scores: Vec<i32>,
    /// Rivals and labels of a row, and the score of each.
    classes: Vec<u32>,
    scores: Vec<i32>,
    /// For each class one more than its place among those that are scored, or 0.
    places: Vec<u32>,
    rivals: Vec<(u32, f32)>,
}

/// What one task leaves behind.
#[derive(Default)]
pub(super) struct Task {
    slopes: BatchSlopes,
    /// Rivals of its rows to remember, one row after the other, with the end of each row's.
    rivals: Vec<u32>,
    rival_ends: Vec<usize>,
}

impl<'a> RivalSearch<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        rows: &'a QuantizedRows,
        rivals: usize,
        least_slope: f32,
        session: &Session<'_>,
    ) -> Self {
        Self {
            data,
            rows,
            rivals,
            least_slope,
            emphasis: Emphasis::default(),
            usual_weight: 1.0,
            first_repeated: usize::MAX,
            scratches: PerThread::new(session, Scratch::default),
            tasks: Vec::new(),
        }
    }

    /// Lets rows count by their classes, and those from number `first_repeated` on as repeated ones.
    pub(super) fn with_emphasis(mut self, emphasis: Emphasis, first_repeated: usize) -> Self {
        self.emphasis = emphasis;
        self.first_repeated = first_repeated;
        self
    }

    /// Lets rows count by their weights divided by this one.
    pub(super) fn with_usual_weight(mut self, weight: f32) -> Self {
        self.usual_weight = weight;
        self
    }

    /// Replaces `slopes` by those of the rows numbered `batch`, all against the same weights.
    pub(super) fn slopes<P: Posting>(
        &mut self,
        weights: &Weights<P>,
        batch: &[u32],
        source: Source<'_>,
        slopes: &mut BatchSlopes,
        session: &Session<'_>,
    ) -> Result<()> {
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.resize_with(batch.len().div_ceil(TASK), Task::default);
        let memory = match &source {
            Source::Memory(memory) => Some(*memory),
            Source::Scan(_) => None,
        };
        let remember = matches!(source, Source::Scan(Some(_)));
        session.run(|| {
            batch.par_chunks(TASK).zip(&mut tasks).for_each(|(rows, task)| {
                task.clear();
                if session.cancel().is_raised() {
                    return;
                }
                let mut scratch = self.scratches.of_this_thread();
                for &row in rows {
                    self.one_row(weights, row as usize, memory, &mut scratch, &mut task.slopes);
                    if remember {
                        let start = task.rivals.len();
                        task.rivals.extend(worth_remembering(&scratch.rivals));
                        task.rivals[start..].sort_unstable();
                        task.rival_ends.push(task.rivals.len());
                    }
                }
            });
        });
        session.check()?;
        slopes.clear();
        for task in &tasks {
            let before = slopes.slopes.len();
            slopes.slopes.extend_from_slice(&task.slopes.slopes);
            slopes
                .ends
                .extend(task.slopes.ends.iter().map(|end| end + before));
        }
        if let Source::Scan(Some(memory)) = source {
            for (rows, task) in batch.chunks(TASK).zip(&tasks) {
                let mut start = 0;
                for (&row, &end) in rows.iter().zip(&task.rival_ends) {
                    memory.remember(row as usize, &task.rivals[start..end]);
                    start = end;
                }
            }
        }
        self.tasks = tasks;
        Ok(())
    }

    /// Appends the slopes of one row; leaves its rivals in the scratch.
    fn one_row<P: Posting>(
        &self,
        weights: &Weights<P>,
        row: usize,
        memory: Option<&RivalMemory>,
        scratch: &mut Scratch,
        slopes: &mut BatchSlopes,
    ) {
        let labels = self.data.labels.row(row);
        let quantized = self.rows.row(row);
        let unit = quantized.score_unit();
        scratch.rivals.clear();
        if labels.is_empty() || quantized.indices.is_empty() {
            slopes.ends.push(slopes.slopes.len());
            return;
        }
        if let Some(memory) = memory {
            let Scratch {
                classes,
                scores,
                places,
                rivals,
                label_scores,
                ..
            } = scratch;
            merge(memory.row(row), labels, classes);
            score_classes(weights, quantized, classes, places, scores);
            label_scores.clear();
            for (&class, &score) in classes.iter().zip(scores.iter()) {
                if labels.binary_search(&class).is_ok() {
                    label_scores.push(score);
                } else {
                    rivals.push((class, score as f32 * unit));
                }
            }
        } else {
            let k = self.rivals + labels.len();
            let Scratch {
                search: memory,
                found,
                label_scores,
                ..
            } = scratch;
            search(weights, quantized, k, memory, found, labels, label_scores);
            // A class that shares nothing with the row is no rival.
            let rivals = scratch.found.iter().filter(|found| found.score > 0);
            let rivals = rivals.filter(|found| labels.binary_search(&found.class).is_err());
            let rivals = rivals
                .take(self.rivals)
                .map(|found| (found.class, found.score as f32 * unit));
            scratch.rivals.extend(rivals);
        }
        if self.emphasis.shifts() {
            for (rival, score) in &mut scratch.rivals {
                *score += self.emphasis.shift(*rival);
            }
        }
        let label_scores = scratch.label_scores.iter().zip(labels);
        let label_scores =
            label_scores.map(|(&score, &label)| score as f32 * unit + self.emphasis.shift(label));
        let repeated = row >= self.first_repeated;
        let weights = self.data.weights.as_ref();
        let weight = weights.map_or(1.0, |weights| weights[row] / self.usual_weight)
            * self.emphasis.row(labels, repeated);
        let first = slopes.slopes.len();
        gradient::slopes(
            labels,
            label_scores,
            &scratch.rivals,
            self.least_slope,
            weight,
            &mut slopes.slopes,
        );
        self.emphasis.adapt(&mut slopes.slopes[first..], repeated);
        slopes.ends.push(slopes.slopes.len());
    }
}

impl Task {
    fn clear(&mut self) {
        self.slopes.clear();
        self.rivals.clear();
        self.rival_ends.clear();
    }
}

/// Replaces `all` by the members of both, which rise and have none in common, in rising order.
fn merge(some: &[u32], others: &[u32], all: &mut Vec<u32>) {
    all.clear();
    let mut rest = some;
    for &other in others {
        let (before, after) = rest.split_at(rest.partition_point(|&class| class < other));
        all.extend_from_slice(before);
        all.push(other);
        rest = after;
    }
    all.extend_from_slice(rest);
}

/// Scores of the given classes (rising) for a row, without a scan over all. `places` is all zero before
/// and after.
pub(super) fn score_classes<P: Posting>(
    weights: &Weights<P>,
    row: QuantizedRow<'_>,
    classes: &[u32],
    places: &mut Vec<u32>,
    scores: &mut Vec<i32>,
) {
    scores.clear();
    scores.resize(classes.len(), 0);
    places.resize(weights.classes(), 0);
    for (place, &class) in (1..).zip(classes) {
        places[class as usize] = place;
    }
    for (&feature, &value) in row.indices.iter().zip(row.values) {
        let value = i32::from(value);
        match weights.feature(feature) {
            FeatureRow::Dense(dense) => {
                for (score, &class) in scores.iter_mut().zip(classes) {
                    *score += i32::from(dense[class as usize]) * value;
                }
            }
            // Weights that are learned are never packed.
            FeatureRow::Packed(_) => {}
            // Walking through all postings is quicker than looking classes up, up to about so many.
            FeatureRow::Sparse(postings) if postings.len() < 10 * classes.len() => {
                for posting in postings {
                    let place = places[posting.class() as usize];
                    if place != 0 {
                        scores[place as usize - 1] += i32::from(posting.weight()) * value;
                    }
                }
            }
            FeatureRow::Sparse(postings) => for_each_common(postings, classes, |place, posting| {
                scores[place] += i32::from(postings[posting].weight()) * value;
            }),
        }
    }
    for &class in classes {
        places[class as usize] = 0;
    }
}
