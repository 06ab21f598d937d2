//! Folders for what training keeps on disk. They go with the run; what a killed run has left goes with the
//! next one.

use std::fs::{self, File};
use std::path::Path;

use crate::data::prepared::PreparedSet;
use crate::{Error, Result};

/// What the names of these folders begin with.
const PREFIX: &str = ".training-";

/// A file in each folder, locked as long as a run needs it.
const LOCK: &str = "in-use";

/// A folder beside the shards of a prepared set, which goes when it is dropped.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    /// Not locked any more when the folder goes.
    _lock: Option<File>,
    folder: tempfile::TempDir,
}

impl ScratchFolder {
    /// A new folder beside the shards of `set`. Those that killed runs have left there are removed.
    pub(crate) fn beside(set: &PreparedSet) -> Result<Self> {
        remove_left_over(set.folder());
        let fail = |reason| Error::io(set.folder(), "cannot make a folder for rows in training", reason);
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(set.folder())
            .map_err(fail)?;
        // Locked before it has the name by which others know it. Where files cannot be locked, nobody else
        // can lock it either, so nobody removes the folder.
        let unnamed = folder.path().join("new");
        let lock = File::create(&unnamed).map_err(fail)?;
        let lock = lock.lock().is_ok().then_some(lock);
        fs::rename(&unnamed, folder.path().join(LOCK)).map_err(fail)?;
        Ok(Self { _lock: lock, folder })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders that nobody uses. What cannot be removed is in nobody's way.
fn remove_left_over(beside: &Path) {
    let Ok(entries) = fs::read_dir(beside) else {
        return;
    };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let lock = File::open(entry.path().join(LOCK));
        if is_ours && lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Content;
    use crate::data::prepared::SetWriter;

    #[test]
    fn folders_go_with_the_run_or_with_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = SetWriter::create(folder.path(), Content::Vectors, 1 << 20).unwrap();
        writer.manifest.complete = true;
        writer.commit().unwrap();
        let set = PreparedSet::open(folder.path()).unwrap();
        let left = folder.path().join(".training-killed");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let other = folder.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join(LOCK), "").unwrap();
        let first = ScratchFolder::beside(&set).unwrap();
        assert!(!left.exists() && other.exists());
        let second = ScratchFolder::beside(&set).unwrap();
        assert!(first.path().exists(), "one in use stays");
        let (first_path, second_path) = (first.path().to_owned(), second.path().to_owned());
        drop(first);
        assert!(!first_path.exists() && second_path.exists());
        drop(second);
        assert!(!second_path.exists());
    }
}
