//! More files as people have them: damaged, appended, saved by another program under another name.

use std::io::Write as _;

use crate::odd_files::{PREDICT, Prints, PrintsAndSays, Refuses, Works, case, check};
use crate::support::Workplace;

#[test]
fn damaged_and_misnamed_tables() {
    check(vec![
        case(
            "a byte-order mark and semicolons",
            "a.csv",
            "\u{feff}id;text\n1;green tea\n2;toner\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "two byte-order marks",
            "a.csv",
            "\u{feff}\u{feff}text,id\ngreen tea,1\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "quotes in a name",
            "a.csv",
            "\"id\";\"the \"\"text\"\"\"\n1;tea\n",
            PREDICT,
            Refuses("expected a column `text`"),
        ),
        case(
            "a delimiter at each line's end",
            "a.csv",
            "id,text,\n1,green tea,\n2,toner,\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "only behind rows",
            "a.csv",
            "id,text\n1,green tea,\n",
            PREDICT,
            Refuses("a.csv:2:13: expected 2 columns"),
        ),
        case(
            "blank lines",
            "a.csv",
            "id,text\n\n1,green tea\n\n\n2,toner\n\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "rows of delimiters",
            "a.csv",
            "id,text\n1,green tea\n,\n,\n",
            PREDICT,
            PrintsAndSays("hot\n\n\n", "2 rows have no known word"),
        ),
        case(
            "a text column twice",
            "a.csv",
            "text,text\ngreen tea,toner\n",
            PREDICT,
            Refuses("found `text` twice"),
        ),
        case(
            "old line ends",
            "a.csv",
            "id,text\r1,green tea\r2,toner\r",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "mixed line ends",
            "a.csv",
            "id,text\r\n1,green tea\n2,toner\r\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "a zero byte in a text",
            "a.csv",
            b"id,text\n1,green\0 tea\n2,toner\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "zero bytes behind the table",
            "a.csv",
            b"id,text\n1,green tea\n\0\0\0\0",
            PREDICT,
            Refuses("a.csv:3:1: expected 2 columns"),
        ),
        case(
            "an old end of file",
            "a.csv",
            b"id,text\n1,green tea\n\x1a",
            PREDICT,
            Refuses("a.csv:3:1: expected 2 columns"),
        ),
        case(
            "a JSON array",
            "a.csv",
            r#"[{"text":"green tea"},{"text":"toner"}]"#,
            PREDICT,
            Refuses("expected a column `text`"),
        ),
        case(
            "lines of JSON",
            "a.csv",
            "{\"text\":\"green tea\"}\n{\"text\":\"toner\"}\n",
            PREDICT,
            Refuses("expected a header with a column `text`"),
        ),
        case(
            "a web page",
            "a.csv",
            "<!DOCTYPE html>\n<html><table><tr><td>tea</td></tr></table></html>\n",
            PREDICT,
            Refuses("expected a header"),
        ),
        case(
            "a PDF",
            "a.csv",
            b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n",
            PREDICT,
            Refuses("is a PDF; expected rows of text"),
        ),
        case(
            "a spreadsheet's note of its delimiter",
            "a.csv",
            "sep=;\nid;text\n1;green tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "a title above the header",
            "a.csv",
            "Tickets of April,\nid,text\n1,green tea\n",
            PREDICT,
            Refuses("expected a column `text`"),
        ),
        case(
            "a quote that nothing closes",
            "a.csv",
            "id,text\n1,\"green tea\n2,toner\n",
            PREDICT,
            Refuses("a.csv:2:3: expected a closing quote"),
        ),
        case(
            "quotes inside a text",
            "a.csv",
            "id,text\n1,green \"tea\" leaf\n2,5\" toner\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "decimal commas",
            "a.csv",
            "id;text;price\n1;green tea;3,5\n2;toner;4,5\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "another delimiter",
            "a.csv",
            "id^text\n1^green tea\n",
            PREDICT,
            Refuses("expected a header with a column `text`"),
        ),
        case(
            "columns by blanks",
            "a.csv",
            "id   text\n1    green tea\n",
            PREDICT,
            Refuses("expected a header with a column `text`"),
        ),
        case(
            "a column without a name",
            "a.csv",
            ",text\n0,green tea\n1,toner\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "a row too short",
            "a.csv",
            "id,text,x\n1,green tea,2\n2\n",
            PREDICT,
            Refuses("a.csv:3:1: expected 3 columns"),
        ),
        case(
            "a table appended with its header",
            "a.csv",
            "id,text\n1,green tea\nid,text\n2,toner\n",
            PREDICT,
            Refuses("a.csv:3:1: expected a row, found the header again"),
        ),
    ]);
}

#[test]
fn appended_tables_and_texts_without_words() {
    check(vec![
        case(
            "the same to train",
            "a.csv",
            "text,label\ntea,a\ntext,label\ncoffee,b\ncocoa,b\n",
            "train FILE --model t",
            Refuses("a.csv:3:1: expected a row, found the header again"),
        ),
        case(
            "its way out",
            "a.csv",
            "text,label\ntea,a\ntext,label\ncoffee,b\ncocoa,b\n",
            "train FILE --model t --quiet --skip-bad-rows",
            Works,
        ),
        case(
            "one column of a word",
            "a.csv",
            "text\ntext\ngreen tea\n",
            PREDICT,
            PrintsAndSays("\nhot\n", "1 row has no known word"),
        ),
        case(
            "texts without a word",
            "a.csv",
            "text,label\n,a\n,b\n,a\n",
            "train FILE --model t",
            Refuses("no text holds a word"),
        ),
        case(
            "labels that are numbers",
            "a.csv",
            "text,label\ntea,1.0\nblack tea,1.0\ncoffee,2.5\n",
            "train FILE --model t --quiet",
            Works,
        ),
    ]);
}

/// A zip archive of stored files, without the directory behind them.
pub(crate) fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        archive.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0");
        for _ in 0..2 {
            archive.extend((content.len() as u32).to_le_bytes());
        }
        archive.extend((name.len() as u16).to_le_bytes());
        archive.extend([0, 0]);
        write!(archive, "{name}{content}").unwrap();
    }
    archive.extend(b"PK\x01\x02");
    archive
}

#[test]
fn of_a_zip_archive_no_file_is_left_out() {
    let place = Workplace::new();
    place.file("train.csv", "text,label\ntea,hot\nice,cold\nblack tea,hot\n");
    place.stdout("train train.csv --model m --quiet");
    let (first, second) = (("a.csv", "text,id\ntea,1\n"), ("b.csv", "text,id\nice,2\n"));
    place.file("two.csv.zip", zip(&[first, second]));
    let output = place.memoir("predict m two.csv.zip").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it holds several files; expected one"));
    // What macOS writes beside a file is none.
    place.file("mac.csv.zip", zip(&[first, ("__MACOSX/._a.csv", "\0\u{5}")]));
    assert_eq!(place.stdout("predict m mac.csv.zip"), "hot\n");
}
