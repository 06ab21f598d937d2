//! Columns of the input that go to the output beside the answers.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Which columns are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeepColumns {
    /// None.
    #[default]
    None,
    /// All of them.
    All,
    /// Those with these names.
    Named(Vec<String>),
}

/// The kept cells of some rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    pub(crate) columns: Arc<[String]>,
    pub(crate) json: bool,
    pub(crate) cells: Cells,
}

impl Kept {
    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Whether cells are JSON values; otherwise they are plain text.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// The cells of a row, one for each column.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = &str> {
        let width = self.columns.len();
        (row * width..(row + 1) * width).map(|cell| self.cells.get(cell))
    }
}

/// Texts, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cells {
    text: String,
    ends: Vec<usize>,
}

impl Cells {
    pub(super) fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    fn get(&self, cell: usize) -> &str {
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }
}

/// The keys and values of a JSON object in their order; none if `line` is no object.
pub(super) fn json_entries(line: &str) -> Vec<(String, Box<RawValue>)> {
    struct Entries;

    impl<'l> Visitor<'l> for Entries {
        type Value = Vec<(String, Box<RawValue>)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }

    let mut json = serde_json::Deserializer::from_str(line);
    json.deserialize_map(Entries).unwrap_or_default()
}
