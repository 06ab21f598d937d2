//! One block of rows as bytes. Classes and words have numbers of their own in each block; the block's maps,
//! which the shard holds in front of it, turn them into those of the whole set.

use half::f16;

use super::bytes::{Damaged, Taken, put_below, put_f32, put_names, put_u16, put_u32};
use crate::data::Parsed;
use crate::data::parsed::Texts;
use crate::dataset::{ClassNames, LabelSets};
use crate::shards::{Told, read_bytes, write_bytes};
use crate::sparse::Rows;

/// The words of a block's texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StoredWords {
    /// Where each text ends in `words`.
    pub(crate) ends: Vec<usize>,
    /// The words' numbers in the whole set.
    pub(crate) words: Vec<u32>,
}

/// A block that is ready to be written.
#[derive(Debug, Default)]
pub(crate) struct EncodedBlock {
    pub(super) payload: Vec<u8>,
    /// Length of the payload before it was compressed.
    pub(super) plain_bytes: usize,
    pub(super) rows: usize,
    pub(super) labels: u64,
    pub(super) weights: bool,
    pub(super) entries: u64,
    pub(super) width: usize,
    /// Whether no value is negative or broken.
    pub(super) counts: bool,
}

impl Told for EncodedBlock {
    fn write(&self, message: &mut Vec<u8>) {
        write_bytes(&self.payload, message);
        let sizes = [self.plain_bytes, self.rows, self.width];
        let totals = [self.labels as usize, self.entries as usize];
        let flags = [usize::from(self.weights), usize::from(self.counts)];
        for number in sizes.into_iter().chain(totals).chain(flags) {
            (number as u32).write(message);
        }
    }

    fn read(message: &mut &[u8]) -> Option<Self> {
        Some(Self {
            payload: read_bytes(message)?.to_vec(),
            plain_bytes: u32::read(message)? as usize,
            rows: u32::read(message)? as usize,
            width: u32::read(message)? as usize,
            labels: u32::read(message)?.into(),
            entries: u32::read(message)?.into(),
            weights: u32::read(message)? != 0,
            counts: u32::read(message)? != 0,
        })
    }
}

/// What is in a block, by bits.
const SEVERAL_LABELS: u32 = 1;
const WEIGHTS: u32 = 2;
const TEXTS: u32 = 4;

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueForm {
    /// Not at all: each is 1.
    Ones = 0,
    /// As whole numbers of 16 bits.
    Whole = 1,
    /// As floating-point numbers of 16 bits.
    Half = 2,
    /// As floating-point numbers of 32 bits.
    Single = 3,
}

impl ValueForm {
    /// The smallest form that loses nothing. Bits are compared: -0 is not 0.
    fn of(values: &[f32]) -> Self {
        let same = |value: f32, stored: f32| value.to_bits() == stored.to_bits();
        if values.iter().all(|&value| value == 1.0) {
            Self::Ones
        } else if values.iter().all(|&v| same(v, f32::from(v as u16))) {
            Self::Whole
        } else if values.iter().all(|&v| same(v, f16::from_f32(v).to_f32())) {
            Self::Half
        } else {
            Self::Single
        }
    }
}

/// The rows of `parsed` as bytes, with the words of their texts: where each text ends in the words, the
/// words, and how many different ones there are.
pub(crate) fn encode(
    parsed: &Parsed,
    words: Option<(&[usize], &[u32], usize)>,
    compress: bool,
) -> EncodedBlock {
    let mut bytes = Vec::new();
    let texts = words.is_some();
    let several = !parsed.labels.is_single();
    let flag = |bit: u32, is_set: bool| if is_set { bit } else { 0 };
    let width = parsed.width.max(parsed.rows.width());
    put_u32(
        &mut bytes,
        [
            flag(SEVERAL_LABELS, several) | flag(WEIGHTS, parsed.weights.is_some()) | flag(TEXTS, texts),
            width as u32,
        ],
    );
    if several {
        put_u32(&mut bytes, parsed.labels.iter().map(|labels| labels.len() as u32));
    }
    put_below(
        &mut bytes,
        parsed.names.len(),
        parsed.labels.iter().flatten().copied(),
    );
    if let Some(weights) = &parsed.weights {
        put_f32(&mut bytes, weights.iter().copied());
    }
    let mut block = EncodedBlock {
        rows: parsed.labels.len(),
        labels: parsed.labels.total() as u64,
        weights: parsed.weights.is_some(),
        width,
        counts: true,
        ..EncodedBlock::default()
    };
    if let Some((ends, words, different)) = words {
        put_names(&mut bytes, parsed.texts.iter());
        let starts = [0].iter().chain(ends);
        put_u32(
            &mut bytes,
            ends.iter().zip(starts).map(|(end, start)| (end - start) as u32),
        );
        put_below(&mut bytes, different, words.iter().copied());
    } else {
        let (rows, values) = (&parsed.rows, parsed.rows.values());
        block.entries = values.len() as u64;
        block.counts = values.iter().all(|&value| value >= 0.0 && value.fract() == 0.0);
        put_u32(
            &mut bytes,
            rows.offsets().windows(2).map(|ends| (ends[1] - ends[0]) as u32),
        );
        put_u32(&mut bytes, rows.indices().iter().copied());
        let form = ValueForm::of(values);
        put_u32(&mut bytes, [form as u32]);
        match form {
            ValueForm::Ones => {}
            ValueForm::Whole => put_u16(&mut bytes, values.iter().map(|&value| value as u16)),
            ValueForm::Half => put_u16(&mut bytes, values.iter().map(|&v| f16::from_f32(v).to_bits())),
            ValueForm::Single => put_f32(&mut bytes, values.iter().copied()),
        }
    }
    block.plain_bytes = bytes.len();
    // Compressing into memory fails for want of it alone; the plain bytes are as good.
    let smaller = compress
        .then(|| zstd::bulk::compress(&bytes, COMPRESSION).ok())
        .flatten();
    block.payload = smaller
        .filter(|smaller| smaller.len() < bytes.len())
        .unwrap_or(bytes);
    block
}

