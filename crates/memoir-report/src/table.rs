//! Tables as files: named columns, and rows of cells one at a time, as CSV, TSV or JSON lines. Other kinds
//! of files implement [`TableWriter`].

use std::borrow::Cow;
use std::io::{self, Write};

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Text.
    Text,
    /// Whole numbers.
    Whole,
    /// Other numbers.
    Number,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its cells hold, if anything.
    pub kind: CellKind,
}

impl Column {
    /// A column called `name`.
    pub fn new(name: impl Into<String>, kind: CellKind) -> Self {
        Self {
            name: name.into(),
            kind,
        }
    }
}

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Empty,
    /// Text.
    Text(&'a str),
    /// A JSON value, as text.
    Json(&'a str),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f32),
}

impl<'a> Cell<'a> {
    /// The cell as text; nothing for an empty one.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        match *self {
            Self::Empty | Self::Json("null") => None,
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Json(value) => Some(match serde_json::from_str::<String>(value) {
                Ok(text) => Cow::Owned(text),
                Err(_) => Cow::Borrowed(value),
            }),
            Self::Whole(number) => Some(Cow::Owned(number.to_string())),
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
        }
    }
}

/// Writes a table row by row.
pub trait TableWriter {
    /// Writes a row: a cell for each column.
    fn write(&mut self, row: &[Cell<'_>]) -> io::Result<()>;

    /// Writes what is left to write.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Values separated by a character, quoted where they must be.
pub struct Separated<W: Write> {
    table: csv::Writer<W>,
}

impl<W: Write> Separated<W> {
    /// Begins with a header.
    pub fn new(delimiter: u8, columns: &[Column], writer: W) -> io::Result<Self> {
        let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(writer);
        let names = columns.iter().map(|column| column.name.as_bytes());
        table.write_record(names).map_err(cause)?;
        Ok(Self { table })
    }
}

impl<W: Write> TableWriter for Separated<W> {
    fn write(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        for cell in row {
            let text = cell.text().unwrap_or_default();
            self.table.write_field(text.as_bytes()).map_err(cause)?;
        }
        self.table.write_record(None::<&[u8]>).map_err(cause)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.table.flush()
    }
}

/// What kept a table from being written. The plain conversion would hide the kind, by which a closed
/// pipe is known.
pub fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => cause,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// One JSON object per row.
pub struct JsonLines<W: Write> {
    /// The columns' names as JSON.
    keys: Vec<String>,
    writer: W,
}

impl<W: Write> JsonLines<W> {
    /// Rows get a key for each column.
    pub fn new(columns: &[Column], writer: W) -> io::Result<Self> {
        let keys: Result<_, _> = columns
            .iter()
            .map(|column| serde_json::to_string(&column.name))
            .collect();
        Ok(Self { keys: keys?, writer })
    }
}

impl<W: Write> TableWriter for JsonLines<W> {
    fn write(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        let out = &mut self.writer;
        for (index, (key, cell)) in self.keys.iter().zip(row).enumerate() {
            write!(out, "{}{key}:", if index == 0 { "{" } else { "," })?;
            match cell {
                Cell::Empty => out.write_all(b"null")?,
                Cell::Text(text) => serde_json::to_writer(&mut *out, text)?,
                Cell::Json(value) => out.write_all(value.as_bytes())?,
                Cell::Whole(number) => write!(out, "{number}")?,
                Cell::Number(number) => write!(out, "{number}")?,
            }
        }
        out.write_all(b"}\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [[Cell<'static>; 3]; 2] = [
        [Cell::Text("a;\"b\""), Cell::Whole(7), Cell::Number(0.5)],
        [Cell::Json("\"c\\td\""), Cell::Json("[1]"), Cell::Empty],
    ];

    fn columns() -> Vec<Column> {
        let kinds = [
            ("x", CellKind::Text),
            ("n", CellKind::Whole),
            ("p", CellKind::Number),
        ];
        kinds.map(|(name, kind)| Column::new(name, kind)).to_vec()
    }

    fn written(mut writer: Box<dyn TableWriter + '_>) {
        for row in &ROWS {
            writer.write(row).unwrap();
        }
        writer.finish().unwrap();
    }

    #[test]
    fn separated_values_are_quoted_where_they_must_be() {
        let mut bytes = Vec::new();
        written(Box::new(Separated::new(b';', &columns(), &mut bytes).unwrap()));
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "x;n;p\n\"a;\"\"b\"\"\";7;0.5\nc\td;[1];\n"
        );
    }

    #[test]
    fn json_keeps_types() {
        let mut bytes = Vec::new();
        written(Box::new(JsonLines::new(&columns(), &mut bytes).unwrap()));
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "{\"x\":\"a;\\\"b\\\"\",\"n\":7,\"p\":0.5}\n{\"x\":\"c\\td\",\"n\":[1],\"p\":null}\n"
        );
    }
}
