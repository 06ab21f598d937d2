//! Parquet and Arrow files.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::sync::Arc;

use arrow_array::builder::{Float32Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use memoir::data::LIST_ITEM;
use memoir_report::table::{Cell, CellKind, Column, TableWriter};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::arrow_claims;
use crate::pipe::CsvPipe;

/// Rows that are in memory at a time, of a file that is read.
const READ_ROWS: usize = 1024;

/// Rows that are gathered before they are written.
const WRITTEN_ROWS: usize = 8192;

/// Rows of a row group in a Parquet file: those of the last one are in memory until it is written.
const GROUP_ROWS: usize = 1 << 16;

/// What an Arrow file, other than a stream, begins with.
const FILE_MAGIC: &[u8] = b"ARROW1";

pub(crate) fn read_parquet(file: File, out: &mut CsvPipe) -> Result<(), String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|reason| reason.to_string())?;
    let expected = builder.metadata().file_metadata().num_rows();
    let reader = builder.with_batch_size(READ_ROWS).build();
    let read = write_batches(reader.map_err(|reason| reason.to_string())?, out)?;
    complete(read.rows as i64, expected, "rows")
}

/// The readers take some damage for the end of the file.
fn complete<N: PartialEq + Display>(found: N, expected: N, what: &str) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!(
            "the file is damaged: {found} of its {expected} {what} can be read"
        ))
    }
}

pub(crate) fn read_ipc(mut file: File, out: &mut CsvPipe) -> Result<(), String> {
    let mut magic = [0; FILE_MAGIC.len()];
    let is_file = file.read_exact(&mut magic).is_ok() && magic == FILE_MAGIC;
    arrow_claims::check(&mut file, is_file)?;
    file.rewind().map_err(|reason| reason.to_string())?;
    let file = BufReader::new(file);
    if is_file {
        let reader = FileReader::try_new(file, None).map_err(|reason| reason.to_string())?;
        let expected = reader.num_batches();
        complete(write_batches(reader, out)?.batches, expected, "blocks")
    } else {
        let reader = StreamReader::try_new(file, None).map_err(|reason| reason.to_string())?;
        write_batches(reader, out).map(|_| ())
    }
}

/// What was there.
#[derive(Default)]
struct Counts {
    batches: usize,
    rows: usize,
}

fn write_batches(reader: impl RecordBatchReader, out: &mut CsvPipe) -> Result<Counts, String> {
    let schema = reader.schema();
    let header = schema
        .fields()
        .iter()
        .try_for_each(|field| out.write_cell(field.name().as_bytes()));
    header
        .and_then(|()| out.end_row())
        .map_err(|reason| reason.to_string())?;
    let mut read = Counts::default();
    for batch in reader {
        let written = batch.and_then(|batch| write_batch(&batch, out).map(|()| batch.num_rows()));
        read.rows += written.map_err(|reason| format!("behind row {}: {}", read.rows, explained(&reason)))?;
        read.batches += 1;
    }
    Ok(read)
}

/// What the library says, in words that tell what to do where that is known.
fn explained(reason: &ArrowError) -> String {
    let message = reason.to_string();
    match message.split_once("Disabled feature at compile time: ") {
        Some((_, codec)) => {
            format!("it is compressed with {codec}, which is not read here; write it with snappy or zstd")
        }
        None => message,
    }
}

fn write_batch(batch: &RecordBatch, out: &mut CsvPipe) -> Result<(), ArrowError> {
    let columns: Vec<ArrayRef> = batch.columns().iter().map(readable).collect::<Result<_, _>>()?;
    let columns: Vec<Cells<'_>> = columns.iter().map(Cells::new).collect::<Result<_, _>>()?;
    let fail = |reason: io::Error| ArrowError::ExternalError(Box::new(reason));
    let mut cell = String::new();
    for row in 0..batch.num_rows() {
        for column in &columns {
            cell.clear();
            let bytes = column.cell(row, &mut cell)?;
            out.write_cell(bytes).map_err(fail)?;
        }
        out.end_row().map_err(fail)?;
    }
    Ok(())
}

/// `column` as a type whose values have a text: times of a zone that has only a name are given in UTC, and
/// lists of any kind are lists.
fn readable(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let wanted = match column.data_type() {
        DataType::BinaryView => DataType::LargeBinary,
        DataType::Timestamp(unit, Some(zone)) if zone.parse::<Tz>().is_err() => {
            DataType::Timestamp(*unit, Some("+00:00".into()))
        }
        DataType::List(item) | DataType::FixedSizeList(item, _) => DataType::LargeList(Arc::clone(item)),
        _ => return Ok(Arc::clone(column)),
    };
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(column, &wanted, &options)
}

