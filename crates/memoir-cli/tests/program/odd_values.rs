//! Odd values, odd beginnings of files, and files that are no tables at all. What is learned must be what
//! stands in the file, and what is no text must not be answered.

use crate::odd_files::{PREDICT, Prints, PrintsAndSays, Refuses, Works, case, check};
use crate::support::Workplace;

const TRAIN: &str = "train FILE --model t --quiet";

#[test]
fn what_programs_write_in_front_of_a_table() {
    check(vec![
        case(
            "Excel's delimiter",
            "a.csv",
            "sep=;\r\nid;text\r\n1;green, tea\r\n2;toner\r\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "the same behind a byte-order mark",
            "a.csv",
            "\u{feff}\"sep=|\"\ntext|id\ngreen tea|1\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "the same from a pipe",
            "-",
            "SEP=\t\nid\ttext\n1\tgreen tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "its places",
            "a.csv",
            "sep=,\nid,text\n1,green tea\n2\n",
            PREDICT,
            Refuses("a.csv:4:1: expected 2 columns"),
        ),
        case(
            "no delimiter",
            "a.csv",
            "sep=comma\nid,text\n",
            PREDICT,
            Refuses("expected a header with a column `text`"),
        ),
        case(
            "quotes around all, as R writes them",
            "a.tsv",
            "\"text\"\t\"id\"\n\"green\ttea\"\t\"1\"\n\"toner\"\t\"2\"\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "a blank and a line end in a name",
            "a.csv",
            "\"id\nof row\", Text \n1,green tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
    ]);
}

#[test]
fn names_that_tell_nothing_leave_it_to_the_content() {
    check(vec![
        case(
            "a table",
            "a.dat",
            "id;text\n1;green tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "lines of JSON",
            "a.json",
            "{\"text\":\"green tea\"}\n{\"text\":\"toner\"}\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "one array",
            "a.json",
            "[{\"text\":\"green tea\"}]\n",
            PREDICT,
            Refuses("expected one JSON object per line"),
        ),
        case(
            "lines",
            "a.log",
            "green tea\ntoner\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "a table without a known column",
            "a.dat",
            "id,title\n1,green tea\n",
            PREDICT,
            Refuses("looks like a table with the columns `id`, `title`"),
        ),
        case(
            "numbers",
            "a.dat",
            "7 8 9 10\n",
            PREDICT,
            Refuses("cannot tell the format from the name or the first lines; give `--format`"),
        ),
        case(
            "to train",
            "rows",
            "text,label\ntea,a\ncoffee,b\nblack tea,a\n",
            TRAIN,
            Works,
        ),
    ]);
}

#[test]
fn what_is_no_text_is_not_answered() {
    check(vec![
        case(
            "a picture",
            "-",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01 tea\n",
            PREDICT,
            Refuses("is a picture; expected rows of text"),
        ),
        case(
            "a database",
            "a.txt",
            b"SQLite format 3\0\x10\0\x01\x01\0@ \ntext\n",
            PREDICT,
            Refuses("is an SQLite database"),
        ),
        case(
            "a web page",
            "-",
            "<!DOCTYPE html>\n<html><body>tea</body></html>\n",
            PREDICT,
            Refuses("is a web page"),
        ),
        case(
            "XML",
            "-",
            "<?xml version=\"1.0\"?>\n<rows>tea</rows>\n",
            PREDICT,
            Refuses("is XML"),
        ),
        case(
            "a stream of Arrow",
            "-",
            b"\xff\xff\xff\xff\x70\0\0\0\x10\0\0\0\0\0\n\0 tea\n",
            PREDICT,
            Refuses("is an Arrow stream; expected text, or the name of the file"),
        ),
        case(
            "Feather of version 1",
            "a.feather",
            b"FEA1\0\0\0\0",
            PREDICT,
            Refuses("write it as version 2"),
        ),
        case(
            "a pickle",
            "a.csv",
            b"\x80\x05\x95\x10\0\0\0\0\0\0\0\x8c\x04text\n",
            PREDICT,
            Refuses("holds zero bytes in its first line"),
        ),
        case(
            "UTF-32",
            "a.csv",
            b"\xff\xfe\0\0t\0\0\0e\0\0\0x\0\0\0t\0\0\0\n\0\0\0a\0\0\0\n\0\0\0",
            PREDICT,
            Refuses("save it as UTF-8"),
        ),
        case(
            "Latin-1 with a character of UTF-8",
            "a.csv",
            b"id,text\n1,caf\xe9 tea\n2,tea caf\xc3\xa9\n",
            PREDICT,
            PrintsAndSays("hot\nhot\n", "is no UTF-8 and was read as windows-1252"),
        ),
        case(
            "UTF-8 with a character of Latin-1",
            "a.csv",
            b"id,text\n1,tea caf\xc3\xa9\n2,caf\xe9 tea\n",
            PREDICT,
            Refuses("a.csv:3:6: expected UTF-8 text, found the byte 0xe9"),
        ),
    ]);
}

#[test]
fn columns_and_keys_that_are_there_twice() {
    check(vec![
        case(
            "two columns of labels",
            "a.csv",
            "text,label,labels\ntea,a,x\ncoffee,b,y\nmilk,a,x\n",
            TRAIN,
            Refuses("found `label` and `labels`; give `--label-column`"),
        ),
        case(
            "where labels do not matter",
            "a.csv",
            "text,label,labels\ngreen tea,a,x\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "text and labels in one",
            "a.csv",
            "text,label\ntea,a\ncoffee,b\n",
            "train FILE --model t --text-column text --label-column text",
            Refuses("expected text and labels in different columns"),
        ),
        case(
            "a key twice",
            "a.jsonl",
            "{\"text\":\"tea\",\"text\":\"toner\"}\n",
            PREDICT,
            Refuses("expected one key `text`, found several"),
        ),
        case(
            "two keys of labels",
            "a.jsonl",
            "{\"text\":\"tea\",\"label\":\"hot\",\"labels\":[\"wear\"]}\n",
            "evaluate m FILE",
            Refuses("expected one key `label` or `labels`, found several"),
        ),
        case(
            "labels alone",
            "a.csv",
            "label\na\nb\n",
            TRAIN,
            Refuses("expected a header with a column `text`"),
        ),
    ]);
}

#[test]
fn formulas_that_failed_are_no_values() {
    check(vec![
        case(
            "as a label",
            "a.csv",
            "text,label\ntea,a\ncoffee,#N/A\nmilk,a\n",
            TRAIN,
            Refuses(
                "a.csv:3:8: expected a label, found `#N/A`, which a spreadsheet writes where a formula failed",
            ),
        ),
        case(
            "among labels",
            "a.csv",
            "text,labels\ntea,a|#REF!\ncoffee,b\n",
            TRAIN,
            Refuses("found `#REF!`"),
        ),
        case(
            "as a text",
            "a.csv",
            "id,text\n1,#NAME?\n2,green tea\n",
            PREDICT,
            PrintsAndSays("\nhot\n", "1 row has no known word"),
        ),
    ]);
}

/// What `train` makes of the labels in `content`: the classes, and what it says.
fn learned(content: impl AsRef<[u8]>) -> (Vec<String>, String) {
    let place = Workplace::new();
    place.file("a.csv", content);
    let output = place.run("train a.csv --model t");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let classes = place.stdout("classes t");
    let names = classes.lines().map(|line| line[12..].to_owned());
    (names.collect(), said)
}

#[test]
fn labels_stay_what_they_are() {
    let names = |content: &str| learned(content).0;
    assert_eq!(
        names("text,label\ntea,0123\nmilk,123\ngreen tea,0123\n"),
        ["0123", "123"]
    );
    assert_eq!(
        names("text,label\ntea, a \nmilk,b\t\ngreen tea,\"a\"\n"),
        ["a", "b"]
    );
    assert_eq!(
        names("text,label\ntea,\u{a0}a\nmilk,b\ngreen tea,a\n"),
        ["a", "b"]
    );
    assert_eq!(
        names("text,label\ntea,Hot\nmilk,hot\ngreen tea,Hot\n"),
        ["Hot", "hot"]
    );
    assert_eq!(names("text,label\n12,1e3\n13,1000\n12 14,1e3\n"), ["1e3", "1000"]);
    assert_eq!(
        names("text,label\ntea,NA\nmilk,null\ngreen tea,NA\n"),
        ["NA", "null"]
    );
    let (names, said) = learned("text,label\ntea,\nmilk,  \ngreen tea,\"\"\ncocoa,b\nice,a\n");
    assert_eq!(names, ["b", "a"]);
    assert!(said.contains("3 rows without a label (5 read)"), "{said}");
}

#[test]
fn codes_that_were_taken_for_numbers_are_noticed() {
    let (names, said) = learned("text,label\ntea,12.0\nmilk,13.0\ngreen tea,12.0\n");
    assert_eq!(names, ["12.0", "13.0"]);
    assert!(said.contains("labels such as `12.0` look like codes"), "{said}");
    let (_, said) = learned("text,label\ntea,12.0\nmilk,1.5\ngreen tea,12.0\n");
    assert!(!said.contains("look like codes"), "{said}");
}

#[test]
fn large_cells_and_many_columns_are_read() {
    let place = Workplace::new();
    place.file("train.csv", "text,label\ntea,hot\nice,cold\nblack tea,hot\n");
    place.stdout("train train.csv --model m --quiet");
    let long = "word ".repeat(2_000_000);
    place.file("a.csv", format!("id,text\n1,{long}tea\n2,\"{long}\nice\"\n"));
    assert_eq!(place.stdout("predict m a.csv"), "hot\ncold\n");
    let names: Vec<String> = (0..5000).map(|column| format!("c{column}")).collect();
    let cells = "1,".repeat(5000);
    place.file(
        "b.csv",
        format!("{},text\n{cells}tea\n{cells}ice\n", names.join(",")),
    );
    assert_eq!(place.stdout("predict m b.csv"), "hot\ncold\n");
}