/// Level of compression: higher ones cost much time and save little.
const COMPRESSION: i32 = 3;

/// Where a block is and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockEntry {
    pub(super) offset: u64,
    pub(super) rows: u32,
    /// Classes and words of its own.
    pub(super) classes: u32,
    pub(super) words: u32,
    pub(super) stored_bytes: u32,
    pub(super) plain_bytes: u32,
}

/// Rebuilds what was parsed, from the bytes of a block: its maps and its payload, of which texts are left
/// out unless wanted. Classes and the number of words are those of the whole set.
pub(super) fn decode(
    bytes: &[u8],
    entry: &BlockEntry,
    (classes, words): (&ClassNames, usize),
    texts: bool,
    parsed: &mut Parsed,
) -> Result<(), Damaged> {
    let mut taken = Taken::new(bytes);
    for class in taken.u32s(entry.classes as usize)? {
        if class as usize >= classes.len() {
            return Err(Damaged);
        }
        parsed.names.intern(classes.name(class));
    }
    let word_numbers: Vec<u32> = taken.u32s(entry.words as usize)?.collect();
    if parsed.names.len() != entry.classes as usize || word_numbers.iter().any(|&w| w as usize >= words) {
        return Err(Damaged);
    }
    let stored = taken.bytes(entry.stored_bytes as usize)?;
    if entry.stored_bytes == entry.plain_bytes {
        return decode_payload(stored, entry, &word_numbers, texts, parsed);
    }
    // A damaged file may claim more than there is memory for.
    let mut plain = Vec::new();
    plain
        .try_reserve_exact(entry.plain_bytes as usize)
        .map_err(|_| Damaged)?;
    zstd::bulk::Decompressor::new()
        .and_then(|mut decompressor| decompressor.decompress_to_buffer(stored, &mut plain))
        .map_err(|_| Damaged)?;
    decode_payload(&plain, entry, &word_numbers, texts, parsed)
}

fn decode_payload(
    bytes: &[u8],
    entry: &BlockEntry,
    word_numbers: &[u32],
    texts: bool,
    parsed: &mut Parsed,
) -> Result<(), Damaged> {
    let (rows, classes) = (entry.rows as usize, entry.classes as usize);
    let mut taken = Taken::new(bytes);
    let (flags, width) = (taken.u32()?, taken.u32()? as usize);
    parsed.labels = if flags & SEVERAL_LABELS > 0 {
        let ends = taken.ends(rows)?;
        let labels = taken.below(classes, ends.last().copied().unwrap_or(0))?;
        let mut sets = LabelSets::new();
        let mut start = 0;
        for end in ends {
            sets.push(labels[std::mem::replace(&mut start, end)..end].iter().copied());
        }
        sets
    } else {
        let mut sets = LabelSets::new();
        for label in taken.below(classes, rows)? {
            sets.push([label]);
        }
        sets
    };
    if flags & WEIGHTS > 0 {
        let weights: Vec<f32> = taken.f32s(rows)?.collect();
        let sound = weights.iter().all(|weight| weight.is_finite() && *weight > 0.0);
        parsed.weights = Some(sound.then_some(weights).ok_or(Damaged)?);
    }
    parsed.row_lines.extend(0..entry.rows);
    parsed.width = width;
    if flags & TEXTS > 0 {
        let ends = taken.ends(rows)?;
        let text = taken.bytes(ends.last().copied().unwrap_or(0))?;
        if texts {
            let text = std::str::from_utf8(text).map_err(|_| Damaged)?;
            if ends.iter().any(|&end| !text.is_char_boundary(end)) {
                return Err(Damaged);
            }
            parsed.texts = Texts::new(text.to_owned(), ends);
        }
        let ends = taken.ends(rows)?;
        let words = taken.below(word_numbers.len(), ends.last().copied().unwrap_or(0))?;
        parsed.words = Some(StoredWords {
            ends,
            words: words.iter().map(|&word| word_numbers[word as usize]).collect(),
        });
        return Ok(());
    }
    let mut offsets = vec![0];
    offsets.extend(taken.ends(rows)?);
    let entries = offsets[rows];
    let indices: Vec<u32> = taken.u32s(entries)?.collect();
    let rises = |ends: &[usize]| indices[ends[0]..ends[1]].is_sorted_by(|a, b| a < b);
    if !offsets.windows(2).all(rises) || indices.iter().any(|&index| index as usize >= width) {
        return Err(Damaged);
    }
    let values: Vec<f32> = match taken.u32()? {
        form if form == ValueForm::Ones as u32 => vec![1.0; entries],
        form if form == ValueForm::Whole as u32 => taken.u16s(entries)?.map(f32::from).collect(),
        form if form == ValueForm::Half as u32 => {
            let halves = taken.u16s(entries)?;
            halves.map(|bits| f16::from_bits(bits).to_f32()).collect()
        }
        form if form == ValueForm::Single as u32 => taken.f32s(entries)?.collect(),
        _ => return Err(Damaged),
    };
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Damaged);
    }
    parsed.rows = Rows::from_parts(offsets, indices, values, width);
    Ok(())
}

#[cfg(test)]
mod tests;
