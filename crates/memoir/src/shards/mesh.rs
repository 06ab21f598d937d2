//! All shards linked with each other: what every way of carrying bytes has in common, and the way between
//! threads of one process.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::Exchange;
use crate::{Cancel, Error, Result};

/// How often a waiting shard looks at the cancel flag.
const LOOK: Duration = Duration::from_millis(50);

/// Hands over a message; says why not, if the other shard is gone.
pub(super) type SendMessage = dyn FnMut(&[u8]) -> Result<(), String> + Send;

/// The way to one other shard.
pub(super) struct Link {
    pub(super) send: Box<SendMessage>,
    /// What the other shard sends, or why nothing more comes.
    pub(super) received: Receiver<Result<Vec<u8>, String>>,
}

/// Links to all other shards.
pub(super) struct Mesh {
    pub(super) index: usize,
    /// By number of the shard; nothing for this one.
    pub(super) links: Vec<Option<Link>>,
    /// How long another shard may be silent.
    pub(super) patience: Duration,
}

impl Mesh {
    fn send(&mut self, shard: usize, message: &[u8]) -> Result<()> {
        match &mut self.links[shard] {
            Some(link) => (link.send)(message).map_err(|reason| gone(shard, &reason)),
            None => Ok(()),
        }
    }

    fn receive(&mut self, shard: usize, cancel: &Cancel) -> Result<Vec<u8>> {
        let Some(link) = &self.links[shard] else {
            return Ok(Vec::new());
        };
        let start = Instant::now();
        loop {
            match link.received.recv_timeout(LOOK) {
                Ok(message) => return message.map_err(|reason| gone(shard, &reason)),
                Err(RecvTimeoutError::Disconnected) => return Err(gone(shard, "it has ended")),
                Err(RecvTimeoutError::Timeout) if cancel.is_raised() => return Err(Error::Cancelled),
                Err(RecvTimeoutError::Timeout) if start.elapsed() >= self.patience => {
                    let silent = format!("it was silent for {} s", self.patience.as_secs());
                    return Err(gone(shard, &silent));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Exchange for Mesh {
    fn index(&self) -> usize {
        self.index
    }

    fn shards(&self) -> usize {
        self.links.len()
    }

    fn all_gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Vec<Vec<u8>>> {
        let shards = self.links.len();
        // Each shard begins with the one behind it, so that not all talk to the same one first.
        for step in 1..shards {
            self.send((self.index + step) % shards, mine)?;
        }
        let mut all = vec![Vec::new(); shards];
        all[self.index] = mine.to_vec();
        for step in 1..shards {
            let shard = (self.index + shards - step) % shards;
            all[shard] = self.receive(shard, cancel)?;
        }
        Ok(all)
    }

    fn gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Option<Vec<Vec<u8>>>> {
        if self.index > 0 {
            self.send(0, mine)?;
            return Ok(None);
        }
        let mut all = vec![mine.to_vec()];
        for shard in 1..self.links.len() {
            all.push(self.receive(shard, cancel)?);
        }
        Ok(Some(all))
    }
}

fn gone(shard: usize, reason: &str) -> Error {
    Error::Exchange(format!("shard {shard} is gone: {reason}"))
}

/// A shard that is a thread of this process.
pub struct LocalExchange(Mesh);

/// Shards of one process, each for a thread of its own.
pub fn local_group(shards: usize) -> Vec<LocalExchange> {
    let channels = |_| (0..shards).map(|_| mpsc::channel()).unzip();
    // By sender, then by receiver.
    let (senders, receivers): (Vec<Vec<Sender<_>>>, Vec<Vec<_>>) = (0..shards).map(channels).unzip();
    let mut receivers: Vec<Vec<Option<Receiver<_>>>> = receivers
        .into_iter()
        .map(|row| row.into_iter().map(Some).collect())
        .collect();
    let group = senders.into_iter().enumerate().map(|(index, to)| {
        let links = to.into_iter().enumerate().map(|(other, sender)| {
            let received = receivers[other][index].take()?;
            (other != index).then(|| Link {
                send: Box::new(move |message: &[u8]| {
                    let sent = sender.send(Ok(message.to_vec()));
                    sent.map_err(|_| "it has ended".to_owned())
                }),
                received,
            })
        });
        LocalExchange(Mesh {
            index,
            links: links.collect(),
            patience: Duration::MAX,
        })
    });
    group.collect()
}

impl Exchange for LocalExchange {
    fn index(&self) -> usize {
        self.0.index
    }

    fn shards(&self) -> usize {
        self.0.links.len()
    }

    fn all_gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Vec<Vec<u8>>> {
        self.0.all_gather(mine, cancel)
    }

    fn gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Option<Vec<Vec<u8>>>> {
        self.0.gather(mine, cancel)
    }
}
