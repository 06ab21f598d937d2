//! From the words of training texts to features: which candidates stay, and each text as counts of those.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::analyzer::Analyzer;
use super::blocks::Blocks;
use super::candidates::Candidates;
use super::columns::ColumnBlock;
use super::counting::TextCounter;
use super::language::detect;
use super::params::{Language, MAX_FEATURES, TextParams};
use super::preprocessing::{TEXT_ITSELF, TextPipeline};
use super::vocabulary::Vocabulary;
use super::weighting::BlockLayout;
use crate::dataset::parse_mark;
use crate::sparse::Rows;
use crate::{Error, Result, Session};

/// Texts whose language is looked at.
const TEXTS_LOOKED_AT: usize = 500;

/// Texts that one task takes.
const TEXTS_PER_TASK: usize = 512;

/// Tasks of a thread before results are put together: enough to share out evenly, few enough not to pile up.
const TASKS_PER_THREAD: usize = 8;

/// The new number of a candidate that does not stay.
const GONE: u32 = u32::MAX;

/// The features of training texts.
#[derive(Debug)]
pub struct TextFeatures {
    /// How texts become features, with nothing left to choose.
    pub params: TextParams,
    /// Their names.
    pub vocabulary: Vocabulary,
    /// The block of each; empty if there is one block only.
    pub blocks: Vec<u8>,
    /// Each text as counts of them.
    pub rows: Rows,
    /// Memory that finding them took at most, about, with what is here.
    pub bytes_taken: u64,
}

impl TextFeatures {
    /// Takes out what a weighting must know of the blocks.
    pub fn take_layout(&mut self) -> BlockLayout {
        let blocks = self.params.column_blocks();
        match blocks.len() {
            0 | 1 => BlockLayout::default(),
            _ => BlockLayout {
                of_feature: std::mem::take(&mut self.blocks),
                weights: blocks.iter().map(|block| block.weight).collect(),
            },
        }
    }

    /// The pipeline that finds these features in other texts.
    pub fn pipeline(self) -> Result<TextPipeline> {
        TextPipeline::new(self.params, self.vocabulary)
    }
}

impl TextCounter {
    /// The features that `params` keeps, and each text as counts of them. Features that were known before
    /// stay; of the others those stay that `params` keeps by their counts in these texts. Languages that are
    /// needed and not given are detected; blocks that are yet to be chosen are words.
    pub fn finish(self, params: &TextParams, session: &Session<'_>) -> Result<TextFeatures> {
        let texts = self.len();
        let mut params = params.clone();
        if std::mem::take(&mut params.automatic) {
            params.blocks = Blocks::words();
        }
        if params.languages.is_empty() && params.blocks.has_stems() {
            params.languages = self.languages();
        }
        self.features(params, texts, session)
    }

    /// The languages of the texts, by a look at some of them.
    pub(super) fn languages(&self) -> Vec<Language> {
        let step = self.len().div_ceil(TEXTS_LOOKED_AT).max(1);
        let words = |text: usize| {
            let words = self.text(text).iter().map(|&word| self.names.name(word as usize));
            let words = words.filter(|word| parse_mark(word).is_none());
            words.collect::<Vec<_>>().join(" ")
        };
        detect((0..self.len()).step_by(step).map(words))
    }

    /// As [`TextCounter::finish`], with features chosen by the first `fitted` texts alone.
    pub(super) fn features(
        mut self,
        mut params: TextParams,
        fitted: usize,
        session: &Session<'_>,
    ) -> Result<TextFeatures> {
        params.learn_columns(&self, fitted)?;
        let several_blocks = params.column_blocks().len() > 1;
        let analyzer = Analyzer::new(&params)?;
        let mut names = std::mem::take(&mut self.known);
        let mut blocks = std::mem::take(&mut self.known_blocks);
        let known = names.len();
        let candidates = Candidates::new(&self, &analyzer);
        if candidates.len() as u64 + known as u64 > MAX_FEATURES {
            return Err(Error::Unlearnable(format!(
                "the texts have more than {MAX_FEATURES} different words and runs; count fewer kinds of them"
            )));
        }
        let limits = limits(&params, fitted);
        // Words of one column are candidates of every column until they are counted.
        let has_columns = !params.columns.is_empty();
        let prunes =
            has_columns || fitted < self.len() || params.max_features > 0 || limits.iter().any(Limits::prune);
        let frequency = if prunes {
            session.run(|| document_frequency(&candidates, fitted))
        } else {
            Vec::new()
        };
        let mut numbers = vec![GONE; candidates.len()];
        let mut name = String::new();
        let mut new = Vec::new();
        for (block, range) in candidates.by_block() {
            let limits = &limits[usize::from(block).min(limits.len() - 1)];
            for candidate in range {
                candidates.write_name(candidate as u32, &mut name);
                if let Some(number) = names.find(&name) {
                    numbers[candidate] = number;
                } else if !prunes || limits.keep(frequency[candidate].load(Ordering::Relaxed)) {
                    new.push((candidate as u32, block));
                }
            }
        }
        if candidates.len() > 0 && known + new.len() == 0 {
            return Err(Error::Unlearnable(format!(
                "none of the {} words is left: `min-df` is {} and `max-df` is {} with {} rows",
                candidates.len(),
                params.min_df,
                params.max_df,
                self.len()
            )));
        }
        let limit = (params.max_features as usize).saturating_sub(known);
        if params.max_features > 0 && new.len() > limit {
            // Stable, so that of equally frequent ones the earlier stay; then back in order.
            new.sort_by_key(|&(candidate, _)| Reverse(frequency[candidate as usize].load(Ordering::Relaxed)));
            new.truncate(limit);
            new.sort_unstable();
        }
        drop(frequency);
        if several_blocks {
            blocks.resize(known, 0);
        }
        for (candidate, block) in new {
            candidates.write_name(candidate, &mut name);
            numbers[candidate as usize] = names.intern(&name);
            if several_blocks {
                blocks.push(block);
            }
        }
        session.check()?;
        let vocabulary = names.finish();
        let rows = make_rows(&candidates, &numbers, self.len(), vocabulary.len(), session)?;
        let bytes_of_rows = 8 * (rows.entries() + rows.len());
        let here = vocabulary.memory() + blocks.len() + 4 * numbers.len() + bytes_of_rows + TEXT_ITSELF;
        Ok(TextFeatures {
            params,
            bytes_taken: (here + candidates.memory() + self.memory()) as u64,
            vocabulary,
            blocks,
            rows,
        })
    }
}

