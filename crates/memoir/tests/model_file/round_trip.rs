//! What is written is read back; the same model gives the same bytes.

use std::num::NonZeroUsize;

use memoir::model::{Explanation, ModelParts, Narrow, Scratch, Wide};
use memoir::train::TrainRequest;
use memoir::{Cancel, ClassNames, Dataset, RowView, Scored, Session};

use super::*;

fn answers(model: &Model) -> Vec<Vec<Scored>> {
    let mut scratch = Scratch::default();
    let mut best = Vec::new();
    let rows = rows();
    rows.iter()
        .map(|row| {
            model.scorer().top_k(row, 3, &mut scratch, &mut best);
            best.clone()
        })
        .collect()
}

#[test]
fn everything_comes_back() {
    let bench = Bench::new();
    for precision in [Precision::F32, Precision::F16] {
        for input in [vectors(), text()] {
            let original = model(input, precision);
            let bytes = bench.save(&original);
            let loaded = bench.load(&bytes).unwrap();
            assert_eq!(loaded.classes(), original.classes());
            assert_eq!(loaded.classes().find("rök"), Some(0));
            assert_eq!(loaded.origin(), original.origin());
            assert_eq!(answers(&loaded), answers(&original));
            let (weighting, expected) = (
                &loaded.preprocessing().weighting,
                &original.preprocessing().weighting,
            );
            assert_eq!(weighting.scheme, expected.scheme);
            assert_eq!(weighting.constant, expected.constant);
            assert_eq!(*weighting.feature_weights, *expected.feature_weights);
            assert_eq!(*weighting.document_frequency, *expected.document_frequency);
            match (&loaded.preprocessing().input, &original.preprocessing().input) {
                (Input::Text(text), Input::Text(expected)) => {
                    assert_eq!(text.params, expected.params);
                    assert_eq!(text.vocabulary.find("wåter"), Some(3));
                }
                (Input::Vectors { features, first }, Input::Vectors { .. }) => {
                    assert_eq!((*features, *first), (4, 1));
                }
                _ => panic!("the input changed its kind"),
            }
            assert_eq!(loaded.summary().unwrap(), original.summary().unwrap());
            assert_eq!(loaded.summary().unwrap().file_bytes, bytes.len() as u64);
            assert_eq!(bench.save(&loaded), bytes, "saved again, it is the same file");
            assert_eq!(original.to_bytes().unwrap(), bytes);
            let from_memory = Model::from_bytes(&bytes, &Catalogue::new()).unwrap();
            assert_eq!(answers(&from_memory), answers(&original));
        }
    }
}

#[test]
fn damaged_bytes_are_refused() {
    let mut bytes = model(text(), Precision::F32).to_bytes().unwrap();
    let last = bytes.len() - 20;
    bytes[last] ^= 1;
    for damaged in [&bytes[..], &bytes[..last], &bytes[..3], &[]] {
        let outcome = Model::from_bytes(damaged, &Catalogue::new());
        assert!(matches!(outcome, Err(Error::ModelFile { .. })));
    }
}

#[test]
fn reduced_models_come_back() {
    let bench = Bench::new();
    for precision in [Precision::F32, Precision::F16] {
        let original = reduced_model(precision);
        let bytes = bench.save(&original);
        let loaded = bench.load(&bytes).unwrap();
        assert_eq!(answers(&loaded), answers(&original));
        assert_eq!(loaded.summary().unwrap(), original.summary().unwrap());
        assert_eq!(bench.save(&loaded), bytes);
        let wide = loaded.with_precision(Precision::F32).unwrap();
        assert_eq!(wide.scorer().weight_storage(), Some((6, "f32")));
    }
}

#[test]
fn precision_can_be_chosen_before_saving() {
    let single = model(vectors(), Precision::F32);
    let expected = model(vectors(), Precision::F16);
    let half = single.with_precision(Precision::F16).unwrap();
    let bench = Bench::new();
    assert_eq!(bench.save(&half), bench.save(&expected));
    assert_eq!(half.summary().unwrap().precision, Some("f16"));
}

#[test]
fn fixed_point_weights_come_back() {
    let bench = Bench::new();
    for original in [fixed_model::<Narrow>(), fixed_model::<Wide>()] {
        let bytes = bench.save(&original);
        let loaded = bench.load(&bytes).unwrap();
        assert_eq!(answers(&loaded), answers(&original));
        assert_eq!(bench.save(&loaded), bytes);
        let summary = loaded.summary().unwrap();
        assert_eq!((summary.weights, summary.precision), (Some(6), Some("i16")));
        let mut predictor = loaded.predictor();
        predictor.text("smoke on the wåter", 1).unwrap();
        let explanation = loaded.explain_row(predictor.row()).unwrap();
        let sum: f32 = explanation
            .features
            .iter()
            .map(|feature| feature.for_answer)
            .sum();
        assert!((sum - explanation.answer.score).abs() < 1e-5);
    }
}

