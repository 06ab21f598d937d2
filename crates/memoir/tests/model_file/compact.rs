//! What later versions added to files: packed weights and calibration.

use memoir::Scored;
use memoir::model::calibration::{Basis, HeldOutScores};
use memoir::model::{Calibration, Narrow, Wide};
use proptest::prelude::*;

use super::hostile::use_everything;
use super::*;

/// Fitted on made-up scores, of which the first is right whenever it is far ahead.
fn calibration() -> Calibration {
    let mut scores = HeldOutScores::default();
    for row in 0..1000u32 {
        let lead = (row % 40) as f32 / 10.0;
        let best: Vec<Scored> = (0..3)
            .map(|class| Scored {
                class,
                score: if class == 0 {
                    1.0 + lead
                } else {
                    1.0 - class as f32 / 4.0
                },
            })
            .collect();
        let right = lead > 2.0 || row % 3 == 0;
        scores.push(2, &best, &[u32::from(!right)]);
    }
    Calibration::fit(&scores, Basis::HeldOut).unwrap()
}

fn calibrated() -> Model {
    Model::from(ModelParts {
        calibration: Some(calibration()),
        ..model(text(), Precision::F32).into_parts()
    })
}

fn packed(precision: Precision) -> Model {
    fixed_model::<Narrow>().with_precision(precision).unwrap()
}

#[test]
fn packed_models_come_back_as_they_were() {
    let bench = Bench::new();
    let text = "smoke on the wåter";
    let original = fixed_model::<Narrow>();
    let expected = original.predictor().text(text, 3).unwrap().to_vec();
    for precision in [Precision::F16, Precision::Int8] {
        let model = packed(precision);
        let bytes = bench.save(&model);
        let loaded = bench.load(&bytes).unwrap();
        assert_eq!(bench.save(&loaded), bytes, "saving twice gives the same bytes");
        let best = loaded.predictor().text(text, 3).unwrap().to_vec();
        assert_eq!(best, model.predictor().text(text, 3).unwrap());
        if precision == Precision::F16 {
            assert_eq!(best, expected, "16 bits lose nothing");
        }
        for (packed, exact) in best.iter().zip(&expected) {
            assert!((packed.score - exact.score).abs() < 0.02, "{packed:?} {exact:?}");
        }
        verify(&bench.path()).unwrap();
    }
    // Many classes, and back to single precision.
    let wide = fixed_model::<Wide>();
    let expected = wide.predictor().text(text, 3).unwrap().to_vec();
    let wide = wide.with_precision(Precision::F16).unwrap();
    let loaded = bench.load(&bench.save(&wide)).unwrap();
    assert_eq!(loaded.predictor().text(text, 3).unwrap(), expected);
    let single = loaded.with_precision(Precision::F32).unwrap();
    assert_eq!(single.scorer().kind(), "linear");
}

#[test]
fn class_numbers_beyond_the_classes_are_found_by_a_full_check() {
    let bench = Bench::new();
    let cases = [
        (
            bench.save(&model(vectors(), Precision::F32)),
            "weights.classes",
            0,
        ),
        (bench.save(&fixed_model::<Narrow>()), "weights.postings", 3),
        (bench.save(&packed(Precision::F16)), "packed.postings", 0),
    ];
    for (bytes, array, place) in cases {
        fs::write(bench.path(), &bytes).unwrap();
        verify(&bench.path()).unwrap();
        let hostile = with_array(&bytes, array, |array| array[place] = 100);
        let loaded = bench.load(&hostile).unwrap();
        use_everything(&loaded);
        let error = verify(&bench.path()).unwrap_err().to_string();
        assert!(
            error.contains("names class") && error.contains("there are 3 classes"),
            "{error}"
        );
    }
}

#[test]
fn a_calibration_comes_back_as_it_was() {
    let bench = Bench::new();
    let original = calibrated();
    let loaded = bench.load(&bench.save(&original)).unwrap();
    assert_eq!(loaded.calibration(), original.calibration());
    let mut predictor = loaded.predictor().with_probabilities().unwrap();
    let best = predictor.text("smoke on the wåter", 3).unwrap().to_vec();
    assert!(
        best.iter().all(|scored| (0.0..=1.0).contains(&scored.score)),
        "{best:?}"
    );
    assert!(best.iter().map(|scored| scored.score).sum::<f32>() <= 1.0 + 1e-5);
    let unknown = predictor.text("entirely foreign", 1).unwrap();
    assert!(unknown.is_empty(), "nothing known, no answer");
    let plain = model(text(), Precision::F32);
    assert!(plain.predictor().with_probabilities().is_err());
}

#[test]
fn calibrations_that_lie() {
    let bench = Bench::new();
    let bytes = bench.save(&calibrated());
    let complaint = |from: &str, to: &str| {
        let hostile = with_header(&bytes, |header| {
            let start = header
                .find(from)
                .unwrap_or_else(|| panic!("{from} is not in {header}"));
            let end = start + from.len();
            let rest = &header[end..];
            let cut = rest.find([',', ']']).unwrap();
            format!("{}{to}{}", &header[..end], &rest[cut..])
        });
        bench.complaint(&hostile)
    };
    let temperature = "\\\"temperature\\\":";
    assert!(complaint(temperature, "-1.0").starts_with("`calibration` in its header has"));
    assert!(complaint(temperature, "1e999").starts_with("`calibration` in its header cannot be understood"));
    assert!(complaint(temperature, "null").starts_with("`calibration` in its header cannot be understood"));
    assert!(complaint("\\\"knots\\\":[[", "1e30").contains("knots that do not rise"));
    assert!(complaint("\\\"weights\\\":[", "1,1").contains("cannot be understood"));
}

proptest! {
    #[test]
    fn no_content_of_a_packed_array_causes_a_panic(
        name in prop::sample::select(vec!["packed.postings", "packed.offsets", "packed.bits", "packed.units"]),
        eight: bool,
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let bench = Bench::new();
        let bytes = bench.save(&packed(if eight { Precision::Int8 } else { Precision::F16 }));
        let hostile = with_array(&bytes, name, |array| {
            for (index, byte) in &noise {
                array[index.index(array.len())] = *byte;
            }
        });
        if let Ok(model) = bench.load(&hostile) {
            use_everything(&model);
            let smaller = model.into_parts().scorer.with_largest_weights(2).unwrap();
            smaller.with_precision(Precision::F32).unwrap();
        }
    }

    #[test]
    fn no_calibration_causes_a_panic(start in 0usize..3000, cut in 0usize..40, insert in "[\\[\\]{}\":,0-9e\\-\\\\]{0,12}") {
        let bench = Bench::new();
        let bytes = bench.save(&calibrated());
        let hostile = with_header(&bytes, |header| {
            let place = header.find("calibration").unwrap_or(0) + start % 900;
            let end = (place + cut).min(header.len());
            match (header.get(..place), header.get(end..)) {
                (Some(before), Some(after)) => format!("{before}{insert}{after}"),
                _ => insert,
            }
        });
        if let Ok(model) = bench.load(&hostile) {
            use_everything(&model);
            let _ = model.predictor().with_probabilities().map(|mut predictor| {
                let best = predictor.text("smoke on the wåter", 3).unwrap();
                assert!(best.iter().all(|scored| (0.0..=1.0).contains(&scored.score)));
            });
        }
    }
}
