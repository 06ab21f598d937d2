//! Tests of the container: what is written is read back, what is damaged is refused.

use std::num::NonZeroUsize;

use super::*;
use crate::dataset::LabelSets;
use crate::model::{LinearBuilder, Model, Origin, Precision};
use crate::sparse::Rows;
use crate::text::{Input, Preprocessing, RowNeeds, Weighting, WeightingScheme};

#[test]
fn large_files_leave_long_weights_for_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let classes = 300;
    let mut builder = LinearBuilder::new(classes);
    builder.push_feature((0..classes as u32).map(|class| (class, 1.0)));
    let model = Model {
        classes: (0..classes).map(|class| class.to_string()).collect(),
        scorer: Box::new(builder.finish(Precision::F32)),
        preprocessing: Preprocessing {
            input: Input::Vectors {
                features: 1,
                first: 0,
            },
            weighting: Weighting::fit(
                WeightingScheme::Raw,
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
        file: None,
    };
    model.save(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let sound = Container::open(&path).unwrap();
    let session = Session::new(NonZeroUsize::MIN).unwrap();
    let outcome = |array: &str, checked_at_once: usize| {
        let mut bytes = whole.clone();
        bytes[sound.tensors[array].range.start] ^= 1;
        let damaged = folder.path().join("damaged");
        std::fs::write(&damaged, bytes).unwrap();
        Container::open_checking(&damaged, checked_at_once, 100)
            .map(|container| session.run(|| container.verify(&session)).is_err())
    };
    // Found at once in a small file, and wherever what is damaged is needed to open; else by a full check.
    assert!(outcome("weights.values", whole.len()).is_err());
    assert!(outcome("classes.names", whole.len() - 1).is_err());
    assert!(outcome("weights.offsets", whole.len() - 1).is_err());
    assert!(outcome("weights.values", whole.len() - 1).unwrap());
    assert!(outcome("weights.classes", whole.len() - 1).unwrap());
}
