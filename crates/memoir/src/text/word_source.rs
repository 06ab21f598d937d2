//! Where the words of training texts come from, block by block, as often as they are needed: from memory, or
//! from wherever somebody else has them.

use rayon::prelude::*;

use crate::shards::is_own_block;
use crate::{Result, Session};

/// Texts that one task takes.
const TEXTS_PER_TASK: usize = 512;

/// Tasks of a thread before results are put together: enough to share out evenly, few enough not to pile up.
const TASKS_PER_THREAD: usize = 8;

/// Some texts that follow each other, as numbers of words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextBlock<'a> {
    /// Number of the block.
    number: usize,
    start: usize,
    /// Where each text ends in `words`; the first one begins at `start`.
    ends: &'a [usize],
    words: &'a [u32],
}

impl<'a> TextBlock<'a> {
    /// The block of this number, whose texts end at `ends` in `words`.
    pub(crate) fn new(number: usize, ends: &'a [usize], words: &'a [u32]) -> Self {
        Self {
            number,
            start: 0,
            ends,
            words,
        }
    }

    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether this process works on the block, where work is shared out.
    pub(super) fn is_own(&self, session: &Session<'_>) -> bool {
        is_own_block(self.number, session)
    }

    /// The words of each text.
    pub(super) fn iter(self) -> impl Iterator<Item = &'a [u32]> {
        let starts = std::iter::once(self.start).chain(self.ends.iter().copied());
        starts
            .zip(self.ends)
            .map(move |(start, &end)| &self.words[start..end])
    }
}

/// Texts whose words are gone through several times, always in the same order.
pub(crate) trait WordSource: Sync {
    /// Number of texts.
    fn texts(&self) -> usize;

    /// Number of their words.
    fn words(&self) -> usize;

    /// Memory that they take.
    fn memory(&self) -> usize;

    /// Goes through all texts: `work` is done to each block in the session's pool, `take` gets blocks and
    /// results in order. How texts are cut into blocks must make no difference.
    fn pass<T: Send>(
        &self,
        work: impl Fn(TextBlock<'_>) -> T + Sync,
        take: impl FnMut(TextBlock<'_>, T) -> Result<()>,
        session: &Session<'_>,
    ) -> Result<()>;

    /// Hands each text to `take`, with its number.
    fn for_each(&self, mut take: impl FnMut(usize, &[u32]), session: &Session<'_>) -> Result<()> {
        let mut number = 0;
        let each = |block: TextBlock<'_>, ()| {
            for words in block.iter() {
                take(number, words);
                number += 1;
            }
            Ok(())
        };
        self.pass(|_| (), each, session)
    }

    /// The texts with these numbers, in the order of the numbers.
    fn pick(&self, texts: &[usize], session: &Session<'_>) -> Result<WordLists> {
        let mut wanted: Vec<(usize, usize)> = texts.iter().copied().zip(0..).collect();
        wanted.sort_unstable();
        let mut wanted = wanted.into_iter().peekable();
        let mut picked: Vec<Vec<u32>> = vec![Vec::new(); texts.len()];
        let pick = |text: usize, words: &[u32]| {
            while let Some((_, place)) = wanted.next_if(|next| next.0 == text) {
                picked[place] = words.to_vec();
            }
        };
        self.for_each(pick, session)?;
        let mut lists = WordLists::default();
        for words in picked {
            lists.push(words);
        }
        Ok(lists)
    }
}

/// Texts in memory.
#[derive(Debug, Clone)]
pub struct WordLists {
    /// Where each text starts in `words`, and the end.
    offsets: Vec<usize>,
    words: Vec<u32>,
}

impl Default for WordLists {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            words: Vec::new(),
        }
    }
}

impl WordLists {
    /// Appends a text.
    pub(super) fn push(&mut self, words: impl IntoIterator<Item = u32>) {
        self.words.extend(words);
        self.offsets.push(self.words.len());
    }

