//! Files in, files out: answers beside the columns of the input, in every kind of file.

use std::fmt::Write as _;
use std::fs;

use crate::support::{Workplace, texts};

const NEW: &str = "id;text;n\n007;word3 class3;1,5\n8;xylophone;\n9;\"word4; class4\";x\n";

/// A folder with a calibrated model `m`.
fn with_model() -> Workplace {
    let place = Workplace::new();
    place.file("train.csv", texts(600, 30));
    place.file("valid.csv", texts(300, 30));
    place.stdout("train train.csv --valid valid.csv --model m --quiet");
    place.file("new.csv", NEW);
    place
}

fn read(place: &Workplace, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).expect("written")
}

fn refused(place: &Workplace, words: &str, message: &str) {
    let output = place.run(words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}: {stderr}");
    assert!(stderr.contains(message), "{words}: {stderr}");
}

#[test]
fn answers_stand_beside_the_columns_of_the_input() {
    let place = with_model();
    place.stdout("predict m new.csv --out coded.csv --quiet");
    let coded = read(&place, "coded.csv");
    assert!(coded.starts_with("id,text,n,class_1,probability_1\n007,word3 class3,\"1,5\",class 3,0."));
    assert!(coded.contains("\n8,xylophone,,,\n9,word4; class4,x,class 4,0."));
    place.stdout("predict m new.csv --out coded.tsv --keep-columns id --top-k 2 --quiet");
    let coded = read(&place, "coded.tsv");
    assert!(coded.starts_with("id\tclass_1\tprobability_1\tclass_2\tprobability_2\n007\tclass 3\t0."));
    place.stdout("predict m new.csv --out coded.jsonl --keep-columns none --raw-scores --quiet");
    let coded = read(&place, "coded.jsonl");
    assert!(coded.starts_with("{\"class_1\":\"class 3\",\"score_1\":"));
    assert!(coded.contains("\n{\"class_1\":null,\"score_1\":null}\n"));
    place.stdout("predict m new.csv --out long.csv --keep-columns id --layout long --quiet");
    let long = read(&place, "long.csv");
    assert!(long.starts_with("id,row,rank,class,probability\n007,1,1,class 3,0."));
    assert!(long.contains("\n9,3,1,class 4,0.") && long.lines().count() == 3);
}

#[test]
fn json_values_keep_their_types() {
    let place = with_model();
    place.file(
        "new.jsonl",
        "{\"n\": [1, 2.50], \"text\": \"word3 class3\", \"x\": null}\n",
    );
    place.stdout("predict m new.jsonl --out coded.jsonl --quiet");
    assert!(
        read(&place, "coded.jsonl")
            .starts_with("{\"n\":[1, 2.50],\"text\":\"word3 class3\",\"x\":null,\"class_1\":\"class 3\"")
    );
    place.stdout("predict m new.jsonl --out coded.csv --quiet");
    assert!(
        read(&place, "coded.csv")
            .starts_with("n,text,x,class_1,probability_1\n\"[1, 2.50]\",word3 class3,,class 3,0.")
    );
}

