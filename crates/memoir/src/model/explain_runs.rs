//! Runs of characters as people read them: inside the word of the text that they come from.

use rustc_hash::FxHashMap;

use super::{Explanation, Model};
use crate::text::AnalyzerScratch;

/// First character of the tokens that are runs.
const RUN: char = '#';

impl Model {
    /// Says of each run of characters in `explanation`, which belongs to `text`, in which word it first is:
    /// `[tryg]ghet`.
    pub fn show_runs(&self, text: &str, explanation: &mut Explanation) {
        let Some(pipeline) = self.preprocessing.text() else {
            return;
        };
        let mut ranges = FxHashMap::default();
        for span in pipeline.analyzer.spans(text, &mut AnalyzerScratch::default()) {
            if span.token.starts_with(RUN)
                && let Some(feature) = pipeline.vocabulary.find(&span.token)
            {
                ranges.entry(feature).or_insert(span.range);
            }
        }
        for share in &mut explanation.features {
            let Some(range) = ranges.get(&share.feature) else {
                continue;
            };
            let (before, run, after) = (&text[..range.start], &text[range.clone()], &text[range.end..]);
            let belongs = |c: &char| c.is_alphanumeric();
            let first: usize = before.chars().rev().take_while(belongs).map(char::len_utf8).sum();
            let last: usize = after.chars().take_while(belongs).map(char::len_utf8).sum();
            share.in_word = Some(format!(
                "{}[{run}]{}",
                &before[before.len() - first..],
                &after[..last]
            ));
        }
    }
}
