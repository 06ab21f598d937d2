//! Prepared vectors that stay on disk while they are learned from. In memory are labels, weights of rows,
//! and what follows from all rows; the rows themselves pass through. What becomes of them is the same as in
//! memory, to the byte.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::for_model::weigh;
use super::raw::check_label_column;
use super::{PrepOptions, WeightingChoice};
use crate::data::prepared::PreparedSet;
use crate::data::{ReadOptions, ReadReport};
use crate::dataset::{CalibrationSplit, ClassNames, Dataset, LabelSets};
use crate::sparse::fixed_point::QuantizedRow;
use crate::sparse::{Rows, Scatter};
use crate::text::{
    BlockLayout, Input, Preprocessing, ROWS_PER_TASK, RowNeeds, SpreadSums, Weighting, WeightingScheme,
};
use crate::{Error, Result, Session};

/// What a row and each of its entries take in memory, in two forms: weighted, and as whole numbers.
const BYTES_PER_ROW: u64 = 28;
const BYTES_PER_ENTRY: u64 = 14;

/// Rows stay on disk if they would take more than this part of the memory budget.
const ROWS_SHARE: u64 = 4;

/// The part of the budget that rows take which are in memory at a time.
const WINDOW_SHARE: u64 = 16;
const SMALLEST_WINDOW: u64 = 1 << 16;
const LARGEST_WINDOW: u64 = 1 << 27;

/// Windows at most: each is a file that is open while rows are sorted into them.
const MOST_WINDOWS: u64 = 500;

/// Prepared vectors on disk.
#[derive(Debug)]
pub(crate) struct DiskData {
    pub(crate) set: PreparedSet,
    /// A hash of each row's features, which decides whether it is set aside, until somebody takes them.
    hashes: Mutex<Vec<u64>>,
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
                work(&parsed.rows)
            },
            |parsed, result, _| take(&parsed.rows, result),
            session,
        )
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

/// Opens the set in `folder` if its rows are vectors and too many for the memory budget.
pub(crate) fn too_large_for_memory(
    folder: &Path,
    options: &ReadOptions,
    session: &Session<'_>,
) -> Result<Option<PreparedSet>> {
    let Some(budget) = session.memory_budget() else {
        return Ok(None);
    };
    let set = PreparedSet::open_for(folder, options)?;
    let manifest = &set.manifest;
    let bytes = manifest.entries * BYTES_PER_ENTRY + manifest.rows * BYTES_PER_ROW;
    if manifest.text || bytes <= budget / ROWS_SHARE {
        return Ok(None);
    }
    session.note(format!(
        "{}: rows would take {} MB of memory, so they stay on disk",
        folder.display(),
        bytes.div_ceil(1_000_000)
    ));
    Ok(Some(set))
}

/// Prepares the vectors of `set` for training: what [`prepare`](super::prepare) does, but the rows stay
/// where they are. The dataset has none.
pub(crate) fn prepare_on_disk(
    set: PreparedSet,
    prep: &PrepOptions,
    session: &Session<'_>,
) -> Result<(Dataset, Preprocessing, DiskData)> {
    let name = set.folder().display().to_string();
    let manifest = &set.manifest;
    if manifest.width == 0 {
        return Err(Error::input(
            name,
            "no row has a feature; expected vectors that have some",
        ));
    }
    let width = manifest.promised_features.unwrap_or(manifest.width) as usize;
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
    report.tell_unlabelled(&name, session);
    check_label_column(&name, manifest.guessed_label.as_deref(), &data.labels)?;
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
    let layout = BlockLayout::default();
    let mut weighting = Weighting::of_counts(scheme, prep.needs, rows as u64, frequency, spread, layout);
    if prep.needs.length_power != RowNeeds::default().length_power {
        let sum = sum_of_lengths(&set, &weighting, session)?;
        weighting.set_mean_lengths(|_| sum / rows as f64);
    }
    let input = Input::Vectors {
        features: width,
        first: manifest.first_index,
    };
    let hashes = Mutex::new(hashes);
    let disk = DiskData { set, hashes };
    Ok((data, Preprocessing { input, weighting }, disk))
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
    let folder = scratch_folder(set)?;
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

/// Sum of the rows' lengths. Added up in parts, as in memory: sums of floating-point numbers depend on it.
fn sum_of_lengths(set: &PreparedSet, weighting: &Weighting, session: &Session<'_>) -> Result<f64> {
    let (mut sum, mut part, mut rows) = (0.0, 0.0, 0);
    set.run(
        |parsed| weighting.lengths_of(&parsed.rows),
        |_, lengths, _| {
            for length in lengths {
                part += length;
                rows += 1;
                if rows == ROWS_PER_TASK {
                    sum += part;
                    (part, rows) = (0.0, 0);
                }
            }
            Ok(())
        },
        session,
    )?;
    Ok(sum + part)
}

/// A folder beside the shards, which goes when it is dropped.
pub(crate) fn scratch_folder(set: &PreparedSet) -> Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix(".training-")
        .tempdir_in(set.folder())
        .map_err(|reason| Error::io(set.folder(), "cannot make a folder for rows in training", reason))
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
