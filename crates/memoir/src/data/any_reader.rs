//! One reader for all that rows come from: files and streams, and prepared data.

use super::prepared::PreparedReader;
use super::reader::{Position, Purpose, Reader as FileReader};
use super::{Content, Parsed, ReadOptions, ReadReport, Source};
use crate::{Result, Session};

/// A read in progress.
pub(crate) enum Reader<'s, 'o> {
    /// Of a file or stream.
    Files(Box<FileReader<'s, 'o>>),
    /// Of prepared data.
    Prepared(Box<PreparedReader<'s, 'o>>),
}

/// Calls the same method of whichever reader it is.
macro_rules! delegate {
    ($self:ident . $method:ident ( $($argument:expr),* )) => {
        match $self {
            Self::Files(reader) => reader.$method($($argument),*),
            Self::Prepared(reader) => reader.$method($($argument),*),
        }
    };
}

impl<'s, 'o> Reader<'s, 'o> {
    /// Opens `source` and settles its format.
    pub(crate) fn open(
        source: Source,
        options: &ReadOptions,
        purpose: Purpose,
        session: &'s Session<'o>,
    ) -> Result<Self> {
        if let Some(folder) = source.prepared_folder() {
            let reader = PreparedReader::open(folder, options, session)?;
            return Ok(Self::Prepared(Box::new(reader)));
        }
        let reader = FileReader::open(source, options, purpose, session)?;
        Ok(Self::Files(Box::new(reader)))
    }

    /// What messages call the source.
    pub(crate) fn name(&self) -> &str {
        delegate!(self.name())
    }

    /// What reading came across, which is then forgotten.
    pub(crate) fn take_report(&mut self) -> ReadReport {
        delegate!(self.take_report())
    }

    /// Names of the columns that go to the output, and whether their cells are JSON.
    pub(crate) fn kept_columns(&self) -> (Vec<String>, bool) {
        delegate!(self.kept_columns())
    }

    /// What the rows hold.
    pub(crate) fn content(&self) -> Content {
        delegate!(self.content())
    }

    /// The column of the labels, where no option names it.
    pub(crate) fn guessed_label(&self) -> Option<&str> {
        delegate!(self.guessed_label())
    }

    /// The number of features that a header promises.
    pub(crate) fn promised_features(&self) -> Option<usize> {
        delegate!(self.promised_features())
    }

    /// The number that vectors in this source give to the first feature.
    pub(crate) fn first_index(&self) -> u32 {
        delegate!(self.first_index())
    }

    /// All words of the texts in the order of their numbers, where texts were cut into words before.
    pub(crate) fn words(&self) -> Option<&[String]> {
        match self {
            Self::Files(_) => None,
            Self::Prepared(reader) => Some(reader.words()),
        }
    }

    /// Reads everything: `work` is done to each block in the session's pool, `take` gets blocks and results
    /// in order, while work goes on with the next ones. What they leave of a block is used again for its
    /// memory.
    pub(crate) fn run<T: Send>(
        &mut self,
        work: impl Fn(&mut Parsed) -> T + Sync,
        take: impl FnMut(&mut Parsed, T, Position) -> Result<()>,
    ) -> Result<()> {
        delegate!(self.run(work, take))
    }
}
