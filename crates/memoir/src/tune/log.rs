//! The log of a search: one line of JSON for what is searched, then one for each trial. A search that was
//! stopped goes on from it.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Trial;
use crate::{Error, Result};

/// What a search is about. Trials of another one are of no use to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) version: String,
    pub(super) algorithm: String,
    pub(super) given: super::Settings,
    pub(super) vary: Option<Vec<String>>,
    pub(super) weighting: String,
    pub(super) measure: String,
    pub(super) candidates: usize,
    pub(super) rows: Option<usize>,
    pub(super) seed: u64,
    pub(super) memory_budget: Option<u64>,
    /// Hashes of the rows.
    pub(super) data: String,
    pub(super) held_out: String,
}

/// A log that is open for more trials.
pub(super) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Begins a log, or continues one and returns the trials in it. One that is there already and not to be
    /// continued is an error: it may be the work of hours.
    pub(super) fn open(path: &Path, header: &Header, resume: bool) -> Result<(Self, Vec<Trial>)> {
        let before = match fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => None,
            Err(reason) => return Err(Error::io(path, "cannot read", reason)),
        };
        if before.is_some() && !resume {
            return Err(Error::input(
                path.display().to_string(),
                "is there already; give the parameter `resume` to continue it, or another file as the parameter `log`",
            ));
        }
        let text = before.unwrap_or_default();
        // A program that was killed may have left half a line.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let mut trials = Vec::new();
        let first = lines.next();
        if let Some(first) = first {
            check_header(path, first, header)?;
            for (number, line) in lines.enumerate() {
                trials.push(parse(path, number + 2, line)?);
            }
        }
        let failed = |reason| Error::io(path, "cannot write", reason);
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true);
        let mut file = options.open(path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut log = Self {
            path: path.to_owned(),
            file,
        };
        if first.is_none() {
            log.add(header)?;
        }
        Ok((log, trials))
    }

    /// Adds a line.
    pub(super) fn add(&mut self, line: &impl Serialize) -> Result<()> {
        let failed = |reason| Error::io(&self.path, "cannot write", reason);
        let mut line = serde_json::to_vec(line).map_err(|reason| failed(reason.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(failed)
    }
}

fn parse<T: for<'d> Deserialize<'d>>(path: &Path, line: usize, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|reason| Error::Data {
        file: path.display().to_string(),
        line: line as u64,
        column: reason.column() as u64,
        message: format!("expected a line of a log of `tune`: {reason}"),
    })
}

/// Fails if the log is about another search, and says what differs.
fn check_header(path: &Path, line: &str, header: &Header) -> Result<()> {
    let found: Header = parse(path, 1, line)?;
    if found == *header {
        return Ok(());
    }
    let fields = |header: &Header| match serde_json::to_value(header) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (found, expected) = (fields(&found), fields(header));
    let differing = expected
        .iter()
        .find(|(name, value)| found.get(*name) != Some(value));
    let (name, value) = differing.map_or(("header", &Value::Null), |(name, value)| (name.as_str(), value));
    let before = found.get(name).unwrap_or(&Value::Null);
    Err(Error::input(
        path.display().to_string(),
        format!("is the log of another search: `{name}` is {before} there and {value} now"),
    ))
}
