//! Examples in memory become what the same examples in a file become.

use std::num::NonZeroUsize;

use super::*;

const FILE: &str = "label,text\nfruit,red apple\nsky,blue sky\nfruit,green apple apple\n";
const TEXTS: [&str; 3] = ["red apple", "blue sky", "green apple apple"];

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn labelled(names: &[&str]) -> Dataset {
    let mut about = Dataset::default();
    for name in names {
        let class = about.classes.intern(name);
        about.labels.push([class]);
    }
    about
}

fn texts() -> Examples<'static> {
    Examples::Texts {
        texts: &TEXTS,
        about: labelled(&["fruit", "sky", "fruit"]),
    }
}

fn csv(content: &str) -> Source {
    Source::from_reader("t.csv", std::io::Cursor::new(content.to_owned()))
}

#[test]
fn texts_in_memory_become_what_the_file_becomes() {
    let prep = PrepOptions::default();
    let session = session(2);
    let read = read_training(csv(FILE), &ReadOptions::default(), &prep, &session).unwrap();
    let held = prepare(texts(), &prep, None, &session).unwrap();
    assert_eq!(held.data, read.data);
    let again = prepare_with(texts(), &read.preprocessing, &read.data.classes, &session);
    assert_eq!(again.unwrap(), read.data);
}

#[test]
fn continuing_in_memory_is_continuing_from_a_file() {
    let (prep, session, options) = (PrepOptions::default(), session(2), ReadOptions::default());
    let first = prepare(texts(), &prep, None, &session).unwrap();
    let base = BaseRows {
        preprocessing: &first.preprocessing,
        classes: &first.data.classes,
        rows: 3,
    };
    let source = csv("label,text\nsea,deep blue sea\nsky,grey sky\n");
    let read = Examples::Read {
        source,
        options: &options,
    };
    let read = prepare(read, &prep, Some(&base), &session).unwrap();
    // The caller's own numbers: `sea` is 0 there.
    let held = Examples::Texts {
        texts: &["deep blue sea", "grey sky"],
        about: labelled(&["sea", "sky"]),
    };
    let held = prepare(held, &prep, Some(&base), &session).unwrap();
    assert_eq!(held.data, read.data);
    assert_eq!(
        held.data.classes.iter().collect::<Vec<_>>(),
        ["fruit", "sky", "sea"]
    );
    assert_eq!(held.preprocessing.features(), read.preprocessing.features());
}

#[test]
fn many_texts_at_any_thread_count() {
    let texts: Vec<String> = (0..3000)
        .map(|row| format!("w{} w{} w{}", row % 7, row % 11, row % 1300))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let about = labelled(&vec!["a"; texts.len()]);
    let make = |threads| {
        let examples = Examples::Texts {
            texts: &texts,
            about: about.clone(),
        };
        prepare(examples, &PrepOptions::default(), None, &session(threads))
            .unwrap()
            .data
    };
    assert_eq!(make(1), make(3));
    assert_eq!(make(1).rows.len(), 3000);
}

fn vectors(columns: &[u32], width: usize) -> Examples<'static> {
    let mut data = labelled(&["fruit", "sky", "fruit"]);
    for &column in columns {
        data.rows.push_unsorted(&mut vec![(column, 2.5)]);
    }
    data.rows.set_width(width);
    Examples::Vectors { data, first: 0 }
}

#[test]
fn vectors_keep_their_width_and_are_weighed() {
    let (prep, session) = (PrepOptions::default(), session(1));
    let training = prepare(vectors(&[0, 4, 2], 9), &prep, None, &session).unwrap();
    assert_eq!(training.preprocessing.input_features(), 9);
    assert_eq!(training.data.rows.row(1).values, [1.0]);
    let again = prepare_with(
        vectors(&[0, 4, 2], 9),
        &training.preprocessing,
        &training.data.classes,
        &session,
    );
    assert_eq!(again.unwrap(), training.data);
}

#[test]
fn labels_of_other_rows_are_refused() {
    let error = prepare(vectors(&[0], 1), &PrepOptions::default(), None, &session(1)).unwrap_err();
    assert_eq!(error.to_string(), "there are 1 rows and labels for 3 of them");
}

#[test]
fn a_model_of_texts_cannot_be_continued_with_vectors() {
    let (prep, session) = (PrepOptions::default(), session(1));
    let first = prepare(texts(), &prep, None, &session).unwrap();
    let base = BaseRows {
        preprocessing: &first.preprocessing,
        classes: &first.data.classes,
        rows: 3,
    };
    let error = prepare(vectors(&[0, 1, 2], 9), &prep, Some(&base), &session).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model was trained on text, so it cannot be continued with vectors"
    );
}