#[test]
fn only_probable_classes_are_given() {
    let place = with_model();
    place.stdout(
        "predict m new.csv --out coded.csv --keep-columns id --min-probability 0.3 --at-most 3 --quiet",
    );
    let coded = read(&place, "coded.csv");
    assert_eq!(
        coded.lines().next().map(|header| header.split(',').count()),
        Some(7)
    );
    let first: Vec<&str> = coded.lines().nth(1).expect("a row").split(',').collect();
    assert_eq!((first[1], first[3]), ("class 3", ""), "{coded}");
    let output = place.run("predict m new.csv --min-probability 1 --output jsonl");
    assert_eq!(
        output.stdout,
        b"{\"classes\":[]}\n{\"classes\":[]}\n{\"classes\":[]}\n"
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 of 3 rows not answered"));
}

#[test]
fn files_that_cannot_be_written_are_refused_and_nothing_is_left() {
    let place = with_model();
    place.file("again.csv", "text,class_1\nword3,x\n");
    let files = place.files();
    refused(
        &place,
        "predict m new.csv --out coded.odt",
        "cannot tell the kind of file from the name",
    );
    refused(&place, "predict m new.csv --out new.csv", "would be overwritten");
    refused(
        &place,
        "predict m again.csv --out coded.csv",
        "the input has a column `class_1`",
    );
    refused(
        &place,
        "predict m new.csv --out coded.csv --keep-columns title",
        "expected a column `title`",
    );
    assert_eq!(place.files(), files);
    place.stdout("predict m again.csv --out coded.csv --keep-columns text --quiet");
}

#[cfg(feature = "tables")]
#[test]
fn tables_of_other_programs_go_in_and_out() {
    let place = with_model();
    place.stdout("predict m new.csv --out direct.csv --quiet");
    for name in ["coded.xlsx", "coded.parquet", "coded.arrow"] {
        place.stdout(&format!("predict m new.csv --out {name} --quiet"));
        place.stdout(&format!(
            "predict m {name} --keep-columns id,text,n --out back.csv --quiet"
        ));
        assert_eq!(read(&place, "back.csv"), read(&place, "direct.csv"), "{name}");
    }
    place.file("new.xlsx", "no spreadsheet");
    refused(&place, "predict m new.xlsx", "new.xlsx: is no Excel file");
}

#[cfg(feature = "tables")]
#[test]
fn the_same_rows_give_the_same_model() {
    let place = with_model();
    place.stdout("train train.csv --model csv.memoir --quiet");
    for name in ["rows.parquet", "rows.xlsx"] {
        place.stdout(&format!("predict m train.csv --out {name} --quiet"));
        place.stdout(&format!("train {name} --model other.memoir --quiet"));
        let bytes = |name: &str| fs::read(place.path().join(name)).expect("a model");
        assert!(bytes("csv.memoir") == bytes("other.memoir"), "{name}");
    }
}

#[test]
fn other_encodings_are_read_and_said() {
    let place = with_model();
    place.file("latin1.csv", b"text,ort\nword3 class3,K\xf6ln\n");
    let utf16: Vec<u8> = "\u{feff}text,ort\nword3 class3,Köln\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    place.file("utf16.csv", utf16);
    for (name, encoding) in [("latin1.csv", "windows-1252"), ("utf16.csv", "UTF-16LE")] {
        let output = place.run(&format!("predict m {name} --out coded.csv"));
        assert!(output.status.success(), "{output:?}");
        assert!(read(&place, "coded.csv").contains("word3 class3,Köln,class 3"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            stderr.contains(&format!("{name}: is no UTF-8 and was read as {encoding}")),
            "{stderr}"
        );
    }
    place.stdout("predict m latin1.csv --encoding iso-8859-5 --out coded.csv --quiet");
    assert!(read(&place, "coded.csv").contains("Kіln"));
    refused(
        &place,
        "predict m latin1.csv --encoding elvish",
        "expected the name of an encoding",
    );
}

#[test]
fn rows_are_split_by_their_text() {
    let place = Workplace::new();
    let mut rows = String::new();
    for row in 0..1000 {
        let _ = writeln!(rows, "text {},c{}", row % 900, row % 7);
    }
    place.file("all.csv", format!("text,label\n{rows}rare,once\n"));
    place.stdout("split all.csv --valid 0.2 --test 0.1 --out parts --quiet");
    let part = |name: &str| -> Vec<String> {
        let text = read(&place, &format!("parts/{name}.csv"));
        assert!(text.starts_with("text,label\n"));
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let parts = ["train", "valid", "test"].map(part);
    let sizes = parts.each_ref().map(Vec::len);
    assert_eq!(sizes.iter().sum::<usize>(), 1001);
    assert!(
        (150..250).contains(&sizes[1]) && (60..140).contains(&sizes[2]),
        "{sizes:?}"
    );
    assert!(parts[0].contains(&"rare,once".to_owned()));
    // A text that occurs twice is in one part only.
    let texts = parts.each_ref().map(|rows| {
        let texts = rows.iter().filter_map(|row| row.split(',').next());
        texts.collect::<std::collections::BTreeSet<_>>()
    });
    assert!(
        texts[0].is_disjoint(&texts[1]) && texts[1].is_disjoint(&texts[2]) && texts[0].is_disjoint(&texts[2])
    );
    place.file("all.svm", "a 1:1 3:0.5\nb 2:1\n");
    place.stdout("split all.svm --out vectors --quiet");
    assert_eq!(read(&place, "vectors/train.svm"), "a 1:1 3:0.5\nb 2:1\n");
    refused(&place, "split - --out x", "expected a file");
    refused(
        &place,
        "split all.csv --valid 0.6 --test 0.4 --out x",
        "leave nothing to train on",
    );
}

#[test]
fn a_report_has_every_class_confusion_and_wrong_row() {
    let place = with_model();
    place.file(
        "test.csv",
        "id,text,label\n1,class3 word3,class 3\n2,class4 word4,class 5\n3,xylophone,class 3\n",
    );
    place.stdout("evaluate m test.csv --report report --quiet");
    assert_eq!(
        read(&place, "report/confusions.csv"),
        "class,taken_for,rows\nclass 5,class 4,1\n"
    );
    let classes = read(&place, "report/classes.csv");
    assert!(classes.contains("\nclass 3,1,0.5,0.6666667,2,1\n"), "{classes}");
    let wrong = read(&place, "report/wrong_rows.csv");
    let mut lines = wrong.lines();
    let header = "id,text,label,line,true_classes,answer,answer_probability,rank_of_true_class";
    assert_eq!(lines.next(), Some(header));
    assert!(
        lines
            .next()
            .is_some_and(|line| line.starts_with("2,class4 word4,class 5,3,class 5,class 4,0."))
    );
    assert_eq!(lines.next(), Some("3,xylophone,class 3,4,class 3,,,"));
}

#[test]
fn the_model_remembers_how_its_data_was_read() {
    let place = Workplace::new();
    let rows = texts(600, 30)
        .replace("label,text", "Code;Title")
        .replace(",word", ";word");
    place.file("train.csv", rows.replace("class 3;", "class 3+x;"));
    let columns = "--text-column Title --label-column Code --label-separator +";
    place.stdout(&format!("train train.csv --model m --quiet {columns}"));
    place.file("new.csv", "id,title,text\n1,word3 class3,x\n2,word4 class4,x\n");
    assert_eq!(
        place.stdout("predict m new.csv --quiet --top-k 1"),
        "class 3\nclass 4\n"
    );
    // Options override it, and other files are read as ever.
    place.file("other.csv", "id,text\n1,word4 class4\n");
    assert_eq!(place.stdout("predict m other.csv --quiet"), "class 4\n");
    place.file("named.csv", "title,body\nx,word4 class4\n");
    assert_eq!(
        place.stdout("predict m named.csv --quiet --text-column body"),
        "class 4\n"
    );
    place.stdout("evaluate m train.csv --quiet");
    place.stdout("train train.csv --from m --model n --quiet");
    assert_eq!(place.stdout("predict n new.csv --quiet"), "class 3\nclass 4\n");
}

#[test]
fn wrong_labels_are_found() {
    let place = Workplace::new();
    let rows = texts(600, 10);
    // The label of one row is that of another class.
    let wrong = rows.replacen("class 3,", "class 4,", 1);
    place.file("all.csv", wrong);
    let said = place.stdout("audit all.csv --out doubts.csv --classes twins.csv --most 5 --quiet");
    assert!(said.contains("of 600 rows doubted"), "{said}");
    let doubts = read(&place, "doubts.csv");
    let mut lines = doubts.lines();
    let header = "row_number,given_class,likely_class,given_probability,likely_probability,label,text";
    assert_eq!(lines.next(), Some(header));
    let first = lines.next().expect("a doubt");
    assert!(
        first.contains(",class 4,class 3,") && first.contains(",class 4,word3"),
        "{doubts}"
    );
    assert_eq!(
        read(&place, "twins.csv"),
        "class,other_class,confused_rows,rows\n"
    );
    refused(&place, "audit - --out x.csv", "expected a file");
    refused(
        &place,
        "audit all.csv --out x.csv --folds 1",
        "must be at least 2",
    );
}
