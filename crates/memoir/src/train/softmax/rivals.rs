//! The rivals of each row of a batch: found by a scan over all classes, or remembered from an base pass and
//! scored again.

use std::ops::Range;

use rayon::prelude::*;

use super::candidate_scores::{CandidateScores, MOST_ROWS};
use super::class_reweighting::ClassReweighting;
use super::class_slice::ClassSlice;
use super::gradient::{self, RowScores};
use super::rival_cache::RivalCache;
use super::rows::{QuantizedRows, RowsHandle};
use super::shard_rivals::ShardBlock;
use super::update::BatchGradients;
use super::weights::LearnedWeights;
use crate::dataset::Dataset;
use crate::per_thread::PerThread;
use crate::sparse::fixed_point::{
    Best, FixedScore, Posting, QuantizedRow, RivalQuery, SearchScratch, SumScale, search_rivals,
};
use crate::{Result, Session};

/// Rows that one task searches rivals for.
pub(super) const TASK: usize = 32;

/// Tasks for each thread where rivals are cached: the more rows are scored together, the faster.
pub(super) const TASKS_PER_THREAD: usize = 4;

/// Where a batch's rivals come from.
#[derive(Clone, Copy)]
pub(super) enum RivalSource<'a> {
    /// A scan; what it finds goes into the cache, if there is one.
    Scan(Option<&'a RivalCache>),
    /// The classes that an earlier pass found.
    Cache(&'a RivalCache),
}

/// How precise the scores are that rivals are found by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Precision {
    /// Added up in 16 bits where these are sure to name the right rivals, else in 32.
    Rough,
    /// Added up in 32 bits.
    Exact,
}

/// Finds rivals and gradients for batches of rows, with reusable memory.
pub(super) struct RivalSearch<'a> {
    pub(super) data: &'a Dataset,
    pub(super) rows: RowsHandle<'a>,
    pub(super) rivals: usize,
    /// See [`gradient::gradients`].
    pub(super) tail: f32,
    pub(super) reweighting: ClassReweighting,
    pub(super) precision: Precision,
    /// Rows from this number on are repeated ones.
    pub(super) first_repeated: usize,
    pub(super) scratches: PerThread<RivalScratch>,
    pub(super) tasks: Vec<BatchGradients>,
    /// The classes of the weights.
    pub(super) slice: ClassSlice<'a>,
    /// As `tasks`, where others have other classes.
    pub(super) blocks: Vec<ShardBlock>,
}

/// Reusable memory of one thread.
#[derive(Default)]
pub(super) struct RivalScratch {
    rough: SearchScratch<i16>,
    exact: SearchScratch,
    pub(super) found: Vec<FixedScore>,
    pub(super) fixed_label_scores: Vec<i32>,
    pub(super) label_scores: Vec<f32>,
    pub(super) candidates: CandidateScores,
    pub(super) rivals: Vec<(u32, f32)>,
    masses: Vec<f32>,
    /// Labels of a row that one of several shards owns.
    pub(super) own_labels: Vec<u32>,
    pub(super) best: Best,
}