    /// Appends texts: where each ends in `words`.
    pub(super) fn extend(&mut self, ends: &[usize], words: impl IntoIterator<Item = u32>) {
        let before = self.words.len();
        self.words.extend(words);
        self.offsets.extend(ends.iter().map(|end| before + end));
    }

    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The first `texts` of them.
    pub(super) fn first(&self, texts: usize) -> FirstTexts<'_> {
        FirstTexts { all: self, texts }
    }

    /// The words of a text.
    pub(super) fn text(&self, number: usize) -> &[u32] {
        &self.words[self.offsets[number]..self.offsets[number + 1]]
    }
}

impl WordSource for WordLists {
    fn texts(&self) -> usize {
        self.len()
    }

    fn words(&self) -> usize {
        self.words.len()
    }

    fn memory(&self) -> usize {
        self.offsets.len() * 8 + self.words.len() * 4
    }

    fn pass<T: Send>(
        &self,
        work: impl Fn(TextBlock<'_>) -> T + Sync,
        take: impl FnMut(TextBlock<'_>, T) -> Result<()>,
        session: &Session<'_>,
    ) -> Result<()> {
        self.first(self.len()).pass(work, take, session)
    }
}

/// The first ones of texts in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstTexts<'a> {
    all: &'a WordLists,
    texts: usize,
}

impl WordSource for FirstTexts<'_> {
    fn texts(&self) -> usize {
        self.texts
    }

    fn words(&self) -> usize {
        self.all.offsets[self.texts]
    }

    fn memory(&self) -> usize {
        0
    }

    fn pass<T: Send>(
        &self,
        work: impl Fn(TextBlock<'_>) -> T + Sync,
        mut take: impl FnMut(TextBlock<'_>, T) -> Result<()>,
        session: &Session<'_>,
    ) -> Result<()> {
        let WordLists { offsets, words } = self.all;
        let ends = &offsets[1..=self.texts];
        let block = |first: usize| TextBlock {
            number: first / TEXTS_PER_TASK,
            start: offsets[first],
            ends: &ends[first..ends.len().min(first + TEXTS_PER_TASK)],
            words,
        };
        let at_once = TEXTS_PER_TASK * TASKS_PER_THREAD * session.threads();
        for first in (0..self.texts).step_by(at_once) {
            session.check()?;
            let firsts = (first..self.texts.min(first + at_once)).step_by(TEXTS_PER_TASK);
            let blocks: Vec<TextBlock<'_>> = firsts.map(block).collect();
            let results: Vec<T> = session.run(|| blocks.par_iter().map(|&block| work(block)).collect());
            for (block, result) in blocks.into_iter().zip(results) {
                take(block, result)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    #[test]
    fn passes_keep_the_order_and_picks_their_own() {
        let session = Session::new(NonZeroUsize::new(2).unwrap()).unwrap();
        let mut lists = WordLists::default();
        let length = |text: u32| (text % 3) as usize;
        for text in 0..20_000u32 {
            lists.push(std::iter::repeat_n(text, length(text)));
        }
        assert_eq!((lists.len(), lists.words()), (20_000, 19_999));
        let mut seen = 0u32;
        let take = |block: TextBlock<'_>, sum: usize| {
            assert_eq!(block.iter().map(<[u32]>::len).sum::<usize>(), sum);
            for words in block.iter() {
                assert_eq!(words, vec![seen; length(seen)]);
                seen += 1;
            }
            Ok(())
        };
        let first = lists.first(15_001);
        first
            .pass(|block| block.iter().flatten().count(), take, &session)
            .unwrap();
        assert_eq!((seen, first.words()), (15_001, first.texts() - 1));
        let picked = lists.pick(&[19_999, 4, 0, 4], &session).unwrap();
        assert_eq!(picked.len(), 4);
        assert_eq!((picked.text(0), picked.text(1)), (&[19_999][..], &[4][..]));
        assert_eq!((picked.text(2), picked.text(3)), (&[][..], &[4][..]));
    }
}
