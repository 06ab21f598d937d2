//! The manifest: what a prepared set holds and which files it consists of.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::{Content, MAX_FEATURES, Remembered};
use crate::model::write_beside;
use crate::{Error, Result};

/// Name of the manifest in its folder.
pub(super) const MANIFEST: &str = "memoir-prepared.json";

const FORMAT: &str = "memoir prepared data";
const VERSION: u32 = 1;

/// What a prepared set holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Manifest {
    format: String,
    version: u32,
    /// Whether everything that was to be prepared is there.
    pub complete: bool,
    /// Whether rows are texts; otherwise they are vectors.
    pub text: bool,
    /// Number of rows.
    pub rows: u64,
    /// Number of classes.
    pub classes: u64,
    /// Number of different words, if rows are texts.
    pub words: u64,
    /// One more than the highest feature, if rows are vectors.
    pub width: u64,
    /// Number of values of all vectors.
    pub entries: u64,
    /// Number of labels of all rows.
    pub labels: u64,
    /// Whether all values are whole numbers and none is negative.
    pub counts: bool,
    /// Whether each row has a weight in some block.
    pub weights: bool,
    /// Number of features that a header promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised_features: Option<u64>,
    /// What vectors call the first feature.
    pub first_index: u32,
    /// The column of the labels, where it was guessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guessed_label: Option<String>,
    /// How the rows were read, as far as options said it.
    #[serde(default)]
    pub reading: Remembered,
    /// Whether blocks are compressed.
    pub compressed: bool,
    /// Whether equal rows were left out.
    pub deduplicated: bool,
    /// What the rows were made of, in order.
    pub sources: Vec<SourceEntry>,
    pub(super) shards: Vec<ShardEntry>,
}

/// A file that rows were read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// What messages called it.
    pub name: String,
    #[serde(flatten)]
    pub(crate) state: SourceState,
    /// Rows read so far, before equal ones were left out.
    pub rows: u64,
    /// Bad rows that were skipped.
    pub bad_rows: u64,
    /// Rows that were left out because an equal one came before.
    pub duplicates: u64,
}

/// What tells whether a file is still the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceState {
    /// Size in bytes, or 0 if unknown.
    pub(crate) bytes: u64,
    /// Seconds from 1970 to its last change, or 0 if unknown.
    pub(crate) modified: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShardEntry {
    pub(super) file: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    /// Where its footer begins.
    pub(super) footer: u64,
    /// XXH3 of what comes before the footer, and of the footer, as 16 hexadecimal digits.
    pub(super) checksum: String,
    pub(super) footer_checksum: String,
}

impl Manifest {
    /// An empty set.
    pub(super) fn new(content: Content) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            complete: false,
            text: content == Content::Text,
            rows: 0,
            classes: 0,
            words: 0,
            width: 0,
            entries: 0,
            labels: 0,
            counts: true,
            weights: false,
            promised_features: None,
            first_index: 0,
            guessed_label: None,
            reading: Remembered::default(),
            compressed: false,
            deduplicated: false,
            sources: Vec::new(),
            shards: Vec::new(),
        }
    }

    /// What the rows hold.
    pub fn content(&self) -> Content {
        if self.text {
            Content::Text
        } else {
            Content::Vectors
        }
    }

    /// Number of files that hold the rows.
    pub fn shard_count(&self) -> usize {
        self.shards.len()
    }

    /// Number of features of vectors.
    pub(crate) fn features(&self) -> usize {
        self.promised_features.unwrap_or(self.width) as usize
    }

    /// Size of all shards in bytes.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.bytes).sum()
    }

    /// Whether there is a set in `folder`, complete or not.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(MANIFEST).is_file()
    }

    /// Reads the manifest of the set in `folder`.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|reason| Error::io(&path, "cannot read", reason))?;
        let bad = |message: String| Error::input(path.display().to_string(), message);
        let about: About = serde_json::from_str(&text)
            .map_err(|reason| bad(format!("is no manifest of prepared data: {reason}")))?;
        if about.format != FORMAT || about.version != VERSION {
            return Err(bad(format!(
                "holds `{}` of version {}; expected `{FORMAT}` of version {VERSION}",
                about.format, about.version
            )));
        }
        let manifest: Self = serde_json::from_str(&text)
            .map_err(|reason| bad(format!("is damaged: {reason}; prepare the data again")))?;
        // A name with a folder in it would lead to files elsewhere.
        let is_plain = |shard: &ShardEntry| Path::new(&shard.file).file_name() == Some(shard.file.as_ref());
        let mut rows = manifest.shards.iter().map(|shard| shard.rows);
        let rows = rows.try_fold(0u64, u64::checked_add);
        let width = manifest.width.max(manifest.promised_features.unwrap_or(0));
        if rows != Some(manifest.rows) || width > MAX_FEATURES as u64 || !manifest.shards.iter().all(is_plain)
        {
            return Err(bad(
                "is damaged: its numbers contradict each other; prepare the data again".to_owned(),
            ));
        }
        Ok(manifest)
    }

    /// Removes the set in `folder`, and the folder if nothing else is in it.
    pub(crate) fn remove_all(folder: &Path) -> Result<()> {
        let path = folder.join(MANIFEST);
        fs::remove_file(&path).map_err(|reason| Error::io(&path, "cannot remove", reason))?;
        remove_shards(folder, |_| true)?;
        // Somebody else's files may be there.
        drop(fs::remove_dir(folder));
        Ok(())
    }

    /// Makes this the manifest of `folder` again and removes shards that it does not know.
    pub(crate) fn remove_others(&self, folder: &Path) -> Result<()> {
        self.save(folder)?;
        remove_shards(folder, |name| self.shards.iter().all(|shard| shard.file != name))
    }

    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(MANIFEST);
        write_beside(&path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)
                .map_err(|reason| Error::io(&path, "cannot write", reason.into()))?;
            out.write_all(b"\n")
                .map_err(|reason| Error::io(&path, "cannot write", reason))
        })
    }
}

/// Removes the shards in `folder`, finished or not, whose names are `unwanted`.
fn remove_shards(folder: &Path, unwanted: impl Fn(&str) -> bool) -> Result<()> {
    let fail = |reason| Error::io(folder, "cannot remove shards", reason);
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_shard = name.starts_with("shard-") && matches!(ending, Some("bin" | "partial"));
        if is_shard && unwanted(name) {
            fs::remove_file(&path).map_err(fail)?;
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct About {
    format: String,
    version: u32,
}
