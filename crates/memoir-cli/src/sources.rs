//! Where data comes from: every kind of file that this program reads.

use std::path::Path;

use memoir::Result;
use memoir::data::Source;

/// The rows at `path`; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Source> {
    #[cfg(feature = "tables")]
    if let Some(kind) = memoir_tables::TableFile::of(path) {
        return kind.source(path);
    }
    Ok(Source::new(path))
}
