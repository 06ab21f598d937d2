//! The gradients of a batch where several shards train one model: each scores its own classes, all hear of
//! what all found, and every shard computes the same gradients and keeps those of its own classes.
//!
//! What a shard says of a batch are blocks of rows: first the length of each block, then the blocks. Of a
//! row that is scanned it says its strongest rivals (their number; for each the classes that were passed
//! over and the score) and the scores of the row's labels that it owns. Of a row whose rivals are cached,
//! which all know, it says the scores of the candidates that it owns. Scores are whole numbers of 16 bits
//! where sums have 16 bits, else of 32.

use rayon::prelude::*;

use super::candidate_scores::MOST_ROWS;
use super::rival_cache::RivalCache;
use super::rivals::{RivalScratch, RivalSearch, RivalSource, TASK, TASKS_PER_THREAD};
use super::update::BatchGradients;
use super::weights::LearnedWeights;
use crate::shards::Shard;
use crate::sparse::fixed_point::{FixedScore, Posting, SumScale, number, push_number};
use crate::{Result, Session};

/// Reusable memory for one block of rows.
#[derive(Default)]
pub(super) struct ShardBlock {
    /// What this shard says of the rows.
    message: Vec<u8>,
    /// How each row was scored.
    scales: Vec<SumScale>,
    gradients: BatchGradients,
    problem: Option<usize>,
}

