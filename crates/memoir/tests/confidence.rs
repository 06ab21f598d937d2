//! What is far from anything seen gets low confidence.

#[path = "common/draw.rs"]
mod draw;

use std::fmt::Write;
use std::num::NonZeroUsize;

use draw::Draw;
use memoir::prepare::Examples;
use memoir::train::FitOptions;
use memoir::{Catalogue, Dataset, Model, Session, train};

const TOPICS: u32 = 60;

/// A text of `words`, and so many of the words that are common to all topics.
fn text(words: impl Iterator<Item = String>, common: usize, draw: &mut Draw) -> String {
    let mut text: String = words.fold(String::new(), |text, word| text + &word + " ");
    for _ in 0..common {
        write!(text, "common{} ", draw.below(20)).expect("strings take everything");
    }
    text
}

/// Some words of a topic's thirty, with one of any other topic in between: short texts are hard, long ones
/// easy.
fn real_text(topic: u32, draw: &mut Draw) -> String {
    let other = draw.below(TOPICS);
    let (own, common) = (draw.below(8), draw.below(6));
    let mut words = vec![format!("word{}", 30 * other + draw.below(30))];
    words.extend((0..own).map(|_| format!("word{}", 30 * topic + draw.below(30))));
    text(words.into_iter(), common as usize, draw)
}

fn model(session: &Session<'_>) -> Model {
    let algorithm = *Catalogue::new().find("softmax").expect("known");
    let method = algorithm.configure([]).expect("defaults");
    let mut draw = Draw(1);
    let mut about = Dataset {
        classes: (0..TOPICS).map(|topic| format!("t{topic}")).collect(),
        ..Dataset::default()
    };
    let mut texts = Vec::new();
    for _ in 0..4000 {
        let topic = draw.below(TOPICS);
        texts.push(real_text(topic, &mut draw));
        about.labels.push([topic]);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let examples = Examples::Texts { texts: &texts, about };
    train::fit(&method, examples, FitOptions::default(), session).expect("trained")
}

/// Mean probability of the answers to 300 texts; no answer counts 0.
fn confidence(model: &Model, mut text: impl FnMut(&mut Draw) -> String) -> f32 {
    let mut predictor = model.predictor().with_probabilities().expect("calibrated");
    let mut draw = Draw(2);
    let sum: f32 = (0..300)
        .map(|_| {
            predictor
                .text(&text(&mut draw), 1)
                .expect("read")
                .first()
                .map_or(0.0, |best| best.score)
        })
        .sum();
    sum / 300.0
}

#[test]
fn gibberish_is_answered_without_confidence() {
    let session = Session::new(NonZeroUsize::MIN).expect("starts");
    let model = model(&session);
    let real = confidence(&model, |draw| real_text(draw.below(TOPICS), draw));
    assert!(real > 0.6, "real texts: {real}");
    // In letters that no known word has, or parts of it might be known.
    let unknown = |draw: &mut Draw| {
        let digits = draw.below(1_000_000).to_string();
        digits
            .bytes()
            .map(|digit| char::from(b'e' + digit - b'0'))
            .collect::<String>()
            + "zv"
    };
    let no_known_word = confidence(&model, |draw| {
        let words: Vec<_> = (0..8).map(|_| unknown(draw)).collect();
        text(words.into_iter(), 0, draw)
    });
    assert!(no_known_word == 0.0, "no known word: {no_known_word}");
    let common_words = confidence(&model, |draw| {
        let words: Vec<_> = (0..6).map(|_| unknown(draw)).collect();
        text(words.into_iter(), 3, draw)
    });
    // A quarter of what real texts get at least.
    assert!(
        common_words < 0.15,
        "common words between gibberish: {common_words}"
    );
    let words_of_all_topics = confidence(&model, |draw| {
        let words: Vec<_> = (0..7)
            .map(|_| format!("word{}", draw.below(30 * TOPICS)))
            .collect();
        text(words.into_iter(), 4, draw)
    });
    // Each word alone points somewhere, as in a short text; only together they make no sense.
    assert!(
        words_of_all_topics < 0.9 * real,
        "known words without a topic: {words_of_all_topics}, real texts: {real}"
    );
}
