//! From the words of training texts to features: which candidates stay, and each text as counts of those.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering};

use super::analyzer::Analyzer;
use super::blocks::Blocks;
use super::candidates::Candidates;
use super::columns::ColumnBlock;
use super::counting::TextCounter;
use super::language::detect;
use super::params::{Language, MAX_FEATURES, TextParams};
use super::preprocessing::{TEXT_ITSELF, TextPipeline};
use super::vocabulary::{NameTable, Vocabulary};
use super::weighting::BlockLayout;
use super::word_source::{TextBlock, WordSource};
use crate::dataset::parse_mark;
use crate::shards::sum_counts;
use crate::sparse::Rows;
use crate::{Error, Result, Session};

/// Texts whose language is looked at.
const TEXTS_LOOKED_AT: usize = 500;

/// The new number of a candidate that does not stay.
pub(super) const GONE: u32 = u32::MAX;

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
        let params = self.settled(params, session)?;
        self.features(params, texts, session)
    }

    /// As [`TextCounter::finish`], with features chosen by the first `fitted` texts alone.
    pub(super) fn features(
        mut self,
        params: TextParams,
        fitted: usize,
        session: &Session<'_>,
    ) -> Result<TextFeatures> {
        let known = (
            std::mem::take(&mut self.known),
            std::mem::take(&mut self.known_blocks),
        );
        let choice = self.choose_by(&self.source.first(fitted), known, params, session)?;
        let rows = choice.all_rows(&self.source, session)?;
        let bytes_taken = choice.memory() + self.memory();
        let mut features = choice.without_rows();
        features.bytes_taken = (bytes_taken + 8 * (rows.entries() + rows.len())) as u64;
        features.rows = rows;
        Ok(features)
    }
}

#[expect(private_bounds, reason = "where texts come from is settled inside this crate")]
impl<S: WordSource> TextCounter<S> {
    /// `params` with nothing left to choose: languages that are needed and not given are detected, and
    /// blocks that are yet to be chosen are words.
    fn settled(&self, params: &TextParams, session: &Session<'_>) -> Result<TextParams> {
        let mut params = params.clone();
        if std::mem::take(&mut params.automatic) {
            params.blocks = Blocks::words();
        }
        if params.languages.is_empty() && params.blocks.has_stems() {
            params.languages = self.languages(session)?;
        }
        Ok(params)
    }

    /// The languages of the texts, by a look at some of them.
    pub(super) fn languages(&self, session: &Session<'_>) -> Result<Vec<Language>> {
        let step = self.len().div_ceil(TEXTS_LOOKED_AT).max(1);
        let looked_at: Vec<usize> = (0..self.len()).step_by(step).collect();
        let texts = self.source.pick(&looked_at, session)?;
        let words = |text: usize| {
            let words = texts
                .text(text)
                .iter()
                .map(|&word| self.names.name(word as usize));
            let words = words.filter(|word| parse_mark(word).is_none());
            words.collect::<Vec<_>>().join(" ")
        };
        Ok(detect((0..texts.len()).map(words)))
    }

