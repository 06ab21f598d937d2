//! Models whose text features come in blocks: their files, explanations, continuation, and the automatic
//! choice.

use memoir::text::TextSettings;
use memoir::{Catalogue, Classifier, Model};

/// Texts of 60 classes. Each has a root that is met with many endings, so that whole words are rare.
fn texts(count: usize, first: usize) -> (Vec<String>, Vec<String>) {
    let letters = |mut number: usize, length: usize| -> String {
        let mut word = String::new();
        for _ in 0..length {
            word.push(char::from(b'a' + (number % 19) as u8));
            number = number / 19 + 7 * (number % 19);
        }
        word
    };
    let text = |row: usize| {
        let class = row % 60;
        let root = letters(class * 131 + 17, 5);
        format!(
            "{root}{} {} plain",
            letters(row * 7919 + 3, 4),
            letters(row % 11, 3)
        )
    };
    let rows = first..first + count;
    (
        rows.clone().map(text).collect(),
        rows.map(|row| format!("class {}", row % 60)).collect(),
    )
}

fn with_blocks(blocks: &str) -> TextSettings {
    TextSettings::default()
        .blocks(blocks.to_owned())
        .languages("english".to_owned())
}

fn trained(settings: TextSettings, threads: usize) -> Model {
    let (texts, labels) = texts(3000, 0);
    Classifier::softmax()
        .text(settings)
        .threads(threads)
        .fit(&texts, &labels)
        .expect("trained")
}

#[test]
fn a_file_keeps_the_blocks() {
    let model = trained(with_blocks("words,stem-pairs:0.5,chars4:0.7"), 1);
    let bytes = model.to_bytes().unwrap();
    let again = Model::from_bytes(&bytes, &Catalogue::new()).unwrap();
    assert_eq!(again.to_bytes().unwrap(), bytes);
    let blocks = &again.preprocessing().text().unwrap().params.blocks;
    assert_eq!(blocks.to_string(), "words,stem-pairs:0.5,chars4:0.7");
    for text in texts(50, 5000).0 {
        assert_eq!(again.predict(&text, 3).unwrap(), model.predict(&text, 3).unwrap());
    }
}

#[test]
fn explanations_name_blocks_and_add_up() {
    let model = trained(with_blocks("words,stem-pairs:0.5,chars4:0.7"), 1);
    for text in texts(20, 5000).0 {
        let explanation = model.explain(&text).unwrap();
        let sum: f64 = explanation
            .features
            .iter()
            .map(|share| f64::from(share.for_answer))
            .sum();
        let answer = &explanation.answer;
        let score = sum + f64::from(answer.bias) + answer.rounding;
        assert!(
            (score - f64::from(answer.score)).abs() < 1e-5,
            "{score} and {}",
            answer.score
        );
        let block = |name: &str| {
            let share = explanation.features.iter().find(|share| share.name == name);
            share.and_then(|share| share.block.clone())
        };
        assert_eq!(block("plain").as_deref(), Some("words"));
        let marks: f64 = model
            .mark(&text, &explanation)
            .iter()
            .map(|mark| mark.decides)
            .sum();
        let decides: f64 = explanation
            .features
            .iter()
            .map(|share| f64::from(share.for_answer) - f64::from(share.for_runner_up))
            .sum();
        assert!((marks - decides).abs() < 1e-6, "{marks} and {decides}");
    }
    let without = trained(TextSettings::default().word_ngrams(1), 1);
    let explanation = without.explain(&texts(1, 0).0[0]).unwrap();
    assert!(explanation.features.iter().all(|share| share.block.is_none()));
}

#[test]
fn runs_are_shown_inside_their_words() {
    let model = trained(with_blocks("words,chars4:0.7"), 1);
    let word = texts(1, 0).0[0].split(' ').next().expect("a word").to_uppercase();
    let explanation = model.explain(&format!("({word}), Plain!")).unwrap();
    let mut runs = 0;
    for share in &explanation.features {
        if share.block.as_deref() != Some("chars4") {
            assert_eq!(share.shown(), share.name);
            continue;
        }
        runs += 1;
        let shown = share.shown();
        let (start, end) = (shown.find('[').expect("a bracket"), shown.find(']').expect("one"));
        let run = share.name.trim_matches('…');
        assert_eq!(shown[start + 1..end].to_lowercase(), run, "{shown}");
        let whole = shown.replace(['[', ']'], "");
        assert!(whole == word || whole == "Plain", "{shown}");
    }
    assert!(runs > 2, "{explanation:?}");
}

#[test]
fn a_continued_model_keeps_its_features_and_blocks() {
    let model = trained(with_blocks("words,chars4:0.7"), 1);
    let (texts, labels) = texts(500, 9000);
    let grown = Classifier::softmax()
        .continue_from(&model)
        .fit(&texts, &labels)
        .expect("continued");
    let (before, after) = (model.preprocessing(), grown.preprocessing());
    assert!(after.input_features() > before.input_features());
    for feature in 0..before.input_features() as u32 {
        assert_eq!(after.feature_name(feature), before.feature_name(feature));
        assert_eq!(after.block_name(feature), before.block_name(feature));
    }
    let last = after.input_features() as u32 - 1;
    assert_eq!(after.block_name(last).as_deref(), Some("chars4"));
}

#[test]
fn the_choice_finds_roots_and_is_the_same_at_any_thread_count() {
    let model = trained(TextSettings::default(), 1);
    let params = &model.preprocessing().text().unwrap().params;
    assert!(params.blocks.to_string().contains("chars"), "{}", params.blocks);
    assert!(params.tried.len() >= 4, "{:?}", params.tried);
    assert_eq!(
        trained(TextSettings::default(), 3).to_bytes().unwrap(),
        model.to_bytes().unwrap()
    );
}
