//! Writes the seed corpus: `seeds FOLDER`.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use memoir_fuzz::models::MODELS;
use memoir_report::table::{Cell, CellKind, Column};
use memoir_tables::TableFile;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Small inputs of every format, behind the two bytes that choose format and options.
const DATA: [(u8, &str); 10] = [
    (0, "1 1:0.5 7:2\n2,3 2:1 # weight=2\n"),
    (1, "2 5 3\n0,2 0:1 4:0.5\n1 3:2\n"),
    (2, "__label__a __label__b some text\n__label__a other\n"),
    (3, "label,text\na|b,\"some, text\"\nb,\"two\nlines\"\n"),
    (4, "text\tlabel\nsome text\ta\nother\tb\n"),
    (
        5,
        "{\"text\": \"some text\", \"label\": [\"a\", 3]}\n{\"label\": \"b\", \"features\": {\"1\": 2.5}}\n",
    ),
    (6, "label;text\na;some text\nb;other\n"),
    (7, "some text\nother text\n"),
    (3, "\u{feff}label,text,weight\r\na,x,0.5\r\nb,y,2\r\n"),
    (0, " 1:1\n-1 2:1e-3\n"),
];

const VOCABULARIES: [(u8, &str); 5] = [
    (
        0,
        "id,prefLabel@en,altLabel,broader\na,Apple,apples,f\nf,Fruit,,\n",
    ),
    (
        2,
        "@prefix s: <http://www.w3.org/2004/02/skos/core#> . <a> a s:Concept ; s:prefLabel \"Apple\"@en ; s:broader <f> . <f> a s:Concept .",
    ),
    (
        3,
        "<!DOCTYPE r [<!ENTITY s \"http://www.w3.org/2004/02/skos/core#\">]><r:RDF \
         xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:s=\"&s;\"><s:Concept r:about=\"http://a\">\
         <s:prefLabel xml:lang=\"en\">Apple</s:prefLabel></s:Concept></r:RDF>",
    ),
    (
        4,
        "<http://a> <http://www.w3.org/2004/02/skos/core#prefLabel> \"Apple\"@en .\n",
    ),
    (
        5,
        "{\"@id\": \"http://a\", \"@type\": \"http://www.w3.org/2004/02/skos/core#Concept\"}",
    ),
];

/// The sheet, the texts and the styles of a workbook, divided by zero bytes.
const WORKBOOK: &str = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c>\
     <c r=\"B1\" t=\"inlineStr\"><is><t>label</t></is></c></row>\
     <row r=\"2\"><c r=\"A2\" t=\"str\"><v>tea</v></c><c r=\"B2\" s=\"1\"><v>7</v></c></row></sheetData></worksheet>\0\
     <sst><si><t>text</t></si></sst>\0\
     <styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"000\"/></numFmts><cellXfs><xf numFmtId=\"0\"/>\
     <xf numFmtId=\"164\"/></cellXfs></styleSheet>";

/// A table of two columns in the form of `name`.
fn table(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let columns = ["text", "label"].map(|name| Column::new(name, CellKind::Text));
    let kind = TableFile::of(Path::new(name)).expect("a kind of table");
    let mut table = kind.writer(&columns, &mut bytes).expect("begun");
    for row in [["tea", "hot"], ["ice", "cold"]] {
        table.write(&row.map(Cell::Text)).expect("written");
    }
    table.finish().expect("finished");
    bytes
}

/// A table of text in each form in which it may be stored.
fn stored() -> [(u8, Vec<u8>); 4] {
    const ROWS: &[u8] = b"label,text\na,tea\nb,ice\n";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(ROWS).expect("written");
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive
        .start_file("a.csv", SimpleFileOptions::default())
        .and_then(|()| Ok(archive.write_all(ROWS)?))
        .expect("written");
    let utf_16 = ROWS.iter().flat_map(|&byte| [byte, 0]);
    [
        (0, gzip.finish().expect("finished")),
        (1, zstd::bulk::compress(ROWS, 3).expect("compressed")),
        (4, archive.finish().expect("finished").into_inner()),
        (5, [0xff, 0xfe].into_iter().chain(utf_16).collect()),
    ]
}

