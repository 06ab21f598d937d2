//! Which files a name stands for: one file, all files of a folder, or those that fit a pattern.

use std::path::{Path, PathBuf};

use super::prepared::Manifest;
use crate::{Error, Result};

/// The files that `path` stands for, in the order of their names: the file itself, the files in a folder
/// (none of its subfolders, and none whose name begins with `.` or `_`), or those that fit a pattern such as
/// `2026-*.csv`. Prepared data counts as one file. A name without a file is returned as it is: opening it
/// tells why it cannot be read.
pub fn files_at(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_dir() && !Manifest::is_in(path) {
        return in_folder(path);
    }
    let pattern = path.to_str().filter(|name| name.contains(['*', '?', '[']));
    let Some(pattern) = pattern.filter(|_| !path.exists()) else {
        return Ok(vec![path.to_owned()]);
    };
    let name = path.display().to_string();
    let found = glob::glob(pattern)
        .map_err(|reason| Error::input(&name, format!("is no file and no pattern of names: {reason}")))?;
    let mut files = Vec::new();
    for file in found {
        let file = file.map_err(|reason| {
            let place = reason.path().to_owned();
            Error::io(&place, "cannot look for files here", reason.into())
        })?;
        if file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(Error::input(name, "no file fits this pattern"));
    }
    files.sort();
    Ok(files)
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |reason| Error::io(folder, "cannot list the folder", reason);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        // Programs leave marks such as `_SUCCESS` and `.part-0.crc` beside their data.
        let is_mark = path.file_name().is_none_or(|name| {
            name.as_encoded_bytes().starts_with(b".") || name.as_encoded_bytes().starts_with(b"_")
        });
        if !is_mark && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(Error::input(
            folder.display().to_string(),
            "has no files; expected files of rows in this folder",
        ));
    }
    files.sort();
    Ok(files)
}
