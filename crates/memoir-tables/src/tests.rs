//! What is written is read back, as CSV with all fields quoted.

use std::fs::File;
use std::io::{BufWriter, Cursor, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray, TimestampSecondArray};
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, root_as_footer};
use memoir_report::table::{Cell, CellKind, Column};
use parquet::arrow::ArrowWriter;
use rust_xlsxwriter::Workbook;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::{TABLE_THREAD, TableFile, arrow, excel, pipe};

const NAMES: [&str; 3] = ["a.parquet", "a.feather", "a.xlsx"];

fn kind(path: &Path) -> TableFile {
    TableFile::of(path).expect("a kind of table")
}

fn write(path: &Path, rows: &[[Cell<'_>; 4]]) {
    let kinds = [CellKind::Text, CellKind::Text, CellKind::Whole, CellKind::Number];
    let columns = ["id", "text; long", "n", "p"].into_iter().zip(kinds);
    let columns: Vec<_> = columns.map(|(name, kind)| Column::new(name, kind)).collect();
    let mut file = BufWriter::new(File::create(path).expect("made"));
    let mut table = kind(path).writer(&columns, &mut file).expect("begun");
    for row in rows {
        table.write(row).expect("written");
    }
    table.finish().expect("finished");
}

/// Replaces a text in a part of a workbook.
fn replace_in_archive(path: &Path, part: &str, from: &str, to: &str) {
    let mut archive = ZipArchive::new(File::open(path).expect("there")).expect("an archive");
    let mut written = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).expect("an entry");
        let name = entry.name().expect("a name").into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("read");
        if name == part {
            let text = String::from_utf8(content).expect("text");
            assert!(text.contains(from), "{text}");
            content = text.replace(from, to).into_bytes();
        }
        let begun = written.start_file(name, SimpleFileOptions::default());
        begun
            .and_then(|()| Ok(written.write_all(&content)?))
            .expect("written");
    }
    let bytes = written.finish().expect("finished").into_inner();
    std::fs::write(path, bytes).expect("written");
}

/// The file as CSV, or what is wrong with it.
fn read(path: &Path) -> Result<String, String> {
    let file = File::open(path).expect("there");
    let reader = match kind(path) {
        TableFile::Parquet => pipe::read(move |out| arrow::read_parquet(file, out)),
        TableFile::Arrow => pipe::read(move |out| arrow::read_ipc(file, out)),
        TableFile::Excel => {
            let book = pipe::open(|| excel::open(file, "a.xlsx", None))?;
            pipe::read(move |out| excel::read(book, out))
        }
    };
    let mut text = String::new();
    let read = reader.expect("a pipe").read_to_string(&mut text);
    read.map(|_| text).map_err(|reason| reason.to_string())
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in NAMES {
        let path = folder.path().join(name);
        let rows = [
            [
                Cell::Text("007"),
                Cell::Text("green \"tea\",\nhot"),
                Cell::Whole(3),
                Cell::Number(0.1),
            ],
            [Cell::Json("\"é\""), Cell::Json("null"), Cell::Empty, Cell::Empty],
        ];
        write(&path, &rows);
        assert_eq!(
            read(&path).expect("read"),
            "\"id\",\"text; long\",\"n\",\"p\"\n\"007\",\"green \"\"tea\"\",\nhot\",\"3\",\"0.1\"\n\"é\",\"\",\"\",\"\"\n",
            "{name}"
        );
    }
}

#[test]
fn bytes_are_text_and_times_of_any_zone_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let times = TimestampSecondArray::from(vec![Some(3600), None]);
    let columns: [(&str, ArrayRef); 3] = [
        (
            "text",
            Arc::new(BinaryArray::from_vec(vec!["tea".as_bytes(), "thé".as_bytes()])),
        ),
        ("utc", Arc::new(times.clone().with_timezone("UTC"))),
        ("zone", Arc::new(times.with_timezone("Europe/Berlin"))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let expected = "\"text\",\"utc\",\"zone\"\n\"tea\",\"1970-01-01T01:00:00Z\",\"1970-01-01T01:00:00Z\"\n\
                    \"thé\",\"\",\"\"\n";
    let path = folder.path().join("a.parquet");
    let file = File::create(&path).expect("made");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("begun");
    writer.write(&batch).expect("written");
    writer.close().expect("finished");
    assert_eq!(read(&path).expect("read"), expected);
    let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&[0xff_u8, 0xfe][..]]));
    let batch = RecordBatch::try_from_iter([("text", bytes)]).expect("one column");
    let file = File::create(&path).expect("made");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("begun");
    writer.write(&batch).expect("written");
    writer.close().expect("finished");
    assert!(read(&path).is_err(), "what is no text is told");
}

