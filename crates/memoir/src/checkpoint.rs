//! Checkpoints: the state of a long training in a file, so that a killed run can go on and end as if nothing
//! had happened.
//!
//! What follows from data, options and seed is made again; the file holds only what was learned since. It
//! says by fingerprints which data, options, seed and program it belongs to. Like a model file, it is a
//! safetensors file with checksums.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use safetensors::tensor::{SafeTensors, TensorView};
use safetensors::{Dtype, SafeTensorError};
use xxhash_rust::xxh3::Xxh3Default;

use crate::{Error, Result};

/// What the header of a checkpoint says that it is.
const FORMAT: &str = "memoir checkpoint 2";

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

    /// The checkpoints of one of several shards: two files that are written in turn. When one is written,
    /// all shards have written the other, so whenever a shard is killed, all have a checkpoint of the same
    /// moment.
    pub(crate) fn of_shard(&self, shard: usize, shards: usize) -> [Self; 2] {
        ["a", "b"].map(|turn| {
            let mut path = self.path.clone().into_os_string();
            path.push(format!(".{shard}-of-{shards}.{turn}"));
            Self {
                path: path.into(),
                ..self.clone()
            }
        })
    }

    /// As [`Checkpoints::remove`], for a training by so many shards.
    pub fn remove_shards(&self, shards: usize) -> Result<()> {
        (0..shards)
            .flat_map(|shard| self.of_shard(shard, shards))
            .try_for_each(|checkpoints| checkpoints.remove())
    }

    /// Writes a checkpoint: beside the last one first, then in its place.
    pub fn save(&self, belongs_to: &[Fingerprint], state: &State<'_>) -> Result<()> {
        let belongs_to = encode(belongs_to.iter().map(|fingerprint| fingerprint.value));
        let numbers = encode(state.numbers.iter().copied());
        let arrays = [&belongs_to[..], &numbers]
            .into_iter()
            .chain(state.arrays.iter().copied());
        let bytes = serialize(arrays)
            .map_err(|reason| Error::input(self.path.display().to_string(), reason.to_string()))?;
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
        let arrays = deserialize(&bytes).map_err(|problem| {
            invalid(match problem {
                Problem::Foreign => "is no checkpoint that this program has written".to_owned(),
                Problem::Damaged => "is damaged; to start anew, leave the parameter `resume` out".to_owned(),
            })
        })?;
        let [saved, numbers] = [arrays[0], arrays[1]].map(decode);
        for (number, fingerprint) in belongs_to.iter().enumerate() {
            if saved.get(number) != Some(&fingerprint.value) {
                return Err(invalid(format!(
                    "cannot be resumed: it was written with {}; to start anew, leave the parameter `resume` out",
                    fingerprint.otherwise
                )));
            }
        }
        Ok(Some(SavedState {
            numbers,
            arrays: arrays[2..].iter().map(|array| array.to_vec()).collect(),
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

fn encode(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    numbers.flat_map(u64::to_le_bytes).collect()
}

fn decode(bytes: &[u8]) -> Vec<u64> {
    let (numbers, _) = bytes.as_chunks();
    numbers.iter().map(|number| u64::from_le_bytes(*number)).collect()
}

/// The arrays as a file, under their numbers.
fn serialize<'a>(arrays: impl Iterator<Item = &'a [u8]>) -> Result<Vec<u8>, SafeTensorError> {
    let mut checksum = Xxh3Default::new();
    let mut views = Vec::new();
    for (number, array) in arrays.enumerate() {
        checksum.update(&(array.len() as u64).to_le_bytes());
        checksum.update(array);
        let view = TensorView::new(Dtype::U8, vec![array.len()], array)?;
        views.push((number.to_string(), view));
    }
    let about = HashMap::from([
        ("format".to_owned(), FORMAT.to_owned()),
        ("checksum".to_owned(), format!("{:016x}", checksum.digest())),
    ]);
    safetensors::serialize(views, Some(about))
}

/// Why bytes are no checkpoint.
enum Problem {
    /// They are something else.
    Foreign,
    /// They were one.
    Damaged,
}

/// The arrays of a file, at least the two that every checkpoint has.
fn deserialize(bytes: &[u8]) -> Result<Vec<&[u8]>, Problem> {
    let (_, about) = SafeTensors::read_metadata(bytes).map_err(|_| Problem::Foreign)?;
    let about = about.metadata().as_ref().ok_or(Problem::Foreign)?;
    if about.get("format").map(String::as_str) != Some(FORMAT) {
        return Err(Problem::Foreign);
    }
    let file = SafeTensors::deserialize(bytes).map_err(|_| Problem::Damaged)?;
    let mut checksum = Xxh3Default::new();
    let mut arrays = Vec::with_capacity(file.len());
    for number in 0..file.len() {
        let view = file.tensor(&number.to_string()).map_err(|_| Problem::Damaged)?;
        let array = view.data();
        checksum.update(&(array.len() as u64).to_le_bytes());
        checksum.update(array);
        arrays.push(array);
    }
    let is_sound = about.get("checksum") == Some(&format!("{:016x}", checksum.digest()));
    if is_sound && arrays.len() >= 2 {
        Ok(arrays)
    } else {
        Err(Problem::Damaged)
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
