//! The tables that `memoir evaluate --report` writes: every class, every confusion and every wrong row.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use memoir::eval::Outcome;
use memoir::model::write_beside;
use memoir::{ClassNames, Error, Result};
use memoir_report::table::{Cell, CellKind, Column, Separated, TableWriter};

/// What is said of a wrong row, behind the columns of the input. `measure` is what is known of the answer.
fn wrong_columns(measure: &str) -> [Column; 5] {
    [
        Column::new("line", CellKind::Whole),
        Column::new("true_classes", CellKind::Text),
        Column::new("answer", CellKind::Text),
        Column::new(format!("answer_{measure}"), CellKind::Number),
        Column::new("rank_of_true_class", CellKind::Whole),
    ]
}

/// Counts of a class.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    rows: u64,
    answers: u64,
    right: u64,
}

/// Counts rows as they are evaluated, and writes the wrong ones.
pub(crate) struct Tables<'w> {
    path: &'w Path,
    measure: &'static str,
    out: Option<&'w mut (dyn Write + Send)>,
    wrong: Option<Box<dyn TableWriter + 'w>>,
    classes: BTreeMap<u32, Counts>,
    confusions: BTreeMap<(u32, u32), u64>,
}

impl<'w> Tables<'w> {
    /// Writes wrong rows to `out`, which `path` stands for in messages. `measure` is what scores are:
    /// `probability` or `score`.
    pub(crate) fn new(path: &'w Path, measure: &'static str, out: &'w mut (dyn Write + Send)) -> Self {
        Self {
            path,
            measure,
            out: Some(out),
            wrong: None,
            classes: BTreeMap::new(),
            confusions: BTreeMap::new(),
        }
    }

    /// Takes a row.
    pub(crate) fn add(&mut self, outcome: &Outcome<'_>) -> Result<()> {
        let fail = |reason| Error::io(self.path, "cannot write", reason);
        if let Some(out) = self.out.take() {
            let kept = outcome.block.kept.columns().iter();
            let columns = kept.map(|name| Column::new(name, CellKind::Text));
            let columns: Vec<Column> = columns.chain(wrong_columns(self.measure)).collect();
            self.wrong = Some(Box::new(Separated::new(b',', &columns, out).map_err(fail)?));
        }
        if outcome.labels.is_empty() {
            return Ok(());
        }
        let answer = outcome.best.first().map(|scored| scored.class);
        let is_right = answer.is_some_and(|class| outcome.labels.contains(&class));
        for &label in outcome.labels {
            self.classes.entry(label).or_default().rows += 1;
            if let Some(answer) = answer.filter(|_| !is_right) {
                *self.confusions.entry((label, answer)).or_default() += 1;
            }
        }
        if let Some(answer) = answer {
            let counts = self.classes.entry(answer).or_default();
            counts.answers += 1;
            counts.right += u64::from(is_right);
        }
        match &mut self.wrong {
            Some(wrong) if !is_right => write_wrong(&mut **wrong, outcome).map_err(fail),
            _ => Ok(()),
        }
    }

    /// Writes the tables of classes and confusions into `folder`, too. `names` are those of all classes met.
    pub(crate) fn finish(self, folder: &Path, names: &ClassNames) -> Result<()> {
        if let Some(wrong) = self.wrong {
            wrong
                .finish()
                .map_err(|reason| Error::io(self.path, "cannot write", reason))?;
        }
        let columns = [
            ("class", CellKind::Text),
            ("precision", CellKind::Number),
            ("recall", CellKind::Number),
            ("f1", CellKind::Number),
            ("rows", CellKind::Whole),
            ("answers", CellKind::Whole),
        ];
        let share = |part: u64, of: u64| part as f32 / of.max(1) as f32;
        let rows = self.classes.iter().map(|(&class, counts)| {
            [
                Cell::Text(names.name(class)),
                Cell::Number(share(counts.right, counts.answers)),
                Cell::Number(share(counts.right, counts.rows)),
                Cell::Number(share(2 * counts.right, counts.rows + counts.answers)),
                Cell::Whole(counts.rows),
                Cell::Whole(counts.answers),
            ]
        });
        write_table(&folder.join("classes.csv"), &columns, rows)?;
        let mut confusions: Vec<_> = self.confusions.into_iter().collect();
        confusions.sort_by_key(|&(_, rows)| std::cmp::Reverse(rows));
        let columns = [
            ("class", CellKind::Text),
            ("taken_for", CellKind::Text),
            ("rows", CellKind::Whole),
        ];
        let rows = confusions.iter().map(|&((class, taken_for), rows)| {
            [
                Cell::Text(names.name(class)),
                Cell::Text(names.name(taken_for)),
                Cell::Whole(rows),
            ]
        });
        write_table(&folder.join("confusions.csv"), &columns, rows)
    }
}

fn write_wrong(table: &mut dyn TableWriter, outcome: &Outcome<'_>) -> io::Result<()> {
    let Outcome {
        block,
        row,
        labels,
        best,
        names,
    } = *outcome;
    let kept = block.kept.row(row);
    let mut cells: Vec<Cell<'_>> = if block.kept.is_json() {
        kept.map(Cell::Json).collect()
    } else {
        kept.map(Cell::Text).collect()
    };
    let truth: Vec<&str> = labels.iter().map(|&label| names.name(label)).collect();
    let truth = truth.join("|");
    cells.extend([Cell::Whole(block.lines[row]), Cell::Text(&truth)]);
    cells.extend(match best.first() {
        Some(answer) => [Cell::Text(names.name(answer.class)), Cell::Number(answer.score)],
        None => [Cell::Empty; 2],
    });
    let rank = best.iter().position(|scored| labels.contains(&scored.class));
    cells.push(rank.map_or(Cell::Empty, |rank| Cell::Whole(rank as u64 + 1)));
    table.write(&cells)
}

fn write_table<'c, const N: usize>(
    path: &Path,
    columns: &[(&str, CellKind); N],
    rows: impl Iterator<Item = [Cell<'c>; N]>,
) -> Result<()> {
    write_beside(path, |out| {
        let columns = columns.map(|(name, kind)| Column::new(name, kind));
        let fail = |reason| Error::io(path, "cannot write", reason);
        let mut table = Box::new(Separated::new(b',', &columns, out).map_err(fail)?);
        for row in rows {
            table.write(&row).map_err(fail)?;
        }
        table.finish().map_err(fail)
    })
}