/// In how many texts a feature must be to stay.
struct Limits {
    fewest: u32,
    most: f64,
    texts: usize,
}

impl Limits {
    fn prune(&self) -> bool {
        self.fewest > 1 || self.most < self.texts as f64
    }

    fn keep(&self, frequency: u32) -> bool {
        frequency >= self.fewest && f64::from(frequency) <= self.most
    }
}

/// The limits of each block.
fn limits(params: &TextParams, texts: usize) -> Vec<Limits> {
    let limits = |fewest: u32, share: f64| Limits {
        fewest: params.min_df.max(fewest),
        most: params.max_df.min(share) * texts as f64,
        texts,
    };
    let of_block = |block: &ColumnBlock| match block.block {
        Some(block) => limits(block.kind.fewest_rows(), block.kind.largest_share(texts)),
        None if block.is_text => limits(1, 1.0),
        None => Limits {
            fewest: 1,
            most: texts as f64,
            texts,
        },
    };
    params.column_blocks().iter().map(of_block).collect()
}

/// In how many of the first `texts` texts each candidate is.
fn document_frequency(candidates: &Candidates<'_>, texts: usize) -> Vec<AtomicU32> {
    let frequency: Vec<AtomicU32> = (0..candidates.len()).map(|_| AtomicU32::new(0)).collect();
    // Whole numbers add up to the same in any order.
    let count = |found: &mut Vec<u32>, text| {
        found.clear();
        candidates.of_text(text, found);
        found.sort_unstable();
        found.dedup();
        for &candidate in &*found {
            frequency[candidate as usize].fetch_add(1, Ordering::Relaxed);
        }
    };
    (0..texts)
        .into_par_iter()
        .with_min_len(64)
        .for_each_init(Vec::new, count);
    frequency
}

/// Some rows.
#[derive(Default)]
struct Part {
    lengths: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

fn make_rows(
    candidates: &Candidates<'_>,
    numbers: &[u32],
    texts: usize,
    width: usize,
    session: &Session<'_>,
) -> Result<Rows> {
    let make = |first: usize| {
        let mut part = Part::default();
        let mut found = Vec::new();
        for text in first..texts.min(first + TEXTS_PER_TASK) {
            found.clear();
            candidates.of_text(text, &mut found);
            for candidate in &mut found {
                *candidate = numbers[*candidate as usize];
            }
            found.sort_unstable();
            let before = part.indices.len();
            for run in found.chunk_by(|a, b| a == b).filter(|run| run[0] != GONE) {
                part.indices.push(run[0]);
                part.values.push(run.len() as f32);
            }
            part.lengths.push((part.indices.len() - before) as u32);
        }
        part
    };
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let at_once = TEXTS_PER_TASK * TASKS_PER_THREAD * session.threads();
    for first in (0..texts).step_by(at_once) {
        session.check()?;
        let tasks: Vec<usize> = (first..texts.min(first + at_once))
            .step_by(TEXTS_PER_TASK)
            .collect();
        let parts: Vec<Part> = session.run(|| tasks.into_par_iter().map(make).collect());
        for part in parts {
            // Reserved for about all that is to come: arrays that double would take twice the memory for a
            // while.
            if indices.len() + part.indices.len() > indices.capacity() {
                let done = offsets.len() - 1 + part.lengths.len();
                let so_far = indices.len() + part.indices.len();
                let all = (so_far as f64 * texts as f64 / done as f64 * 1.02) as usize;
                indices.reserve_exact(all - indices.len());
                values.reserve_exact(all - values.len());
            }
            indices.extend(part.indices);
            values.extend(part.values);
            for length in part.lengths {
                offsets.push(offsets[offsets.len() - 1] + length as usize);
            }
        }
    }
    indices.shrink_to_fit();
    values.shrink_to_fit();
    Ok(Rows::from_parts(offsets, indices, values, width))
}

#[cfg(test)]
mod tests;