impl<'a> RivalSearch<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        rows: &'a QuantizedRows,
        rivals: usize,
        tail: f32,
        session: &Session<'_>,
    ) -> Self {
        Self {
            data,
            rows: RowsHandle::All(rows),
            rivals,
            tail,
            reweighting: ClassReweighting::default(),
            precision: Precision::Rough,
            first_repeated: usize::MAX,
            scratches: PerThread::new(session, RivalScratch::default),
            tasks: Vec::new(),
            slice: ClassSlice::whole(data.classes.len()),
            blocks: Vec::new(),
        }
    }

    /// With weights of these classes only; other shards have the others.
    pub(super) fn with_slice(mut self, slice: &ClassSlice<'a>) -> Self {
        self.slice = slice.clone();
        self
    }

    /// Lets rows count by their classes, and those from number `first_repeated` on as repeated ones.
    pub(super) fn with_reweighting(mut self, reweighting: ClassReweighting, first_repeated: usize) -> Self {
        self.reweighting = reweighting;
        self.first_repeated = first_repeated;
        self
    }

    /// Finds rivals by scores with this precision.
    pub(super) fn with_precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Replaces `gradients` by those of the rows numbered `batch`, all against the same weights.
    pub(super) fn gradients<P: Posting>(
        &mut self,
        weights: &LearnedWeights<P>,
        batch: &[u32],
        source: RivalSource<'_>,
        gradients: &mut BatchGradients,
        session: &Session<'_>,
    ) -> Result<()> {
        if self.slice.shard().is_some() {
            return self.gradients_with_others(weights, batch, source, gradients, session);
        }
        // How rows are shared out changes no result.
        let rows_of_task = match source {
            RivalSource::Scan(_) => TASK,
            RivalSource::Cache(_) => {
                let tasks = TASKS_PER_THREAD * session.threads();
                batch.len().div_ceil(tasks).clamp(TASK, MOST_ROWS)
            }
        };
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.resize_with(batch.len().div_ceil(rows_of_task), BatchGradients::default);
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
                    RivalSource::Scan(cache) => {
                        let first = number * rows_of_task;
                        let own = first..first + rows.len();
                        self.scan(weights, batch, own, cache, &mut scratch, task);
                    }
                    RivalSource::Cache(cache) => self.score_cached(weights, rows, cache, &mut scratch, task),
                }
            });
        });
        session.check()?;
        gradients.clear();
        for task in &tasks {
            let before = gradients.gradients.len();
            gradients.gradients.extend_from_slice(&task.gradients);
            gradients.ends.extend(task.ends.iter().map(|end| end + before));
        }
        self.tasks = tasks;
        Ok(())
    }

    /// Appends the gradients of the rows at the indices `own` of the batch, and enters rivals into the
    /// cache.
    fn scan<P: Posting>(
        &self,
        weights: &LearnedWeights<P>,
        batch: &[u32],
        own: Range<usize>,
        cache: Option<&RivalCache>,
        scratch: &mut RivalScratch,
        gradients: &mut BatchGradients,
    ) {
        for index in own {
            // Most likely this thread's next task is the next of the batch.
            self.prefetch(&batch[index + 1..], weights);
            let row = batch[index] as usize;
            let (labels, quantized) = (self.data.labels.row(row), self.rows.row(row));
            scratch.rivals.clear();
            if labels.is_empty() || quantized.indices.is_empty() {
                gradients.ends.push(gradients.gradients.len());
            } else {
                scratch.search(weights, quantized, self.rivals, labels, self.precision);
                self.add_gradients(row, scratch, gradients);
            }
            if let Some(cache) = cache {
                cache.insert(row, &scratch.rivals);
            }
        }
    }

    /// Appends the gradients of `rows`, against the cached rivals of each.
    fn score_cached<P: Posting>(
        &self,
        weights: &LearnedWeights<P>,
        rows: &[u32],
        cache: &RivalCache,
        scratch: &mut RivalScratch,
        gradients: &mut BatchGradients,
    ) {
        let mut candidates = std::mem::take(&mut scratch.candidates);
        candidates.clear();
        for (index, &row) in rows.iter().enumerate() {
            if let Some(&next) = rows.get(index + 4) {
                self.rows.prefetch(next as usize);
                self.data.labels.prefetch(next as usize);
                cache.prefetch(next as usize);
            }
            if let Some(&next) = rows.get(index + 8) {
                self.rows.prefetch_offset(next as usize);
                self.data.labels.prefetch_offset(next as usize);
            }
            let row = row as usize;
            candidates.push(self.rows.row(row), self.data.labels.row(row), cache.row(row));
        }
        candidates.score(weights);
        for (index, &row) in rows.iter().enumerate() {
            let row = row as usize;
            let labels = self.data.labels.row(row);
            let unit = self.rows.row(row).score_unit();
            scratch.rivals.clear();
            scratch.label_scores.clear();
            let (classes, scores) = candidates.row(index);
            for (&class, &score) in classes.iter().zip(scores) {
                let score = score as f32 * unit;
                if labels.binary_search(&class).is_ok() {
                    scratch.label_scores.push(score);
                } else {
                    scratch.rivals.push((class, score));
                }
            }
            self.add_gradients(row, scratch, gradients);
        }
        scratch.candidates = candidates;
    }

    /// Prefetches what the next few rows need. Rows come in random order, and each step tells where the next
    /// one reads.
    pub(super) fn prefetch<P: Posting>(&self, next: &[u32], weights: &LearnedWeights<P>) {
        let features = |index| {
            next.get(index)
                .map_or(&[][..], |&row| self.rows.row(row as usize).indices)
        };
        for &feature in features(0) {
            weights.prefetch(feature);
        }
        for &feature in features(1) {
            weights.prefetch_offset(feature);
        }
        if let Some(&row) = next.get(2) {
            self.rows.prefetch(row as usize);
            self.data.labels.prefetch(row as usize);
        }
        if let Some(&row) = next.get(4) {
            self.rows.prefetch_offset(row as usize);
            self.data.labels.prefetch_offset(row as usize);
        }
    }

    /// Appends the gradients of a row whose rivals and label scores are in the scratch.
    pub(super) fn add_gradients(
        &self,
        row: usize,
        scratch: &mut RivalScratch,
        gradients: &mut BatchGradients,
    ) {
        let labels = self.data.labels.row(row);
        if self.reweighting.shifts() {
            for (rival, score) in &mut scratch.rivals {
                *score += self.reweighting.shift(*rival);
            }
            for (score, &label) in scratch.label_scores.iter_mut().zip(labels) {
                *score += self.reweighting.shift(label);
            }
        }
        let repeated = row >= self.first_repeated;
        let weights = self.data.weights.as_ref();
        let weight = weights.map_or(1.0, |weights| weights[row]) * self.reweighting.row(labels, repeated);
        let first = gradients.gradients.len();
        let scores = RowScores {
            labels,
            label_scores: &scratch.label_scores,
            rivals: &scratch.rivals,
        };
        gradient::gradients(
            scores,
            self.tail,
            weight,
            &mut scratch.masses,
            &mut gradients.gradients,
        );
        self.reweighting
            .adapt(&mut gradients.gradients[first..], repeated);
        gradients.ends.push(gradients.gradients.len());
    }
}

