//! Every system by the library's short way to a model, as any other crate's algorithms.

use memoir::catalogue::AlgorithmParams;
use memoir::{Catalogue, Classifier, Model};
use memoir_baselines::{
    FastXmlParams, KnnParams, MsvmParams, OvrParams, PdSparseParams, PfastreXmlParams, RecallTreeParams,
};

fn right<A: AlgorithmParams>(params: A) -> usize {
    let texts: Vec<String> = (0..200)
        .map(|row| format!("topic{} word{} word{}", row % 8, row % 7, row % 13))
        .collect();
    let labels: Vec<String> = (0..200).map(|row| format!("class {}", row % 8)).collect();
    let model = Classifier::new(params).threads(2).fit(&texts, &labels).unwrap();
    let catalogue = Catalogue::new().with(memoir_baselines::ALGORITHMS, memoir_baselines::SCORERS);
    let opened = Model::from_bytes(&model.to_bytes().unwrap(), &catalogue).unwrap();
    assert_eq!(opened.origin().algorithm, A::NAME);
    let answers = texts.iter().map(|text| opened.predict(text, 1).unwrap()[0]);
    answers
        .zip(&labels)
        .filter(|(answer, label)| answer.class == label.as_str())
        .count()
}

#[test]
fn every_system_learns_and_its_file_opens() {
    for (name, right) in [
        ("ovr", right(OvrParams::default().cost(2.0))),
        ("msvm", right(MsvmParams::default())),
        ("pd-sparse", right(PdSparseParams::default())),
        ("knn", right(KnnParams::default().neighbours(5))),
        ("recall-tree", right(RecallTreeParams::default().bits(16))),
        ("fastxml", right(FastXmlParams::default().trees(10))),
        (
            "pfastrexml",
            right(PfastreXmlParams::default().forest(FastXmlParams::default().trees(10))),
        ),
    ] {
        assert!(right > 150, "{name}: {right} of 200");
    }
}

#[test]
fn values_are_checked() {
    let outcome = Classifier::new(OvrParams::default().cost(0.0)).fit(&["a"], &["b"]);
    assert_eq!(
        outcome.err().unwrap().to_string(),
        "`cost` must be a number from 0.000001 to 1,000,000, but is `0`"
    );
}
