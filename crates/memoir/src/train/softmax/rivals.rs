//! The rivals of each row of a batch: found by an exact scan, or remembered from an earlier pass and scored again.

use rayon::prelude::*;

use super::chosen::{PlaceMemory, merge, score_classes};
use super::emphasis::Emphasis;
use super::gradient::{self, LeftOut, RowScores};
use super::memory::RivalMemory;
use super::rows::QuantizedRows;
use super::update::BatchSlopes;
use super::weights::Weights;
use crate::data::Dataset;
use crate::per_thread::PerThread;
use crate::sparse::fixed::{FixedScore, Posting, SearchScratch, search_others};
use crate::{Result, Session};

/// Rows that one task works through. Fixed, so that results never depend on the number of threads.
const TASK: usize = 32;

/// Where a batch's rivals come from.
pub(super) enum Source<'a> {
    /// An exact scan; what it finds is remembered, if there is a memory.
    Scan(Option<&'a RivalMemory>),
    /// The classes found before.
    Memory(&'a RivalMemory),
}

/// Finds rivals and slopes for batches of rows, with reusable memory.
pub(super) struct RivalSearch<'a> {
    pub(super) data: &'a Dataset,
    pub(super) rows: &'a QuantizedRows,
    pub(super) rivals: usize,
    pub(super) left_out: LeftOut,
    pub(super) emphasis: Emphasis,
    /// The weight of a row that counts as one.
    pub(super) usual_weight: f32,
    /// Rows from this number on are repeated ones.
    pub(super) first_repeated: usize,
    pub(super) scratches: PerThread<Scratch>,
    pub(super) tasks: Vec<BatchSlopes>,
}

#[derive(Default)]
pub(super) struct Scratch {
    search: SearchScratch,
    found: Vec<FixedScore>,
    fixed_label_scores: Vec<i32>,
    label_scores: Vec<f32>,
    /// Rivals and labels of a row, and the score of each.
    classes: Vec<u32>,
    scores: Vec<i32>,
    chosen: PlaceMemory,
    rivals: Vec<(u32, f32)>,
    masses: Vec<f32>,
    /// The smallest and the largest share that a label of the row holds.
    label_shares: (f32, f32),
}

impl<'a> RivalSearch<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        rows: &'a QuantizedRows,
        rivals: usize,
        left_out: LeftOut,
        session: &Session<'_>,
    ) -> Self {
        Self {
            data,
            rows,
            rivals,
            left_out,
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
        tasks.resize_with(batch.len().div_ceil(TASK), BatchSlopes::default);
        let (memory, to_remember) = match source {
            Source::Memory(memory) => (Some(memory), None),
            Source::Scan(to_remember) => (None, to_remember),
        };
        session.run(|| {
            let with_number = batch.par_chunks(TASK).zip(&mut tasks).enumerate();
            with_number.for_each(|(number, (rows, task))| {
                task.clear();
                if session.cancel().is_raised() {
                    return;
                }
                let mut scratch = self.scratches.of_this_thread();
                for (place, &row) in (number * TASK..).zip(rows) {
                    // Most likely this thread's next task is the next of the batch.
                    self.ask_for(&batch[place + 1..], weights, memory);
                    self.one_row(weights, row as usize, memory, &mut scratch, task);
                    if let Some(to_remember) = to_remember {
                        // Later passes do without rows that say what no weight of theirs can bear out, and without those that
                        // have been heard.
                        let LeftOut {
                            hopeless, settled, ..
                        } = self.left_out;
                        let (smallest, largest) = scratch.label_shares;
                        let teaches = largest >= hopeless && smallest <= settled;
                        to_remember.remember(row as usize, if teaches { &scratch.rivals } else { &[] });
                    }
                }
            });
        });
        session.check()?;
        slopes.clear();
        for task in &tasks {
            let before = slopes.slopes.len();
            slopes.slopes.extend_from_slice(&task.slopes);
            slopes.ends.extend(task.ends.iter().map(|end| end + before));
        }
        self.tasks = tasks;
        Ok(())
    }

    /// Asks for what the next few rows need: rows come in random order, and each thing that is asked for tells where the next one is.
    fn ask_for<P: Posting>(&self, next: &[u32], weights: &Weights<P>, memory: Option<&RivalMemory>) {
        let features = |place| {
            next.get(place)
                .map_or(&[][..], |&row| self.rows.row(row as usize).indices)
        };
        for &feature in features(0) {
            weights.ask_for(feature);
        }
        for &feature in features(1) {
            weights.ask_where(feature);
        }
        if let Some(&row) = next.get(2) {
            self.rows.ask_for(row as usize);
            self.data.labels.ask_for(row as usize);
            if let Some(memory) = memory {
                memory.ask_for(row as usize);
            }
        }
        if let Some(&row) = next.get(4) {
            self.rows.ask_where(row as usize);
            self.data.labels.ask_where(row as usize);
        }
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
                chosen,
                rivals,
                fixed_label_scores: label_scores,
                ..
            } = scratch;
            merge(labels, memory.row(row), classes);
            score_classes(weights, quantized, classes, chosen, scores);
            label_scores.clear();
            for (&class, &score) in classes.iter().zip(scores.iter()) {
                if labels.binary_search(&class).is_ok() {
                    label_scores.push(score);
                } else {
                    rivals.push((class, score as f32 * unit));
                }
            }
        } else {
            let Scratch {
                search: memory,
                found,
                fixed_label_scores: label_scores,
                ..
            } = scratch;
            // A class that shares nothing with the row is no rival.
            search_others(
                weights,
                quantized,
                self.rivals,
                memory,
                found,
                labels,
                label_scores,
            );
            let rivals = scratch.found.iter();
            scratch
                .rivals
                .extend(rivals.map(|found| (found.class, found.score as f32 * unit)));
        }
        if self.emphasis.shifts() {
            for (rival, score) in &mut scratch.rivals {
                *score += self.emphasis.shift(*rival);
            }
        }
        let label_scores = scratch.fixed_label_scores.iter().zip(labels);
        let label_scores =
            label_scores.map(|(&score, &label)| score as f32 * unit + self.emphasis.shift(label));
        scratch.label_scores.clear();
        scratch.label_scores.extend(label_scores);
        let repeated = row >= self.first_repeated;
        let weights = self.data.weights.as_ref();
        let weight = weights.map_or(1.0, |weights| weights[row] / self.usual_weight)
            * self.emphasis.row(labels, repeated);
        let first = slopes.slopes.len();
        let scores = RowScores {
            labels,
            label_scores: &scratch.label_scores,
            rivals: &scratch.rivals,
        };
        scratch.label_shares = gradient::slopes(
            scores,
            self.left_out,
            weight,
            &mut scratch.masses,
            &mut slopes.slopes,
        );
        self.emphasis.adapt(&mut slopes.slopes[first..], repeated);
        slopes.ends.push(slopes.slopes.len());
    }
}
