//! The forms in which `memoir predict` writes its answers.

use std::io::{self, Write};

use clap::ValueEnum;
use memoir::{Model, Scored};
use memoir_report::names::write_escaped;
use memoir_report::table::cause;

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
pub(crate) struct Answers<W: Write> {
    /// Whether notations and names are shown.
    described: bool,
    scores: bool,
    /// Whether answers that overrides decide are marked.
    marks_overrides: bool,
    sink: Sink<W>,
    rows: u64,
}

/// An answer as it is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) class: &'a str,
    /// Empty if there is none, or none is wanted.
    pub(crate) notation: &'a str,
    pub(crate) name: &'a str,
    pub(crate) score: f32,
    /// Whether the text always gets this class.
    pub(crate) is_override: bool,
}

impl<'a> Shown<'a> {
    /// The answers of a row. Places that no class filled have the score minus infinity and are left out.
    pub(crate) fn all(
        best: &'a [Scored],
        model: &'a Model,
        languages: &'a [String],
    ) -> impl Iterator<Item = Self> {
        let filled = best.iter().filter(|scored| scored.score > f32::NEG_INFINITY);
        filled.map(move |scored| Self::one(scored.class, scored.score, model, languages))
    }

    /// A class with its score.
    pub(crate) fn one(class: u32, score: f32, model: &'a Model, languages: &[String]) -> Self {
        Shown {
            class: model.classes().name(class),
            notation: model.notation_of_class(class).unwrap_or(""),
            name: model.name_of_class(class, languages).unwrap_or(""),
            score,
            is_override: false,
        }
    }
}

enum Sink<W: Write> {
    Text(W),
    Jsonl(W),
    Csv(Box<csv::Writer<W>>),
}

impl<W: Write> Answers<W> {
    /// Begins to write; scores, notations and names are given only if asked for.
    pub(crate) fn new(
        form: Form,
        scores: bool,
        described: bool,
        marks_overrides: bool,
        writer: W,
    ) -> io::Result<Self> {
        let sink = match form {
            Form::Text => Sink::Text(writer),
            Form::Jsonl => Sink::Jsonl(writer),
            Form::Csv => {
                let mut table = csv::Writer::from_writer(writer);
                let mut header = vec!["row", "rank", "class"];
                if described {
                    header.extend(["notation", "name"]);
                }
                if scores {
                    header.push("score");
                }
                if marks_overrides {
                    header.push("override");
                }
                table.write_record(&header).map_err(cause)?;
                Sink::Csv(Box::new(table))
            }
        };
        Ok(Self {
            described,
            scores,
            marks_overrides,
            sink,
            rows: 0,
        })
    }

