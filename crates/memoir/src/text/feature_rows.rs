//! Texts as rows: how often each of the chosen features is in them.

use super::features::{FeatureChoice, GONE};
use super::word_source::{TextBlock, WordSource};
use crate::shards::{Told, Turns};
use crate::sparse::Rows;
use crate::{Error, Result, Session};

/// Blocks of texts whose features a shard tells in one message.
const BLOCKS_PER_MESSAGE: usize = 8;

impl FeatureChoice<'_> {
    /// Texts as counts of the features.
    pub(crate) fn rows(&self, texts: TextBlock<'_>) -> Rows {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut found = Vec::new();
        for text in texts.iter() {
            found.clear();
            self.candidates.of_text(text, &mut found);
            for candidate in &mut found {
                *candidate = self.numbers[*candidate as usize];
            }
            found.sort_unstable();
            for run in found.chunk_by(|a, b| a == b).filter(|run| run[0] != GONE) {
                indices.push(run[0]);
                values.push(run.len() as f32);
            }
            offsets.push(indices.len());
        }
        Rows::from_parts(offsets, indices, values, self.vocabulary.len())
    }

    /// All texts of `source` as counts of the features.
    pub(super) fn all_rows(&self, source: &impl WordSource, session: &Session<'_>) -> Result<Rows> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut take = |Counts(part): Counts| {
            if part.width() > self.features() {
                return Err(Error::Exchange(
                    "a text came with a feature that there is not".to_owned(),
                ));
            }
            // Reserved for about all that is to come: arrays that double would take twice the memory for a
            // while.
            if indices.len() + part.entries() > indices.capacity() {
                let done = offsets.len() - 1 + part.len();
                let so_far = indices.len() + part.entries();
                let all = (so_far as f64 * source.texts() as f64 / done as f64 * 1.02) as usize;
                indices.reserve_exact(all - indices.len());
                values.reserve_exact(all - values.len());
            }
            let before = indices.len();
            indices.extend_from_slice(part.indices());
            values.extend_from_slice(part.values());
            offsets.extend(part.offsets()[1..].iter().map(|end| before + end));
            Ok(())
        };
        let mut turns = Turns::new(BLOCKS_PER_MESSAGE, session);
        source.pass(
            |texts| texts.is_own(session).then(|| Counts(self.rows(texts))),
            |_, part| turns.add(part, &mut take),
            session,
        )?;
        turns.finish(&mut take)?;
        indices.shrink_to_fit();
        values.shrink_to_fit();
        Ok(Rows::from_parts(offsets, indices, values, self.vocabulary.len()))
    }
}

/// Texts as counts of features.
struct Counts(Rows);

impl Told for Counts {
    fn write(&self, message: &mut Vec<u8>) {
        (self.0.len() as u32).write(message);
        for row in self.0.iter() {
            (row.len() as u32).write(message);
            let mut next = 0;
            for (feature, count) in row.iter() {
                (feature - next).write(message);
                (count as u32).write(message);
                next = feature + 1;
            }
        }
    }

    fn read(message: &mut &[u8]) -> Option<Self> {
        let (mut rows, mut entries) = (Rows::new(), Vec::new());
        for _ in 0..u32::read(message)? {
            let mut next = 0u32;
            for _ in 0..u32::read(message)? {
                let feature = next.checked_add(u32::read(message)?)?;
                entries.push((feature, u32::read(message)? as f32));
                next = feature.checked_add(1)?;
            }
            rows.push_unsorted(&mut entries);
        }
        Some(Self(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_shards_tell_each_other() {
        let mut rows = Rows::new();
        for mut entries in [
            vec![(0, 1.0), (5, 3.0), (70_000, 200.0)],
            vec![],
            vec![(u32::MAX - 1, 1.0)],
        ] {
            rows.push_unsorted(&mut entries);
        }
        let mut message = Vec::new();
        Counts(rows.clone()).write(&mut message);
        for length in 0..message.len() {
            assert!(Counts::read(&mut &message[..length]).is_none(), "{length}");
        }
        let mut rest = &message[..];
        assert_eq!(Counts::read(&mut rest).unwrap().0, rows);
        assert!(rest.is_empty());
    }
}
