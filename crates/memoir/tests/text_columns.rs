//! Columns beside the text: categories, numbers, and texts that are weighed apart.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use memoir::data::{ReadOptions, Source};
use memoir::dataset::{ColumnKind, ColumnText};
use memoir::text::{ColumnContent, TextSettings};
use memoir::{Catalogue, Classifier, Model, Session, eval};

/// Jobs whose class is told by the text, the region and the salary together, and by none of them alone.
fn jobs(rows: usize) -> String {
    let mut csv = String::from("id,title,notes,region,salary,label\n");
    for row in 0..rows {
        let (word, region, well_paid) = (row % 2, row / 2 % 2, row / 4 % 2);
        let salary = 20_000 + 50_000 * well_paid + row % 97 * 10;
        let _ = writeln!(
            csv,
            "{row},{} {},made{} up,{},{salary},class {word}{region}{well_paid}",
            ["nurse", "Teacher"][word],
            ["day", "night", "all"][row % 3],
            row % 7,
            ["North  Coast", "south"][region]
        );
    }
    csv
}

fn options() -> ReadOptions {
    ReadOptions {
        text_column: Some("title:2,notes".to_owned()),
        category_column: Some("Region".to_owned()),
        numeric_column: Some("salary:1".to_owned()),
        ..ReadOptions::default()
    }
}

fn source(csv: &str, name: &str) -> Source {
    Source::from_reader(name, std::io::Cursor::new(csv.to_owned()))
}

fn session() -> Session<'static> {
    Session::new(NonZeroUsize::MIN).expect("a session")
}

fn trained(csv: &str, text: TextSettings) -> Model {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.csv");
    std::fs::write(&path, csv).expect("written");
    Classifier::softmax()
        .text(text)
        .reading(options())
        .threads(1)
        .fit_file(&path)
        .expect("trained")
}

fn accuracy(model: &Model, csv: &str) -> f64 {
    let reading = model.reading(ReadOptions::default());
    eval::evaluate(model, source(csv, "jobs.csv"), &reading, &session())
        .expect("measured")
        .accuracy
}

#[test]
fn columns_tell_what_the_text_does_not() {
    let csv = jobs(400);
    let words = || TextSettings::default().blocks("words".to_owned());
    let with_columns = trained(&csv, words());
    assert!(accuracy(&with_columns, &csv) > 0.99);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.csv");
    std::fs::write(&path, &csv).expect("written");
    let text_alone = ReadOptions {
        text_column: Some("title,notes".to_owned()),
        ..ReadOptions::default()
    };
    let plain = Classifier::softmax()
        .text(words())
        .reading(text_alone)
        .fit_file(&path)
        .expect("trained");
    assert!(accuracy(&plain, &csv) < 0.5);
}

#[test]
fn a_model_file_keeps_its_columns_and_explains_by_their_names() {
    let csv = jobs(400);
    let model = trained(
        &csv,
        TextSettings::default().blocks("words,chars4:0.5".to_owned()),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m");
    model.save(&path).expect("saved");
    let model = Model::load(&path, &Catalogue::new()).expect("loaded");
    let columns = &model.preprocessing().text().expect("text").params.columns;
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["title", "notes", "Region", "salary"]);
    let ColumnContent::Number { bounds } = &columns[3].content else {
        panic!("{columns:?}")
    };
    assert_eq!(bounds.len(), 9, "{bounds:?}");
    let mut row = ColumnText::new();
    row.push(ColumnKind::Text, "title", 2.0, "Nurse, night");
    row.push(ColumnKind::Text, "notes", 1.0, "made3 up");
    row.push(ColumnKind::Category, "Region", 0.5, " north COAST");
    row.push(ColumnKind::Number, "salary", 1.0, "70000.0");
    assert_eq!(
        model.predict(row.as_str(), 1).expect("an answer")[0].class,
        "class 001"
    );
    let explained = model.explain(row.as_str()).expect("explained");
    let mut told: Vec<(String, String)> = explained
        .features
        .iter()
        .map(|feature| (feature.block.clone().unwrap_or_default(), feature.name.clone()))
        .filter(|(block, _)| !block.contains("chars"))
        .collect();
    told.sort();
    let salary = told
        .iter()
        .find(|(block, _)| block == "salary")
        .expect("a range")
        .1
        .clone();
    assert!(salary.starts_with("salary=") && salary.contains("to"), "{salary}");
    let others: Vec<(&str, &str)> = told
        .iter()
        .filter(|(block, _)| block != "salary")
        .map(|(block, name)| (block.as_str(), name.as_str()))
        .collect();
    let expected = [
        ("Region", "Region=north coast"),
        ("notes words", "notes: made"),
        ("notes words", "notes: made3"),
        ("notes words", "notes: up"),
        ("title words", "title: night"),
        ("title words", "title: nurse"),
    ];
    assert_eq!(others, expected);
    // A plain text is taken for the first text column.
    assert!(
        model.predict("teacher", 1).expect("an answer")[0]
            .class
            .starts_with("class 1")
    );
}