const EXPERIMENTS: [&str; 4] = [
    "title = 'a'\nrepeats = 2\n[limits]\ncpu-seconds = 1.5\nmemory = '2G'\n[[data]]\nname = 'd'\ntrain = 'a.svm'\n\
     test = 'b.svm'\nweighting = 'raw'\n[[method]]\nname = 'm'\nalgorithm = 'softmax'\noptions = { seed = 1 }\n",
    "title = 'b'\n[[data]]\nname = 'd'\nsynth = { rows = 10, classes = 3, format = 'csv' }\ntext = { blocks = 'words' }\n\
     [[method]]\nname = 'x'\nvectors = 'xmc'\ndepth = 3\ntrain = ['t', '{train}']\npredict = ['p', '{model}']\n\
     only = ['d']\n[[expect]]\ndata = 'd'\nmethod = 'x'\naccuracy = [0.5, 1]\n",
    "title = 'c'\n[[method]]\nname = 'm'\nalgorithm = 'centroid'\n[scale]\nfactors = [1, 2, 0.5]\ntest-rows = 5\n\
     base = { rows = 10, classes = 3, features = 9, row-length = 2 }\n[[scale.target]]\nname = 't'\n\
     sizes = { rows = 1e6, classes = 3e4, features = 1e5, row-length = 30 }\npublished = { m = 3 }\n",
    "title = 'd'\nabout = \"\"\"x\"\"\"\nthreads = 2\nexternals = []\n[[data]]\nname = 'd'\ntrain = 'a.svm'\ntest = 'b.svm'\n\
     format = 'libsvm'\nzero-based = true\nsingle-label = true\nlabel-separator = ';'\n[[method]]\nname = 'm'\n\
     about = 'y'\nalgorithm = 'ovr'\n",
];

const TEXTS: [&str; 5] = [
    "Red apple, 3/4\" C++ pie",
    "größe İstanbul ΣΊΣΥΦΟΣ",
    "日本語のテキスト 👩‍🌾",
    "l'homme don't\u{ad}",
    "",
];

fn write(folder: &Path, name: usize, bytes: &[u8]) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join(format!("seed-{name:03}")), bytes).expect("a file");
}

fn main() {
    let folder = std::env::args().nth(1).expect("seeds FOLDER");
    let folder = Path::new(&folder);
    for (number, bytes) in MODELS.iter().enumerate() {
        write(&folder.join("container"), number, bytes);
        let choice = number as u8;
        write(
            &folder.join("model"),
            number,
            &[choice, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8],
        );
        write(
            &folder.join("answer"),
            number,
            &[&[choice, 3][..], "red apple in the mud".as_bytes()].concat(),
        );
    }
    for (number, (choice, text)) in DATA.iter().enumerate() {
        write(
            &folder.join("reader"),
            number,
            &[&[*choice, 0][..], text.as_bytes()].concat(),
        );
    }
    for (number, (choice, text)) in VOCABULARIES.iter().enumerate() {
        write(
            &folder.join("vocabulary"),
            number,
            &[&[*choice, 0][..], text.as_bytes()].concat(),
        );
    }
    let tables = [table("a.parquet"), table("a.arrow"), WORKBOOK.as_bytes().to_vec()];
    for (number, bytes) in tables.iter().enumerate() {
        write(
            &folder.join("tables"),
            number,
            &[&[number as u8][..], bytes].concat(),
        );
    }
    for (number, (choice, bytes)) in stored().iter().enumerate() {
        write(
            &folder.join("stored"),
            number,
            &[&[*choice, 0][..], bytes].concat(),
        );
    }
    for number in 0..8 {
        write(
            &folder.join("prepared"),
            usize::from(number),
            &[number, 1, 0, 9, 0, 255, 1],
        );
    }
    for (number, text) in EXPERIMENTS.iter().enumerate() {
        write(&folder.join("experiment"), number, text.as_bytes());
    }
    for (number, text) in TEXTS.iter().enumerate() {
        write(
            &folder.join("text"),
            number,
            &[&[number as u8][..], text.as_bytes()].concat(),
        );
        write(&folder.join("checkpoint"), number, text.as_bytes());
    }
}
