//! Parquet and Arrow files.

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
use memoir_report::table::{Cell, CellKind, Column, TableWriter};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::pipe::CsvPipe;

/// Rows that are in memory at a time, of a file that is read.
const READ_ROWS: usize = 1024;

/// Rows that are gathered before they are written.
const WRITTEN_ROWS: usize = 8192;

/// Rows of a row group in a Parquet file: those of the last one are in memory until it is written.
const GROUP_ROWS: usize = 1 << 16;

/// What an Arrow file, other than a stream, begins with.
const FILE_MAGIC: &[u8] = b"ARROW1";

/// What separates the labels of a row, where a column holds lists.
const LIST_SEPARATOR: &str = "|";

pub(crate) fn read_parquet(file: File, out: &mut CsvPipe) -> Result<(), String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|reason| reason.to_string())?;
    let reader = builder.with_batch_size(READ_ROWS).build();
    write_batches(reader.map_err(|reason| reason.to_string())?, out)
}

pub(crate) fn read_ipc(mut file: File, out: &mut CsvPipe) -> Result<(), String> {
    let mut magic = [0; FILE_MAGIC.len()];
    let is_file = file.read_exact(&mut magic).is_ok() && magic == FILE_MAGIC;
    file.rewind().map_err(|reason| reason.to_string())?;
    let file = BufReader::new(file);
    if is_file {
        let reader = FileReader::try_new(file, None).map_err(|reason| reason.to_string())?;
        write_batches(reader, out)
    } else {
        let reader = StreamReader::try_new(file, None).map_err(|reason| reason.to_string())?;
        write_batches(reader, out)
    }
}

fn write_batches(reader: impl RecordBatchReader, out: &mut CsvPipe) -> Result<(), String> {
    let schema = reader.schema();
    let names = schema.fields().iter().map(|field| field.name().as_bytes());
    out.write_record(names).map_err(|reason| reason.to_string())?;
    let mut rows = 0;
    for batch in reader {
        let written = batch.and_then(|batch| write_batch(&batch, out).map(|()| batch.num_rows()));
        rows += written.map_err(|reason| format!("behind row {rows}: {reason}"))?;
    }
    Ok(())
}

fn write_batch(batch: &RecordBatch, out: &mut CsvPipe) -> Result<(), ArrowError> {
    let columns: Vec<ArrayRef> = batch.columns().iter().map(readable).collect::<Result<_, _>>()?;
    let columns: Vec<Texts<'_>> = columns.iter().map(Texts::new).collect::<Result<_, _>>()?;
    let fail = |reason: csv::Error| ArrowError::ExternalError(Box::new(reason));
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        for column in &columns {
            text.clear();
            column.write(row, &mut text)?;
            out.write_field(&text).map_err(fail)?;
        }
        out.write_record(None::<&[u8]>).map_err(fail)?;
    }
    Ok(())
}

/// `column` as a type whose values have a text: bytes are text, which some programs do not say, and times of
/// a zone that has only a name are given in UTC.
fn readable(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let wanted = match column.data_type() {
        DataType::Binary | DataType::BinaryView => DataType::Utf8,
        DataType::LargeBinary => DataType::LargeUtf8,
        DataType::Timestamp(unit, Some(zone)) if zone.parse::<Tz>().is_err() => {
            DataType::Timestamp(*unit, Some("+00:00".into()))
        }
        _ => return Ok(Arc::clone(column)),
    };
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(column, &wanted, &options)
}

/// The values of a column as texts.
enum Texts<'a> {
    Values(ArrayFormatter<'a>),
    /// Lists, whose values are separated.
    Lists(&'a ArrayRef),
}

impl<'a> Texts<'a> {
    fn new(column: &'a ArrayRef) -> Result<Self, ArrowError> {
        Ok(match column.data_type() {
            DataType::List(_) | DataType::LargeList(_) => Self::Lists(column),
            _ => Self::Values(ArrayFormatter::try_new(column, &FormatOptions::default())?),
        })
    }

    /// Appends the value of `row`, nothing if it is null.
    fn write(&self, row: usize, text: &mut String) -> Result<(), ArrowError> {
        match self {
            Self::Values(values) => values.value(row).write(text),
            Self::Lists(lists) if lists.is_null(row) => Ok(()),
            Self::Lists(lists) => {
                let values = match lists.data_type() {
                    DataType::List(_) => lists.as_list::<i32>().value(row),
                    _ => lists.as_list::<i64>().value(row),
                };
                let options = FormatOptions::default();
                let values_as_text = ArrayFormatter::try_new(&values, &options)?;
                for index in 0..values.len() {
                    if index > 0 {
                        text.push_str(LIST_SEPARATOR);
                    }
                    values_as_text.value(index).write(text)?;
                }
                Ok(())
            }
        }
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
