//! Prepared rows that stay on disk while they are learned from. In memory are labels, weights of rows, and
//! what follows from all rows; the rows themselves pass through. What becomes of them is the same as in
//! memory, to the byte. Texts become vectors first (`texts_on_disk.rs`).

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::for_model::weigh;
use super::raw::check_labels;
use super::scratch::ScratchFolder;
use super::texts_on_disk::rows_of_texts;
use super::{PrepOptions, TrainingData, WeightingChoice};
use crate::data::prepared::PreparedSet;
use crate::data::{ReadOptions, ReadReport};
use crate::dataset::{CalibrationSplit, ClassNames, Dataset, LabelSets};
use crate::sparse::fixed_point::QuantizedRow;
use crate::sparse::{Rows, Scatter};
use crate::text::{
    Analyzer, BlockLayout, Input, Preprocessing, ROWS_PER_TASK, RowNeeds, SpreadSums, TextParams, Weighting,
    WeightingScheme, view_rows,
};
use crate::{Error, Result, Session};

/// What a row and each of its entries take in memory, in two forms: weighted, and as whole numbers.
const BYTES_PER_ROW: u64 = 28;
const BYTES_PER_ENTRY: u64 = 14;

/// What a byte of prepared texts takes in memory, about: its part of a word, and of the features that are
/// made of it.
const BYTES_PER_BYTE_OF_TEXT: u64 = 4;

/// Rows stay on disk if they would take more than this part of the memory budget.
const ROWS_SHARE: u64 = 4;

/// The part of the budget that rows take which are in memory at a time.
const WINDOW_SHARE: u64 = 16;
const SMALLEST_WINDOW: u64 = 1 << 16;
const LARGEST_WINDOW: u64 = 1 << 27;

/// Windows at most: each is a file that is open while rows are sorted into them.
const MOST_WINDOWS: u64 = 500;

/// Vectors on disk.
#[derive(Debug)]
pub(crate) struct DiskData {
    pub(crate) set: PreparedSet,
    /// Where they are, if they were made of texts.
    _folder: Option<ScratchFolder>,
    /// A hash of each row's features, which decides whether it is set aside, until somebody takes them.
    hashes: Mutex<Vec<u64>>,
}

/// Raw rows on disk.
pub(super) struct RawOnDisk {
    pub(super) rows: PreparedSet,
    /// Where they are, if they were made of texts.
    pub(super) folder: Option<ScratchFolder>,
    /// What they were made of.
    pub(super) input: Input,
    pub(super) layout: BlockLayout,
    /// Memory that making them took at most, about.
    pub(super) bytes_taken: u64,
}

