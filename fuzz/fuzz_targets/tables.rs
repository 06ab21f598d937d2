//! Any bytes as a Parquet or Arrow file, or as the parts of an Excel workbook.
#![no_main]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Once;

use libfuzzer_sys::fuzz_target;
use memoir::data::ReadOptions;
use memoir::prepare::{self, PrepOptions};
use memoir_fuzz::SESSION;
use memoir_tables::{TABLE_THREAD, TableFile};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// What is around a sheet, its texts and its styles.
const AROUND: [(&str, &str); 4] = [
    (
        "[Content_Types].xml",
        "<Types><Override PartName=\"/xl/workbook.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/></Types>",
    ),
    (
        "_rels/.rels",
        "<Relationships><Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<Relationships><Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>",
    ),
    (
        "xl/workbook.xml",
        "<workbook><sheets><sheet name=\"s\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>",
    ),
];

const PARTS: [&str; 3] = [
    "xl/worksheets/sheet1.xml",
    "xl/sharedStrings.xml",
    "xl/styles.xml",
];

/// A workbook whose parts are `content`, divided by zero bytes.
fn write_workbook(path: &Path, content: &[u8]) {
    let mut book = ZipWriter::new(File::create(path).expect("a file"));
    let around = AROUND.map(|(name, text)| (name, text.as_bytes()));
    let parts = PARTS.into_iter().zip(content.split(|&byte| byte == 0));
    for (name, bytes) in around.into_iter().chain(parts) {
        book.start_file(name, SimpleFileOptions::default())
            .expect("begun");
        book.write_all(bytes).expect("written");
    }
    book.finish().expect("finished");
}

/// Panics of the thread that reads a table become errors; all others end the run.
fn expect_table_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(TABLE_THREAD) {
                usual(panic);
            }
        }));
    });
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, content)) = bytes.split_first() else {
        return;
    };
    expect_table_panics();
    let name = ["a.parquet", "a.arrow", "a.xlsx"][usize::from(choice % 3)];
    let path = memoir_fuzz::FOLDER.path().join(name);
    if name == "a.xlsx" {
        write_workbook(&path, content);
    } else {
        fs::write(&path, content).expect("a file");
    }
    let Some(Ok(source)) = TableFile::of(&path).map(|kind| kind.source(&path)) else {
        return;
    };
    let options = ReadOptions::default();
    let read = || prepare::read_training(source, &options, &PrepOptions::default(), &SESSION);
    if let Ok(training) = SESSION.run(read) {
        assert_eq!(training.data.rows.len(), training.data.labels.len());
    }
});
