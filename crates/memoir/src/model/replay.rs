//! A small sample of the rows that a model learned from, kept in its file so that training that goes on can
//! repeat them.
//!
//! Without it, new rows move weights that old rows would have held in place, and nothing tells a new class
//! from rows of old ones. The sample is fair to every part of a stream: each row has a position in the order
//! of its class that depends on nothing but the row, and of every class the first rows are kept, in
//! proportion to its size. So a sample of an earlier sample and new rows is about the sample of all rows.

use xxhash_rust::xxh3::xxh3_64;

use super::NewNumbers;
use crate::dataset::Dataset;
use crate::sparse::fixed_point::{number, push_number};
use crate::sparse::{RowView, Storage};

/// Values are stored in units of this share of the largest of their row.
const LARGEST: f32 = 127.0;

/// Largest value that is stored; beyond it is what 16 bits cannot hold.
const MOST: f32 = 65_000.0;

/// Rows with their labels, in as few bytes as they fit in.
#[derive(Debug)]
pub struct Replay {
    bytes: Storage<u8>,
}

impl Replay {
    /// Keeps at most `most` rows of `sets`, whose classes have `class_counts` rows in all; nothing if none
    /// can be kept.
    pub fn choose(sets: &[&Dataset], class_counts: &[u32], most: usize) -> Option<Self> {
        if most == 0 {
            return None;
        }
        let mut candidates: Vec<RankedRow> = Vec::new();
        let size = |label: u32| class_counts.get(label as usize).copied().unwrap_or(0).max(1);
        for (set, data) in sets.iter().enumerate() {
            for (row, (entries, labels)) in data.rows.iter().zip(data.labels.iter()).enumerate() {
                // A row with several labels is kept for the sake of the rarest.
                let rarest = labels.iter().min_by_key(|&&label| (size(label), label));
                if let Some(&class) = rarest.filter(|_| !entries.is_empty()) {
                    let hash = xxh3_64(bytemuck::cast_slice(entries.indices));
                    candidates.push(RankedRow {
                        class,
                        hash,
                        set,
                        row,
                    });
                }
            }
        }
        candidates.sort_unstable();
        let mut first = 0;
        let mut ranked: Vec<(f64, RankedRow)> = Vec::with_capacity(candidates.len());
        for (number, candidate) in candidates.iter().enumerate() {
            if candidates[first].class != candidate.class {
                first = number;
            }
            let rank = (number - first) as f64 + 0.5;
            ranked.push((rank / f64::from(size(candidate.class)), *candidate));
        }
        ranked.sort_unstable_by(|a, b| {
            a.0.total_cmp(&b.0)
                .then(a.1.hash.cmp(&b.1.hash))
                .then(a.1.cmp(&b.1))
        });
        let chosen = ranked.iter().take(most).map(|(_, candidate)| {
            let data = sets[candidate.set];
            (data.rows.row(candidate.row), data.labels.row(candidate.row))
        });
        Self::pack(chosen)
    }

    fn pack<'a>(rows: impl IntoIterator<Item = (RowView<'a>, &'a [u32])>) -> Option<Self> {
        let mut bytes = Vec::new();
        for (row, labels) in rows {
            push_row(row, labels, &mut bytes);
        }
        (!bytes.is_empty()).then(|| Self { bytes: bytes.into() })
    }

    /// From what a file holds, which [`Replay::unpack`] looks at.
    pub(super) fn from_bytes(bytes: Storage<u8>) -> Self {
        Self { bytes }
    }

    /// As a file holds them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// An error in words where [`Replay::unpack`] would fail, without keeping the rows.
    pub(super) fn check(&self, features: usize, classes: usize) -> Result<(), String> {
        let mut rest = &self.bytes[..];
        let (mut indices, mut values, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for number in 1.. {
            if rest.is_empty() {
                break;
            }
            let row = unpack_row(rest, [classes, features], &mut labels, &mut indices, &mut values);
            rest = row.ok_or_else(|| format!("row {number} of the kept rows is damaged"))?;
        }
        Ok(())
    }

    /// The rows, without names of classes; an error in words if the bytes are no rows of so many features
    /// with labels among so many classes.
    pub fn unpack(&self, features: usize, classes: usize) -> Result<Dataset, String> {
        let mut data = Dataset::default();
        let mut rest = &self.bytes[..];
        let (mut indices, mut values, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        while !rest.is_empty() {
            let row = unpack_row(rest, [classes, features], &mut labels, &mut indices, &mut values);
            rest = row.ok_or_else(|| format!("row {} of the kept rows is damaged", data.len() + 1))?;
            data.rows.push(RowView {
                indices: &indices,
                values: &values,
            });
            data.labels.push(labels.iter().copied());
        }
        data.rows.set_width(features);
        Ok(data)
    }

    /// With other class numbers; rows whose labels are all gone go too. There were `classes` before.
    pub(super) fn renumbered(
        &self,
        features: usize,
        new_numbers: &NewNumbers,
        classes: usize,
    ) -> Result<Option<Self>, String> {
        let before = self.unpack(features, classes)?;
        let mut labels = crate::LabelSets::new();
        for old in before.labels.iter() {
            labels.push(old.iter().filter_map(|&label| new_numbers.number(label)));
        }
        let rows = before.rows.iter().zip(labels.iter());
        Ok(Self::pack(rows.filter(|(_, labels)| !labels.is_empty())))
    }
}

/// Where a row is, and its position in the order of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RankedRow {
    class: u32,
    hash: u64,
    set: usize,
    row: usize,
}