impl DiskData {
    /// The hash of each row that [`CalibrationSplit::hashes`] gives. They are needed once, and are large.
    pub(crate) fn take_hashes(&self) -> Vec<u64> {
        std::mem::take(&mut self.hashes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Rows on disk, weighted as they are read.
#[derive(Clone, Copy)]
pub struct DiskRows<'a> {
    pub(crate) disk: &'a DiskData,
    pub(crate) preprocessing: &'a Preprocessing,
    /// What the values of each block are multiplied by, if rows are wanted as a view has them.
    pub(crate) view: Option<&'a [f32]>,
}

impl DiskRows<'_> {
    /// Does `work` to weighted rows in the session's pool and hands them and its results to `take`, in
    /// order.
    pub(crate) fn for_each<T: Send>(
        &self,
        work: impl Fn(&Rows) -> T + Sync,
        mut take: impl FnMut(&Rows, T) -> Result<()>,
        session: &Session<'_>,
    ) -> Result<()> {
        self.disk.set.run(
            |parsed| {
                weigh(parsed, self.preprocessing);
                if let Some(factors) = self.view {
                    let blocks = &self.preprocessing.weighting.block_of_feature;
                    parsed.rows = view_rows(&parsed.rows, factors, blocks);
                }
                work(&parsed.rows)
            },
            |parsed, result, _| take(&parsed.rows, result),
            session,
        )
    }

    /// Number of features of each row.
    pub(crate) fn lengths(&self, session: &Session<'_>) -> Result<Vec<u32>> {
        let mut lengths = Vec::with_capacity(self.disk.set.manifest.rows as usize);
        let add = |rows: &Rows, ()| {
            lengths.extend(rows.iter().map(|row| row.len() as u32));
            Ok(())
        };
        self.for_each(|_| (), add, session)?;
        Ok(lengths)
    }

    /// Rows of which about so many entries and heads fit into the window of memory that the budget allows.
    pub(crate) fn window_rows(&self, session: &Session<'_>) -> usize {
        let manifest = &self.disk.set.manifest;
        let bytes = manifest.entries * BYTES_PER_ENTRY + manifest.rows * BYTES_PER_ROW;
        let window = window_bytes(session) * manifest.rows / bytes.max(1);
        window.max(manifest.rows.div_ceil(MOST_WINDOWS)).max(1) as usize
    }
}

fn window_bytes(session: &Session<'_>) -> u64 {
    let budget = session.memory_budget().unwrap_or(u64::MAX);
    (budget / WINDOW_SHARE).clamp(SMALLEST_WINDOW, LARGEST_WINDOW)
}

/// Opens the set in `folder` if its rows would take too much of the memory budget. Texts stay in memory
/// where `text` asks for other words than they were cut into.
pub(crate) fn too_large_for_memory(
    folder: &Path,
    options: &ReadOptions,
    text: &TextParams,
    session: &Session<'_>,
) -> Result<Option<PreparedSet>> {
    let Some(budget) = session.memory_budget() else {
        return Ok(None);
    };
    let set = PreparedSet::open_for(folder, options)?;
    let manifest = &set.manifest;
    let bytes = if manifest.text {
        set.plain_bytes() * BYTES_PER_BYTE_OF_TEXT
    } else {
        manifest.entries * BYTES_PER_ENTRY + manifest.rows * BYTES_PER_ROW
    };
    if bytes <= budget / ROWS_SHARE {
        return Ok(None);
    }
    let (what, name) = (if manifest.text { "texts" } else { "rows" }, folder.display());
    if manifest.text && !Analyzer::new(text)?.cuts_all_words() {
        session.note(format!(
            "{name}: texts are cut into words anew, with stop words left out or by the rules of one block of \
             features, so they are held in memory"
        ));
        return Ok(None);
    }
    session.note(format!(
        "{name}: {what} would take {} MB of memory, so they stay on disk",
        bytes.div_ceil(1_000_000)
    ));
    Ok(Some(set))
}

/// Prepares the rows of `set` for training: what [`prepare`](super::prepare) does, but the rows stay on
/// disk. The data has none.
pub(crate) fn prepare_on_disk(
    set: PreparedSet,
    options: &ReadOptions,
    prep: &PrepOptions,
    session: &Session<'_>,
) -> Result<(TrainingData, DiskData)> {
    let name = set.folder().display().to_string();
    if set.manifest.text {
        let made = rows_of_texts(set, prep, session)?;
        return prepare_vectors(made, &name, options, prep, session);
    }
    if set.manifest.width == 0 {
        return Err(Error::input(
            name,
            "no row has a feature; expected vectors that have some",
        ));
    }
    let input = Input::Vectors {
        features: set.manifest.features(),
        first: set.manifest.first_index,
    };
    let rows = RawOnDisk {
        rows: set,
        folder: None,
        input,
        layout: BlockLayout::default(),
        bytes_taken: 0,
    };
    prepare_vectors(rows, &name, options, prep, session)
}

fn prepare_vectors(
    raw: RawOnDisk,
    name: &str,
    options: &ReadOptions,
    prep: &PrepOptions,
    session: &Session<'_>,
) -> Result<(TrainingData, DiskData)> {
    let RawOnDisk {
        rows: set,
        folder,
        input,
        layout,
        bytes_taken,
    } = raw;
    let manifest = &set.manifest;
    let width = manifest.features();
    let mut data = Dataset::default();
    data.labels
        .make_room(manifest.rows as usize, manifest.labels as usize);
    let (mut hashes, mut frequency) = (Vec::with_capacity(manifest.rows as usize), vec![0u32; width]);
    set.run(
        |parsed| CalibrationSplit::hashes(&parsed.rows),
        |parsed, of_block, _| {
            hashes.extend(of_block);
            for &feature in parsed.rows.indices() {
                frequency[feature as usize] += 1;
            }
            let numbers: Vec<u32> = parsed
                .names
                .iter()
                .map(|name| data.classes.intern(name))
                .collect();
            for labels in parsed.labels.iter() {
                data.labels
                    .push(labels.iter().map(|&label| numbers[label as usize]));
            }
            if manifest.weights {
                let weights = data.weights.get_or_insert_default();
                weights.extend(parsed.weights.iter().flatten());
                weights.resize(data.labels.len(), 1.0);
            }
            Ok(())
        },
        session,
    )?;
    let unlabelled = data.labels.iter().filter(|labels| labels.is_empty()).count();
    if unlabelled == data.labels.len() {
        return Err(Error::input(
            name,
            "no row has a label; expected some to learn from",
        ));
    }
    let report = ReadReport {
        rows: manifest.rows,
        unlabelled_rows: unlabelled as u64,
        ..ReadReport::default()
    };
    report.tell_unlabelled(name, session);
    check_labels(name, manifest.guessed_label.as_deref(), options, &data, session)?;
    let scheme = match prep.weighting {
        WeightingChoice::Auto if manifest.counts => WeightingScheme::LogTfIdf,
        WeightingChoice::Auto | WeightingChoice::Unit => WeightingScheme::Unit,
        WeightingChoice::Counts => WeightingScheme::LogTfIdf,
        WeightingChoice::Raw => WeightingScheme::Raw,
    };
    let spread = if prep.needs.wants_spread(scheme) {
        Some(spread(
            &set,
            &data.labels,
            &data.classes,
            &hashes,
            width,
            session,
        )?)
    } else {
        None
    };
    let rows = data.labels.len();
    let mut weighting = Weighting::of_counts(scheme, prep.needs, rows as u64, frequency, spread, layout);
    if prep.needs.length_power != RowNeeds::default().length_power {
        let sums = sums_of_lengths(&set, &weighting, session)?;
        weighting.set_mean_lengths(|block| sums[block] / rows as f64);
    }
    let bytes_before = match bytes_taken {
        0 => 0,
        taken => taken + data.classes.bytes() + 4 * data.labels.total() as u64,
    };
    let training = TrainingData {
        data,
        preprocessing: Preprocessing { input, weighting },
        report: ReadReport::default(),
        described: None,
        bytes_before,
    };
    let disk = DiskData {
        set,
        _folder: folder,
        hashes: Mutex::new(hashes),
    };
    Ok((training, disk))
}

/// How far each feature is spread over classes, by rows that are not set aside.
fn spread(
    set: &PreparedSet,
    labels: &LabelSets,
    classes: &ClassNames,
    hashes: &[u64],
    width: usize,
    session: &Session<'_>,
) -> Result<Vec<f32>> {
    let folder = ScratchFolder::beside(set)?;
    let mean_row = set.manifest.entries * 4 / set.manifest.rows.max(1) + 40;
    let window = (window_bytes(session) / mean_row) as usize;
    let firsts = class_ranges(&labels.class_counts(classes.len()), window);
    let mut scatter = Scatter::new(folder.path(), "features", firsts, false)?;
    let aside = CalibrationSplit::of(labels);
    let mut id = 0;
    set.run(
        |_| (),
        |parsed, (), _| {
            for row in parsed.rows.iter() {
                if !aside.has(hashes[id]) {
                    let features = QuantizedRow {
                        indices: row.indices,
                        values: &[],
                        scale: 0.0,
                    };
                    for &label in labels.row(id) {
                        scatter.push(label, id as u32, features)?;
                    }
                }
                id += 1;
            }
            Ok(())
        },
        session,
    )?;
    let gathered = scatter.finish()?;
    let mut sums = SpreadSums::new(0..width);
    for range in 0..gathered.ranges() {
        session.check()?;
        let gather = gathered.read(range)?;
        gathered.forget(range);
        for (number, &class) in gather.keys.iter().enumerate() {
            sums.add_row(&gather.indices[gather.offsets[number]..gather.offsets[number + 1]]);
            if gather.keys.get(number + 1) != Some(&class) {
                sums.end_class();
            }
        }
    }
    Ok(sums.finish())
}

/// Sums of the rows' lengths in each block. Added up in parts, as in memory: sums of floating-point numbers
/// depend on it.
fn sums_of_lengths(set: &PreparedSet, weighting: &Weighting, session: &Session<'_>) -> Result<Vec<f64>> {
    let blocks = weighting.scaled_blocks();
    let (mut sums, mut parts, mut rows) = (vec![0.0; blocks], vec![0.0; blocks], 0);
    let add = |sums: &mut [f64], more: &[f64]| {
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum += more;
        }
    };
    set.run(
        |parsed| weighting.lengths_of(&parsed.rows),
        |_, lengths, _| {
            for lengths in lengths.chunks(blocks) {
                add(&mut parts, lengths);
                rows += 1;
                if rows == ROWS_PER_TASK {
                    add(&mut sums, &parts);
                    parts.fill(0.0);
                    rows = 0;
                }
            }
            Ok(())
        },
        session,
    )?;
    add(&mut sums, &parts);
    Ok(sums)
}

/// The first class of each range, so that classes of a range have at most about `rows` rows.
pub(crate) fn class_ranges(class_counts: &[u32], rows: usize) -> Vec<u32> {
    let (mut firsts, mut so_far) = (vec![0], 0);
    for (class, &count) in (0u32..).zip(class_counts) {
        so_far += count as usize;
        if so_far > rows && so_far > count as usize {
            firsts.push(class);
            so_far = count as usize;
        }
    }
    firsts
}
