//! Continues from a model: new rows, a new class and new words, without the rows it was made from.
//!
//! `cargo run --release --example continue_learning`

use memoir::{Classifier, Result};

pub(crate) fn main() -> Result<()> {
    let texts = [
        "red apple",
        "green apple",
        "ripe pear",
        "blue sky",
        "grey sky",
        "heavy rain",
    ];
    let labels = ["fruit", "fruit", "fruit", "weather", "weather", "weather"];
    // Rows that the model keeps for replay: continuing forgets less.
    let first = Classifier::softmax().keep_rows(6).fit(&texts, &labels)?;

    let more = ["fast train", "slow train", "late bus"];
    let second = Classifier::softmax()
        .continue_from(&first)
        .fit(&more, &["traffic", "traffic", "traffic"])?;

    for question in ["an apple", "the sky", "a train"] {
        println!("{question}: {}", second.predict(question, 1)?[0].class);
    }
    assert_eq!(second.predict("an apple", 1)?[0].class, "fruit");
    assert_eq!(second.predict("a train", 1)?[0].class, "traffic");
    assert_eq!((first.classes().len(), second.classes().len()), (2, 3));
    Ok(())
}
