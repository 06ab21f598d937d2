//! The models of a service: opened, watched, replaced without a lost request, rolled back.
//!
//! A model is read into memory as a whole and checked byte by byte before it takes over. So a file may be
//! replaced in any way, at any time: what is half written does not pass the checks, and the version before
//! goes on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use memoir::{Catalogue, Session};

use crate::engine::{Engine, Measured};
use crate::settings::ModelFile;
use crate::watching::Watching;

/// A file that was changed this recently may change again without a new time of change.
const SETTLED: Duration = Duration::from_secs(2);

/// A version of a model, with what was seen of it.
pub(crate) struct Version {
    pub(crate) engine: Engine,
    pub(crate) watching: Watching,
    pub(crate) since: SystemTime,
    held_out: OnceLock<Option<Measured>>,
}

impl Version {
    /// What is measured on the rows of the file at `path`; measured once.
    pub(crate) fn held_out(
        &self,
        path: Option<&PathBuf>,
        session: &Session<'_>,
    ) -> memoir::Result<Option<Measured>> {
        let Some(path) = path else { return Ok(None) };
        if let Some(measured) = self.held_out.get() {
            return Ok(measured.clone());
        }
        let measured = self.engine.measure_file(path, session)?;
        Ok(self.held_out.get_or_init(|| measured).clone())
    }
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    changed: SystemTime,
    file: u64,
}

/// What is known of the file on disk.
struct Disk {
    /// The state that was read last, if it is sure not to change unseen.
    read: Option<Stamp>,
    /// The version that was read last.
    version: String,
    /// Whether a problem with the file was logged already.
    warned: bool,
}

/// A model that is served.
pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    current: ArcSwap<Version>,
    previous: Mutex<Option<Arc<Version>>>,
    disk: Mutex<Disk>,
}

/// All models of a service.
pub(crate) struct Registry {
    models: Vec<Arc<Served>>,
    catalogue: Catalogue,
}

impl Registry {
    /// Opens all models; the first that cannot be opened is an error.
    pub(crate) fn open(files: &[ModelFile], catalogue: Catalogue) -> memoir::Result<Self> {
        let mut models = Vec::with_capacity(files.len());
        for file in files {
            let (version, stamp) = read(&file.path, &catalogue)?;
            let disk = Disk {
                read: stamp,
                version: version.engine.version().to_owned(),
                warned: false,
            };
            models.push(Arc::new(Served {
                name: file.name.clone(),
                path: file.path.clone(),
                current: ArcSwap::from_pointee(version),
                previous: Mutex::new(None),
                disk: Mutex::new(disk),
            }));
        }
        Ok(Self { models, catalogue })
    }

    pub(crate) fn models(&self) -> &[Arc<Served>] {
        &self.models
    }

    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Served>> {
        self.models.iter().find(|model| model.name == name)
    }

    /// Opens the models whose files have changed. Reads files: not for threads that answer requests.
    pub(crate) fn look_at_files(&self) {
        for model in &self.models {
            model.look_at_file(&self.catalogue);
        }
    }

    /// Opens a model's file anew, changed or not. Reads the file: not for threads that answer requests.
    pub(crate) fn reload(&self, model: &Served) -> memoir::Result<Arc<Version>> {
        let mut disk = lock(&model.disk);
        let version = disk.read_version(&model.path, &self.catalogue)?;
        model.promote(version);
        Ok(model.current())
    }
}

impl Served {
    /// The version that answers now. A request asks once and keeps what it got.
    pub(crate) fn current(&self) -> Arc<Version> {
        self.current.load_full()
    }

    /// The version before, if there was one.
    pub(crate) fn previous(&self) -> Option<Arc<Version>> {
        lock(&self.previous).clone()
    }

    /// Goes back to the version before, and keeps the one it leaves. The file is not touched: a new one
    /// still takes over.
    pub(crate) fn roll_back(&self) -> Option<Arc<Version>> {
        let mut previous = lock(&self.previous);
        let back = previous.take()?;
        *previous = Some(self.current.swap(Arc::clone(&back)));
        tracing::info!(model = self.name, version = back.engine.version(), "rolled back");
        Some(back)
    }

    fn look_at_file(&self, catalogue: &Catalogue) {
        let mut disk = lock(&self.disk);
        match stamp(&self.path) {
            Ok(stamp) if disk.read == Some(stamp) => {}
            Ok(_) => {
                let before = disk.version.clone();
                match disk.read_version(&self.path, catalogue) {
                    // Whoever rolled back does not get the same file again.
                    Ok(version) if version.engine.version() == before => {}
                    Ok(version) => self.promote(version),
                    Err(error) => disk.warn(&self.name, &error.to_string()),
                }
            }
            // Between removing and renaming there is no file; the version in memory goes on.
            Err(error) => disk.warn(&self.name, &error.to_string()),
        }
    }

    /// Makes `version` the one that answers. The same version again changes nothing.
    fn promote(&self, version: Version) {
        let mut previous = lock(&self.previous);
        if self.current.load().engine.version() == version.engine.version() {
            return;
        }
        tracing::info!(model = self.name, version = version.engine.version(), "loaded");
        *previous = Some(self.current.swap(Arc::new(version)));
    }
}

impl Disk {
    fn read_version(&mut self, path: &Path, catalogue: &Catalogue) -> memoir::Result<Version> {
        // A file that cannot be used is read again when it changes, not over and over.
        self.read = settled(path);
        let (version, stamp) = read(path, catalogue)?;
        self.read = stamp;
        self.warned = false;
        version.engine.version().clone_into(&mut self.version);
        Ok(version)
    }

    fn warn(&mut self, model: &str, error: &str) {
        if !std::mem::replace(&mut self.warned, true) {
            tracing::warn!(
                model,
                error,
                "the changed file cannot be used; the version in memory goes on"
            );
        }
    }
}

/// Reads and checks a file, and says which state of it that was, unless it may have changed meanwhile.
fn read(path: &Path, catalogue: &Catalogue) -> memoir::Result<(Version, Option<Stamp>)> {
    let before = settled(path);
    let bytes = std::fs::read(path).map_err(|reason| memoir::Error::io(path, "cannot open", reason))?;
    let engine = Engine::open(&bytes, catalogue).map_err(|error| at(path, error))?;
    drop(bytes);
    let same = before.filter(|before| stamp(path).is_ok_and(|after| after == *before));
    let version = Version {
        engine,
        watching: Watching::default(),
        since: SystemTime::now(),
        held_out: OnceLock::new(),
    };
    Ok((version, same))
}

/// The library does not know where bytes come from.
fn at(path: &Path, error: memoir::Error) -> memoir::Error {
    match error {
        memoir::Error::ModelFile { message, .. } => memoir::Error::ModelFile {
            path: path.to_owned(),
            message,
        },
        other => other,
    }
}

/// The state of a file, if it has not changed in the last moments.
fn settled(path: &Path) -> Option<Stamp> {
    let stamp = stamp(path).ok()?;
    // A time of change that lies in the future says nothing; it counts as settled.
    let age = SystemTime::now()
        .duration_since(stamp.changed)
        .unwrap_or(Duration::MAX);
    (age > SETTLED).then_some(stamp)
}

fn stamp(path: &Path) -> std::io::Result<Stamp> {
    let about = std::fs::metadata(path)?;
    Ok(Stamp {
        length: about.len(),
        changed: about.modified()?,
        file: file_number(&about),
    })
}

#[cfg(unix)]
fn file_number(about: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn file_number(_about: &std::fs::Metadata) -> u64 {
    0
}

/// What a panic left behind is still whole: every change here is a single assignment.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
