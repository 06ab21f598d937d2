//! Counts the tokens of training texts: blocks in parallel, merged in order, so that the texts need not be kept.

use super::analyzer::{Analyzer, AnalyzerScratch};
use super::params::{MAX_FEATURES, TextParams};
use super::vocabulary::{NameTable, Vocabulary};
use crate::sparse::Rows;
use crate::{Error, Result};

/// The counted tokens of some texts, numbered by their first appearance in these texts.
#[derive(Debug, Default)]
pub struct CountedBlock {
    names: NameTable,
    /// Where each text ends in `counts`.
    ends: Vec<usize>,
    /// Token number and how often it occurs, text after text.
    counts: Vec<(u32, u32)>,
}

impl CountedBlock {
    /// Counts the tokens of each text.
    pub fn count<S: AsRef<str>>(analyzer: &Analyzer, texts: impl IntoIterator<Item = S>) -> Self {
        let mut block = Self::default();
        let mut scratch = AnalyzerScratch::default();
        let mut tokens: Vec<u32> = Vec::new();
        for text in texts {
            let names = &mut block.names;
            analyzer.tokens(text.as_ref(), &mut scratch, |token| {
                tokens.push(names.intern(token))
            });
            tokens.sort_unstable();
            for run in tokens.chunk_by(|a, b| a == b) {
                block.counts.push((run[0], run.len() as u32));
            }
            tokens.clear();
            block.ends.push(block.counts.len());
        }
        block
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Counts of all texts so far, numbered by first appearance over all of them.
#[derive(Debug)]
pub struct TextCounter {
    names: NameTable,
    /// Number of texts with each token.
    frequency: Vec<u32>,
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl Default for TextCounter {
    fn default() -> Self {
        Self {
            names: NameTable::default(),
            frequency: Vec::new(),
            offsets: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl TextCounter {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the texts of `block`. Blocks must come in the order of the texts; how they were cut does not matter.
    pub fn merge(&mut self, mut block: CountedBlock) -> Result<()> {
        let numbers: Vec<u32> = block.names.iter().map(|name| self.names.intern(name)).collect();
        if self.names.len() as u64 > MAX_FEATURES {
            return Err(Error::Unlearnable(format!(
                "the texts have more than {MAX_FEATURES} different words; count fewer kinds of them"
            )));
        }
        self.frequency.resize(self.names.len(), 0);
        let mut start = 0;
        for &end in &block.ends {
            let row = &mut block.counts[start..end];
            for (number, _) in row.iter_mut() {
                *number = numbers[*number as usize];
                self.frequency[*number as usize] += 1;
            }
            row.sort_unstable();
            self.indices.extend(row.iter().map(|entry| entry.0));
            self.values.extend(row.iter().map(|entry| entry.1 as f32));
            self.offsets.push(self.indices.len());
            start = end;
        }
        Ok(())
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The features that `params` keeps, and each text as counts of them.
    pub fn finish(mut self, params: &TextParams) -> Result<(Vocabulary, Rows)> {
        let kept = self.select(params);
        if self.names.len() > 0 && !kept.contains(&true) {
            return Err(Error::Unlearnable(format!(
                "none of the {} words is left: `min-df` is {} and `max-df` is {} with {} rows",
                self.names.len(),
                params.min_df,
                params.max_df,
                self.len()
            )));
        }
        let vocabulary = if kept.contains(&false) {
            self.drop_others(&kept)
        } else {
            std::mem::take(&mut self.names).finish()
        };
        self.indices.shrink_to_fit();
        self.values.shrink_to_fit();
        let rows = Rows::from_parts(self.offsets, self.indices, self.values, vocabulary.len());
        Ok((vocabulary, rows))
    }

    /// Which features stay.
    fn select(&self, params: &TextParams) -> Vec<bool> {
        let most = params.max_df * self.len() as f64;
        let mut kept: Vec<bool> = self
            .frequency
            .iter()
            .map(|&df| df >= params.min_df && f64::from(df) <= most)
            .collect();
        let limit = params.max_features as usize;
        let mut candidates: Vec<u32> = (0..kept.len() as u32).filter(|&i| kept[i as usize]).collect();
        if limit > 0 && candidates.len() > limit {
            // Stable, so that of equally frequent ones the earlier stay.
            candidates.sort_by_key(|&i| std::cmp::Reverse(self.frequency[i as usize]));
            for &index in &candidates[limit..] {
                kept[index as usize] = false;
            }
        }
        kept
    }

    /// Removes the other features from names and rows, and closes the gaps in the numbers. The order stays.
    fn drop_others(&mut self, kept: &[bool]) -> Vocabulary {
        let mut names = NameTable::default();
        let mut numbers = vec![None; kept.len()];
        for (old, name) in self.names.iter().enumerate().filter(|(old, _)| kept[*old]) {
            numbers[old] = Some(names.intern(name));
        }
        self.names = NameTable::default();
        let mut write = 0;
        let mut read = 0;
        for offset in self.offsets.iter_mut().skip(1) {
            while read < *offset {
                if let Some(number) = numbers[self.indices[read] as usize] {
                    self.indices[write] = number;
                    self.values[write] = self.values[read];
                    write += 1;
                }
                read += 1;
            }
            *offset = write;
        }
        self.indices.truncate(write);
        self.values.truncate(write);
        names.finish()
    }
}
