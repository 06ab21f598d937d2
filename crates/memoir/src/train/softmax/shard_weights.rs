//! What several shards must tell each other of their weights: how large they are, while they learn, and at
//! the end the weights themselves.

use super::class_slice::ClassSlice;
use super::weights::LearnedWeights;
use crate::shards::Shard;
use crate::sparse::fixed_point::{Posting, number, push_number};
use crate::{Result, Session};

/// Bytes of weights that go into one message.
const BYTES_PER_MESSAGE: usize = 1 << 26;

/// How large the weights of each feature are, over all shards: it decides which sums fit 16 bits. A scan
/// needs it, scoring cached rivals does not.
#[derive(Default)]
pub(super) struct SharedBounds {
    /// What all shards know of each feature; empty before the first scan.
    known: Vec<u16>,
    /// Features whose weights may have grown since.
    grown: Vec<u32>,
    /// Whether all features must be looked at.
    is_stale: bool,
}

impl SharedBounds {
    /// Raises the bounds of `weights` to those of all shards.
    pub(super) fn share<P: Posting>(
        &mut self,
        weights: &mut LearnedWeights<P>,
        slice: &ClassSlice<'_>,
        session: &Session<'_>,
    ) -> Result<()> {
        if self.is_stale || self.known.is_empty() {
            weights.combine_largest(slice, session)?;
            self.known = weights.largest().to_vec();
            self.is_stale = false;
            self.grown.clear();
            return Ok(());
        }
        let (mut message, mut next) = (Vec::new(), 0);
        for &feature in &self.grown {
            push_number(feature - next, &mut message);
            message.extend(weights.largest()[feature as usize].to_le_bytes());
            next = feature + 1;
        }
        for (shard, bounds) in slice.all_gather(&message, session)?.iter().enumerate() {
            self.raise(weights, bounds).ok_or_else(|| Shard::misfit(shard))?;
        }
        self.grown.clear();
        Ok(())
    }

    fn raise<P: Posting>(&mut self, weights: &mut LearnedWeights<P>, mut bounds: &[u8]) -> Option<()> {
        let mut next = 0u32;
        while !bounds.is_empty() {
            let (passed, rest) = number(bounds)?;
            let (bound, rest) = rest.split_first_chunk()?;
            let feature = next.checked_add(passed)?;
            let bound = u16::from_le_bytes(*bound);
            let known = self.known.get_mut(feature as usize)?;
            *known = bound.max(*known);
            weights.raise_largest(feature, bound);
            next = feature.checked_add(1)?;
            bounds = rest;
        }
        Some(())
    }

    /// Takes note that the weights of `features`, which rise, have moved; whether after a scan, behind which
    /// another one most likely comes.
    pub(super) fn note<P: Posting>(
        &mut self,
        weights: &LearnedWeights<P>,
        features: impl Iterator<Item = u32>,
        was_scan: bool,
    ) {
        if !was_scan {
            self.is_stale = true;
            return;
        }
        let has_grown = |&feature: &u32| weights.largest()[feature as usize] > self.known[feature as usize];
        self.grown = features.filter(has_grown).collect();
    }
}

/// Puts the weights of all shards together, at shard 0; each gives where its features begin, and its
/// postings by feature. The others get back their own.
pub(super) fn join<P: Posting>(
    offsets: Vec<u64>,
    postings: Vec<P>,
    shard: &Shard,
    slice: &ClassSlice<'_>,
    session: &Session<'_>,
) -> Result<(Vec<u64>, Vec<P>)> {
    let first = slice.first();
    let counts: Vec<u32> = offsets
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as u32)
        .collect();
    let counts = gather_all(bytemuck::cast_slice(&counts), shard, session)?;
    let own: Vec<P> = postings
        .iter()
        .map(|posting| P::new(posting.class() + first, posting.weight()))
        .collect();
    drop(postings);
    let all = gather_all(bytemuck::cast_slice(&own), shard, session)?;
    let (Some(counts), Some(all)) = (counts, all) else {
        return Ok((offsets, own));
    };
    drop(own);
    let features = offsets.len() - 1;
    let mut parts = Vec::with_capacity(all.len());
    for (shard, (counts, postings)) in counts.iter().zip(&all).enumerate() {
        let counts: Vec<u32> = read_all(counts);
        let total: usize = counts.iter().map(|&count| count as usize).sum();
        if counts.len() != features || total * size_of::<P>() != postings.len() {
            return Err(Shard::misfit(shard));
        }
        parts.push((counts, postings.chunks_exact(size_of::<P>())));
    }
    let total = all.iter().map(Vec::len).sum::<usize>() / size_of::<P>();
    let (mut offsets, mut joined) = (vec![0], Vec::with_capacity(total));
    for feature in 0..features {
        // Shards have the classes in their order, so these rise.
        for (counts, postings) in &mut parts {
            let of_feature = postings.by_ref().take(counts[feature] as usize);
            joined.extend(of_feature.map(bytemuck::pod_read_unaligned::<P>));
        }
        offsets.push(joined.len() as u64);
    }
    Ok((offsets, joined))
}

/// What every shard has, however long, at shard 0.
fn gather_all(mine: &[u8], shard: &Shard, session: &Session<'_>) -> Result<Option<Vec<Vec<u8>>>> {
    let lengths = shard.all_gather(&(mine.len() as u64).to_le_bytes(), session.cancel())?;
    let mut longest = 0;
    for (shard, length) in lengths.iter().enumerate() {
        let length: [u8; 8] = length.as_slice().try_into().map_err(|_| Shard::misfit(shard))?;
        longest = u64::from_le_bytes(length).max(longest);
    }
    let mut all = (shard.index() == 0).then(|| vec![Vec::new(); shard.shards()]);
    for start in (0..longest as usize).step_by(BYTES_PER_MESSAGE) {
        let rest = &mine[start.min(mine.len())..];
        let message = &rest[..rest.len().min(BYTES_PER_MESSAGE)];
        if let (Some(parts), Some(all)) = (shard.gather(message, session.cancel())?, &mut all) {
            all.iter_mut().zip(parts).for_each(|(all, part)| all.extend(part));
        }
    }
    Ok(all)
}

fn read_all<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    let values = bytes.chunks_exact(size_of::<T>());
    values.map(bytemuck::pod_read_unaligned).collect()
}
