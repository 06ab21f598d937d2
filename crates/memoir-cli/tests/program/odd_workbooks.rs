//! Excel, Parquet and Arrow files as people have them: formats, errors and hidden sheets, lists, bytes and
//! missing numbers.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, Decimal128Array, DictionaryArray, Float64Array, RecordBatch, StringArray,
    StructArray,
};
use arrow_ipc::writer::StreamWriter;
use parquet::arrow::ArrowWriter;
use rust_xlsxwriter::{Format, Formula, Workbook, Worksheet};

use crate::support::Workplace;

/// A folder with a model `m` that knows two classes.
fn place() -> Workplace {
    let place = Workplace::new();
    place.file(
        "train.csv",
        "text,label\ngreen tea,hot\nice,cold\nblack tea,hot\n",
    );
    place.stdout("train train.csv --model m --quiet");
    place
}

/// Writes a workbook of one sheet.
fn sheet(path: &Path, fill: impl FnOnce(&mut Worksheet)) {
    let mut book = Workbook::new();
    fill(book.add_worksheet());
    book.save(path).expect("saved");
}

/// Writes texts from the upper left cell on.
fn write(sheet: &mut Worksheet, rows: &[&[&str]]) {
    for (row, cells) in rows.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            sheet
                .write_string(row as u32, column as u16, *cell)
                .expect("written");
        }
    }
}

fn parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, cells)| (name, cells, true)),
    );
    let batch = batch.expect("columns of one length");
    let file = File::create(path).expect("made");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("begun");
    writer.write(&batch).expect("written");
    writer.close().expect("finished");
}

fn texts(cells: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(cells.to_vec()))
}

/// The classes that `train` finds in `file`.
fn classes(place: &Workplace, file: &str) -> Vec<String> {
    place.stdout(&format!("train {file} --model t --quiet"));
    let classes = place.stdout("classes t");
    classes.lines().map(|line| line[12..].to_owned()).collect()
}

/// What a command that must fail says.
fn refusal(place: &Workplace, command: &str) -> String {
    let output = place.run(command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{command}: {said}");
    assert!(output.stdout.is_empty(), "{command}");
    said
}

#[test]
fn codes_keep_the_zeros_that_excel_shows() {
    let place = place();
    sheet(&place.path().join("a.xlsx"), |sheet| {
        write(
            sheet,
            &[
                &["text", "label"],
                &["tea"],
                &["ice"],
                &["milk"],
                &["cocoa"],
                &["water"],
            ],
        );
        let zeros = Format::new().set_num_format("0000");
        let parts = Format::new().set_num_format("00\\-0000");
        sheet
            .write_number_with_format(1, 1, 123, &zeros)
            .expect("written");
        sheet
            .write_number_with_format(2, 1, 112_021, &parts)
            .expect("written");
        sheet.write_number(3, 1, 123).expect("written");
        sheet.write_number(4, 1, 12.0).expect("written");
        sheet.write_number(5, 1, 123).expect("written");
    });
    assert_eq!(classes(&place, "a.xlsx"), ["0123", "11-2021", "123", "12"]);
}

#[test]
fn times_are_written_as_they_are_shown() {
    let place = place();
    sheet(&place.path().join("a.xlsx"), |sheet| {
        write(sheet, &[&["text", "date", "time", "hours"], &["tea"]]);
        for (column, value, format) in [
            (1, 45_293.0, "yyyy-mm-dd"),
            (2, 0.5, "hh:mm:ss"),
            (3, 1.25, "[h]:mm:ss"),
        ] {
            let format = Format::new().set_num_format(format);
            sheet
                .write_number_with_format(1, column, value, &format)
                .expect("written");
        }
    });
    place.stdout("predict m a.xlsx --out o.csv --quiet");
    let coded = fs::read_to_string(place.path().join("o.csv")).expect("read");
    assert!(
        coded.contains("\ntea,2024-01-02,12:00:00,30:00:00,hot,"),
        "{coded}"
    );
}

#[test]
fn formulas_that_failed_are_no_values() {
    let place = place();
    sheet(&place.path().join("a.xlsx"), |sheet| {
        write(
            sheet,
            &[
                &["text", "label"],
                &["green\ntea", "a"],
                &["ice"],
                &["", "b"],
                &["milk", "a"],
            ],
        );
        sheet
            .write_formula(2, 1, Formula::new("=1/0").set_result("#DIV/0!"))
            .expect("written");
        sheet
            .write_formula(3, 0, Formula::new("=NA()").set_result("#N/A"))
            .expect("written");
    });
    let said = refusal(&place, "train a.xlsx --model t");
    assert!(
        said.contains("a.xlsx:3:2: expected a label, found `#DIV/0!`"),
        "row 3, column 2: {said}"
    );
    assert_eq!(place.stdout("predict m a.xlsx --quiet"), "hot\ncold\n\n\n");
}

#[test]
fn sheets_that_nobody_sees_are_not_read() {
    let place = place();
    let mut book = Workbook::new();
    let hidden = book.add_worksheet().set_name("lists").expect("a name");
    write(hidden, &[&["text"], &["ice"]]);
    hidden.set_hidden(true);
    let shown = book.add_worksheet().set_name("tickets").expect("a name");
    write(shown, &[&["text"], &["tea"]]);
    shown.set_active(true);
    book.save(place.path().join("a.xlsx")).expect("saved");
    let output = place.run("predict m a.xlsx");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.stdout, b"hot\n", "{said}");
    assert!(
        said.contains("of 2 sheets `tickets` is read; `a.xlsx#lists` would be another"),
        "{said}"
    );
    assert_eq!(place.stdout("predict m a.xlsx#lists"), "cold\n");
}

