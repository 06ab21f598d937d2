//! Reads blocks ahead in a thread of its own, so that reading, decompressing and waiting for input go on
//! while other blocks are parsed, and so that a run can be stopped while its input is silent.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::blocks::BlockReader;
use super::settle::{Settled, Settling};
use super::source::Source;
use crate::{Error, Result, Session};

/// How often a wait for input looks whether the run was stopped.
const WAIT: Duration = Duration::from_millis(50);

/// A block of whole records.
pub(super) struct RawBlock {
    pub(super) bytes: Vec<u8>,
    /// Bytes of the source, as stored, that had been read when the block was complete.
    pub(super) position: u64,
}

/// The blocks of a source in their order.
pub(super) struct Feed {
    /// `None` is the end: a thread that was lost must not look like it.
    blocks: Receiver<Result<Option<RawBlock>>>,
    name: String,
    /// Whether the end, or an error, was handed on.
    is_over: Cell<bool>,
    /// Takes blocks back for their memory.
    used: Sender<Vec<u8>>,
    told: Arc<Told>,
}

/// What the reading thread tells besides blocks.
#[derive(Default)]
struct Told {
    /// Size of the source in bytes as stored, or 0 if unknown.
    size: AtomicU64,
    /// What the source is, from the first block on.
    settled: OnceLock<Settled>,
    /// The encoding, if it is not UTF-8 and nobody named it.
    encoding: OnceLock<&'static str>,
}

impl Feed {
    /// Begins to read `source`, at most `ahead` blocks in advance, of about `block_size` bytes if that is
    /// given. Problems come up with [`Feed::next_block`].
    pub(super) fn start(
        source: Source,
        settling: Settling,
        block_size: Option<usize>,
        ahead: usize,
    ) -> Result<Self> {
        let (sender, blocks) = sync_channel(ahead);
        let (used, reusable) = channel();
        let told = Arc::new(Told::default());
        let tells = Arc::clone(&told);
        let name = source.name().to_owned();
        let cannot_start =
            |reason| Error::input(&name, format!("cannot start a thread to read it: {reason}"));
        std::thread::Builder::new()
            .name("memoir-read".to_owned())
            .spawn(move || {
                let outcome = read_all(source, settling, block_size, &tells, &sender, &reusable);
                // If nobody listens any more, nobody misses the message.
                drop(sender.send(outcome.map(|()| None)));
            })
            .map_err(cannot_start)?;
        Ok(Self {
            blocks,
            name,
            is_over: Cell::new(false),
            used,
            told,
        })
    }

    /// Waits for the next block; `None` at the end.
    pub(super) fn next_block(&self, session: &Session<'_>) -> Result<Option<RawBlock>> {
        while !self.is_over.get() {
            session.check()?;
            match self.blocks.recv_timeout(WAIT) {
                Ok(block) => return self.hand_on(block),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "the thread that read it failed; nothing of it is used";
                    return self.hand_on(Err(Error::input(&self.name, message)));
                }
            }
        }
        Ok(None)
    }

    /// The next block if it is there already.
    pub(super) fn ready_block(&self) -> Result<Option<RawBlock>> {
        self.blocks
            .try_recv()
            .map_or(Ok(None), |block| self.hand_on(block))
    }

    /// Takes down what came.
    fn hand_on(&self, block: Result<Option<RawBlock>>) -> Result<Option<RawBlock>> {
        self.is_over.set(!matches!(block, Ok(Some(_))));
        block
    }

    /// Gives a block back when it has been parsed, so that the next one needs no new memory.
    pub(super) fn give_back(&self, block: RawBlock) {
        // When everything has been read, nobody needs it.
        drop(self.used.send(block.bytes));
    }

    /// Size of the source in bytes as stored, or 0 if unknown (before the first block, too).
    pub(super) fn size(&self) -> u64 {
        self.told.size.load(Ordering::Relaxed)
    }

    /// The encoding that was recognised in the blocks so far, if it is not UTF-8.
    pub(super) fn encoding(&self) -> Option<&'static str> {
        self.told.encoding.get().copied()
    }

    /// What the source is; known when the first block is there.
    pub(super) fn settled(&self) -> Option<Settled> {
        self.told.settled.get().copied()
    }
}

/// Bytes of a block for a source of `size` bytes (0 if unknown): enough rows to be worth a task, but the
/// blocks in memory must stay small beside what becomes of a small file.
fn fitting_block_size(size: u64) -> usize {
    match size {
        0 => 1 << 18,
        known => (known / 64).clamp(1 << 15, 1 << 18) as usize,
    }
}

fn read_all(
    source: Source,
    settling: Settling,
    block_size: Option<usize>,
    told: &Told,
    sender: &SyncSender<Result<Option<RawBlock>>>,
    reusable: &Receiver<Vec<u8>>,
) -> Result<()> {
    let source = source.open(settling.options.encoding)?;
    let recognised = Arc::clone(&source.recognised);
    told.size.store(source.size, Ordering::Relaxed);
    let counter = Arc::clone(&source.position);
    let block_size = block_size.unwrap_or_else(|| fitting_block_size(source.size));
    let mut reader = BlockReader::new(source, settling, block_size);
    while let Some(bytes) = reader.next_block(reusable.try_recv().unwrap_or_default())? {
        if let Some(encoding) = recognised.get() {
            told.encoding.get_or_init(|| encoding);
        }
        if let Some(settled) = reader.settled {
            told.settled.get_or_init(|| settled);
        }
        let position = counter.load(Ordering::Relaxed);
        if sender.send(Ok(Some(RawBlock { bytes, position }))).is_err() {
            break;
        }
    }
    Ok(())
}
