//! Options that several verbs share, and what they mean.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use anyhow::bail;
use clap::Args;
use memoir::data::{Encoding, Format, ReadOptions};
use memoir::{Observer, Session};

use crate::{Context, sources};

// How to read data. (A documentation comment would become the help of the verb that has these options.)
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading data")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Reading {
    /// Format of the data [default: from the file's name]
    ///
    /// one of libsvm, xmc, fasttext, csv, tsv, jsonl, and lines (raw text, to predict)
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Encoding of the text, such as latin1 [default: UTF-8, or what is recognised]
    #[arg(long, value_name = "NAME", value_parser = parse_encoding, hide_short_help = true)]
    encoding: Option<&'static Encoding>,
    /// What separates the columns of a table [default: the header tells]
    ///
    /// a character such as `;`, or `tab`
    #[arg(long, value_name = "C", value_parser = parse_delimiter, hide_short_help = true)]
    delimiter: Option<u8>,
    /// The table has no header: its columns are called 1, 2, ...
    #[arg(long, hide_short_help = true)]
    no_header: bool,
    /// Column (csv, tsv) or key (jsonl) of the text [default: text]
    ///
    /// several columns as in title,abstract; with weights, as in title:2,abstract, the words of each are
    /// features of their own
    #[arg(long, value_name = "NAME")]
    text_column: Option<String>,
    /// Columns whose values are features beside the text, such as industry,region
    ///
    /// a weight may follow, as in industry:1,region; otherwise it is chosen on held-out rows
    #[arg(long, value_name = "NAMES", hide_short_help = true)]
    category_column: Option<String>,
    /// Columns of numbers whose ranges are features beside the text, such as salary
    #[arg(long, value_name = "NAMES", hide_short_help = true)]
    numeric_column: Option<String>,
    /// Column or key of the labels [default: label]
    #[arg(long, value_name = "NAME")]
    label_column: Option<String>,
    /// Column or key of the row's weight [default: all rows count the same]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    weight_column: Option<String>,
    /// Separator of several labels [default: `|`, in libsvm and xmc `,`]
    #[arg(long, value_name = "TEXT")]
    label_separator: Option<String>,
    /// Take the label field as one label, even if it holds a separator
    #[arg(long, hide_short_help = true)]
    single_label: bool,
    /// Feature numbers of libsvm data count from 0, not from 1
    #[arg(long, hide_short_help = true)]
    zero_based: bool,
    /// Count and report bad rows instead of stopping at the first
    #[arg(long, hide_short_help = true)]
    skip_bad_rows: bool,
}

impl Reading {
    /// The library's form of it.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            encoding: self.encoding,
            delimiter: self.delimiter,
            no_header: self.no_header,
            text_column: self.text_column.clone(),
            category_column: self.category_column.clone(),
            numeric_column: self.numeric_column.clone(),
            label_column: self.label_column.clone(),
            weight_column: self.weight_column.clone(),
            label_separator: self.label_separator.clone(),
            single_label: self.single_label,
            skip_bad_rows: self.skip_bad_rows,
            zero_based: self.zero_based,
            ..ReadOptions::default()
        }
    }
}

/// Reads a whole number of at least 1.
pub(crate) fn parse_positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// Reads the name of an encoding.
fn parse_encoding(text: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label(text.as_bytes())
        .ok_or_else(|| "expected the name of an encoding, such as utf-8, utf-16le or latin1".to_owned())
}

/// Reads a delimiter.
fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err("expected one ASCII character that is no quote, such as `;`, or `tab`".to_owned()),
    }
}

/// Fails if writing `output` would replace a file of `data`.
pub(crate) fn check_apart_from_data(output: &Path, data: &[PathBuf]) -> anyhow::Result<()> {
    for file in sources::files(data)? {
        check_apart(output, &file)?;
    }
    Ok(())
}

/// Fails if writing `output` would replace `other`, which the same command reads or writes.
pub(crate) fn check_apart(output: &Path, other: &Path) -> anyhow::Result<()> {
    let is_same = match (fs::canonicalize(output), fs::canonicalize(other)) {
        (Ok(output), Ok(other)) => output == other,
        // Neither of them is there yet, or one is.
        _ => output == other && output != Path::new("-"),
    };
    if is_same {
        bail!(
            "{}: would be overwritten, but the same command also uses it otherwise; expected two files",
            output.display()
        );
    }
    Ok(())
}

// What a run may use and what it says; see above.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct Running {
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    threads: Option<NonZeroUsize>,
    /// Print only results and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Running {
    /// A session that tells `observer` and stops on Ctrl-C.
    pub(crate) fn session<'a>(
        &self,
        context: &Context,
        observer: &'a dyn Observer,
    ) -> anyhow::Result<Session<'a>> {
        let threads = self
            .threads
            .or_else(|| available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN);
        Ok(Session::new(threads)?
            .with_cancel(context.cancel.clone())
            .with_observer(observer))
    }
}

/// A session of one thread for work too small to show.
pub(crate) fn silent_session(context: &Context) -> anyhow::Result<Session<'static>> {
    Ok(Session::new(NonZeroUsize::MIN)?.with_cancel(context.cancel.clone()))
}
