//! Rows on disk, read back in another order with sequential reads and writes alone.
//!
//! Each row gets a key. Keys are cut into ranges, and each range has a file that rows are appended to. A
//! file holds as many rows as fit into memory: it is read at once and sorted there.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::fixed_point::QuantizedRow;
use crate::{Error, Result};

/// Bytes that are gathered for a file before they are written: at most, at least, and for all files together
/// where that leaves each more than the least.
const LARGEST_BUFFER: usize = 1 << 18;
const SMALLEST_BUFFER: usize = 1 << 12;
pub(crate) const ALL_BUFFERS: usize = 1 << 21;

/// Bytes of a record in front of its features and values: key, number of the row, scale, features.
const HEAD: usize = 16;

/// Rows on their way to the files of their keys' ranges.
pub(crate) struct Scatter {
    folder: PathBuf,
    /// The first key of each range.
    firsts: Vec<u32>,
    files: Vec<BufWriter<File>>,
    paths: Vec<PathBuf>,
    /// Whether values are stored, or features alone.
    with_values: bool,
    record: Vec<u8>,
}

impl Scatter {
    /// Files in `folder`, called after `name`; a range begins at each of `firsts`, which rise from 0.
    pub(crate) fn new(folder: &Path, name: &str, firsts: Vec<u32>, with_values: bool) -> Result<Self> {
        let paths: Vec<PathBuf> = (0..firsts.len())
            .map(|number| folder.join(format!("{name}-{number}.spool")))
            .collect();
        let buffer = (ALL_BUFFERS / firsts.len().max(1)).clamp(SMALLEST_BUFFER, LARGEST_BUFFER);
        let create = |path: &PathBuf| Ok(BufWriter::with_capacity(buffer, File::create(path)?));
        let files: io::Result<Vec<_>> = paths.iter().map(create).collect();
        Ok(Self {
            files: files.map_err(|reason| Error::io(folder, "cannot keep rows here", reason))?,
            folder: folder.to_owned(),
            firsts,
            paths,
            with_values,
            record: Vec::new(),
        })
    }

    /// Adds row number `id` under `key`.
    pub(crate) fn push(&mut self, key: u32, id: u32, row: QuantizedRow<'_>) -> Result<()> {
        let record = &mut self.record;
        record.clear();
        record.extend_from_slice(&key.to_le_bytes());
        record.extend_from_slice(&id.to_le_bytes());
        record.extend_from_slice(&row.scale.to_le_bytes());
        record.extend_from_slice(&(row.indices.len() as u32).to_le_bytes());
        record.extend_from_slice(bytemuck::cast_slice(row.indices));
        if self.with_values {
            record.extend_from_slice(bytemuck::cast_slice(row.values));
        }
        let range = self.firsts.partition_point(|&first| first <= key) - 1;
        self.files[range]
            .write_all(record)
            .map_err(|reason| Error::io(&self.folder, "cannot keep rows here", reason))
    }

    /// The files, to be read range by range.
    pub(crate) fn finish(self) -> Result<Gathered> {
        for file in self.files {
            file.into_inner()
                .map_err(|reason| Error::io(&self.folder, "cannot keep rows here", reason.into_error()))?;
        }
        Ok(Gathered {
            paths: self.paths,
            firsts: self.firsts,
            with_values: self.with_values,
        })
    }
}

/// Rows in the files of their keys' ranges. The files go with it.
pub(crate) struct Gathered {
    paths: Vec<PathBuf>,
    firsts: Vec<u32>,
    with_values: bool,
}

/// Some rows, sorted by key; those with the same key in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    pub(crate) keys: Vec<u32>,
    pub(crate) ids: Vec<u32>,
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<i16>,
    pub(crate) scales: Vec<f32>,
}

impl Gathered {
    /// Number of ranges.
    pub(crate) fn ranges(&self) -> usize {
        self.firsts.len()
    }

    /// The first key of a range.
    pub(crate) fn first(&self, range: usize) -> u32 {
        self.firsts[range]
    }