/// Reads one row, given the numbers of classes and features, and returns what follows it.
fn unpack_row<'a>(
    bytes: &'a [u8],
    [classes, features]: [usize; 2],
    labels: &mut Vec<u32>,
    indices: &mut Vec<u32>,
    values: &mut Vec<f32>,
) -> Option<&'a [u8]> {
    let rest = rising(bytes, classes, labels)?;
    let rest = rising(rest, features, indices)?;
    let (&largest, rest) = rest.split_first_chunk()?;
    let unit = half::f16::from_le_bytes(largest).to_f32() / LARGEST;
    let (units, rest) = rest.split_at_checked(indices.len())?;
    values.clear();
    values.extend(units.iter().map(|&byte| f32::from(byte as i8) * unit));
    (unit.is_finite() && !labels.is_empty() && !indices.is_empty()).then_some(rest)
}

/// Reads how many numbers there are, then the rising numbers, all below `end`; returns what follows.
fn rising<'a>(bytes: &'a [u8], end: usize, out: &mut Vec<u32>) -> Option<&'a [u8]> {
    out.clear();
    let (count, mut rest) = number(bytes)?;
    let mut next = 0u32;
    for _ in 0..count {
        let (gap, after) = number(rest)?;
        let value = next.checked_add(gap).filter(|&value| (value as usize) < end)?;
        out.push(value);
        next = value.checked_add(1)?;
        rest = after;
    }
    Some(rest)
}

fn push_rising(numbers: &[u32], out: &mut Vec<u8>) {
    push_number(numbers.len() as u32, out);
    let mut next = 0;
    for &value in numbers {
        push_number(value - next, out);
        next = value + 1;
    }
}

fn push_row(row: RowView<'_>, labels: &[u32], out: &mut Vec<u8>) {
    push_rising(labels, out);
    push_rising(row.indices, out);
    let largest = row
        .values
        .iter()
        .fold(0f32, |largest, value| largest.max(value.abs()));
    let largest = half::f16::from_f32(largest.min(MOST));
    out.extend(largest.to_le_bytes());
    let unit = largest.to_f32() / LARGEST;
    // A row of zeros has a unit of 0, and what is no number becomes 0.
    let units = row
        .values
        .iter()
        .map(|&value| (value / unit).round().clamp(-LARGEST, LARGEST));
    out.extend(units.map(|units| units as i8 as u8));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn data(rows: &[(Vec<u32>, Vec<u32>)]) -> Dataset {
        let mut data = Dataset::default();
        for (indices, labels) in rows {
            let mut entries: Vec<(u32, f32)> = indices.iter().map(|&i| (i, 0.25 + (i % 7) as f32)).collect();
            entries.dedup_by_key(|entry| entry.0);
            data.rows.push_unsorted(&mut entries);
            data.labels.push(labels.iter().copied());
        }
        data
    }

    proptest! {
        #[test]
        fn rows_come_back(rows in proptest::collection::vec(
            (proptest::collection::btree_set(0u32..100_000, 1..20), proptest::collection::btree_set(0u32..300, 1..4)), 1..30,
        )) {
            let rows: Vec<(Vec<u32>, Vec<u32>)> = rows
                .into_iter()
                .map(|(i, l)| (i.into_iter().collect(), l.into_iter().collect()))
                .collect();
            let data = data(&rows);
            let kept = Replay::choose(&[&data], &data.labels.class_counts(300), rows.len()).unwrap();
            let back = kept.unpack(100_000, 300).unwrap();
            prop_assert_eq!(back.len(), rows.len());
            for (row, labels) in back.rows.iter().zip(back.labels.iter()) {
                let same = (0..data.len())
                    .find(|&r| data.rows.row(r).indices == row.indices && data.labels.row(r) == labels);
                prop_assert!(same.is_some());
                let values = data.rows.row(same.unwrap()).values;
                let largest = values.iter().copied().fold(0.0, f32::max);
                for (value, was) in row.values.iter().zip(values) {
                    prop_assert!((value - was).abs() <= largest * (0.5 / LARGEST + 1e-3));
                }
            }
            // Cut anywhere, the bytes are no more rows, or an error, and never a panic; that a row changed
            // is what a file's checksums tell.
            for cut in 0..kept.bytes().len() {
                let cut = Replay::from_bytes(kept.bytes()[..cut].to_vec().into()).unpack(100_000, 300);
                prop_assert!(cut.map_or(0, |cut| cut.len()) <= rows.len());
            }
            prop_assert!(kept.unpack(100_000, 0).is_err(), "labels must exist");
        }

        #[test]
        fn random_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(data) = Replay::from_bytes(bytes.into()).unpack(50, 10) {
                prop_assert!(data.labels.iter().flatten().all(|&label| label < 10));
                prop_assert_eq!(data.rows.width(), 50);
            }
        }
    }

    #[test]
    fn a_sample_of_a_sample_is_the_sample_of_all() {
        let rows = |from: u32, to: u32| -> Vec<(Vec<u32>, Vec<u32>)> {
            (from..to).map(|i| (vec![i, 2 * i + 1000], vec![i % 3])).collect()
        };
        let (first, second, all) = (data(&rows(1, 400)), data(&rows(400, 700)), data(&rows(1, 700)));
        let of_first = Replay::choose(&[&first], &first.labels.class_counts(3), 90).unwrap();
        let of_first = of_first.unpack(3000, 3).unwrap();
        let counts = all.labels.class_counts(3);
        let stepwise = Replay::choose(&[&second, &of_first], &counts, 90).unwrap();
        let at_once = Replay::choose(&[&all], &counts, 90).unwrap();
        assert_eq!(stepwise.bytes(), at_once.bytes());
        let kept = at_once.unpack(3000, 3).unwrap();
        assert!(
            kept.labels
                .class_counts(3)
                .iter()
                .all(|&rows| rows.abs_diff(30) <= 1),
            "every class in proportion"
        );
        assert!(Replay::choose(&[&all], &counts, 0).is_none());
    }
}
