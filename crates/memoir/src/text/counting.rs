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

/// The new number of a feature that does not stay.
const GONE: u32 = u32::MAX;

impl CountedBlock {
    /// Counts the tokens of each text.
    pub fn count<S: AsRef<str>>(analyzer: &Analyzer, texts: impl IntoIterator<Item = S>) -> Self {
        let mut block = Self::default();
        let mut scratch = AnalyzerScratch::default();
        let mut tokens: Vec<u32> = Vec::new();
        for text in texts {
            let names = &mut block.names;
            analyzer.tokens(text.as_ref(), &mut scratch, |token| {
                tokens.push(names.intern(token));
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
    /// How many of the names were features before; they stay, whatever is counted.
    known: usize,
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
            known: 0,
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

    /// Nothing counted yet, but the tokens of `vocabulary` are features already and keep their numbers.
    pub fn continuing(vocabulary: &Vocabulary) -> Result<Self> {
        let mut names = NameTable::default();
        for number in 0..vocabulary.len() as u32 {
            if names.intern(vocabulary.name(number)) != number {
                return Err(Error::Mismatch(format!(
                    "the model cannot be continued: two of its words are `{}`, so its vocabulary is damaged",
                    vocabulary.name(number)
                )));
            }
        }
        Ok(Self {
            known: names.len(),
            frequency: vec![0; names.len()],
            names,
            ..Self::default()
        })
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

    /// The features that `params` keeps, and each text as counts of them. Features that were known before stay; of the
    /// others those stay that `params` keeps by their counts in these texts.
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
        kept[..self.known].fill(true);
        let limit = (params.max_features as usize).saturating_sub(self.known);
        let mut candidates: Vec<u32> = (self.known as u32..kept.len() as u32)
            .filter(|&i| kept[i as usize])
            .collect();
        if params.max_features > 0 && candidates.len() > limit {
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
        let mut names = std::mem::take(&mut self.names);
        names.retain(kept);
        // The counts have done their work: their memory holds the new numbers.
        let mut numbers = std::mem::take(&mut self.frequency);
        let mut next = 0;
        for (number, &kept) in numbers.iter_mut().zip(kept) {
            *number = if kept { next } else { GONE };
            next += u32::from(kept);
        }
        let mut write = 0;
        let mut read = 0;
        for offset in self.offsets.iter_mut().skip(1) {
            while read < *offset {
                let number = numbers[self.indices[read] as usize];
                if number != GONE {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use proptest::prelude::*;
    use rayon::prelude::*;
    use std::num::NonZeroUsize;

    fn params(given: &[(&'static str, &'static str)]) -> TextParams {
        TextParams::parse(given.iter().copied()).unwrap()
    }

    fn count(params: &TextParams, texts: &[String], block: usize) -> Result<(Vec<String>, Rows)> {
        let analyzer = Analyzer::new(params).unwrap();
        let mut counter = TextCounter::new();
        for texts in texts.chunks(block) {
            counter.merge(CountedBlock::count(&analyzer, texts)).unwrap();
        }
        let (vocabulary, rows) = counter.finish(params)?;
        assert_eq!(vocabulary.len(), rows.width());
        Ok((
            (0..vocabulary.len())
                .map(|i| vocabulary.name(i as u32).to_owned())
                .collect(),
            rows,
        ))
    }

    fn texts(of: &[&str]) -> Vec<String> {
        of.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn counts_by_hand() {
        let (names, rows) = count(&params(&[]), &texts(&["b a b", "", "c a", "c c c"]), 10).unwrap();
        assert_eq!(names, ["b", "a", "c"]);
        assert_eq!(
            (rows.row(0).indices, rows.row(0).values),
            (&[0, 1][..], &[2.0, 1.0][..])
        );
        assert!(rows.row(1).is_empty());
        assert_eq!(
            (rows.row(2).indices, rows.row(2).values),
            (&[1, 2][..], &[1.0, 1.0][..])
        );
        assert_eq!((rows.row(3).indices, rows.row(3).values), (&[2][..], &[3.0][..]));
    }

    #[test]
    fn limits() {
        let texts = texts(&["d a b", "a b c", "a c", "a"]);
        let kept = |given: &[_]| count(&params(given), &texts, 2).map(|(names, _)| names);
        assert_eq!(kept(&[("min-df", "2")]).unwrap(), ["a", "b", "c"]);
        assert_eq!(kept(&[("max-df", "0.5")]).unwrap(), ["d", "b", "c"]);
        assert_eq!(
            kept(&[("max-features", "2")]).unwrap(),
            ["a", "b"],
            "b came before c"
        );
        assert_eq!(kept(&[("max-features", "9")]).unwrap().len(), 4);
        let (_, rows) = count(&params(&[("max-df", "0.5"), ("min-df", "2")]), &texts, 2).unwrap();
        assert_eq!(
            rows.iter().map(|row| row.indices.to_vec()).collect::<Vec<_>>(),
            [vec![0], vec![0, 1], vec![1], vec![]]
        );
        assert_eq!(
            kept(&[("min-df", "5")]).unwrap_err().to_string(),
            "none of the 4 words is left: `min-df` is 5 and `max-df` is 1 with 4 rows"
        );
    }

    #[test]
    fn no_texts_are_no_error() {
        let (names, rows) = count(&params(&[]), &[], 1).unwrap();
        assert!(names.is_empty() && rows.is_empty());
    }

    #[test]
    fn same_at_any_number_of_threads() {
        let texts: Vec<String> = (0..3000u32)
            .map(|i| {
                format!(
                    "w{} x{} W{} ünï{}",
                    i % 97,
                    i.wrapping_mul(2_654_435_761) % 301,
                    i % 7,
                    i % 11
                )
            })
            .collect();
        let params = params(&[("word-ngrams", "2"), ("min-df", "2"), ("max-features", "500")]);
        let expected = count(&params, &texts, texts.len()).unwrap();
        let analyzer = Analyzer::new(&params).unwrap();
        for threads in [1, 2, 4] {
            let session = Session::new(NonZeroUsize::new(threads).unwrap()).unwrap();
            let blocks: Vec<_> = session.run(|| {
                texts
                    .par_chunks(100)
                    .map(|texts| CountedBlock::count(&analyzer, texts))
                    .collect()
            });
            let mut counter = TextCounter::new();
            for block in blocks {
                counter.merge(block).unwrap();
            }
            let (vocabulary, rows) = counter.finish(&params).unwrap();
            let names: Vec<_> = (0..500).map(|i| vocabulary.name(i).to_owned()).collect();
            assert_eq!((names, rows), expected);
        }
    }

    proptest! {
        #[test]
        fn blocks_of_any_size_give_the_same(
            texts in proptest::collection::vec("[a-däß東 ]{0,12}", 0..30),
            block in 1usize..12,
            min_df in 1u32..4,
            max_features in 0u32..6,
        ) {
            let params = TextParams { min_df, max_features, word_ngrams: 2, ..TextParams::default() };
            let whole = count(&params, &texts, texts.len().max(1)).map_err(|e| e.to_string());
            let parts = count(&params, &texts, block).map_err(|e| e.to_string());
            prop_assert_eq!(whole, parts);
        }

        #[test]
        fn counts_are_those_of_the_tokens(texts in proptest::collection::vec("[a-cé ]{0,12}", 1..10)) {
            let params = TextParams::default();
            let analyzer = Analyzer::new(&params).unwrap();
            let (names, rows) = count(&params, &texts, 3).unwrap();
            for (text, row) in texts.iter().zip(rows.iter()) {
                let mut tokens = Vec::new();
                analyzer.tokens(text, &mut AnalyzerScratch::default(), |token| tokens.push(token.to_owned()));
                for (index, value) in row.iter() {
                    let name = &names[index as usize];
                    prop_assert_eq!(tokens.iter().filter(|token| *token == name).count() as f32, value);
                }
                prop_assert_eq!(row.values.iter().sum::<f32>(), tokens.len() as f32);
            }
        }
    }
}
