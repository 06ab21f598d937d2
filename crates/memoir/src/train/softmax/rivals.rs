//! The rivals of each row of a batch: found by a scan over all classes, or remembered from an earlier pass and scored again.

use std::ops::Range;

use rayon::prelude::*;

use super::chosen::{ChosenScores, MOST_ROWS};
use super::emphasis::Emphasis;
use super::gradient::{self, LeftOut, RowScores};
use super::memory::RivalMemory;
use super::rows::QuantizedRows;
use super::update::BatchSlopes;
use super::weights::Weights;
use crate::dataset::Dataset;
use crate::per_thread::PerThread;
use crate::sparse::fixed::{FixedScore, Posting, QuantizedRow, SearchScratch, Sum, search_others};
use crate::{Result, Session};

/// Rows that one task searches rivals for.
const TASK: usize = 32;

/// Tasks for each thread where rivals are remembered: rows that are scored together gain by being many.
const TASKS_PER_THREAD: usize = 4;

/// Where a batch's rivals come from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// A scan; what it finds is remembered, if there is a memory.
    Scan(Option<&'a RivalMemory>),
    /// The classes found before.
    Memory(&'a RivalMemory),
}

/// How precise the scores are that rivals are found by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Precision {
    /// Added up in 16 bits: sure enough to know a rival.
    Rough,
    /// Added up in 32 bits.
    Exact,
}

/// Finds rivals and slopes for batches of rows, with reusable memory.
pub(super) struct RivalSearch<'a> {
    pub(super) data: &'a Dataset,
    pub(super) rows: &'a QuantizedRows,
    pub(super) rivals: usize,
    pub(super) left_out: LeftOut,
    pub(super) emphasis: Emphasis,
    precision: Precision,
    /// The weight of a row that counts as one.
    pub(super) usual_weight: f32,
    /// Rows from this number on are repeated ones.
    pub(super) first_repeated: usize,
    pub(super) scratches: PerThread<Scratch>,
    pub(super) tasks: Vec<BatchSlopes>,
}

#[derive(Default)]
pub(super) struct Scratch {
    rough: SearchScratch<i16>,
    exact: SearchScratch,
    found: Vec<FixedScore>,
    fixed_label_scores: Vec<i32>,
    label_scores: Vec<f32>,
    chosen: ChosenScores,
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
            precision: Precision::Rough,
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

