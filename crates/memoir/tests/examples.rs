//! The examples run, each by itself on data that it makes.

#[path = "../examples/continue_learning.rs"]
mod continue_learning;
#[path = "../examples/several_labels.rs"]
mod several_labels;
#[path = "../examples/stream_predictions.rs"]
mod stream_predictions;
#[path = "../examples/train_from_csv.rs"]
mod train_from_csv;

#[test]
fn train_from_csv() {
    train_from_csv::main().unwrap();
}

#[test]
fn stream_predictions() {
    stream_predictions::main().unwrap();
}

#[test]
fn continue_learning() {
    continue_learning::main().unwrap();
}

#[test]
fn several_labels() {
    several_labels::main().unwrap();
}

/// The snippet of the README is the example of the crate's front page, which is a doc-test.
#[test]
fn the_readme_shows_what_the_front_page_runs() {
    let snippet = |text: &str| {
        let (_, rest) = text.split_once("```rust\n")?;
        Some(rest.split_once("```")?.0.to_owned())
    };
    let readme = snippet(include_str!("../../../README.md")).expect("a snippet in Rust");
    let page: String = include_str!("../src/lib.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .filter(|line| *line != "#" && !line.starts_with("# "))
        .fold(String::new(), |page, line| page + line + "\n");
    let page = snippet(&page).expect("a snippet in Rust");
    assert_eq!(readme, page);
    assert!(readme.lines().count() <= 8, "{readme}");
}
