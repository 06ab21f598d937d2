//! Where data comes from: every kind of file that this program reads, alone or several together.

use std::path::{Path, PathBuf};

use memoir::Result;
use memoir::data::{Manifest, ReadOptions, Source, files_at};

/// The rows of all `data`: files, folders, patterns such as `2026-*.csv`; `-` is standard input.
pub(crate) fn open(data: &[impl AsRef<Path>]) -> Result<Source> {
    let files = files(data)?;
    if let [file] = &files[..] {
        return open_file(file);
    }
    let parts: Result<Vec<Source>> = files.iter().map(|file| open_file(file)).collect();
    Ok(Source::several(name(data), parts?))
}

/// The files that `data` stands for.
pub(crate) fn files(data: &[impl AsRef<Path>]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in data {
        files.extend(files_at(path.as_ref())?);
    }
    Ok(files)
}

/// What messages call `data`.
pub(crate) fn name(data: &[impl AsRef<Path>]) -> String {
    let names: Vec<_> = data.iter().map(|path| path.as_ref().display()).collect();
    match &names[..] {
        [] => String::new(),
        [name] => name.to_string(),
        [name, others @ ..] => format!("{name} and {} more", others.len()),
    }
}

/// Whether rows come from standard input.
pub(crate) fn has_stdin(data: &[impl AsRef<Path>]) -> bool {
    data.iter().any(|path| path.as_ref() == Path::new("-"))
}

fn open_file(path: &Path) -> Result<Source> {
    #[cfg(feature = "tables")]
    if let Some(kind) = memoir_tables::TableFile::at(path) {
        return kind.source(path);
    }
    Ok(Source::new(path))
}

/// `options`, with those that `data` was prepared with, if it is prepared data.
pub(crate) fn reading(data: &[impl AsRef<Path>], options: ReadOptions) -> Result<ReadOptions> {
    match data {
        [folder] if Manifest::is_in(folder.as_ref()) => Ok(ReadOptions {
            remembered: Manifest::load(folder.as_ref())?.reading,
            ..options
        }),
        _ => Ok(options),
    }
}