#[test]
fn places_are_those_that_excel_shows() {
    let place = place();
    sheet(&place.path().join("a.xlsx"), |sheet| {
        // Blank rows above the header and below it, and a cell of several lines.
        for (row, text) in [(2, "text"), (4, "green\ntea"), (6, "ice"), (7, "milk")] {
            sheet.write_string(row, 1, text).expect("written");
        }
        for (row, pay) in [(2, "pay"), (4, "10"), (6, "20"), (7, "much")] {
            sheet.write_string(row, 2, pay).expect("written");
            sheet
                .write_string(row, 3, if row == 2 { "label" } else { pay })
                .expect("written");
        }
    });
    let said = refusal(
        &place,
        "train a.xlsx --model t --numeric-column pay --label-column label",
    );
    assert!(
        said.contains("a.xlsx:8:2: expected a number, found `much`"),
        "{said}"
    );
    let lines = place.stdout("explain m --data a.xlsx --json");
    assert!(
        lines.contains("{\"line\":5,") && lines.contains("{\"line\":7,"),
        "{lines}"
    );
}

#[test]
fn columns_without_a_name_are_kept() {
    let place = place();
    sheet(&place.path().join("a.xlsx"), |sheet| {
        write(sheet, &[&["", "text"], &["0", "tea", "a note"], &["1", "ice"]]);
    });
    place.stdout("predict m a.xlsx --out o.csv --quiet");
    let coded = fs::read_to_string(place.path().join("o.csv")).expect("read");
    assert!(
        coded.contains("\n0,tea,a note,hot,") && coded.contains("\n1,ice,,cold,"),
        "{coded}"
    );
}

#[test]
fn merged_cells_hold_one_value() {
    let place = place();
    sheet(&place.path().join("a.xlsx"), |sheet| {
        write(
            sheet,
            &[
                &["text", "label"],
                &["tea"],
                &["black tea"],
                &["ice", "cold"],
                &["snow", "cold"],
            ],
        );
        sheet
            .merge_range(1, 1, 2, 1, "hot", &Format::new())
            .expect("merged");
    });
    let output = place.run("train a.xlsx --model t");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 row without a label (4 read)"), "{said}");
}

#[test]
fn items_of_lists_are_labels_as_they_are() {
    let place = place();
    let mut lists = ListBuilder::new(StringBuilder::new());
    for items in [&[Some("a|b"), Some("c;d")][..], &[Some("c;d"), None], &[]] {
        for item in items {
            lists.values().append_option(*item);
        }
        lists.append(true);
    }
    let columns = vec![
        ("text", texts(&[Some("tea"), Some("ice"), Some("milk")])),
        ("labels", Arc::new(lists.finish()) as ArrayRef),
    ];
    parquet(&place.path().join("a.parquet"), columns);
    assert_eq!(classes(&place, "a.parquet"), ["a|b", "c;d"]);
    place.stdout("train a.parquet --model t --quiet --label-separator ;");
    assert_eq!(
        place.stdout("classes t").lines().count(),
        2,
        "items are apart already"
    );
    place.stdout("predict m a.parquet --out o.csv --quiet");
    let coded = fs::read_to_string(place.path().join("o.csv")).expect("read");
    assert!(
        coded.contains("\ntea,a|b|c;d,hot,") && coded.contains("\nice,c;d,cold,"),
        "{coded}"
    );
}