    /// Finds rivals by scores with this precision.
    pub(super) fn with_precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
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
        // How rows are shared out changes no result.
        let rows_of_task = match source {
            Source::Scan(_) => TASK,
            Source::Memory(_) => {
                let tasks = TASKS_PER_THREAD * session.threads();
                batch.len().div_ceil(tasks).clamp(TASK, MOST_ROWS)
            }
        };
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.resize_with(batch.len().div_ceil(rows_of_task), BatchSlopes::default);
        session.run(|| {
            let with_number = batch.par_chunks(rows_of_task).zip(&mut tasks).enumerate();
            // Tasks are few and long: none should wait behind another while a thread has nothing to do.
            with_number.with_max_len(1).for_each(|(number, (rows, task))| {
                task.clear();
                if session.cancel().is_raised() {
                    return;
                }
                let mut scratch = self.scratches.of_this_thread();
                match source {
                    Source::Scan(memory) => {
                        let first = number * rows_of_task;
                        let own = first..first + rows.len();
                        self.scan(weights, batch, own, memory, &mut scratch, task);
                    }
                    Source::Memory(memory) => self.score_again(weights, rows, memory, &mut scratch, task),
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

    /// Appends the slopes of the rows at the places `own` of the batch, and enters rivals into `memory`.
    fn scan<P: Posting>(
        &self,
        weights: &Weights<P>,
        batch: &[u32],
        own: Range<usize>,
        memory: Option<&RivalMemory>,
        scratch: &mut Scratch,
        slopes: &mut BatchSlopes,
    ) {
        for place in own {
            // Most likely this thread's next task is the next of the batch.
            self.ask_for(&batch[place + 1..], weights);
            let row = batch[place] as usize;
            let (labels, quantized) = (self.data.labels.row(row), self.rows.row(row));
            scratch.rivals.clear();
            if labels.is_empty() || quantized.indices.is_empty() {
                slopes.ends.push(slopes.slopes.len());
            } else {
                scratch.search(weights, quantized, self.rivals, labels, self.precision);
                self.add_slopes(row, scratch, slopes);
            }
            if let Some(memory) = memory {
                // Later passes do without rows that say what no weight of theirs can bear out, and without those that have been heard.
                let LeftOut {
                    hopeless, settled, ..
                } = self.left_out;
                let (smallest, largest) = scratch.label_shares;
                let teaches = largest >= hopeless && smallest <= settled;
                memory.remember(row, if teaches { &scratch.rivals } else { &[] });
            }
        }
    }

    /// Appends the slopes of `rows`, against the rivals that are remembered of each.
    fn score_again<P: Posting>(
        &self,
        weights: &Weights<P>,
        rows: &[u32],
        memory: &RivalMemory,
        scratch: &mut Scratch,
        slopes: &mut BatchSlopes,
    ) {
        let mut chosen = std::mem::take(&mut scratch.chosen);
        chosen.clear();
        for (place, &row) in rows.iter().enumerate() {
            if let Some(&next) = rows.get(place + 4) {
                self.rows.ask_for(next as usize);
                self.data.labels.ask_for(next as usize);
                memory.ask_for(next as usize);
            }
            if let Some(&next) = rows.get(place + 8) {
                self.rows.ask_where(next as usize);
                self.data.labels.ask_where(next as usize);
            }
            let row = row as usize;
            chosen.push(self.rows.row(row), self.data.labels.row(row), memory.row(row));
        }
        chosen.score(weights);
        for (place, &row) in rows.iter().enumerate() {
            let row = row as usize;
            let labels = self.data.labels.row(row);
            let unit = self.rows.row(row).score_unit();
            scratch.rivals.clear();
            scratch.label_scores.clear();
            let (classes, scores) = chosen.row(place);
            for (&class, &score) in classes.iter().zip(scores) {
                let score = score as f32 * unit;
                if labels.binary_search(&class).is_ok() {
                    scratch.label_scores.push(score);
                } else {
                    scratch.rivals.push((class, score));
                }
            }
            self.add_slopes(row, scratch, slopes);
        }
        scratch.chosen = chosen;
    }

    /// Asks for what the next few rows need: rows come in random order, and each thing that is asked for tells where the next one is.
    fn ask_for<P: Posting>(&self, next: &[u32], weights: &Weights<P>) {
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
        }
        if let Some(&row) = next.get(4) {
            self.rows.ask_where(row as usize);
            self.data.labels.ask_where(row as usize);
        }
    }

    /// Appends the slopes of a row whose rivals and label scores are in the scratch.
    fn add_slopes(&self, row: usize, scratch: &mut Scratch, slopes: &mut BatchSlopes) {
        let labels = self.data.labels.row(row);
        if self.emphasis.shifts() {
            for (rival, score) in &mut scratch.rivals {
                *score += self.emphasis.shift(*rival);
            }
            for (score, &label) in scratch.label_scores.iter_mut().zip(labels) {
                *score += self.emphasis.shift(label);
            }
        }
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

impl Scratch {
    /// Finds the strongest rivals of a row, by rising class, and the scores of its labels. A class that shares nothing with the row is no
    /// rival.
    fn search<P: Posting>(
        &mut self,
        weights: &Weights<P>,
        row: QuantizedRow<'_>,
        rivals: usize,
        labels: &[u32],
        precision: Precision,
    ) {
        let (found, scores) = (&mut self.found, &mut self.fixed_label_scores);
        let features = row.indices.len();
        let products = if precision == Precision::Exact || !i16::has_room(features) {
            search_others(weights, row, rivals, &mut self.exact, found, labels, scores);
            i32::products(features)
        } else {
            search_others(weights, row, rivals, &mut self.rough, found, labels, scores);
            i16::products(features)
        };
        let unit = row.score_unit() * products;
        let found = self.found.iter();
        self.rivals.clear();
        self.rivals
            .extend(found.map(|found| (found.class, found.score as f32 * unit)));
        let scores = self.fixed_label_scores.iter();
        self.label_scores.clear();
        self.label_scores.extend(scores.map(|&score| score as f32 * unit));
    }
}
