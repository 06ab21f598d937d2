//! Checkpoints: the state of a long training in a file, so that a killed run can go on and end as if nothing
//! had happened.
//!
//! What follows from data, options and seed is made again; the file holds only what was learned since. It
//! says by fingerprints which data, options, seed and program it belongs to.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::{Error, Result};

/// First bytes of a checkpoint file.
const MAGIC: &[u8; 16] = b"memoir-resume-1\n";

/// Where checkpoints go, how often they are written, and whether training starts from one.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    path: PathBuf,
    every: Option<u64>,
    resume: bool,
}

impl Checkpoints {
    /// Checkpoints at `path`, written after `every` rows if that is given; a run that is to `resume` starts
    /// from the one there, if there is one.
    pub fn new(path: PathBuf, every: Option<u64>, resume: bool) -> Self {
        Self { path, every, resume }
    }

    /// Whether it is time to write one, so many rows after the last.
    pub fn is_due(&self, rows: u64) -> bool {
        self.every.is_some_and(|every| rows >= every)
    }

    /// Removes the checkpoint: the training that it is of has come to its end.
    pub fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(&self.path, "cannot remove", reason))
            }
            _ => Ok(()),
        }
    }

    /// Writes a checkpoint: beside the last one first, then in its place.
    pub fn save(&self, belongs_to: &[Fingerprint], state: &State<'_>) -> Result<()> {
        let mut bytes = MAGIC.to_vec();
        let mut put = |number: usize| bytes.extend_from_slice(&(number as u64).to_le_bytes());
        put(belongs_to.len());
        put(state.numbers.len());
        put(state.arrays.len());
        for fingerprint in belongs_to {
            put(fingerprint.value as usize);
        }
        for number in &state.numbers {
            put(*number as usize);
        }
        for array in &state.arrays {
            put(array.len());
        }
        for array in &state.arrays {
            bytes.extend_from_slice(array);
        }
        let checksum = xxh3_64(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        // Always the same name: what a kill in the middle leaves behind is overwritten by the next
        // checkpoint.
        let mut partial = self.path.clone().into_os_string();
        partial.push(".partial");
        let partial = Path::new(&partial);
        let write = || {
            let mut file = File::create(partial)?;
            file.write_all(&bytes)?;
            file.sync_data()?;
            fs::rename(partial, &self.path)
        };
        write().map_err(|reason| Error::io(&self.path, "cannot write the checkpoint", reason))
    }

    /// The checkpoint to start from, if there is one and it is asked for. Fails if it belongs to another
    /// training.
    pub fn load(&self, belongs_to: &[Fingerprint]) -> Result<Option<SavedState>> {
        if !self.resume {
            return Ok(None);
        }
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(reason) => return Err(Error::io(&self.path, "cannot read the checkpoint", reason)),
        };
        let invalid = |message: String| Error::input(self.path.display().to_string(), message);
        if !bytes.starts_with(MAGIC) {
            return Err(invalid(
                "is no checkpoint that this program has written".to_owned(),
            ));
        }
        let damaged = || invalid("is damaged; to start anew, leave the parameter `resume` out".to_owned());
        let (content, checksum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
        if xxh3_64(content).to_le_bytes() != *checksum {
            return Err(damaged());
        }
        let mut reader = Reader {
            rest: &content[MAGIC.len()..],
        };
        let [fingerprints, numbers, arrays] = [(); 3].map(|()| reader.number());
        let count = |count: Option<u64>| count.filter(|&count| count < 1 << 16).ok_or_else(damaged);
        let (fingerprints, numbers, arrays) = (count(fingerprints)?, count(numbers)?, count(arrays)?);
        let saved = reader.numbers(fingerprints).ok_or_else(damaged)?;
        if saved.len() != belongs_to.len() {
            return Err(damaged());
        }
        for (fingerprint, saved) in belongs_to.iter().zip(saved) {
            if fingerprint.value != saved {
                return Err(invalid(format!(
                    "cannot be resumed: it was written with {}; to start anew, leave the parameter `resume` out",
                    fingerprint.otherwise
                )));
            }
        }
        let numbers = reader.numbers(numbers).ok_or_else(damaged)?;
        let lengths = reader.numbers(arrays).ok_or_else(damaged)?;
        let arrays = lengths
            .into_iter()
            .map(|length| reader.bytes(length).map(<[u8]>::to_vec));
        let arrays: Option<Vec<Vec<u8>>> = arrays.collect();
        Ok(Some(SavedState {
            numbers,
            arrays: arrays.ok_or_else(damaged)?,
        }))
    }

    /// The error for a checkpoint whose content does not fit.
    pub fn misfit(&self) -> Error {
        Error::input(
            self.path.display().to_string(),
            "does not fit the training that it claims to be of; to start anew, leave the parameter `resume` out",
        )
    }
}

