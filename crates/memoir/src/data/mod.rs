//! Files and streams become blocks of parsed rows: vectors or texts, labels, class names. One file per
//! format.
//!
//! ```text
//! Source ──► Feed (blocks of whole records) ──► a parser per format, in parallel ──► in order: prepare
//! ```
//!
//! | format | a row | labels |
//! |---|---|---|
//! | `libsvm` | `a,b 1:0.5 7:2 # weight=2` | separated by `,`; none if the line begins with a blank or a feature |
//! | `xmc` | the same behind a line `rows features classes`, indices from 0 | whole numbers below `classes` |
//! | `fasttext` | `__label__a __label__b some text` | marked, in front |
//! | `csv` | `some text,a\|b`, columns named by the first line; `;`, tab and `\|` separate them, too | a column, separated by `\|` |
//! | `tsv` | the same with tabs; quotes mean nothing | the same |
//! | `jsonl` | `{"text": "some text", "label": ["a", "b"]}` | a string, a whole number or an array of these |
//! | `lines` | `some text` | none: for prediction only |
//!
//! A byte-order mark, Windows line ends, blank lines and a missing last line end are fine in all of them.

mod any_reader;
mod archive;
mod blocks;
mod cells;
mod columns;
mod dialect;
mod encoding;
mod fasttext;
mod feed;
mod files;
mod format;
mod header;
mod json_values;
mod jsonl;
mod kept;
mod libsvm;
mod lines;
mod number;
mod options;
mod parsed;
mod parser;
pub(crate) mod prepared;
mod quotes;
mod reader;
mod report;
mod row_columns;
mod settle;
mod source;
mod table;

pub(crate) use any_reader::Reader;
pub use cells::LIST_ITEM;
pub use encoding_rs::Encoding;
pub use files::files_at;
pub use format::{Content, Format};
pub use kept::{KeepColumns, Kept};
pub use options::{MAX_FEATURES, ReadOptions, Remembered};
pub(crate) use parsed::Parsed;
pub use prepared::{Manifest, SourceEntry};
pub(crate) use reader::{Position, Purpose};
pub use report::ReadReport;
pub use source::Source;
