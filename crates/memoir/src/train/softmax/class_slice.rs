//! The classes that this process owns: all of them or, where several shards train one model, a slice; and
//! what must be put together of all slices.
//!
//! Slices are runs of classes in their order. So what the shards name for a row, one shard after the other,
//! is in the order of classes, as one scan over all of them would name it.

use std::ops::Range;

use crate::shards::Shard;
use crate::sparse::fixed_point::{Best, FixedScore};
use crate::{Error, Result, Session};

/// Numbers that go into one message.
const NUMBERS_PER_MESSAGE: usize = 1 << 22;

/// Rows whose best classes go into one message.
const ROWS_PER_MESSAGE: usize = 1 << 14;

/// A run of classes. Inside of it they are counted from 0.
#[derive(Clone)]
pub(super) struct ClassSlice<'a> {
    shard: Option<&'a Shard>,
    /// The first class of each shard, and the number of classes.
    firsts: Vec<u32>,
}

impl<'a> ClassSlice<'a> {
    /// All classes.
    pub(super) fn whole(classes: usize) -> Self {
        Self {
            shard: None,
            firsts: vec![0, classes as u32],
        }
    }

    /// The slice of `shard`, if there are several, of classes with so many rows.
    pub(super) fn of(shard: Option<&'a Shard>, class_counts: &[u32]) -> Result<Self> {
        let classes = class_counts.len();
        let Some(shard) = shard.filter(|shard| shard.shards() > 1) else {
            return Ok(Self::whole(classes));
        };
        let shards = shard.shards();
        if shards > classes {
            return Err(Error::Parameter(format!(
                "there are {shards} shards, but only {classes} classes to share out"
            )));
        }
        // What a class costs grows with its rows, but these have features in common.
        let cost = |count: u32| 1.0 + f64::from(count).sqrt();
        let total: f64 = class_counts.iter().map(|&count| cost(count)).sum();
        let mut firsts = vec![0];
        let mut done = 0.0;
        for (class, &count) in (0u32..).zip(class_counts) {
            let next = firsts.len();
            let left = classes - class as usize;
            let is_due = done >= total * next as f64 / shards as f64 || left == shards - next;
            if next < shards && class > firsts[next - 1] && is_due {
                firsts.push(class);
            }
            done += cost(count);
        }
        firsts.push(classes as u32);
        Ok(Self {
            shard: Some(shard),
            firsts,
        })
    }

    /// The shard, if there are several.
    pub(super) fn shard(&self) -> Option<&'a Shard> {
        self.shard
    }

    fn index(&self) -> usize {
        self.shard.map_or(0, Shard::index)
    }

    pub(super) fn first(&self) -> u32 {
        self.firsts[self.index()]
    }

    pub(super) fn range(&self) -> Range<u32> {
        self.range_of(self.index())
    }

    /// The classes of a shard.
    pub(super) fn range_of(&self, shard: usize) -> Range<u32> {
        self.firsts[shard]..self.firsts[shard + 1]
    }

    pub(super) fn len(&self) -> usize {
        self.range().len()
    }

    /// Number of all classes.
    pub(super) fn all_classes(&self) -> usize {
        self.firsts[self.firsts.len() - 1] as usize
    }

    /// Those of `classes`, which rise, that a shard has.
    pub(super) fn part_of<'c>(&self, shard: usize, classes: &'c [u32]) -> &'c [u32] {
        let range = self.range_of(shard);
        let start = classes.partition_point(|&class| class < range.start);
        let end = classes.partition_point(|&class| class < range.end);
        &classes[start..end]
    }

    /// Replaces `own` by those of `classes`, which rise, that this slice has, counted inside of it.
    pub(super) fn put_own(&self, classes: &[u32], own: &mut Vec<u32>) {
        let first = self.first();
        own.clear();
        own.extend(
            self.part_of(self.index(), classes)
                .iter()
                .map(|class| class - first),
        );
    }

    /// What every shard hands out; with one process, nothing is asked.
    pub(super) fn all_gather(&self, mine: &[u8], session: &Session<'_>) -> Result<Vec<Vec<u8>>> {
        match self.shard {
            Some(shard) => shard.all_gather(mine, session.cancel()),
            None => Ok(vec![mine.to_vec()]),
        }
    }

    /// Replaces each value by the one that `with` makes of it and its counterparts in other shards.
    pub(super) fn combine<T: bytemuck::Pod>(
        &self,
        values: &mut [T],
        with: impl Fn(T, T) -> T,
        session: &Session<'_>,
    ) -> Result<()> {
        if self.shard.is_none() {
            return Ok(());
        }
        for values in values.chunks_mut(NUMBERS_PER_MESSAGE) {
            let all = self.all_gather(bytemuck::cast_slice(values), session)?;
            for (shard, theirs) in all.iter().enumerate() {
                if theirs.len() != size_of_val(values) {
                    return Err(Shard::misfit(shard));
                }
                if shard == self.index() {
                    continue;
                }
                let theirs = theirs.chunks_exact(size_of::<T>());
                for (value, theirs) in values.iter_mut().zip(theirs) {
                    *value = with(*value, bytemuck::pod_read_unaligned(theirs));
                }
            }
        }
        Ok(())
    }

    /// What a search over all classes would have found for some rows, of what searches over the slices
    /// found: the best of all, as many as `k` says for a row, and the scores of all labels.
    pub(super) fn merge(
        &self,
        found: Vec<Found>,
        k: impl Fn(usize) -> usize,
        session: &Session<'_>,
    ) -> Result<Vec<Found>> {
        if self.shard.is_none() {
            return Ok(found);
        }
        let mut merged = Vec::with_capacity(found.len());
        let mut best = Best::default();
        for rows in found.chunks(ROWS_PER_MESSAGE) {
            let mut message = Vec::new();
            for row in rows {
                row.write(self.first(), &mut message);
            }
            let all = self.all_gather(&message, session)?;
            let mut readers: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
            for _ in rows {
                let mut row = Found::default();
                for (shard, reader) in readers.iter_mut().enumerate() {
                    let part = Found::read(reader).ok_or_else(|| Shard::misfit(shard))?;
                    row.best.extend(part.best);
                    row.label_scores.extend(part.label_scores);
                }
                row.best.sort_unstable_by_key(|scored| scored.class);
                best.start(k(merged.len()), i32::MIN);
                for scored in &row.best {
                    best.offer(scored.score, scored.class);
                }
                best.finish(&mut row.best);
                merged.push(row);
            }
        }
        Ok(merged)
    }
}

