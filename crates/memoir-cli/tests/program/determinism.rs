//! The same bytes whatever the number of threads.

use crate::support::{Workplace, texts, vectors};

#[test]
fn models_predictions_and_reports_do_not_depend_on_threads() {
    for (name, train, test) in [
        ("csv", texts(3000, 70), texts(700, 90)),
        ("svm", vectors(3000, 70), vectors(700, 90)),
    ] {
        let place = Workplace::new();
        place.file(&format!("train.{name}"), train);
        place.file(&format!("test.{name}"), test);
        let outcome = |threads: usize| {
            place.stdout(&format!(
                "train train.{name} --model m{threads} --threads {threads} --seed 5 --valid-fraction 0.1 --quiet"
            ));
            let predict =
                format!("predict m{threads} test.{name} --threads {threads} --top-k 5 --scores --quiet");
            let evaluate = format!("evaluate m{threads} test.{name} --threads {threads} --json --quiet");
            let report: Vec<_> = place
                .stdout(&evaluate)
                .lines()
                .filter(|line| !line.contains("\"seconds\""))
                .map(str::to_owned)
                .collect();
            let model = std::fs::read(place.path().join(format!("m{threads}"))).expect("written");
            (model, place.stdout(&predict), report)
        };
        let alone = outcome(1);
        assert_eq!(alone.1.lines().count(), 700);
        for threads in [2, 4] {
            let together = outcome(threads);
            assert!(
                alone.0 == together.0,
                "{name}: the model differs at {threads} threads"
            );
            assert_eq!(alone.1, together.1, "{name}, {threads} threads");
            assert_eq!(alone.2, together.2, "{name}, {threads} threads");
        }
    }
}
