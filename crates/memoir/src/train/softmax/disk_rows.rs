//! Training rows that stay on disk. They are read in the order in which they are needed, a window at a time:
//! by class for the first weights, then in the shuffled order of each pass. Every order is the one that rows
//! in memory are taken in, so the model is the same.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::BATCH_ROWS;
use super::calibration_split::CalibrationRows;
use super::rival_cache::RivalCache;
use super::rows::{OfAll, Place, QuantizedRows};
use crate::dataset::Dataset;
use crate::prepare::{DiskRows, ScratchFolder, class_ranges};
use crate::sparse::fixed_point::QuantizedRow;
use crate::sparse::{ALL_BUFFERS, Gather, Gathered, RowView, Rows, Scatter};
use crate::{Result, Session};

/// Rows on disk as integers, in their own order, and those that are set aside in memory.
pub(super) struct DiskStore {
    folder: ScratchFolder,
    rows: usize,
    width: usize,
    entries: usize,
    window_rows: usize,
    /// All rows, in order.
    spool: Gathered,
    /// Number of rows that hold each feature.
    feature_counts: Vec<u32>,
    /// The rows that are set aside or nearly so, weighted, and where each is.
    aside: Rows,
    places: FxHashMap<u32, u32>,
}

impl DiskStore {
    /// Takes `rows` over as integers, without what [`QuantizedRows::new`] trims.
    pub(super) fn new(
        rows: DiskRows<'_>,
        split: &CalibrationRows,
        trim: f32,
        session: &Session<'_>,
    ) -> Result<Self> {
        let folder = ScratchFolder::beside(&rows.disk.set)?;
        let needed = split.needed();
        let mut spool = Scatter::new(folder.path(), "rows", vec![0], true)?;
        let width = rows.preprocessing.features();
        let (mut aside, mut places) = (Rows::new(), FxHashMap::default());
        let (mut feature_counts, mut entries, mut id) = (vec![0u32; width], 0, 0u32);
        rows.for_each(
            |rows| QuantizedRows::new(rows, trim),
            |rows, quantized| {
                for number in 0..rows.len() {
                    let row = quantized.row(number);
                    spool.push(0, id, row)?;
                    entries += row.indices.len();
                    for &feature in row.indices {
                        feature_counts[feature as usize] += 1;
                    }
                    if needed.contains(&id) {
                        places.insert(id, aside.len() as u32);
                        aside.push(rows.row(number));
                    }
                    id += 1;
                }
                Ok(())
            },
            session,
        )?;
        aside.set_width(width);
        Ok(Self {
            folder,
            rows: id as usize,
            width,
            entries,
            window_rows: rows.window_rows(session),
            spool: spool.finish()?,
            feature_counts,
            aside,
            places,
        })
    }

    /// Number of rows that hold each feature, and number of entries.
    pub(super) fn feature_counts(&self) -> (Vec<u32>, usize) {
        (self.feature_counts.clone(), self.entries)
    }

    /// Rows that are learned from without a look at anything else: fewer than usual where windows are small,
    /// which hold a whole number of them.
    pub(super) fn rows_at_once(&self) -> usize {
        self.window_rows.min(BATCH_ROWS)
    }

    /// The rows that are set aside, of which `batch` at most are learned from together.
    pub(super) fn aside(&self, trim: f32, batch: usize) -> QuantizedRows {
        // A window as it is read, the same as arrays, and the one before; and what waits to be written.
        let window_rows = self.window_rows.max(self.rows_at_once().next_multiple_of(batch));
        let bytes = window_rows * (self.entries.div_ceil(self.rows.max(1)) * 18 + 56) + ALL_BUFFERS;
        let all = OfAll {
            rows: self.rows,
            entries: self.entries,
            window_rows,
            bytes,
        };
        QuantizedRows::new(&self.aside, trim).part_of(all, Place::Few(self.places.clone()))
    }

    /// A row that is set aside, weighted.
    pub(super) fn aside_row(&self, row: usize) -> RowView<'_> {
        self.aside.row(self.places[&(row as u32)] as usize)
    }

    /// All rows by class, to be read class after class.
    pub(super) fn by_class(&self, data: &Dataset, session: &Session<'_>) -> Result<ClassWindows> {
        let firsts = class_ranges(&data.labels.class_counts(data.classes.len()), self.window_rows);
        let mut scatter = Scatter::new(self.folder.path(), "classes", firsts, true)?;
        self.spool.for_each(|id, row| {
            check_sometimes(id, session)?;
            let labels = data.labels.row(id as usize);
            labels.iter().try_for_each(|&label| scatter.push(label, id, row))
        })?;
        Ok(ClassWindows {
            gathered: scatter.finish()?,
            classes: data.classes.len(),
            width: self.width,
            mean_entries: self.entries.div_ceil(self.rows.max(1)),
        })
    }

    /// A cache of rivals, on disk too.
    pub(super) fn cache(&self, rivals: usize) -> Result<DiskCache> {
        Ok(DiskCache {
            rivals,
            known: vec![false; self.rows],
            writing: Some(Scatter::new(self.folder.path(), "rivals", vec![0], false)?),
            spool: None,
        })
    }

    /// The rows numbered `order` in this order, with the rivals that an earlier pass left in `cache`; a
    /// window ends at a multiple of `chunk` rows.
    pub(super) fn shuffled(
        &self,
        order: &[u32],
        chunk: usize,
        cache: Option<&DiskCache>,
        session: &Session<'_>,
    ) -> Result<Windows> {
        let mut positions = vec![u32::MAX; self.rows];
        for (position, &row) in (0u32..).zip(order) {
            positions[row as usize] = position;
        }
        let rows = (self.window_rows / chunk).max(1) * chunk;
        let firsts = (0..order.len().max(1)).step_by(rows).map(|first| first as u32);
        let firsts: Vec<u32> = firsts.collect();
        let sorted = |spool: &Gathered, name: &str, with_values: bool| {
            let mut scatter = Scatter::new(self.folder.path(), name, firsts.clone(), with_values)?;
            spool.for_each(|id, row| {
                check_sometimes(id, session)?;
                match positions[id as usize] {
                    u32::MAX => Ok(()),
                    position => scatter.push(position, id, row),
                }
            })?;
            scatter.finish()
        };
        let gathered = sorted(&self.spool, "pass", true)?;
        let rivals = match cache.and_then(|cache| cache.spool.as_ref()) {
            Some(spool) => Some(sorted(spool, "pass-rivals", false)?),
            None => None,
        };
        Ok(Windows {
            gathered,
            rivals,
            positions: Arc::new(positions),
            width: self.width,
            next: 0,
            taken: 0,
        })
    }
}

