//! Runs of words or stems: which there are in the texts, by number.

use super::analyzer::Analyzer;
use super::parts::Form;
use super::run_filter::{RunFilter, RunHash};
use super::vocabulary::NameTable;
use crate::shards::{Shard, gather_list};
use crate::{Result, Session};

/// Content of a slot that holds no run.
const EMPTY: u32 = u32::MAX;

/// Fewest slots of a table.
const FEWEST_SLOTS: usize = 1 << 6;

/// Runs of units, which are words or stems. A unit is the run of one; a longer run is a shorter one and a
/// unit behind it.
#[derive(Debug)]
pub(super) struct Runs {
    form: Form,
    shortest: usize,
    longest: usize,
    /// The unit of each word, for each language; empty if words are the units.
    unit_of_word: Vec<Vec<u32>>,
    /// Names of the units; empty if words are the units.
    stems: NameTable,
    units: usize,
    longer: LongerRuns,
    /// Lets those runs pass that may be frequent enough, if others are of no use.
    filter: Option<RunFilter>,
}

impl Runs {
    /// No longer runs yet of these words.
    pub(super) fn new(
        words: &NameTable,
        analyzer: &Analyzer,
        form: Form,
        (shortest, longest): (usize, usize),
    ) -> Self {
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
                unit_of_word.push(words.iter().map(unit).collect());
            }
        }
        let units = if form.is_stemmed() {
            stems.len()
        } else {
            words.len()
        };
        Self {
            form,
            shortest,
            longest,
            unit_of_word,
            stems,
            units,
            longer: LongerRuns::default(),
            filter: None,
        }
    }

    /// Whether there are runs of more than one unit.
    pub(super) fn has_longer(&self) -> bool {
        self.longest > 1
    }

    /// Number of runs.
    pub(super) fn len(&self) -> usize {
        self.units + self.longer.parts.len()
    }

    /// Memory that they take.
    pub(super) fn memory(&self) -> usize {
        let units: usize = self.unit_of_word.iter().map(|units| units.len() * 4).sum();
        let filter = self.filter.as_ref().map_or(0, RunFilter::memory);
        units + self.stems.memory() + self.longer.memory() + filter
    }

    /// From now on runs are counted roughly. Only those are numbered later that may be in `fewest` texts.
    /// Counts are for texts of so many `words`, in at most `most` bytes.
    pub(super) fn filter(&mut self, fewest: u32, words: usize, most: usize) {
        let bytes = words * (self.longest - 1) * BYTES_PER_RUN;
        self.filter = Some(RunFilter::new(bytes.min(most), fewest));
    }

    /// All runs are numbered, so rough counts are no longer needed.
    pub(super) fn drop_filter(&mut self) {
        self.filter = None;
    }

    /// Counts the longer runs of a text roughly.
    pub(super) fn count(&self, words: &[u32], language: usize) {
        let Some(filter) = &self.filter else { return };
        self.each_hash(words, language, |run| filter.prefetch(run));
        self.each_hash(words, language, |run| filter.count(run));
    }

    fn each_hash(&self, words: &[u32], language: usize, mut emit: impl FnMut(RunHash)) {
        for (first, &word) in words.iter().enumerate() {
            let mut run = RunHash::of(self.unit(word, language));
            for &word in words.iter().skip(first + 1).take(self.longest - 1) {
                run = run.with(self.unit(word, language));
                emit(run);
            }
        }
    }

    /// Numbers the longer runs of all shards. Each has numbered those of its own texts, which come before
    /// the texts of the next one.
    pub(super) fn combine(&mut self, shard: &Shard, session: &Session<'_>) -> Result<()> {
        let own = std::mem::take(&mut self.longer).parts;
        let lists = gather_list(&own, shard, session)?;
        drop(own);
        let units = self.units as u32;
        for (of, list) in lists.into_iter().enumerate() {
            let mut numbers: Vec<u32> = Vec::with_capacity(list.len());
            for (shorter, unit) in list {
                // What a run begins with was numbered before it.
                let shorter = match shorter.checked_sub(units) {
                    None => Some(shorter),
                    Some(longer) => numbers.get(longer as usize).map(|number| units + number),
                };
                let run = shorter
                    .filter(|_| unit < units)
                    .ok_or_else(|| Shard::misfit(of))?;
                numbers.push(self.longer.intern((run, unit)));
            }
        }
        Ok(())
    }

    /// Numbers the runs of a text that are new.
    pub(super) fn learn(&mut self, words: &[u32], language: usize) {
        if let Some(filter) = &self.filter {
            self.each_hash(words, language, |run| filter.prefetch(run));
        }
        for (first, &word) in words.iter().enumerate() {
            let mut run = self.unit(word, language);
            let mut hash = RunHash::of(run);
            for &word in words.iter().skip(first + 1).take(self.longest - 1) {
                let unit = self.unit(word, language);
                hash = hash.with(unit);
                // What a longer run begins with is at least as frequent.
                if self.filter.as_ref().is_some_and(|filter| !filter.passes(hash)) {
                    break;
                }
                run = self.units as u32 + self.longer.intern((run, unit));
            }
        }
    }

    /// Hands each run of a text to `emit`.
    pub(super) fn each(&self, words: &[u32], language: usize, mut emit: impl FnMut(u32)) {
        let words = self.form.of(words);
        for (first, &word) in words.iter().enumerate() {
            let mut run = self.unit(word, language);
            if self.shortest <= 1 {
                emit(run);
            }
            for (length, &word) in (2..=self.longest).zip(&words[first + 1..]) {
                let Some(longer) = self.longer.find((run, self.unit(word, language))) else {
                    break;
                };
                run = self.units as u32 + longer;
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

    /// Appends the name of a run of `words`.
    pub(super) fn push_name(&self, run: u32, words: &NameTable, name: &mut String) {
        name.extend(self.form.mark());
        self.push_units(run, words, name);
    }

    fn push_units(&self, run: u32, words: &NameTable, name: &mut String) {
        match (run as usize).checked_sub(self.units) {
            None if self.form.is_stemmed() => name.push_str(self.stems.name(run as usize)),
            None => name.push_str(words.name(run as usize)),
            Some(longer) => {
                let (shorter, unit) = self.longer.parts[longer];
                self.push_units(shorter, words, name);
                name.push(' ');
                self.push_units(unit, words, name);
            }
        }
    }
}

/// Rough counts take so many bytes for each run that there may be: of the runs that are met once, about one
/// in twenty passes then.
const BYTES_PER_RUN: usize = 2;

/// The parts of each run that is longer than one, by number, and the numbers in an open-addressing hash
/// table.
#[derive(Debug, Default)]
struct LongerRuns {
    parts: Vec<(u32, u32)>,
    slots: Vec<u32>,
}

impl LongerRuns {
    fn memory(&self) -> usize {
        self.parts.len() * 8 + self.slots.len() * 4
    }

    fn first_slot(&self, parts: (u32, u32)) -> usize {
        let both = u64::from(parts.0) << 32 | u64::from(parts.1);
        let mixed = (both ^ both >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 32) as usize & (self.slots.len() - 1)
    }

    /// The number of a run, if there is one, or else the slot where it belongs.
    fn look_up(&self, parts: (u32, u32)) -> std::result::Result<u32, usize> {
        let mut slot = self.first_slot(parts);
        loop {
            match self.slots[slot] {
                EMPTY => return Err(slot),
                number if self.parts[number as usize] == parts => return Ok(number),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    fn find(&self, parts: (u32, u32)) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.look_up(parts).ok()
    }

    /// The number of a run, new or known.
    fn intern(&mut self, parts: (u32, u32)) -> u32 {
        // A quarter of the slots stays empty.
        if (self.parts.len() + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        match self.look_up(parts) {
            Ok(number) => number,
            Err(slot) => {
                let number = self.parts.len() as u32;
                self.slots[slot] = number;
                self.parts.push(parts);
                number
            }
        }
    }

    fn grow(&mut self) {
        let slots = (2 * self.slots.len()).max(FEWEST_SLOTS);
        // All of them follow from the parts: the old ones need not stay meanwhile.
        self.slots = Vec::new();
        self.slots.resize(slots, EMPTY);
        for (number, &parts) in (0u32..).zip(&self.parts) {
            if let Err(slot) = self.look_up(parts) {
                self.slots[slot] = number;
            }
        }
    }
}
