//! The automatic choice on made-up titles like Finnish ones: long compounds with endings, few of which are
//! met twice.

use memoir::text::TextSettings;
use memoir::{Classifier, Model};

const CLASSES: usize = 150;
const ENDINGS: [&str; 9] = ["", "n", "t", "ssa", "sta", "lla", "lle", "ksi", "iden"];

/// A small generator of whole numbers, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A root of two or three syllables that belongs to `number`.
fn root(number: usize) -> String {
    let mut numbers = Numbers(number as u64 * 7919 + 12345);
    let mut root = String::new();
    for _ in 0..2 + number % 2 {
        root.push(char::from(b"hjklmnprstv"[numbers.below(11)]));
        root.push_str(["a", "aa", "e", "i", "uo", "o", "u", "yö"][numbers.below(8)]);
    }
    root
}

/// Titles of three compounds. One part of each is a root of the class, the other one any root.
fn titles(count: usize, seed: u64) -> (Vec<String>, Vec<String>) {
    let mut numbers = Numbers(seed);
    let title = |class: usize, numbers: &mut Numbers| {
        let words: Vec<String> = (0..3)
            .map(|_| {
                let own = root(class * 3 + numbers.below(3));
                let other = root(1000 + numbers.below(400));
                let ending = ENDINGS[numbers.below(ENDINGS.len())];
                match numbers.below(2) {
                    0 => format!("{own}{other}{ending}"),
                    _ => format!("{other}{own}{ending}"),
                }
            })
            .collect();
        words.join(" ")
    };
    let classes: Vec<usize> = (0..count).map(|_| numbers.below(CLASSES)).collect();
    let texts = classes.iter().map(|&class| title(class, &mut numbers)).collect();
    let labels = classes.iter().map(|class| format!("class {class}")).collect();
    (texts, labels)
}

fn trained(settings: TextSettings) -> Model {
    let (texts, labels) = titles(6000, 1);
    Classifier::softmax()
        .text(settings)
        .fit(&texts, &labels)
        .expect("trained")
}

/// Share of new titles that are answered rightly.
fn accuracy(model: &Model) -> f64 {
    let (texts, labels) = titles(1000, 2);
    let right = texts.iter().zip(&labels).filter(|(text, label)| {
        let answers = model.predict(text, 1).expect("an answer");
        // None of its parts may be known.
        answers.first().is_some_and(|answer| answer.class == **label)
    });
    right.count() as f64 / texts.len() as f64
}

#[test]
fn compounds_are_found_by_their_parts() {
    let chosen = trained(TextSettings::default());
    let blocks = &chosen.preprocessing().text().expect("text").params.blocks;
    assert!(blocks.to_string().contains("chars"), "{blocks}");
    let given = |blocks: &str| accuracy(&trained(TextSettings::default().blocks(blocks.to_owned())));
    let (automatic, words) = (accuracy(&chosen), given("words"));
    let best = given("words:0.5,chars4").max(given("words,chars4:0.6"));
    assert!(automatic > words + 0.2, "{automatic} and {words} of words");
    assert!(
        automatic > best - 0.03,
        "{automatic} with {blocks}, and {best} by hand"
    );
}