impl RivalSearch<'_> {
    /// As [`RivalSearch::gradients`], where other shards have other classes. The gradients are those of the
    /// own ones, counted inside of the slice.
    pub(super) fn gradients_with_others<P: Posting>(
        &mut self,
        weights: &LearnedWeights<P>,
        batch: &[u32],
        source: RivalSource<'_>,
        gradients: &mut BatchGradients,
        session: &Session<'_>,
    ) -> Result<()> {
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.resize_with(batch.len().div_ceil(TASK), ShardBlock::default);
        let blocks_of_task = match source {
            RivalSource::Scan(_) => 1,
            RivalSource::Cache(_) => {
                let tasks = TASKS_PER_THREAD * session.threads();
                blocks.len().div_ceil(tasks).clamp(1, MOST_ROWS / TASK)
            }
        };
        session.run(|| {
            let rows = batch.par_chunks(TASK * blocks_of_task);
            let tasks = rows.zip(blocks.par_chunks_mut(blocks_of_task));
            tasks.with_max_len(1).for_each(|(rows, blocks)| {
                if session.cancel().is_raised() {
                    return;
                }
                let mut scratch = self.scratches.of_this_thread();
                match source {
                    RivalSource::Scan(_) => {
                        for (rows, block) in rows.chunks(TASK).zip(blocks) {
                            self.say_scanned(weights, rows, &mut scratch, block);
                        }
                    }
                    RivalSource::Cache(cache) => self.say_cached(weights, rows, cache, &mut scratch, blocks),
                }
            });
        });
        session.check()?;
        let mut message = Vec::new();
        for block in &blocks {
            message.extend((block.message.len() as u32).to_le_bytes());
        }
        for block in &blocks {
            message.extend_from_slice(&block.message);
        }
        let all = self.slice.all_gather(&message, session)?;
        // By block, then by shard.
        let mut parts: Vec<Vec<&[u8]>> = vec![Vec::with_capacity(all.len()); blocks.len()];
        for (shard, message) in all.iter().enumerate() {
            cut(message, &mut parts).ok_or_else(|| Shard::misfit(shard))?;
        }
        session.run(|| {
            let work = batch.par_chunks(TASK).zip(&mut blocks).zip(&mut parts);
            work.with_max_len(1).for_each(|((rows, block), parts)| {
                let mut scratch = self.scratches.of_this_thread();
                self.hear(rows, parts, source, &mut scratch, block);
            });
        });
        gradients.clear();
        let own = self.slice.range();
        for block in &blocks {
            if let Some(shard) = block.problem {
                return Err(Shard::misfit(shard));
            }
            let mut start = 0;
            for &end in &block.gradients.ends {
                let of_row = &block.gradients.gradients[start..end];
                let kept = of_row.iter().filter(|gradient| own.contains(&gradient.0));
                gradients
                    .gradients
                    .extend(kept.map(|&(class, gradient)| (class - own.start, gradient)));
                gradients.ends.push(gradients.gradients.len());
                start = end;
            }
        }
        self.blocks = blocks;
        Ok(())
    }

    /// Says what a scan over the own classes finds for `rows`.
    fn say_scanned<P: Posting>(
        &self,
        weights: &LearnedWeights<P>,
        rows: &[u32],
        scratch: &mut RivalScratch,
        block: &mut ShardBlock,
    ) {
        let ShardBlock { message, scales, .. } = block;
        message.clear();
        scales.clear();
        let mut own = std::mem::take(&mut scratch.own_labels);
        for (index, &row) in rows.iter().enumerate() {
            self.prefetch(&rows[index + 1..], weights);
            let row = row as usize;
            let (labels, quantized) = (self.data.labels.row(row), self.rows.row(row));
            if labels.is_empty() || quantized.indices.is_empty() {
                scales.push(SumScale::EXACT);
                continue;
            }
            self.slice.put_own(labels, &mut own);
            let scale = scratch.find(weights, quantized, self.rivals, &own, self.precision);
            scales.push(scale);
            push_number(scratch.found.len() as u32, message);
            let mut next = 0;
            for found in &scratch.found {
                push_number(found.class - next, message);
                push_score(found.score, scale, message);
                next = found.class + 1;
            }
            for &score in &scratch.fixed_label_scores {
                push_score(score, scale, message);
            }
        }
        scratch.own_labels = own;
    }

    /// Says what the own ones among the labels and cached rivals of `rows` score.
    fn say_cached<P: Posting>(
        &self,
        weights: &LearnedWeights<P>,
        rows: &[u32],
        cache: &RivalCache,
        scratch: &mut RivalScratch,
        blocks: &mut [ShardBlock],
    ) {
        let own = self.slice.range();
        let mut candidates = std::mem::take(&mut scratch.candidates);
        candidates.clear();
        for &row in rows {
            let row = row as usize;
            self.slice
                .put_own(self.data.labels.row(row), &mut scratch.own_labels);
            let rivals = cache.row(row).filter(|class| own.contains(class));
            let rivals = rivals.map(|class| class - own.start);
            candidates.push(self.rows.row(row), &scratch.own_labels, rivals);
        }
        candidates.score(weights);
        for (number, block) in blocks.iter_mut().enumerate() {
            block.message.clear();
            for index in number * TASK..rows.len().min((number + 1) * TASK) {
                for score in candidates.row(index).1 {
                    block.message.extend(score.to_le_bytes());
                }
            }
        }
        scratch.candidates = candidates;
    }

    /// Computes the gradients of `rows` from what all shards say of them.
    fn hear(
        &self,
        rows: &[u32],
        parts: &mut [&[u8]],
        source: RivalSource<'_>,
        scratch: &mut RivalScratch,
        block: &mut ShardBlock,
    ) {
        block.gradients.clear();
        block.problem = None;
        for (index, &row) in rows.iter().enumerate() {
            let row = row as usize;
            scratch.rivals.clear();
            scratch.label_scores.clear();
            let heard = match source {
                RivalSource::Scan(_) => self.hear_scanned(row, block.scales[index], parts, scratch),
                RivalSource::Cache(cache) => self.hear_cached(row, cache, parts, scratch),
            };
            if let Err(shard) = heard {
                block.problem = Some(shard);
                return;
            }
            if scratch.label_scores.is_empty() {
                block.gradients.ends.push(block.gradients.gradients.len());
            } else {
                self.add_gradients(row, scratch, &mut block.gradients);
            }
            if let RivalSource::Scan(Some(cache)) = source {
                cache.insert(row, &scratch.rivals);
            }
        }
    }

    /// Puts together what scans have found for a row. Fails with the shard that said what makes no sense.
    fn hear_scanned(
        &self,
        row: usize,
        scale: SumScale,
        parts: &mut [&[u8]],
        scratch: &mut RivalScratch,
    ) -> Result<(), usize> {
        let (labels, quantized) = (self.data.labels.row(row), self.rows.row(row));
        if labels.is_empty() || quantized.indices.is_empty() {
            return Ok(());
        }
        let unit = quantized.score_unit() * scale.products;
        // Only what is above zero is a rival, so nothing else was said.
        scratch.best.start(self.rivals, 0);
        for (shard, part) in parts.iter_mut().enumerate() {
            let range = self.slice.range_of(shard);
            let own_labels = self.slice.part_of(shard, labels).len();
            let mut read = || {
                let mut next = range.start;
                for _ in 0..take_number(part)? {
                    let class = next.checked_add(take_number(part)?)?;
                    if class >= range.end {
                        return None;
                    }
                    scratch.best.offer(take_score(part, scale)?, class);
                    next = class + 1;
                }
                for _ in 0..own_labels {
                    let score = take_score(part, scale)?;
                    scratch.label_scores.push(score as f32 * unit);
                }
                Some(())
            };
            read().ok_or(shard)?;
        }
        scratch.best.finish_by_class(&mut scratch.found);
        let found = scratch.found.iter();
        let rival = |found: &FixedScore| (found.class, found.score as f32 * unit);
        scratch.rivals.extend(found.map(rival));
        Ok(())
    }

    /// Puts together what the candidates of a row score.
    fn hear_cached(
        &self,
        row: usize,
        cache: &RivalCache,
        parts: &mut [&[u8]],
        scratch: &mut RivalScratch,
    ) -> Result<(), usize> {
        let labels = self.data.labels.row(row);
        let unit = self.rows.row(row).score_unit();
        let candidates = &mut scratch.own_labels;
        candidates.clear();
        candidates.extend_from_slice(labels);
        candidates.extend(cache.row(row));
        candidates.sort_unstable();
        for (shard, part) in parts.iter_mut().enumerate() {
            for &class in self.slice.part_of(shard, candidates) {
                let score = take_score(part, SumScale::EXACT).ok_or(shard)? as f32 * unit;
                if labels.binary_search(&class).is_ok() {
                    scratch.label_scores.push(score);
                } else {
                    scratch.rivals.push((class, score));
                }
            }
        }
        Ok(())
    }
}