/// The rivals of all rows that the first pass finds.
pub(super) struct DiskCache {
    rivals: usize,
    /// Whether a row has rivals.
    known: Vec<bool>,
    /// While the first pass goes on.
    writing: Option<Scatter>,
    spool: Option<Gathered>,
}

impl DiskCache {
    /// Whether an earlier pass found rivals of a row.
    pub(super) fn has(&self, row: usize) -> bool {
        self.known[row]
    }

    /// Keeps what was found for the rows of a window in the first pass.
    pub(super) fn keep(&mut self, window: &RivalCache) -> Result<()> {
        let Some(writing) = &mut self.writing else {
            return Ok(());
        };
        for (id, rivals) in window.of_window().filter(|(_, rivals)| !rivals.is_empty()) {
            self.known[id as usize] = true;
            let record = QuantizedRow {
                indices: &rivals,
                values: &[],
                scale: 0.0,
            };
            writing.push(0, id, record)?;
        }
        Ok(())
    }

    /// The first pass is over.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Some(writing) = self.writing.take() {
            self.spool = Some(writing.finish()?);
        }
        Ok(())
    }

    /// The cache of a window, with what earlier passes found.
    pub(super) fn window(&self, window: &mut Window) -> RivalCache {
        let mut cache =
            RivalCache::window(std::mem::take(&mut window.ids), window.place.clone(), self.rivals);
        if let Some(found) = &window.rivals {
            for (number, &id) in found.ids.iter().enumerate() {
                cache.put(
                    id,
                    &found.indices[found.offsets[number]..found.offsets[number + 1]],
                );
            }
        }
        cache
    }
}

/// Fails if the run was stopped. Looks rarely.
fn check_sometimes(row: u32, session: &Session<'_>) -> Result<()> {
    if row.is_multiple_of(1 << 14) {
        return session.check();
    }
    Ok(())
}

/// All rows by class.
pub(super) struct ClassWindows {
    gathered: Gathered,
    classes: usize,
    pub(super) width: usize,
    pub(super) mean_entries: usize,
}

/// The rows of some classes.
pub(super) struct ClassWindow {
    pub(super) first_class: usize,
    /// Where the rows of each class begin, and the end.
    pub(super) starts: Vec<usize>,
    /// The number of each row among all.
    pub(super) ids: Vec<u32>,
    pub(super) rows: QuantizedRows,
}

impl ClassWindows {
    /// All classes, some at a time.
    pub(super) fn iter(&self) -> impl Iterator<Item = Result<ClassWindow>> {
        (0..self.gathered.ranges()).map(|range| {
            let mut gather = self.gathered.read(range)?;
            let first_class = self.gathered.first(range) as usize;
            let end = if range + 1 < self.gathered.ranges() {
                self.gathered.first(range + 1) as usize
            } else {
                self.classes
            };
            let start = |class: usize| gather.keys.partition_point(|&key| (key as usize) < class);
            Ok(ClassWindow {
                first_class,
                starts: (first_class..=end).map(start).collect(),
                ids: std::mem::take(&mut gather.ids),
                rows: QuantizedRows::of(gather, self.width),
            })
        })
    }
}

/// Rows in the order of a pass.
pub(super) struct Windows {
    gathered: Gathered,
    /// Their rivals, if an earlier pass has found them.
    rivals: Option<Gathered>,
    /// Where each row is in the order.
    positions: Arc<Vec<u32>>,
    width: usize,
    /// The range that comes next.
    next: usize,
    /// Rows that were taken.
    taken: usize,
}

/// Some rows of a pass.
pub(super) struct Window {
    pub(super) rows: Arc<QuantizedRows>,
    ids: Vec<u32>,
    place: Place,
    rivals: Option<Gather>,
}

impl Windows {
    /// The window that holds the next `rows` rows, unless it is the one that was handed out before.
    pub(super) fn take(&mut self, rows: usize) -> Result<Option<Window>> {
        let is_due =
            self.next < self.gathered.ranges() && self.gathered.first(self.next) as usize == self.taken;
        self.taken += rows;
        if !is_due {
            return Ok(None);
        }
        let mut gather = self.gathered.read(self.next)?;
        self.gathered.forget(self.next);
        let rivals = match &self.rivals {
            Some(rivals) => {
                let of_window = rivals.read(self.next)?;
                rivals.forget(self.next);
                Some(of_window)
            }
            None => None,
        };
        let first = self.gathered.first(self.next);
        self.next += 1;
        let place = Place::Window(Arc::clone(&self.positions), first);
        Ok(Some(Window {
            ids: std::mem::take(&mut gather.ids),
            rows: Arc::new(QuantizedRows::of(gather, self.width).placed(place.clone())),
            place,
            rivals,
        }))
    }
}
