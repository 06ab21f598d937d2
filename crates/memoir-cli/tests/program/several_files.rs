//! Data in several files is read as if it were in one.

use std::fs;

use crate::support::{Workplace, texts, vectors};

/// The rows of a table in three files of a folder, one of which has no rows.
fn in_parts(place: &Workplace, table: &str) {
    let (header, rows) = table.split_once('\n').expect("a header");
    let rows: Vec<&str> = rows.lines().collect();
    let (first, rest) = rows.split_at(rows.len() / 3);
    fs::create_dir(place.path().join("parts")).expect("a folder");
    place.file("parts/1.csv", format!("{header}\n{}\n", first.join("\n")));
    place.file("parts/2.csv", format!("{header}\n"));
    place.file("parts/3.csv", format!("{header}\n{}\n", rest.join("\n")));
    place.file("parts/4.csv", "");
    place.file("parts/_SUCCESS", "not a table");
}

#[test]
fn a_folder_a_pattern_and_a_list_give_the_model_of_one_file() {
    let place = Workplace::new();
    let table = texts(300, 20);
    place.file("all.csv", &table);
    in_parts(&place, &table);
    place.stdout("train all.csv --model all --quiet");
    let expected = fs::read(place.path().join("all")).expect("a model");
    for data in ["parts", "parts/?.csv", "parts/1.csv parts/2.csv parts/3.csv"] {
        for threads in [1, 3] {
            place.stdout(&format!("train {data} --model m --quiet --threads {threads}"));
            let model = fs::read(place.path().join("m")).expect("a model");
            assert!(model == expected, "{data} with {threads} threads");
        }
    }
    for verb in ["predict", "evaluate"] {
        let seconds = |text: String| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.contains("rows per second"));
            lines.map(str::to_owned).collect()
        };
        let one = seconds(place.stdout(&format!("{verb} all all.csv --threads 1")));
        let several = seconds(place.stdout(&format!("{verb} all parts --threads 1")));
        assert_eq!(several, one, "{verb}");
    }
    place.stdout("split parts --out divided --test 0.2");
    let rows = |name: &str| {
        let text = fs::read_to_string(place.path().join("divided").join(name)).expect("a table");
        text.lines().count() - 1
    };
    assert_eq!(rows("train.csv") + rows("test.csv"), 300);
    place.stdout("audit parts --out doubts.csv --quiet");
}

#[test]
fn vectors_come_in_several_files_too() {
    let place = Workplace::new();
    let rows = vectors(200, 10);
    let (half, _) = rows.match_indices('\n').nth(99).expect("200 rows");
    place.file("all.svm", &rows);
    place.file("a.svm", &rows[..=half]);
    place.file("b.svm", &rows[half + 1..]);
    place.stdout("train all.svm --model all --quiet");
    place.stdout("train a.svm b.svm --model m --quiet");
    assert!(
        fs::read(place.path().join("m")).expect("read") == fs::read(place.path().join("all")).expect("read")
    );
}

#[test]
fn an_error_names_the_file() {
    let place = Workplace::new();
    place.file("a.csv", "text,label\ngreen tea,hot\ntoner,office\n");
    place.file("b.csv", "text,label\nblack tea,hot\npaper,office,x\n");
    place.file("c.csv", "text,code\ngreen tea,hot\n");
    place.file("d.jsonl", "{\"text\": \"tea\", \"label\": \"hot\"}\n");
    place.file("e.csv", "id,text,label\n1,green tea,hot\n");
    let refusals = [
        ("train a.csv b.csv --model m", "b.csv:3:14: expected 2 columns"),
        (
            "train a.csv c.csv --model m",
            "c.csv: files that are read together must be alike: found the text in `text`, labels in `code`",
        ),
        (
            "train a.csv d.jsonl --model m",
            "d.jsonl: files that are read together must be of one kind: found jsonl, expected csv",
        ),
        (
            "train nothing-*.csv --model m",
            "nothing-*.csv: no file fits this pattern",
        ),
        ("train a.csv gone.csv --model m", "gone.csv: cannot open"),
        ("train a.csv e.csv --model a.csv", "a.csv: would be overwritten"),
    ];
    for (command, message) in refusals {
        let output = place.run(command);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {stderr}");
        assert!(stderr.contains(message), "{command}: {stderr}");
        assert!(!place.path().join("m").exists(), "{command}");
    }
    fs::create_dir(place.path().join("empty")).expect("a folder");
    let stderr = place.run("train empty --model m").stderr;
    assert!(String::from_utf8_lossy(&stderr).contains("empty: has no files"));
    place.stdout("train a.csv e.csv --model m --quiet");
}