/// Cuts a message into its blocks, and appends each to its list.
fn cut<'m>(message: &'m [u8], parts: &mut [Vec<&'m [u8]>]) -> Option<()> {
    let (lengths, mut rest) = message.split_at_checked(4 * parts.len())?;
    for (length, parts) in lengths.as_chunks::<4>().0.iter().zip(parts) {
        let part;
        (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        parts.push(part);
    }
    rest.is_empty().then_some(())
}

fn push_score(score: i32, scale: SumScale, message: &mut Vec<u8>) {
    if scale == SumScale::EXACT {
        message.extend(score.to_le_bytes());
    } else {
        message.extend((score as i16).to_le_bytes());
    }
}

fn take_score(bytes: &mut &[u8], scale: SumScale) -> Option<i32> {
    if scale == SumScale::EXACT {
        let (score, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(i32::from_le_bytes(*score))
    } else {
        let (score, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(i32::from(i16::from_le_bytes(*score)))
    }
}

fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    let (value, rest) = number(bytes)?;
    *bytes = rest;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_take_two_bytes_where_sums_do() {
        let mut rough = SumScale::EXACT;
        rough.products = 4.0;
        for (scale, scores, bytes) in [
            (rough, [-32_767, 0, 32_767], 6),
            (SumScale::EXACT, [i32::MIN, -1, i32::MAX], 12),
        ] {
            let mut message = Vec::new();
            for score in scores {
                push_score(score, scale, &mut message);
            }
            assert_eq!(message.len(), bytes);
            let mut rest = &message[..];
            let read: Vec<_> = std::iter::from_fn(|| take_score(&mut rest, scale)).collect();
            assert_eq!(read, scores);
        }
    }

    #[test]
    fn messages_that_are_too_short_or_too_long_are_refused() {
        let cut_in_two = |message: &[u8]| {
            let mut parts = vec![Vec::new(); 2];
            cut(message, &mut parts).map(|()| parts.concat().concat())
        };
        assert_eq!(
            cut_in_two(&[1, 0, 0, 0, 2, 0, 0, 0, 7, 8, 9]),
            Some(vec![7, 8, 9])
        );
        assert_eq!(cut_in_two(&[1, 0, 0, 0, 3, 0, 0, 0, 7, 8, 9]), None);
        assert_eq!(cut_in_two(&[1, 0, 0, 0, 1, 0, 0, 0, 7, 8, 9]), None);
        assert_eq!(cut_in_two(&[1, 0, 0]), None);
    }
}