#[test]
fn many_classes_take_long_numbers() {
    let bench = Bench::new();
    let classes = 70_000;
    let mut builder = LinearBuilder::new(classes);
    builder.push_feature([(1, 1.0), (69_999, 2.0)]);
    let original = Model::from(ModelParts {
        classes: (0..classes).map(|class| class.to_string()).collect(),
        scorer: Box::new(builder.finish(Precision::F32)),
        preprocessing: Preprocessing {
            input: Input::Vectors {
                features: 1,
                first: 0,
            },
            weighting: Weighting::fit(
                WeightingScheme::Unit,
                RowNeeds::default(),
                &Rows::new(),
                &LabelSets::new(),
            ),
        },
        calibration: None,
        replay: None,
        vocabulary: None,
        overrides: None,
        origin: Origin::default(),
    });
    let loaded = bench.load(&bench.save(&original)).unwrap();
    let mut predictor = loaded.predictor();
    let best = predictor.vector(&mut vec![(0, 5.0), (7, 1.0)], 2).unwrap();
    let expected = [(69_999, 2.0), (1, 1.0)].map(|(class, score)| Scored { class, score });
    assert_eq!(best, expected);
    assert!(
        predictor.text("words", 2).is_err(),
        "a vector model takes no text"
    );
}

#[test]
fn a_model_without_rows_features_or_classes_is_still_a_file() {
    let bench = Bench::new();
    let original = Model::from(ModelParts {
        classes: ClassNames::new(),
        scorer: Box::new(LinearBuilder::new(0).finish(Precision::F32)),
        preprocessing: Preprocessing {
            input: Input::Vectors {
                features: 0,
                first: 0,
            },
            weighting: Weighting::fit(
                WeightingScheme::LogTfIdf,
                RowNeeds::default(),
                &Rows::new(),
                &LabelSets::new(),
            ),
        },
        calibration: None,
        replay: None,
        vocabulary: None,
        overrides: None,
        origin: Origin::default(),
    });
    let loaded = bench.load(&bench.save(&original)).unwrap();
    assert!(
        loaded
            .predictor()
            .vector(&mut vec![(3, 1.0)], 5)
            .unwrap()
            .is_empty()
    );
    assert!(
        loaded
            .explain_row(RowView {
                indices: &[],
                values: &[]
            })
            .is_err()
    );
}

/// Rows of several features and labels, the same at each call.
fn dataset() -> Dataset {
    let mut data = Dataset {
        classes: (0..50).map(|class| format!("class {class}")).collect(),
        ..Dataset::default()
    };
    for number in 0..2000u32 {
        let mut entries = (0..12)
            .map(|i| ((number * 31 + i * i * 17) % 400, (i + 1) as f32 / 7.0))
            .collect();
        data.rows.push_unsorted(&mut entries);
        data.labels.push([number % 50, (number / 7) % 50]);
    }
    data
}

#[test]
fn any_number_of_threads_gives_the_same_bytes_and_answers() {
    let bench = Bench::new();
    let data = dataset();
    let outcome = |threads: usize| {
        let session = session(threads);
        let catalogue = Catalogue::new();
        let algorithm = catalogue.find("centroid").unwrap();
        let method = algorithm.configure([]).unwrap();
        let trained = Model::from(ModelParts {
            classes: data.classes.clone(),
            preprocessing: Preprocessing {
                input: Input::Vectors {
                    features: data.rows.width(),
                    first: 0,
                },
                weighting: Weighting::fit(
                    WeightingScheme::Unit,
                    RowNeeds::default(),
                    &data.rows,
                    &LabelSets::new(),
                ),
            },
            scorer: method
                .trainer()
                .train(TrainRequest::new(data.clone()), &session)
                .unwrap()
                .scorer,
            calibration: None,
            replay: None,
            vocabulary: None,
            overrides: None,
            origin: Origin::default(),
        });
        let predictions = trained.predict_rows(&data.rows, 5, &session).unwrap();
        let mut one_by_one = Vec::new();
        trained
            .scorer()
            .top_k(data.rows.row(1999), 5, &mut Scratch::default(), &mut one_by_one);
        assert_eq!(predictions.row(1999), one_by_one);
        assert_eq!(predictions.iter().len(), 2000);
        let mut explanations = Vec::new();
        trained
            .explain_rows(&data.rows, 3, &session, |row, explanation| {
                assert_eq!(row, explanations.len());
                explanations.push(explanation);
                Ok(())
            })
            .unwrap();
        let mut alone = trained.explain_row(data.rows.row(1999)).unwrap();
        let total = |explanation: &Explanation| {
            let listed = explanation.features.iter().map(|share| share.for_answer);
            let others = explanation.others.iter().map(|others| others.for_answer);
            listed.chain(others).sum::<f32>()
        };
        let whole = total(&alone);
        alone.shorten(1);
        assert_eq!(alone.features.len(), 1);
        assert!(
            (total(&alone) - whole).abs() < 1e-4,
            "what is left out is summed up"
        );
        alone = trained.explain_row(data.rows.row(1999)).unwrap();
        alone.shorten(3);
        assert_eq!(explanations[1999], alone);
        let of_class = |class| {
            let strongest = trained.class_features(class, 1000, &session).unwrap();
            (strongest, trained.nearest_classes(class, 20, &session).unwrap())
        };
        let classes: Vec<_> = (0..50).map(of_class).collect();
        (bench.save(&trained), predictions, explanations, classes)
    };
    let one = outcome(1);
    assert!(one == outcome(2) && one == outcome(4));
}