#[test]
fn a_sheet_may_be_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.xlsx");
    let mut book = Workbook::new();
    for (sheet, text) in [("About", "nothing"), ("My data", "tea")] {
        let sheet = book.add_worksheet().set_name(sheet).expect("a name");
        sheet.write_string(0, 0, "text").expect("written");
        sheet.write_string(1, 0, text).expect("written");
    }
    book.save(&path).expect("saved");
    let read = |name: &str| -> memoir::Result<String> {
        let path = folder.path().join(name);
        let kind = TableFile::at(&path).expect("a kind of table");
        let mut text = String::new();
        let read = kind.source(&path)?.into_reader()?.read_to_string(&mut text);
        read.map(|_| text)
            .map_err(|reason| memoir::Error::io(&path, "cannot read", reason))
    };
    assert_eq!(read("a.xlsx").expect("the first"), "\"text\"\n\"nothing\"\n");
    assert_eq!(read("a.xlsx#my data").expect("another"), "\"text\"\n\"tea\"\n");
    let problem = read("a.xlsx#Other").expect_err("none").to_string();
    assert!(
        problem.contains("it has no sheet `Other`; it has `About`, `My data`"),
        "{problem}"
    );
    let book = excel::open(File::open(&path).expect("there"), "a.xlsx", None).expect("a book");
    let note = "of 2 sheets `About` is read; `a.xlsx#My data` would be another";
    assert_eq!(book.note.as_deref(), Some(note));
}

#[test]
fn many_rows_go_through_several_batches() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in NAMES {
        let path = folder.path().join(name);
        let texts: Vec<String> = (0..20_000).map(|row| format!("row {row}")).collect();
        let rows: Vec<[Cell<'_>; 4]> = texts
            .iter()
            .map(|text| [Cell::Text(text), Cell::Empty, Cell::Whole(1), Cell::Number(0.5)])
            .collect();
        write(&path, &rows);
        let read = read(&path).expect("read");
        assert_eq!(read.lines().count(), 20_001, "{name}");
        assert!(read.ends_with("\"row 19999\",\"\",\"1\",\"0.5\"\n"), "{name}");
    }
}

#[test]
fn files_that_are_something_else_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in NAMES {
        let path = folder.path().join(name);
        std::fs::write(&path, "text,label\ntea,a\n").expect("written");
        assert!(read(&path).is_err(), "{name}");
    }
}

/// Damaged files are read as whole ones of other values, or refused. Rows are never lost without a word.
#[test]
fn damage_loses_no_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts: Vec<String> = (0..60).map(|row| format!("row {row}")).collect();
    let batch = |rows: &[String]| {
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(rows));
        RecordBatch::try_from_iter([("text", texts)]).expect("one column")
    };
    let batches: Vec<RecordBatch> = texts.chunks(20).map(batch).collect();
    let schema = batches[0].schema();
    let (mut refused, mut read_anyhow, mut is_empty) = (0, 0, 0);
    keep_panics_quiet();
    for name in ["a.arrow", "a.parquet"] {
        let path = folder.path().join(name);
        let mut whole = Vec::new();
        if kind(&path) == TableFile::Arrow {
            let mut writer = FileWriter::try_new(&mut whole, &schema).expect("begun");
            for batch in &batches {
                writer.write(batch).expect("written");
            }
            writer.finish().expect("finished");
        } else {
            let mut writer = ArrowWriter::try_new(&mut whole, schema.clone(), None).expect("begun");
            for batch in &batches {
                writer.write(batch).expect("written");
            }
            writer.close().expect("finished");
        }
        for place in (0..whole.len()).step_by(7) {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[place] = value;
                std::fs::write(&path, &damaged).expect("written");
                match read(&path) {
                    // The header and 60 rows; texts may hold other characters now, line ends too.
                    Ok(text) => {
                        let rows = text.matches("\"\n\"").count() + 1;
                        // A list of blocks that became empty cannot be told from one that always was.
                        assert!(
                            rows >= 61 || rows == 1,
                            "{name}, byte {place} = {value}: {rows} rows"
                        );
                        is_empty += usize::from(rows == 1);
                        read_anyhow += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(
        refused > 50 && read_anyhow > 50 && is_empty < 4,
        "{refused} {read_anyhow} {is_empty}"
    );
}

/// Backtraces of many panics take seconds.
/// An Arrow file or stream of texts, compressed.
fn compressed(codec: CompressionType, is_stream: bool) -> Vec<u8> {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["the same text again"; 500]));
    let batch = RecordBatch::try_from_iter([("text", texts)]).expect("a batch");
    let options = IpcWriteOptions::default().try_with_compression(Some(codec));
    let (schema, options) = (batch.schema(), options.expect("known"));
    if is_stream {
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).expect("begun");
        writer.write(&batch).expect("written");
        writer.into_inner().expect("finished")
    } else {
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).expect("begun");
        writer.write(&batch).expect("written");
        writer.into_inner().expect("finished")
    }
}

