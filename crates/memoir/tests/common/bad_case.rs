//! Inputs that must be refused, and how that is checked.

use memoir::Result;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{PrepOptions, read_training};

use crate::common::{bytes_source, session};

/// What is wrong, the name and content of the input, how it is read, and the message.
pub(crate) struct Case {
    what: &'static str,
    name: &'static str,
    content: Vec<u8>,
    options: ReadOptions,
    message: &'static str,
}

/// A case that is read with the default options.
pub(crate) fn case(
    what: &'static str,
    name: &'static str,
    content: impl AsRef<[u8]>,
    message: &'static str,
) -> Case {
    Case {
        what,
        name,
        content: content.as_ref().to_vec(),
        options: ReadOptions::default(),
        message,
    }
}

impl Case {
    /// The same case read with other options.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut ReadOptions)) -> Self {
        change(&mut self.options);
        self
    }
}

/// Reads `source` to train on and forgets the result.
pub(crate) fn read(source: Source, options: &ReadOptions) -> Result<()> {
    read_training(source, options, &PrepOptions::default(), &session(2)).map(|_| ())
}

/// Checks that each case gives its message, whatever the size of blocks.
pub(crate) fn check(cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for Case {
        what,
        name,
        content,
        options,
        message,
    } in cases
    {
        for block_size in [None, Some(1), Some(7)] {
            let options = ReadOptions {
                block_size,
                ..options.clone()
            };
            let found = match read(bytes_source(name, &content), &options) {
                Ok(()) => "no problem".to_owned(),
                Err(problem) => problem.to_string(),
            };
            if found != message {
                wrong.push(format!(
                    "{what} (blocks of {block_size:?}):\n  found    {found}\n  expected {message}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
