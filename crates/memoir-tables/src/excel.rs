//! Excel files: one sheet, the first that is shown unless another is named.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::ops::Range;

use calamine::{DataRef, ExcelDateTime, Reader as _, SheetType, SheetVisible, Xlsx};
use memoir_report::table::{Cell, Column, TableWriter};
use rust_xlsxwriter::{Workbook, Worksheet, XlsxError};

use crate::excel_codes::CodeFormat;
use crate::pipe::CsvPipe;

/// Rows that a sheet can hold, with the header.
const MOST_ROWS: u32 = 1 << 20;

/// Columns that a sheet can hold.
const MOST_COLUMNS: u32 = 1 << 14;

/// Characters that a cell can hold.
const LONGEST_CELL: usize = 32_767;

/// A sheet of an open file.
pub(crate) struct OpenSheet {
    workbook: Xlsx<BufReader<File>>,
    name: String,
    /// What other sheets there are, if nobody chose one.
    pub(crate) note: Option<String>,
}

/// Opens the sheet called `wanted`, or the first one that is shown; `name` stands for the file in messages.
pub(crate) fn open(file: File, name: &str, wanted: Option<&str>) -> Result<OpenSheet, String> {
    let book: Xlsx<_> = Xlsx::new(BufReader::new(file)).map_err(|reason| reason.to_string())?;
    let tables = book.sheets_metadata().iter();
    let tables: Vec<_> = tables.filter(|sheet| sheet.typ == SheetType::WorkSheet).collect();
    let shown = tables
        .iter()
        .filter(|sheet| sheet.visible == SheetVisible::Visible);
    let Some(first) = shown.chain(&tables).next() else {
        return Err("it has no sheet; expected one with a row of column names".to_owned());
    };
    let (sheet, note) = if let Some(wanted) = wanted {
        let found = tables
            .iter()
            .find(|sheet| sheet.name.eq_ignore_ascii_case(wanted));
        let found = found.ok_or_else(|| {
            let names: Vec<&str> = tables.iter().map(|sheet| sheet.name.as_str()).collect();
            format!("it has no sheet `{wanted}`; it has `{}`", names.join("`, `"))
        })?;
        (found.name.clone(), None)
    } else {
        let another = tables.iter().find(|sheet| sheet.name != first.name);
        let note = another.map(|another| {
            format!(
                "of {} sheets `{}` is read; `{name}#{}` would be another",
                tables.len(),
                first.name,
                another.name
            )
        });
        (first.name.clone(), note)
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
    let codes: Vec<Option<CodeFormat>> = cells.styles().iter().map(CodeFormat::of).collect();
    let mut rows = Rows::new(out);
    loop {
        let cell = cells.next_cell_with_style_id();
        let cell = cell.map_err(|reason| format!("sheet `{sheet}`, behind row {}: {reason}", rows.number))?;
        let Some((cell, style)) = cell else {
            break;
        };
        let text = text_of(cell.get_value(), codes.get(style).and_then(Option::as_ref));
        rows.set(cell.get_position(), text)
            .map_err(|reason| reason.to_string())?;
    }
    rows.finish().map_err(|reason| reason.to_string())
}

/// Rows that are looked at to learn how wide the table is: a column without a name may stand beside it.
const JUDGED_ROWS: usize = 1000;

/// Gathers the cells of rows, and writes each as one row of its own number, blank ones, too, so that places
/// are told as Excel shows them.
struct Rows<'o> {
    out: &'o mut CsvPipe,
    /// Number of the row that `cells` belong to, from 1, as Excel counts.
    number: u32,
    cells: Vec<String>,
    /// The rows before the columns are known, with their numbers.
    waiting: Vec<(u32, Vec<String>)>,
    columns: Option<Range<usize>>,
    /// How many rows were written.
    written: u32,
}

impl<'o> Rows<'o> {
    fn new(out: &'o mut CsvPipe) -> Self {
        Self {
            out,
            number: 1,
            cells: Vec::new(),
            waiting: Vec::new(),
            columns: None,
            written: 0,
        }
    }

    fn set(&mut self, (row, column): (u32, u32), text: String) -> io::Result<()> {
        // Room is made for the cells and rows before, so a damaged place would take all memory.
        if row >= MOST_ROWS || column >= MOST_COLUMNS {
            return Err(io::Error::other(format!(
                "found a cell in row {}, column {}; a sheet has at most {MOST_ROWS} rows and {MOST_COLUMNS} columns",
                u64::from(row) + 1,
                u64::from(column) + 1
            )));
        }
        if row + 1 != self.number {
            self.end_row()?;
            self.number = row + 1;
        }
        let column = column as usize;
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        self.cells[column] = text;
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        let cells = std::mem::take(&mut self.cells);
        if cells.iter().all(String::is_empty) {
            return Ok(());
        }
        if let Some(columns) = self.columns.clone() {
            return self.write(self.number, &cells, columns);
        }
        self.waiting.push((self.number, cells));
        if self.waiting.len() < JUDGED_ROWS {
            return Ok(());
        }
        self.write_waiting()
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let filled = |cell: &String| !cell.is_empty();
        let starts = waiting
            .iter()
            .filter_map(|(_, cells)| cells.iter().position(filled));
        let ends = waiting
            .iter()
            .filter_map(|(_, cells)| cells.iter().rposition(filled));
        let columns = starts.min().unwrap_or(0)..ends.max().map_or(0, |last| last + 1);
        self.columns = Some(columns.clone());
        waiting
            .iter()
            .try_for_each(|(number, cells)| self.write(*number, cells, columns.clone()))
    }

    fn write(&mut self, number: u32, cells: &[String], columns: Range<usize>) -> io::Result<()> {
        while self.written + 1 < number {
            self.out.end_row()?;
            self.written += 1;
        }
        let last = cells.iter().rposition(|cell| !cell.is_empty()).unwrap_or(0);
        // What stands beside the table makes the row too long, which is told where rows are parsed.
        let before = cells[..columns.start.min(cells.len())]
            .iter()
            .position(|cell| !cell.is_empty());
        for column in before.unwrap_or(columns.start)..columns.end.max(last + 1) {
            let cell = cells.get(column).map_or("", String::as_str);
            self.out.write_cell(cell.as_bytes())?;
        }
        self.written += 1;
        self.out.end_row()
    }

    fn finish(mut self) -> io::Result<()> {
        self.end_row()?;
        self.write_waiting()
    }
}

fn text_of(value: &DataRef<'_>, code: Option<&CodeFormat>) -> String {
    match value {
        DataRef::Int(number) => code.map_or_else(|| number.to_string(), |code| code.write(*number as f64)),
        DataRef::Float(number) => code.map_or_else(|| number.to_string(), |code| code.write(*number)),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(truth) => truth.to_string(),
        DataRef::DateTime(time) => date(*time),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

/// A date, a time of day, or both; or hours beyond a day.
fn date(time: ExcelDateTime) -> String {
    let days = time.as_f64();
    if time.is_duration() || (0.0..1.0).contains(&days) {
        let seconds = (days * 86_400.0).round();
        let sign = if seconds < 0.0 { "-" } else { "" };
        let seconds = seconds.abs() as u64;
        return format!(
            "{sign}{:02}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
    }
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
