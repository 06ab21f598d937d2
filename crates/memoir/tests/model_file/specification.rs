//! The document about model files is true: a reader made from it gives the program's answers.

use std::collections::BTreeMap;

use memoir::model::{Narrow, Scratch, Wide};

use super::document_reader::Reader;
use super::*;

#[test]
fn a_reader_made_from_the_document_gets_the_same_answers() {
    let bench = Bench::new();
    for precision in [Precision::F32, Precision::F16] {
        let original = model(text(), precision);
        let reader = Reader::new(&bench.save(&original));
        assert_eq!(reader.texts["format"], "memoir");
        assert_eq!(reader.texts["version"], "1");
        assert_eq!(reader.texts["scorer"], "linear");
        assert_eq!(
            (
                reader.texts["classes"].as_str(),
                reader.texts["features"].as_str()
            ),
            ("3", "4")
        );
        assert_eq!(
            reader.names("classes.names", "classes.ends"),
            ["rök", "", "c \"quoted\"\n"]
        );
        assert_eq!(reader.u32("classes.counts"), [1, 0, 3]);
        assert_eq!(reader.u32("weighting.document_frequency"), [1, 1, 1, 2]);
        assert_eq!(reader.json("origin")["algorithm"], "centroid");
        assert_eq!(reader.json("origin")["seed"], u64::MAX);
        assert_eq!(reader.json("preprocessing")["input"]["kind"], "text");

        let input = "smoke on the wåter smoke unheard";
        let mut predictor = original.predictor();
        let best = predictor.text(input, 3).unwrap().to_vec();
        let scores = reader.linear_scores(&reader.counts(input));
        for scored in best {
            assert_eq!(scores[scored.class as usize], scored.score);
        }
    }
}

#[test]
fn a_reader_made_from_the_document_understands_fixed_point_weights() {
    let bench = Bench::new();
    for original in [fixed_model::<Narrow>(), fixed_model::<Wide>()] {
        let reader = Reader::new(&bench.save(&original));
        assert_eq!(reader.texts["scorer"], "fixed");
        let input = "smoke on wåter smoke unheard";
        let scores = reader.fixed_scores(&reader.counts(input));
        for scored in original.predictor().text(input, 5).unwrap() {
            assert_eq!(scores[scored.class as usize], scored.score);
        }
    }
}

#[test]
fn a_reader_made_from_the_document_understands_reduced_rows() {
    let original = reduced_model(Precision::F32);
    let reader = Reader::new(&Bench::new().save(&original));
    assert_eq!(reader.texts["scorer"], "reduced");
    let scores = reader.reduced_scores(&BTreeMap::from([(0, 1.0), (1, 3.0), (3, 2.0)]));
    let mut entries = vec![(0, 1.0), (1, 3.0), (3, 2.0)];
    for scored in original.predictor().vector(&mut entries, 3).unwrap() {
        assert_eq!(scores[scored.class as usize], scored.score);
    }
}

#[test]
fn a_reader_made_from_the_document_understands_packed_weights() {
    let bench = Bench::new();
    for precision in [Precision::F16, Precision::Int8] {
        for fixed in [fixed_model::<Narrow>(), fixed_model::<Wide>()] {
            let original = fixed.with_precision(precision).unwrap();
            let reader = Reader::new(&bench.save(&original));
            assert_eq!(reader.texts["scorer"], "packed");
            let input = "smoke on wåter smoke unheard";
            let scores = reader.packed_scores(&reader.counts(input));
            for scored in original.predictor().text(input, 5).unwrap() {
                assert_eq!(scores[scored.class as usize], scored.score);
            }
        }
    }
}

#[test]
fn a_vector_model_says_how_features_are_numbered() {
    let bench = Bench::new();
    let original = model(vectors(), Precision::F32);
    let reader = Reader::new(&bench.save(&original));
    let input = &reader.json("preprocessing")["input"];
    assert_eq!(
        (&input["kind"], &input["features"], &input["first"]),
        (&"vectors".into(), &4.into(), &1.into())
    );
    let mut weighted = Rows::new();
    original
        .preprocessing()
        .vector_row(&mut vec![(3, 2.0), (0, 1.0)], &mut weighted)
        .unwrap();
    let mut best = Vec::new();
    original
        .scorer()
        .top_k(weighted.row(0), 1, &mut Scratch::default(), &mut best);
    let scores = reader.linear_scores(&BTreeMap::from([(0, 1.0), (3, 2.0)]));
    assert_eq!(scores[best[0].class as usize], best[0].score);
}