    /// The rows of a range.
    pub(crate) fn read(&self, range: usize) -> Result<Gather> {
        let path = &self.paths[range];
        let bytes = fs::read(path).map_err(|reason| Error::io(path, "cannot read rows back", reason))?;
        let mut places: Vec<(u32, usize)> = Vec::new();
        let (mut place, mut entries) = (0, 0);
        while place < bytes.len() {
            let count = word(&bytes, place + 12) as usize;
            places.push((word(&bytes, place), place));
            entries += count;
            place += HEAD + count * if self.with_values { 6 } else { 4 };
        }
        // Places rise, so that equal keys stay in order.
        places.sort_unstable();
        let mut gather = Gather {
            keys: Vec::with_capacity(places.len()),
            ids: Vec::with_capacity(places.len()),
            offsets: Vec::with_capacity(places.len() + 1),
            indices: Vec::with_capacity(entries),
            values: Vec::with_capacity(if self.with_values { entries } else { 0 }),
            scales: Vec::with_capacity(places.len()),
        };
        gather.offsets.push(0);
        for (key, place) in places {
            let count = word(&bytes, place + 12) as usize;
            let body = &bytes[place + HEAD..];
            gather.keys.push(key);
            gather.ids.push(word(&bytes, place + 4));
            gather.scales.push(f32::from_bits(word(&bytes, place + 8)));
            let features = body[..count * 4].as_chunks().0.iter();
            gather
                .indices
                .extend(features.map(|bytes| u32::from_le_bytes(*bytes)));
            if self.with_values {
                let values = body[count * 4..count * 6].as_chunks().0.iter();
                gather
                    .values
                    .extend(values.map(|bytes| i16::from_le_bytes(*bytes)));
            }
            gather.offsets.push(gather.indices.len());
        }
        Ok(gather)
    }

    /// Removes the file of a range that is not needed any more.
    pub(crate) fn forget(&self, range: usize) {
        // The folder goes at the end in any case.
        drop(fs::remove_file(&self.paths[range]));
    }

    /// Hands all rows of the only range to `take` as they were added, with their numbers.
    pub(crate) fn for_each(&self, mut take: impl FnMut(u32, QuantizedRow<'_>) -> Result<()>) -> Result<()> {
        for path in &self.paths {
            let fail = |reason| Error::io(path, "cannot read rows back", reason);
            let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(fail)?);
            let (mut head, mut indices, mut values) = ([0; HEAD], Vec::<u32>::new(), Vec::<i16>::new());
            while !fill_head(&mut file, &mut head).map_err(fail)? {
                let count = word(&head, 12) as usize;
                indices.resize(count, 0);
                file.read_exact(bytemuck::cast_slice_mut(&mut indices))
                    .map_err(fail)?;
                if self.with_values {
                    values.resize(count, 0);
                    file.read_exact(bytemuck::cast_slice_mut(&mut values))
                        .map_err(fail)?;
                }
                let scale = f32::from_bits(word(&head, 8));
                take(
                    word(&head, 4),
                    QuantizedRow {
                        indices: &indices,
                        values: &values,
                        scale,
                    },
                )?;
            }
        }
        Ok(())
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        for range in 0..self.paths.len() {
            self.forget(range);
        }
    }
}

/// Reads the head of the next record; says whether there is none.
fn fill_head(file: &mut impl Read, head: &mut [u8; HEAD]) -> io::Result<bool> {
    match file.read_exact(head) {
        Err(reason) if reason.kind() == io::ErrorKind::UnexpectedEof => Ok(true),
        other => other.map(|()| false),
    }
}

fn word(bytes: &[u8], place: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[place..place + 4]);
    u32::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_sorted_by_key_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut scatter = Scatter::new(folder.path(), "t", vec![0, 4, 7], true).unwrap();
        let keys = [6u32, 0, 9, 3, 6, 0, 4];
        for (id, &key) in (0u32..).zip(&keys) {
            let row = QuantizedRow {
                indices: &[id, 100 + key][..=id as usize % 2],
                values: &[-1, 7][..=id as usize % 2],
                scale: id as f32,
            };
            scatter.push(key, id, row).unwrap();
        }
        let gathered = scatter.finish().unwrap();
        let ranges: Vec<Gather> = (0..gathered.ranges())
            .map(|range| gathered.read(range).unwrap())
            .collect();
        let flat = |part: fn(&Gather) -> &Vec<u32>| ranges.iter().flat_map(part).copied().collect::<Vec<_>>();
        assert_eq!(flat(|gather| &gather.keys), [0, 0, 3, 4, 6, 6, 9]);
        assert_eq!(flat(|gather| &gather.ids), [1, 5, 3, 6, 0, 4, 2]);
        assert_eq!(ranges[0].indices, [1, 100, 5, 100, 3, 103]);
        assert_eq!(ranges[0].values, [-1, 7, -1, 7, -1, 7]);
        assert_eq!(ranges[1].scales, [6.0, 0.0, 4.0]);
        assert_eq!(gathered.first(2), 7);
        let mut again = 0;
        gathered
            .for_each(|id, row| {
                again += 1;
                assert_eq!((row.scale, row.indices[0]), (id as f32, id));
                Ok(())
            })
            .unwrap();
        assert_eq!(again, 7);
        drop(gathered);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