impl RivalScratch {
    /// Finds the strongest rivals of a row, by rising class, and the scores of its labels. A class that
    /// shares nothing with the row is no rival.
    fn search<P: Posting>(
        &mut self,
        weights: &LearnedWeights<P>,
        row: QuantizedRow<'_>,
        rivals: usize,
        labels: &[u32],
        precision: Precision,
    ) {
        let scale = self.find(weights, row, rivals, labels, precision);
        let unit = row.score_unit() * scale.products;
        let found = self.found.iter();
        self.rivals.clear();
        self.rivals
            .extend(found.map(|found| (found.class, found.score as f32 * unit)));
        let scores = self.fixed_label_scores.iter();
        self.label_scores.clear();
        self.label_scores.extend(scores.map(|&score| score as f32 * unit));
    }

    /// As above, but leaves whole numbers in `found` and `fixed_label_scores`. Returns what they count.
    pub(super) fn find<P: Posting>(
        &mut self,
        weights: &LearnedWeights<P>,
        row: QuantizedRow<'_>,
        rivals: usize,
        labels: &[u32],
        precision: Precision,
    ) -> SumScale {
        let (found, scores) = (&mut self.found, &mut self.fixed_label_scores);
        let rough = match precision {
            Precision::Rough => weights.rough_scale(row),
            Precision::Exact => None,
        };
        let query = RivalQuery {
            row,
            scale: rough.unwrap_or(SumScale::EXACT),
            labels,
            rivals,
        };
        if rough.is_some() {
            search_rivals(weights, query, &mut self.rough, found, scores);
        } else {
            search_rivals(weights, query, &mut self.exact, found, scores);
        }
        query.scale
    }
}