/// Something that a checkpoint belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Fingerprint {
    /// A hash of it.
    pub value: u64,
    /// What it means if the hash is another one (`other rows`).
    pub otherwise: &'static str,
}

/// What a checkpoint holds.
pub struct State<'a> {
    /// Whole numbers.
    pub numbers: Vec<u64>,
    /// Arrays as bytes.
    pub arrays: Vec<&'a [u8]>,
}

/// What a checkpoint held.
pub struct SavedState {
    /// Whole numbers.
    pub numbers: Vec<u64>,
    /// Arrays as bytes.
    pub arrays: Vec<Vec<u8>>,
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn numbers(&mut self, count: u64) -> Option<Vec<u64>> {
        (0..count).map(|_| self.number()).collect()
    }

    fn bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: [Fingerprint; 2] = [
        Fingerprint {
            value: 7,
            otherwise: "other rows",
        },
        Fingerprint {
            value: 9,
            otherwise: "another seed",
        },
    ];

    fn written() -> (tempfile::TempDir, Checkpoints) {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path().join("c"), Some(5), true);
        let state = State {
            numbers: vec![3, u64::MAX],
            arrays: vec![b"abc", b""],
        };
        checkpoints.save(&OF, &state).unwrap();
        (folder, checkpoints)
    }

    #[test]
    fn what_is_saved_is_loaded_until_it_is_removed() {
        let (folder, checkpoints) = written();
        let state = checkpoints.load(&OF).unwrap().unwrap();
        assert_eq!(state.numbers, [3, u64::MAX]);
        assert_eq!(state.arrays, [b"abc".to_vec(), Vec::new()]);
        let anew = Checkpoints::new(folder.path().join("c"), None, false);
        assert!(anew.load(&OF).unwrap().is_none());
        checkpoints.remove().unwrap();
        checkpoints.remove().unwrap();
        assert!(checkpoints.load(&OF).unwrap().is_none());
        assert!(checkpoints.is_due(5) && !checkpoints.is_due(4) && !anew.is_due(u64::MAX));
    }

    #[test]
    fn a_checkpoint_of_another_training_says_what_differs() {
        let (_folder, checkpoints) = written();
        let mut other = OF;
        other[1].value = 8;
        let complaint = checkpoints.load(&other).err().unwrap().to_string();
        assert!(
            complaint.ends_with(
                "c: cannot be resumed: it was written with another seed; to start anew, leave the parameter `resume` out"
            ),
            "{complaint}"
        );
    }

    #[test]
    fn damage_is_noticed() {
        let (_folder, checkpoints) = written();
        let whole = fs::read(&checkpoints.path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&checkpoints.path, &whole[..cut]).unwrap();
            assert!(checkpoints.load(&OF).is_err(), "cut at {cut}");
        }
        for offset in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[offset] ^= 1;
            fs::write(&checkpoints.path, bytes).unwrap();
            assert!(checkpoints.load(&OF).is_err(), "changed at {offset}");
        }
    }
}