    /// Writes the answers of the next row.
    pub(crate) fn write<'s>(&mut self, answers: impl Iterator<Item = Shown<'s>>) -> io::Result<()> {
        self.rows += 1;
        match &mut self.sink {
            Sink::Text(out) => {
                for (rank, shown) in answers.enumerate() {
                    if rank > 0 {
                        out.write_all(b"\t")?;
                    }
                    write_escaped(out, shown.class)?;
                    if self.described && !shown.name.is_empty() {
                        out.write_all(b" (")?;
                        write_escaped(out, shown.name)?;
                        out.write_all(b")")?;
                    }
                    if self.scores {
                        write!(out, ":{}", shown.score)?;
                    }
                    if shown.is_override {
                        out.write_all(b" [override]")?;
                    }
                }
                out.write_all(b"\n")
            }
            Sink::Jsonl(out) => {
                let answers: Vec<Shown<'s>> = answers.collect();
                let mut object = serde_json::Map::new();
                let mut texts = |key: &str, text: fn(&Shown<'s>) -> &'s str| {
                    let texts: Vec<&str> = answers.iter().map(text).collect();
                    object.insert(key.to_owned(), texts.into());
                };
                texts("classes", |shown| shown.class);
                if self.described {
                    texts("notations", |shown| shown.notation);
                    texts("names", |shown| shown.name);
                }
                if self.scores {
                    // Through text, so that 0.1 stays 0.1 and does not become the nearest double of an f32.
                    let scores: Vec<serde_json::Value> =
                        answers.iter().map(|shown| exact(shown.score)).collect();
                    object.insert("scores".to_owned(), scores.into());
                }
                if self.marks_overrides {
                    let is_override = answers.first().is_some_and(|shown| shown.is_override);
                    object.insert("override".to_owned(), is_override.into());
                }
                serde_json::to_writer(&mut *out, &object)?;
                out.write_all(b"\n")
            }
            Sink::Csv(table) => {
                let row = self.rows.to_string();
                for (rank, shown) in answers.enumerate() {
                    let rank = (rank + 1).to_string();
                    let score = shown.score.to_string();
                    let mut record = vec![row.as_str(), &rank, shown.class];
                    if self.described {
                        record.extend([shown.notation, shown.name]);
                    }
                    if self.scores {
                        record.push(&score);
                    }
                    if self.marks_overrides {
                        record.push(if shown.is_override { "true" } else { "false" });
                    }
                    table.write_record(&record).map_err(cause)?;
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

fn exact(score: f32) -> serde_json::Value {
    let parsed: Option<f64> = score.to_string().parse().ok();
    parsed.map_or(serde_json::Value::Null, serde_json::Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: Form, scores: bool, described: bool) -> String {
        let shown = |class, name, score| Shown {
            class,
            notation: "7.1",
            name,
            score,
            is_override: false,
        };
        let odd = shown("tab\tquote\"line\nback\\", "", 0.1);
        let mut bytes = Vec::new();
        let mut answers = Answers::new(form, scores, described, false, &mut bytes).unwrap();
        answers
            .write([odd, shown("a:b", "A to B", -2.5)].into_iter())
            .unwrap();
        answers.write([shown("plain", "Plain", 3.0)].into_iter()).unwrap();
        answers.write(std::iter::empty()).unwrap();
        answers.flush().unwrap();
        drop(answers);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn names_stand_behind_classes() {
        assert!(written(Form::Text, true, true).ends_with("\ta:b (A to B):-2.5\nplain (Plain):3\n\n"));
        assert!(written(Form::Csv, true, true).starts_with("row,rank,class,notation,name,score\n"));
        assert!(written(Form::Csv, true, true).ends_with("2,1,plain,7.1,Plain,3\n"));
        let lines = written(Form::Jsonl, false, true);
        assert!(lines.contains(r#"{"classes":["plain"],"names":["Plain"],"notations":["7.1"]}"#));
    }

    #[test]
    fn text_keeps_one_line_per_row_whatever_the_names() {
        assert_eq!(
            written(Form::Text, false, false),
            "tab\\tquote\"line\\nback\\\\\ta:b\nplain\n\n"
        );
        assert_eq!(
            written(Form::Text, true, false),
            "tab\\tquote\"line\\nback\\\\:0.1\ta:b:-2.5\nplain:3\n\n"
        );
    }

    #[test]
    fn json_lines_hold_names_as_they_are() {
        assert_eq!(
            written(Form::Jsonl, true, false),
            concat!(
                r#"{"classes":["tab\tquote\"line\nback\\","a:b"],"scores":[0.1,-2.5]}"#,
                "\n",
                r#"{"classes":["plain"],"scores":[3.0]}"#,
                "\n",
                r#"{"classes":[],"scores":[]}"#,
                "\n"
            )
        );
        assert!(written(Form::Jsonl, false, false).starts_with(r#"{"classes":["tab"#));
    }

    #[test]
    fn overrides_are_marked_in_every_form() {
        let shown = |class, is_override| Shown {
            class,
            notation: "",
            name: "",
            score: 1.0,
            is_override,
        };
        let written = |form| {
            let mut bytes = Vec::new();
            let mut answers = Answers::new(form, true, false, true, &mut bytes).unwrap();
            answers
                .write([shown("a", true), shown("b", false)].into_iter())
                .unwrap();
            answers.write([shown("b", false)].into_iter()).unwrap();
            drop(answers);
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(written(Form::Text), "a:1 [override]\tb:1\nb:1\n");
        assert_eq!(
            written(Form::Jsonl),
            "{\"classes\":[\"a\",\"b\"],\"override\":true,\"scores\":[1.0,1.0]}\n\
             {\"classes\":[\"b\"],\"override\":false,\"scores\":[1.0]}\n"
        );
        assert_eq!(
            written(Form::Csv),
            "row,rank,class,score,override\n1,1,a,1,true\n1,2,b,1,false\n2,1,b,1,false\n"
        );
    }

    #[test]
    fn csv_has_one_line_per_answer() {
        assert_eq!(
            written(Form::Csv, true, false),
            "row,rank,class,score\n1,1,\"tab\tquote\"\"line\nback\\\",0.1\n1,2,a:b,-2.5\n2,1,plain,3\n"
        );
        assert!(written(Form::Csv, false, false).ends_with("2,1,plain\n"));
    }
}
