//! What an Arrow file claims to hold, compared with what it can hold before anything is allocated for it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, CompressionType, Message, RecordBatch, root_as_footer, root_as_message};

/// What the last bytes of a file are: the length of the footer and the magic.
const FILE_END: u64 = 10;

/// What is in front of a message, except in old files.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Refuses a file whose parts claim to be larger than it is, or larger than any compression makes them.
pub(super) fn check(file: &mut File, has_footer: bool) -> Result<(), String> {
    let size = file.metadata().map_err(|reason| reason.to_string())?.len();
    let mut claims = Claims { file, size };
    if has_footer {
        claims.check_file()
    } else {
        claims.check_stream()
    }
}

struct Claims<'f> {
    file: &'f mut File,
    size: u64,
}

impl Claims<'_> {
    fn check_file(&mut self) -> Result<(), String> {
        let end = self.bytes(self.size.saturating_sub(FILE_END)..self.size)?;
        let end = end.try_into().map_err(|_| "the file is cut off")?;
        let length = read_footer_length(end).map_err(|reason| reason.to_string())? as u64;
        let footer_end = self.size - FILE_END;
        let footer = self.bytes(footer_end.checked_sub(length).ok_or("the file is cut off")?..footer_end)?;
        let footer = root_as_footer(&footer).map_err(|reason| format!("the footer is damaged: {reason}"))?;
        let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches());
        for block in blocks.flatten() {
            self.check_block(block)?;
        }
        Ok(())
    }

    fn check_block(&mut self, block: &Block) -> Result<(), String> {
        let lengths = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
        let [offset, metadata, body] = lengths.map(u64::try_from);
        let outside = |_| "a block lies outside of the file";
        let (offset, metadata) = (offset.map_err(outside)?, metadata.map_err(outside)?);
        let body_start = offset.saturating_add(metadata);
        let body = body_start..body_start.saturating_add(body.map_err(outside)?);
        self.check_inside(&body)?;
        let Some(message) = self.message_at(offset)? else {
            return Err("a block of the file is empty".into());
        };
        let bytes = self.bytes(message)?;
        self.check_message(&bytes, &body)
    }

    fn check_stream(&mut self) -> Result<(), String> {
        let mut at = 0;
        while let Some(place) = self.message_at(at)? {
            let bytes = self.bytes(place.clone())?;
            let length = message(&bytes)?.bodyLength();
            let length = u64::try_from(length).map_err(|_| "a block has a negative length")?;
            let body = place.end..place.end.saturating_add(length);
            self.check_inside(&body)?;
            self.check_message(&bytes, &body)?;
            at = body.end;
        }
        Ok(())
    }

    /// The place of a message whose length is at `at`; nothing at the end of a stream.
    fn message_at(&mut self, at: u64) -> Result<Option<Range<u64>>, String> {
        if at + 4 > self.size {
            return Ok(None);
        }
        let mut start = at + 4;
        let mut length = self.bytes(at..start)?;
        if length == CONTINUATION {
            length = self.bytes(start..start + 4)?;
            start += 4;
        }
        let length = length.try_into().map(i32::from_le_bytes);
        let length =
            u64::try_from(length.unwrap_or_default()).map_err(|_| "a block has a negative length")?;
        Ok((length > 0).then_some(start..start + length))
    }

    /// The buffers of a batch of rows, whose compression says how long they are without it.
    fn check_message(&mut self, bytes: &[u8], body: &Range<u64>) -> Result<(), String> {
        let message = message(bytes)?;
        let Some(batch) = batch(&message) else {
            return Ok(());
        };
        let Some(compression) = batch.compression() else {
            return Ok(());
        };
        // LZ4 makes at most 255 bytes of one; a block of zstd makes 128 KB of four.
        let largest_ratio = if compression.codec() == CompressionType::LZ4_FRAME {
            1 << 8
        } else {
            1 << 15
        };
        for buffer in batch
            .buffers()
            .into_iter()
            .flatten()
            .filter(|buffer| buffer.length() > 0)
        {
            let (Ok(offset), length) = (u64::try_from(buffer.offset()), buffer.length() as u64) else {
                return Err("a column lies outside of the file".into());
            };
            let start = body.start.saturating_add(offset);
            let claimed = self
                .bytes(start..start.saturating_add(8))?
                .try_into()
                .map(i64::from_le_bytes);
            if claimed.is_ok_and(|claimed| claimed > length.saturating_mul(largest_ratio) as i64) {
                return Err(format!("a column of {length} bytes claims to hold far more"));
            }
        }
        Ok(())
    }

    fn check_inside(&self, place: &Range<u64>) -> Result<(), String> {
        if place.end <= self.size {
            Ok(())
        } else {
            Err(format!(
                "the file is damaged: a block ends at byte {} and the file at {}",
                place.end, self.size
            ))
        }
    }

    /// The bytes of a place inside of the file.
    fn bytes(&mut self, place: Range<u64>) -> Result<Vec<u8>, String> {
        self.check_inside(&place)?;
        let mut bytes = vec![0; (place.end - place.start) as usize];
        let read = self
            .file
            .seek(SeekFrom::Start(place.start))
            .and_then(|_| self.file.read_exact(&mut bytes));
        read.map(|()| bytes).map_err(|reason| reason.to_string())
    }
}

fn message(bytes: &[u8]) -> Result<Message<'_>, String> {
    root_as_message(bytes).map_err(|reason| format!("a block is damaged: {reason}"))
}

fn batch<'m>(message: &Message<'m>) -> Option<RecordBatch<'m>> {
    let dictionary = message
        .header_as_dictionary_batch()
        .and_then(|dictionary| dictionary.data());
    message.header_as_record_batch().or(dictionary)
}
