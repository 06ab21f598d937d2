//! Standard output: results go there whole, and what keeps them from getting there is said like every
//! other error.

use std::io::{self, Write};
use std::path::Path;

use memoir::Error;

/// Writes `text`, which ends its lines itself.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// The same of bytes that others made.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(write_error)?;
    Ok(())
}

/// What a failed write to standard output means.
pub(crate) fn write_error(reason: io::Error) -> Error {
    Error::io(Path::new("<stdout>"), "cannot write", reason)
}