#[test]
fn training_rows_are_what_a_text_becomes_later() {
    let csv = jobs(300);
    for blocks in [
        "words",
        "words,pairs:0.5",
        "stems,chars3-4:0.7",
        "words,stems,stem-pairs",
    ] {
        let model = trained(
            &csv,
            TextSettings::default()
                .blocks(blocks.to_owned())
                .languages("english,german".to_owned()),
        );
        // What training saw is in the file: document frequencies. Reading the rows again must give the same.
        let reading = model.reading(ReadOptions::default());
        let (data, _) = memoir::prepare::read_with(
            source(&csv, "jobs.csv"),
            &reading,
            model.preprocessing(),
            model.classes(),
            &session(),
        )
        .expect("read");
        let mut counted = vec![0u32; model.preprocessing().input_features()];
        for row in data.rows.iter() {
            for (feature, _) in row.iter() {
                if let Some(count) = counted.get_mut(feature as usize) {
                    *count += 1;
                }
            }
        }
        assert_eq!(
            counted,
            *model.preprocessing().weighting.document_frequency,
            "{blocks}"
        );
    }
}

#[test]
fn formats_give_the_same_model_and_bad_cells_are_told() {
    let csv = jobs(60);
    let mut jsonl = String::new();
    for line in csv.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let _ = writeln!(
            jsonl,
            "{{\"title\": \"{}\", \"notes\": \"{}\", \"region\": \"{}\", \"salary\": {}, \"label\": \"{}\"}}",
            cells[1], cells[2], cells[3], cells[4], cells[5]
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let fit = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        Classifier::softmax()
            .reading(options())
            .threads(1)
            .fit_file(&path)
    };
    let of_csv = fit("jobs.csv", &csv).expect("trained");
    let of_json = fit("jobs.jsonl", &jsonl).expect("trained");
    let bytes = |model: &Model| {
        let path = folder.path().join("m");
        model.save(&path).expect("saved");
        std::fs::read(&path).expect("read")
    };
    assert!(bytes(&of_csv) == bytes(&of_json));
    let complaint = |name: &str, content: String| {
        let message = fit(name, &content).expect_err("refused").to_string();
        message.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let bad = csv.replacen("20000", "20 thousand", 1);
    assert_eq!(
        complaint("bad.csv", bad),
        "bad.csv:2:35: expected a number, found `20 thousand`"
    );
    let bad = jsonl.replacen("20000", "\"much\"", 1);
    assert!(complaint("bad.jsonl", bad).contains("expected a number, found `much`"));
    let without = csv.replacen("region", "area", 1);
    assert!(
        complaint("without.csv", without)
            .contains("expected a column `Region` for the categories and numbers")
    );
}

#[test]
fn a_column_that_tells_nothing_weighs_little() {
    let mut csv = String::from("text,group,noise,label\n");
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for row in 0..4000 {
        // The text tells apart classes of a group, mostly, and the group is known by its column.
        let class = row % 200;
        let word = if random(4) == 0 { random(40) } else { class % 40 };
        let (filler, noise) = (random(300), random(20));
        let _ = writeln!(csv, "word{word} filler{filler},g{},n{noise},c{class}", class / 40);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, csv).expect("written");
    let reading = ReadOptions {
        category_column: Some("group,noise".to_owned()),
        ..ReadOptions::default()
    };
    let model = Classifier::softmax()
        .reading(reading)
        .threads(1)
        .fit_file(&path)
        .expect("trained");
    let columns = &model.preprocessing().text().expect("text").params.columns;
    let weight = |name: &str| {
        let column = columns.iter().find(|column| column.name == name);
        column.expect("a column").weight
    };
    assert!(weight("group") >= 0.5 && weight("noise") <= 0.25, "{columns:?}");
}
