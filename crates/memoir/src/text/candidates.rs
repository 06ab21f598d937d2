//! The features that texts could have, part by part: runs of words or stems, runs of characters.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::analyzer::Analyzer;
use super::language::Languages;
use super::parts::{Counted, Part};
use super::runs::Runs;
use super::vocabulary::NameTable;
use super::word_source::{TextBlock, WordSource};
use super::words::CharacterRuns;
use crate::dataset::{ColumnKind, parse_mark};
use crate::shards::Shard;
use crate::{Error, Result, Session};

/// All candidates of all parts, numbered one part after the other.
#[derive(Debug)]
pub(super) struct Candidates<'c> {
    words: &'c NameTable,
    languages: Languages,
    /// What each word stands for; empty if all are plain words.
    marks: Vec<Mark>,
    analyzer: Analyzer,
    parts: Vec<PartCandidates>,
    /// Memory that parts took at most while runs were numbered.
    most_memory: usize,
}

/// What a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Word,
    /// The words behind it are of this text column.
    Text(u8),
    /// The value of another column.
    Value,
}

#[derive(Debug)]
struct PartCandidates {
    block: u8,
    /// The text column that they come from.
    column: u8,
    /// Number of its first candidate.
    first: u32,
    table: Table,
}

#[derive(Debug)]
enum Table {
    Runs(Runs),
    Chars(Chars),
    Values(Values),
}

/// The values of a column, and the one that each word stands for.
#[derive(Debug)]
struct Values {
    names: NameTable,
    of_words: FxHashMap<u32, u32>,
}

/// Runs of characters.
#[derive(Debug)]
struct Chars {
    names: NameTable,
    /// Where the runs of each word start in `of_words`, and the end.
    starts: Vec<usize>,
    of_words: Vec<u32>,
}

impl<'c> Candidates<'c> {
    /// Everything that the parts of `analyzer` find in the texts of `source`, which are made of `words`.
    /// `fewest` tells for each block in how many texts its features must be at least: of runs that cannot
    /// be, most are left out at once. Without blocks there all candidates are.
    pub(super) fn new(
        words: &'c NameTable,
        source: &impl WordSource,
        analyzer: Analyzer,
        fewest: &[u32],
        session: &Session<'_>,
    ) -> Result<Self> {
        let mut parts = Vec::with_capacity(analyzer.parts().len());
        for &Counted { part, block, column } in analyzer.parts() {
            let table = match part {
                Part::Runs {
                    form,
                    shortest,
                    longest,
                } => Table::Runs(Runs::new(words, &analyzer, form, (shortest, longest))),
                Part::Value { column } => Table::Values(Values::new(words, &analyzer, column)),
                Part::Chars { shortest, longest } => Table::Chars(Chars::new(words, shortest, longest)),
            };
            parts.push(PartCandidates {
                block,
                column,
                first: 0,
                table,
            });
        }
        let mut candidates = Self {
            words,
            languages: Languages::new(words, analyzer.stemmers()),
            marks: marks(words, &analyzer),
            analyzer,
            parts,
            most_memory: 0,
        };
        candidates.learn_longer_runs(source, fewest, session)?;
        let mut first = 0;
        for part in &mut candidates.parts {
            part.first = first as u32;
            first += part.table.len();
        }
        Ok(candidates)
    }

