//! Answers the rows of a file as they are read, in constant memory, and watches the training before that.
//!
//! `cargo run --release --example stream_predictions`

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use memoir::{Classifier, Event, Observer, Result, Session};

/// Prints what training has to say.
struct Notes;

impl Observer for Notes {
    fn notice(&self, event: Event<'_>) {
        if let Event::Note(text) = event {
            println!("note: {text}");
        }
    }
}

pub(crate) fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let questions = folder.path().join("questions.txt");
    let (mut texts, mut labels, mut lines) = (Vec::new(), Vec::new(), String::new());
    for number in 0..600 {
        let class = number % 12;
        texts.push(format!("topic{class} word{} word{}", number % 7, number % 31));
        labels.push(format!("class {class}"));
        writeln!(lines, "something about topic{class}").expect("strings take everything");
    }
    std::fs::write(&questions, lines).expect("a file on disk");

    let session = Session::new(NonZeroUsize::MIN)?
        .with_seed(7)
        .with_observer(&Notes);
    let model = Classifier::softmax().session(&session).fit(&texts, &labels)?;

    let (mut rows, mut right) = (0, 0);
    model.predict_file(&questions, 1, |answers| {
        right += usize::from(answers[0].class == labels[rows]);
        rows += 1;
        Ok(())
    })?;
    println!("{right} of {rows} answers are right");
    assert_eq!((rows, right > 590), (600, true));
    Ok(())
}
