//! Work that shards share out block by block: each block is worked on by one of them, and all hear what came
//! of it. Also counts and lists that each shard makes of its own blocks, put together.

use std::sync::atomic::{AtomicU32, Ordering};

use super::Shard;
use crate::sparse::fixed_point::{number, push_number};
use crate::{Result, Session};

/// Numbers that go into one message.
const NUMBERS_PER_MESSAGE: usize = 1 << 20;

/// What is told to other shards.
pub(crate) trait Told: Sized {
    /// Appends it to a message.
    fn write(&self, message: &mut Vec<u8>);

    /// Takes it from the front of a message; nothing if that is something else.
    fn read(message: &mut &[u8]) -> Option<Self>;
}

impl Told for u32 {
    fn write(&self, message: &mut Vec<u8>) {
        push_number(*self, message);
    }

    fn read(message: &mut &[u8]) -> Option<Self> {
        let (value, rest) = number(message)?;
        *message = rest;
        Some(value)
    }
}

impl Told for (u32, u32) {
    fn write(&self, message: &mut Vec<u8>) {
        self.0.write(message);
        self.1.write(message);
    }

    fn read(message: &mut &[u8]) -> Option<Self> {
        Some((u32::read(message)?, u32::read(message)?))
    }
}

impl<T: Told> Told for Vec<T> {
    fn write(&self, message: &mut Vec<u8>) {
        (self.len() as u32).write(message);
        for item in self {
            item.write(message);
        }
    }

    fn read(message: &mut &[u8]) -> Option<Self> {
        (0..u32::read(message)?).map(|_| T::read(message)).collect()
    }
}

/// Bytes behind their number.
pub(crate) fn write_bytes(bytes: &[u8], message: &mut Vec<u8>) {
    (bytes.len() as u32).write(message);
    message.extend(bytes);
}

/// Takes what [`write_bytes`] wrote from the front of a message.
pub(crate) fn read_bytes<'m>(message: &mut &'m [u8]) -> Option<&'m [u8]> {
    let length = u32::read(message)? as usize;
    let (bytes, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some(bytes)
}

/// Whether the block with this number is worked on by this process.
pub(crate) fn is_own_block(block: usize, session: &Session<'_>) -> bool {
    session
        .shard()
        .is_none_or(|shard| block % shard.shards() == shard.index())
}

/// Puts together what shards make of blocks, in the order of the blocks.
pub(crate) struct Turns<'s, T> {
    session: &'s Session<'s>,
    /// Blocks of each shard that are told in one message.
    at_once: usize,
    /// What came of the blocks that have not been told yet, if this process worked on them.
    waiting: Vec<Option<T>>,
}

impl<'s, T: Told> Turns<'s, T> {
    /// No blocks yet. So many of each shard are told in one message.
    pub(crate) fn new(at_once: usize, session: &'s Session<'s>) -> Self {
        Self {
            session,
            at_once,
            waiting: Vec::new(),
        }
    }

    /// Adds the next block, with what came of it if it is an own one. Hands on what is known, in order.
    pub(crate) fn add(&mut self, result: Option<T>, mut take: impl FnMut(T) -> Result<()>) -> Result<()> {
        match (self.session.shard(), result) {
            (None, Some(result)) => take(result),
            (None, None) => Ok(()),
            (Some(shard), result) => {
                self.waiting.push(result);
                if self.waiting.len() < self.at_once * shard.shards() {
                    return Ok(());
                }
                self.tell(shard, take)
            }
        }
    }

    /// Hands on the rest. There are no more blocks.
    pub(crate) fn finish(mut self, take: impl FnMut(T) -> Result<()>) -> Result<()> {
        match self.session.shard() {
            Some(shard) if !self.waiting.is_empty() => self.tell(shard, take),
            _ => Ok(()),
        }
    }

    fn tell(&mut self, shard: &Shard, mut take: impl FnMut(T) -> Result<()>) -> Result<()> {
        let mut message = Vec::new();
        for own in self.waiting.iter().flatten() {
            own.write(&mut message);
        }
        let all = shard.all_gather(&message, self.session.cancel())?;
        let mut messages: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
        // The first one waiting is always of the first shard.
        for (block, own) in self.waiting.drain(..).enumerate() {
            let of = block % shard.shards();
            let result = own.or_else(|| T::read(&mut messages[of]));
            take(result.ok_or_else(|| Shard::misfit(of))?)?;
        }
        let rest = |of: &usize| *of != shard.index() && !messages[*of].is_empty();
        match (0..messages.len()).find(rest) {
            Some(of) => Err(Shard::misfit(of)),
            None => Ok(()),
        }
    }
}

