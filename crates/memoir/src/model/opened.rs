//! Notices that the file of an open model was changed in place.
//!
//! A mapped file that another program cuts short ends this one by a signal, and one that is written over
//! gives wrong answers. So whoever answers many rows looks first. What happens after the look cannot be
//! noticed: to replace a model safely, write beside it and rename, as [`super::write_beside`] does.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use memmap2::Mmap;
use xxhash_rust::xxh3::Xxh3Default;

use crate::{Error, Result};

/// A model file that is mapped into memory, as it was when it was opened.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    /// Absolute, so that it stays right when the program changes its folder.
    path: PathBuf,
    state: State,
    bytes: Arc<Mmap>,
    /// Length of the header, with its length in front.
    header: usize,
    /// Length of the checksums at the end.
    checksums: usize,
    /// Checksum of both.
    fingerprint: u64,
}

/// What the system says about a file.
#[derive(Debug, PartialEq, Eq)]
struct State {
    /// Device and number of the file: another file under the same name is no change of this one.
    identity: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
}

impl State {
    fn of(about: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            (about.dev(), about.ino())
        };
        // Elsewhere a mapped file can be neither replaced nor cut.
        #[cfg(not(unix))]
        let identity = (0, 0);
        Self {
            identity,
            size: about.len(),
            modified: about.modified().ok(),
        }
    }
}

impl OpenedFile {
    /// The file at `path`, mapped as `bytes`, with a header and checksums of these lengths.
    pub(super) fn new(
        path: &Path,
        about: &Metadata,
        bytes: Arc<Mmap>,
        header: usize,
        checksums: usize,
    ) -> Self {
        Self {
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            state: State::of(about),
            fingerprint: fingerprint(&bytes, header, checksums),
            bytes,
            header,
            checksums,
        }
    }

    /// Fails if the file is no longer what it was.
    pub(crate) fn check(&self) -> Result<()> {
        // A file that was removed, or that another one replaced, stays as it is for those who mapped it.
        let Ok(about) = fs::metadata(&self.path) else {
            return Ok(());
        };
        let now = State::of(&about);
        if now.identity != self.state.identity {
            return Ok(());
        }
        let what = if now.size != self.state.size {
            format!("it has {} bytes now, and had {}", now.size, self.state.size)
        } else if now.modified != self.state.modified {
            "its time of change is another".to_owned()
        } else if fingerprint(&self.bytes, self.header, self.checksums) != self.fingerprint {
            "its checksums are others".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::ModelFile {
            path: self.path.clone(),
            message: format!(
                "it was changed while it was open ({what}): open it again, and replace models by renaming, \
                 not by writing into them"
            ),
        })
    }
}

fn fingerprint(bytes: &[u8], header: usize, checksums: usize) -> u64 {
    let mut hash = Xxh3Default::new();
    hash.update(&bytes[..header]);
    hash.update(&bytes[bytes.len() - checksums..]);
    hash.digest()
}