    /// Numbers runs of several units.
    fn learn_longer_runs(
        &mut self,
        source: &impl WordSource,
        fewest: &[u32],
        session: &Session<'_>,
    ) -> Result<()> {
        let longer = self.parts.iter().filter(|part| part.table.has_longer_runs());
        let (longer, budget) = (longer.count(), session.memory_budget());
        if longer == 0 {
            return Ok(());
        }
        let most = budget.map_or(u64::MAX, |budget| budget / FILTERS_SHARE) as usize / longer;
        let mut filters = false;
        for part in &mut self.parts {
            let fewest = fewest.get(usize::from(part.block)).copied().unwrap_or(1);
            if let Table::Runs(runs) = &mut part.table
                && runs.has_longer()
                && fewest > 1
            {
                runs.filter(fewest, source.words(), most);
                filters = true;
            }
        }
        if filters {
            let count = |block: TextBlock<'_>| {
                for text in block.iter() {
                    let language = self.languages.of_text(text);
                    self.each_runs(text, |runs, words| runs.count(words, language));
                }
            };
            source.pass(count, |_, ()| Ok(()), session)?;
        }
        // Each shard numbers the runs of texts that follow each other, so that the first appearance over all
        // texts can be told. Under a budget there is no room for the lists of all shards.
        let shard = session.shard().filter(|_| budget.is_none());
        let own = shard.map_or(0..source.texts(), |shard| own_part(shard, source.texts()));
        let mut done = 0;
        let learn = |block: TextBlock<'_>, ()| {
            let start = done;
            done += block.len();
            if !own.contains(&start) {
                return Ok(());
            }
            for text in block.iter() {
                let language = self.languages.of_text(text);
                for part in &mut self.parts {
                    if let Table::Runs(runs) = &mut part.table
                        && runs.has_longer()
                    {
                        stretches(&self.marks, text, part.column, |words| {
                            runs.learn(words, language);
                        });
                    }
                }
            }
            let taken: usize = self.parts.iter().map(|part| part.table.memory()).sum();
            self.most_memory = self.most_memory.max(taken);
            match budget {
                Some(budget) if taken as u64 > budget => {
                    Err(too_many_runs(budget, taken, done, source.texts()))
                }
                _ => Ok(()),
            }
        };
        source.pass(|_| (), learn, session)?;
        for part in &mut self.parts {
            if let Table::Runs(runs) = &mut part.table {
                runs.drop_filter();
                if let Some(shard) = shard.filter(|_| runs.has_longer()) {
                    runs.combine(shard, session)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.table.len()).sum()
    }

    /// Memory that parts took at most while runs were numbered, with rough counts.
    pub(super) fn most_memory(&self) -> usize {
        self.most_memory
    }

    /// Memory that they take beside the words.
    pub(super) fn memory(&self) -> usize {
        let of_parts: usize = self.parts.iter().map(|part| part.table.memory()).sum();
        self.languages.memory() + size_of_val(&self.marks[..]) + of_parts
    }

    /// Hands the runs of each part, and words of a text that they are in, to `take`.
    fn each_runs(&self, text: &[u32], take: impl Fn(&Runs, &[u32])) {
        for part in &self.parts {
            if let Table::Runs(runs) = &part.table {
                stretches(&self.marks, text, part.column, |words| take(runs, words));
            }
        }
    }

    /// Appends the candidates in a text, repeats included.
    pub(super) fn of_text(&self, text: &[u32], found: &mut Vec<u32>) {
        let language = self.languages.of_text(text);
        for part in &self.parts {
            match &part.table {
                Table::Runs(runs) => stretches(&self.marks, text, part.column, |words| {
                    runs.each(words, language, |run| found.push(part.first + run));
                }),
                Table::Chars(chars) => stretches(&self.marks, text, part.column, |words| {
                    for &word in words {
                        let range = chars.starts[word as usize]..chars.starts[word as usize + 1];
                        found.extend(chars.of_words[range].iter().map(|run| part.first + run));
                    }
                }),
                Table::Values(values) => {
                    let of_column = text.iter().filter_map(|word| values.of_words.get(word));
                    found.extend(of_column.map(|value| part.first + value));
                }
            }
        }
    }

    /// The blocks and the numbers of their candidates, in order.
    pub(super) fn by_block(&self) -> impl Iterator<Item = (u8, Range<usize>)> + '_ {
        self.parts.iter().map(|part| {
            let first = part.first as usize;
            (part.block, first..first + part.table.len())
        })
    }

    /// Writes the name of a candidate to `name`.
    pub(super) fn write_name(&self, candidate: u32, name: &mut String) {
        name.clear();
        let part = self.parts.partition_point(|part| part.first <= candidate) - 1;
        let part = &self.parts[part];
        let number = candidate - part.first;
        self.analyzer.push_prefix(part.column, name);
        match &part.table {
            Table::Values(values) => name.push_str(values.names.name(number as usize)),
            Table::Chars(chars) => name.push_str(chars.names.name(number as usize)),
            Table::Runs(runs) => runs.push_name(number, self.words, name),
        }
    }
}

