//! Texts that always get a class, and columns beside the text, from end to end.

use std::fmt::Write as _;
use std::fs;

use crate::support::Workplace;

/// A folder with a model `m` of two classes.
fn with_model() -> Workplace {
    let place = Workplace::new();
    let mut rows = String::from("text,label\n");
    for row in 0..40 {
        let _ = writeln!(rows, "green tea leaf{row},hot\nprinter toner paper{row},office");
    }
    place.file("train.csv", rows);
    place.stdout("train train.csv --model m --quiet");
    place
}

#[test]
fn a_dictionary_decides_and_is_marked() {
    let place = with_model();
    place.file(
        "dictionary.csv",
        "label,text\noffice,Green  TEA\nhot,no such words\n",
    );
    place.stdout("overrides m dictionary.csv --out m2 --quiet");
    place.file(
        "new.csv",
        "id,text\n1,green tea\n2,green tea leaf\n3,No such\twords\n4,unheard of\n",
    );
    assert_eq!(place.stdout("predict m new.csv --quiet"), "hot\nhot\n\n\n");
    assert_eq!(
        place.stdout("predict m2 new.csv --quiet"),
        "office [override]\nhot\nhot [override]\n\n"
    );
    assert_eq!(
        place
            .stdout("predict m2 new.csv --quiet --top-k 2")
            .lines()
            .next(),
        Some("office [override]\thot")
    );
    place.stdout("predict m2 new.csv --out answers.csv --quiet --raw-scores --keep-columns id");
    let answers = fs::read_to_string(place.path().join("answers.csv")).expect("a table");
    let columns: Vec<Vec<&str>> = answers.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(columns[0], ["id", "class_1", "score_1", "override"]);
    assert_eq!(columns[1], ["1", "office", "1", "true"]);
    assert_eq!((columns[2][1], columns[2][3]), ("hot", "false"));
    assert_eq!(columns[4], ["4", "", "", "false"]);
    assert_eq!(
        place.stdout("overrides m2"),
        "text,label\ngreen tea,office\nno such words,hot\n"
    );
    let told = place.stdout("explain m2 --data new.csv --json --quiet");
    let first: serde_json::Value = serde_json::from_str(told.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&first["override"], &first["text"]),
        (&"office".into(), &"green tea".into())
    );
    place.stdout("overrides m2 --remove --out m3 --quiet");
    assert!(
        fs::read(place.path().join("m")).expect("read") == fs::read(place.path().join("m3")).expect("read")
    );
}

#[test]
fn a_dictionary_follows_its_classes() {
    let place = with_model();
    place.file("dictionary.csv", "text,label\ngreen tea,office\ntoner,hot\n");
    place.stdout("overrides m dictionary.csv --out m2 --quiet");
    place.stdout("classes m2 rename office desk --out m3");
    assert_eq!(
        place.stdout("overrides m3"),
        "text,label\ngreen tea,desk\ntoner,hot\n"
    );
    place.stdout("classes m3 retire hot --out m4");
    assert_eq!(place.stdout("overrides m4"), "text,label\ngreen tea,desk\n");
    place.file("more.csv", "text,label\nblue shoe,wear\nred shoe,wear\n");
    place.stdout("train more.csv --from m3 --model m5 --quiet");
    assert_eq!(
        place.stdout("overrides m5"),
        "text,label\ngreen tea,desk\ntoner,hot\n"
    );
}

#[test]
fn mistakes_in_a_dictionary_are_told() {
    let place = with_model();
    let refusals = [
        (
            "text,label\ntea,cold\n",
            "has 1 class that the model does not know: `cold`",
        ),
        ("text,label\ntea,hot|office\n", "row 1 has 2 labels; expected one"),
        (
            "text,label\ntea,hot\nTea,office\n",
            "`Tea` is there with two classes",
        ),
    ];
    for (content, message) in refusals {
        place.file("dictionary.csv", content);
        let output = place.run("overrides m dictionary.csv --out m2");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && stderr.contains(message),
            "{stderr}"
        );
    }
    assert!(!place.path().join("m2").exists());
}

#[test]
fn explanations_show_text_label_and_names() {
    let place = with_model();
    place.file("new.csv", "text,label\ngreen <tea>,hot\n");
    let told = place.stdout("explain m --data new.csv --quiet");
    assert!(
        told.starts_with("line 2\ntext       green <tea>\nlabel      hot\nanswer     hot"),
        "{told}"
    );
    let page = place.stdout("explain m --data new.csv --quiet --html");
    assert!(
        page.starts_with("<!doctype html>") && page.ends_with("</html>\n"),
        "{page}"
    );
    assert!(
        page.contains("text       green &lt;tea&gt;") && page.contains("<mark"),
        "{page}"
    );
    place.file("train.svm", "a 1:1 2:1\nb 2:1 3:1\na 1:2\nb 3:2\n");
    place.file("names.txt", "alpha\nbeta\ngamma\n");
    place.stdout("train train.svm --model v --quiet");
    let told = place.stdout("explain v --row 1:1 --feature-names names.txt --quiet");
    assert!(told.contains("alpha") && !told.contains("feature 1"), "{told}");
    place.file("few.txt", "alpha\n");
    let output = place.run("explain v --row 1:1 --feature-names few.txt");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("has 1 names; expected one for each of 3 features")
    );
}

#[test]
fn columns_beside_the_text_are_remembered_and_named() {
    let place = Workplace::new();
    let mut rows = String::from("text,region,pay,label\n");
    for row in 0..60 {
        let (region, class) = (["North", "South"][row % 2], ["a", "b"][row % 2]);
        let _ = writeln!(rows, "word{},{region},{},{class}", row % 3, 100 + row % 2 * 50);
    }
    place.file("train.csv", rows);
    place.stdout("train train.csv --model m --quiet --category-column region --numeric-column pay");
    place.file("new.csv", "Region,PAY,text\nsouth,150,word1\nNORTH,100,word1\n");
    assert_eq!(place.stdout("predict m new.csv --quiet"), "b\na\n");
    let told = place.stdout("explain m --data new.csv --quiet");
    assert!(
        told.contains("region=south  (region)") && told.contains("pay=150 and above  (pay)"),
        "{told}"
    );
    place.file("less.csv", "text,pay\nword1,150\n");
    let output = place.run("predict m less.csv");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "b\n");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("the model was trained with `region`, which is not here"),
        "{stderr}"
    );
}

#[test]
fn a_dictionary_may_know_more_classes_than_the_model() {
    let place = with_model();
    place.file("dictionary.csv", "label,text\ncold,ice\nhot,toner\n");
    let output = place.run("overrides m dictionary.csv --out m2 --skip-bad-rows");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("`cold`; their rows are left out"));
    assert_eq!(place.stdout("overrides m2"), "text,label\ntoner,hot\n");
}
