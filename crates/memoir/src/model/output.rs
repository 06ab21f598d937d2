//! Writing a file so that nobody ever sees half of it: beside the target first, then renamed.

use std::fs::{self, File, Permissions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, Result};

/// Bytes that are gathered before they are written. Arrays are longer: they go to the file as they are,
/// without a copy.
const BUFFER: usize = 1 << 16;

/// What the names of unfinished files begin and end with.
const UNFINISHED: (&str, &str) = (".memoir-", ".partial");

/// Writes a file through `fill`. The target changes only when everything is written; on an error, nothing is
/// left behind. What killed programs left in the folder is removed.
///
/// An existing file keeps its permissions; a symbolic link keeps pointing where it does.
pub fn write_beside(path: &Path, fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
    write_checked(path, fill, |_| Ok(()))
}

/// As [`write_beside`]; `check` sees what was written before the target changes.
pub(super) fn write_checked(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
    check: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let fail = |reason| Error::io(path, "cannot write", reason);
    let (target, permissions) = target(path)?;
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    remove_abandoned(folder);
    let mut temporary = unfinished(folder).map_err(fail)?;
    let mut writer = BufWriter::with_capacity(BUFFER, temporary.as_file_mut());
    fill(&mut writer)?;
    writer.flush().map_err(fail)?;
    drop(writer);
    check(temporary.path())?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions).map_err(fail)?;
    }
    // Before the rename, so that a power cut cannot leave an empty file under the final name.
    File::sync_data(temporary.as_file()).map_err(fail)?;
    temporary.persist(&target).map_err(|reason| fail(reason.error))?;
    Ok(())
}

/// A new file that is locked for as long as it is open: the sign that somebody is writing it.
fn unfinished(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
    #[cfg(unix)]
    {
        // What any new file gets: the user's mask applies, where temporary files are for their owner only.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(Permissions::from_mode(0o666));
    }
    loop {
        let temporary = builder.tempfile_in(folder)?;
        // Where files cannot be locked, nobody removes them either.
        let is_locked = temporary.as_file().lock().is_ok();
        // Another program may have taken it for abandoned before it was locked.
        if !is_locked || temporary.path().exists() {
            return Ok(temporary);
        }
    }
}

/// Removes files that nobody writes any more. What cannot be removed stays: it is in nobody's way.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with(UNFINISHED.0) || !name.ends_with(UNFINISHED.1) {
            continue;
        }
        // To open a pipe would wait for somebody who writes to it.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The file that `path` stands for, and its permissions if it exists.
fn target(path: &Path) -> Result<(PathBuf, Option<Permissions>)> {
    let Ok(about) = fs::metadata(path) else {
        return Ok((path.to_owned(), None));
    };
    if !about.is_file() {
        let what = if about.is_dir() {
            "a directory"
        } else {
            "not a regular file"
        };
        let message = format!("cannot write a file here: it is {what}");
        return Err(Error::input(path.display().to_string(), message));
    }
    let target = fs::canonicalize(path).map_err(|reason| Error::io(path, "cannot write", reason))?;
    Ok((target, Some(about.permissions())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        let outcome = write_beside(&path, |out| {
            out.write_all(b"new").unwrap();
            Err(Error::Cancelled)
        });
        assert!(matches!(outcome, Err(Error::Cancelled)));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn success_replaces_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for content in ["long content", "short"] {
            write_beside(&path, |out| {
                out.write_all(content.as_bytes()).unwrap();
                Ok(())
            })
            .unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn what_a_killed_program_left_is_removed_and_what_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let abandoned = folder.path().join(".memoir-x1.partial");
        fs::write(&abandoned, "half").unwrap();
        fs::write(folder.path().join("other.partial"), "not ours").unwrap();
        write_beside(&path, |_| {
            assert!(!abandoned.exists());
            // A second writer in the same folder leaves the first one's file alone.
            write_beside(&folder.path().join("second"), |_| Ok(()))
        })
        .unwrap();
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, ["other.partial", "out", "second"]);
    }

    /// Whoever opens a pipe waits until somebody writes to it.
    #[cfg(unix)]
    #[test]
    fn a_pipe_with_the_name_of_an_unfinished_file_keeps_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join(".memoir-x1.partial");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        write_beside(&folder.path().join("out"), |_| Ok(())).unwrap();
        assert!(pipe.exists(), "it is not ours");
    }

    #[test]
    fn directories_and_absent_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| write_beside(path, |_| Ok(())).unwrap_err().to_string();
        assert!(message(folder.path()).ends_with("cannot write a file here: it is a directory"));
        assert!(message(&folder.path().join("absent/out")).contains("absent/out: cannot write: "));
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_beside(&link, |out| {
            out.write_all(b"new").unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let refused = write_beside(Path::new("/dev/null"), |_| Ok(())).unwrap_err();
        assert!(refused.to_string().ends_with("it is not a regular file"));
    }
}