/// Replaces a number of eight bytes wherever it stands.
fn replace_number(bytes: &mut [u8], from: u64, to: u64) {
    let mut found = false;
    for start in 0..bytes.len() - 7 {
        if bytes[start..start + 8] == from.to_le_bytes() {
            bytes[start..start + 8].copy_from_slice(&to.to_le_bytes());
            found = true;
        }
    }
    assert!(found, "{from} is nowhere");
}

/// Memory for them would end the process.
#[test]
fn arrow_columns_that_claim_too_much_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.feather");
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        for is_stream in [false, true] {
            let mut bytes = compressed(codec, is_stream);
            std::fs::write(&path, &bytes).expect("written");
            assert_eq!(read(&path).expect("readable").lines().count(), 501);
            replace_number(&mut bytes, 19 * 500, 1 << 46);
            std::fs::write(&path, &bytes).expect("written");
            let refused = read(&path).expect_err("refused");
            assert!(refused.contains("claims to hold far more"), "{refused}");
        }
    }
}

#[test]
fn arrow_blocks_beyond_the_file_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.feather");
    let file = compressed(CompressionType::ZSTD, false);
    let (_, end) = file.split_last_chunk::<10>().expect("an end");
    let footer = file.len() - end.len() - read_footer_length(*end).expect("a length");
    let footer = root_as_footer(&file[footer..file.len() - end.len()]).expect("a footer");
    let length = footer.recordBatches().expect("blocks").get(0).bodyLength();
    for is_stream in [false, true] {
        let mut bytes = compressed(CompressionType::ZSTD, is_stream);
        replace_number(&mut bytes, length as u64, 1 << 46);
        std::fs::write(&path, &bytes).expect("written");
        let refused = read(&path).expect_err("refused");
        assert!(refused.contains("a block ends at byte"), "{refused}");
    }
}

fn keep_panics_quiet() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(TABLE_THREAD) {
            usual(panic);
        }
    }));
}

#[test]
fn a_reader_that_panics_is_an_error() {
    keep_panics_quiet();
    let mut text = String::new();
    let mut reader = pipe::read(|out| {
        out.write_cell(b"text")
            .and_then(|()| out.end_row())
            .expect("written");
        panic!("index out of range")
    })
    .expect("a pipe");
    let problem = reader.read_to_string(&mut text).expect_err("a panic").to_string();
    assert_eq!(problem, "the file is damaged: index out of range");
    let problem = pipe::open(|| -> Result<(), String> { panic!("{} blocks", 3) }).expect_err("a panic");
    assert_eq!(problem, "the file is damaged: 3 blocks");
}

/// A cell far away would take room for all cells before it.
#[test]
fn cells_beyond_a_sheet_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.xlsx");
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.write_string(0, 0, "text").expect("written");
    sheet.write_string(1, 0, "tea").expect("written");
    for (cell, place) in [
        ("A4294967295", "row 4294967295, column 1"),
        ("XFE2", "row 2, column 16385"),
        ("ZZZZZ2", "row 2, column 12356630"),
    ] {
        book.save(&path).expect("saved");
        replace_in_archive(
            &path,
            "xl/worksheets/sheet1.xml",
            "r=\"A2\"",
            &format!("r=\"{cell}\""),
        );
        let problem = read(&path).expect_err("refused");
        assert!(problem.contains(place), "{cell}: {problem}");
    }
}

#[test]
fn what_excel_cannot_hold_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = BufWriter::new(File::create(folder.path().join("a.xlsx")).expect("made"));
    let columns = [Column::new("text", CellKind::Text)];
    let mut table = TableFile::Excel.writer(&columns, &mut file).expect("begun");
    let problem = table.write(&[Cell::Text(&"x".repeat(40_000))]).unwrap_err();
    assert!(
        problem.to_string().contains("more than 32767 characters"),
        "{problem}"
    );
}
