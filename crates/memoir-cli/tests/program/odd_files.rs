//! Files as people have them, each with what must come of it. A file that is misread must never be answered
//! as if nothing were wrong.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Output, Stdio};

use crate::support::Workplace;

/// What must come of a command.
enum Outcome {
    /// Success with this on standard output.
    Prints(&'static str),
    /// The same, and this somewhere on standard error.
    PrintsAndSays(&'static str, &'static str),
    /// Success, whatever is printed.
    Works,
    /// An error with this in its message.
    Refuses(&'static str),
}

use Outcome::{Prints, PrintsAndSays, Refuses, Works};

struct Case {
    what: &'static str,
    /// Name of the file; `-` comes on standard input.
    file: &'static str,
    content: &'static [u8],
    /// The command, where `FILE` stands for the file.
    command: &'static str,
    outcome: Outcome,
}

fn case(
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

fn check(cases: Vec<Case>) {
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

const PREDICT: &str = "predict m FILE";

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

#[test]
fn content_tells_tables_from_lines() {
    check(vec![
        case(
            "a piped table",
            "-",
            "text,id\ngreen tea,1\nprinter,2\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "with semicolons",
            "-",
            "id;text\n1;tea, green\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case("with tabs", "-", "id\tText\n1\ttea\n", PREDICT, Prints("hot\n")),
        case("without a row", "-", "text,id\n", PREDICT, Refuses("has no rows")),
        case(
            "a table called .txt",
            "a.txt",
            "id,text\n1,green tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "unknown columns",
            "-",
            "id,title\n1,green tea\n",
            PREDICT,
            Refuses("looks like a table with the columns `id`, `title` (separated by `,`)"),
        ),
        case(
            "the way out",
            "-",
            "id,title\n1,green tea\n",
            PREDICT,
            Refuses("give `--text-column`, and if every line is a text, `--format` with lines"),
        ),
        case(
            "named columns",
            "-",
            "id,title\n1,green tea\n",
            "predict m FILE --text-column title",
            Prints("hot\n"),
        ),
        case(
            "named lines",
            "-",
            "green,tea\nshoe,lace\n",
            "predict m FILE --format lines",
            Prints("hot\nwear\n"),
        ),
        case(
            "prose with commas",
            "-",
            "tea, green\nshoe, lace\n",
            PREDICT,
            Prints("hot\nwear\n"),
        ),
        case("one line", "-", "green,tea\n", PREDICT, Prints("hot\n")),
        case("no last line end", "-", "green tea", PREDICT, Prints("hot\n")),
        case(
            "a line that begins with #",
            "-",
            "#1 green tea\nshoe\n",
            PREDICT,
            Prints("hot\nwear\n"),
        ),
        case(
            "one column",
            "-",
            "text\ngreen tea\nshoe\n",
            PREDICT,
            Prints("hot\nwear\n"),
        ),
        case(
            "one word",
            "-",
            "text\n",
            PREDICT,
            PrintsAndSays("\n", "1 row has no known word and so no answer"),
        ),
        case(
            "JSON",
            "-",
            "{\"text\": \"green tea\"}\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "JSON over lines",
            "-",
            "{\n\"text\": \"green tea\"\n}\n",
            PREDICT,
            Refuses("expected one JSON object per line"),
        ),
        case(
            "an array",
            "-",
            "[{\"text\": \"green tea\"}]\n",
            PREDICT,
            Refuses("expected one JSON object per line"),
        ),
        case(
            "fastText",
            "-",
            "__label__hot green tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "piped training",
            "-",
            "text,label\ntea,a\ncoffee,b\nblack tea,a\n",
            "train FILE --model t --quiet",
            Works,
        ),
        case(
            "lines to train on",
            "-",
            "tea\ncoffee\n",
            "train FILE --model t",
            Refuses("raw lines have no labels"),
        ),
        case(
            "vectors",
            "a.svm",
            "1 3:1 17:0.5\n",
            PREDICT,
            Refuses("trained on text, but a.svm holds vectors"),
        ),
        case("nothing", "a.csv", "", PREDICT, Refuses("is empty")),
        case(
            "a header only",
            "a.csv",
            "text\n",
            PREDICT,
            Refuses("has no rows"),
        ),
    ]);
}

#[test]
fn headers_are_not_guessed() {
    const TEXTS: &str = "green tea\nshoe\n";
    check(vec![
        case(
            "a header",
            "a.csv",
            "text\ngreen tea\nshoe\n",
            PREDICT,
            Prints("hot\nwear\n"),
        ),
        case(
            "none",
            "a.csv",
            TEXTS,
            PREDICT,
            Refuses("a.csv:1:1: expected a header with a column `text`, found `green tea`"),
        ),
        case(
            "its ways out",
            "a.csv",
            TEXTS,
            PREDICT,
            Refuses("give `--text-column`, and if it is a text, `--format` with lines"),
        ),
        case(
            "lines",
            "a.csv",
            TEXTS,
            "predict m FILE --format lines",
            Prints("hot\nwear\n"),
        ),
        case(
            "no header",
            "a.csv",
            TEXTS,
            "predict m FILE --no-header",
            Prints("hot\nwear\n"),
        ),
        case(
            "a name of its own",
            "a.csv",
            "title\ngreen tea\n",
            "predict m FILE --text-column title",
            Prints("hot\n"),
        ),
        case(
            "numbered columns",
            "a.csv",
            "1;green tea\n2;shoe\n",
            "predict m FILE --no-header --text-column 2",
            Prints("hot\nwear\n"),
        ),
        case(
            "to train",
            "a.csv",
            "tea,a\ncoffee,b\nmilk,b\n",
            "train FILE --model t",
            Refuses("expected a column `text`, found `tea`, `a`"),
        ),
        case(
            "to train by number",
            "a.csv",
            "tea,a\ncoffee,b\nmilk,b\n",
            "train FILE --model t --quiet --no-header --text-column 1 --label-column 2",
            Works,
        ),
        case(
            "capital letters",
            "a.csv",
            "ID;TEXT\n1;tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "blanks",
            "a.csv",
            " text ; id \ntea;1\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "two that fit",
            "a.csv",
            "Text,TEXT,id\ntea,shoe,1\n",
            PREDICT,
            Refuses("expected one column `text`, found `Text` and `TEXT`"),
        ),
        case(
            "one that fits exactly",
            "a.csv",
            "TEXT,text,id\ntea,shoe,1\n",
            PREDICT,
            Prints("wear\n"),
        ),
        case(
            "several columns",
            "a.csv",
            "title,body\nnew,green tea\nshoe,x\n",
            "predict m FILE --text-column title,Body",
            Prints("hot\nwear\n"),
        ),
        case(
            "one of them missing",
            "a.csv",
            "title,body\nnew,tea\n",
            "predict m FILE --text-column title,abstract",
            Refuses("expected a column `abstract` for the text"),
        ),
        case(
            "several keys",
            "a.jsonl",
            "{\"title\": \"new\", \"body\": \"tea\"}\n{\"title\": \"shoe\", \"body\": null}\n",
            "predict m FILE --text-column title,body",
            Prints("hot\nwear\n"),
        ),
        case(
            "a key in capitals",
            "a.jsonl",
            "{\"TEXT\": \"tea\"}\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "two keys that fit",
            "a.jsonl",
            "{\"TEXT\": \"tea\", \"Text\": \"shoe\"}\n",
            PREDICT,
            Refuses("expected one key `text`"),
        ),
        case(
            "a key that fits exactly",
            "a.jsonl",
            "{\"TEXT\": \"tea\", \"text\": \"shoe\"}\n",
            PREDICT,
            Prints("wear\n"),
        ),
    ]);
}

#[test]
fn rows_without_a_known_word_get_no_answer() {
    const TEXTS: &str = "text\ngreen tea\nxylophone\n\"\"\nshoe\n";
    check(vec![
        case(
            "text",
            "a.csv",
            TEXTS,
            PREDICT,
            PrintsAndSays(
                "hot\n\n\nwear\n",
                "a.csv: 2 rows have no known word and so no answer",
            ),
        ),
        case(
            "quiet",
            "a.csv",
            TEXTS,
            "predict m FILE --quiet",
            Prints("hot\n\n\nwear\n"),
        ),
        case(
            "several answers",
            "a.csv",
            "text\nxylophone\n",
            "predict m FILE -k 3 --scores",
            Prints("\n"),
        ),
        case(
            "JSON",
            "a.csv",
            "text\nxylophone\n",
            "predict m FILE --output jsonl",
            Prints("{\"classes\":[]}\n"),
        ),
        case(
            "CSV",
            "a.csv",
            TEXTS,
            "predict m FILE --output csv",
            Prints("row,rank,class\n1,1,hot\n4,1,wear\n"),
        ),
        case(
            "explain",
            "-",
            "",
            "explain m --text xylophone",
            Prints("no answer: nothing in it is known to the model\n"),
        ),
        case(
            "explain rows",
            "a.csv",
            "text\nxylophone\n",
            "explain m --data FILE",
            PrintsAndSays(
                "line 2\nno answer: nothing in it is known to the model\n",
                "1 row has no known word",
            ),
        ),
        case(
            "explain as JSON",
            "a.csv",
            "text\nxylophone\n",
            "explain m --data FILE --json",
            Prints("{\"line\":2,\"answer\":null,\"runner_up\":null,\"features\":[]}\n"),
        ),
    ]);
}

#[test]
fn what_cannot_be_learned_is_refused() {
    check(vec![
        case(
            "numbers of rows",
            "a.csv",
            "id,text\n1,tea\n2,coffee\n3,black tea\n",
            "train FILE --model t",
            Refuses("every row has a label of its own in `id`"),
        ),
        case(
            "its way out",
            "a.csv",
            "id,text\n1,tea\n2,coffee\n",
            "train FILE --model t",
            Refuses("give `--label-column` with the column of the labels, or with `id` if that is meant"),
        ),
        case(
            "when meant",
            "a.csv",
            "id,text\n1,tea\n2,coffee\n",
            "train FILE --model t --quiet --label-column id",
            Works,
        ),
        case(
            "few classes",
            "a.csv",
            "text,label\ntea,a\ncoffee,b\n",
            "train FILE --model t --quiet",
            Works,
        ),
        case(
            "many labels, all different",
            "a.csv",
            "text,label\na,1\nb,2\nc,3\nd,4\ne,5\nf,6\ng,7\nh,8\ni,9\nj,10\nk,11\nl,12\nm,13\nn,14\no,15\np,16\nq,17\nr,18\ns,19\nt,20\n",
            "train FILE --model t",
            Refuses("every row has a label of its own in `label`"),
        ),
        case(
            "no first weights",
            "-",
            "",
            "train train.csv --model t --initial-scale 0",
            Refuses("--initial-scale"),
        ),
    ]);
}
