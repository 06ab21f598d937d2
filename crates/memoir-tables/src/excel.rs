//! Excel files: one sheet, the first unless another is named.

use std::fs::File;
use std::io::{self, BufReader, Write};

use calamine::{DataRef, ExcelDateTime, Reader as _, Xlsx};
use memoir_report::table::{Cell, Column, TableWriter};
use rust_xlsxwriter::{Workbook, Worksheet, XlsxError};

use crate::pipe::CsvPipe;

/// Rows that a sheet can hold, with the header.
const MOST_ROWS: u32 = 1 << 20;

/// Characters that a cell can hold.
const LONGEST_CELL: usize = 32_767;

/// A sheet of an open file.
pub(crate) struct OpenSheet {
    workbook: Xlsx<BufReader<File>>,
    name: String,
    /// What other sheets there are, if nobody chose one.
    pub(crate) note: Option<String>,
}

/// Opens the sheet called `wanted`, or the first one; `name` stands for the file in messages.
pub(crate) fn open(file: File, name: &str, wanted: Option<&str>) -> Result<OpenSheet, String> {
    let book: Xlsx<_> = Xlsx::new(BufReader::new(file)).map_err(|reason| reason.to_string())?;
    let sheets = book.sheet_names();
    let listed = || format!("`{}`", sheets.join("`, `"));
    let (sheet, note) = match (wanted, &sheets[..]) {
        (_, []) => return Err("it has no sheet; expected one with a row of column names".to_owned()),
        (Some(wanted), _) => {
            let found = sheets.iter().find(|sheet| sheet.eq_ignore_ascii_case(wanted));
            let found = found.ok_or_else(|| format!("it has no sheet `{wanted}`; it has {}", listed()))?;
            (found.clone(), None)
        }
        (None, [only]) => (only.clone(), None),
        (None, [first, second, ..]) => {
            let note = format!(
                "of {} sheets the first, `{first}`, is read; `{name}#{second}` would be another",
                sheets.len()
            );
            (first.clone(), Some(note))
        }
    };
    Ok(OpenSheet {
        workbook: book,
        name: sheet,
        note,
    })
}

pub(crate) fn read(opened: OpenSheet, out: &mut CsvPipe) -> Result<(), String> {
    let OpenSheet {
        workbook: mut book,
        name: sheet,
        ..
    } = opened;
    let cells = book.worksheet_cells_reader(&sheet);
    let mut cells = cells.map_err(|reason| reason.to_string())?;
    let mut rows = Rows::default();
    let mut number = 0;
    loop {
        let cell = cells
            .next_cell()
            .map_err(|reason| format!("sheet `{sheet}`, behind row {number}: {reason}"))?;
        let Some(cell) = cell else {
            break;
        };
        let (row, column) = cell.get_position();
        if row + 1 != number {
            rows.write(out)?;
            number = row + 1;
        }
        rows.set(column as usize, text_of(cell.get_value()));
    }
    rows.write(out)
}

/// Gathers the cells of a row. Rows are as wide as the first one, the header, which also tells where the
/// table begins.
#[derive(Default)]
struct Rows {
    cells: Vec<String>,
    header: Option<(usize, usize)>,
}

impl Rows {
    fn set(&mut self, column: usize, text: String) {
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        self.cells[column] = text;
    }

    /// Writes the row, unless it is blank.
    fn write(&mut self, out: &mut CsvPipe) -> Result<(), String> {
        let Some(last) = self.cells.iter().rposition(|cell| !cell.is_empty()) else {
            self.cells.clear();
            return Ok(());
        };
        let first = self.cells.iter().position(|cell| !cell.is_empty()).unwrap_or(0);
        let (start, end) = *self.header.get_or_insert((first, last + 1));
        // What stands beside the table makes the row too long, which is told where rows are parsed.
        self.cells.resize(end.max(last + 1), String::new());
        let row = self.cells.drain(..).skip(start);
        out.write_record(row.map(String::into_bytes))
            .map_err(|reason| reason.to_string())
    }
}

fn text_of(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(truth) => truth.to_string(),
        DataRef::DateTime(time) => date(*time),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn date(time: ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    if (hour, minute, second) == (0, 0, 0) {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

/// A sheet in the making. Its rows are kept in a temporary file.
pub(crate) struct Sheet<'w> {
    book: Workbook,
    rows: u32,
    out: &'w mut (dyn Write + Send),
}

impl<'w> Sheet<'w> {
    pub(crate) fn new(columns: &[Column], out: &'w mut (dyn Write + Send)) -> io::Result<Self> {
        let mut book = Workbook::new();
        book.add_worksheet_with_low_memory().map_err(io::Error::other)?;
        let mut sheet = Self { book, rows: 0, out };
        let names: Vec<Cell<'_>> = columns.iter().map(|column| Cell::Text(&column.name)).collect();
        sheet.write(&names)?;
        Ok(sheet)
    }
}

fn write_cell(sheet: &mut Worksheet, row: u32, column: u16, cell: &Cell<'_>) -> Result<(), XlsxError> {
    match cell {
        Cell::Whole(number) => sheet.write_number(row, column, *number as f64)?,
        // Through text, so that 0.1 stays 0.1 and does not become the nearest double of a single.
        Cell::Number(number) => {
            let exact = number.to_string().parse().unwrap_or(f64::from(*number));
            sheet.write_number(row, column, exact)?
        }
        other => match other.text() {
            Some(text) => sheet.write_string(row, column, text)?,
            None => sheet,
        },
    };
    Ok(())
}

impl TableWriter for Sheet<'_> {
    fn write(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        if self.rows == MOST_ROWS {
            return Err(io::Error::other(format!(
                "an Excel sheet holds at most {MOST_ROWS} rows; write .csv or .parquet instead"
            )));
        }
        let sheet = self.book.worksheet_from_index(0).map_err(io::Error::other)?;
        for (column, cell) in row.iter().enumerate() {
            let column = u16::try_from(column).map_err(io::Error::other)?;
            let is_too_long = cell
                .text()
                .is_some_and(|text| text.chars().count() > LONGEST_CELL);
            if is_too_long {
                return Err(io::Error::other(format!(
                    "row {} has a cell of more than {LONGEST_CELL} characters, which Excel cannot hold; leave its \
                     column out, or write .csv or .parquet instead",
                    self.rows + 1
                )));
            }
            write_cell(sheet, self.rows, column, cell).map_err(io::Error::other)?;
        }
        self.rows += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let bytes = self.book.save_to_buffer().map_err(io::Error::other)?;
        self.out.write_all(&bytes)
    }
}
