//! Prepared texts that stay on disk while features are made of them. Their words are gone through several
//! times; at last each text is written as counts of its features, and what follows is as with vectors.

use std::collections::VecDeque;
use std::path::Path;

use super::PrepOptions;
use super::on_disk::RawOnDisk;
use super::scratch::ScratchFolder;
use super::text_choice::choose_params;
use crate::data::prepared::{EncodedBlock, PreparedSet, SetWriter, StoredWords, encode};
use crate::data::{Content, Parsed};
use crate::dataset::{ClassNames, LabelSets};
use crate::shards::{Turns, is_own_block};
use crate::text::{FeatureChoice, Input, TextBlock, TextCounter, WordSource};
use crate::{Result, Session};

/// Words of the texts that are written as one block, about: blocks that are read back are in memory as a
/// whole, several at a time.
const WORDS_PER_BLOCK: usize = 1 << 15;

/// Size of the files of rows.
const SHARD_BYTES: u64 = 1 << 26;

/// What a block takes while it is read and rows are made of it: times its stored bytes.
const BLOCK_COPIES: u64 = 4;

/// A prepared set of texts, of which words alone are read.
struct TextsOnDisk {
    set: PreparedSet,
    words: usize,
}

impl WordSource for TextsOnDisk {
    fn texts(&self) -> usize {
        self.set.manifest.rows as usize
    }

    fn words(&self) -> usize {
        self.words
    }

    fn memory(&self) -> usize {
        0
    }

    fn pass<T: Send>(
        &self,
        work: impl Fn(TextBlock<'_>) -> T + Sync,
        mut take: impl FnMut(TextBlock<'_>, T) -> Result<()>,
        session: &Session<'_>,
    ) -> Result<()> {
        self.set.run(
            |parsed| work(texts(parsed)),
            |parsed, result, _| take(texts(parsed), result),
            session,
        )
    }
}

fn texts(parsed: &Parsed) -> TextBlock<'_> {
    let none = TextBlock::new(parsed.number, &[], &[]);
    let words = parsed.words.as_ref();
    words.map_or(none, |words| {
        TextBlock::new(parsed.number, &words.ends, &words.words)
    })
}

/// Chooses the features of the texts in `set` and writes each text as counts of them.
pub(super) fn rows_of_texts(
    mut set: PreparedSet,
    prep: &PrepOptions,
    session: &Session<'_>,
) -> Result<RawOnDisk> {
    let words = std::mem::take(&mut set.words);
    set.without_texts = true;
    let (labels, number) = labels_and_words(&set, prep.text.automatic, session)?;
    let in_flight = BLOCK_COPIES * 2 * session.threads() as u64 * set.largest_block();
    let held = 2 * set.classes.bytes() + 4 * labels.total() as u64 + in_flight;
    let mut counter = TextCounter::of_source(TextsOnDisk { set, words: number });
    counter.know(words)?;
    let params = choose_params(&counter, &prep.text, &labels, None, prep, session)?;
    drop(labels);
    let choice = counter.choose_features(&params, session)?;
    let set = &counter.source().set;
    let folder = ScratchFolder::beside(set)?;
    let rows = folder.path().join("rows");
    write_rows(set, &choice, &rows, session)?;
    let bytes_taken = held + (counter.memory() + choice.memory()) as u64;
    let mut features = choice.without_rows();
    Ok(RawOnDisk {
        rows: PreparedSet::open(&rows)?,
        folder: Some(folder),
        layout: features.take_layout(),
        input: Input::Text(Box::new(features.pipeline()?)),
        bytes_taken,
    })
}

/// The labels of all texts, if they are `wanted`, and the number of their words.
fn labels_and_words(set: &PreparedSet, wanted: bool, session: &Session<'_>) -> Result<(LabelSets, usize)> {
    let (mut classes, mut labels, mut words) = (ClassNames::new(), LabelSets::new(), 0);
    if wanted {
        labels.make_room(set.manifest.rows as usize, set.manifest.labels as usize);
    }
    set.run(
        |_| (),
        |parsed, (), _| {
            words += parsed.words.as_ref().map_or(0, |words| words.words.len());
            if wanted {
                let names = parsed.names.iter();
                let numbers: Vec<u32> = names.map(|name| classes.intern(name)).collect();
                for of_text in parsed.labels.iter() {
                    labels.push(of_text.iter().map(|&label| numbers[label as usize]));
                }
            }
            Ok(())
        },
        session,
    )?;
    Ok((labels, words))
}

/// Writes the texts of `set` to `folder`, as counts of the features in `choice`.
fn write_rows(
    set: &PreparedSet,
    choice: &FeatureChoice<'_>,
    folder: &Path,
    session: &Session<'_>,
) -> Result<()> {
    let mut writer = SetWriter::create(folder, Content::Vectors, SHARD_BYTES)?;
    writer.manifest.promised_features = Some(choice.features() as u64);
    writer
        .manifest
        .guessed_label
        .clone_from(&set.manifest.guessed_label);
    let write = |blocks: Vec<EncodedBlock>, names: &mut VecDeque<ClassNames>, writer: &mut SetWriter| {
        let names = names.pop_front().unwrap_or_default();
        for block in &blocks {
            writer.add(block, &names, |_| Vec::new())?;
        }
        if writer.is_full() {
            writer.commit()?;
        }
        Ok(())
    };
    // Where work is shared out, blocks wait for what others have made of theirs.
    let (mut turns, mut names) = (Turns::new(1, session), VecDeque::new());
    set.run(
        |parsed| is_own_block(parsed.number, session).then(|| blocks_of(parsed, choice)),
        |parsed, blocks, _| {
            names.push_back(std::mem::take(&mut parsed.names));
            turns.add(blocks, |blocks| write(blocks, &mut names, &mut writer))
        },
        session,
    )?;
    turns.finish(|blocks| write(blocks, &mut names, &mut writer))?;
    writer.manifest.complete = true;
    writer.commit()
}

/// The texts of a block as blocks of rows.
fn blocks_of(parsed: &mut Parsed, choice: &FeatureChoice<'_>) -> Vec<EncodedBlock> {
    let StoredWords { ends, words } = parsed.words.take().unwrap_or_default();
    let mut blocks = Vec::new();
    let (mut first, mut start) = (0, 0);
    while first < ends.len() {
        let more = ends[first + 1..].partition_point(|end| end - start <= WORDS_PER_BLOCK);
        let last = first + more;
        let own: Vec<usize> = ends[first..=last].iter().map(|end| end - start).collect();
        let mut part = Parsed::default();
        part.rows = choice.rows(TextBlock::new(parsed.number, &own, &words[start..ends[last]]));
        for row in first..=last {
            part.labels.push(parsed.labels.row(row).iter().copied());
        }
        part.weights = parsed.weights.as_ref().map(|all| all[first..=last].to_vec());
        // Numbers of labels are those of the whole block.
        part.names = std::mem::take(&mut parsed.names);
        blocks.push(encode(&part, None, false));
        parsed.names = part.names;
        (first, start) = (last + 1, ends[last]);
    }
    blocks
}