#[test]
fn values_of_every_type_become_labels() {
    let place = place();
    let text = || texts(&[Some("tea"), Some("ice"), Some("milk"), Some("snow")]);
    let labels: Vec<(ArrayRef, &[&str])> = vec![
        (
            Arc::new(Float64Array::from(vec![
                Some(1.5),
                Some(f64::NAN),
                None,
                Some(1.5),
            ])),
            &["1.5"],
        ),
        (
            Arc::new(
                Decimal128Array::from(vec![1230, 100, 1230, 100])
                    .with_precision_and_scale(6, 2)
                    .expect("fits"),
            ),
            &["12.30", "1.00"],
        ),
        (
            Arc::new(DictionaryArray::<Int32Type>::from_iter([
                Some("b"),
                None,
                Some("b"),
                Some("a"),
            ])),
            &["b", "a"],
        ),
        (
            Arc::new(BinaryArray::from_vec(vec![b"x", b"y", b"x", b"y"])),
            &["x", "y"],
        ),
        (
            texts(&[Some(" 007"), Some("7 "), None, Some("007")]),
            &["007", "7"],
        ),
    ];
    for (label, expected) in labels {
        parquet(
            &place.path().join("a.parquet"),
            vec![("text", text()), ("label", label)],
        );
        assert_eq!(classes(&place, "a.parquet"), expected);
    }
}

#[test]
fn columns_that_nobody_reads_may_hold_anything() {
    let place = place();
    let nested: ArrayRef = Arc::new(StructArray::from(vec![(
        Arc::new(arrow_schema::Field::new("x", arrow_schema::DataType::Utf8, true)),
        texts(&[Some("1"), None]),
    )]));
    let picture = || Arc::new(BinaryArray::from_vec(vec![b"\xff\0\x01", b"ok\n"])) as ArrayRef;
    let text = || texts(&[Some("two\nlines of tea"), Some("ice")]);
    let columns = vec![("text", text()), ("nested", nested), ("picture", picture())];
    parquet(&place.path().join("a.parquet"), columns);
    assert_eq!(place.stdout("predict m a.parquet"), "hot\ncold\n");
    let said = refusal(&place, "predict m a.parquet --out o.csv --quiet");
    assert!(
        said.contains("a.parquet:2:3: expected UTF-8 text, found the byte 0xff"),
        "{said}"
    );
    assert!(
        said.contains("leave its column out of the output with `--keep-columns`"),
        "{said}"
    );
    place.stdout("predict m a.parquet --out o.csv --keep-columns text,nested --quiet");
    parquet(
        &place.path().join("b.parquet"),
        vec![("id", text()), ("text", picture())],
    );
    let said = refusal(&place, "predict m b.parquet");
    assert!(
        said.contains("b.parquet:2:2: expected UTF-8 text, found the byte 0xff"),
        "{said}"
    );
}

#[test]
fn options_for_text_do_not_change_tables() {
    let place = place();
    let columns = || vec![("id", texts(&[Some("1;é")])), ("text", texts(&[Some("tea; é")]))];
    parquet(&place.path().join("a.parquet"), columns());
    for options in ["--delimiter ;", "--encoding latin1", "--format csv"] {
        place.stdout(&format!("predict m a.parquet --out o.csv --quiet {options}"));
        let coded = fs::read_to_string(place.path().join("o.csv")).expect("read");
        assert!(coded.contains("\n1;é,tea; é,hot,"), "{options}: {coded}");
    }
    let said = refusal(&place, "predict m a.parquet --no-header");
    assert!(said.contains("leave `--no-header` out"), "{said}");
    let said = refusal(&place, "predict m a.parquet --format lines");
    assert!(
        said.contains("is a table with columns; leave `--format` with lines out"),
        "{said}"
    );
}

#[test]
fn arrow_streams_are_known_by_their_content() {
    let place = place();
    let batch = RecordBatch::try_from_iter([("text", texts(&[Some("tea"), Some("ice")]))]).expect("a column");
    for name in ["a.arrow", "a.csv", "a.ipc", "a"] {
        let file = File::create(place.path().join(name)).expect("made");
        let mut stream = StreamWriter::try_new(file, &batch.schema()).expect("begun");
        stream.write(&batch).expect("written");
        stream.finish().expect("finished");
        assert_eq!(
            place.stdout(&format!("predict m {name}")),
            "hot\ncold\n",
            "{name}"
        );
    }
}
