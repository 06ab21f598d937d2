//! Several processes that train one model together: what they can say to each other.
//!
//! Every process (a *shard*) runs the same training on the same rows, but owns a slice of the classes. What
//! depends on all classes is put together by one operation: each shard hands out some bytes, and all get the
//! bytes of all, in the order of the shards ([`Exchange::all_gather`]). An algorithm needs nothing else of
//! the engine that carries the bytes, so threads of one process ([`local_group`]) and machines
//! ([`TcpExchange`]) train the same model.

mod mesh;
mod tcp;
mod turns;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{Cancel, Error, Result};

pub use mesh::{LocalExchange, local_group};
pub use tcp::{ShardAddress, TcpExchange, Token};
pub(crate) use turns::{Told, Turns, gather_list, is_own_block, read_bytes, sum_counts, write_bytes};

/// Most shards of one training.
pub const MOST_SHARDS: usize = 1024;

/// Carries bytes between the shards of one training. All shards make the same calls in the same order.
pub trait Exchange: Send {
    /// The number of this shard, from 0.
    fn index(&self) -> usize;

    /// Number of shards.
    fn shards(&self) -> usize;

    /// Hands out `mine`, and waits for what every shard hands out, in the order of the shards. Fails if a
    /// shard is gone, naming it, or once the flag is raised.
    fn all_gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Vec<Vec<u8>>>;

    /// As [`Exchange::all_gather`], but only shard 0 gets the answer; the others get nothing and need not
    /// wait.
    fn gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Option<Vec<Vec<u8>>>> {
        let index = self.index();
        let all = self.all_gather(mine, cancel)?;
        Ok((index == 0).then_some(all))
    }
}

/// This process as one of several that train a model together.
pub struct Shard {
    index: usize,
    shards: usize,
    exchange: Mutex<(Box<dyn Exchange>, Traffic)>,
}

/// What went over the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Traffic {
    /// Times that something was handed out.
    pub rounds: u64,
    /// Bytes that this shard handed out, counted once for each shard that got them.
    pub sent: u64,
    /// Bytes that it got.
    pub received: u64,
    /// How long it waited for them, which is both the wire and the slowness of others.
    pub waited: Duration,
}

impl Shard {
    /// The shard that talks to the others by `exchange`.
    pub fn new(exchange: impl Exchange + 'static) -> Self {
        Self {
            index: exchange.index(),
            shards: exchange.shards(),
            exchange: Mutex::new((Box::new(exchange), Traffic::default())),
        }
    }

    /// The number of this shard, from 0. Shard 0 gets the model.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Number of shards.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// What went over the wire so far.
    pub fn traffic(&self) -> Traffic {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// See [`Exchange::all_gather`].
    pub fn all_gather(&self, mine: &[u8], cancel: &Cancel) -> Result<Vec<Vec<u8>>> {
        let others = self.shards as u64 - 1;
        let all = self.counted(mine, others, |exchange| {
            exchange.all_gather(mine, cancel).map(Some)
        })?;
        all.ok_or_else(|| Error::Exchange("the engine gave no answer".to_owned()))
    }

    /// See [`Exchange::gather`].
    pub fn gather(&self, mine: &[u8], cancel: &Cancel) -> Result<Option<Vec<Vec<u8>>>> {
        let others = u64::from(self.index != 0);
        self.counted(mine, others, |exchange| exchange.gather(mine, cancel))
    }

    fn counted(
        &self,
        mine: &[u8],
        receivers: u64,
        call: impl FnOnce(&mut dyn Exchange) -> Result<Option<Vec<Vec<u8>>>>,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let mut guard = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        let (exchange, traffic) = &mut *guard;
        let start = Instant::now();
        let all = call(&mut **exchange)?;
        if let Some(all) = &all
            && all.len() != self.shards
        {
            return Err(Error::Exchange(format!(
                "{} shards answered, but there are {}",
                all.len(),
                self.shards
            )));
        }
        traffic.rounds += 1;
        traffic.sent += mine.len() as u64 * receivers;
        traffic.waited += start.elapsed();
        let all_bytes: usize = all.iter().flatten().map(Vec::len).sum();
        traffic.received += all.as_ref().map_or(0, |_| (all_bytes - mine.len()) as u64);
        Ok(all)
    }

    /// The error for a shard that answers what no shard of the same training would.
    pub fn misfit(shard: usize) -> Error {
        Error::Exchange(format!(
            "shard {shard} sent what does not fit: do all shards run the same version on the same data and options?"
        ))
    }
}

#[cfg(test)]
mod tests;
