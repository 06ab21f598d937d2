//! The forms in which `memoir predict` writes its answers.

use std::io::{self, Write};

use clap::ValueEnum;
use memoir::{ClassNames, Scored};
use memoir_report::names::write_escaped;

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Form {
    // Not doc comments: those would make the help of `predict` twice as long. Its last part says the same.
    // One line per row: classes, best first, separated by tabs.
    #[default]
    Text,
    // One JSON object per row: {"classes": […], "scores": […]}.
    Jsonl,
    // One line per answer: row,rank,class,score; rows and ranks count from 1.
    Csv,
}

/// Writes answers in the order of the rows.
pub(crate) struct Answers<'a, W: Write> {
    names: &'a ClassNames,
    scores: bool,
    sink: Sink<W>,
    rows: u64,
}

enum Sink<W: Write> {
    Text(W),
    Jsonl(W),
    Csv(Box<csv::Writer<W>>),
}

impl<'a, W: Write> Answers<'a, W> {
    /// Begins to write; scores are given only if asked for.
    pub(crate) fn new(form: Form, scores: bool, names: &'a ClassNames, writer: W) -> io::Result<Self> {
        let sink = match form {
            Form::Text => Sink::Text(writer),
            Form::Jsonl => Sink::Jsonl(writer),
            Form::Csv => {
                let mut table = csv::Writer::from_writer(writer);
                let header = ["row", "rank", "class", "score"];
                table
                    .write_record(&header[..if scores { 4 } else { 3 }])
                    .map_err(cause)?;
                Sink::Csv(Box::new(table))
            }
        };
        Ok(Self {
            names,
            scores,
            sink,
            rows: 0,
        })
    }

    /// Writes the best classes of the next row.
    pub(crate) fn write(&mut self, best: &[Scored]) -> io::Result<()> {
        self.rows += 1;
        // Places that no class filled have the score minus infinity.
        let best = best.iter().filter(|scored| scored.score > f32::NEG_INFINITY);
        let names = self.names;
        match &mut self.sink {
            Sink::Text(out) => {
                for (rank, scored) in best.enumerate() {
                    if rank > 0 {
                        out.write_all(b"\t")?;
                    }
                    write_escaped(out, names.name(scored.class))?;
                    if self.scores {
                        write!(out, ":{}", scored.score)?;
                    }
                }
                out.write_all(b"\n")
            }
            Sink::Jsonl(out) => {
                let classes: Vec<_> = best.clone().map(|scored| names.name(scored.class)).collect();
                let mut object = serde_json::Map::new();
                object.insert("classes".to_owned(), classes.into());
                if self.scores {
                    // Through text, so that 0.1 stays 0.1 and does not become the nearest double of an f32.
                    let scores: Vec<serde_json::Value> = best.map(|scored| exact(scored.score)).collect();
                    object.insert("scores".to_owned(), scores.into());
                }
                serde_json::to_writer(&mut *out, &object)?;
                out.write_all(b"\n")
            }
            Sink::Csv(table) => {
                let row = self.rows.to_string();
                for (rank, scored) in best.enumerate() {
                    let rank = (rank + 1).to_string();
                    let score = scored.score.to_string();
                    let record = [&row, &rank, names.name(scored.class), &score];
                    table
                        .write_record(&record[..if self.scores { 4 } else { 3 }])
                        .map_err(cause)?;
                }
                Ok(())
            }
        }
    }

    /// Hands everything on to whoever reads.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Text(out) | Sink::Jsonl(out) => out.flush(),
            Sink::Csv(table) => table.flush(),
        }
    }
}

/// What kept a table from being written. The plain conversion would hide the kind, by which a closed
/// pipe is known.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => cause,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn exact(score: f32) -> serde_json::Value {
    let parsed: Option<f64> = score.to_string().parse().ok();
    parsed.map_or(serde_json::Value::Null, serde_json::Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: Form, scores: bool) -> String {
        let names: ClassNames = ["plain", "a:b", "tab\tquote\"line\nback\\"].into_iter().collect();
        let scored = |class, score| Scored { class, score };
        let mut bytes = Vec::new();
        let mut answers = Answers::new(form, scores, &names, &mut bytes).unwrap();
        answers.write(&[scored(2, 0.1), scored(1, -2.5)]).unwrap();
        answers
            .write(&[scored(0, 3.0), scored(0, f32::NEG_INFINITY)])
            .unwrap();
        answers.write(&[]).unwrap();
        answers.flush().unwrap();
        drop(answers);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn text_keeps_one_line_per_row_whatever_the_names() {
        assert_eq!(
            written(Form::Text, false),
            "tab\\tquote\"line\\nback\\\\\ta:b\nplain\n\n"
        );
        assert_eq!(
            written(Form::Text, true),
            "tab\\tquote\"line\\nback\\\\:0.1\ta:b:-2.5\nplain:3\n\n"
        );
    }

    #[test]
    fn json_lines_hold_names_as_they_are() {
        assert_eq!(
            written(Form::Jsonl, true),
            concat!(
                r#"{"classes":["tab\tquote\"line\nback\\","a:b"],"scores":[0.1,-2.5]}"#,
                "\n",
                r#"{"classes":["plain"],"scores":[3.0]}"#,
                "\n",
                r#"{"classes":[],"scores":[]}"#,
                "\n"
            )
        );
        assert!(written(Form::Jsonl, false).starts_with(r#"{"classes":["tab"#));
    }

    #[test]
    fn csv_has_one_line_per_answer() {
        assert_eq!(
            written(Form::Csv, true),
            "row,rank,class,score\n1,1,\"tab\tquote\"\"line\nback\\\",0.1\n1,2,a:b,-2.5\n2,1,plain,3\n"
        );
        assert!(written(Form::Csv, false).ends_with("2,1,plain\n"));
    }
}