impl Table {
    fn has_longer_runs(&self) -> bool {
        matches!(self, Self::Runs(runs) if runs.has_longer())
    }

    fn len(&self) -> usize {
        match self {
            Self::Runs(runs) => runs.len(),
            Self::Chars(chars) => chars.names.len(),
            Self::Values(values) => values.names.len(),
        }
    }

    fn memory(&self) -> usize {
        // A byte beside each place of a hash table says whether it is taken.
        let map = |places: usize, entry: usize| places * (entry + 1);
        match self {
            Self::Runs(runs) => runs.memory(),
            Self::Chars(chars) => chars.names.memory() + chars.starts.len() * 8 + chars.of_words.len() * 4,
            Self::Values(values) => values.names.memory() + map(values.of_words.capacity() * 8 / 7, 8),
        }
    }
}

impl Chars {
    fn new(words: &NameTable, shortest: usize, longest: usize) -> Self {
        let mut chars = Self {
            names: NameTable::default(),
            starts: vec![0],
            of_words: Vec::new(),
        };
        let mut runs = CharacterRuns::default();
        for word in words.iter() {
            runs.each(word, shortest, longest, |run, _| {
                chars.of_words.push(chars.names.intern(run));
            });
            chars.starts.push(chars.of_words.len());
        }
        chars
    }
}

impl Values {
    fn new(words: &NameTable, analyzer: &Analyzer, column: u8) -> Self {
        let mut values = Self {
            names: NameTable::default(),
            of_words: FxHashMap::default(),
        };
        let mut token = String::new();
        for (word, name) in words.iter().enumerate() {
            let about = analyzer.column(column);
            if let Some((_, value)) = parse_mark(name).filter(|(column, _)| about.is(column))
                && about.write_token(value, &mut token)
            {
                let value = values.names.intern(&token);
                values.of_words.insert(word as u32, value);
            }
        }
        values
    }
}

/// What each of `words` stands for; empty if all are plain words.
fn marks(words: &NameTable, analyzer: &Analyzer) -> Vec<Mark> {
    let mark = |name: &str| match parse_mark(name) {
        None => Mark::Word,
        Some((column, _)) if column.kind == ColumnKind::Text => Mark::Text(analyzer.text_column(&column)),
        Some(_) => Mark::Value,
    };
    let marks: Vec<Mark> = words.iter().map(mark).collect();
    if marks.iter().all(|&mark| mark == Mark::Word) {
        return Vec::new();
    }
    marks
}

/// Hands the words of a text column to `take`, those that follow each other together.
fn stretches<'w>(marks: &[Mark], words: &'w [u32], column: u8, mut take: impl FnMut(&'w [u32])) {
    if marks.is_empty() {
        return take(words);
    }
    let (mut current, mut start) = (0, 0);
    for (index, &word) in words.iter().enumerate() {
        let mark = marks[word as usize];
        if mark == Mark::Word {
            continue;
        }
        if current == column && start < index {
            take(&words[start..index]);
        }
        start = index + 1;
        if let Mark::Text(next) = mark {
            current = next;
        }
    }
    if current == column && start < words.len() {
        take(&words[start..]);
    }
}

/// The texts, of so many, whose runs a shard numbers first.
fn own_part(shard: &Shard, texts: usize) -> Range<usize> {
    let start = |index: usize| (texts as u128 * index as u128 / shard.shards() as u128) as usize;
    start(shard.index())..start(shard.index() + 1)
}

/// Rough counts of runs take this part of a memory budget at most.
const FILTERS_SHARE: u64 = 4;

fn too_many_runs(budget: u64, taken: usize, done: usize, texts: usize) -> Error {
    let all = taken as f64 * texts as f64 / done.max(1) as f64;
    Error::Parameter(format!(
        "the memory budget of {} MB is too small: runs of words alone would take about {} MB; count fewer kinds of \
         features (`blocks`), or only those in more rows (`min-df`)",
        budget.div_ceil(1_000_000),
        (all / 1e6).ceil()
    ))
}

#[cfg(test)]
mod tests;
