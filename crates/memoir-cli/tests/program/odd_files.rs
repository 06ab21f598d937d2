//! Files as people have them, each with what must come of it. A file that is misread must never be answered
//! as if nothing were wrong.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Output, Stdio};

use crate::support::Workplace;

/// What must come of a command.
pub(crate) enum Outcome {
    /// Success with this on standard output.
    Prints(&'static str),
    /// The same, and this somewhere on standard error.
    PrintsAndSays(&'static str, &'static str),
    /// Success, whatever is printed.
    Works,
    /// An error with this in its message.
    Refuses(&'static str),
}

pub(crate) use Outcome::{Prints, PrintsAndSays, Refuses, Works};

pub(crate) struct Case {
    what: &'static str,
    /// Name of the file; `-` comes on standard input.
    file: &'static str,
    content: &'static [u8],
    /// The command, where `FILE` stands for the file.
    command: &'static str,
    outcome: Outcome,
}

pub(crate) fn case(
    what: &'static str,
    file: &'static str,
    content: &'static (impl AsRef<[u8]> + ?Sized),
    command: &'static str,
    outcome: Outcome,
) -> Case {
    Case {
        what,
        file,
        content: content.as_ref(),
        command,
        outcome,
    }
}

/// A folder with a model `m` that knows three classes.
fn with_model() -> Workplace {
    let place = Workplace::new();
    let mut rows = String::from("text,label\n");
    for row in 0..20 {
        let _ = writeln!(rows, "green tea leaf{row},hot\nprinter toner paper{row},office");
        let _ = writeln!(rows, "shoe lace sole{row},wear");
    }
    place.file("train.csv", rows);
    place.stdout("train train.csv --model m --quiet");
    place
}

fn run(place: &Workplace, case: &Case) -> Output {
    if case.file != "-" {
        place.file(case.file, case.content);
    }
    let mut child = place
        .memoir(&case.command.replace("FILE", case.file))
        .stdin(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    if case.file == "-" {
        // A program that refuses its input may be gone before it has read all.
        let _ = input.write_all(case.content);
    }
    drop(input);
    child.wait_with_output().expect("ends")
}

pub(crate) fn check(cases: Vec<Case>) {
    let place = with_model();
    let mut failed = String::new();
    for case in &cases {
        let output = run(&place, case);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let is_fine = output.status.success();
        let expected = match case.outcome {
            Works => is_fine,
            Prints(text) => is_fine && stdout == text,
            PrintsAndSays(text, message) => is_fine && stdout == text && stderr.contains(message),
            Refuses(message) => {
                output.status.code() == Some(2) && stdout.is_empty() && stderr.contains(message)
            }
        };
        if !expected {
            let _ = writeln!(failed, "{}: {} gave\n{stdout}{stderr}", case.what, case.command);
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

pub(crate) const PREDICT: &str = "predict m FILE";

#[test]
fn delimiters_are_told_by_the_header() {
    check(vec![
        case(
            "commas",
            "a.csv",
            "id,text\n1,green tea\n2,printer\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "semicolons",
            "a.csv",
            "id;text\n1;green tea\n2;printer, toner\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "tabs",
            "a.csv",
            "id\ttext\n1\tgreen tea\n2\tprinter\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "bars",
            "a.csv",
            "id|text\n1|green tea\n2|printer\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "commas in .tsv",
            "a.tsv",
            "id,text\n1,\"tea, green\"\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "tabs in .tsv",
            "a.tsv",
            "id\ttext\n1\t\"green tea\n2\tshoe\n",
            PREDICT,
            Prints("hot\nwear\n"),
        ),
        case(
            "the first row decides",
            "a.csv",
            "id;title, long;n\n1;green, tea;2\n",
            "predict m FILE --text-column title",
            Refuses("expected a column `title`"),
        ),
        case(
            "two delimiters",
            "a.csv",
            "id,title;n\n1,tea;2\n",
            PREDICT,
            Refuses("cannot tell whether `,` or `;` separates the columns; give `--delimiter`"),
        ),
        case(
            "a given one",
            "a.csv",
            "id,text;n\n1,tea;2\n",
            "predict m FILE --delimiter ;",
            Refuses("expected a column `text`"),
        ),
        case(
            "a colon",
            "a.csv",
            "id:text\n1:green tea\n",
            "predict m FILE --delimiter :",
            Prints("hot\n"),
        ),
        case(
            "a tab by name",
            "a.csv",
            "id\ttext\n1\tgreen tea\n",
            "predict m FILE --delimiter tab",
            Prints("hot\n"),
        ),
        case(
            "a wrong one",
            "a.csv",
            "id,text\n1,tea\n",
            "predict m FILE --delimiter ;",
            Refuses("expected a header with a column `text`, found `id,text`"),
        ),
        case(
            "none",
            "a.csv",
            "id,text\n1,tea\n",
            "predict m FILE --delimiter ab",
            Refuses("expected one ASCII character"),
        ),
        case(
            "quoted semicolons",
            "a.csv",
            "text;id\n\"green; tea\";1\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "quoted line ends",
            "a.csv",
            "text;id\n\"green;\ntea\";1\nshoe;2\n",
            PREDICT,
            Prints("hot\nwear\n"),
        ),
        case(
            "quoted names",
            "a.csv",
            "\"text\";\"a, b, c\"\ntea;1\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "Windows line ends",
            "a.csv",
            "id;text\r\n1;tea\r\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "a byte-order mark",
            "a.csv",
            "\u{feff}text;id\ntea;1\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "comments",
            "a.csv",
            "# tickets; of April\n\ntext;id\ntea;1\n",
            PREDICT,
            Refuses("expected"),
        ),
        case(
            "a comment of one field",
            "a.csv",
            "# tickets\n\ntext;id\ntea;1\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "a row too long",
            "a.csv",
            "text;id\ntea;1\nshoe;1;2\n",
            PREDICT,
            Refuses("a.csv:3:8: expected 2 columns, as in the header, found 3"),
        ),
        case(
            "explain",
            "a.csv",
            "id;text\n1;green tea\n",
            "explain m --data FILE --json",
            Works,
        ),
        case(
            "evaluate",
            "a.csv",
            "text;label\ntea;hot\n",
            "evaluate m FILE --quiet",
            Works,
        ),
        case(
            "train",
            "a.csv",
            "text;label\ntea;a\ncoffee;b\nblack tea;a\n",
            "train FILE --model t --quiet",
            Works,
        ),
    ]);
}
