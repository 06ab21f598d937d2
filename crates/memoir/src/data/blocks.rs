//! Cuts a stream of bytes into blocks of whole records, so that blocks can be parsed apart from each other.

use super::quotes::QuoteScanner;
use super::settle::{Settled, Settling};
use super::source::OpenSource;
use crate::{Error, Result};

/// Longest record: a stream without line ends must not fill the memory.
const MAX_RECORD: usize = 1 << 28;

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// What ends a record.
pub(super) enum RecordEnds {
    /// Every line end.
    Lines,
    /// Every line end outside quotes.
    Quoted(QuoteScanner),
}

impl RecordEnds {
    /// Goes on in `block` at `from`, in a record that begins at `record`: one past the last end of a record,
    /// or `record`.
    fn last_in(&mut self, block: &[u8], from: usize, record: usize) -> usize {
        match self {
            Self::Lines => memchr::memrchr(b'\n', &block[from..]).map_or(record, |end| from + end + 1),
            Self::Quoted(scanner) => scanner.last_record_end(block, from, record),
        }
    }
}

/// Reads blocks of whole records; the last byte of each block is a line end.
pub(super) struct BlockReader {
    source: OpenSource,
    settling: Settling,
    /// What ends records, when that is settled.
    ends: Option<RecordEnds>,
    /// What the source is, when that is settled.
    pub(super) settled: Option<Settled>,
    size: usize,
    /// What follows the last whole record of the block before.
    rest: Vec<u8>,
    started: bool,
    finished: bool,
}

impl BlockReader {
    /// Reads `source` in blocks of about `size` bytes.
    pub(super) fn new(source: OpenSource, settling: Settling, size: usize) -> Self {
        Self {
            source,
            settling,
            ends: None,
            settled: None,
            size: size.max(1),
            rest: Vec::new(),
            started: false,
            finished: false,
        }
    }

    /// The next block, or `None` at the end. Where data comes in slowly, a block is what has come so far.
    /// Its memory is that of `block`, whose content does not matter.
    pub(super) fn next_block(&mut self, mut block: Vec<u8>) -> Result<Option<Vec<u8>>> {
        if self.finished {
            return Ok(None);
        }
        block.clear();
        block.append(&mut self.rest);
        // What is left of the block before has been searched for record ends.
        let (mut whole, mut searched) = (0, block.len());
        loop {
            let start = block.len();
            let room = if start < self.size {
                self.size - start
            } else {
                start
            };
            block.resize(start + room, 0);
            let count = self.source.read(&mut block[start..])?;
            block.truncate(start + count);
            let at_end = count == 0;
            if !self.started && !self.skip_mark(&mut block, at_end) {
                continue;
            }
            if let Some(ends) = self.record_ends(&block, at_end)? {
                whole = ends.last_in(&block, searched, whole);
                searched = block.len();
            }
            if at_end {
                self.finished = true;
                if block.last().is_some_and(|&byte| byte != b'\n') {
                    block.push(b'\n');
                }
                return Ok((!block.is_empty()).then_some(block));
            }
            if whole > 0 && (block.len() >= self.size || !self.source.patient) {
                self.rest.extend_from_slice(&block[whole..]);
                block.truncate(whole);
                return Ok(Some(block));
            }
            if block.len() > MAX_RECORD {
                return Err(Error::input(
                    &self.source.name,
                    format!(
                        "a row is longer than {} MiB; expected line ends between rows",
                        MAX_RECORD >> 20
                    ),
                ));
            }
        }
    }

    /// What ends records, as soon as `head`, which then is the first block, tells it.
    fn record_ends(&mut self, head: &[u8], at_end: bool) -> Result<Option<&mut RecordEnds>> {
        if self.ends.is_none() && !(at_end && head.is_empty()) {
            self.settled = self.settling.settle(head, at_end)?;
            self.ends = self.settled.map(Settled::record_ends);
        }
        Ok(self.ends.as_mut())
    }

    /// Removes a byte-order mark in front. `false` if more bytes are needed to tell.
    fn skip_mark(&mut self, head: &mut Vec<u8>, at_end: bool) -> bool {
        let may_become = |mark: &[u8]| mark.len() > head.len() && mark.starts_with(head);
        if !at_end && may_become(UTF8_MARK) {
            return false;
        }
        if head.starts_with(UTF8_MARK) {
            head.drain(..UTF8_MARK.len());
        }
        self.started = true;
        true
    }
}
