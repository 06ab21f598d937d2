//! Texts that are learned from in several views: what the model answers, its bytes, what refuses them.

use memoir::text::TextSettings;
use memoir::train::SoftmaxParams;
use memoir::train::softmax::Effort;
use memoir::{Catalogue, Classifier, Model, maths};

const VIEWS: &str = "words,pairs:0.5/stems,pairs:0.25,chars4";

/// Texts of 60 classes: two words that tell the class, with endings, among words that do not.
fn texts(count: usize, seed: u64) -> (Vec<String>, Vec<String>) {
    let mut state = seed;
    let mut below = |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut text = |_| {
        let class = below(60);
        let ending = ["", "s", "ed", "ing"][below(4) as usize];
        let noise = format!("n{} n{}", below(300), below(300));
        let text = format!("root{}{ending} {noise} part{}", class * 7 + below(3), class % 20);
        (text, format!("class {class}"))
    };
    (0..count).map(&mut text).unzip()
}

fn settings(blocks: &str) -> TextSettings {
    TextSettings::default()
        .blocks(blocks.to_owned())
        .languages("english".to_owned())
}

fn trainer(blocks: &str) -> Classifier<'static, SoftmaxParams> {
    Classifier::softmax().text(settings(blocks)).threads(1)
}

/// Scores of all classes for a text, by class.
fn scores(model: &Model, text: &str) -> Vec<(String, f32)> {
    let mut predictor = model.predictor();
    let row = predictor.text(text, 60).unwrap();
    let mut scores: Vec<(String, f32)> = row
        .iter()
        .map(|found| (model.classes().name(found.class).to_owned(), found.score))
        .collect();
    scores.sort_by(|a, b| a.0.cmp(&b.0));
    scores
}

#[test]
fn a_model_of_views_scores_the_mean_of_models_of_each() {
    // With held-out rows no training row waits, so each view is learned from as it is by itself.
    let (texts, labels) = texts(4000, 1);
    let (held_out, right) = self::texts(400, 2);
    let train = |blocks: &str| {
        let trainer = trainer(blocks).held_out(&held_out, &right);
        trainer.fit(&texts, &labels).unwrap()
    };
    let together = train(VIEWS);
    let apart: Vec<Model> = VIEWS.split('/').map(train).collect();
    let (mut squares, mut count, mut size) = (0.0, 0, 0.0);
    for text in &held_out[..50] {
        let means = scores(&together, text);
        let of_views: Vec<_> = apart.iter().map(|model| scores(model, text)).collect();
        for (class, mean) in means {
            let of_class = |scores: &[(String, f32)]| {
                let found = scores.iter().find(|found| found.0 == class);
                found.map_or(0.0, |found| found.1)
            };
            let wanted = f32::midpoint(of_class(&of_views[0]), of_class(&of_views[1]));
            squares += maths::square(mean - wanted);
            size += maths::square(wanted);
            count += 1;
        }
    }
    // Weights are rounded at random, by the numbers of features, which differ between the models.
    assert!(count > 1000, "{count}");
    assert!(squares < 0.0005 * size, "{squares} of {size}");
}

#[test]
fn the_same_bytes_at_any_number_of_threads_and_from_the_file() {
    let (texts, labels) = texts(3000, 3);
    let train = |threads: usize| trainer(VIEWS).threads(threads).fit(&texts, &labels).unwrap();
    let bytes = train(1).to_bytes().unwrap();
    for threads in [2, 4] {
        assert!(train(threads).to_bytes().unwrap() == bytes, "{threads} threads");
    }
    let model = Model::from_bytes(&bytes, &Catalogue::new()).unwrap();
    assert_eq!(model.to_bytes().unwrap(), bytes);
    let params = &model.preprocessing().text().unwrap().params;
    assert_eq!(params.blocks.to_string(), "words,pairs:0.5,stems,chars4");
    assert_eq!(params.blocks_list(), VIEWS);
    assert!(
        model.calibration().is_some(),
        "probabilities are fitted to the averages"
    );
}

#[test]
fn a_model_of_views_can_be_continued() {
    let (first, labels) = texts(3000, 4);
    let model = trainer(VIEWS).fit(&first, &labels).unwrap();
    let (more, more_labels) = texts(1000, 5);
    let (new, right) = texts(500, 6);
    let accuracy = |model: &Model| {
        let is_right =
            |(text, label): &(&String, &String)| model.predict(text, 1).unwrap()[0].class == **label;
        new.iter().zip(&right).filter(is_right).count()
    };
    let continued = Classifier::softmax()
        .threads(1)
        .continue_from(&model)
        .fit(&more, &more_labels)
        .unwrap();
    let (before, after) = (accuracy(&model), accuracy(&continued));
    assert!(after + 25 >= before && before > 300, "{before} and {after}");
}

#[test]
fn what_cannot_learn_from_views_says_so() {
    let (texts, labels) = texts(300, 7);
    let refused = |message: String| {
        assert!(
            message.contains("`blocks` has a `/`") && message.contains("`softmax`"),
            "{message}"
        );
    };
    let centroid = Classifier::centroid().text(settings(VIEWS));
    refused(centroid.fit(&texts, &labels).unwrap_err().to_string());
    let keeping = trainer(VIEWS).keep_rows(10);
    refused(keeping.fit(&texts, &labels).unwrap_err().to_string());
    let quick = trainer(VIEWS).effort(Effort::Low);
    refused(quick.fit(&texts, &labels).unwrap_err().to_string());
}

#[test]
fn a_small_budget_learns_from_all_blocks_at_once() {
    let (texts, labels) = texts(20_000, 8);
    let whole = trainer(VIEWS).fit(&texts, &labels).unwrap();
    let roomy = trainer(VIEWS)
        .memory_budget(2 << 30)
        .fit(&texts, &labels)
        .unwrap();
    assert!(roomy.to_bytes().unwrap() == whole.to_bytes().unwrap());
    let little = trainer(VIEWS)
        .memory_budget(30 << 20)
        .fit(&texts, &labels)
        .unwrap();
    let answers = |model: &Model| {
        texts[..200]
            .iter()
            .map(|text| model.predict(text, 1).unwrap()[0].class.to_string())
            .collect::<Vec<_>>()
    };
    let same = answers(&whole)
        .iter()
        .zip(answers(&little))
        .filter(|(a, b)| **a == *b)
        .count();
    assert!(same > 150, "{same} answers are the same");
}
