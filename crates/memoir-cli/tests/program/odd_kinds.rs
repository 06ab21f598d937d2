//! Files that are not what their name says, tables with odd columns, and what is said of them.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::process::Stdio;

use crate::odd_files::{PREDICT, Prints, Refuses, case, check};
use crate::odd_tables::zip;
use crate::support::{Workplace, texts};

#[test]
fn columns_that_nobody_reads_may_have_any_name() {
    check(vec![
        case(
            "two columns without a name",
            "a.csv",
            ",text,,id\n0,green tea,x,1\n1,toner,y,2\n",
            PREDICT,
            Prints("hot\noffice\n"),
        ),
        case(
            "another column twice",
            "a.csv",
            "id,id,text\n1,2,green tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "one that is to be kept",
            "a.csv",
            "id,id,text\n1,2,green tea\n",
            "predict m FILE --out o.csv --keep-columns id",
            Refuses("found `id` twice"),
        ),
        case(
            "labels twice",
            "a.csv",
            "label,label,text\na,b,green tea\n",
            "evaluate m FILE",
            Refuses("found `label` twice"),
        ),
        case(
            "no header",
            "a.csv",
            "green tea,15-1252.00\ntoner,15-1252.00\n",
            PREDICT,
            Refuses("and if this is a row already, `--no-header`"),
        ),
    ]);
}

#[test]
fn kept_columns_of_one_name_are_told_apart() {
    let place = Workplace::new();
    place.file("train.csv", texts(200, 5));
    place.stdout("train train.csv --model m --quiet");
    place.file("a.csv", ",text,,n,n\n1,word3 class3,2,3,4\n");
    place.stdout("predict m a.csv --out coded.csv --quiet");
    let coded = fs::read_to_string(place.path().join("coded.csv")).unwrap();
    assert!(
        coded.starts_with(",text,_2,n,n_2,class_1,"),
        "different columns: {coded}"
    );
    assert!(coded.contains("\n1,word3 class3,2,3,4,class 3,"), "{coded}");
}

#[test]
fn an_archive_is_what_its_file_is() {
    let place = Workplace::new();
    place.file("train.csv", "text,label\ntea,hot\nice,cold\nblack tea,hot\n");
    place.stdout("train train.csv --model m --quiet");
    place.file("new.zip", zip(&[("new.csv", "id;text\n1;tea\n2;ice\n")]));
    assert_eq!(place.stdout("predict m new.zip"), "hot\ncold\n");
}

#[test]
fn a_note_is_said_once() {
    let place = Workplace::new();
    place.file("a.csv", b"text,label\nth\xe9,a\ncaf\xe9,b\nlait,a\neau,b\n");
    let output = place.run("split a.csv --test 0.4 --out parts");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("read as windows-1252").count(), 1, "{said}");
}

#[test]
fn labels_that_look_like_several_are_noticed() {
    let place = Workplace::new();
    let mut rows = String::from("text,label\n");
    for row in 0..200 {
        let _ = writeln!(
            rows,
            "word{} letter{},c{};d{}",
            row % 10,
            row % 7,
            row % 10,
            row % 7
        );
    }
    place.file("train.csv", rows);
    let is_noticed = |options: &str| {
        let output = place.run(&format!("train train.csv --model m{options}"));
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        said.contains("labels such as `c0;d0` are taken as one") && said.contains("`--label-separator`")
    };
    assert!(is_noticed(""));
    assert!(!is_noticed(" --label-separator ;") && !is_noticed(" --single-label"));
}

#[test]
fn many_classes_may_be_named_in_any_encoding() {
    let place = Workplace::new();
    place.file(
        "train.csv",
        "text,label\ntee,Getränk\nkaffee,Getränk\nbrot,Essen\n",
    );
    place.stdout("train train.csv --model m --quiet");
    place.file("new.csv", b"class;new\nGetr\xe4nk;Getr\xe4nke\n");
    place.stdout("classes m rename --file new.csv --out renamed");
    assert!(place.stdout("classes renamed").contains("Getränke"));
}

#[test]
fn probabilities_of_several_labels_are_explained() {
    let place = Workplace::new();
    let mut rows = texts(2500, 20).replace("label,text", "labels,text");
    rows = rows.replace("class 3,", "class 3|three,");
    place.file("train.csv", rows);
    place.stdout("train train.csv --model m --quiet --text-preset words --valid-fraction 0.2");
    place.file("new.csv", "text\nword3 class3\n");
    let explained = |options: &str| {
        let output = place.run(&format!("predict m new.csv {options}"));
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).contains("need not add up to 1")
    };
    assert!(explained("--top-k 2 --scores") && explained("--top-k 2 --out coded.csv"));
    assert!(!explained("--top-k 2") && !explained("--top-k 2 --raw-scores") && !explained("--scores"));
}

#[cfg(feature = "tables")]
#[test]
fn tables_of_other_programs_are_known_by_their_content() {
    let place = Workplace::new();
    place.file("train.csv", texts(200, 5));
    place.stdout("train train.csv --model m --quiet");
    place.file("new.csv", "text\nword3 class3\nword1 class1\n");
    let kinds = [
        ("parquet", "a Parquet file"),
        ("arrow", "an Arrow file"),
        ("xlsx", "an Excel file"),
    ];
    for (ending, what) in kinds {
        place.stdout(&format!("predict m new.csv --out new.{ending} --quiet"));
        fs::copy(
            place.path().join(format!("new.{ending}")),
            place.path().join("misnamed.csv"),
        )
        .unwrap();
        assert_eq!(
            place.stdout("predict m misnamed.csv"),
            "class 3\nclass 1\n",
            "{ending}"
        );
        // From a pipe it would be read as lines of text.
        let input = File::open(place.path().join("misnamed.csv")).unwrap();
        let output = place
            .memoir("predict m -")
            .stdin(Stdio::from(input))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{ending}");
        assert!(
            output.stdout.is_empty() && said.contains(what),
            "{ending}: {said}"
        );
    }
    place.file("new.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more");
    let output = place.run("predict m new.xlsx");
    assert!(String::from_utf8_lossy(&output.stderr).contains("new.xlsx: is an Excel file of the old kind"));
}