/// Adds to each count what other shards have counted.
pub(crate) fn sum_counts(counts: &[AtomicU32], session: &Session<'_>) -> Result<()> {
    let Some(shard) = session.shard() else {
        return Ok(());
    };
    for counts in counts.chunks(NUMBERS_PER_MESSAGE) {
        let mut message = Vec::new();
        for count in counts {
            count.load(Ordering::Relaxed).write(&mut message);
        }
        let all = shard.all_gather(&message, session.cancel())?;
        for (of, theirs) in all.iter().enumerate() {
            let mut theirs = theirs.as_slice();
            for count in counts {
                let more = u32::read(&mut theirs).ok_or_else(|| Shard::misfit(of))?;
                if of != shard.index() {
                    count.fetch_add(more, Ordering::Relaxed);
                }
            }
            if !theirs.is_empty() {
                return Err(Shard::misfit(of));
            }
        }
    }
    Ok(())
}

/// The lists of all shards, in their order.
pub(crate) fn gather_list<T: Told + Clone>(
    own: &[T],
    shard: &Shard,
    session: &Session<'_>,
) -> Result<Vec<Vec<T>>> {
    let mut lists = vec![Vec::new(); shard.shards()];
    let mut pieces = own.chunks(NUMBERS_PER_MESSAGE);
    loop {
        let piece = pieces.next().unwrap_or_default();
        let mut message = Vec::new();
        for item in piece {
            item.write(&mut message);
        }
        let all = shard.all_gather(&message, session.cancel())?;
        if all.iter().all(Vec::is_empty) {
            return Ok(lists);
        }
        for (of, (list, message)) in lists.iter_mut().zip(&all).enumerate() {
            let mut message = message.as_slice();
            while !message.is_empty() {
                list.push(T::read(&mut message).ok_or_else(|| Shard::misfit(of))?);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::thread;

    use super::*;
    use crate::Error;
    use crate::shards::local_group;

    /// What `work` gives in each of so many shards.
    fn in_shards<R: Send>(shards: usize, work: impl Fn(&Session<'_>) -> R + Sync) -> Vec<R> {
        let one = |exchange| {
            let (shard, session) = (Shard::new(exchange), Session::new(NonZeroUsize::MIN).unwrap());
            work(&session.as_shard(&shard))
        };
        thread::scope(|scope| {
            let start = |exchange| scope.spawn(|| one(exchange));
            let threads: Vec<_> = local_group(shards).into_iter().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn blocks_come_in_order_wherever_they_were_worked_on() {
        for (shards, at_once, blocks) in [(1, 1, 5), (2, 1, 5), (3, 2, 14), (3, 2, 12), (4, 8, 3), (2, 3, 0)]
        {
            let work = |session: &Session<'_>| {
                let (mut turns, mut taken, mut worked) = (Turns::new(at_once, session), Vec::new(), 0);
                let mut take = |result: u32| {
                    taken.push(result);
                    Ok(())
                };
                for block in 0..blocks {
                    let own = is_own_block(block, session).then_some(1000 * block as u32);
                    worked += usize::from(own.is_some());
                    turns.add(own, &mut take).unwrap();
                }
                turns.finish(take).unwrap();
                (taken, worked)
            };
            let all = in_shards(shards, work);
            let expected: Vec<u32> = (0..blocks as u32).map(|block| 1000 * block).collect();
            assert!(all.iter().all(|(taken, _)| *taken == expected));
            assert_eq!(all.iter().map(|(_, worked)| worked).sum::<usize>(), blocks);
        }
    }

    #[test]
    fn shards_with_other_blocks_are_noticed() {
        let work = |session: &Session<'_>| {
            let mut turns = Turns::new(1, session);
            turns.add(is_own_block(0, session).then_some(7u32), |_| Ok(()))?;
            // The second one has nothing to say of its block.
            turns.add(None, |_| Ok(()))
        };
        let first = in_shards(2, work).remove(0);
        assert!(matches!(first, Err(Error::Exchange(_))), "{first:?}");
    }

    #[test]
    fn counts_and_lists_are_put_together() {
        let work = |session: &Session<'_>| {
            let index = session.shard().unwrap().index() as u32;
            let counts: Vec<AtomicU32> = [1, 300, 1 << 20, 0]
                .map(|count: u32| AtomicU32::new(count * index))
                .into();
            sum_counts(&counts, session).unwrap();
            let own: Vec<(u32, u32)> = (0..index * NUMBERS_PER_MESSAGE as u32)
                .map(|n| (n, index))
                .collect();
            let lists = gather_list(&own, session.shard().unwrap(), session).unwrap();
            let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
            assert_eq!(lists[index as usize], own);
            let counts = counts.into_iter().map(AtomicU32::into_inner).collect::<Vec<_>>();
            (counts, lengths)
        };
        let n = NUMBERS_PER_MESSAGE;
        for (counts, lengths) in in_shards(3, work) {
            assert_eq!(counts, [3, 900, 3 << 20, 0]);
            assert_eq!(lengths, [0, n, 2 * n]);
        }
    }
}