#[test]
fn cancelling_leaves_no_file_and_no_answer() {
    let bench = Bench::new();
    let cancel = Cancel::default();
    let session = Session::new(NonZeroUsize::MIN)
        .unwrap()
        .with_cancel(cancel.clone());
    cancel.raise();
    let small = model(vectors(), Precision::F32);
    assert!(matches!(
        small.save_in(&bench.path(), &session),
        Err(Error::Cancelled)
    ));
    assert_eq!(fs::read_dir(bench.folder.path()).unwrap().count(), 0);
    assert!(matches!(
        small.predict_rows(&rows(), 1, &session),
        Err(Error::Cancelled)
    ));
}

#[test]
fn a_mapped_model_survives_its_replacement() {
    let bench = Bench::new();
    bench.save(&model(vectors(), Precision::F32));
    let first = load(&bench.path()).unwrap();
    let before = answers(&first);
    bench.save(&model(text(), Precision::F16));
    assert_eq!(answers(&first), before);
}

#[test]
fn the_nearest_classes_have_the_largest_cosines() {
    let found = |model: &Model, class| model.nearest_classes(class, 9, &session(2)).unwrap();
    for model in [model(vectors(), Precision::F32), fixed_model::<Narrow>()] {
        let weights = |class: u32| {
            let mut dense = [0f64; 4];
            for (feature, weight) in model.scorer().class_weights(class).unwrap() {
                dense[feature as usize] = f64::from(weight);
            }
            dense
        };
        let dot = |a: &[f64; 4], b: &[f64; 4]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for class in 0..3 {
            let own = weights(class);
            let mut expected: Vec<(u32, f64)> = (0..3)
                .filter(|&other| other != class)
                .map(|other| (other, weights(other)))
                .map(|(other, its)| {
                    (
                        other,
                        dot(&own, &its) / (dot(&own, &own) * dot(&its, &its)).sqrt(),
                    )
                })
                .filter(|near| near.1 > 0.0)
                .collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1));
            let found = found(&model, class);
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert!(found.0 == expected.0 && (f64::from(found.1) - expected.1).abs() < 1e-6);
            }
        }
    }
    assert_eq!(found(&model(vectors(), Precision::F32), 1).len(), 2);
}

#[test]
fn an_answer_is_explained_by_its_features() {
    let original = model(text(), Precision::F32);
    let mut predictor = original.predictor();
    let best = predictor
        .text("Smoke on the wåter, and more", 3)
        .unwrap()
        .to_vec();
    let explanation = original.explain_row(predictor.row()).unwrap();
    assert_eq!(explanation.answer.class, best[0].class);
    assert_eq!(explanation.answer.score, best[0].score);
    let runner_up = explanation.runner_up.unwrap();
    assert_eq!((runner_up.class, runner_up.score), (best[1].class, best[1].score));
    let decisive: Vec<f32> = explanation.features.iter().map(|f| f.decides().abs()).collect();
    assert!(decisive.is_sorted_by(|a, b| a >= b) && decisive.len() == 4);
    assert!(explanation.features.iter().any(|feature| feature.name == "wåter"));
    // In the order of the features the sum is exact, in any order it is close.
    let mut features = explanation.features;
    let close = features.iter().map(|f| f.for_answer).sum::<f32>() + explanation.answer.bias;
    let magnitude: f32 = features.iter().map(|f| f.for_answer.abs()).sum();
    assert!((close - explanation.answer.score).abs() <= 4.0 * f32::EPSILON * (magnitude + 0.5));
    features.sort_by_key(|feature| feature.feature);
    let exact = |bias, part: fn(&memoir::model::FeatureShare) -> f32| {
        features.iter().fold(bias, |sum, feature| sum + part(feature))
    };
    assert_eq!(
        exact(explanation.answer.bias, |f| f.for_answer),
        explanation.answer.score
    );
    assert_eq!(exact(runner_up.bias, |f| f.for_runner_up), runner_up.score);

    let strongest = original.class_features(0, 1, &session(1)).unwrap();
    assert_eq!((strongest[0].name.as_str(), strongest[0].weight), ("smoke", 0.5));
    assert_eq!(original.class_features(2, 9, &session(1)).unwrap().len(), 2);
}