    /// The features that `params` keeps by their counts in these texts; the rows are made by whoever wants
    /// them.
    pub(crate) fn choose_features(
        &self,
        params: &TextParams,
        session: &Session<'_>,
    ) -> Result<FeatureChoice<'_>> {
        let params = self.settled(params, session)?;
        self.choose_by(&self.source, Default::default(), params, session)
    }

    /// The features that are `known`, with their blocks, and those that `params` keeps by their counts in
    /// `fitted`.
    fn choose_by(
        &self,
        fitted: &impl WordSource,
        (mut names, mut blocks): (NameTable, Vec<u8>),
        mut params: TextParams,
        session: &Session<'_>,
    ) -> Result<FeatureChoice<'_>> {
        let known = names.len();
        // A model that goes on learning keeps its own.
        if params.columns.is_empty() && known == 0 {
            params.learn_columns(&self.names, fitted, session)?;
        }
        let several_blocks = params.column_blocks().len() > 1;
        let analyzer = Analyzer::new(&params)?;
        let limits = limits(&params, fitted.texts());
        // What is known stays, however rare it is.
        let fewest: Vec<u32> = limits.iter().filter(|_| known == 0).map(|l| l.fewest).collect();
        let candidates = Candidates::new(&self.names, &self.source, analyzer, &fewest, session)?;
        if candidates.len() as u64 + known as u64 > MAX_FEATURES {
            return Err(Error::Unlearnable(format!(
                "the texts have more than {MAX_FEATURES} different words and runs; count fewer kinds of them"
            )));
        }
        // Words of one column are candidates of every column until they are counted.
        let has_columns = !params.columns.is_empty();
        let prunes = has_columns
            || fitted.texts() < self.len()
            || params.max_features > 0
            || limits.iter().any(Limits::prune);
        let frequency = if prunes {
            document_frequency(&candidates, fitted, session)?
        } else {
            Vec::new()
        };
        let mut numbers = vec![GONE; candidates.len()];
        let mut name = String::new();
        let mut new = Vec::new();
        for (block, range) in candidates.by_block() {
            let limits = &limits[usize::from(block).min(limits.len() - 1)];
            for candidate in range {
                if known > 0 {
                    candidates.write_name(candidate as u32, &mut name);
                }
                if let Some(number) = names.find(&name).filter(|_| known > 0) {
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
        for (number, (candidate, block)) in new.into_iter().enumerate() {
            if number.is_multiple_of(1 << 16) {
                session.check()?;
            }
            candidates.write_name(candidate, &mut name);
            numbers[candidate as usize] = names.intern(&name);
            if several_blocks {
                blocks.push(block);
            }
        }
        session.check()?;
        Ok(FeatureChoice {
            params,
            candidates,
            numbers,
            vocabulary: names.finish(),
            blocks,
        })
    }
}

/// The features that were chosen, and what finds them in texts.
#[derive(Debug)]
pub(crate) struct FeatureChoice<'c> {
    params: TextParams,
    pub(super) candidates: Candidates<'c>,
    /// The feature of each candidate, or [`GONE`].
    pub(super) numbers: Vec<u32>,
    pub(super) vocabulary: Vocabulary,
    blocks: Vec<u8>,
}

impl FeatureChoice<'_> {
    /// Memory that finding them took at most, about, beside the texts.
    pub(crate) fn memory(&self) -> usize {
        let made = self.vocabulary.memory() + self.blocks.len() + 4 * self.numbers.len();
        // Counts and new numbers of all candidates, and those that stay.
        let counted = 8 * self.numbers.len() + 8 * self.features();
        let later = self.candidates.memory() + made.max(counted);
        TEXT_ITSELF + later.max(self.candidates.most_memory())
    }

    /// Number of features.
    pub(crate) fn features(&self) -> usize {
        self.vocabulary.len()
    }

    /// The features, with no rows yet.
    pub(crate) fn without_rows(self) -> TextFeatures {
        TextFeatures {
            params: self.params,
            vocabulary: self.vocabulary,
            blocks: self.blocks,
            rows: Rows::new(),
            bytes_taken: 0,
        }
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

/// In how many of the texts each candidate is.
fn document_frequency(
    candidates: &Candidates<'_>,
    texts: &impl WordSource,
    session: &Session<'_>,
) -> Result<Vec<AtomicU32>> {
    let frequency: Vec<AtomicU32> = (0..candidates.len()).map(|_| AtomicU32::new(0)).collect();
    // Whole numbers add up to the same in any order.
    let count = |texts: TextBlock<'_>| {
        if !texts.is_own(session) {
            return;
        }
        let mut found = Vec::new();
        for text in texts.iter() {
            found.clear();
            candidates.of_text(text, &mut found);
            found.sort_unstable();
            found.dedup();
            for &candidate in &found {
                frequency[candidate as usize].fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    texts.pass(count, |_, ()| Ok(()), session)?;
    sum_counts(&frequency, session)?;
    Ok(frequency)
}

#[cfg(test)]
mod tests;
