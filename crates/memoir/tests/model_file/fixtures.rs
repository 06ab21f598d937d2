//! Files written by earlier versions of this program still open, and still give the answers they gave then.

use std::path::PathBuf;

use memoir::{Catalogue, Model};

fn open(name: &str) -> Model {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    super::verify(&path).expect("undamaged");
    Model::load(&path, &Catalogue::new()).expect("opens")
}

#[test]
fn a_text_model_of_version_1() {
    let model = open("softmax-text-v1.memoir");
    assert_eq!(model.origin().rows, 24);
    assert_eq!(model.origin().class_counts.iter().sum::<u32>(), 24);
    let mut predictor = model.predictor();
    let best = predictor.text("I forgot my password", 2).expect("answers");
    assert_eq!(model.classes().name(best[0].class), "account");
    assert!((best[0].score - 3.221_679).abs() < 1e-5, "{}", best[0].score);
    assert_eq!(model.classes().name(best[1].class), "billing");
}

#[test]
fn a_half_precision_vector_model_of_version_1() {
    let model = open("centroid-vectors-v1.memoir");
    let mut predictor = model.predictor();
    let best = predictor
        .vector(&mut vec![(1, 1.0), (5, 1.0)], 1)
        .expect("answers");
    assert_eq!(model.classes().name(best[0].class), "bird");
    assert!((best[0].score - 0.822_190).abs() < 1e-5, "{}", best[0].score);
}
