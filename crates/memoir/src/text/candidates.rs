//! The features that texts could have, part by part: runs of words or stems, runs of characters.

use rustc_hash::FxHashMap;

use super::analyzer::Analyzer;
use super::counting::TextCounter;
use super::language::Stemmers;
use super::parts::{Counted, Form, Part};
use super::vocabulary::NameTable;
use super::words::CharacterRuns;
use crate::dataset::{ColumnKind, parse_mark};

/// All candidates of all parts, numbered one part after the other.
pub(super) struct Candidates<'c> {
    counter: &'c TextCounter,
    /// The language of each text; empty if there is at most one.
    languages: Vec<u8>,
    /// What each word stands for; empty if all are plain words.
    marks: Vec<Mark>,
    analyzer: &'c Analyzer,
    parts: Vec<PartCandidates>,
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

struct PartCandidates {
    block: u8,
    /// The text column that they come from.
    column: u8,
    /// Number of its first candidate.
    first: u32,
    table: Table,
}

enum Table {
    Runs(Runs),
    Chars(Chars),
    Values(Values),
}

/// The values of a column, and the one that each word stands for.
struct Values {
    names: NameTable,
    of_words: FxHashMap<u32, u32>,
}

/// Runs of units, which are words or stems. A unit is the run of one; a longer run is a shorter one and a
/// unit behind it.
struct Runs {
    form: Form,
    shortest: usize,
    longest: usize,
    /// The unit of each word, for each language; empty if words are the units.
    unit_of_word: Vec<Vec<u32>>,
    /// Names of the units; empty if words are the units.
    stems: NameTable,
    units: usize,
    /// The parts of each run that is longer than one, numbered behind the units.
    longer: Vec<(u32, u32)>,
    numbers: FxHashMap<(u32, u32), u32>,
}

/// Runs of characters.
struct Chars {
    names: NameTable,
    /// Where the runs of each word start in `of_words`, and the end.
    starts: Vec<usize>,
    of_words: Vec<u32>,
}

impl<'c> Candidates<'c> {
    /// Everything that the parts of `analyzer` find in the texts of `counter`.
    pub(super) fn new(counter: &'c TextCounter, analyzer: &'c Analyzer) -> Self {
        let languages = text_languages(counter, analyzer.stemmers());
        let marks = marks(counter, analyzer);
        let mut parts: Vec<PartCandidates> = Vec::new();
        for &Counted { part, block, column } in analyzer.parts() {
            let first = parts
                .last()
                .map_or(0, |part| part.first + part.table.len() as u32);
            let table = match part {
                Part::Runs {
                    form,
                    shortest,
                    longest,
                } => {
                    let mut runs = Runs::new(counter, analyzer, form, shortest, longest);
                    if longest > 1 {
                        for text in 0..counter.len() {
                            let language = languages.get(text).copied().unwrap_or(0) as usize;
                            stretches(&marks, counter.text(text), column, |words| {
                                runs.learn(words, language);
                            });
                        }
                    }
                    Table::Runs(runs)
                }
                Part::Value { column } => Table::Values(Values::new(counter, analyzer, column)),
                Part::Chars { shortest, longest } => Table::Chars(Chars::new(counter, shortest, longest)),
            };
            parts.push(PartCandidates {
                block,
                column,
                first,
                table,
            });
        }
        Self {
            counter,
            languages,
            marks,
            analyzer,
            parts,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.table.len()).sum()
    }

    /// Memory that they take beside the counter.
    pub(super) fn memory(&self) -> usize {
        let of_parts: usize = self.parts.iter().map(|part| part.table.memory()).sum();
        self.languages.len() + size_of_val(&self.marks[..]) + of_parts
    }

    /// Appends the candidates in text `index`, repeats included.
    pub(super) fn of_text(&self, index: usize, found: &mut Vec<u32>) {
        let words = self.counter.text(index);
        let language = self.languages.get(index).copied().unwrap_or(0) as usize;
        for part in &self.parts {
            match &part.table {
                Table::Runs(runs) => stretches(&self.marks, words, part.column, |words| {
                    runs.each(words, language, |run| found.push(part.first + run));
                }),
                Table::Chars(chars) => stretches(&self.marks, words, part.column, |words| {
                    for &word in words {
                        let range = chars.starts[word as usize]..chars.starts[word as usize + 1];
                        found.extend(chars.of_words[range].iter().map(|run| part.first + run));
                    }
                }),
                Table::Values(values) => {
                    let of_column = words.iter().filter_map(|word| values.of_words.get(word));
                    found.extend(of_column.map(|value| part.first + value));
                }
            }
        }
    }

    /// The blocks and the numbers of their candidates, in order.
    pub(super) fn by_block(&self) -> impl Iterator<Item = (u8, std::ops::Range<usize>)> + '_ {
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
            Table::Runs(runs) => {
                name.extend(runs.form.mark());
                runs.push_name(number, &self.counter.names, name);
            }
        }
    }
}

impl Table {
    fn len(&self) -> usize {
        match self {
            Self::Runs(runs) => runs.units + runs.longer.len(),
            Self::Chars(chars) => chars.names.len(),
            Self::Values(values) => values.names.len(),
        }
    }