/// What a search found for a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Found {
    /// The best classes, best first.
    pub(super) best: Vec<FixedScore>,
    /// The scores of its labels, as far as the searched classes have them.
    pub(super) label_scores: Vec<i32>,
}

impl Found {
    fn write(&self, first: u32, message: &mut Vec<u8>) {
        message.extend((self.best.len() as u32).to_le_bytes());
        message.extend((self.label_scores.len() as u32).to_le_bytes());
        for scored in &self.best {
            message.extend((scored.class + first).to_le_bytes());
            message.extend(scored.score.to_le_bytes());
        }
        for score in &self.label_scores {
            message.extend(score.to_le_bytes());
        }
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u32::from_le_bytes(*number))
        };
        let (best, labels) = (number()?, number()?);
        let mut found = Self::default();
        for _ in 0..best {
            found.best.push(FixedScore {
                class: number()?,
                score: number()? as i32,
            });
        }
        for _ in 0..labels {
            found.label_scores.push(number()? as i32);
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::tests::session;
    use super::*;
    use crate::shards::local_group;

    #[test]
    fn every_class_has_one_owner_and_no_shard_is_empty() {
        let many: Vec<u32> = (0..1000).map(|class| 1 + 5000 / (class + 1)).collect();
        for counts in [&[9, 1, 1, 1][..], &[0, 0, 0, 900, 1], &[1, 1, 1, 1], &many] {
            for shards in 2..=4 {
                for shard in local_group(shards).into_iter().map(Shard::new) {
                    let slice = ClassSlice::of(Some(&shard), counts).unwrap();
                    let all: Vec<u32> = (0..counts.len() as u32).collect();
                    let parts = (0..shards).map(|shard| slice.part_of(shard, &all));
                    assert!(parts.clone().all(|part| !part.is_empty()), "{:?}", slice.firsts);
                    assert_eq!(parts.collect::<Vec<_>>().concat(), all);
                    assert_eq!(slice.all_classes(), counts.len());
                }
            }
        }
        let shard = Shard::new(local_group(3).remove(0));
        let complaint = ClassSlice::of(Some(&shard), &[1, 1]).err().unwrap();
        assert_eq!(
            complaint.to_string(),
            "there are 3 shards, but only 2 classes to share out"
        );
    }

    #[test]
    fn slices_are_put_together() {
        let counts = [3, 3, 3, 3, 3, 3];
        let one = |exchange| {
            let (shard, session) = (Shard::new(exchange), session(1));
            let slice = ClassSlice::of(Some(&shard), &counts).unwrap();
            let mut sums = [shard.index() as u32, 1];
            slice.combine(&mut sums, |a, b| a + b, &session).unwrap();
            // Scores by class: 5, 7, 7 | 7, 9, 1.
            let scores: [i32; 6] = [5, 7, 7, 7, 9, 1];
            let own = (0u32..).zip(&scores[slice.first() as usize..][..slice.len()]);
            let mut best: Vec<_> = own.map(|(class, &score)| FixedScore { class, score }).collect();
            best.sort_by_key(|scored| (-scored.score, scored.class));
            let label_scores = vec![shard.index() as i32; shard.index() + 1];
            let found = vec![Found { best, label_scores }, Found::default()];
            (sums, slice.merge(found, |_| 3, &session).unwrap())
        };
        thread::scope(|scope| {
            let start = |exchange| scope.spawn(|| one(exchange));
            let threads: Vec<_> = local_group(2).into_iter().map(start).collect();
            for thread in threads {
                let (sums, found) = thread.join().unwrap();
                assert_eq!(sums, [1, 2]);
                let best: Vec<_> = found[0]
                    .best
                    .iter()
                    .map(|best| (best.class, best.score))
                    .collect();
                // Ties: the lower class first.
                assert_eq!(best, [(4, 9), (1, 7), (2, 7)]);
                assert_eq!(found[0].label_scores, [0, 1, 1]);
                assert_eq!(found[1], Found::default());
            }
        });
        assert_eq!(Found::read(&mut &[1, 0, 0, 0, 0, 0, 0, 0, 5][..]), None);
    }
}
