//! What a method predicted, read from its file and compared with the truth.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::bail;
use memoir::Scored;
use memoir::eval::{Evaluation, Report};
use memoir_report::sizes::{show_count, show_counted};

use crate::convert::Vectors;
use crate::datasets::Loaded;

/// How classes are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Notation {
    /// By name, separated by tabs: our own program.
    Names,
    /// By number as in the converted vectors, separated by blanks; `__label__` before a number is fine.
    Numbers(Vectors),
}

/// Reads one line per test row, classes best first, and measures them.
pub(crate) fn judge(path: &Path, notation: Notation, loaded: &Loaded) -> anyhow::Result<Report> {
    let file = File::open(path).map_err(|reason| anyhow::anyhow!("no predictions: {reason}"))?;
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    let mut evaluation = Evaluation::new();
    let mut ranked = Vec::new();
    let rows = loaded.test.len();
    for (row, labels) in loaded.test.labels.iter().enumerate() {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            bail!(
                "found {} of predictions, expected {}, one for each test row",
                show_counted(row as u64, "line"),
                show_count(rows as u64)
            );
        }
        ranked.clear();
        parse(line.trim_ascii_end(), notation, loaded, &mut ranked)
            .map_err(|problem| anyhow::anyhow!("line {} of the predictions: {problem}", row + 1))?;
        evaluation.add(labels, &ranked);
    }
    line.clear();
    if lines.read_until(b'\n', &mut line)? > 0 && !line.trim_ascii().is_empty() {
        bail!(
            "found more lines of predictions than {}",
            show_counted(rows as u64, "test row")
        );
    }
    Ok(evaluation.report(&loaded.test.classes, &loaded.training_counts))
}

fn parse(line: &[u8], notation: Notation, loaded: &Loaded, ranked: &mut Vec<Scored>) -> anyhow::Result<()> {
    let mut push = |class| {
        // The order is all that counts.
        let score = -(ranked.len() as f32);
        ranked.push(Scored { class, score });
    };
    match notation {
        Notation::Names => {
            for name in line.split(|&byte| byte == b'\t').filter(|name| !name.is_empty()) {
                let Some(&class) = loaded.by_name.get(name) else {
                    bail!("`{}` is not a class", String::from_utf8_lossy(name));
                };
                push(class);
            }
        }
        Notation::Numbers(vectors) => {
            let (first, classes) = (vectors.first_class(), loaded.train.classes.len() as u32);
            for word in std::str::from_utf8(line)?.split_whitespace() {
                let number = word.strip_prefix("__label__").unwrap_or(word);
                let number = number.strip_suffix(".0").unwrap_or(number).parse::<u32>().ok();
                let class = number.and_then(|number| number.checked_sub(first));
                match class.filter(|&class| class < classes) {
                    Some(class) => push(class),
                    None => bail!(
                        "`{word}` is not a class number from {first} to {}",
                        classes + first - 1
                    ),
                }
            }
        }
    }
    Ok(())
}
