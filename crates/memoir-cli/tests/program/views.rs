//! Texts that are learned from in views.

use crate::support::{Workplace, texts};

#[test]
fn views_are_told_as_they_are_given() {
    let place = Workplace::new();
    place.file("train.csv", texts(1500, 30));
    let blocks = "words,pairs:0.5/stems,pairs:0.5";
    place.stdout(&format!(
        "train train.csv --model m --blocks {blocks} --languages english --quiet"
    ));
    let inspected = place.stdout("inspect m");
    assert!(inspected.contains(&format!("blocks {blocks}")), "{inspected}");
    let refused = place.run(&format!(
        "train train.csv --model n --blocks {blocks} --algorithm centroid"
    ));
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("`--blocks` has a `/`"), "{message}");
    assert_eq!(place.files().iter().filter(|name| *name == "n").count(), 0);
}