/// The values of a column as cells of a table.
enum Cells<'a> {
    Values(ArrayFormatter<'a>),
    /// Floating-point numbers, of which some may be none.
    Numbers(ArrayFormatter<'a>),
    /// Bytes, which some programs write where they mean text. What is none is told where it is read as such.
    Bytes(&'a ArrayRef),
    /// Lists.
    Lists(&'a ArrayRef),
}

impl<'a> Cells<'a> {
    fn new(column: &'a ArrayRef) -> Result<Self, ArrowError> {
        Ok(match column.data_type() {
            DataType::LargeList(_) => Self::Lists(column),
            DataType::Binary | DataType::LargeBinary => Self::Bytes(column),
            kind => {
                let values = ArrayFormatter::try_new(column, &FormatOptions::default())?;
                if kind.is_floating() {
                    Self::Numbers(values)
                } else {
                    Self::Values(values)
                }
            }
        })
    }

    /// The value of `row`, nothing if it is null; `text` is room for it.
    fn cell<'c>(&'c self, row: usize, text: &'c mut String) -> Result<&'c [u8], ArrowError> {
        match self {
            Self::Values(values) => values.value(row).write(text)?,
            Self::Numbers(values) => {
                values.value(row).write(text)?;
                // Python's libraries write it where a value is missing.
                if text == "NaN" {
                    text.clear();
                }
            }
            Self::Bytes(bytes) if bytes.is_null(row) => {}
            Self::Bytes(bytes) => {
                return Ok(match bytes.data_type() {
                    DataType::Binary => bytes.as_binary::<i32>().value(row),
                    _ => bytes.as_binary::<i64>().value(row),
                });
            }
            Self::Lists(lists) if lists.is_null(row) => {}
            Self::Lists(lists) => {
                let items = lists.as_list::<i64>().value(row);
                let items_as_text = ArrayFormatter::try_new(&items, &FormatOptions::default())?;
                for index in (0..items.len()).filter(|&index| items.is_valid(index)) {
                    text.push(LIST_ITEM);
                    items_as_text.value(index).write(text)?;
                }
            }
        }
        Ok(text.as_bytes())
    }
}

/// Rows that will become a batch.
struct Batch {
    schema: Arc<Schema>,
    columns: Vec<Builder>,
    rows: usize,
}

enum Builder {
    Text(StringBuilder),
    Whole(UInt64Builder),
    Number(Float32Builder),
}

impl Batch {
    fn new(columns: &[Column]) -> Self {
        let field = |column: &Column| {
            let kind = match column.kind {
                CellKind::Text => DataType::Utf8,
                CellKind::Whole => DataType::UInt64,
                CellKind::Number => DataType::Float32,
            };
            Field::new(&column.name, kind, true)
        };
        let builder = |column: &Column| match column.kind {
            CellKind::Text => Builder::Text(StringBuilder::new()),
            CellKind::Whole => Builder::Whole(UInt64Builder::new()),
            CellKind::Number => Builder::Number(Float32Builder::new()),
        };
        Self {
            schema: Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>())),
            columns: columns.iter().map(builder).collect(),
            rows: 0,
        }
    }

    /// Adds a row; tells whether there are enough for a batch.
    fn push(&mut self, row: &[Cell<'_>]) -> bool {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            match (column, cell) {
                (Builder::Text(texts), cell) => texts.append_option(cell.text()),
                (Builder::Whole(numbers), Cell::Whole(number)) => numbers.append_value(*number),
                (Builder::Whole(numbers), _) => numbers.append_null(),
                (Builder::Number(numbers), Cell::Number(number)) => numbers.append_value(*number),
                (Builder::Number(numbers), _) => numbers.append_null(),
            }
        }
        self.rows += 1;
        self.rows >= WRITTEN_ROWS
    }

    /// The rows so far, which are then forgotten.
    fn take(&mut self) -> io::Result<RecordBatch> {
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(|column| -> ArrayRef {
            match column {
                Builder::Text(texts) => Arc::new(texts.finish()),
                Builder::Whole(numbers) => Arc::new(numbers.finish()),
                Builder::Number(numbers) => Arc::new(numbers.finish()),
            }
        });
        RecordBatch::try_new(Arc::clone(&self.schema), arrays.collect()).map_err(io::Error::other)
    }
}

/// What takes batches and makes a file of them.
trait BatchWriter {
    fn write_batch(&mut self, batch: &RecordBatch) -> io::Result<()>;
    fn close(self) -> io::Result<()>;
}

impl BatchWriter for ArrowWriter<&mut (dyn Write + Send)> {
    fn write_batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.write(batch).map_err(io::Error::other)
    }

    fn close(self) -> io::Result<()> {
        ArrowWriter::close(self).map(|_| ()).map_err(io::Error::other)
    }
}

impl BatchWriter for FileWriter<&mut (dyn Write + Send)> {
    fn write_batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.write(batch).map_err(io::Error::other)
    }

    fn close(mut self) -> io::Result<()> {
        self.finish().map_err(io::Error::other)
    }
}

/// A file in the making.
struct BatchTable<W> {
    batch: Batch,
    writer: W,
}

impl<W: BatchWriter> TableWriter for BatchTable<W> {
    fn write(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        if self.batch.push(row) {
            let batch = self.batch.take()?;
            self.writer.write_batch(&batch)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let rest = self.batch.take()?;
        self.writer.write_batch(&rest)?;
        self.writer.close()
    }
}

/// Writes a Parquet file.
pub(crate) fn parquet_table<'w>(
    columns: &[Column],
    out: &'w mut (dyn Write + Send),
) -> io::Result<Box<dyn TableWriter + 'w>> {
    let batch = Batch::new(columns);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .build();
    let schema = Arc::clone(&batch.schema);
    let writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(io::Error::other)?;
    Ok(Box::new(BatchTable { batch, writer }))
}

/// Writes an Arrow file.
pub(crate) fn arrow_table<'w>(
    columns: &[Column],
    out: &'w mut (dyn Write + Send),
) -> io::Result<Box<dyn TableWriter + 'w>> {
    let batch = Batch::new(columns);
    let writer = FileWriter::try_new(out, &batch.schema).map_err(io::Error::other)?;
    Ok(Box::new(BatchTable { batch, writer }))
}