    fn memory(&self) -> usize {
        // A byte beside each place of a hash table says whether it is taken.
        let map = |places: usize, entry: usize| places * (entry + 1);
        match self {
            Self::Runs(runs) => {
                let units: usize = runs.unit_of_word.iter().map(|units| units.len() * 4).sum();
                let longer = runs.longer.len() * 8 + map(runs.numbers.capacity() * 8 / 7, 12);
                units + runs.stems.memory() + longer
            }
            Self::Chars(chars) => chars.names.memory() + chars.starts.len() * 8 + chars.of_words.len() * 4,
            Self::Values(values) => values.names.memory() + map(values.of_words.capacity() * 8 / 7, 8),
        }
    }
}

impl Runs {
    fn new(counter: &TextCounter, analyzer: &Analyzer, form: Form, shortest: usize, longest: usize) -> Self {
        let mut stems = NameTable::default();
        let mut unit_of_word = Vec::new();
        if form.is_stemmed() {
            let mut stem = String::new();
            for language in 0..analyzer.stemmers().len().max(1) {
                let unit = |word: &str| {
                    stem.clear();
                    analyzer.stemmers().push_stem(language, word, &mut stem);
                    stems.intern(&stem)
                };
                unit_of_word.push(counter.names.iter().map(unit).collect());
            }
        }
        let units = if form.is_stemmed() {
            stems.len()
        } else {
            counter.names.len()
        };
        Self {
            form,
            shortest,
            longest,
            unit_of_word,
            stems,
            units,
            longer: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    /// Numbers the runs of a text that are new.
    fn learn(&mut self, words: &[u32], language: usize) {
        for first in 0..words.len() {
            let mut run = self.unit(words[first], language);
            for &word in words.iter().skip(first + 1).take(self.longest - 1) {
                let parts = (run, self.unit(word, language));
                let next = (self.units + self.longer.len()) as u32;
                run = *self.numbers.entry(parts).or_insert(next);
                if run == next {
                    self.longer.push(parts);
                }
            }
        }
    }

    /// Hands each run of a text to `emit`.
    fn each(&self, words: &[u32], language: usize, mut emit: impl FnMut(u32)) {
        let words = self.form.of(words);
        for first in 0..words.len() {
            let mut run = self.unit(words[first], language);
            if self.shortest <= 1 {
                emit(run);
            }
            for (length, &word) in (2..=self.longest).zip(&words[first + 1..]) {
                let Some(&longer) = self.numbers.get(&(run, self.unit(word, language))) else {
                    break;
                };
                run = longer;
                if length >= self.shortest {
                    emit(run);
                }
            }
        }
    }

    fn unit(&self, word: u32, language: usize) -> u32 {
        self.unit_of_word
            .get(language)
            .map_or(word, |units| units[word as usize])
    }

    fn push_name(&self, run: u32, words: &NameTable, name: &mut String) {
        match (run as usize).checked_sub(self.units) {
            None if self.form.is_stemmed() => name.push_str(self.stems.name(run as usize)),
            None => name.push_str(words.name(run as usize)),
            Some(longer) => {
                let (shorter, unit) = self.longer[longer];
                self.push_name(shorter, words, name);
                name.push(' ');
                self.push_name(unit, words, name);
            }
        }
    }
}

impl Chars {
    fn new(counter: &TextCounter, shortest: usize, longest: usize) -> Self {
        let mut chars = Self {
            names: NameTable::default(),
            starts: vec![0],
            of_words: Vec::new(),
        };
        let mut runs = CharacterRuns::default();
        for word in counter.names.iter() {
            runs.each(word, shortest, longest, |run, _| {
                chars.of_words.push(chars.names.intern(run));
            });
            chars.starts.push(chars.of_words.len());
        }
        chars
    }
}

impl Values {
    fn new(counter: &TextCounter, analyzer: &Analyzer, column: u8) -> Self {
        let mut values = Self {
            names: NameTable::default(),
            of_words: FxHashMap::default(),
        };
        let mut token = String::new();
        for (word, name) in counter.names.iter().enumerate() {
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

/// What each word of `counter` stands for; empty if all are plain words.
fn marks(counter: &TextCounter, analyzer: &Analyzer) -> Vec<Mark> {
    let mark = |name: &str| match parse_mark(name) {
        None => Mark::Word,
        Some((column, _)) if column.kind == ColumnKind::Text => Mark::Text(analyzer.text_column(&column)),
        Some(_) => Mark::Value,
    };
    let marks: Vec<Mark> = counter.names.iter().map(mark).collect();
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

/// The language of each text, by the common words it holds; empty if there is at most one language.
fn text_languages(counter: &TextCounter, stemmers: &Stemmers) -> Vec<u8> {
    if stemmers.len() < 2 {
        return Vec::new();
    }
    // One bit for each language.
    let common = |word: &str| {
        (0..stemmers.len()).fold(0u32, |bits, language| {
            bits | u32::from(stemmers.is_common(language, word)) << language
        })
    };
    let common: Vec<u32> = counter.names.iter().map(common).collect();
    let of_text = |text| {
        let mut counts = [0u32; 32];
        for &word in counter.text(text) {
            let bits = common[word as usize];
            if bits != 0 {
                for (language, count) in counts.iter_mut().enumerate() {
                    *count += bits >> language & 1;
                }
            }
        }
        Stemmers::of_text(&counts[..stemmers.len()]) as u8
    };
    (0..counter.len()).map(of_text).collect()
}
